"""Memory use of a process."""

from __future__ import annotations

from pathlib import Path


def peak_gb() -> float:
    """Peak resident memory of this process in GB.

    Linux initialises ru_maxrss from the parent process, and VmHWM does not.
    """
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024 / 1e9
