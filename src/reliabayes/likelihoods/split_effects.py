"""Sums over the items of a part, however these were rated, which add up to those of all parts.

Each item has effects of its own, which are integrated out, and shares others with all items.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import reduce
from itertools import pairwise
from operator import add

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import EffectLevels, Source
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.effects import levels_of
from reliabayes.facets.squared_totals import SquaredTotals
from reliabayes.likelihoods.item_counts import CountedLevels
from reliabayes.likelihoods.item_facets import ITEM, MOST_SHARED, Facets, Keys, too_many_shared
from reliabayes.likelihoods.item_moments import Table
from reliabayes.likelihoods.marginal_effects import MarginalEffects, Order

PIECE = 100_000  # ratings of a part that are summed at once
MOST_CROSSED = 20_000_000  # effects of items by effects that they share: 160 MB


@dataclass(frozen=True, eq=False)
class SumsOfPart:
    """What tells roughly where the posterior is, and numbers of ratings by level.

    Attributes
    ----------
    squares : SquaredTotals
        Of the effects that items have or share.
    of_first : Table
        How many levels of the source that is eliminated first have so many ratings.
    """

    squares: SquaredTotals
    of_first: Table

    def __add__(self, other: SumsOfPart) -> SumsOfPart:
        """Sums of both parts."""
        return SumsOfPart(self.squares + other.squares, self.of_first.plus(other.of_first))


@dataclass(frozen=True, eq=False)
class SplitEffects:
    """Which effects items share, so that the ratings of any part can be summed.

    Attributes
    ----------
    sources : tuple of Source
        Those that were not dropped, without the residual.
    facets : Facets
        Facets of the design, apart from the item.
    cells : array of int, shape (C,)
        Combinations of levels of shared facets that have ratings.
    shared : mapping of int to (array of int, shape (C,), int)
        Level of each cell, and their number, by position of each source that items share.
    first : int
        Source that is eliminated first: of those that items have, the one with most levels.
    centre : float
        Subtracted from the ratings.
    """

    sources: tuple[Source, ...]
    facets: Facets
    cells: Keys
    shared: Mapping[int, tuple[Codes, int]]
    first: int
    centre: float

    @classmethod
    def of(cls, levels: CountedLevels, effects: EffectLevels) -> SplitEffects:
        """Effects of sources that were not dropped.

        Raises
        ------
        RatingsError
            Items share too many effects, or have none.
        """
        sources = effects.sources[:-1]
        shared = {k: levels.shared[s] for k, s in enumerate(sources) if s in levels.shared}
        if len(shared) == len(sources):
            rule, found = "items must have effects, of ratings in parts", "that all were dropped"
            remedy = "Fit the ratings in memory, dataset.to_ratings()."
            raise RatingsError([Fault("design", rule, found, remedy)])
        number = sum(size for _, size in shared.values())
        if number >= MOST_SHARED:
            raise too_many_shared(number)
        sizes = [0 if k in shared else levels.sizes[s] for k, s in enumerate(sources)]
        first, centre = int(np.argmax(sizes)), levels.of_ratings.mean
        return cls(sources, levels.facets, levels.cells, shared, first, centre)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the facets of the design."""
        return (ITEM, *self.facets.shared, *self.facets.others)

    @property
    def own(self) -> Codes:
        """Sources of which items have their own effects."""
        return np.array([k for k in range(len(self.sources)) if k not in self.shared], np.intp)

    @property
    def rest(self) -> Codes:
        """Source (P,) of each effect that items share, that of the mean last."""
        numbers = [*(size for _, size in self.shared.values()), 1]
        return np.repeat([*self.shared, len(self.sources)], numbers)

    def sums(self, codes: Mapping[str, Codes], values: Array) -> SumsOfPart:
        """Sums of ratings (N,), given their levels by facet, sorted by item."""
        found = []
        for sums, order in self._pieces(codes, values):
            of_first = sums.counts[sums.source == self.first].astype(np.int64)
            table = Table.of(of_first, np.ones(len(of_first)))
            is_own = (order.block >= 0) | (sums.source == self.first)
            found.append(SumsOfPart(SquaredTotals.of(sums, is_own), table))
        return reduce(add, found)

    def reduced_at(
        self,
        codes: Mapping[str, Codes],
        values: Array,
        mean: float,
        sd_mean: float,
        ratios: Array,
    ) -> Array:
        """What effects of items leave to the rest, at relative variances (N, K) of the sources."""
        size = len(self.rest)
        found = np.zeros((len(ratios), 2 + size + size * (size + 1) // 2))
        for sums, order in self._pieces(codes, values):
            if sums.n:
                found += MarginalEffects.of(sums, mean, sd_mean, order).reduced_at(ratios)
        return found

    def _pieces(
        self, codes: Mapping[str, Codes], values: Array
    ) -> Iterator[tuple[EffectSums, Order]]:
        """Sums by effect of the ratings of some items, and the order of these effects."""
        cell = np.searchsorted(self.cells, self.facets.cells(codes))
        item, at_once = codes[ITEM], MOST_CROSSED // (len(self.rest) * len(self.sources))
        start = np.flatnonzero(np.diff(item, prepend=-1))
        of_piece = start // min(PIECE, max(1, at_once))
        cuts = [0, *start[1:][np.diff(of_piece) > 0].tolist(), len(item)]
        for begin, end in pairwise(cuts):
            some = slice(begin, end)
            yield self._piece(
                {name: levels[some] for name, levels in codes.items()}, cell[some], values[some]
            )

    def _piece(
        self, codes: Mapping[str, Codes], cell: Codes, values: Array
    ) -> tuple[EffectSums, Order]:
        levels, sizes, blocks = [], [], []
        for k, source in enumerate(self.sources):
            if k in self.shared:
                of_cell, size = self.shared[k]
                level, block = of_cell[cell], np.full(size, -1)
            else:
                level, size = levels_of(source, codes)
                block = np.empty(size, np.intp)
                block[level] = codes[ITEM] - codes[ITEM][:1]
            levels.append(level)
            sizes.append(size)
            blocks.append(block)
        order = Order(self.first, np.concatenate([*blocks, [-1]]))
        return EffectSums.of_levels(levels, sizes, values, self.centre), order
