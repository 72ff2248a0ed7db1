"""Results of G studies that come from the effects of levels, whatever ratings they are of."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
from numpy.random import Generator

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.facets import COEFFICIENTS, Decision, EffectLevels, Effects
from reliabayes.facets.effects import levels_of
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.item_facets import ITEM
from reliabayes.partitions import RatingsDataset, in_memory
from reliabayes.ratings import Ratings
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

EFFECTS_DRAWN = 400  # draws from which tables of items and raters are computed
OF_SOURCES = ("variance", "sd", "proportion")
RELIABILITY = (*COEFFICIENTS[:2], "inter_rater_icc", "intra_rater_icc", *COEFFICIENTS[2:])

EffectsAndMean: TypeAlias = tuple[list[Array], float]  # effects by source
DrawnEffects: TypeAlias = Iterable[tuple[Array, EffectsAndMean]]  # with variances (K,), by draw


def effects_of_levels(
    posterior: Posterior[Any], facet: str, drawn: DrawnEffects, prob: float | None
) -> pd.DataFrame:
    """Effects of the levels of a facet, with those of the levels that it is nested in.

    They are drawn at some of the draws; a row for each level, with mean, sd, median and interval.
    """
    effects: EffectLevels = posterior.problem.effects
    known = [source.facets for source in effects.sources[:-1]]
    whole = kept_with_outer(effects, facet)
    if isinstance(posterior.ratings, RatingsDataset) and ITEM in whole:
        in_memory(posterior.ratings, f"levels({facet!r})")
    level, size = effects.cells[whole]
    (first,) = np.unique(level, return_index=True)[1:]
    within = [k for k, facets in enumerate(known) if facets <= whole]
    at = [effects.cells[known[k]][0][first] for k in within]
    draws = np.array(
        [
            sum(found[k][level] for k, level in zip(within, at, strict=True))
            for _, (found, _) in drawn
        ]
    )
    names = [name for name in effects.design.facets if name in whole]
    ids = [_ids_of(posterior.ratings, name)[effects.facets[name][first]] for name in names]
    index = (
        pd.Index(ids[0], name=facet)
        if len(ids) == 1
        else pd.MultiIndex.from_arrays(ids, names=names)
    )
    assert len(index) == size
    return pd.DataFrame(describe(draws, prob), index=index)


def _ids_of(ratings: Ratings | RatingsDataset, name: str) -> pd.Index[Any]:
    """The user's ids of the levels of a facet."""
    if isinstance(ratings, Ratings):
        return ratings.positions(name)[1]
    return ratings.raters if name == "rater" else ratings.facets[name]


def kept_with_outer(effects: EffectLevels, facet: str) -> frozenset[str]:
    """A facet with those that it is nested in, if there are effects of its levels."""
    whole = effects.design.nested.get(facet, frozenset()) | {facet}
    if whole not in [source.facets for source in effects.sources[:-1]]:
        raise ValueError(
            f"{facet!r} must be a facet of {effects.design.text!r} whose effects were not dropped."
        )
    return whole


def items_of_part(effects: EffectLevels, drawn: DrawnEffects, prob: float | None) -> ItemsOfPart:
    """What draws the effects of the items of a part, given draws of those that items share."""
    kept_with_outer(effects, "item")
    shared = shared_by_items(effects)
    kept = [(variance, {k: of[k] for k in shared}, mean) for variance, (of, mean) in drawn]
    return ItemsOfPart(effects, kept, prob)


def effect_of_new_rater(
    posterior: Posterior[Any], fixed: frozenset[str], rng: Generator
) -> dict[str, Array] | None:
    """Effect of one drawn from their population, with that of what they are nested in.

    None if the same raters are in every measurement.
    """
    if "rater" in fixed:
        return None
    effects: EffectLevels = posterior.problem.effects
    whole = kept_with_outer(effects, "rater")
    within = [k for k, source in enumerate(effects.sources[:-1]) if source.facets <= whole]
    variance = (posterior.draws["sd"].isel(source=within) ** 2).sum("source")
    return drawn_effect(variance**0.5, rng)


def decision(posterior: Posterior[Any], fixed: frozenset[str]) -> Decision:
    """Measurement by single ratings, draw by draw (chains, draws)."""
    effects: EffectLevels = posterior.problem.effects
    variance = posterior.draws["sd"].values ** 2
    return Decision(effects.design, effects.sources, variance, {}, fixed)


def reliability(posterior: Posterior[Any], fixed: frozenset[str]) -> dict[str, Any]:
    """Reliability and errors of single ratings, and variance by source; (chain, draw, ...)."""
    single = decision(posterior, fixed)
    found: dict[str, Any] = {name: getattr(single, name) for name in COEFFICIENTS}
    if others := _repeats(posterior.problem.effects):
        for name, same in (("inter", others), ("intra", frozenset({"rater"}))):
            found[f"{name}_rater_icc"] = decision(posterior, same).phi
    sd = posterior.draws["sd"]
    variance = sd**2
    of_sources = (variance, sd, variance / variance.sum("source"))
    return {
        **{name: (("chain", "draw"), values) for name, values in found.items()},
        **dict(zip(OF_SOURCES, of_sources, strict=True)),
    }


def _repeats(effects: EffectLevels) -> frozenset[str]:
    """Facets under which a rater rates the same object again; none without a random rater."""
    design = effects.design
    if "rater" not in design.facets or "rater" in design.measured:
        return frozenset()
    replicates = effects.sources[-1].facets - design.whole
    return (design.whole | replicates) - design.measured - design.nested["rater"] - {"rater"}


def sum_of_others(effects: Effects, own: Sequence[int], drawn: EffectsAndMean) -> Array:
    """What the mean and effects that are not an item's own add up to (N,)."""
    of_sources, mean = drawn
    total = np.full(effects.n_ratings, mean)
    for k, level in enumerate(effects.level):
        if k not in own:
            total += of_sources[k][level]
    return total


def fresh_effects(effects: Effects, sources: Iterable[int], sd: Array, rng: Generator) -> Array:
    """New effects of these sources, with sds by source, added up by rating (N,)."""
    total = np.zeros(effects.n_ratings)
    for k in sources:
        total += sd[k] * rng.standard_normal(effects.sizes[k])[effects.level[k]]
    return total


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

    def __call__(self, part: Ratings, rng: Generator) -> pd.DataFrame:
        """Mean, sd, median and interval of each item, with effects that it is nested in."""
        codes = {name: part.positions(name)[0] for name in self.effects.design.facets}
        start = np.flatnonzero(np.diff(part.item, prepend=-1))
        cuts = [*range(0, len(start), max(1, 2 * IN_MEMORY // len(self.drawn))), len(start)]
        ends = [*start, len(part.item)]
        tables = []
        for first, last in pairwise(cuts):
            some = slice(ends[first], ends[last])
            own = {name: levels[some] for name, levels in codes.items()}
            tables.append(describe(self._draws(own, part.values[some], rng), self.prob))
        table = pd.concat(map(pd.DataFrame, tables), ignore_index=True)
        return table.set_index(self._ids(part, {name: x[start] for name, x in codes.items()}))

    def _draws(self, codes: Mapping[str, Codes], values: Array, rng: Generator) -> Array:
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
