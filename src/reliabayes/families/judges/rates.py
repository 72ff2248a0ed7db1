"""Rates of categories in groups of items, draw by draw."""

from __future__ import annotations

from typing import Literal, TypeAlias

import numpy as np

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.matrices import matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import people_rates, truths
from reliabayes.families.judges.starts import complete
from reliabayes.results.posterior import Posterior

Items: TypeAlias = Literal["population", "these"]


def rate_draws(
    posterior: Posterior[PanelProblem], of: Of, items: Items, rng: np.random.Generator
) -> Array:
    """Draws (S, G, K) of rates of categories in each group.

    Parameters
    ----------
    posterior : Posterior
        Draws with their problem.
    of : {"people", "truth"}
        Of ratings by a person drawn from those at hand, or of true categories.
    items : {"population", "these"}
        Of items like those at hand, or of these themselves.
    rng : Generator
        Source of randomness.
    """
    problem = posterior.problem
    of_people = of == "people" and not problem.trusts_person
    if items == "these":
        of_items = _people_of_these if of_people else _truths_of_these
        return of_items(posterior, rng)
    found = matrices(complete(posterior.stacked(), problem), problem)
    if not of_people:
        return np.exp(found.prevalence)
    rates = people_rates(found, problem)
    assert rates is not None
    return rates


def _truths_of_these(posterior: Posterior[PanelProblem], rng: np.random.Generator) -> Array:
    """Shares of the true categories of the items at hand, drawn given the answers."""
    counts = [_by_group(drawn, posterior.problem) for drawn in _drawn_truths(posterior, rng)]
    return _shares(np.concatenate(counts))


def _people_of_these(posterior: Posterior[PanelProblem], rng: np.random.Generator) -> Array:
    """Shares of ratings of all items at hand by each person, given or drawn, over people."""
    problem = posterior.problem
    people, k = problem.n_people, problem.n_categories
    given = problem.mixture.counts[:, : people * k].toarray().reshape(-1, people, k)
    is_rated: Mask = np.asarray(given.any(axis=-1))
    weight = problem.mixture.multiplicity[:, None] * given.reshape(len(given), -1)
    known = _by_group(weight[None], problem)[0].reshape(-1, people, k)  # (G, P, K)
    conf = np.exp(matrices(complete(posterior.stacked(), problem), problem).people)
    found, used = [], 0
    for truth in _drawn_truths(posterior, rng):  # (B, D, K)
        part = slice(used, used + len(truth))
        used += len(truth)
        unrated = np.stack(
            [_by_group(truth * ~is_rated[:, person, None], problem) for person in range(people)],
            axis=2,
        )  # (B, G, P, K) by true category
        drawn = rng.multinomial(unrated.astype(np.int64), _normalised(conf[part])[:, None])
        found.append((known + drawn.sum(axis=-2)).sum(axis=2))
    return _shares(np.concatenate(found))


def _drawn_truths(posterior: Posterior[PanelProblem], rng: np.random.Generator) -> list[Codes]:
    """Numbers (B, D, K) of the items of each distinct one by true category, draws by draws."""
    number = posterior.problem.mixture.multiplicity.astype(np.int64)
    return [rng.multinomial(number, _normalised(state)) for state in truths(posterior)]


def _by_group(counts: Array | Codes, problem: PanelProblem) -> Array:
    """Sums (B, G, X) of numbers (B, D, X) of distinct items."""
    groups, kind = problem.size("group"), problem.mixture.kind
    group = np.where(kind < groups, kind, (kind - groups) // problem.n_categories)
    return np.asarray(np.eye(groups)[:, group] @ counts)


def _shares(counts: Array) -> Array:
    return np.asarray(counts / counts.sum(axis=-1, keepdims=True))


def _normalised(probability: Array) -> Array:
    """Rows that sum to 1 within what a multinomial draw accepts."""
    return np.asarray(probability / probability.sum(axis=-1, keepdims=True))
