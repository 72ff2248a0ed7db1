"""How raters rate at one draw, and what follows by simulation: how many ratings an item needs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array

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
    truth : array of shape (H, C)
        Probabilities of the true categories in each state; the identity where items have none.
    """

    log_weight: Array
    log_table: Array
    truth: Array

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
    if draw.truth.max() < accuracy:  # not even for an item whose state is known
        return np.inf
    states, raters, categories = draw.log_table.shape
    table = np.exp(draw.log_table)
    # Items come last, where sums over few states or categories are fast.
    edges = np.ascontiguousarray(table.cumsum(axis=2)[:, :, :-1].transpose(2, 0, 1))
    by_rating, of_state = table.reshape(states, -1), draw.truth.T
    weight = _normalised(np.exp(draw.log_weight))
    to_rater = _normalised(share).cumsum()[:-1]
    # Of the items that get another rating: their states, and the probabilities of these.
    state = rng.choice(states, SIMULATED_ITEMS, p=weight)
    posterior = np.tile(weight[:, None], SIMULATED_ITEMS)
    given, certain = 0, 0.0  # ratings and certainties, summed over the items that get no more
    for number in range(1, MOST_RATINGS + 1):
        rater = to_rater.searchsorted(rng.random(len(state)), side="right") if raters > 1 else 0
        point = rng.random(len(state))
        category = (point >= edges[:, state, rater]).sum(axis=0)
        posterior *= by_rating[:, rater * categories + category]
        posterior /= posterior.sum(axis=0)
        certainty = (of_state @ posterior).max(axis=0)
        if not adaptive:
            if certainty.mean() >= accuracy:
                return float(number)
            continue
        is_open = (certainty < accuracy) & (number < MOST_RATINGS)
        given += number * int((~is_open).sum())
        certain += float(certainty[~is_open].sum())
        state, posterior = state[is_open], posterior[:, is_open]
        if len(state) == 0:
            return given / SIMULATED_ITEMS if certain >= accuracy * SIMULATED_ITEMS else np.inf
    return np.inf


def _normalised(weight: Array) -> Array:
    return np.asarray(weight / weight.sum())
