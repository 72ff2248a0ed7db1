"""How many ratings, and of how many raters, a typical item has, in memory or in parts."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.partitions import RatingsDataset

if TYPE_CHECKING:
    from reliabayes.partitions import AnyRatings
    from reliabayes.ratings import Ratings


@dataclass(frozen=True)
class TypicalItem:
    """Medians over the items.

    Attributes
    ----------
    ratings : int
        Number of ratings, rounded.
    raters : int
        Number of different raters, rounded.
    independent : float
        Number of different raters whose mean depends as much on their severity.
    are_alike : bool
        Whether all items have the same number of ratings.
    has_repeats : bool
        Whether a rater rated an item more than once.
    """

    ratings: int
    raters: int
    independent: float
    are_alike: bool
    has_repeats: bool

    @classmethod
    def of(cls, ratings: AnyRatings) -> TypicalItem:
        """The typical item of ratings in memory or in parts."""
        found = ratings.sum(_kinds) if isinstance(ratings, RatingsDataset) else _kinds(ratings)
        (n, raters, squares), times = np.array(list(found)).T, np.array(list(found.values()))
        return cls(
            ratings=round(_median(n, times)),
            raters=round(_median(raters, times)),
            independent=_median(n**2 / squares, times),
            are_alike=bool(n.min() == n.max()),
            has_repeats=bool((n > raters).any()),
        )


def _kinds(ratings: Ratings) -> Counter[tuple[int, ...]]:
    """Items by their number of ratings, number of raters, and sum of squared ratings by rater."""
    columns = [ratings.ratings_per_item] * 3
    if ratings.n_pairs < len(ratings):
        times = ratings.incidence.copy()
        times.sum_duplicates()
        columns[1:] = [np.diff(times.indptr), times.power(2).sum(axis=1)]
    rows: Any = np.column_stack(columns).astype(int).tolist()
    return Counter(map(tuple, rows))


def median_of(counts: Counter[float]) -> float:
    """Median of values that occur several times each, with the number of times."""
    return _median(np.array(list(counts)), np.array(list(counts.values())))


def _median(values: Array, times: Array) -> float:
    """Median of values that occur several times each."""
    order = np.argsort(values)
    ends = np.cumsum(times[order])
    middle = [(ends[-1] - 1) // 2, ends[-1] // 2]
    return float(values[order][np.searchsorted(ends, middle, side="right")].mean())
