"""Processes that run side by side, and that end together however the wait for them ends."""

from __future__ import annotations

import contextlib
import math
import os
import subprocess
import time
from collections import deque
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from reliabayes.inference.threads import PAUSE


def run_all(
    commands: Sequence[Sequence[str]],
    logs: Sequence[Path],
    *,
    at_once: int,
    seconds: float = math.inf,
    watch: Callable[[], None] = lambda: None,
) -> list[int | None]:
    """Run commands until all have ended or one has failed, which ends the others.

    Any exception in the meantime, such as that of a signal's handler, ends them too. It is raised
    again when they are gone.

    Parameters
    ----------
    commands : sequence of sequences of str
        Programs with their arguments.
    logs : sequence of Path
        File for the output of each command.
    at_once : int
        How many run at once.
    seconds : float, optional
        How long all together may take.
    watch : callable, optional
        Called time and again while they run.

    Returns
    -------
    list of int or None
        Exit status of each, negative if a signal ended it; None if it was ended here, or has never
        started, because another one failed.

    Raises
    ------
    TimeoutError
        They took longer.
    """
    started, waiting = time.monotonic(), deque(range(len(commands)))
    running: dict[int, subprocess.Popen[bytes]] = {}
    status: list[int | None] = [None] * len(commands)
    try:
        while (running or waiting) and not any(status):
            while waiting and len(running) < at_once:
                at = waiting.popleft()
                running[at] = _start(commands[at], logs[at])
            elapsed = time.monotonic() - started
            if elapsed > seconds:
                raise TimeoutError
            time.sleep(min(PAUSE, 0.002 + elapsed / 10, max(0, seconds - elapsed)))
            watch()
            for at in [at for at, process in running.items() if process.poll() is not None]:
                status[at] = running.pop(at).returncode
        return status
    except BaseException:
        _end_strays(commands)
        raise
    finally:
        _end(running.values())


def _start(command: Sequence[str], log: Path) -> subprocess.Popen[bytes]:
    # On Linux our programs end with the process that they are told is their parent.
    environment = os.environ | {"RELIABAYES_PARENT": str(os.getpid())}
    with open(log, "wb") as output:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            env=environment,
        )


def _end(processes: Collection[subprocess.Popen[bytes]]) -> None:
    """Kill processes, which keep nothing that they would have to tidy up, and wait for them."""
    for process in processes:
        process.kill()
    for process in processes:
        process.wait()


def _end_strays(commands: Sequence[Sequence[str]]) -> None:
    """Kill a process that an exception kept from being noted when it had just been started."""
    import psutil  # no browser has it

    arguments = [list(command[1:]) for command in commands]
    with contextlib.suppress(psutil.Error):
        for child in psutil.Process().children():
            with contextlib.suppress(psutil.Error):
                if any(child.cmdline()[-len(own) :] == own for own in arguments):
                    child.kill()
