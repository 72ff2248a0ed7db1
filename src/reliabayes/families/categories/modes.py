"""Modes of a posterior with hidden states, by climbs of EM from many starts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.categories.density import states_at
from reliabayes.families.categories.em import climb_from, quick_em, run_em
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.labels import nearest, relabelled_like
from reliabayes.families.categories.parts import distinct_items
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.starts import log_volume, start_at
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import from_free, to_free
from reliabayes.inference.threads import of_parts
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.thresholds import CLIMBS, MIXING

SEED = 1979  # of the starts: the same ratings have the same modes
# Iterations and tolerance of a climb that may end at a mode that is known, and of any other; none
# where only the objective is asked for.
COARSE_CLIMB, FULL_CLIMB, NO_CLIMB = (50, 1e-2), (300, 1e-4), (0, 1e-2)
BARRIER = 0.5  # nats that the density falls by between two modes; if less, they are one


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


def best_of(
    family: Categories,
    problem: CategoricalProblem,
    restarts: int,
    seed: int,
    max_iterations: int,
    tolerance: float,
) -> Climb:
    """The best of runs from the votes and from random states, which are numbered from 0.

    Its true categories have the names that come closest to those of the votes.
    """
    random = (np.random.default_rng([seed, start]) for start in range(restarts))
    runs = [run_em(family, problem, rng, max_iterations, tolerance) for rng in [None, *random]]
    best = max(runs, key=lambda found: found.path[-1])
    if best is runs[0]:
        return best
    return best._replace(point=relabelled_like(family, best.point, runs[0].point, problem))


def start_at_votes(family: Categories, problem: CategoricalProblem) -> WarmStart:
    """Starting points around the mode that EM finds from the votes."""
    return start_at(family, run_em(family, problem, None, *FULL_CLIMB), problem)


def starts(family: Categories, problem: CategoricalProblem) -> Sequence[WarmStart]:
    """A start at each mode that may hold a share of the posterior, the heaviest first."""
    if problem.parts is not None:
        return [mode.start for mode in heaviest(_modes_of_parts(family, problem))]
    modes = find_modes(family, problem)
    found = [replace(mode.start, climbs=mode.climbs) for mode in modes]
    return found if family.better_starts is None else family.better_starts(found, problem)


def find_modes(family: Categories, problem: CategoricalProblem) -> list[Mode]:
    """Modes that may hold a share of the posterior, the heaviest first.

    Climbs start from the votes and from random states. Rough ones, on a part of the items if there
    are many, decide which are finished: those that do not end where another did.

    Parameters
    ----------
    family : Categories
        What the model holds.
    problem : Problem
        That of the ratings.

    Returns
    -------
    list of Mode
        Those within 7 nats of the heaviest, by a Laplace approximation; at most 6.
    """
    found = [_mode(family, problem, run_em(family, problem, None, *FULL_CLIMB))]
    for end, climbs in _rough_ends(family, problem):
        end = relabelled_like(family, end, found[0].climb.point, problem)
        at, climb = _climbed(family, found, end, problem)
        if at is None:
            found.append(_mode(family, problem, climb)._replace(climbs=climbs))
            continue
        if climb.path[-1] > found[at].climb.path[-1]:  # climbs may end at a saddle
            found[at] = _mode(family, problem, climb)._replace(climbs=found[at].climbs)
        found[at] = found[at]._replace(climbs=found[at].climbs + climbs)
    return heaviest(found)


def heaviest(modes: Sequence[Mode]) -> list[Mode]:
    """Those within 7 nats of the heaviest, at most 6, the heaviest first."""
    found = sorted(modes, key=lambda mode: -mode.log_mass)
    least = found[0].log_mass - MIXING.lightest
    return [mode for mode in found if mode.log_mass > least][: MIXING.most]


def _climbed(
    family: Categories, modes: Sequence[Mode], start: Point, problem: CategoricalProblem
) -> tuple[int | None, Climb]:
    """Which of the modes EM reaches from a point, and how far it climbed to know that."""
    known, climb = [mode.state for mode in modes], Climb(start, (-math.inf,), False)
    at = nearest(known, states_at(family.response, start, problem), problem)
    for limits in (COARSE_CLIMB, FULL_CLIMB):
        if at is not None and climb.path[-1] <= modes[at].climb.path[-1]:
            break
        climb = climb_from(family, climb.point, problem, *limits)
        if not climb.converged or limits == COARSE_CLIMB:
            # The objective may be an approximation around where the climb started.
            climb = climb_from(family, climb.point, problem, *NO_CLIMB)
        at = nearest(known, states_at(family.response, climb.point, problem), problem)
        if at is None:
            at = _on_a_ridge(family, modes, climb.point, problem)
    return at, climb


def _on_a_ridge(
    family: Categories, modes: Sequence[Mode], point: Point, problem: CategoricalProblem
) -> int | None:
    """Which of the modes no barrier parts from a point: EM is slow along a level ridge."""
    parameters = problem.parameters

    def objective(free: Array) -> float:
        point = from_free(parameters, free, problem.size)
        return climb_from(family, point, problem, *NO_CLIMB).path[0]

    end = to_free(parameters, point)
    height = objective(end)
    for at, mode in enumerate(modes):
        start = to_free(parameters, mode.climb.point)
        least = min(objective(start), height) - BARRIER
        # A barrier is highest halfway, and one look at it is enough.
        if all(objective(start + part * (end - start)) >= least for part in (0.5, 0.25, 0.75)):
            return at
    return None


def _rough_ends(family: Categories, problem: CategoricalProblem) -> list[tuple[Point, int]]:
    """Where rough climbs from random starts end, the highest first, and how many end at each."""
    part = _part(problem)
    most = CLIMBS.starts
    if family.has_cheap_climbs:
        most = max(CLIMBS.starts, min(CLIMBS.more, CLIMBS.few_counts // part.mixture.counts.nnz))
    found: list[tuple[Climb, Array, int]] = []

    def climbed(start: int) -> tuple[Climb, Array]:
        rng = np.random.default_rng([SEED, start])
        rough = run_em if start < CLIMBS.starts else quick_em
        climb = rough(family, part, rng, *COARSE_CLIMB)
        return climb, states_at(family.response, climb.point, part)

    for numbers in (range(CLIMBS.starts), range(CLIMBS.starts, most)):
        if len(found) == 1:
            break
        for climb, state in of_parts(climbed, numbers):
            at = nearest([known for _, known, _ in found], state, part)
            if at is None:
                found.append((climb, state, 1))
            else:
                best = max((climb, found[at][0]), key=lambda each: each.path[-1])
                found[at] = best, found[at][1], found[at][2] + 1
    found.sort(key=lambda each: -each[0].path[-1])
    return [
        (climb.point, climbs)
        for climb, _, climbs in found[: CLIMBS.finished * most // CLIMBS.starts]
    ]


def _mode(family: Categories, problem: CategoricalProblem, climb: Climb) -> Mode:
    start = start_at(family, climb, problem)
    log_mass = climb.path[-1] + log_volume(start)
    return Mode(climb, start, states_at(family.response, climb.point, problem), log_mass, 1)


def _part(problem: CategoricalProblem) -> CategoricalProblem:
    """The rough problem of some of the items, if there are many."""
    problem = problem.rough
    mixture = problem.mixture
    n_items, n_counts = len(mixture.multiplicity), mixture.counts.nnz
    if n_counts <= CLIMBS.counts:
        return problem
    chosen = np.random.default_rng(SEED).random(n_items) < CLIMBS.counts / n_counts
    return replace(problem, mixture=mixture.part(chosen))


# Of items in parts.


def _modes_of_parts(family: Categories, problem: CategoricalProblem) -> list[Mode]:
    """Modes that are searched for among some items of the first part.

    EM climbs over all parts: from the votes, and from modes found that are none of those it has
    reached.
    """
    assert problem.parts is not None
    whole = replace(problem, parts=replace(problem.parts, progress=False))
    some = _some_items(problem)
    votes = run_em(family, whole, None, *FULL_CLIMB)
    found = [_mode_of_parts(family, votes, whole, some)]
    for start in starts(family, some):
        known = [mode.state for mode in found]
        if nearest(known, states_at(family.response, start.point, some), some) is None:
            climb = climb_from(family, start.point, whole, *FULL_CLIMB)
            if nearest(known, states_at(family.response, climb.point, some), some) is None:
                found.append(_mode_of_parts(family, climb, whole, some))
    return found


def _mode_of_parts(
    family: Categories, climb: Climb, problem: CategoricalProblem, some: CategoricalProblem
) -> Mode:
    """A mode of items in parts, with the states there of some of them."""
    start = start_at(family, climb, problem)
    # Sums over other parts differ in their last digits, and draws should not.
    mode, sd = ({k: np.round(x, 6) for k, x in y.items()} for y in (start.mode, start.sd))
    log_mass = climb.path[-1] + log_volume(start)
    start = replace(start, mode=mode, sd=sd)
    return Mode(climb, start, states_at(family.response, climb.point, some), log_mass, 1)


def _some_items(problem: CategoricalProblem) -> CategoricalProblem:
    """Distinct items among the first of a part, which items are in by chance."""
    assert problem.parts is not None
    every = distinct_items(problem.has_raters, problem.parts.example)
    most = max(1, int(CLIMBS.counts_of_parts / every.counts.nnz * len(every.multiplicity)))
    is_all = most >= len(every.multiplicity)
    return replace(problem, parts=None, mixture=every if is_all else every.part(slice(most)))
