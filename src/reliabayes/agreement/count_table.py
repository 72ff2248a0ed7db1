"""The table of items by categories: how many ratings each item has in each category."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from reliabayes.agreement.arithmetic import sum_by_index
from reliabayes.arrays import Array, Codes, Mask
from reliabayes.ratings import Ratings

MAX_CELLS = 4  # of a table per rating, up to which a table of all cells is quicker than sorting


@dataclass(frozen=True, eq=False)
class CountTable:
    """Non-empty cells of the table of items by categories, and the cell of each rating.

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
    """

    item: Codes
    category: Codes
    cell: Codes
    rater: Codes
    shape: tuple[int, int]

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
        return cls.from_codes(ratings.item, ratings.category, ratings.rater, shape)

    def counts(self, weights: Array | None) -> CategoryCounts:
        """Counts, given how often each rater occurs (None: once each)."""
        size = len(self.item)
        if weights is None:
            n = squares = sum_by_index(self.cell, None, size)
        else:
            weight = np.asarray(weights, np.float64)[self.rater]
            n, squares = (sum_by_index(self.cell, each, size) for each in (weight, weight**2))
        return CategoryCounts(self.item, self.category, n, squares, self.shape)


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
    """

    item: Codes
    category: Codes
    n: Array
    squares: Array
    shape: tuple[int, int]

    def sum_by_item(self, values: Array) -> Array:
        """(I,) sums of values (C,) of cells."""
        return sum_by_index(self.item, values, self.shape[0])

    @cached_property
    def n_ratings(self) -> Array:
        """(I,) number of ratings of each item."""
        return self.sum_by_item(self.n)

    @cached_property
    def n_pairs(self) -> Array:
        """(I,) number of ordered pairs of different ratings of each item."""
        return self.n_ratings**2 - self.sum_by_item(self.squares)

    @property
    def of_pairable(self) -> CategoryCounts:
        """The counts without items that have no pair of ratings."""
        return self.only(self.n_pairs > 0)

    def only(self, is_kept: Mask) -> CategoryCounts:
        """The counts with those of some items (I,) set to 0."""
        return replace(self, n=self.n * is_kept[self.item])


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
