"""Majority votes: the category of each item that most ratings are in, raters weighted or not."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from reliabayes.agreement.arithmetic import ratio, sum_by_index
from reliabayes.agreement.count_table import CountTable
from reliabayes.arrays import Array, Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed, shown

VoteWeights = Literal["wawa", "zero-based", "gold"]
Ties = Literal["first", "random"]

ROUNDING = 1e-12  # relative difference of sums of weights that are a tie
# Of zero-based skill, as crowd-kit has it: rounds, rounds until the rate of learning is halved, and
# what a weight exceeds chance by at first.
ROUNDS, HALVED_AFTER, ABOVE_CHANCE = 100, 20, 1e-5


def majority_vote(
    ratings: Ratings,
    weights: VoteWeights | Mapping[Any, float] | pd.Series[float] | None = None,
    *,
    ties: Ties | None = None,
    seed: int = 0,
) -> pd.DataFrame:
    r"""Majority vote: the category of each item with the largest sum of weights of its ratings.

    .. math:: \hat{y}_i = \operatorname{argmax}_k \sum_j w_j\, [x_{ij} = k]

    A vote has no uncertainty: its share is no probability that the category is true. Models such as
    `RaterTAP` and `DawidSkene` estimate that, together with the accuracy of each rater; the page
    "Labels of ten crowds" compares their accuracy and calibration with those of votes.

    Parameters
    ----------
    ratings : Ratings
        Any design. Every rating of a rater who rated an item more than once is a vote.
    weights : {"wawa", "zero-based", "gold"} or Series or mapping, optional
        Weight w of each rater. By default all are 1.

        - "wawa": proportion of the rater's ratings that are the unweighted majority (worker
          agreement with aggregate).
        - "zero-based": the proportion that are the weighted majority, found by iteration from equal
          weights (zero-based skill).
        - "gold": proportion of the rater's ratings that are right, of items with a known category.
          Raters who rated none of these have the proportion of all raters.
        - numbers of 0 or more, by rater id.
    ties : {"first", "random"}, optional
        How to break ties: in favour of the first category, or at random. By default ties stay.
    seed : int, default 0
        The same seed breaks ties in the same way.

    Returns
    -------
    DataFrame, I rows
        Index item. Columns: ``category``, missing where there is a tie that stays; ``tied``,
        whether several categories have the largest sum, also if the tie is broken; ``share``, the
        largest sum divided by that of all categories; ``ratings``, their number.
        ``attrs["weights"]`` is a dict of the weight by rater id, or None if raters are anonymous.

    Raises
    ------
    RatingsError
        Weights are asked for and raters are anonymous, no true category is known, or weights lack a
        rater, are negative, infinite or missing.
    ValueError
        There are no such weights, or no such way to break ties.

    Notes
    -----
    While agreement with a majority is computed, tied categories count as the one that is most
    frequent among all ratings.

    References
    ----------
    "wawa" and "zero-based": Ustalov, Pavlichenko & Tseitlin (2024), Journal of Open Source Software
    9, 6227. https://doi.org/10.21105/joss.06227

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> table = np.array([["a", "a", "b"], ["b", "b", "b"], ["b", "a", None], ["a", "b", "b"]])
    >>> votes = rb.majority_vote(rb.Ratings.from_wide(table))
    >>> votes["category"].tolist()
    ['a', 'b', nan, 'b']
    >>> votes["share"].round(2).tolist()
    [0.67, 1.0, 0.5, 0.67]
    """
    if ties not in (None, *get_args(Ties)):
        raise ValueError(f'ties must be "first", "random" or None, not {ties!r}.')
    ballots = _Ballots.of(ratings)
    by_rater = None if weights is None else _weights(ratings, weights, ballots)
    totals = ballots.totals(by_rater)
    is_best, best = ballots.best(totals)
    n_best = ballots.sum_by_item(is_best.astype(np.float64))
    if ties == "random":
        order = np.random.default_rng(seed).random(len(totals))
    else:
        order = -np.arange(len(totals), dtype=np.float64)
    code = ballots.chosen(is_best, order)
    is_tied = n_best > 1
    if ties is None:
        code = np.where(is_tied, -1, code)
    everything = ballots.sum_by_item(totals)
    votes = pd.DataFrame(
        {
            "category": _labels(ratings, code),
            "tied": is_tied,
            "share": ratio(best, everything),
            "ratings": ratings.ratings_per_item,
        },
        index=ratings.items.rename("item"),
    )
    votes.attrs["weights"] = _weights_by_id(ratings, by_rater)
    return votes


@dataclass(frozen=True, eq=False)
class _Ballots:
    """Ratings by item and category, and how frequent each category is among all ratings."""

    table: CountTable
    frequency: Array

    @classmethod
    def of(cls, ratings: Ratings) -> _Ballots:
        size = len(ratings.categories)
        frequency = sum_by_index(ratings.category, None, size)
        shape = ratings.n_items, size
        table = CountTable.from_codes(ratings.item, ratings.category, ratings.rater, shape)
        return cls(table, frequency)

    def totals(self, weights: Array | None) -> Array:
        """(C,) sums of weights of the ratings in each cell."""
        each = None if weights is None else weights[self.table.rater]
        return sum_by_index(self.table.cell, each, len(self.table.item))

    def sum_by_item(self, values: Array) -> Array:
        """(I,) sums of values (C,) of cells."""
        return sum_by_index(self.table.item, values, self.table.shape[0])

    def best(self, totals: Array) -> tuple[Mask, Array]:
        """Which cells (C,) have the largest sum of their item, and that sum (I,)."""
        largest = np.maximum.reduceat(totals, self._first)
        return totals >= largest[self.table.item] * (1 - ROUNDING), largest

    def chosen(self, is_best: Mask, order: Array) -> Codes:
        """(I,) category of the cell that is highest in an order (C,) among the best."""
        among = np.where(is_best, order, -np.inf)
        highest = np.maximum.reduceat(among, self._first)
        place = np.flatnonzero(among == highest[self.table.item])
        code = np.empty(self.table.shape[0], np.intp)
        code[self.table.item[place[::-1]]] = self.table.category[place[::-1]]
        return code

    def agrees(self, weights: Array | None) -> Array:
        """(N,) 1 for ratings that are the majority; tied items count for the usual category."""
        is_best, _ = self.best(self.totals(weights))
        code = self.chosen(is_best, self.frequency[self.table.category])
        is_majority = self.table.category == code[self.table.item]
        agrees: Array = is_majority.astype(np.float64)[self.table.cell]
        return agrees

    @property
    def _first(self) -> Codes:
        """(I,) first cell of each item."""
        first: Codes = np.searchsorted(self.table.item, np.arange(self.table.shape[0]))
        return first


def _weights(ratings: Ratings, weights: Any, ballots: _Ballots) -> Array:
    """(R,) weight of each rater."""
    ratings.require_known_raters("majority_vote with weights")
    if isinstance(weights, (Mapping, pd.Series)):
        return _given_weights(ratings, weights)
    if weights == "wawa":
        return _mean_by_rater(ratings, ballots.agrees(None))
    if weights == "zero-based":
        return _zero_based(ratings, ballots)
    if weights == "gold":
        return _right_on_gold(ratings)
    known = ", ".join(get_args(VoteWeights))
    raise ValueError(f"weights must be {known}, numbers by rater or None, not {shown(weights)}.")


def _given_weights(ratings: Ratings, weights: Mapping[Any, float] | pd.Series[float]) -> Array:
    series = pd.Series(dict(weights.items()), dtype=np.float64)
    missing = ratings.raters.difference(series.index, sort=False)
    if len(missing):
        rule, remedy = "there must be a weight for each rater", "Add these, or leave them out."
        raise RatingsError([Fault("weights", rule, f"none for {listed(missing)}", remedy)])
    found = series.loc[ratings.raters].to_numpy(np.float64)
    if not (np.isfinite(found) & (found >= 0)).all():
        wrong = ratings.raters[~(np.isfinite(found) & (found >= 0))]
        rule, remedy = "weights must be numbers of 0 or more", "Use 0 for raters who do not count."
        raise RatingsError([Fault("weights", rule, f"others for {listed(wrong)}", remedy)])
    return found


def _zero_based(ratings: Ratings, ballots: _Ballots) -> Array:
    n_used = np.count_nonzero(ballots.frequency)
    weights, rate = np.full(ratings.n_raters, 1 / n_used + ABOVE_CHANCE), 1.0
    for number in range(1, ROUNDS + 1):
        if number % HALVED_AFTER == 0:
            rate /= 2
        weights = weights + rate * (_mean_by_rater(ratings, ballots.agrees(weights)) - weights)
    return weights


def _right_on_gold(ratings: Ratings) -> Array:
    gold = ratings.gold_category
    if gold is None or (gold < 0).all():
        rule, remedy = "the true category of some items must be known", 'Read them with gold="...".'
        raise RatingsError([Fault('weights="gold"', rule, "none", remedy)])
    truth = gold[ratings.item]
    is_known = truth >= 0
    is_right = is_known & (truth == ratings.category)
    right, known = (
        sum_by_index(ratings.rater, each.astype(np.float64), ratings.n_raters)
        for each in (is_right, is_known)
    )
    return np.where(known > 0, ratio(right, known, 0.0), right.sum() / known.sum())


def _mean_by_rater(ratings: Ratings, values: Array) -> Array:
    return sum_by_index(ratings.rater, values, ratings.n_raters) / ratings.ratings_per_rater


def _labels(ratings: Ratings, code: Codes) -> Any:
    """Categories at some positions, where -1 is missing."""
    categories = ratings.categories
    if (code >= 0).all():
        return categories[code].to_numpy()
    return categories.astype(object).append(pd.Index([np.nan], dtype=object))[code].to_numpy()


def _weights_by_id(ratings: Ratings, weights: Array | None) -> dict[Any, float] | None:
    if ratings.anonymous_raters:
        return None
    each = np.ones(ratings.n_raters) if weights is None else weights
    return dict(zip(ratings.raters.tolist(), each.tolist(), strict=True))
