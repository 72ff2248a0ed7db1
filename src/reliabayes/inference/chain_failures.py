"""Why chains failed, in words, with what to do about it."""

from __future__ import annotations

import re
import shutil
import signal
from collections.abc import Sequence
from pathlib import Path

from reliabayes.files import NO_SPACE
from reliabayes.wording import listed

SIGNS_OF_FULL = re.compile("No space left on device|Disk quota exceeded|File too large")
LONGEST = 2000  # characters that are quoted of what chains said
LEAST_FREE = 2**16  # bytes; with less, the disk is taken to be full


def failure(status: Sequence[int | None], logs: Sequence[Path], folder: Path) -> str:
    """What ended the chains that failed.

    Parameters
    ----------
    status : sequence of int or None
        Exit status of each chain, negative if a signal ended it; None for those that were ended
        because of the failure of another.
    logs : sequence of Path
        What each chain said.
    folder : Path
        Where the chains write.

    Returns
    -------
    str
        One message for the chains that failed first.
    """
    failed = {at: code for at, code in enumerate(status) if code}
    which = f"chain {listed([at + 1 for at in failed])} of {len(status)} "
    said = "\n".join(dict.fromkeys(_errors(logs[at]) for at in failed))
    codes = set(failed.values())
    if SIGNS_OF_FULL.search(said) or -signal.SIGXFSZ in codes or _free(folder) < LEAST_FREE:
        return which + f"failed: {full(folder)}"
    if killed := sorted(-code for code in codes if code < 0):
        names = " and ".join(signal.Signals(number).name for number in killed)
        return which + f"was ended by {names}: {_remedy(killed[0])}"
    if codes & {126, 127}:
        return which + f"could not be started: {said} Install reliabayes again on this machine."
    return which + f"failed: {said or 'it gave no reason.'}"


def _remedy(number: int) -> str:
    if number == signal.SIGKILL:
        return (
            "most often the system does so when memory runs out. Run fewer chains at once "
            "(parallel_chains=1), or use a machine with more memory."
        )
    if number in (signal.SIGSEGV, signal.SIGBUS, signal.SIGILL, signal.SIGABRT, signal.SIGFPE):
        return "the program crashed. Install reliabayes again on this machine, or report it."
    return "another program, or you, asked it to end. Fit again."


def full(folder: Path) -> str:
    """What to do about a folder that is full."""
    return (
        f"there is no space left in {folder} ({_free(folder):,} bytes are free). Make room, or "
        "name another folder, with output_dir=... or the environment variable TMPDIR."
    )


def system_failure(error: OSError, folder: Path | None, program: Path) -> str:
    """What an error of the system means that came up before or after the chains of a program."""
    if error.filename == str(program):
        return f"the program could not be started: {error}. Install reliabayes again."
    if error.errno in NO_SPACE and folder is not None:
        return full(folder)
    return f"the chains could not be run: {error}. Is TMPDIR a folder to write to, and not full?"


def _free(folder: Path) -> int:
    try:
        return shutil.disk_usage(folder).free
    except OSError:
        return 0


def _errors(log: Path) -> str:
    """What a chain said of its error, and why Stan refused the starting point if it did."""
    with open(log, "rb") as opened:
        opened.seek(0, 2)
        opened.seek(max(0, opened.tell() - 2**16))
        lines = [line.strip() for line in opened.read().decode(errors="replace").splitlines()]
    errors = [line for line in lines if re.match("E(rror|xception)", line)]
    if any("Initialization failed" in line for line in errors):
        refused = [at for at, line in enumerate(lines) if line.startswith("Rejecting initial")]
        errors += [f"Stan: {' '.join(lines[at + 1 : at + 4])}" for at in refused[-1:]]
    elif not errors:
        errors = [line for line in lines if line and not line.startswith("Iteration")][-3:]
    return "\n".join(dict.fromkeys(errors))[:LONGEST]
