"""Distances between ratings, summed over all pairs without enumerating the pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reliabayes.agreement.arithmetic import difference_of_squares, sum_by_index
from reliabayes.agreement.count_table import CategoryCounts, pairs_within_items
from reliabayes.agreement.item_rows import Rows, rows_from_entries
from reliabayes.arrays import Array, Codes

Pairwise = Callable[[Any, Any], Any]

ROUNDING = 16 * np.finfo(float).eps  # relative rounding error of a few sums


class Distance(Protocol):
    """Distance between categories: symmetric, and 0 between a category and itself.

    The margin of some ratings is a vector of W statistics that adds up over ratings and suffices
    for the sum of their distances to other ratings; for most distances it is the category counts.
    """

    @property
    def width(self) -> int:
        """Number W of statistics of a margin."""

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Contributions of ratings (N,) to a margin: pairs of columns and values."""

    def within(self, counts: CategoryCounts) -> Array:
        """(I,) sums of distances over ordered pairs of ratings of an item."""

    def between(self, one: Array, other: Array) -> Array:
        """(...) sums over pairs of a rating of one margin (..., W) and a rating of the other."""


@dataclass(frozen=True)
class Nominal:
    """1 between different categories.

    Attributes
    ----------
    width : int
        Number K of categories.
    """

    width: int

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Each rating adds 1 to its category."""
        return [(category, 1.0)]

    def within(self, counts: CategoryCounts) -> Array:
        """All pairs but those within a category."""
        return counts.n_ratings**2 - counts.sum_by_item(counts.n**2)

    def between(self, one: Array, other: Array) -> Array:
        """All pairs but those within a category."""
        return np.asarray(one.sum(-1) * other.sum(-1) - (one * other).sum(-1))


@dataclass(frozen=True, eq=False)
class Absolute:
    """Absolute difference of values, computed as the sum of the gaps between them.

    Attributes
    ----------
    values : array of float, shape (K,)
        Value of each category, ascending.
    """

    values: Array

    @property
    def width(self) -> int:
        """Number K of categories."""
        return len(self.values)

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Each rating adds 1 to its category."""
        return [(category, 1.0)]

    def within(self, counts: CategoryCounts) -> Array:
        """Each gap counts once for every pair of ratings on either side of it."""
        item, value = counts.item, self.values[counts.category]
        before = np.cumsum(counts.n_ratings) - counts.n_ratings
        below = np.cumsum(counts.n)[:-1] - before[item[:-1]]
        above = counts.n_ratings[item[:-1]] - below
        gap = np.where(item[1:] == item[:-1], np.diff(value), 0.0)
        return sum_by_index(item[:-1], 2 * gap * below * above, counts.shape[0])

    def between(self, one: Array, other: Array) -> Array:
        """Each gap counts once for every pair of ratings on either side of it."""
        below, others_below = (np.cumsum(margin, -1)[..., :-1] for margin in (one, other))
        above = one.sum(-1, keepdims=True) - below
        others_above = other.sum(-1, keepdims=True) - others_below
        return np.asarray((below * others_above + above * others_below) @ np.diff(self.values))


@dataclass(frozen=True, eq=False)
class Squared:
    """Squared difference of values.

    Attributes
    ----------
    values : array of float, shape (K,)
        Value of each category, centred for precision.
    width : int
        3: a margin is the number, the sum and the sum of squares of some ratings.
    """

    values: Array
    width: int = 3

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Each rating adds 1, its value and its square."""
        value = self.values[category]
        return [(0, 1.0), (1, value), (2, value**2)]

    def within(self, counts: CategoryCounts) -> Array:
        """Computed around the item's first rating, so that equal ratings give exactly 0."""
        value = self.values[counts.category]
        first = np.searchsorted(counts.item, counts.item)
        centred = value - value[first]
        sums = counts.sum_by_item(counts.n * centred)
        return 2 * (counts.n_ratings * counts.sum_by_item(counts.n * centred**2) - sums**2)

    def between(self, one: Array, other: Array) -> Array:
        """From sums and sums of squares; differences within rounding error are set to 0."""
        scale = one[..., 0] * other[..., 2] + one[..., 2] * other[..., 0]
        out = scale - 2 * one[..., 1] * other[..., 1]
        return np.where(np.abs(out) > ROUNDING * np.abs(scale), out, 0.0)


@dataclass(frozen=True, eq=False)
class Beyond:
    """1 between values that differ by more than a tolerance, and 0 between others.

    Attributes
    ----------
    values : array of float, shape (K,)
        Value of each category, ascending.
    tolerance : float
        Largest difference that counts as 0.
    """

    values: Array
    tolerance: float

    @property
    def width(self) -> int:
        """Number K of categories."""
        return len(self.values)

    @property
    def first_near(self) -> Codes:
        """(K,) first category that is within the tolerance of each category."""
        rounding = ROUNDING * np.abs(self.values).max()
        first: Codes = np.searchsorted(self.values, self.values - self.tolerance - rounding)
        return first

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Each rating adds 1 to its category."""
        return [(category, 1.0)]

    def within(self, counts: CategoryCounts) -> Array:
        """All pairs of a rating and of one that is lower by more than the tolerance."""
        size = counts.shape[1]
        key = counts.item.astype(np.int64) * size + counts.category
        until = np.append(0.0, np.cumsum(counts.n))
        near = np.searchsorted(key, key - counts.category + self.first_near[counts.category])
        start = np.searchsorted(key, key - counts.category)
        return counts.sum_by_item(2 * counts.n * (until[near] - until[start]))

    def between(self, one: Array, other: Array) -> Array:
        """All pairs of a rating and of one that is lower by more than the tolerance."""
        far = self.first_near
        lower, others_lower = (
            np.concatenate([np.zeros_like(each[..., :1]), np.cumsum(each, -1)], -1)[..., far]
            for each in (one, other)
        )
        return np.asarray((one * others_lower + other * lower).sum(-1))


@dataclass(frozen=True, eq=False)
class Custom:
    """Any other distance, given by its table.

    Attributes
    ----------
    table : array of float, shape (K, K)
        Distance of any two categories.
    """

    table: Array

    @classmethod
    def of(cls, values: NDArray[Any], function: Pairwise) -> Custom:
        """Tabulate a function of two arrays of values (K,)."""
        table = np.asarray(function(values[:, None], values), np.float64)
        is_distance = (
            table.shape == (len(values),) * 2
            and (table >= 0).all()
            and not np.diag(table).any()
            and np.allclose(table, table.T)
        )
        if not is_distance:
            raise ValueError(
                "a distance must take two arrays that broadcast and return non-negative numbers, "
                f"symmetric and 0 between equal values; found {table!r}."
            )
        return cls(table)

    @property
    def width(self) -> int:
        """Number K of categories."""
        return len(self.table)

    def entries(self, category: Codes) -> list[tuple[Any, Any]]:
        """Each rating adds 1 to its category."""
        return [(category, 1.0)]

    def within(self, counts: CategoryCounts) -> Array:
        """Sum over the pairs of categories of each item."""
        one, other = pairs_within_items(counts.item)
        far = self.table[counts.category[one], counts.category[other]]
        both = 2 * counts.n[one] * counts.n[other]
        return sum_by_index(counts.item[one], both * far, counts.shape[0])

    def between(self, one: Array, other: Array) -> Array:
        """Bilinear form of the table."""
        return np.asarray(((one @ self.table) * other).sum(-1))


def disagreement(distance: Distance, counts: CategoryCounts) -> Array:
    """Sum the distances of ratings of each item by different raters.

    Parameters
    ----------
    distance : Distance
        Distance of two ratings.
    counts : CategoryCounts
        Counts by item.

    Returns
    -------
    array of float, shape (I,)
        Sums over the ordered pairs that ``counts.n_pairs`` counts.
    """
    total = distance.within(counts)
    if counts.own is None:
        return total
    own = counts.own.sum_by_item(distance.within(counts.own.counts), counts.shape[0])
    return difference_of_squares(total, own)


def margins(distance: Distance, counts: CategoryCounts, groups: int = 1) -> Rows:
    """Compute the margins of the ratings of each item, or of each item and group of raters.

    Parameters
    ----------
    distance : Distance
        Defines what a margin is.
    counts : CategoryCounts
        Counts by item; with several groups by item and group, ``item * groups + group``.
    groups : int, default 1
        Number of groups.

    Returns
    -------
    array or sparse array, shape (I, groups * W)
        Margins of each item, group after group.
    """
    item, group = np.divmod(counts.item, groups)
    entries = distance.entries(counts.category)
    columns = [np.broadcast_to(column, item.shape) for column, _ in entries]
    return rows_from_entries(
        np.tile(item, len(entries)),
        np.concatenate([group * distance.width + column for column in columns]),
        np.concatenate([counts.n * value for _, value in entries]),
        (counts.shape[0] // groups, groups * distance.width),
    )
