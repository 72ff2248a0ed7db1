"""How far Stan's programs are, by what they say of their progress."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

END = 2000  # bytes of a log that are looked at


def iterations(logs: Sequence[Path]) -> int:
    """How many iterations chains have done, by what Stan's programs say of their progress."""
    return sum(map(_iterations, logs))


def _iterations(log: Path) -> int:
    try:
        with open(log, "rb") as opened:
            opened.seek(0, 2)
            opened.seek(max(0, opened.tell() - END))
            found = re.findall(rb"Iteration:\s*(\d+) /", opened.read())
    except FileNotFoundError:  # it waits for its turn
        return 0
    return int(found[-1]) if found else 0
