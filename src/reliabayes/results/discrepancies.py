"""Statistics by which posterior predictive checks compare ratings with their replicates."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings
from reliabayes.ratings.most_active_raters import MostActiveRaters, cross_product

Counts = NDArray[np.int64]

MOST_RATERS = 200  # raters whose pairs are compared: 19,900 pairs
EDGE_QUANTILES = np.array([0, 0.01, 0.05, *np.arange(1, 10) / 10, 0.95, 0.99, 1])


@dataclass(frozen=True)
class Check:
    """C statistics that are computed from all ratings.

    Attributes
    ----------
    labels : DataFrame
        A row for each statistic: what it is computed from.
    measure : callable
        Maps all ratings of a data set, 0-based categories or values of shape (N,), to the
        statistics of shape (C,).
    denominator : int or array of int, shape (C,)
        What the statistics are divided by when they are shown; 1 for none.
    resolution : float
        Smallest standard deviation of a statistic that matters: 1 for counts, 0 for measurements.
    """

    labels: pd.DataFrame
    measure: Callable[[NDArray[Any]], NDArray[Any]]
    denominator: Counts | int = 1
    resolution: float = 1.0


def of_categories(ratings: Ratings) -> dict[str, Check]:
    """Checks of ratings in categories.

    Parameters
    ----------
    ratings : Ratings
        The observed ratings.

    Returns
    -------
    dict of str to Check
        Votes of items; and, unless raters are anonymous, categories that each rater gave and
        agreement of pairs of raters.
    """
    checks = {"votes": _votes(ratings)}
    if not ratings.anonymous_raters:
        pairs = _Pairs.of(ratings, least=1)
        checks |= {"raters": _categories_by_rater(ratings), "pairs": _agreement(ratings, pairs)}
    return _not_empty(checks)


def of_numbers(ratings: Ratings) -> dict[str, Check]:
    """Checks of ratings that are numbers.

    Parameters
    ----------
    ratings : Ratings
        The observed ratings.

    Returns
    -------
    dict of str to Check
        Distribution of the ratings and of the standard deviations within items, means and standard
        deviations by rater, and standard deviations of the differences between pairs of raters.
    """
    return _not_empty(
        {
            "ratings": _histogram(ratings.values, lambda values: values),
            "items": _sds_by_item(ratings),
            "raters": _moments_by_rater(ratings),
            "pairs": _sds_of_differences(ratings, _Pairs.of(ratings, least=2)),
        }
    )


def _not_empty(checks: dict[str, Check]) -> dict[str, Check]:
    return {name: check for name, check in checks.items() if len(check.labels)}


# Ratings in categories.


def _votes(ratings: Ratings) -> Check:
    """Number of items by category and number of votes for it."""
    n_items, n_categories = ratings.n_items, len(ratings.categories)
    n_levels = int(ratings.ratings_per_item.max()) + 1  # 0 votes to all votes
    first = ratings.item.astype(np.int64) * n_categories
    offset = n_levels * np.arange(n_categories)

    def count(category: Codes) -> Counts:
        votes = np.bincount(first + category, minlength=n_items * n_categories)
        level = (votes.reshape(n_items, n_categories) + offset).ravel()
        return np.bincount(level, minlength=n_levels * n_categories)

    labels = {
        "category": ratings.categories.repeat(n_levels),
        "votes": np.tile(np.arange(n_levels), n_categories),
    }
    return Check(pd.DataFrame(labels), count)


def _categories_by_rater(ratings: Ratings) -> Check:
    """Number of ratings by rater and category."""
    n_categories = len(ratings.categories)
    n_cells = ratings.n_raters * n_categories
    first = ratings.rater.astype(np.int64) * n_categories
    rater, category = np.divmod(np.arange(n_cells), n_categories)
    labels = {"rater": ratings.raters[rater], "category": ratings.categories[category]}
    return Check(pd.DataFrame(labels), lambda x: np.bincount(first + x, minlength=n_cells))


def _agreement(ratings: Ratings, pairs: _Pairs) -> Check:
    """Number of agreements of each pair of raters."""
    compared, n_categories = pairs.compared, len(ratings.categories)
    ones = np.ones(len(compared.rows), np.float32)

    def count(category: Codes) -> Counts:
        votes = compared.matrix(ones, category[compared.rows], n_categories)
        agreements, _ = pairs.products(votes, votes)
        return np.asarray(np.rint(agreements), np.int64)

    return Check(pairs.labels(ratings), count, pairs.common)


# Ratings that are numbers.


def _histogram(observed: Array, measure: Callable[[Array], Array]) -> Check:
    """Number of measured values in bands whose edges are quantiles of the observed ones."""
    edges = _edges(observed)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    labels = pd.DataFrame({"above": ends[:-1], "up_to": ends[1:]})

    def count(values: Array) -> Counts:
        return np.bincount(np.searchsorted(edges, measure(values)), minlength=len(labels))

    return Check(labels, count)


def _edges(values: Array) -> Array:
    """Edges of bands: midpoints between neighbouring values that are nearest `EDGE_QUANTILES`.

    Midpoints keep rounded values, and those that would be rounded to them, in the same band.
    """
    level, number = np.unique(values, return_counts=True)
    padded = np.pad(level, 1, mode="reflect", reflect_type="odd")
    cumulative = np.append(0, np.cumsum(number)) / len(values)
    nearest = np.unique(np.searchsorted((cumulative[1:] + cumulative[:-1]) / 2, EDGE_QUANTILES))
    return np.asarray((padded[nearest] + padded[nearest + 1]) / 2)


def _deviations(ratings: Ratings, values: Array) -> Array:
    """Deviations (N,) of ratings from the mean rating of their item."""
    mean = np.bincount(ratings.item, values) / ratings.ratings_per_item
    return np.asarray(values - mean[ratings.item])


def _sds_by_item(ratings: Ratings) -> Check:
    """Histogram of the standard deviations within items that have two ratings or more."""
    degrees_of_freedom = ratings.ratings_per_item - 1
    has_several = degrees_of_freedom > 0

    def measure(values: Array) -> Array:
        squares = np.bincount(ratings.item, _deviations(ratings, values) ** 2)
        return np.asarray(np.sqrt(squares[has_several] / degrees_of_freedom[has_several]))

    return _histogram(measure(ratings.values), measure)


def _moments_by_rater(ratings: Ratings) -> Check:
    """Mean rating of each rater, and standard deviation of the deviations from items' means."""
    n, rater = ratings.ratings_per_rater, ratings.rater

    def measure(values: Array) -> Array:
        deviation = _deviations(ratings, values)
        deviation = deviation - (np.bincount(rater, deviation) / n)[rater]
        sd = np.sqrt(np.bincount(rater, deviation**2) / n)
        return np.append(np.bincount(rater, values) / n, sd)

    labels = {
        "rater": np.tile(ratings.raters, 2),
        "statistic": np.repeat(["mean", "sd"], ratings.n_raters),
    }
    return Check(pd.DataFrame(labels), measure, resolution=0.0)


def _sds_of_differences(ratings: Ratings, pairs: _Pairs) -> Check:
    """Standard deviation of the differences between the ratings of each pair of raters."""
    compared, overall_mean = pairs.compared, ratings.values.mean()
    ones = compared.matrix(np.ones(len(compared.rows)))

    def measure(values: Array) -> Array:
        centred = values[compared.rows] - overall_mean  # prevents cancellation
        rating, square = compared.matrix(centred), compared.matrix(centred**2)
        sum_of_one, sum_of_other = pairs.products(rating, ones)
        cross_product, _ = pairs.products(rating, rating)
        mean = (sum_of_one - sum_of_other) / pairs.common
        squares = sum(pairs.products(square, ones))
        variance = (squares - 2 * cross_product) / pairs.common - mean**2
        return np.asarray(np.sqrt(np.maximum(variance, 0)))

    return Check(pairs.labels(ratings), measure, resolution=0.0)


# Pairs of raters.


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of the raters with most ratings that have at least ``least`` ratings in common."""

    least: int
    compared: MostActiveRaters

    @classmethod
    def of(cls, ratings: Ratings, least: int) -> _Pairs:
        return cls(least, MostActiveRaters.of(ratings, MOST_RATERS))

    @cached_property
    def _members(self) -> tuple[Codes, Codes]:
        """Positions (P,) of both raters of each pair among the compared raters."""
        ones = self.compared.matrix(np.ones(len(self.compared.rows), np.float32))
        one, other = np.nonzero(np.triu(cross_product(ones, ones), k=1) >= self.least)
        return one, other

    @cached_property
    def common(self) -> Counts:
        """Pairs (P,) of ratings of the same item by the two raters."""
        ones = self.compared.matrix(np.ones(len(self.compared.rows), np.float32))
        return self.products(ones, ones)[0].astype(np.int64)

    def labels(self, ratings: Ratings) -> pd.DataFrame:
        """Ids of both raters, and their number of common ratings."""
        one, other = (ratings.raters[self.compared.codes[position]] for position in self._members)
        return pd.DataFrame({"rater": one, "other": other, "common": self.common})

    def products(self, left: Any, right: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums (P,) of left weights of the one times right weights of the other, and vice versa."""
        one, other = self._members
        found = cross_product(left, right)
        return found[one, other], found[other, one]
