"""Where chains start: around a mode, or from afar, and in units in which they move well."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered.centring import CoreCentring, Levels, core_centring
from reliabayes.families.ordered.nodes import enough_nodes
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.families.pilot import LONG_STEPS, after_pilot
from reliabayes.inference.commands import MAX_DENSE
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart, stan_data
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.nearly_normal import with_covariance
from reliabayes.sampling.thresholds import CROWD, LARGE_CROWD, NEARLY_NORMAL, SEVERAL_RATERS

MANY_COUNTS = 200  # of categories by distinct items, from which on NUTS takes seconds
# Curvatures of what raters have in common, in its units, between which these are good enough.
LEAST_CURVATURE, MOST_CURVATURE, STEP = 0.25, 3.0, 0.1


def free_at(found: Climb, levels: Levels, problem: OrderedProblem) -> dict[str, Array]:
    """A mode on the unconstrained scale, with levels relative to what their own ratings say."""
    free = {each.name: each.unconstrain(found.point[each.name]) for each in problem.parameters}
    at = {name: np.asarray(value) for name, value in _constrained(problem.parameters, free).items()}
    return {**free, **levels.unconstrain(at, problem.pool)}


def start_in_core(
    found: Climb, sd: Point, levels: Levels, problem: OrderedProblem, acceptance: float
) -> WarmStart:
    """Starting points around a mode, in standard scores of the core and of levels."""
    is_given = problem.given_nodes is not None
    node = np.empty(0) if is_given else enough_nodes(found.point, sd["sd_item"], problem).node
    mode = free_at(found, levels, problem)
    centring = core_centring(levels, node, problem.pool, mode, sd)
    size = len(centring.core_mean)
    return WarmStart(
        mode={"core": np.zeros(size), "score": mode["level"]},
        sd={"core": np.ones(size), "score": sd["level"]},
        constrain=centring.restored,
        step_size=0.5,
        target_acceptance=acceptance,
        path=found.path,
        centring=centring,
    )


def cold_start_at(
    levels: Levels, problem: OrderedProblem, acceptance: float, centring: StanPart
) -> WarmStart:
    """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
    declared = problem.parameters
    middle = {each.name: np.zeros(each.free_shape(problem.size)) for each in declared}
    return WarmStart(
        middle,
        {name: np.full_like(zero, 0.5) for name, zero in middle.items()},
        partial(constrained, declared, levels, problem.pool),
        target_acceptance=acceptance,
        centring=centring,
    )


def constrained(
    declared: tuple[Parameter, ...], levels: Levels, pool: Codes, free: Mapping[str, Any]
) -> dict[str, Any]:
    """Parameters of those on the unconstrained scale: means are scaled, and then levels."""
    return levels.constrain(_constrained(declared, free), free, pool)


def _constrained(declared: tuple[Parameter, ...], free: Mapping[str, Any]) -> dict[str, Array]:
    return {each.name: each.constrain(np.asarray(free[each.name])) for each in declared}


def in_better_units(problem: OrderedProblem, start: WarmStart) -> WarmStart:
    """The start with all covariances of a nearly normal posterior, or those that a short run finds.

    The run is worth its time only where standard deviations by EM are poor units, or where few
    raters, whose sd has wide tails, have many ratings.
    """
    if start.mean is not None:  # known already
        return start
    fewest, program = problem.fewest_raters, problem.treatment.program
    if fewest >= SEVERAL_RATERS and start.size <= NEARLY_NORMAL.most_parameters:
        start = with_covariance(start, program, stan_data(problem, start.centring))
    if start.covariance is not None or not isinstance(start.centring, CoreCentring):
        return start
    if fewest < SEVERAL_RATERS:
        is_worth_it = problem.mixture.counts.nnz >= MANY_COUNTS
    else:
        is_worth_it = fewest >= CROWD and start.size > MAX_DENSE and _is_poor(start, problem)
    if not is_worth_it:
        return start
    start = after_pilot(program, problem, start, lambda centring: centring.restored)
    return replace(start, target_acceptance=LONG_STEPS) if fewest >= LARGE_CROWD else start


def _is_poor(start: WarmStart, problem: OrderedProblem) -> bool:
    """Whether the core, which comes first, has a curvature at the mode far from 1."""
    at = np.concatenate([start.mode["core"], start.mode["score"]])
    size = len(start.mode["core"])
    moves = STEP * np.eye(size, len(at))
    data = stan_data(problem, start.centring)
    _, found = log_gradients(
        problem.treatment.program, data, np.concatenate([at - moves, at + moves])
    )
    before, after = np.split(found[:, :size], 2)
    values = np.linalg.eigvalsh((before - after + (before - after).T) / (4 * STEP))
    return bool(values[0] < LEAST_CURVATURE or values[-1] > MOST_CURVATURE)
