"""Ratings that are sums of normal effects, in memory or in parts: what their posterior needs."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from reliabayes.arrays import Array
from reliabayes.errors import RatingsError
from reliabayes.facets import EffectLevels, Effects
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.squared_totals import SquaredTotals
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.gaussian_conditional import LEAST, Marginal
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects, is_worth_it
from reliabayes.likelihoods.item_effects import ItemEffects
from reliabayes.likelihoods.item_facets import ITEM
from reliabayes.likelihoods.item_levels import ItemLevels
from reliabayes.likelihoods.item_moments import ItemMoments, TooManyPatterns
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import near
from reliabayes.likelihoods.sparse_effects import SparseEffects

# Work of a density by sums over items, for each rating and at least, up to which it is quicker than
# by eliminating effects in their order.
WORK_PER_RATING, SMALL_WORK = 3, 200_000


class EffectsDensity(Protocol):
    """The density of ratings, their effects and mean integrated out."""

    @property
    def is_quick(self) -> bool:
        """Whether a density takes less than a millisecond if dozens are found at once."""

    def at(self, variance: Array) -> Marginal:
        """Density at variances (K,) of the sources, the last that of the residual."""

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K)."""


class EffectsLikelihood(Protocol):
    """Ratings, in memory or in parts, with a normal prior of their mean."""

    @property
    def marginal(self) -> EffectsDensity:
        """The density, perhaps interpolated."""

    @property
    def exact(self) -> EffectsDensity:
        """The density as exactly as it can be had."""

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings; those known by level."""

    def sums_by_effect(self) -> StanData:
        """What the program reads that is for designs that are not balanced."""


@dataclass(frozen=True, eq=False, kw_only=True)
class EffectsProblem(Problem):
    """Ratings with normal effects of the sources of a design.

    Attributes
    ----------
    effects : EffectLevels
        Sources of variance; of ratings in memory `Effects`, with the level that each has.
    squares : MeanSquares or None
        What the posterior depends on if the design is complete and balanced.
    n_ratings : int
        Number N of ratings.
    sd : float
        Standard deviation of all ratings.
    given_mean : callable
        The likelihood, given mean and sd of the prior of the mean.
    """

    effects: EffectLevels
    squares: MeanSquares | None
    n_ratings: int
    sd: float
    given_mean: Callable[[float, float], EffectsLikelihood]

    @cached_property
    def likelihood(self) -> EffectsLikelihood:
        """The likelihood with the prior of the mean."""
        return self.given_mean(*self.priors["mean"])

    @property
    def marginal(self) -> EffectsDensity:
        """The density of ratings of any design."""
        return self.likelihood.marginal

    @property
    def is_in_memory(self) -> bool:
        """Whether the levels of all ratings are known."""
        return isinstance(self.effects, Effects)

    @property
    def levels_of_ratings(self) -> Effects:
        """Sources of variance, and the level of each that a rating in memory has."""
        assert isinstance(self.effects, Effects)
        return self.effects

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings; those known by level."""
        return self.likelihood.draw(variance, rng)

    def log_density(self, variance: Array) -> float:
        """Log density of the ratings at variances (K,) of the sources."""
        if self.squares:
            return self.squares.log_density(variance, *self.priors["mean"])
        return float(self.marginal.at(variance).log_density)

    def density(self, variance: Array) -> Marginal:
        """The same, and the mean given the ratings; for designs that are balanced, too."""
        if self.squares:
            return self.squares.marginal(variance, *self.priors["mean"])
        return self.likelihood.exact.at(variance)

    @cached_property
    def flat(self) -> EffectsProblem:
        """The same problem without a prior of the mean."""
        return self._with_prior(float(self.priors["mean"][0]), math.inf)

    def with_mean(self, mean: float) -> EffectsProblem:
        """The same problem with a mean that is known."""
        return self._with_prior(mean, LEAST * self.sd)

    def _with_prior(self, mean: float, sd: float) -> EffectsProblem:
        return replace(self, priors={**self.priors, "mean": np.array([mean, sd])})

    def log_prior(self, log_sd: Array) -> Any:
        """Log density of log standard deviations (..., K), up to a constant."""
        sds = np.moveaxis(np.exp(log_sd), -1, 0)
        return sum(map(log_half_t, sds, self.priors["sd"])) + log_sd.sum(axis=-1)

    def stan_data(self) -> StanData:
        """Mean squares or sums by effect, and priors."""
        own = self.squares.stan_data() if self.squares else self.likelihood.sums_by_effect()
        return self.prior_data | own | StanData({"K": self.size("source")})


@dataclass(frozen=True, eq=False)
class EffectsInMemory:
    """Ratings in memory with the effects that their design has.

    Attributes
    ----------
    effects : Effects
        Sources of variance, and the level of each that a rating has.
    values : array of float, shape (N,)
        The ratings.
    levels : ItemLevels or None
        Sums over the items, unless these were rated in too many ways.
    squares : MeanSquares or None
        Of complete, balanced designs.
    n_items : int
        Number of items.
    mean, sd_mean : float
        Prior of the mean.
    """

    effects: Effects
    values: Array
    levels: ItemLevels | None
    squares: MeanSquares | None
    n_items: int
    mean: float
    sd_mean: float

    @cached_property
    def marginal(self) -> EffectsDensity:
        """The density, interpolated if many effects are eliminated one by one."""
        exact = self.exact
        if not isinstance(exact, MarginalEffects) or not is_worth_it(exact):
            return exact
        squares = SquaredTotals.of(self._effect_sums, np.ones(len(self._effect_sums.source), bool))
        return InterpolatedEffects.of(exact, squares) or exact

    @cached_property
    def exact(self) -> EffectsDensity:
        """The density by sums over items, or by effect if items differ."""
        if self.levels and are_cheap(self.levels):
            with suppress(RatingsError):  # items share too many effects
                found = ItemEffects.of(self.levels, self.effects, self.mean, self.sd_mean)
                if len(found.source) <= self.n_items:
                    return found
        return MarginalEffects.of(self._effect_sums, self.mean, self.sd_mean)

    @cached_property
    def _effect_sums(self) -> EffectSums:
        return EffectSums.of(self.effects, self.values)

    @cached_property
    def _sums(self) -> SparseEffects:
        """Sums by effect, relative to the prior mean."""
        return SparseEffects.of(self.effects, self.values, float(self.mean))

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings."""
        if self.squares:
            prior = self.mean, self.sd_mean
            return self.squares.draw(self.effects, self.values, variance, *prior, rng)
        return self._sums.draw(variance, self.sd_mean, rng)

    def sums_by_effect(self) -> StanData:
        """Sums by effect, and where the Cholesky factor of their precision has entries."""
        return self._sums.stan_data()


def levels_in_memory(effects: Effects, values: Array) -> ItemLevels | None:
    """Sums over the items of ratings (N,), None if these were rated in too many ways."""
    codes = effects.facets
    if ITEM not in codes:
        return None
    sizes = {name: int(levels.max()) + 1 for name, levels in codes.items()}
    try:
        return ItemLevels(ItemMoments.of(effects.design, codes, sizes, values, near(values)))
    except TooManyPatterns:
        return None


def are_cheap(levels: ItemLevels) -> bool:
    """Whether sums over items give densities sooner than the elimination of their effects."""
    return levels.moments.work <= max(WORK_PER_RATING * levels.of_ratings.n, SMALL_WORK)
