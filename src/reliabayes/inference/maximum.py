"""The maximum of a smooth density of few numbers, be it where effects vanish or elsewhere.

Standard deviations enter with either sign: a density that depends on their squares is smooth
everywhere, and one that is largest without an effect has an ordinary maximum at 0, where neither
logarithms nor bounds would end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array, Mask
from reliabayes.inference.time_limit import check_time

Density = Callable[[Array], float]

STEP = 0.005  # of finite differences, in standard deviations by the curvature
FIRST_SD, LEAST_SD, LARGEST_SD = 0.1, 1e-5, 1.0  # before the curvature is known, and within limits
CONVEX = 1e-3  # curvature in these units, above which a point is a saddle or a minimum
FLAT = 1e-5  # the same times -1, below which a density is level
HALVINGS = 12  # of a step that does not help
ROUNDING = 1e-5  # nats that may be expected of a step that gains nothing, at a maximum
NEAR_ZERO = 0.01  # numbers that are 0 if that costs nothing


class Maximum(NamedTuple):
    """Where a search ended, and the density on the way.

    Attributes
    ----------
    at : array of shape (P,)
        The numbers.
    path : tuple of float
        The density after each step.
    converged : bool
        Whether this is a maximum.
    is_flat : bool
        Whether the density is as high elsewhere near it.
    """

    at: Array
    path: tuple[float, ...]
    converged: bool
    is_flat: bool


def maximise(
    log_density: Density,
    start: Array,
    *,
    max_iterations: int,
    tolerance: float,
    may_be_zero: Mask,
) -> Maximum:
    """Newton's method with derivatives by finite differences.

    Parameters
    ----------
    log_density : callable
        Of numbers (P,) in units of about 1, in nats.
    start : array of shape (P,)
        With no number at 0.
    max_iterations : int
        Steps at most.
    tolerance : float
        Gain in nats that is expected of the next step, below which it is the last.
    may_be_zero : array of bool, shape (P,)
        Numbers that are set to 0 if the density there is as high.

    Returns
    -------
    Maximum
    """

    def value_at(point: Array) -> float:
        check_time()
        try:
            with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
                found = log_density(point)
        except np.linalg.LinAlgError:
            return -math.inf
        return found if math.isfinite(found) else -math.inf

    at, value, sd = start, value_at(start), np.full(len(start), FIRST_SD)
    path, gain, curvature = [value], math.inf, 0.0
    while len(path) <= max_iterations and gain >= tolerance:
        gradient, hessian = _derivatives(value_at, at, value, STEP * sd)
        bend = np.abs(np.diag(hessian))
        sd = np.clip(1 / np.sqrt(np.maximum(bend, 1e-12)), LEAST_SD, LARGEST_SD)
        move, gain, curvature = _newton_step(sd * gradient, sd[:, None] * hessian * sd)
        move = sd * move
        move /= max(1.0, float(np.abs(move / np.maximum(np.abs(at), 1)).max()))
        for _ in range(HALVINGS):
            higher = value_at(at + move)
            if higher >= value:
                at, value = at + move, higher
                break
            move = move / 2
        path.append(value)
        if path[-1] == path[-2]:
            gain = gain if gain > ROUNDING else 0.0
            break
    for k in np.flatnonzero(may_be_zero & (np.abs(at) < NEAR_ZERO)):
        without = np.where(np.arange(len(at)) == k, 0.0, at)
        if (found := value_at(without)) >= value - tolerance:
            at, value = without, found
    ended, is_flat = gain < tolerance, curvature < FLAT
    return Maximum(at, tuple(path), ended and not is_flat, ended and is_flat)


def _newton_step(gradient: Array, hessian: Array) -> tuple[Array, float, float]:
    """The step to the maximum, the gain expected of it, and the least curvature, times -1.

    In units in which curvatures are about 1. Steps lead away from saddles; their gain is infinite.
    """
    values, vectors = np.linalg.eigh((hessian + hessian.T) / 2)
    slope = vectors.T @ gradient
    convex = values > CONVEX
    size = np.abs(slope) / np.maximum(np.abs(values), CONVEX)
    size[convex] = np.maximum(size[convex], 1.0)
    step = np.where(slope < 0, -size, size)
    if convex.any():
        return vectors @ step, math.inf, -float(values[-1])
    return vectors @ step, float(slope @ step) / 2, -float(values[-1])


def _derivatives(density: Density, at: Array, value: float, step: Array) -> tuple[Array, Array]:
    """First and second derivatives by finite differences, lower triangle of the second."""
    moves = np.diag(step)
    after, before = (np.array([density(at + sign * move) for move in moves]) for sign in (1, -1))
    bends = after + before - 2 * value
    hessian = np.diag(bends)
    for row, column in zip(*np.tril_indices(len(at), -1), strict=True):
        both = density(at + moves[row] + moves[column])
        hessian[row, column] = both - after[row] - after[column] + value
        hessian[column, row] = hessian[row, column]
    return (after - before) / (2 * step), hessian / np.outer(step, step)
