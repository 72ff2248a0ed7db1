"""Memory use of a process, and of all below it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import psutil


def peak_gb() -> float:
    """Peak resident memory of this process in GB.

    Linux initialises ru_maxrss from the parent process, and VmHWM does not.
    """
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024 / 1e9


@contextmanager
def peak_gb_of_tree() -> Iterator[Callable[[], float]]:
    """Peak of the memory in GB of this process and all below it, looked at every 20 ms.

    Memory that several of them share counts once (the proportional set size of Linux).
    """
    peak, is_over = 0.0, threading.Event()

    def watch() -> None:
        nonlocal peak
        while not is_over.wait(0.02):
            peak = max(peak, _tree_gb())

    watcher = threading.Thread(target=watch, daemon=True)
    watcher.start()
    try:
        yield lambda: peak
    finally:
        is_over.set()
        watcher.join()


def _tree_gb() -> float:
    """Memory of this process and all below it. Mapped files, which the system may drop, count."""
    total = 0
    own = psutil.Process()
    for process in [own, *own.children(recursive=True)]:
        with suppress(psutil.Error, OSError):
            rollup = Path(f"/proc/{process.pid}/smaps_rollup").read_text()
            line = next(line for line in rollup.splitlines() if line.startswith("Pss:"))
            total += int(line.split()[1])
    return total * 1024 / 1e9
