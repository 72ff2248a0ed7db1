"""Timing of a single call."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from reliabayes.agreement import Coefficient

Result = TypeVar("Result")


def time_call(call: Callable[[], Result]) -> tuple[float, float, Result]:
    """Wall-clock seconds and CPU seconds of a call, and its result."""
    wall, cpu = time.perf_counter(), time.process_time()
    result = call()
    return time.perf_counter() - wall, time.process_time() - cpu, result


def evaluated(coefficient: Coefficient) -> Coefficient:
    """The same coefficient with its value computed, which an interval needs first."""
    float(coefficient)
    return coefficient
