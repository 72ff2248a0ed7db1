"""Levels of sources of variance by counts that add up over parts, however items were rated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations_with_replacement

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, MeasurementDesign, Source
from reliabayes.facets.effects import levels_of
from reliabayes.likelihoods.item_facets import ITEM, Facets, Keys
from reliabayes.likelihoods.moments import Moments
from reliabayes.likelihoods.shared_levels import SharedLevels


@dataclass(frozen=True, eq=False)
class ItemCounts:
    """Numbers of levels of ratings, or of a part of them that shares no item with others.

    Attributes
    ----------
    design : MeasurementDesign
        Which facets are crossed or nested; the item is among them.
    facets : Facets
        The others.
    moments : Moments
        Those of all ratings, with the pivot.
    cells : array of int, shape (C,)
        Combinations of levels of shared facets that have ratings.
    levels : mapping of frozenset of str to int
        Number of combinations of levels of facets, by sets of facets with the item that one source
        or two sources have.
    """

    design: MeasurementDesign
    facets: Facets
    moments: Moments
    cells: Keys
    levels: Mapping[frozenset[str], int]

    @classmethod
    def of(
        cls,
        design: MeasurementDesign,
        codes: Mapping[str, Codes],
        sizes: Mapping[str, int],
        values: Array,
        pivot: float,
    ) -> ItemCounts:
        """Count levels of ratings (N,), given those of each facet and their numbers."""
        facets = Facets.of(design, sizes)
        pairs = combinations_with_replacement(design.sources(), 2)
        every = {one.facets | other.facets for one, other in pairs}
        return cls(
            design,
            facets,
            Moments.of(values, pivot),
            np.unique(facets.cells(codes)),
            {each: levels_of(Source("", each), codes)[1] for each in every if ITEM in each},
        )

    def __add__(self, other: ItemCounts) -> ItemCounts:
        """Counts of both parts."""
        return ItemCounts(
            self.design,
            self.facets,
            self.moments + other.moments,
            np.union1d(self.cells, other.cells),
            {each: count + other.levels[each] for each, count in self.levels.items()},
        )


@dataclass(frozen=True, eq=False)
class CountedLevels(SharedLevels):
    """Levels of the sources of a design, by counts.

    Attributes
    ----------
    counts : ItemCounts
        Those of all ratings.
    """

    counts: ItemCounts

    @property
    def design(self) -> MeasurementDesign:
        """Which facets are crossed or nested."""
        return self.counts.design

    @property
    def facets(self) -> Facets:
        """Its facets, apart from the item."""
        return self.counts.facets

    @property
    def of_ratings(self) -> Moments:
        """Moments of all ratings."""
        return self.counts.moments

    @property
    def cells(self) -> Keys:
        """(C,) combinations of levels of shared facets that have ratings."""
        return self.counts.cells

    def n_own(self, source: Source) -> int:
        """Number of levels of a source of which items have their own."""
        return self.counts.levels[source.facets]

    def are_same(self, one: Source, other: Source) -> bool:
        """Whether two sources that have equally many levels have the same, not both shared."""
        return self.counts.levels[one.facets | other.facets] == self.sizes[one]

    def mean_squares(self, effects: EffectLevels) -> None:
        """None: densities are found otherwise."""
