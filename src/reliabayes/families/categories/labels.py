"""Labels of true categories: which of them a chain, or another mode, has switched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import scipy

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.density import states_at
from reliabayes.families.categories.em import climb_from
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.em import Point
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import of_parts
from reliabayes.inference.warm_start import WarmStart

NO_SHARE = 5.0  # nats of the prior, from which on labels hold no share of the posterior
SAME = 0.05  # share of the items of a state that may differ at one mode


def relabelled_runs(
    family: Categories,
    modes: Sequence[WarmStart],
    runs: Sequence[Draws],
    problem: CategoricalProblem,
) -> tuple[list[Draws], tuple[int, ...]]:
    """Runs whose true categories have the labels that the priors ask for, and which had not."""
    labelled = [
        relabel(family, run.parameters, mode, problem)
        for run, mode in zip(runs, modes, strict=False)
    ]
    found = [replace(run, parameters=own) for run, (own, _) in zip(runs, labelled, strict=True)]
    return found, tuple(sorted({x for _, own in labelled for x in own}))


def relabel(
    family: Categories, drawn: Mapping[str, Array], start: WarmStart, problem: CategoricalProblem
) -> tuple[Mapping[str, Array], tuple[int, ...]]:
    """Draws with true categories labelled as the priors say, and the chains that had switched.

    A chain takes other labels if the priors hold them to be at least e^5 times as probable, so
    that those it has hold no share of the posterior. If true categories are exchangeable, it
    takes the labels of the start, provided that it is at the same mode.
    """
    if not family.permutable or problem.n_gold_states > 1:
        return drawn, ()
    draws, switched = drawn, list[int]()

    def labels(chain: int) -> Codes:
        of_chain = {each.name: drawn[each.name][chain] for each in problem.parameters}
        return _labels(family, of_chain, start, problem)

    for chain, order in enumerate(of_parts(labels, range(len(drawn["prevalence"])))):
        if (order == np.arange(len(order))).all():
            continue
        if not switched:
            draws = {name: values.copy() for name, values in drawn.items()}
        switched.append(chain)
        for name, dims in problem.dims.items():
            draws[name][chain] = _taken(draws[name][chain], order, dims, 1)
    return draws, tuple(switched)


def _labels(
    family: Categories, drawn: Point, start: WarmStart, problem: CategoricalProblem
) -> Codes:
    """Which of the true categories of a chain's draws (S, ...) takes the place of each."""
    same = np.arange(problem.n_categories, dtype=np.int32)
    response = family.response
    if _is_exchangeable(family, problem):
        last = {name: x[-1] for name, x in drawn.items()}
        end = climb_from(family, last, problem, 300, 1e-3)
        found, known = (states_at(response, x, problem) for x in (end.point, start.point))
        order = _matched(known, found, problem)
        return order if nearest([known], found[:, order], problem) is not None else same
    confusion = response.confusion(drawn, problem)
    assert confusion is not None
    prior = np.broadcast_to(problem.priors["confusion"], confusion.shape[1:])
    gain = np.einsum("rgk,rhk->gh", prior, np.log(confusion).mean(axis=0))
    gain += np.outer(problem.priors["prevalence"], np.log(drawn["prevalence"]).mean(axis=0))
    order = best_assignment(gain)
    gained = gain[same, order].sum() - gain.trace()
    return order if gained > NO_SHARE else same


def _is_exchangeable(family: Categories, problem: CategoricalProblem) -> bool:
    """Whether nothing tells true categories apart: no gold, and the same priors of all."""
    if not family.permutable or problem.n_gold_states > 1:
        return False
    confusion, prevalence = problem.priors["confusion"], problem.priors["prevalence"]
    return not np.ptp(confusion, axis=-2).any() and not np.ptp(prevalence).any()


def relabelled_like(
    family: Categories, point: Point, like: Point, problem: CategoricalProblem
) -> Point:
    """A point whose true categories, if exchangeable, come closest to those at another."""
    if not _is_exchangeable(family, problem):
        return point
    known, found = (states_at(family.response, each, problem) for each in (like, point))
    order = _matched(known, found, problem)
    return {name: _taken(point[name], order, dims, 0) for name, dims in problem.dims.items()}


def nearest(states: Sequence[Array], state: Array, problem: CategoricalProblem) -> int | None:
    """Which of the modes, by their states (D, K), has these but for 5% of the items of any."""
    weight = problem.mixture.multiplicity[:, None]
    for at, known in enumerate(states):
        apart = (weight * np.abs(known - state)).sum(axis=0)
        both = (weight * (known + state)).sum(axis=0)
        if (apart <= SAME * np.maximum(both, 1)).all():
            return at
    return None


def best_assignment(gain: Array) -> Codes:
    """Which column of gains (K, K) each row takes, so that their sum is largest."""
    same = np.arange(len(gain), dtype=np.int32)
    if (gain.argmax(axis=1) == same).all():  # the usual case, without the import of an optimiser
        return same
    return scipy.optimize.linear_sum_assignment(gain, maximize=True)[1].astype(np.int32)


def _matched(known: Array, state: Array, problem: CategoricalProblem) -> Codes:
    """Which columns of states (D, K) come closest to each of the columns of others."""
    overlap = np.asarray(known.T @ (problem.mixture.multiplicity[:, None] * state))
    return best_assignment(overlap)


def _taken(values: Array, order: Codes, dims: tuple[str, ...], first: int) -> Array:
    """Values with true categories in another order; dims start at axis ``first``."""
    for axis in (i for i, dim in enumerate(dims) if dim == "true_category"):
        values = values.take(order, axis=first + axis)
    return values
