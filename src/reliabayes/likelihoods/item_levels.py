"""What sums over items tell of the sources of variance: their levels, and sums of squares."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, Source
from reliabayes.facets.effects import is_complete, levels_of, same_in, told_apart
from reliabayes.likelihoods.item_moments import (
    Alike,
    ItemMoments,
    Keys,
    own_sources,
    shared_sources,
)
from reliabayes.likelihoods.mean_squares import MeanSquares


@dataclass(frozen=True, eq=False)
class ItemLevels:
    """Levels of the sources of a design, of which an item has its own or shares those of others.

    Attributes
    ----------
    moments : ItemMoments
        Sums over the items.
    """

    moments: ItemMoments

    @cached_property
    def cells(self) -> Keys:
        """(C,) combinations of levels of shared facets that have ratings."""
        return np.unique(np.concatenate([cell for cell, _, _ in self._by_group]))

    @cached_property
    def codes(self) -> dict[str, Keys]:
        """Level (C,) of each shared facet that cells have."""
        return self.moments.facets.of_cell(self.cells)

    @cached_property
    def shared(self) -> dict[Source, tuple[Codes, int]]:
        """Level (C,) of each cell, and their number, by source that items share."""
        return {source: levels_of(source, self.codes) for source in self._shared_sources}

    @cached_property
    def sizes(self) -> dict[Source, int]:
        """Number of levels of each source of the design."""
        groups = self.moments.groups
        return {
            source: self.shared[source][1]
            if source in self.shared
            else sum(each.items * len(np.unique(self._leader(each, source))) for each in groups)
            for source in self.moments.design.sources()
        }

    def effects(self, drop: Collection[str]) -> EffectLevels:
        """Sources that the ratings can tell apart, and the levels of cells that items share.

        Raises
        ------
        RatingsError
            A facet has one level, or two sources cannot be told apart.
        """
        design, n = self.moments.design, self.moments.moments.n
        sources = told_apart(design, drop, self.sizes, n, self._are_same)
        cells = {source.facets: found for source, found in self.shared.items()}
        return EffectLevels(design, sources, cells, self.codes)

    def mean_squares(self, effects: EffectLevels) -> MeanSquares | None:
        """Mean squares, or None if the design is not complete or not balanced."""
        sizes = {source.facets: size for source, size in self.sizes.items()}
        if not (is_complete(self.moments.design, sizes) and self._are_equally_many):
            return None
        of = self.moments.moments
        correction = of.total**2 / of.n
        squares = {
            source.facets: self._square(source) - correction
            for source in self.moments.design.sources()
        }
        total = of.square - correction
        return MeanSquares.of_squares(effects, sizes, squares, total, of.n, of.mean)

    @property
    def _shared_sources(self) -> list[Source]:
        return shared_sources(self.moments.design)

    def _leader(self, each: Alike, source: Source) -> Codes:
        """First rating (n,) with the same level of a source that items have."""
        return each.leader[:, own_sources(self.moments.design).index(source)]

    @cached_property
    def _by_group(self) -> list[tuple[Keys, Array, Array]]:
        """Cells, their numbers of ratings and the sums of these, by items that are alike."""
        found = []
        for each in self.moments.groups:
            n, n_cells = len(each.leader), self.moments.facets.n_cells
            pair, cell = np.divmod(each.totals.key, n_cells)
            itself = pair // n == pair % n
            both = each.pairs.key // n_cells
            pair, one = np.divmod(both, n_cells)
            same = pair // n == pair % n
            # Cells of a rating are in the same order in both tables.
            assert np.array_equal(one[same], cell[itself])
            found.append((cell[itself], each.pairs.value[same], each.totals.value[itself]))
        return found

    @cached_property
    def _by_cell(self) -> tuple[Array, Array]:
        """Number of ratings (C,) of each cell, and their sum."""
        cell, counts, totals = map(np.concatenate, zip(*self._by_group, strict=True))
        at = np.searchsorted(self.cells, cell)
        size = len(self.cells)
        numbers = np.asarray(np.bincount(at, counts, size), np.float64)
        return numbers, np.asarray(np.bincount(at, totals, size), np.float64)

    @property
    def _are_equally_many(self) -> bool:
        """Whether all levels of a source have equally many ratings, whatever the source."""
        counts = self._by_cell[0]
        for level, size in self.shared.values():
            if np.ptp(np.bincount(level, counts, size)):
                return False
        for source in own_sources(self.moments.design):
            leaders = (self._leader(each, source) for each in self.moments.groups)
            if len(np.unique(np.concatenate([_counts(leader) for leader in leaders]))) > 1:
                return False
        return True

    def _square(self, source: Source) -> float:
        """Sum of squares of the totals of a source's levels, over their numbers of ratings."""
        if source in self.shared:
            level, size = self.shared[source]
            counts, totals = (np.bincount(level, each, size) for each in self._by_cell)
            return float((totals**2 / counts).sum())
        found = 0.0
        for each in self.moments.groups:
            leader = self._leader(each, source)
            same = leader[:, None] == leader
            found += float((each.square * same / same.sum(axis=1)).sum())
        return found

    def _are_same(self, one: Source, other: Source) -> bool:
        """Whether two sources that have equally many levels have the same."""
        if one in self.shared and other in self.shared:
            return same_in(self.shared)(one, other)
        if one in self.shared or other in self.shared:
            own, shared = (other, one) if one in self.shared else (one, other)
            return all(self._is_nested(each, own, shared) for each in self.moments.groups)
        return all(_are_one_to_one(*(
            self._leader(each, source) for source in (one, other)
        )) for each in self.moments.groups)  # fmt: skip

    def _is_nested(self, each: Alike, own: Source, shared: Source) -> bool:
        """Whether ratings with the same level of an item's source have the same of a shared one."""
        n, n_cells = len(each.leader), self.moments.facets.n_cells
        rest, second = np.divmod(each.pairs.key, n_cells)
        pair, first = np.divmod(rest, n_cells)
        leader = self._leader(each, own)
        same = leader[pair // n] == leader[pair % n]
        level = self.shared[shared][0]
        first, second = (level[np.searchsorted(self.cells, x[same])] for x in (first, second))
        return bool((first == second).all())


def _counts(leader: Codes) -> Codes:
    """Number of ratings of each level."""
    return np.unique(leader, return_counts=True)[1]


def _are_one_to_one(one: Codes, other: Codes) -> bool:
    return len(np.unique(np.stack([one, other], axis=1), axis=0)) == len(np.unique(one))
