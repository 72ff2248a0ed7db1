"""Which answers people should label next: those whose labels say most on rates."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.matrices import matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import truths
from reliabayes.families.judges.results import PanelResults
from reliabayes.families.judges.starts import complete
from reliabayes.results.posterior import Posterior

MOST_DRAWS = 1000  # which estimate a correlation with an error of 0.03
MOST_NUMBERS = 20_000_000  # probabilities of labels by draw, which fit in memory


def next_items(
    results: PanelResults, one: Any, other: Any, of: Of, n: int, random: float, seed: int
) -> pd.DataFrame:
    r"""Answers without a label, those first whose labels are expected to say most.

    A label y of an answer has the probability q(y) at each draw. Once it is known, the variance of
    a rate is expected to fall by

    .. math:: \sum_y \operatorname{Cov}(\text{rate}, q(y))^2 / \bar q(y)

    over draws. Answers are chosen one after another; how much less is left to learn after those
    chosen before is approximated by linear regression.

    Parameters
    ----------
    results : PanelResults
        What the posterior tells.
    one, other : object
        Groups, by their names: of one the rate is estimated, of two the difference; of None the
        rates of all groups, whose variances count alike.
    of : {"people", "truth"}
        Of ratings by a person drawn from those at hand, or of true categories.
    n : int
        Number of answers.
    random : float
        Proportion of them that is drawn by lot, in [0, 1].
    seed : int
        Seed of what is drawn.

    Returns
    -------
    DataFrame
        A row for each answer, by its id: ``group``; ``chosen``, "informative" or "random"; and
        ``reduction``, the proportion of the variance that a label of it alone is expected to take.
    """
    problem, ratings = results.problem, results.posterior.ratings_in_memory
    if not 0 <= random <= 1:
        raise ValueError(f"random must be a proportion from 0 to 1, not {random!r}.")
    rng = np.random.default_rng(seed)
    is_person = problem.roles.is_person[ratings.rater]
    free = np.setdiff1d(np.arange(ratings.n_items), ratings.item[is_person])
    if not 0 < n <= len(free):
        raise ValueError(
            f"n must be 1 to {len(free):,}, the number of answers that no person labelled; found "
            f"{n:,}."
        )
    by_lot = rng.choice(free, round(random * n), replace=False)
    rest = rng.permutation(np.setdiff1d(free, by_lot))
    kinds, of_rest = np.unique(problem.mixture.distinct[rest], return_inverse=True)
    every = np.unique(problem.mixture.distinct[free])
    few = results.posterior.thinned(max(100, min(MOST_DRAWS, MOST_NUMBERS // len(every))))
    features, targets = (
        _features(few, every),
        _targets(replace(results, posterior=few), one, other, of),
    )
    flat = targets.T @ features.reshape(len(features), -1)
    alone = (flat**2).sum(axis=0).reshape(features.shape[1:]).sum(axis=1)
    picked = _greedy(
        features[:, np.searchsorted(every, kinds)], targets, np.bincount(of_rest), n - len(by_lot)
    )
    order = np.argsort(of_rest, kind="stable")
    start = np.searchsorted(of_rest[order], np.arange(len(kinds)))
    used = np.zeros(len(kinds), int)
    informative = []
    for kind in picked:
        informative.append(rest[order[start[kind] + used[kind]]])
        used[kind] += 1
    chosen = np.concatenate([np.array(informative, int), by_lot])
    total = float((targets**2).sum())
    of_chosen = np.searchsorted(every, problem.mixture.distinct[chosen])
    return pd.DataFrame(
        {
            "group": problem.coords["group"][problem.group[chosen]],
            "chosen": ["informative"] * len(informative) + ["random"] * len(by_lot),
            "reduction": alone[of_chosen] / total if total else 0.0,
        },
        index=ratings.items[chosen].rename("item"),
    )


def _features(posterior: Posterior[PanelProblem], kinds: Codes) -> Array:
    """Centred probabilities (S, D, K) of a person's label, over square roots of their means."""
    problem = posterior.problem
    states = np.concatenate([each[:, kinds] for each in truths(posterior)])
    people = np.exp(matrices(complete(posterior.stacked(), problem), problem).people)
    label = states @ people.mean(axis=1) if problem.n_people else states
    mean = label.mean(axis=0)
    return np.asarray((label - mean) / np.sqrt(np.maximum(mean, 1e-12) * len(label)))


def _targets(results: PanelResults, one: Any, other: Any, of: Of) -> Array:
    """Centred draws (S, Q) of what is estimated, over the square root of their number."""
    rates = results.rate_draws(of).values
    at = results.positions(*(group for group in (one, other) if group is not None))
    values = rates if one is None else rates[:, at[:1]]
    if other is not None:
        values = values - rates[:, at[-1:]]
    flat = values.reshape(len(values), -1)
    return np.asarray((flat - flat.mean(axis=0)) / np.sqrt(len(flat)))


def _greedy(features: Array, targets: Array, available: Codes, number: int) -> list[int]:
    """Kinds (number,) of answers, each the best after those before.

    Draws are a space in which a label is a direction. What is known of it is projected out.
    """
    flat = features.reshape(len(features), -1)
    shape = features.shape[1:]
    share = (flat**2).sum(axis=0)
    noise, left, with_targets = 1 - share, share.copy(), targets.T @ flat
    ways, count = np.empty((number * shape[1], len(flat))), 0
    free, found = available.copy(), list[int]()
    for _ in range(number):
        gain = (with_targets**2).sum(axis=0) / (noise + left)
        gain = np.where(free > 0, gain.reshape(shape).sum(axis=1), -np.inf)
        kind = int(gain.argmax())
        found.append(kind)
        free[kind] -= 1
        for at in range(kind * shape[1], (kind + 1) * shape[1]):
            known = ways[:count]
            way = flat[:, at] - known.T @ (known @ flat[:, at])
            way /= np.sqrt(max(noise[at] + left[at], 1e-12))
            ways[count], count = way, count + 1
            along = way @ flat
            left = np.maximum(left - along**2, 0.0)
            with_targets -= np.outer(targets.T @ way, along)
    return found
