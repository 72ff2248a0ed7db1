"""How raters rate at one draw, and what follows by simulation: how many ratings an item needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes

MOST_RATINGS = 50  # of an item, after which a simulation gives up
SIMULATED_ITEMS = 1000  # for each draw: a standard error of the accuracy of about 0.003


@dataclass(frozen=True, eq=False)
class RatingProbabilities:
    """Probabilities of states of an item, and of the ratings in each, at one draw.

    Attributes
    ----------
    log_weight : array of shape (H,)
        Log-probabilities of the states of an item.
    log_table : array of shape (H, R, K)
        Log-probabilities of the ratings, by state, rater and category; R is 1 where raters are
        exchangeable.
    truth : array of int, shape (H,)
        True category of each state; the state's own number where it has none.
    """

    log_weight: Array
    log_table: Array
    truth: Codes

    @property
    def by_rater(self) -> Array:
        """Probabilities (R, K) of each rater's ratings of an item drawn at random."""
        return np.asarray(np.einsum("h,hrk->rk", np.exp(self.log_weight), np.exp(self.log_table)))


def ratings_needed(
    draws: Iterable[RatingProbabilities],
    share: Array,
    accuracy: float,
    *,
    adaptive: bool,
    rng: np.random.Generator,
) -> Array:
    """Number of ratings of an item that make its most probable category accurate, by draw.

    For each draw, new items get one rating after the other, by raters drawn anew each time. The
    accuracy is the mean probability of the most probable category given the ratings so far.

    Parameters
    ----------
    draws : iterable of RatingProbabilities
        The draws.
    share : array of shape (R,)
        Probability that a rating is by each rater.
    accuracy : float
        Wanted proportion of correct categories, strictly between 0 and 1.
    adaptive : bool
        Whether an item gets no more ratings as soon as its most probable category is as probable as
        ``accuracy``.
    rng : Generator
        Source of all randomness.

    Returns
    -------
    array of shape (S,)
        The same number of ratings for all items; or, if ``adaptive``, the mean number. Infinite
        where `MOST_RATINGS` are not enough.
    """
    return np.array([_needed(draw, share, accuracy, adaptive, rng) for draw in draws])


def _needed(
    draw: RatingProbabilities,
    share: Array,
    accuracy: float,
    adaptive: bool,
    rng: np.random.Generator,
) -> float:
    states, raters, _ = draw.log_table.shape
    is_category = (draw.truth[:, None] == np.unique(draw.truth)).astype(float)
    edges = np.exp(draw.log_table).cumsum(axis=2)[:, :, :-1]
    at_random = rng.choice(states, SIMULATED_ITEMS, p=_normalised(np.exp(draw.log_weight)))
    log_posterior = np.tile(draw.log_weight, (SIMULATED_ITEMS, 1))
    is_open, given = np.ones(SIMULATED_ITEMS, bool), np.zeros(SIMULATED_ITEMS)
    certainty = np.zeros(SIMULATED_ITEMS)
    for number in range(1, MOST_RATINGS + 1):
        rows = np.flatnonzero(is_open)
        rater = rng.choice(raters, len(rows), p=share) if raters > 1 else np.zeros(len(rows), int)
        point = rng.random(len(rows))[:, None]
        category = (point >= edges[at_random[rows], rater]).sum(axis=1)
        log_posterior[rows] += draw.log_table[:, rater, category].T
        given[rows] = number
        relative = np.exp(log_posterior[rows] - log_posterior[rows].max(axis=1, keepdims=True))
        certainty[rows] = (relative @ is_category).max(axis=1) / relative.sum(axis=1)
        if adaptive:
            is_open = certainty < accuracy
            if not is_open.any():
                break
        elif certainty.mean() >= accuracy:
            return float(number)
    return float(given.mean()) if adaptive and certainty.mean() >= accuracy else np.inf


def _normalised(weight: Array) -> Array:
    return np.asarray(weight / weight.sum())
