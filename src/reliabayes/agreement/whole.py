"""What a coefficient takes from all ratings at once, whether they are in memory or in parts."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, TypeVar

import numpy as np

from reliabayes.agreement.count_table import (
    CountTable,
    items_with_pairs,
    pairs_within_items,
)
from reliabayes.arrays import Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings

Result = TypeVar("Result")


class Whole:
    """All ratings, of which some are in memory.

    What is asked for here, in the process that holds the parts together, is known in the processes
    that work on single parts.

    Attributes
    ----------
    source : Ratings or RatingsDataset or None
        All ratings; None in a process that works on one of the parts.
    n_items, n_ratings : int
        Their numbers.
    """

    def __init__(self, source: Ratings | RatingsDataset) -> None:
        self.source: Ratings | RatingsDataset | None = source
        self.n_items = source.n_items
        self.n_ratings = len(source)
        self._answers: dict[Any, tuple[Any, ...]] = {}

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"source": None}

    def each(self, function: Callable[[Ratings], Result]) -> Iterator[Result]:
        """Yield a function of each part, or of all ratings if they are in memory."""
        if isinstance(self.source, Ratings):
            return iter([function(self.source)])
        assert self.source is not None, "this must be known before parts are worked on"
        return self.source.map(partial(_of_part, function, self))

    def ask(self, function: Callable[..., Result], *args: Any) -> tuple[Result, ...]:
        """Return a function of each part, and remember the answers."""
        question = function.__module__, function.__qualname__, *args
        if question not in self._answers:
            self._answers[question] = tuple(self.each(partial(_asked, function, args)))
        return self._answers[question]

    @property
    def n_paired(self) -> int:
        """Number of items with ratings by at least two raters."""
        return sum(self.ask(_n_paired))

    @property
    def mean(self) -> float:
        """Mean of numeric ratings."""
        return sum(self.ask(_total)) / self.n_ratings

    @property
    def sizes(self) -> Codes:
        """Distinct numbers of ratings per item, ascending."""
        return _union(self.ask(_sizes))

    @property
    def is_once_each(self) -> bool:
        """Whether every rater rated every item exactly once."""
        return all(self.ask(_is_once_each))

    @property
    def has_repeats(self) -> bool:
        """Whether a known rater rated an item more than once."""
        return any(self.ask(_has_repeats))

    @property
    def category_pairs(self) -> Codes:
        """Pairs of different categories of the same item: ``lower * K + higher``, ascending."""
        return _union(self.ask(_category_pairs))

    @property
    def rater_pairs(self) -> Codes:
        """Pairs of different raters of the same item: ``lower * R + higher``, ascending."""
        return _union(self.ask(_rater_pairs))


def whole_of(ratings: Ratings) -> Whole:
    """Return all ratings of which these are a part, or these if they are all.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    Whole
        All ratings.
    """
    return ratings.whole if isinstance(ratings.whole, Whole) else Whole(ratings)


def ratings_in_memory(whole: Whole) -> Ratings:
    """Return all ratings if they are in memory, or those of the first part.

    Parameters
    ----------
    whole : Whole
        All ratings.

    Returns
    -------
    Ratings
        With all raters and categories.
    """
    if isinstance(whole.source, RatingsDataset):
        return as_part(whole.source.example, whole)
    assert whole.source is not None
    return whole.source


def as_part(ratings: Ratings, whole: Whole) -> Ratings:
    """Return the ratings of a part, together with what is known of all parts.

    Parameters
    ----------
    ratings : Ratings
        Those of the part.
    whole : Whole
        All parts.

    Returns
    -------
    Ratings
        The same ratings.
    """
    return replace(ratings, whole=whole)


def require_shared_categories(ratings: Ratings) -> None:
    """Raise if the parts have no list of categories in common.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Raises
    ------
    RatingsError
        They are a part of ratings on a continuous scale.
    """
    if ratings.whole is not None and ratings.given_categories is None:
        rule = "the values of a dataset must be declared for this coefficient"
        remedy = "Pass categories=... when partitioning, or use alpha of intervals or an ICC."
        raise RatingsError([Fault("rating", rule, "a continuous scale", remedy)])


def pairs_of_raters(ratings: Ratings) -> tuple[Codes, Codes]:
    """Return all pairs of ratings of the same item by different raters.

    Parameters
    ----------
    ratings : Ratings
        By known raters.

    Returns
    -------
    one, other : array of int, shape (M,)
        Positions of both ratings; the rater of the first comes first.
    """
    one, other = pairs_within_items(ratings.item)
    is_pair: Mask = ratings.rater[one] != ratings.rater[other]
    return one[is_pair], other[is_pair]


def _of_part(function: Callable[[Ratings], Result], whole: Whole, part: Ratings) -> Result:
    return function(as_part(part, whole))


def _asked(function: Callable[..., Result], args: tuple[Any, ...], part: Ratings) -> Result:
    return function(part, *args)


def _union(each: Sequence[Codes]) -> Codes:
    return np.unique(np.concatenate(each))


def _n_paired(ratings: Ratings) -> int:
    return items_with_pairs(ratings)


def _total(ratings: Ratings) -> float:
    return float(ratings.values.sum())


def _sizes(ratings: Ratings) -> Codes:
    return np.unique(ratings.ratings_per_item)


def _is_once_each(ratings: Ratings) -> bool:
    return ratings.is_complete and len(ratings) == ratings.n_pairs


def _has_repeats(ratings: Ratings) -> bool:
    return ratings.has_repeats


def _category_pairs(ratings: Ratings) -> Codes:
    table = CountTable.from_ratings(ratings)
    one, other = pairs_within_items(table.item)
    return np.unique(table.category[one] * table.shape[1] + table.category[other])


def _rater_pairs(ratings: Ratings) -> Codes:
    one, other = pairs_of_raters(ratings)
    first = ratings.rater[one].astype(np.int64)
    return np.unique(first * ratings.n_raters + ratings.rater[other])
