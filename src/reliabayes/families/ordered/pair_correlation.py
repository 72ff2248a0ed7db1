"""The correlation of an item's effects in two pools: its mode, and its uncertainty."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import scipy

from reliabayes.inference.em import Climb

Objective = Callable[[float], float]  # log posterior density, by the free number of the correlation

FARTHEST = 2.5  # correlations of .987
SMALLEST_SD, LARGEST_SD = 0.05, 1.0


def most_likely(objective: Objective) -> Climb:
    """Search for the mode."""
    path: list[float] = []

    def negative(free: float) -> float:
        found = objective(free)
        path.append(max([*path, found]))
        return -found

    best = scipy.optimize.minimize_scalar(
        negative, bounds=(-FARTHEST, FARTHEST), method="bounded", options={"xatol": 0.01}
    )
    return Climb({"rho": np.tanh(best.x)}, tuple(path), bool(best.success))


def sd_at(objective: Objective, free: float, move: float) -> float:
    """Standard deviation of the free number at the mode, by the curvature over moves from it."""
    bend = 2 * objective(free) - objective(free - move) - objective(free + move)
    return float(np.clip(move / np.sqrt(max(bend, 1e-3)), SMALLEST_SD, LARGEST_SD))
