"""Sums over items of ratings with normal effects, from which those of all parts follow by adding.

Given the effects that are not an item's own, such as those of raters, items are independent. All
that the posterior needs of the items whose ratings share levels of their own effects in the same
way are sums over them. Ratings are less a pivot, a multiple of a power of two: sums of whole
numbers are exact, and do not depend on the parts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reliabayes.arrays import IN_MEMORY, Array, Codes, Mask, blocks, distinct_rows
from reliabayes.facets import MeasurementDesign
from reliabayes.likelihoods.item_facets import ITEM, LARGEST, Facets, Keys, own_sources
from reliabayes.likelihoods.moments import Moments

MOST_WORK = 10_000_000  # multiplications for a density, which then takes some 20 ms


class TooManyPatterns(Exception):
    """Items were rated in so many ways that sums for each would take too much time or memory."""


class Table(NamedTuple):
    """Sums by key, in the order of the keys."""

    key: Keys
    value: Array

    @classmethod
    def of(cls, key: Keys, value: Array) -> Table:
        """Values with the same key, added up."""
        distinct, position = np.unique(key, return_inverse=True)
        found = np.bincount(position.ravel(), value, len(distinct))
        return cls(distinct, np.asarray(found, np.float64))

    def plus(self, other: Table) -> Table:
        """Sums of both."""
        if np.array_equal(self.key, other.key):
            return Table(self.key, self.value + other.value)
        both = zip(self, other, strict=True)
        return Table.of(*(np.concatenate(each) for each in both))


class PatternGroup(NamedTuple):
    """Sums over items whose n ratings share levels of an item's own effects in the same way.

    An item's ratings are in the order of their cells, which are combinations of the levels of
    facets that several items share.

    Attributes
    ----------
    leader : array of int, shape (n, L)
        First rating that has the same level as each, of each source that items have.
    items : int
        Number of items.
    square : array of float, shape (n, n)
        Sum of yy' over the items, with y the ratings of an item.
    pairs : Table
        Numbers of items, by two of the ratings (n, n), the first not after the second, and the
        cells of both.
    totals : Table
        Sums of one of the ratings, by two of them (n, n) and the cell of the other, the first.
    """

    leader: Codes
    items: int
    square: Array
    pairs: Table
    totals: Table

    def plus(self, other: PatternGroup) -> PatternGroup:
        """Sums over both sets of items."""
        return PatternGroup(
            self.leader,
            self.items + other.items,
            self.square + other.square,
            self.pairs.plus(other.pairs),
            self.totals.plus(other.totals),
        )

    @property
    def work(self) -> int:
        """Roughly the multiplications for a density."""
        return len(self.leader) ** 3 + len(self.pairs.key) + len(self.totals.key)

    def same(self) -> Mask:
        """Which ratings (n, n, L) share a level of each source."""
        return np.asarray(self.leader[:, None] == self.leader)


@dataclass(frozen=True, eq=False)
class ItemMoments:
    """Sums over the items of ratings, or of a part of them.

    Attributes
    ----------
    design : MeasurementDesign
        Which facets are crossed or nested; the item is among them.
    facets : Facets
        The others.
    moments : Moments
        Those of all ratings, with the pivot.
    alike : mapping of bytes to PatternGroup
        Sums over items that are alike in which of their ratings share levels.
    """

    design: MeasurementDesign
    facets: Facets
    moments: Moments
    alike: Mapping[bytes, PatternGroup]

    @classmethod
    def of(
        cls,
        design: MeasurementDesign,
        codes: Mapping[str, Codes],
        sizes: Mapping[str, int],
        values: Array,
        pivot: float,
    ) -> ItemMoments:
        """Sum ratings (N,), which are sorted by item.

        Parameters
        ----------
        design : MeasurementDesign
            Which facets are crossed or nested; the item is among them.
        codes : mapping of str to array of int, shape (N,)
            Item of each rating, and its level of each other facet of the design.
        sizes : mapping of str to int
            Numbers of levels of these facets, the same for all parts.
        values : array of float, shape (N,)
            The ratings.
        pivot : float
            Subtracted from them.

        Raises
        ------
        TooManyPatterns
            The sums would be too many.
        """
        facets = Facets.of(design, sizes)
        if facets.n_cells * math.prod(facets.others.values()) > LARGEST:
            raise TooManyPatterns
        item, code, left = codes[ITEM], facets.encode(codes), values - pivot
        if ((np.diff(item) == 0) & (np.diff(code) < 0)).any():
            order = np.lexsort((code, item))
            code, left = code[order], left[order]
        counts = np.bincount(item)
        first = np.cumsum(counts) - counts
        found: dict[bytes, PatternGroup] = {}
        for n in np.unique(counts[counts > 0]).tolist():
            rows = first[counts == n][:, None] + np.arange(n)
            found |= _of_size(design, facets, code[rows], left[rows])
            _check_work(found)
        return cls(design, facets, Moments.of(values, pivot), found)

    def __add__(self, other: ItemMoments) -> ItemMoments:
        """Sums of both parts, which share no item."""
        found = dict(self.alike)
        for key, each in other.alike.items():
            found[key] = found[key].plus(each) if key in found else each
        _check_work(found)
        moments = self.moments + other.moments
        return ItemMoments(self.design, self.facets, moments, found)

    @property
    def groups(self) -> tuple[PatternGroup, ...]:
        """Sums over items that are alike, in an order that does not depend on the parts."""
        return tuple(self.alike[key] for key in sorted(self.alike, key=lambda key: (len(key), key)))

    @property
    def work(self) -> int:
        """Roughly the multiplications for a density."""
        return sum(each.work for each in self.alike.values())


def _check_work(found: Mapping[bytes, PatternGroup]) -> None:
    if sum(each.work for each in found.values()) > MOST_WORK:
        raise TooManyPatterns


def _check_ways(ways: int, n: int) -> None:
    if ways * n**3 > MOST_WORK:
        raise TooManyPatterns


def _of_size(
    design: MeasurementDesign, facets: Facets, code: Keys, left: Array
) -> Iterator[tuple[bytes, PatternGroup]]:
    """Sums over items with equally many ratings (I, n), by how these share levels."""
    n = code.shape[1]
    _check_ways(1, n)
    distinct, position = distinct_rows(code)
    ways, way = distinct_rows(_leaders(design, facets, distinct))
    _check_ways(len(ways), n)
    times = np.bincount(position, minlength=len(distinct))
    totals = np.array([np.bincount(position, column, len(distinct)) for column in left.T]).T
    cell = facets.cell(distinct)
    of_ways, of_items = (_split(of, len(ways)) for of in (way, way[position]))
    for leader, kinds, items in zip(ways.astype(np.int32), of_ways, of_items, strict=True):
        y = left[items]
        yield (
            leader.tobytes(),
            PatternGroup(
                leader.reshape(n, -1),
                len(items),
                y.T @ y,
                _pairs(cell[kinds], times[kinds], facets.n_cells),
                _totals(cell[kinds], totals[kinds], facets.n_cells),
            ),
        )


def _split(of: Codes, number: int) -> list[Codes]:
    """Positions that have each of the numbers below ``number``."""
    order = np.argsort(of, kind="stable")
    return np.split(order, np.cumsum(np.bincount(of, minlength=number))[:-1])


def _leaders(design: MeasurementDesign, facets: Facets, code: Keys) -> Codes:
    """First rating (D, n * L) of an item that has the same level, by source that items have."""
    levels = facets.decode(code)
    sizes = {**facets.shared, **facets.others}
    found = np.empty((*code.shape, len(own_sources(design))), np.int32)
    n = code.shape[1]
    for at, source in enumerate(own_sources(design)):
        own = np.zeros_like(code)
        for name in source.facets - {ITEM}:
            own = own * sizes[name] + levels[name]
        for some in blocks(len(code), IN_MEMORY // n**2):
            part = own[some]
            found[some, :, at] = (part[:, :, None] == part[:, None]).argmax(axis=2)
    return found.reshape(len(code), -1)


def _pairs(cell: Keys, times: Codes, n_cells: int) -> Table:
    """Numbers of items by pair of ratings and their cells (D, n), each so many times (D,)."""
    n = cell.shape[1]
    one, other = np.triu_indices(n)
    if n**2 * n_cells**2 > LARGEST:
        raise TooManyPatterns

    def table(some: slice) -> Table:
        part = cell[some]
        key = ((one * n + other) * n_cells + part[:, one]) * n_cells + part[:, other]
        return Table.of(key.ravel(), np.repeat(times[some].astype(float), len(one)))

    return _summed(table(some) for some in blocks(len(cell), IN_MEMORY // len(one)))


def _totals(cell: Keys, totals: Array, n_cells: int) -> Table:
    """Sums of ratings by pair of ratings and the cell of the first, of rows (D, n)."""
    n = cell.shape[1]
    one, other = np.indices((n, n)).reshape(2, -1)

    def table(some: slice) -> Table:
        key = (one * n + other) * n_cells + cell[some][:, one]
        return Table.of(key.ravel(), totals[some][:, other].ravel())

    return _summed(table(some) for some in blocks(len(cell), IN_MEMORY // len(one)))


def _summed(tables: Iterator[Table]) -> Table:
    found: Any = None
    for each in tables:
        found = each if found is None else found.plus(each)
    return Table(*found)
