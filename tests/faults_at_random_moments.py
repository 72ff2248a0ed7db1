"""Kill a command, or fill its disk, at random moments: nothing that it finished may be lost.

``python -m tests.faults_at_random_moments --times 30`` tries each fault so often.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import reliabayes as rb
from reliabayes import datasets
from reliabayes.inference.temporary import temporary_folder
from tests.faults import on_small_disk

SCRIPT = Path(sys.executable).with_name("reliabayes")
JUDGES = str(datasets.about("shrout_fleiss_1979").path())
OUTPUTS = ("fit.nc", "out.json", "page.html")
OLD = b"old"
FILLER = "filler"
KNOWN = {*OUTPUTS, FILLER}
ENOUGH = 4_000_000  # bytes for all outputs, and for the temporary folder
PRINTED = ("icc ", "sd_residual ", "mean ", "Ranges are 90% intervals.")

Fault = Callable[[subprocess.Popen[str]], None]


def command(folder: Path) -> list[str]:
    saved, table, page = (str(folder / name) for name in OUTPUTS)
    outputs = ["--save", saved, "--json", table, "--report", page]
    return [str(SCRIPT), "fit", JUDGES, "--model", "gaussian-icc", "--seed", "1", *outputs]


def state_of(path: Path) -> str:
    """What has become of an output: absent, old, whole or BROKEN."""
    if not path.exists():
        return "absent"
    if path.read_bytes() == OLD:
        return "old"
    try:
        if path.suffix == ".nc":
            is_whole = rb.Fit.load(path).settings.seed == 1
        elif path.suffix == ".json":
            is_whole = "sd_residual" in json.loads(path.read_text())["quantities"]
        else:
            is_whole = path.read_text().rstrip().endswith("</html>")
    except ValueError:
        is_whole = False
    return "whole" if is_whole else "BROKEN"


def attempt(targets: Path, temporary: Path, fault: Fault) -> str:
    """Run the command with a fault, for outputs in one folder; what became of them."""
    with suppress(OSError):
        (targets / "fit.nc").write_bytes(OLD)
    process = subprocess.Popen(
        command(targets),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TMPDIR": str(temporary)},
        start_new_session=True,
    )
    fault(process)
    printed, said = process.communicate(timeout=120)
    states, status = [state_of(targets / output) for output in OUTPUTS], process.returncode
    is_printed = all(f"\n{start}" in f"\n{printed}" for start in PRINTED)
    was_killed = status in (
        -signal.SIGKILL,
        -signal.SIGTERM,
        -signal.SIGINT,
    )  # the others before it could react
    if status == -signal.SIGKILL:
        remove_what_was_left(temporary)
    left = {path.name for path in (*targets.iterdir(), *temporary.iterdir())} - KNOWN
    wrong = {
        "an output is damaged": "BROKEN" in states,
        "an output was written, and the posterior not printed": "whole" in states
        and not is_printed,
        "it printed a traceback": "Traceback" in said or "Exception ignored" in said,
        "it told of success": status == 0 and not (is_printed and set(states) == {"whole"}),
        "it did not say why it ended": not (status == 0 or was_killed or said),
        f"it left {left}": not all(was_killed and name.endswith(".partial") for name in left),
        "the posterior was not printed": "could not write" in said and not is_printed,
    }
    if any(wrong.values()):
        return f"BROKEN: {[text for text, is_so in wrong.items() if is_so]} {status} {said[-500:]}"
    message = said.rpartition("reliabayes: ")[2].partition("/")[0]
    reason = "" if is_printed or was_killed else f": {message} ..."
    done = "printed" if is_printed else "not printed"
    return f"{done}, {', '.join(states)}, status {status}{reason}"


def remove_what_was_left(folder: Path) -> None:
    """Make another temporary folder in a folder, as the next fit does."""
    usual, tempfile.tempdir = tempfile.tempdir, str(folder)
    with temporary_folder():
        pass
    tempfile.tempdir = usual


def at(moment: float, number: signal.Signals) -> Fault:
    """Send a signal after some seconds."""

    def send(process: subprocess.Popen[str]) -> None:
        time.sleep(moment)
        process.send_signal(number)

    return send


def filled(moment: float, folder: Path) -> Fault:
    """Fill the disk of a folder after some seconds."""

    def fill(process: subprocess.Popen[str]) -> None:
        time.sleep(moment)
        with suppress(OSError), open(folder / FILLER, "wb", buffering=0) as file:
            while True:
                file.write(bytes(4096))

    return fill


def nothing(process: subprocess.Popen[str]) -> None:
    """Do nothing; the disk is small from the start."""


FAULTS: dict[str, Callable[[Path, float, int], str]] = {  # of a folder, a moment, a size of a disk
    "no fault": lambda own, when, size: attempt(own, own, nothing),
    "SIGKILL": lambda own, when, size: attempt(own, own, at(when, signal.SIGKILL)),
    "SIGTERM": lambda own, when, size: attempt(own, own, at(when, signal.SIGTERM)),
    "SIGINT": lambda own, when, size: attempt(own, own, at(when, signal.SIGINT)),
    "disk of the outputs, full from a moment on": lambda own, when, size: on_small_disk(
        ENOUGH, lambda disk: attempt(disk, own, filled(when, disk))
    ),
    "small disk of the outputs": lambda own, when, size: on_small_disk(
        size, lambda disk: attempt(disk, own, nothing)
    ),
    "temporary folder, full from a moment on": lambda own, when, size: on_small_disk(
        ENOUGH, lambda disk: attempt(own, disk, filled(when, disk))
    ),
    "small temporary folder": lambda own, when, size: on_small_disk(
        size, lambda disk: attempt(own, disk, nothing)
    ),
}


def tried(name: str, moment: float, size: int) -> str:
    """Try a fault in a new folder."""
    with tempfile.TemporaryDirectory() as folder:
        return f"{name}: {FAULTS[name](Path(folder), moment, size)}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=15)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--faults", nargs="+", choices=[*FAULTS][1:], default=[*FAULTS][1:])
    given = parser.parse_args()
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background ignores it
    rng, counts = random.Random(given.seed), Counter[str]()
    for _ in range(2):  # the first compiles and caches
        started = time.monotonic()
        print(tried("no fault", 0, 0), flush=True)
        usual = time.monotonic() - started
    for _ in range(given.times):
        for name in given.faults:
            found = tried(name, rng.uniform(0, usual), int(10 ** rng.uniform(3.5, 6.3)))
            counts[found] += 1
            print(found, flush=True)
    for outcome, count in sorted(counts.items()):
        print(f"{count:4} {outcome}")
    sys.exit(any("BROKEN" in outcome for outcome in counts))


if __name__ == "__main__":
    main()
