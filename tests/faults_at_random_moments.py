"""Kill a command, or fill its disk, at random moments: nothing that it finished may be lost.

``python -m tests.faults_at_random_moments --times 30`` tries each fault so often.
"""

from __future__ import annotations

import argparse
import os
import random
import resource
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

import reliabayes as rb
from reliabayes import datasets

SCRIPT = Path(sys.executable).with_name("reliabayes")
JUDGES = str(datasets.about("shrout_fleiss_1979").path())
OUTPUTS = ("fit.nc", "out.json", "page.html")
OLD = b"old"


def command(folder: Path) -> list[str]:
    saved, table, page = (str(folder / name) for name in OUTPUTS)
    outputs = ["--save", saved, "--json", table, "--report", page]
    return [str(SCRIPT), "fit", JUDGES, "--model", "gaussian-icc", "--seed", "1", *outputs]


def is_whole(path: Path) -> bool:
    """Whether a new file is complete."""
    if path.suffix == ".nc":
        return rb.Fit.load(path).settings.seed == 1
    end = {".json": "}\n", ".html": "</html>\n"}[path.suffix]
    return path.read_text().rstrip("\n").endswith(end.strip())


def attempt(fault: Callable[[], None] | int, moment: float) -> str:
    """Run the command with a fault; what became of its outputs."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "tmp").mkdir()
        (folder / "fit.nc").write_bytes(OLD)
        process = subprocess.Popen(
            command(folder),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TMPDIR": str(folder / "tmp")},
            preexec_fn=fault if callable(fault) else None,
            start_new_session=True,
        )
        if not callable(fault):
            time.sleep(moment)
            process.send_signal(fault)
        printed, said = process.communicate(timeout=120)
        states = []
        for output in OUTPUTS:
            path = folder / output
            state = "absent" if not path.exists() else "old" if path.read_bytes() == OLD else "new"
            if state == "new" and not is_whole(path):
                return f"BROKEN {output}"
            states.append(state)
        if "new" in states and "sd_residual" not in printed:
            return "BROKEN: files were written, and the posterior was not printed"
        if "Traceback" in said:
            return f"BROKEN: traceback {said[-300:]}"
        if fault == signal.SIGTERM and any((folder / "tmp").iterdir()):
            return f"BROKEN: left {[*(folder / 'tmp').iterdir()]}"
        done = "printed" if "sd_residual" in printed else "not printed"
        return f"{done}, {', '.join(states)}, status {process.returncode}"


def full(limit: int) -> Callable[[], None]:
    """Let no file of the command grow beyond a limit."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--times", type=int, default=30)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    rng, counts = random.Random(given.seed), Counter[str]()
    started = time.monotonic()
    print("without a fault:", attempt(lambda: None, 0), flush=True)
    usual = time.monotonic() - started
    for _ in range(given.times):
        for number in (signal.SIGKILL, signal.SIGTERM):
            found = f"{number.name}: {attempt(number, rng.uniform(0, 1.1 * usual))}"
            counts[found] += 1
            print(found, flush=True)
        found = f"full disk: {attempt(full(int(10 ** rng.uniform(2, 6.2))), 0)}"
        counts[found] += 1
        print(found, flush=True)
    for outcome, count in sorted(counts.items()):
        print(f"{count:4} {outcome}")
    sys.exit(any("BROKEN" in outcome for outcome in counts))


if __name__ == "__main__":
    main()
