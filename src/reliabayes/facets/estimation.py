"""Estimates of variance components: by analysis of variance, and by restricted likelihood."""

from __future__ import annotations

import numpy as np
import scipy

from reliabayes.arrays import Array, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.normal_effects import NormalEffects, Solution
from reliabayes.facets.squared_totals import SquaredTotals

MAX_STEPS = 200  # of Newton's method, which usually takes about ten
MAX_HALVINGS = 30
TOLERANCE = 1e-13  # gain of a last step, as a proportion of the log likelihood: rounding error
LEAST_RESIDUAL = 1e-10  # proportion of the variance of all ratings


def anova(sums: EffectSums) -> Array:
    """Variance components (K,) by Henderson's method I, the last that of the residual.

    Uncorrected sums of squares of the totals of each source, of the mean and of all ratings are
    equated to what is expected of them. In a balanced design this equals the solution of the
    equations for expected mean squares. Estimates may be negative.

    Parameters
    ----------
    sums : EffectSums
        Sums of the ratings.

    Returns
    -------
    array of float, shape (K,)

    Raises
    ------
    RatingsError
        The equations have no unique solution.

    References
    ----------
    Henderson (1953), https://doi.org/10.2307/3001853; Brennan (2001), chapter 7,
    https://doi.org/10.1007/978-1-4757-3456-0
    """
    return SquaredTotals.of(sums, np.ones(len(sums.source), bool)).estimates()


def reml(model: NormalEffects) -> Array:
    """Variance components (K,) that maximise the restricted likelihood, none below 0.

    Parameters
    ----------
    model : NormalEffects
        Sums of the ratings.

    Returns
    -------
    array of float, shape (K,)
        The last is that of the residual. All are 0 if all ratings are the same.

    References
    ----------
    Patterson & Thompson (1971), https://doi.org/10.1093/biomet/58.3.545; steps by average
    information: Gilmour, Thompson & Cullis (1995), https://doi.org/10.2307/2533274
    """
    total = model.sums.square / model.sums.n
    if total == 0:
        return np.zeros(int(model.sums.source.max()) + 1)
    lowest = np.zeros(int(model.sums.source.max()) + 1)
    lowest[-1] = LEAST_RESIDUAL * total
    found = model.at(_start(model, total))
    for _ in range(MAX_STEPS):
        better = _improved(model, found, lowest)
        if better is None:
            return found.variance
        found = better
    rule = f"the restricted likelihood must have its maximum within {MAX_STEPS} steps"
    remedy = "Drop sources of which the ratings say little."
    raise RatingsError([Fault("design", rule, "none", remedy)])


def _start(model: NormalEffects, total: float) -> Array:
    """Estimates of an analysis of variance, or equal parts where it has none."""
    try:
        start = np.maximum(anova(model.sums), 0)
    except RatingsError:
        k = int(model.sums.source.max()) + 1
        return np.full(k, total / k)
    start[-1] = max(start[-1], 0.01 * total)
    return np.asarray(start)


def _improved(model: NormalEffects, found: Solution, lowest: Array) -> Solution | None:
    """Solution after a step that gains likelihood; None at the maximum."""
    slope, information = found.gradient, found.information
    free = (found.variance > lowest) | (slope > 0)
    for matrix in (information, np.diag(np.diag(information))):
        step = _step(matrix, slope, free)
        if slope @ step < TOLERANCE * max(1.0, abs(found.log_density)):
            continue
        for halving in range(MAX_HALVINGS):
            reached = np.maximum(found.variance + step / 2**halving, lowest)
            try:
                better = model.at(reached)
            except np.linalg.LinAlgError:
                continue  # hardly any residual variance is left: rounding errors are larger
            if better.log_density > found.log_density:
                return better
    return None


def _step(information: Array, slope: Array, free: Mask) -> Array:
    """(K,) step of Newton's method in the variances that are free to move."""
    step = np.zeros(len(slope))
    held = information[np.ix_(free, free)]
    try:
        step[free] = np.linalg.solve(held, slope[free])
    except np.linalg.LinAlgError:
        step[free] = scipy.linalg.pinvh(held) @ slope[free]
    return step
