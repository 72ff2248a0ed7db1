"""Slice sampling of one number."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

MOST_STEPS = 30  # to both sides in total; whatever it is, the density stays the same


def slice_sampled(
    at: float, step: float, rng: np.random.Generator, log_density: Callable[[float], float]
) -> float:
    """The next of a chain of numbers that have a density: Neal (2003), figures 3 and 5.

    The step may depend on anything but where the chain is. https://doi.org/10.1214/aos/1056562461
    """
    level = log_density(at) + math.log(rng.random())
    left = at - step * rng.random()
    right = left + step
    steps = int(MOST_STEPS * rng.random())
    others = MOST_STEPS - 1 - steps
    while steps > 0 and log_density(left) > level:
        left, steps = left - step, steps - 1
    while others > 0 and log_density(right) > level:
        right, others = right + step, others - 1
    while True:
        found = left + (right - left) * rng.random()
        if found == at or log_density(found) >= level:
            return found
        left, right = (found, right) if found < at else (left, found)
