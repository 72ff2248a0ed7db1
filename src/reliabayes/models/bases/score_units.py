"""Units in which chains of latent scores move best."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from reliabayes.inference.commands import MAX_DENSE
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.problem import stan_data
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.core_centring import CROWD, CoreCentring
from reliabayes.models.bases.pilot import LARGE_CROWD, LONG_STEPS, CoreModel, after_pilot
from reliabayes.sampling.nearly_normal import with_covariance
from reliabayes.sampling.plan import NEARLY_NORMAL

SEVERAL_RATERS = 6  # of each pool
MANY_COUNTS = 200  # of categories by distinct items, from which on NUTS takes seconds
# Curvatures of what raters have in common, in its units, between which these are good enough.
LEAST_CURVATURE, MOST_CURVATURE, STEP = 0.25, 3.0, 0.1


def in_better_units(model: CoreModel, problem: Any, start: WarmStart) -> WarmStart:
    """The start with all covariances of a nearly normal posterior, or those that a short run finds.

    The run is worth its time only where standard deviations by EM are poor units, or where few
    raters, whose sd has wide tails, have many ratings.
    """
    if start.mean is not None:  # known already
        return start
    fewest, program = np.bincount(problem.pool).min(), model.program(problem)
    if fewest >= SEVERAL_RATERS and start.size <= NEARLY_NORMAL.most_parameters:
        start = with_covariance(start, program, stan_data(problem, start.centring))
    if start.covariance is not None or not isinstance(start.centring, CoreCentring):
        return start
    if fewest < SEVERAL_RATERS:
        is_worth_it = problem.mixture.counts.nnz >= MANY_COUNTS
    else:
        is_worth_it = (
            fewest >= CROWD and start.size > MAX_DENSE and _is_poor(start, program, problem)
        )
    if not is_worth_it:
        return start
    start = after_pilot(model, problem, start)
    return replace(start, target_acceptance=LONG_STEPS) if fewest >= LARGE_CROWD else start


def _is_poor(start: WarmStart, program: str, problem: Any) -> bool:
    """Whether the core, which comes first, has a curvature at the mode far from 1."""
    at = np.concatenate([start.mode["core"], start.mode["score"]])
    size = len(start.mode["core"])
    moves = STEP * np.eye(size, len(at))
    data = stan_data(problem, start.centring)
    _, found = log_gradients(program, data, np.concatenate([at - moves, at + moves]))
    before, after = np.split(found[:, :size], 2)
    values = np.linalg.eigvalsh((before - after + (before - after).T) / (4 * STEP))
    return bool(values[0] < LEAST_CURVATURE or values[-1] > MOST_CURVATURE)
