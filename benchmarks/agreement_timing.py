"""How long a call takes."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from reliabayes.agreement import Coefficient

Found = TypeVar("Found")


def spent(call: Callable[[], Found]) -> tuple[float, float, Found]:
    """Seconds of a call by the clock, and of this process's processors, and what it gave."""
    clock, processors = time.perf_counter(), time.process_time()
    found = call()
    return time.perf_counter() - clock, time.process_time() - processors, found


def evaluated(coefficient: Coefficient) -> Coefficient:
    """The same, its value known: what an interval needs first."""
    float(coefficient)
    return coefficient
