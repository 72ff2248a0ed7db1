"""What sums over items tell of the sources of variance: their levels, and sums of squares."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, MeasurementDesign, Source
from reliabayes.facets.effects import is_complete
from reliabayes.likelihoods.item_facets import Facets, Keys, own_sources
from reliabayes.likelihoods.item_moments import ItemMoments, PatternGroup
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import Moments
from reliabayes.likelihoods.shared_levels import SharedLevels


@dataclass(frozen=True, eq=False)
class ItemLevels(SharedLevels):
    """Levels of the sources of a design, by sums over items.

    Attributes
    ----------
    moments : ItemMoments
        Sums over the items.
    """

    moments: ItemMoments

    @property
    def design(self) -> MeasurementDesign:
        """Which facets are crossed or nested."""
        return self.moments.design

    @property
    def facets(self) -> Facets:
        """Its facets, apart from the item."""
        return self.moments.facets

    @property
    def of_ratings(self) -> Moments:
        """Moments of all ratings."""
        return self.moments.moments

    @cached_property
    def cells(self) -> Keys:
        """(C,) combinations of levels of shared facets that have ratings."""
        return np.unique(np.concatenate([cell for cell, _, _ in self._by_group]))

    def n_own(self, source: Source) -> int:
        """Number of levels of a source of which items have their own."""
        groups = self.moments.groups
        return sum(each.items * len(np.unique(self._leader(each, source))) for each in groups)

    def are_same(self, one: Source, other: Source) -> bool:
        """Whether two sources that have equally many levels have the same, not both shared."""
        if one in self.shared or other in self.shared:
            own, shared = (other, one) if one in self.shared else (one, other)
            return all(self._is_nested(each, own, shared) for each in self.moments.groups)
        return all(_are_one_to_one(*(
            self._leader(each, source) for source in (one, other)
        )) for each in self.moments.groups)  # fmt: skip

    @cached_property
    def is_balanced(self) -> bool:
        """Whether all combinations of the facets' levels were rated, and equally often."""
        sizes = {source.facets: size for source, size in self.sizes.items()}
        return is_complete(self.design, sizes) and self._are_equally_many

    def mean_squares(self, effects: EffectLevels) -> MeanSquares | None:
        """Mean squares, or None if the design is not complete or not balanced."""
        if not self.is_balanced:
            return None
        sizes = {source.facets: size for source, size in self.sizes.items()}
        of = self.moments.moments
        correction = of.total**2 / of.n
        squares = {
            source.facets: self._square(source) - correction
            for source in self.moments.design.sources()
        }
        total = of.square - correction
        return MeanSquares.of_squares(effects, sizes, squares, total, of.n, of.mean)

    def _leader(self, each: PatternGroup, source: Source) -> Codes:
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

    def _is_nested(self, each: PatternGroup, own: Source, shared: Source) -> bool:
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
