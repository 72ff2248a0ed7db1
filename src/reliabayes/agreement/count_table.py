"""The table of items by categories: how many ratings each item has in each category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reliabayes.agreement.arithmetic import sum_by_index
from reliabayes.arrays import Array, Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

MAX_CELLS = 4  # of a table per rating, up to which a table of all cells is quicker than sorting


@dataclass(frozen=True, eq=False)
class CountTable:
    """Non-empty cells of the table of items by categories, and the cell of each rating.

    Ratings of one item by the same rater form no pair. If there are any, ``own`` counts them.

    Attributes
    ----------
    item, category : array of int, shape (C,)
        Row and column of each cell, sorted by item, then by category.
    cell : array of int, shape (N,)
        Cell in which each rating is counted.
    rater : array of int, shape (N,)
        Rater of each rating.
    shape : tuple of int
        Number of items I and of categories K.
    own : OwnTable, optional
        Ratings of each rater of an item; None if no rater rated an item more than once.
    """

    item: Codes
    category: Codes
    cell: Codes
    rater: Codes
    shape: tuple[int, int]
    own: OwnTable | None = None

    @classmethod
    def from_codes(
        cls, item: Codes, category: Codes, rater: Codes, shape: tuple[int, int]
    ) -> CountTable:
        """Table of ratings (N,) given by their codes."""
        key = item.astype(np.int64) * shape[1] + category
        if shape[0] * shape[1] > MAX_CELLS * len(key):
            filled, cell = np.unique(key, return_inverse=True)
        else:  # most cells are filled, and need no sorting
            is_filled = np.zeros(shape[0] * shape[1], np.bool_)
            is_filled[key] = True
            filled, cell = np.flatnonzero(is_filled), (np.cumsum(is_filled) - 1)[key]
        return cls(*np.divmod(filled, shape[1]), cell, rater, shape)

    @classmethod
    def from_ratings(cls, ratings: Ratings) -> CountTable:
        """Table of all ratings."""
        shape = ratings.n_items, len(ratings.categories)
        table = cls.from_codes(ratings.item, ratings.category, ratings.rater, shape)
        return replace(table, own=OwnTable.of(ratings)) if ratings.has_repeats else table

    def counts(self, weights: Array | None) -> CategoryCounts:
        """Counts, given how often each rater occurs (None: once each)."""
        own = None if self.own is None else self.own.counts(weights)
        size = len(self.item)
        if weights is None:
            n = squares = sum_by_index(self.cell, None, size)
        else:
            weight = np.asarray(weights, np.float64)[self.rater]
            n, squares = (sum_by_index(self.cell, each, size) for each in (weight, weight**2))
        return CategoryCounts(self.item, self.category, n, squares, self.shape, own)


@dataclass(frozen=True, eq=False)
class OwnTable:
    """Ratings of each item by each of its raters.

    Attributes
    ----------
    table : CountTable
        Counts by pair (U,) of an item and a rater.
    item : array of int, shape (U,)
        Item of each pair.
    """

    table: CountTable
    item: Codes

    @classmethod
    def of(cls, ratings: Ratings) -> OwnTable:
        """Table of all ratings, by known raters."""
        unit, first = item_and_rater(ratings)
        shape = len(first), len(ratings.categories)
        table = CountTable.from_codes(unit, ratings.category, ratings.rater, shape)
        return cls(table, ratings.item[first])

    def counts(self, weights: Array | None) -> OwnCounts:
        """Counts, given how often each rater occurs (None: once each)."""
        return OwnCounts(self.table.counts(weights), self.item)


@dataclass(frozen=True, eq=False)
class CategoryCounts:
    """Number of ratings in each non-empty cell of items by categories.

    Attributes
    ----------
    item, category : array of int, shape (C,)
        Row and column of each cell.
    n : array of float, shape (C,)
        Sum of the weights of the ratings in the cell.
    squares : array of float, shape (C,)
        Sum of their squares: the pairs that ratings would form with themselves.
    shape : tuple of int
        Number of items I and of categories K.
    own : OwnCounts, optional
        As for `CountTable`.
    """

    item: Codes
    category: Codes
    n: Array
    squares: Array
    shape: tuple[int, int]
    own: OwnCounts | None = None

    def sum_by_item(self, values: Array) -> Array:
        """(I,) sums of values (C,) of cells."""
        return sum_by_index(self.item, values, self.shape[0])

    @cached_property
    def n_ratings(self) -> Array:
        """(I,) number of ratings of each item."""
        return self.sum_by_item(self.n)

    @cached_property
    def n_pairs(self) -> Array:
        """(I,) number of ordered pairs of ratings of each item, by different raters."""
        if self.own is None:
            return self.n_ratings**2 - self.sum_by_item(self.squares)
        return self.n_ratings**2 - self.own.sum_by_item(self.own.counts.n_ratings**2, self.shape[0])

    def pairs_from(self, code: int) -> tuple[Array, Array]:
        """(I,) numbers of ordered pairs that begin with a category: all, and those that agree."""
        is_in = self.category == code
        n = self.sum_by_item(self.n * is_in)
        if self.own is None:
            selves = self.sum_by_item(self.squares * is_in)
            return n * self.n_ratings - selves, n**2 - selves
        own, within = self.own, self.own.counts
        n_own = within.sum_by_item(within.n * (within.category == code))
        selves = own.sum_by_item(n_own * within.n_ratings, self.shape[0])
        return n * self.n_ratings - selves, n**2 - own.sum_by_item(n_own**2, self.shape[0])

    @property
    def of_pairable(self) -> CategoryCounts:
        """The counts without items that have no pair of ratings."""
        return self.only(self.n_pairs > 0)

    def only(self, is_kept: Mask) -> CategoryCounts:
        """The counts with those of some items (I,) set to 0."""
        own = None if self.own is None else self.own.only(is_kept)
        return replace(self, n=self.n * is_kept[self.item], own=own)


@dataclass(frozen=True, eq=False)
class OwnCounts:
    """Number of ratings in each category of each item by each of its raters.

    Attributes
    ----------
    counts : CategoryCounts
        By pair (U,) of an item and a rater, and by category.
    item : array of int, shape (U,)
        Item of each pair.
    """

    counts: CategoryCounts
    item: Codes

    def sum_by_item(self, values: Array, n_items: int) -> Array:
        """(I,) sums of values (U,) of pairs of an item and a rater."""
        return sum_by_index(self.item, values, n_items)

    def only(self, is_kept: Mask) -> OwnCounts:
        """The counts with those of some items (I,) set to 0."""
        return replace(self, counts=self.counts.only(is_kept[self.item]))


def items_with_pairs(ratings: Ratings) -> int:
    """Count the items with ratings by two raters; anonymous ratings count as by different ones.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    int
        Their number.
    """
    return int(np.count_nonzero(raters_per_item(ratings) > 1))


def raters_per_item(ratings: Ratings) -> Codes:
    """Count the raters of each item; anonymous ratings count as by different raters.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    array of int, shape (I,)
        Their numbers.
    """
    if not ratings.has_repeats:
        return ratings.ratings_per_item
    _, first = item_and_rater(ratings)
    return np.bincount(ratings.item[first])


def require_once_per_rater(ratings: Ratings, purpose: str) -> None:
    """Raise if a known rater rated an item more than once.

    Parameters
    ----------
    ratings : Ratings
        Any design.
    purpose : str
        The function that needs it, with which the message starts.

    Raises
    ------
    RatingsError
        A rater did.
    """
    if ratings.has_repeats:
        rule = "each rater must have rated an item at most once"
        found = f"{len(ratings)} ratings of {ratings.n_pairs} pairs of an item and a rater"
        remedy = (
            "Select one occasion with ratings.subset(facets={...}), or use g_study, which "
            "separates differences between raters from those within."
        )
        raise RatingsError([Fault(purpose, rule, found, remedy)])


def item_and_rater(ratings: Ratings) -> tuple[Codes, Codes]:
    """Return the pair of an item and a rater of each rating.

    Parameters
    ----------
    ratings : Ratings
        By known raters.

    Returns
    -------
    unit : array of int, shape (N,)
        Position of the pair, from 0 to U - 1, sorted by item, then by rater.
    first : array of int, shape (U,)
        Position of the first rating of each pair.
    """
    pair = ratings.pair
    return pair, np.flatnonzero(np.diff(pair, prepend=-1))


def pairs_within_items(item: Codes) -> tuple[Codes, Codes]:
    """Return all unordered pairs of entries that belong to the same item.

    Parameters
    ----------
    item : array of int, shape (N,)
        Item of each entry, sorted.

    Returns
    -------
    one, other : array of int, shape (P,)
        Positions of both entries of each pair; `one` comes before `other`.
    """
    place = np.arange(len(item))
    later = np.searchsorted(item, item, side="right") - place - 1
    one = np.repeat(place, later)
    nth = np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    return one, one + 1 + nth
