"""Effects of the items of a part, drawn given effects that all items share."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, Effects
from reliabayes.facets.effects import levels_of
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.item_facets import ITEM
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import describe

CHUNK = 4_000_000  # effects drawn at once: 32 MB


@dataclass(frozen=True, eq=False)
class ItemsOfPart:
    """The table of the effects of the items of a part; can be pickled.

    Attributes
    ----------
    effects : EffectLevels
        Sources, and levels of those that items share.
    drawn : sequence of (array of float, mapping of int to array of float, float)
        Of each draw the variances (K,), effects by position of each source that items share, and
        the mean.
    prob : float
        Probability of the intervals.
    """

    effects: EffectLevels
    drawn: Sequence[tuple[Array, Mapping[int, Array], float]]
    prob: float | None

    def __call__(self, part: Ratings, rng: np.random.Generator) -> pd.DataFrame:
        """Mean, sd, median and interval of each item, with effects that it is nested in."""
        codes = {name: part.positions(name)[0] for name in self.effects.design.facets}
        start = np.flatnonzero(np.diff(part.item, prepend=-1))
        cuts = [*range(0, len(start), max(1, CHUNK // len(self.drawn))), len(start)]
        ends = [*start, len(part.item)]
        tables = []
        for first, last in pairwise(cuts):
            some = slice(ends[first], ends[last])
            own = {name: levels[some] for name, levels in codes.items()}
            tables.append(describe(self._draws(own, part.values[some], rng), self.prob))
        table = pd.concat(map(pd.DataFrame, tables), ignore_index=True)
        return table.set_index(self._ids(part, {name: x[start] for name, x in codes.items()}))

    def _draws(self, codes: Mapping[str, Codes], values: Array, rng: np.random.Generator) -> Array:
        """Effects (S, I) of items, given the levels of their ratings by facet."""
        sources = self.effects.sources[:-1]
        whole = self._whole
        item = codes[ITEM] - codes[ITEM][0]
        shared = self._shared_levels(codes)
        own = [shared[k] if k in shared else levels_of(s, codes)[0] for k, s in enumerate(sources)]
        sizes = (*(int(level.max()) + 1 for level in own),)
        of_part = Effects(self.effects.design, self.effects.sources, {}, codes, tuple(own), sizes)
        blocks = ItemBlocks.of(of_part, item)
        (at,) = [k for k, source in enumerate(sources) if source.facets == whole]
        within = [k for k in shared if sources[k].facets <= whole]
        first = np.flatnonzero(np.diff(item, prepend=-1))
        found = np.empty((len(self.drawn), blocks.n_items))
        for row, (variance, effects, mean) in zip(found, self.drawn, strict=True):
            left = values - mean - sum(effects[k][level] for k, level in shared.items())
            row[:] = blocks.draw(at, left, variance, rng)
            for k in within:
                row += effects[k][shared[k][first]]
        return found

    @property
    def _whole(self) -> frozenset[str]:
        """The item and the facets that it is nested in."""
        return self.effects.design.nested.get(ITEM, frozenset()) | {ITEM}

    def _shared_levels(self, codes: Mapping[str, Codes]) -> dict[int, Codes]:
        """Level (N,) of each rating, by the position of each source that items share."""
        found: dict[int, Codes] = {}
        for k in shared_by_items(self.effects):
            facets = self.effects.sources[k].facets
            names = sorted(facets)
            known = np.stack([self.effects.facets[name] for name in names])
            sizes = known.max(axis=1) + 1
            table = np.zeros(sizes, np.int32)
            table[tuple(known)] = self.effects.cells[facets][0]
            found[k] = table[tuple(codes[name] for name in names)]
        return found

    def _ids(self, part: Ratings, first: Mapping[str, Codes]) -> list[pd.Index[Any]]:
        """The user's ids of the items, and of what they are nested in."""
        names = [name for name in self.effects.design.facets if name in self._whole]
        ids = [part.positions(name)[1][first[name]] for name in names]
        return [pd.Index(each, name=name) for each, name in zip(ids, names, strict=True)]


def shared_by_items(effects: EffectLevels) -> list[int]:
    """Positions of sources whose levels several items share."""
    return [k for k, source in enumerate(effects.sources[:-1]) if ITEM not in source.facets]
