"""Numbers counted or measured in ratings, by which they are compared with replicates of them."""

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

MOST_RATERS = 200  # whose agreement is looked at: 19,900 pairs
SHARES = np.array([0, 0.01, 0.05, *np.arange(1, 10) / 10, 0.95, 0.99, 1])  # below edges of bands


@dataclass(frozen=True)
class Check:
    """Numbers (C,) that are counted or measured in all ratings (N,).

    Attributes
    ----------
    cells : what each number is of, in a row
    measure : numbers (C,) of ratings (N,): codes of categories, or values
    out_of : what a count is divided by to be shown
    grain : smallest standard deviation that is of note: 1 of counts, 0 of measurements
    """

    cells: pd.DataFrame
    measure: Callable[[NDArray[Any]], NDArray[Any]]
    out_of: Counts | int = 1
    grain: float = 1.0


def of_categories(ratings: Ratings) -> dict[str, Check]:
    """Votes on items; and, if raters are known, what they say and how pairs of them agree."""
    checks = {"votes": _votes(ratings)}
    if not ratings.anonymous_raters:
        pairs = _Pairs.of(ratings, least=1)
        checks |= {"raters": _raters(ratings), "pairs": _agreement(ratings, pairs)}
    return _not_empty(checks)


def of_numbers(ratings: Ratings) -> dict[str, Check]:
    """Bands that ratings and spreads of items fall into; what raters and pairs of them are like."""
    return _not_empty(
        {
            "ratings": _bands(ratings.values, lambda values: values),
            "items": _spreads(ratings),
            "raters": _habits(ratings),
            "pairs": _differences(ratings, _Pairs.of(ratings, least=2)),
        }
    )


def _not_empty(checks: dict[str, Check]) -> dict[str, Check]:
    return {name: check for name, check in checks.items() if len(check.cells)}


# Categories.


def _votes(ratings: Ratings) -> Check:
    """Items by number of votes, for each category."""
    n_items, n_categories = ratings.n_items, len(ratings.categories)
    n_levels = int(ratings.ratings_per_item.max()) + 1
    first = ratings.item.astype(np.int64) * n_categories
    block = n_levels * np.arange(n_categories)

    def count(category: Codes) -> Counts:
        votes = np.bincount(first + category, minlength=n_items * n_categories)
        histogram = (votes.reshape(n_items, n_categories) + block).ravel()
        return np.bincount(histogram, minlength=n_levels * n_categories)

    cells = {
        "category": ratings.categories.repeat(n_levels),
        "votes": np.tile(np.arange(n_levels), n_categories),
    }
    return Check(pd.DataFrame(cells), count)


def _raters(ratings: Ratings) -> Check:
    """Ratings by rater and category."""
    n_categories = len(ratings.categories)
    n_cells = ratings.n_raters * n_categories
    first = ratings.rater.astype(np.int64) * n_categories
    rater, category = np.divmod(np.arange(n_cells), n_categories)
    cells = {"rater": ratings.raters[rater], "category": ratings.categories[category]}
    return Check(pd.DataFrame(cells), lambda x: np.bincount(first + x, minlength=n_cells))


def _agreement(ratings: Ratings, pairs: _Pairs) -> Check:
    """Agreements of two raters."""
    busy, n_categories = pairs.busy, len(ratings.categories)
    ones = np.ones(len(busy.rows), np.float32)

    def count(category: Codes) -> Counts:
        vote = busy.matrix(ones, category[busy.rows], n_categories)
        agreed, _ = pairs.products(vote, vote)
        return np.asarray(np.rint(agreed), np.int64)

    return Check(pairs.cells(ratings), count, pairs.common)


# Numbers.


def _bands(values: Array, measure: Callable[[Array], Array]) -> Check:
    """How many numbers fall into bands, whose edges are at shares of the observed ones."""
    edges = _edges(values)
    ends = np.concatenate([[-np.inf], edges, [np.inf]])
    cells = pd.DataFrame({"above": ends[:-1], "up_to": ends[1:]})

    def count(ratings: Array) -> Counts:
        return np.bincount(np.searchsorted(edges, measure(ratings)), minlength=len(cells))

    return Check(cells, count)


def _edges(values: Array) -> Array:
    """Edges of bands: halfway between neighbouring values, where about `SHARES` of them are below.

    Values that are rounded then lie amid their bands, as those do that would be rounded to them.
    """
    level, number = np.unique(values, return_counts=True)
    around = np.pad(level, 1, mode="reflect", reflect_type="odd")
    below = np.append(0, np.cumsum(number)) / len(values)
    nearest = np.unique(np.searchsorted((below[1:] + below[:-1]) / 2, SHARES))
    return np.asarray((around[nearest] + around[nearest + 1]) / 2)


def _deviations(ratings: Ratings, values: Array) -> Array:
    """Deviations (N,) of ratings from the mean rating of their items."""
    mean = np.bincount(ratings.item, values) / ratings.ratings_per_item
    return np.asarray(values - mean[ratings.item])


def _spreads(ratings: Ratings) -> Check:
    """Items by the standard deviation of their ratings, if they have two or more."""
    freedom = ratings.ratings_per_item - 1
    several = freedom > 0

    def measure(values: Array) -> Array:
        square = np.bincount(ratings.item, _deviations(ratings, values) ** 2)
        return np.asarray(np.sqrt(square[several] / freedom[several]))

    return _bands(measure(ratings.values), measure)


def _habits(ratings: Ratings) -> Check:
    """Mean rating of each rater, and standard deviation of the deviations from items' means."""
    n, rater = ratings.ratings_per_rater, ratings.rater

    def measure(values: Array) -> Array:
        off = _deviations(ratings, values)
        off = off - (np.bincount(rater, off) / n)[rater]
        return np.append(np.bincount(rater, values) / n, np.sqrt(np.bincount(rater, off**2) / n))

    cells = {
        "rater": np.tile(ratings.raters, 2),
        "statistic": np.repeat(["mean", "sd"], ratings.n_raters),
    }
    return Check(pd.DataFrame(cells), measure, grain=0.0)


def _differences(ratings: Ratings, pairs: _Pairs) -> Check:
    """Standard deviation of the differences between two raters' ratings."""
    busy, middle = pairs.busy, ratings.values.mean()
    ones = busy.matrix(np.ones(len(busy.rows)))

    def measure(values: Array) -> Array:
        centred = values[busy.rows] - middle
        rating, square = busy.matrix(centred), busy.matrix(centred**2)
        of_one, of_other = pairs.products(rating, ones)
        both, _ = pairs.products(rating, rating)
        mean = (of_one - of_other) / pairs.common
        variance = (sum(pairs.products(square, ones)) - 2 * both) / pairs.common - mean**2
        return np.asarray(np.sqrt(np.maximum(variance, 0)))

    return Check(pairs.cells(ratings), measure, grain=0.0)


# Pairs of raters.


@dataclass(frozen=True, eq=False)
class _Pairs:
    """Pairs of busy raters with at least some ratings in common."""

    least: int
    busy: MostActiveRaters

    @classmethod
    def of(cls, ratings: Ratings, least: int) -> _Pairs:
        return cls(least, MostActiveRaters.of(ratings, MOST_RATERS))

    @cached_property
    def _members(self) -> tuple[Codes, Codes]:
        """(P,) places of the one and of the other rater of each pair among the busy."""
        ones = self.busy.matrix(np.ones(len(self.busy.rows), np.float32))
        one, other = np.nonzero(np.triu(cross_product(ones, ones), k=1) >= self.least)
        return one, other

    @cached_property
    def common(self) -> Counts:
        """(P,) ratings by the one, each taken with all by the other of the same item."""
        ones = self.busy.matrix(np.ones(len(self.busy.rows), np.float32))
        return self.products(ones, ones)[0].astype(np.int64)

    def cells(self, ratings: Ratings) -> pd.DataFrame:
        """Each pair by the user's ids, and how often both have rated an item."""
        one, other = (ratings.raters[self.busy.codes[place]] for place in self._members)
        return pd.DataFrame({"rater": one, "other": other, "common": self.common})

    def products(self, weight: Any, another: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """Sums (P,) of the one's weight times the other's other weight, and the other way round."""
        one, other = self._members
        found = cross_product(weight, another)
        return found[one, other], found[other, one]
