"""Ratings in parts that are sums of normal effects: sums over their items, and what these give."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, TypeVar

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets import EffectLevels, MeasurementDesign
from reliabayes.facets.effects import levels_of
from reliabayes.families.normal.checks import check_residual_of_design
from reliabayes.families.normal.effects_problem import are_cheap
from reliabayes.families.normal.gaussian_parts import leading
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects, n_nodes
from reliabayes.likelihoods.item_counts import CountedLevels, ItemCounts
from reliabayes.likelihoods.item_effects import ItemEffects
from reliabayes.likelihoods.item_facets import ITEM, own_sources
from reliabayes.likelihoods.item_levels import ItemLevels
from reliabayes.likelihoods.item_moments import ItemMoments, TooManyPatterns
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import near
from reliabayes.likelihoods.rest_effects import RestOfEffects
from reliabayes.likelihoods.split_effects import SplitEffects, SumsOfPart
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.sampling.thresholds import STUDY

Sums = TypeVar("Sums", ItemMoments, ItemCounts, covariant=True)


@dataclass(frozen=True, eq=False)
class EffectsInParts:
    """Ratings in parts, of which effects that items share are drawn.

    Attributes
    ----------
    density : callable
        The density, given the prior of the mean.
    mean, sd_mean : float
        Prior of the mean.
    """

    density: Callable[[float, float], ItemEffects | InterpolatedEffects]
    mean: float
    sd_mean: float

    @cached_property
    def marginal(self) -> ItemEffects | InterpolatedEffects:
        """The density by sums over items, or interpolated between passes over all parts."""
        return self.density(self.mean, self.sd_mean)

    @property
    def exact(self) -> ItemEffects | InterpolatedEffects:
        """The same: more exact would be a pass over all parts for each density."""
        return self.marginal

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of sources that items share and the mean, drawn given the ratings."""
        return self.marginal.draw(variance, rng)

    def sums_by_effect(self) -> StanData:
        """Refuse NUTS, which needs the effects of all items."""
        rule = "all ratings must be in memory for NUTS, unless a design is complete and balanced"
        remedy = "Leave out sampler and warm_start, or pass sampler='independence'."
        raise RatingsError([Fault("ratings", rule, "ratings in parts", remedy)])


@dataclass(frozen=True, eq=False)
class PartwiseDensity:
    """The exact density, of which each number of points takes a pass over the parts.

    Attributes
    ----------
    dataset : RatingsDataset
        The ratings.
    split : SplitEffects
        Which effects items share.
    rest : RestOfEffects
        These, and the source that is eliminated first.
    """

    dataset: RatingsDataset
    split: SplitEffects
    rest: RestOfEffects

    @property
    def eliminated(self) -> Codes:
        """Sources of which items have their own effects."""
        return self.split.own

    def reduced_at(self, ratios: Array) -> Array:
        """What these leave to the rest, as flat numbers, at relative variances (N, K)."""
        rest = self.rest
        return self.dataset.sum(partial(_reduced, self.split, rest.centre, rest.sd_mean, ratios))

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K); -inf so far out that rounding decides."""
        silent = replace(self, dataset=replace(self.dataset, progress=False))
        flat = silent.reduced_at(variances / variances[:, -1:])
        found = np.full((len(variances), 3), [-np.inf, 0.0, 0.0])
        for row, one, variance in zip(found, flat, variances, strict=True):
            with suppress(np.linalg.LinAlgError):
                row[:] = np.array(self.rest.densities(one[None], variance[None]))[:, 0]
        return Marginal(*found.T)


def effects_in_parts(
    dataset: RatingsDataset, levels: ItemLevels | CountedLevels, effects: EffectLevels
) -> Callable[[float, float], EffectsInParts]:
    """The likelihood, given the prior of the mean."""
    if isinstance(levels, ItemLevels):
        return partial(EffectsInParts, partial(ItemEffects.of, levels, effects))
    return partial(EffectsInParts, partial(_interpolated, dataset, levels, effects))


def _interpolated(
    dataset: RatingsDataset,
    levels: CountedLevels,
    effects: EffectLevels,
    mean: float,
    sd_mean: float,
) -> InterpolatedEffects:
    """The density of items that were rated in any ways, by two passes over the parts."""
    split = SplitEffects.of(levels, effects)
    found = dataset.sum(partial(_sums, split))
    exact = PartwiseDensity(dataset, split, _rest(split, found, mean, sd_mean))
    interpolated = InterpolatedEffects.of(exact, found.squares, STUDY.nodes)
    if interpolated is None:
        rule = (
            "the density of items that were rated in very many ways must depend on few variances "
            "of which the ratings tell much"
        )
        shown = f"{len(split.own)} sources of {dataset.n_items:,} items"
        remedy = (
            "Drop some of them, or fit the ratings in memory, dataset.to_ratings(), or those of "
            "some of the items, as with dataset.parts[0].read()."
        )
        raise RatingsError([Fault("design", rule, shown, remedy)])
    return interpolated


def levels_of_parts(
    dataset: RatingsDataset, design: MeasurementDesign
) -> ItemLevels | CountedLevels:
    """Sums over the items of all parts, or counts of levels if items were rated in too many ways.

    Raises
    ------
    RatingsError
        A facet is unknown, or items are not in the design.
    """
    first = leading(dataset)
    sizes = {name: len(first.positions(name)[1]) for name in design.facets}
    if ITEM not in sizes:
        rule, found = "designs of ratings in parts must have items", repr(design.text)
        raise RatingsError([Fault("design", rule, found, "Read the ratings into memory.")])
    given: dict[str, Any] = {"design": design, "sizes": sizes, "pivot": near(first.values)}
    with suppress(TooManyPatterns):
        levels = ItemLevels(dataset.sum(partial(_of_part, ItemMoments.of, **given)))
        is_only = n_nodes(len(own_sources(design))) > STUDY.nodes
        if are_cheap(levels) or levels.is_balanced or is_only:
            return levels
    return CountedLevels(dataset.sum(partial(_of_part, ItemCounts.of, **given)))


def check_residual_of_parts(
    dataset: RatingsDataset, effects: EffectLevels, squares: MeanSquares | None
) -> None:
    """Refuse ratings that effects explain completely, as far as some of the parts show it."""
    first = leading(dataset)
    codes = {name: first.positions(name)[0] for name in effects.design.facets}
    sources = effects.sources[:-1]
    levels = [] if squares else [levels_of(source, codes)[0] for source in sources]
    check_residual_of_design(sources, levels, first.values, squares)


def _of_part(
    of: Callable[..., Sums], part: Ratings, *, design: MeasurementDesign, **given: Any
) -> Sums:
    return of(design, _codes(part, design.facets), values=part.values, **given)


def _codes(part: Ratings, facets: Any) -> Mapping[str, Codes]:
    """Levels of the ratings of a part, by facet."""
    return {name: part.positions(name)[0] for name in facets}


def _sums(split: SplitEffects, part: Ratings) -> SumsOfPart:
    return split.sums(_codes(part, split.names), part.values)


def _reduced(
    split: SplitEffects, mean: float, sd_mean: float, ratios: Array, part: Ratings
) -> Array:
    return split.reduced_at(_codes(part, split.names), part.values, mean, sd_mean, ratios)


def _rest(split: SplitEffects, found: SumsOfPart, mean: float, sd_mean: float) -> RestOfEffects:
    """The rest, given the prior of the mean; relative to the mean of the ratings if it is flat."""
    squares, of_first = found.squares, found.of_first
    offset = 0.0 if np.isinf(sd_mean) else mean - split.centre
    square = squares.square - 2 * offset * squares.totals[-1] + squares.n * offset**2
    return RestOfEffects(
        squares.n,
        split.centre + offset,
        sd_mean,
        float(square),
        split.first,
        of_first.key.astype(float),
        of_first.value,
        split.rest,
    )
