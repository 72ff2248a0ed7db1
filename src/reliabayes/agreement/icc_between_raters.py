"""Statistics for intraclass correlations where raters rated items more than once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.arithmetic import difference_of_squares, ratio
from reliabayes.agreement.count_table import item_and_rater, raters_per_item
from reliabayes.agreement.icc_sums import has_severity
from reliabayes.agreement.item_rows import Rows, join_columns, rows_from_entries
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings

OWN = 6  # columns before those of raters


@dataclass(frozen=True)
class BetweenRaterSums:
    """Statistics for ICCs of single ratings by single raters, of which items have several.

    Variances are half the mean squared differences: between raters of an item, between items of a
    rater, and between ratings that share neither. No two ratings of an item by the same rater form
    a pair, so that differences within raters count as error and do not hide those between raters.
    With the same number of ratings in each cell of items and raters, these are the estimates of
    the analysis of variance with an interaction.

    Columns: pairs and squared differences of ratings of the item, by any raters, by the same rater,
    and by the same rater if that rater's copies are told apart; then for each rater the number,
    sum and sum of squares of ratings; then the number of ratings times that of the rater's copies.

    Attributes
    ----------
    ratings : Ratings
        Numeric, by known raters.
    name : str
        Name of the ICC.
    """

    ratings: Ratings
    name: str

    @property
    def total(self) -> None:
        """None: there is no cheaper way to the sum of the rows."""

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        ratings = self.ratings
        unit, first = item_and_rater(ratings)
        item, rater = ratings.item[first], ratings.rater[first]
        weight = np.ones(len(first)) if weights is None else np.asarray(weights, float)[rater]
        values = ratings.values - whole_of(ratings).mean
        n, total, square = (np.bincount(unit, values**power) for power in range(3))
        differences = 2 * _squares(unit, values)
        of_item = np.bincount(item, weight * n)
        column = np.concatenate([4 * rater + place for place in range(4)])
        by_rater = rows_from_entries(
            np.tile(item, 4),
            column,
            np.concatenate([n, total, square, weight * n]),
            (ratings.n_items, 4 * ratings.n_raters),
        )
        own = np.column_stack(
            [
                of_item**2,
                2 * _squares(ratings.item, values, weight[unit]),
                np.bincount(item, (weight * n) ** 2),
                np.bincount(item, weight**2 * n * differences),
                np.bincount(item, weight * n**2),
                np.bincount(item, weight * n * differences),
            ]
        )
        own[:, 1] *= of_item
        return join_columns([own, by_rater])

    def single(self, sums: Array) -> Array:
        """(...) ICC of single ratings."""
        same_item, item_squares, own, own_squares, copy, copy_squares = np.moveaxis(
            sums[..., :OWN], -1, 0
        )
        by_rater = sums[..., OWN:].reshape(*sums.shape[:-1], -1, 4)
        n, total, square, weighted = np.moveaxis(by_rater, -1, 0)
        copies = ratio(weighted, n, 0.0)
        all_pairs = (copies * n).sum(-1) ** 2
        all_squares = 2 * difference_of_squares(
            (copies * n).sum(-1) * (copies * square).sum(-1), (copies * total).sum(-1) ** 2
        )
        of_rater = 2 * difference_of_squares(n * square, total**2)
        between = ratio(
            difference_of_squares(item_squares, own_squares), same_item - own
        )  # raters of an item
        if self.name.startswith("ICC(1"):
            others = ratio(all_squares - item_squares, all_pairs - same_item)
            return 1 - ratio(between, others)
        rater_pairs, rater_squares = (copies**2 * n**2).sum(-1), (copies**2 * of_rater).sum(-1)
        neither = ratio(
            difference_of_squares(all_squares - item_squares, rater_squares - own_squares),
            all_pairs - same_item - rater_pairs + own,
        )
        if has_severity(self.name):
            return ratio(neither - between, neither)
        one_rater = ratio(
            (copies * of_rater).sum(-1) - copy_squares, (copies * n**2).sum(-1) - copy
        )
        return ratio(neither - between, one_rater)

    def ratings_averaged(self, sums: Array) -> Array | float:
        """(...) number k of raters that a mean averages, one rating each."""
        return raters_averaged(self.ratings)


def raters_averaged(ratings: Ratings) -> float:
    """Return the harmonic mean of the numbers of raters of the items.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    float
        The number of raters if all rated every item.
    """
    each = np.concatenate(whole_of(ratings).ask(raters_per_item))
    return float(len(each) / np.sum(1 / each))


def _squares(group: Codes, values: Array, weight: Array | None = None) -> Array:
    """(G,) weighted sums of squared deviations from the mean of each group."""
    n, total = np.bincount(group, weight), np.bincount(group, _times(weight, values))
    deviation = values - ratio(total, n, 0.0)[group]
    return np.asarray(np.bincount(group, _times(weight, deviation**2)), np.float64)


def _times(weight: Array | None, values: Array) -> Array:
    return values if weight is None else weight * values
