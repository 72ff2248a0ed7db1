"""Levels of sources of variance, of which an item has its own or shares those of other items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection
from functools import cached_property

from reliabayes.arrays import Codes
from reliabayes.facets import EffectLevels, EffectsOfParts, MeasurementDesign, Source
from reliabayes.facets.effects import levels_of, same_in, told_apart
from reliabayes.likelihoods.item_facets import Facets, Keys, shared_sources
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import Moments


class SharedLevels(ABC):
    """What sums over items tell of the levels of a design."""

    @property
    @abstractmethod
    def design(self) -> MeasurementDesign:
        """Which facets are crossed or nested."""

    @property
    @abstractmethod
    def facets(self) -> Facets:
        """Its facets, apart from the item."""

    @property
    @abstractmethod
    def of_ratings(self) -> Moments:
        """Moments of all ratings."""

    @property
    @abstractmethod
    def cells(self) -> Keys:
        """(C,) combinations of levels of shared facets that have ratings."""

    @abstractmethod
    def n_own(self, source: Source) -> int:
        """Number of levels of a source of which items have their own."""

    @abstractmethod
    def are_same(self, one: Source, other: Source) -> bool:
        """Whether two sources that have equally many levels have the same, not both shared."""

    @abstractmethod
    def mean_squares(self, effects: EffectLevels) -> MeanSquares | None:
        """Mean squares, or None if the design is not complete or not balanced."""

    @cached_property
    def codes(self) -> dict[str, Keys]:
        """Level (C,) of each shared facet that cells have."""
        return self.facets.of_cell(self.cells)

    @cached_property
    def shared(self) -> dict[Source, tuple[Codes, int]]:
        """Level (C,) of each cell, and their number, by source that items share."""
        return {source: levels_of(source, self.codes) for source in shared_sources(self.design)}

    @cached_property
    def sizes(self) -> dict[Source, int]:
        """Number of levels of each source of the design."""
        return {
            source: self.shared[source][1] if source in self.shared else self.n_own(source)
            for source in self.design.sources()
        }

    def effects(self, drop: Collection[str]) -> EffectLevels:
        """Sources that the ratings can tell apart, and the levels of cells that items share.

        Raises
        ------
        RatingsError
            A facet has one level, or two sources cannot be told apart.
        """

        def are_same(one: Source, other: Source) -> bool:
            if one in self.shared and other in self.shared:
                return same_in(self.shared)(one, other)
            return self.are_same(one, other)

        sources = told_apart(self.design, drop, self.sizes, self.of_ratings.n, are_same)
        cells = {source.facets: found for source, found in self.shared.items()}
        return EffectsOfParts(self.design, sources, cells, self.codes)
