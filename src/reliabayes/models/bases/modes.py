"""Modes of a posterior with hidden states, by climbs of EM from many starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np
import scipy

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import from_free, to_free
from reliabayes.inference.threads import of_parts
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.annotation import AnnotationModel
from reliabayes.models.bases.hidden_state import CategoricalProblem

STARTS, FINISHED = 20, 8  # random ones besides the votes, and how many of their ends are finished
# If they do not all end at one place there are more, where counts of distinct items are few.
MORE_STARTS, MORE_COUNTS = 100, 100_000
SEED = 1979  # of the starts: the same ratings have the same modes
ROUGH_ITERATIONS, ROUGH_TOLERANCE = 50, 1e-2  # of a climb that may end at a mode that is known
ITERATIONS, TOLERANCE = 300, 1e-4
MANY_COUNTS = 5_000  # of distinct items, from which on rough climbs take a part of the items
SAME = 0.05  # share of the items of a state that may differ at one mode
WORTH = 7.0  # nats below the heaviest mode: 5, and the error of their approximation
BARRIER = 0.5  # nats that the density falls by between two modes; if less, they are one
MOST = 6  # modes that are sampled


class Mode(NamedTuple):
    """A mode that climbs of EM end at.

    Attributes
    ----------
    climb : Climb
        One of them.
    start : WarmStart
        Where chains start around it.
    state : array of shape (D, K)
        Probabilities of the true categories of distinct items.
    log_mass : float
        Approximate log of the posterior's mass around it, in nats, up to a constant.
    climbs : int
        How many ended there.
    """

    climb: Climb
    start: WarmStart
    state: Array
    log_mass: float
    climbs: int


def find_modes(model: AnnotationModel, problem: CategoricalProblem) -> list[Mode]:
    """Modes that may hold a share of the posterior, the heaviest first.

    Climbs start from the votes and from random states. Rough ones, on a part of the items if there
    are many, decide which are finished: those that do not end where another did.

    Parameters
    ----------
    model : AnnotationModel
        The model.
    problem : Problem
        That of the ratings.

    Returns
    -------
    list of Mode
        Those within 7 nats of the heaviest, by a Laplace approximation; at most 6.
    """
    found = [_mode(model, problem, model.run_em(problem, None, ITERATIONS, TOLERANCE))]
    for end, climbs in _rough_ends(model, problem):
        end = model.aligned(end, found[0].climb.point, problem)
        at, climb = _climbed(model, found, end, problem)
        if at is None:
            found.append(_mode(model, problem, climb)._replace(climbs=climbs))
            continue
        if climb.path[-1] > found[at].climb.path[-1]:  # climbs may end at a saddle
            found[at] = _mode(model, problem, climb)._replace(climbs=found[at].climbs)
        found[at] = found[at]._replace(climbs=found[at].climbs + climbs)
    return heaviest(found)


def heaviest(modes: Sequence[Mode]) -> list[Mode]:
    """Those within 7 nats of the heaviest, at most 6, the heaviest first."""
    found = sorted(modes, key=lambda mode: -mode.log_mass)
    return [mode for mode in found if mode.log_mass > found[0].log_mass - WORTH][:MOST]


def _climbed(
    model: AnnotationModel, modes: Sequence[Mode], start: Point, problem: CategoricalProblem
) -> tuple[int | None, Climb]:
    """Which of the modes EM reaches from a point, and how far it climbed to know that."""
    known, climb = [mode.state for mode in modes], Climb(start, (-math.inf,), False)
    at = nearest(known, states_at(model, start, problem), problem)
    for limits in ((ROUGH_ITERATIONS, ROUGH_TOLERANCE), (ITERATIONS, TOLERANCE)):
        if at is not None and climb.path[-1] <= modes[at].climb.path[-1]:
            break
        climb = model.climb_from(climb.point, problem, *limits)
        if not climb.converged or limits[1] == ROUGH_TOLERANCE:
            # The objective may be an approximation around where the climb started.
            climb = model.climb_from(climb.point, problem, 0, ROUGH_TOLERANCE)
        at = nearest(known, states_at(model, climb.point, problem), problem)
        if at is None:
            at = _on_a_ridge(model, modes, climb.point, problem)
    return at, climb


def _on_a_ridge(
    model: AnnotationModel, modes: Sequence[Mode], point: Point, problem: CategoricalProblem
) -> int | None:
    """Which of the modes no barrier parts from a point: EM is slow along a level ridge."""
    parameters = model.parameters()

    def objective(free: Array) -> float:
        point = from_free(parameters, free, problem.size)
        return model.climb_from(point, problem, 0, ROUGH_TOLERANCE).path[0]

    end = to_free(parameters, point)
    height = objective(end)
    for at, mode in enumerate(modes):
        start = to_free(parameters, mode.climb.point)
        least = min(objective(start), height) - BARRIER
        # A barrier is highest halfway, and one look at it is enough.
        if all(objective(start + part * (end - start)) >= least for part in (0.5, 0.25, 0.75)):
            return at
    return None


def _rough_ends(model: AnnotationModel, problem: CategoricalProblem) -> list[tuple[Point, int]]:
    """Where rough climbs from random starts end, the highest first, and how many end at each."""
    part = _part(problem)
    most = STARTS
    if model.has_cheap_climbs:
        most = max(STARTS, min(MORE_STARTS, MORE_COUNTS // part.mixture.counts.nnz))
    found: list[tuple[Climb, Array, int]] = []

    def climbed(start: int) -> tuple[Climb, Array]:
        rng = np.random.default_rng([SEED, start])
        rough = model.run_em if start < STARTS else model.quick_em
        climb = rough(part, rng, ROUGH_ITERATIONS, ROUGH_TOLERANCE)
        return climb, states_at(model, climb.point, part)

    for starts in (range(STARTS), range(STARTS, most)):
        if len(found) == 1:
            break
        for climb, state in of_parts(climbed, starts):
            at = nearest([known for _, known, _ in found], state, part)
            if at is None:
                found.append((climb, state, 1))
            else:
                best = max((climb, found[at][0]), key=lambda each: each.path[-1])
                found[at] = best, found[at][1], found[at][2] + 1
    found.sort(key=lambda each: -each[0].path[-1])
    return [(climb.point, climbs) for climb, _, climbs in found[: FINISHED * most // STARTS]]


def nearest(states: Sequence[Array], state: Array, problem: CategoricalProblem) -> int | None:
    """Which of the modes, by their states (D, K), has these but for 5% of the items of any."""
    weight = problem.mixture.multiplicity[:, None]
    for at, known in enumerate(states):
        apart = (weight * np.abs(known - state)).sum(axis=0)
        both = (weight * (known + state)).sum(axis=0)
        if (apart <= SAME * np.maximum(both, 1)).all():
            return at
    return None


def _mode(model: AnnotationModel, problem: CategoricalProblem, climb: Climb) -> Mode:
    start = model.start_at(climb, problem)
    log_mass = climb.path[-1] + model.log_volume(start)
    return Mode(climb, start, states_at(model, climb.point, problem), log_mass, 1)


def matched(known: Array, state: Array, problem: CategoricalProblem) -> Codes:
    """Which columns of states (D, K) come closest to each of the columns of others."""
    overlap = np.asarray(known.T @ (problem.mixture.multiplicity[:, None] * state))
    return best_assignment(overlap)


def best_assignment(gain: Array) -> Codes:
    """Which column of gains (K, K) each row takes, so that their sum is largest."""
    same = np.arange(len(gain), dtype=np.int32)
    if (gain.argmax(axis=1) == same).all():  # the usual case, without the import of an optimiser
        return same
    return scipy.optimize.linear_sum_assignment(gain, maximize=True)[1].astype(np.int32)


def states_at(model: AnnotationModel, point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities (D, K) of the true categories of distinct items at a point."""
    _, state = problem.mixture.posterior(*model.columns(point, problem))
    return np.asarray(state @ np.eye(problem.n_categories)[model.truth(problem)])


def states_at_each(model: AnnotationModel, points: Point, problem: CategoricalProblem) -> Array:
    """The same (B, D, K) at several points (B, ...)."""
    _, state = problem.mixture.posterior(*model.columns_of_each(points, problem))
    return np.asarray(state @ np.eye(problem.n_categories)[model.truth(problem)])


def _part(problem: CategoricalProblem) -> CategoricalProblem:
    """The rough problem of some of the items, if there are many."""
    problem = problem.rough
    mixture = problem.mixture
    n_items, n_counts = len(mixture.multiplicity), mixture.counts.nnz
    if n_counts <= MANY_COUNTS:
        return problem
    chosen = np.random.default_rng(SEED).random(n_items) < MANY_COUNTS / n_counts
    return replace(problem, mixture=mixture.part(chosen))
