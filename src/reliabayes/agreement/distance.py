"""Distances between ratings, summed over all pairs without making the pairs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from reliabayes.agreement.cells import Counts, Indices, added, neighbours, statistics
from reliabayes.agreement.resampling import Rows
from reliabayes.arrays import Array, Codes

Pairwise = Callable[[Any, Any], Any]

ROUNDING = 16 * np.finfo(float).eps  # of a few sums, relative to their terms


class Distance(Protocol):
    """Distance between categories: 0 between a category and itself, the same both ways.

    A margin holds all that sums of distances to other ratings depend on, and adds up over ratings.
    """

    @property
    def width(self) -> int:
        """Number W of statistics of a margin."""

    def entries(self, category: Indices | Codes) -> list[tuple[Any, Any]]:
        """Statistics of a margin that a rating (N,) adds to, and what it adds."""

    def within(self, counts: Counts) -> Array:
        """(I,) sums over ordered pairs of an item's ratings."""

    def between(self, one: Array, other: Array) -> Array:
        """(...) sums over pairs of a rating in one margin (..., W) and one in the other."""


@dataclass(frozen=True)
class Nominal:
    """1 between different categories."""

    width: int

    def entries(self, category: Indices | Codes) -> list[tuple[Any, Any]]:
        """Its category."""
        return [(category, 1.0)]

    def within(self, counts: Counts) -> Array:
        """All pairs but those of one category."""
        return counts.ratings**2 - counts.by_item(counts.n**2)

    def between(self, one: Array, other: Array) -> Array:
        """All pairs but those of one category."""
        return np.asarray(one.sum(-1) * other.sum(-1) - (one * other).sum(-1))


@dataclass(frozen=True, eq=False)
class Absolute:
    """Absolute difference of ascending values (K,): the sum of the gaps between."""

    values: Array

    @property
    def width(self) -> int:
        """Number K of categories."""
        return len(self.values)

    def entries(self, category: Indices | Codes) -> list[tuple[Any, Any]]:
        """Its category."""
        return [(category, 1.0)]

    def within(self, counts: Counts) -> Array:
        """Each gap as often as a pair of ratings lies around it."""
        item, value = counts.item, self.values[counts.category]
        before = np.cumsum(counts.ratings) - counts.ratings
        below = np.cumsum(counts.n)[:-1] - before[item[:-1]]
        above = counts.ratings[item[:-1]] - below
        gap = np.where(item[1:] == item[:-1], np.diff(value), 0.0)
        return added(item[:-1], 2 * gap * below * above, counts.shape[0])

    def between(self, one: Array, other: Array) -> Array:
        """Each gap as often as a pair of ratings lies around it."""
        below, others_below = (np.cumsum(margin, -1)[..., :-1] for margin in (one, other))
        above = one.sum(-1, keepdims=True) - below
        others_above = other.sum(-1, keepdims=True) - others_below
        return np.asarray((below * others_above + above * others_below) @ np.diff(self.values))


@dataclass(frozen=True, eq=False)
class Squared:
    """Squared difference of values (K,), which are best near 0."""

    values: Array
    width: int = 3

    def entries(self, category: Indices | Codes) -> list[tuple[Any, Any]]:
        """One, its value and its square."""
        value = self.values[category]
        return [(0, 1.0), (1, value), (2, value**2)]

    def within(self, counts: Counts) -> Array:
        """Around the first rating, so that equal ones give exactly 0."""
        value = self.values[counts.category]
        first = np.searchsorted(counts.item, counts.item)
        centred = value - value[first]
        sums = counts.by_item(counts.n * centred)
        return 2 * (counts.ratings * counts.by_item(counts.n * centred**2) - sums**2)

    def between(self, one: Array, other: Array) -> Array:
        """From sums and sums of squares; what only rounding left is 0."""
        scale = one[..., 0] * other[..., 2] + one[..., 2] * other[..., 0]
        out = scale - 2 * one[..., 1] * other[..., 1]
        return np.where(np.abs(out) > ROUNDING * np.abs(scale), out, 0.0)


@dataclass(frozen=True, eq=False)
class Custom:
    """Any other distance, by a table (K, K)."""

    table: Array

    @classmethod
    def of(cls, values: NDArray[Any], function: Pairwise) -> Custom:
        """Distance of values (K,), by a function of two arrays of them."""
        table = np.asarray(function(values[:, None], values), np.float64)
        is_distance = (
            table.shape == (len(values),) * 2
            and (table >= 0).all()
            and not np.diag(table).any()
            and np.allclose(table, table.T)
        )
        if not is_distance:
            raise ValueError(
                "a distance must take two arrays that broadcast and give numbers: 0 between a "
                f"value and itself, else 0 or above, the same both ways; found {table!r}."
            )
        return cls(table)

    @property
    def width(self) -> int:
        """Number K of categories."""
        return len(self.table)

    def entries(self, category: Indices | Codes) -> list[tuple[Any, Any]]:
        """Its category."""
        return [(category, 1.0)]

    def within(self, counts: Counts) -> Array:
        """From every pair of categories that an item has."""
        one, other = neighbours(counts.item)
        far = self.table[counts.category[one], counts.category[other]]
        both = 2 * counts.n[one] * counts.n[other]
        return added(counts.item[one], both * far, counts.shape[0])

    def between(self, one: Array, other: Array) -> Array:
        """From the table."""
        return np.asarray(((one @ self.table) * other).sum(-1))


def margins(distance: Distance, counts: Counts, groups: int = 1) -> Rows:
    """(I, groups * W) margins of items, or of each group's ratings of an item.

    Units that are counted are then items by groups, ``item * groups + group``.
    """
    item, group = np.divmod(counts.item, groups)
    entries = distance.entries(counts.category)
    columns = [np.broadcast_to(column, item.shape) for column, _ in entries]
    return statistics(
        np.tile(item, len(entries)),
        np.concatenate([group * distance.width + column for column in columns]),
        np.concatenate([counts.n * value for _, value in entries]),
        (counts.shape[0] // groups, groups * distance.width),
    )
