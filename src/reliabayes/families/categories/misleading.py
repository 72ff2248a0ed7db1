"""Items that mislead: their ratings follow a category that is independent of the true one.

With probability ``misleading`` the true category of an item is drawn from the prevalence, whatever
its ratings say; otherwise it is that of its hidden state. Raters who err together are such a case.
Ratings alone do not inform this probability, which then keeps its prior; known true categories do.
"""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem, prevalence_at
from reliabayes.inference.conjugate import NONE, RatingEvents
from reliabayes.inference.em import Point
from reliabayes.likelihoods.item_mixture import Expected, ItemMixture


def mixed(values: Array, prevalence: Array, misleading: Array) -> Array:
    """Rows (..., K, X) by true category, of values by the category that ratings follow.

    Parameters
    ----------
    values : array of shape (..., K, X)
        A row for each category that ratings follow.
    prevalence : array of shape (..., K)
        Probabilities of that category, and of the true one.
    misleading : array of shape (...)
        Probability that these are independent.
    """
    share = misleading[..., None, None]
    average = prevalence[..., None, :] @ values
    return np.asarray((1 - share) * values + share * average)


def truth_given_state(point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities (..., H, K) of the true categories of an item in each state."""
    of_followed = np.eye(problem.n_categories)
    if problem.misleads:
        share = point[MISLEADING.name][..., 0]
        of_followed = mixed(of_followed, prevalence_at(point, problem), share)
    return of_followed[..., problem.category_of_state, :]


def with_misled(expected: Expected, items: Array, of_state: Array, misleading: Array) -> Expected:
    """Expected counts, with those of the true categories of items that mislead.

    Parameters
    ----------
    expected : Expected
        Those of states and ratings.
    items : array of shape (K, H)
        Expected items by known true category and state.
    of_state : array of shape (H, K)
        Probabilities of the true categories of an item in each state.
    misleading : array of shape (1,)
        Probability that an item misleads.
    """
    every = np.arange(len(items))
    nodes = items.reshape(len(items), -1, len(items)).sum(axis=1)  # true categories run fastest
    straight = nodes[every, every] * (1 - misleading) / of_state[every, every]
    misled = items.sum(axis=1) - straight
    of_states = expected.items.copy()
    of_states[: len(misled)] += misled
    return Expected(expected.ratings, of_states, np.array([misled.sum(), straight.sum()]))


def counts(expected: Expected, problem: CategoricalProblem) -> dict[str, Array]:
    """Pseudo-counts (1, 2) of ``misleading``, if items may mislead."""
    if not problem.misleads:
        return {}
    return {MISLEADING.name: (expected.misled + problem.priors[MISLEADING.name])[None]}


def most_likely(expected: Expected, problem: CategoricalProblem) -> Point:
    """The parameter after an M step, if items may mislead."""
    found = counts(expected, problem).items()
    return {name: of[:, 0] / of.sum(axis=1) for name, of in found}


def posterior_sd(expected: Expected, problem: CategoricalProblem) -> Point:
    """Its standard deviation on the unconstrained scale, if items may mislead."""
    found = counts(expected, problem).items()
    return {name: MISLEADING.unconstrained_sd(of) for name, of in found}


def log_prior(point: Point, problem: CategoricalProblem) -> float:
    """Log density of the prior on the unconstrained scale; 0 if no item misleads."""
    if not problem.misleads:
        return 0.0
    share = float(point[MISLEADING.name][0])
    return float(problem.priors[MISLEADING.name] @ np.log([share, 1 - share]))


def from_prior(problem: CategoricalProblem, rng: np.random.Generator) -> Point:
    """The parameter drawn from its prior, if items may mislead."""
    if not problem.misleads:
        return {}
    success, failure = problem.priors[MISLEADING.name]
    return {MISLEADING.name: np.array([rng.beta(success, failure)])}


def known_as_ratings(mixture: ItemMixture, n_categories: int) -> ItemMixture:
    """Known true categories as ratings by one who reads states, or else follows the prevalence.

    Parameters
    ----------
    mixture : ItemMixture
        Items by their ratings in V cells, and what is known of them.
    n_categories : int
        Number K of categories.

    Returns
    -------
    ItemMixture
        With V + K cells, and nothing known of states.
    """
    rows = np.flatnonzero(mixture.kind)
    shape = len(mixture.kind), n_categories
    known = sp.csr_array((np.ones(len(rows)), (rows, mixture.kind[rows] - 1)), shape=shape)
    cells = sp.csr_array(sp.hstack([mixture.counts, known]))
    cells.sort_indices()
    return ItemMixture(cells, mixture.multiplicity, np.zeros_like(mixture.kind), mixture.distinct)


def with_known(
    outcomes: RatingEvents, misleading: Codes, prevalence: Codes, fixed: Array
) -> RatingEvents:
    """Outcomes with those of known true categories in K further cells.

    Parameters
    ----------
    outcomes : RatingEvents
        What ratings are outcomes of.
    misleading : array of int, shape (2,)
        Positions of the probabilities of an item that misleads, and of one that does not.
    prevalence : array of int, shape (K,)
        Positions of the prevalence; -1 where it is fixed.
    fixed : array of float, shape (K,)
        The prevalence that is fixed; ones where it is not.

    Returns
    -------
    RatingEvents
    """
    n_categories = len(prevalence)
    none = np.full_like(outcomes.known, NONE)
    first, second, *_ = *outcomes.guessed, none, none
    square = (n_categories, n_categories)
    reads = np.where(np.eye(n_categories, dtype=bool), misleading[1], NONE)
    columns = reads, np.full(square, misleading[0]), np.broadcast_to(prevalence, square)
    joined = (
        np.hstack([old, new.astype(np.int32)])
        for old, new in zip((outcomes.known, first, second), columns, strict=True)
    )
    all_known, *guessed = joined
    return RatingEvents(all_known, tuple(guessed), np.append(outcomes.proportion, fixed))
