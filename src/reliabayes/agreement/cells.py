"""Cells: how many ratings of which category each item has, whoever's ratings count how often."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray

from reliabayes.agreement.resampling import Rows
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings

Indices = Codes

DENSE = 2**25  # largest array of statistics, 256 MB
FILLED = 1 / 8  # least share of it that is filled


@dataclass(frozen=True, eq=False)
class Cells:
    """Ratings by item and category, equal ones together.

    Attributes
    ----------
    item, category : array (C,)
        Sorted by item, then by category.
    cell : array (N,)
        Where each rating is counted.
    rater : int32 array (N,)
    shape : (I, K)
    """

    item: Indices
    category: Indices
    cell: Indices
    rater: Codes
    shape: tuple[int, int]

    @classmethod
    def of(cls, item: Codes, category: Codes, rater: Codes, shape: tuple[int, int]) -> Cells:
        """Cells of ratings (N,), given by codes."""
        key = item.astype(np.int64) * shape[1] + category
        filled, cell = np.unique(key, return_inverse=True)
        return cls(*np.divmod(filled, shape[1]), cell, rater, shape)

    @classmethod
    def of_ratings(cls, ratings: Ratings) -> Cells:
        """Cells of all ratings."""
        shape = ratings.n_items, len(ratings.categories)
        return cls.of(ratings.item, ratings.category, ratings.rater, shape)

    def counts(self, weights: Array | None) -> Counts:
        """Ratings in each cell, given how often each rater occurs (None: once)."""
        size = len(self.item)
        if weights is None:
            n = squares = added(self.cell, None, size)
        else:
            weight = np.asarray(weights, np.float64)[self.rater]
            n, squares = (added(self.cell, each, size) for each in (weight, weight**2))
        return Counts(self.item, self.category, n, squares, self.shape)


@dataclass(frozen=True, eq=False)
class Counts:
    """Numbers of ratings in cells.

    Attributes
    ----------
    item, category : array (C,)
    n : array (C,)
        Sum of the weights of the cell's ratings.
    squares : array (C,)
        Sum of their squares: the pairs that ratings would make with themselves.
    shape : (I, K)
    """

    item: Indices
    category: Indices
    n: Array
    squares: Array
    shape: tuple[int, int]

    def by_item(self, values: Array) -> Array:
        """(I,) sums of values (C,) of cells."""
        return added(self.item, values, self.shape[0])

    @cached_property
    def ratings(self) -> Array:
        """(I,) ratings of each item."""
        return self.by_item(self.n)

    @cached_property
    def pairs(self) -> Array:
        """(I,) ordered pairs of an item's ratings, none with itself."""
        return self.ratings**2 - self.by_item(self.squares)

    @property
    def of_pairable(self) -> Counts:
        """The same without ratings of items that have no pair."""
        return self.only(self.pairs > 0)

    def only(self, is_kept: NDArray[np.bool_]) -> Counts:
        """The same without ratings of some items (I,)."""
        return replace(self, n=self.n * is_kept[self.item])


def neighbours(item: Indices | Codes) -> tuple[Indices, Indices]:
    """Places of any two entries of one item, whose entries stand together."""
    place = np.arange(len(item))
    later = np.searchsorted(item, item, side="right") - place - 1
    one = np.repeat(place, later)
    nth = np.arange(len(one)) - np.repeat(np.cumsum(later) - later, later)
    return one, one + 1 + nth


def added(place: Indices, values: Array | None, size: int) -> Array:
    """(size,) sums of values by place; numbers of places if there are no values."""
    return np.asarray(np.bincount(place, values, size), np.float64)


def statistics(item: Indices, column: Indices, values: Array, shape: tuple[int, int]) -> Rows:
    """(I, S) statistics of items, given by places; equal places add up."""
    size = shape[0] * shape[1]
    if size <= DENSE and len(item) >= FILLED * size:
        return added(item * shape[1] + column, values, size).reshape(shape)
    return sp.csr_array((values, (item, column)), shape)


def ratio(numerator: ArrayLike, denominator: ArrayLike, otherwise: float = np.nan) -> Array:
    """Quotient, and something else where it is 0/0."""
    above, below = np.broadcast_arrays(numerator, denominator)
    out = np.full(above.shape, otherwise, np.result_type(above, below, float))
    return np.asarray(np.divide(above, below, out=out, where=below != 0))
