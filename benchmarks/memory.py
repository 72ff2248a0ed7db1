"""How much memory a program took."""

from __future__ import annotations

from pathlib import Path


def peak_gb() -> float:
    """Peak resident memory in GB, of this program alone: ru_maxrss starts from its parent's."""
    status = Path("/proc/self/status").read_text()
    peak = next(line for line in status.splitlines() if line.startswith("VmHWM:"))
    return int(peak.split()[1]) * 1024 / 1e9
