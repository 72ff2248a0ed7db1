"""Normal effects of all facets of a design, on numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from reliabayes.arrays import Array, Codes
from reliabayes.facets import EffectLevels, Effects, Source
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal import checks, levels
from reliabayes.families.normal.effects_in_parts import (
    check_residual_of_parts,
    effects_in_parts,
    levels_of_parts,
)
from reliabayes.families.normal.effects_problem import (
    EffectsInMemory,
    EffectsProblem,
    levels_in_memory,
)
from reliabayes.families.normal.family import Wanted
from reliabayes.families.normal.levels import DrawnEffects
from reliabayes.families.normal.study import Study, source_index
from reliabayes.inference.densities import half_t
from reliabayes.inference.em import Point
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart, curvature
from reliabayes.likelihoods.gaussian_conditional import Marginal, above_zero
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.item_counts import CountedLevels
from reliabayes.likelihoods.mean_squares import MeanSquares
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.priors import HalfStudentT, Normal, SdPrior
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import STUDY, STUDY_STEPS

SEED = 2001  # of drawn effects: the same draws always give the same likelihoods

Draws = Posterior[EffectsProblem]


@dataclass(frozen=True)
class Facets:
    """The family of `GStudy` for numbers.

    Attributes
    ----------
    study : Study
        Design and priors.
    """

    reports: ClassVar[tuple[str, ...]] = (*levels.RELIABILITY, *levels.OF_SOURCES, "mean")
    dims: ClassVar[Mapping[str, tuple[str, ...]]] = {"sd": ("source",)}
    declared: ClassVar[tuple[Parameter, ...]] = (
        Parameter("mean", "real"),
        Parameter("sd", "positive", ("source",)),
    )

    study: Study

    # From ratings to draws.

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings: of the mean, and of the sd of each source."""
        if isinstance(ratings, RatingsDataset):
            found = levels_of_parts(ratings, self.study.design)
            return self._priors(found.of_ratings, found.effects(self.study.drop))
        return self._priors(checks.moments_of(ratings.values), self.study.effects(ratings))

    def _priors(self, moments: Moments, effects: EffectLevels) -> dict[str, Any]:
        sd = checks.check_sd(moments.sd)
        of_sds = {source.name: self._prior_of_sd(source, sd) for source in effects.sources}
        return {"mean": self.study.prior_mean or Normal(moments.mean, 2.5 * sd), "sd": of_sds}

    def _prior_of_sd(self, source: Source, sd: float) -> SdPrior:
        given, design = self.study.prior_of(source), self.study.design
        if given is not None:
            return given
        if source.facets & design.measured:
            return HalfStudentT(3, sd)
        of_raters = design.primary(source.facets) == {"rater"}
        return HalfStudentT(1 if of_raters else 3, 0.25 * sd)

    def _checked_priors(self, moments: Moments, effects: EffectLevels) -> dict[str, Array]:
        priors = self._priors(moments, effects)
        checks.check_mean(priors["mean"], moments.mean, moments.sd)
        sds = [prior.stan for prior in priors["sd"].values()]
        return {"mean": np.array(priors["mean"].stan), "sd": np.array(sds)}

    def problem(self, ratings: Ratings) -> EffectsProblem:
        """Effects, ratings, priors, and mean squares if the design has them."""
        effects, values = self.study.effects(ratings), ratings.values
        moments = checks.moments_of(values)
        priors = self._checked_priors(moments, effects)
        sums = levels_in_memory(effects, values)
        squares = sums.mean_squares(effects) if sums else MeanSquares.of(effects, values)
        checks.check_residual_of_design(effects.sources[:-1], effects.level, values, squares)
        coords = {"item": ratings.items, "rater": ratings.raters, "source": source_index(effects)}
        n_items = ratings.n_items
        return EffectsProblem(
            coords=coords,
            priors=priors,
            effects=effects,
            squares=squares,
            n_ratings=moments.n,
            sd=moments.sd,
            given_mean=partial(EffectsInMemory, effects, values, sums, squares, n_items),
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> EffectsProblem:
        """Sums over the items of all parts, priors, and mean squares if the design has them."""
        found = levels_of_parts(dataset, self.study.design)
        if isinstance(found, CountedLevels) and len(dataset) <= STUDY.read:
            return self.problem(dataset.to_ratings())
        effects, moments = found.effects(self.study.drop), found.of_ratings
        priors = self._checked_priors(moments, effects)
        squares = found.mean_squares(effects)
        check_residual_of_parts(dataset, effects, squares)
        return EffectsProblem(
            coords={"rater": dataset.raters, "source": source_index(effects)},
            priors=priors,
            effects=effects,
            squares=squares,
            n_ratings=moments.n,
            sd=moments.sd,
            given_mean=effects_in_parts(dataset, found, effects),
        )

    def program(self, problem: EffectsProblem) -> str:
        """The program for complete, balanced designs, or that for all."""
        return "gstudy" if problem.squares else "gstudy_unbalanced"

    def start(self, problem: EffectsProblem) -> WarmStart:
        """Mode of the posterior of the log standard deviations, and its curvature."""

        def log_posterior(log_sd: Array) -> float:
            return problem.log_density(np.exp(2 * log_sd)) + float(problem.log_prior(log_sd))

        first = _equal_parts(problem)
        if not problem.squares and isinstance(problem.marginal, InterpolatedEffects):
            first = 0.5 * np.log(problem.marginal.box.variance)
        mode, covariance = curvature(log_posterior, first)
        sd = np.sqrt(np.diag(covariance))
        step_size, acceptance = STUDY_STEPS.of(sd.max())
        return WarmStart(
            mode={"sd": mode},
            sd={"sd": sd},
            constrain=_constrain,
            step_size=step_size,
            covariance=covariance,
            target_acceptance=acceptance,
            path=(log_posterior(first), log_posterior(mode)),
        )

    def cold_start(self, problem: EffectsProblem) -> WarmStart:
        """Standard deviations within a factor e of equal parts of the variance."""
        parts = _equal_parts(problem)
        return WarmStart(
            mode={"sd": parts},
            sd={"sd": np.full_like(parts, 0.5)},
            constrain=_constrain,
            target_acceptance=STUDY_STEPS.unknown,
        )

    def search(self, problem: EffectsProblem, criterion: Criterion) -> Search:
        """Standard deviations relative to that of the ratings, the log of the residual's last."""
        within = problem if criterion == "posterior" else problem.flat

        def sds(x: Array) -> Array:
            return problem.sd * np.append(np.abs(x[:-1]), math.exp(x[-1]))

        def marginal(x: Array) -> Marginal:
            return within.density(above_zero(sds(x), problem.sd) ** 2)

        def log_density(x: Array) -> float:
            found = marginal(x)
            if criterion == "posterior":
                log_sd = np.log(above_zero(sds(x), problem.sd))
                return float(found.log_density + problem.log_prior(log_sd))
            return found.criterion(restricted=criterion == "restricted")

        start = np.exp(_equal_parts(problem)) / problem.sd
        start[-1] = math.log(start[-1])
        may_be_zero = np.arange(len(start)) < len(start) - 1
        return Search(
            log_density, start, may_be_zero, lambda x: {"mean": marginal(x).mean, "sd": sds(x)}
        )

    def log_likelihood(self, point: Point, problem: EffectsProblem) -> float:
        """Log density of all ratings, with all effects integrated out."""
        found = problem.flat.density(above_zero(point["sd"], problem.sd) ** 2)
        return found.at_mean(point["mean"])

    # Results.

    def quantities(self, posterior: Draws) -> xr.Dataset:
        """Reliability and errors of single ratings, and variance by source."""
        found = levels.reliability(posterior, self.study.fixed) | {"mean": posterior.draws["mean"]}
        every = xr.Dataset({name: found[name] for name in self.reports if name in found})
        return every.assign_coords(posterior.draws.coords)

    def effects_of_levels(
        self, posterior: Draws, facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame:
        """Effects of the levels of a facet, in units of the rating."""
        drawn = _drawn(posterior.thinned(levels.EFFECTS_DRAWN), rng)
        return levels.effects_of_levels(posterior, facet, drawn, prob)

    def items_by_part(self, posterior: Draws, prob: float | None, rng: Generator) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those that items share."""
        drawn = _drawn(posterior.thinned(levels.EFFECTS_DRAWN), rng)
        return levels.items_of_part(posterior.problem.effects, drawn, prob)

    def new_rater(self, posterior: Draws, rng: Generator) -> dict[str, Array] | None:
        """Effect of one drawn from their population; None if raters are fixed."""
        return levels.effect_of_new_rater(posterior, self.study.fixed, rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given the effects of others."""
        ratings, (effects, blocks) = posterior.ratings_in_memory, _by_item(posterior)
        found = [
            blocks.log_density(
                ratings.values - levels.sum_of_others(effects, blocks.own, x), variance
            )
            for variance, x in _drawn(posterior, np.random.default_rng(SEED))
        ]
        return np.array(found), np.arange(ratings.n_items, dtype=np.int32)

    def replicates(self, posterior: Draws, rng: Generator) -> Iterator[Array]:
        """Ratings (N,) of new items under the same other levels at each draw."""
        effects, blocks = _by_item(posterior)
        for variance, x in _drawn(posterior, rng):
            fresh = _fresh(effects, blocks.own, variance, rng)
            yield levels.sum_of_others(effects, blocks.own, x) + fresh

    # Simulation.

    def drawn_point(self, wanted: Wanted, rng: Generator) -> dict[str, Array]:
        """Mean and standard deviations: those given, and others drawn from their priors."""
        return self._point(self.study.effects(self.study.blank(wanted.design)), wanted.given, rng)

    def simulate(self, wanted: Wanted, rng: Generator) -> Ratings:
        """Ratings of a design."""
        blank = self.study.blank(wanted.design)
        effects = self.study.effects(blank)
        point = self._point(effects, wanted.given, rng)
        every = range(len(effects.level))
        return replace(blank, rating=point["mean"] + _fresh(effects, every, point["sd"] ** 2, rng))

    def _point(self, effects: Effects, given: Point, rng: Generator) -> dict[str, Array]:
        point = dict(given)
        if "sd" not in point:
            draws = []
            for source in effects.sources:
                prior = self.study.prior_of(source)
                if prior is None:
                    raise _unset("sd", f"prior_sd[{source.name!r}]")
                draws.append(half_t(prior.stan, rng))
            point["sd"] = np.array(draws)
        if "mean" not in point:
            if self.study.prior_mean is None:
                raise _unset("mean", "prior_mean")
            mean, sd = self.study.prior_mean.stan
            point["mean"] = np.asarray(mean + sd * rng.standard_normal())
        return {"mean": point["mean"], "sd": np.broadcast_to(point["sd"], len(effects.sources))}


def near_normal(problem: EffectsProblem, mode: WarmStart) -> NearNormal | None:
    """What independence sampling of the log standard deviations needs, unless cells are full."""
    if problem.squares or mode.covariance is None:
        return None

    def evaluate(log_sd: Array) -> tuple[Array, Array]:
        found = problem.marginal.at_many(np.exp(2 * log_sd))
        log_density = found.log_density + problem.log_prior(log_sd)
        return log_density, np.stack(found[1:], axis=1)

    def finish(log_sd: Array, mean: Array, rng: Generator) -> dict[str, Array]:
        drawn = mean[..., 0] + mean[..., 1] * rng.standard_normal(mean.shape[:2])
        return {"sd": np.exp(log_sd), "mean": drawn}

    few = mode.step_size is None and problem.n_ratings < STUDY.few_ratings
    is_quick = problem.marginal.is_quick
    return NearNormal(
        evaluate,
        finish,
        mode.mode["sd"],
        mode.covariance,
        prefers_nuts=few and problem.is_in_memory,
        is_only=not problem.is_in_memory,
        thinning=STUDY.proposals if is_quick else 1,
        block=STUDY.at_once if is_quick else 1,
    )


def _unset(name: str, prior: str) -> ValueError:
    return ValueError(
        f"{prior} must be set for {name} to be drawn. Set it, or pass parameters={{{name!r}: ...}}."
    )


def _equal_parts(problem: EffectsProblem) -> Array:
    """Log sds (K,) at which all sources have the same part of the variance."""
    size = problem.size("source")
    return np.full(size, math.log(problem.sd / math.sqrt(size)))


def _drawn(posterior: Draws, rng: Generator) -> DrawnEffects:
    """Variances (K,), and effects by source and mean given them and the ratings, by draw."""
    problem, draws = posterior.problem, posterior.stacked()
    if isinstance(rng, NoNoise):  # the mean is known, too
        problem = problem.with_mean(float(draws["mean"][0]))
    for sd in draws["sd"]:
        variance = above_zero(sd, problem.sd) ** 2
        yield variance, problem.draw(variance, rng)


def _by_item(posterior: Draws) -> tuple[Effects, ItemBlocks]:
    """Levels of the effects of ratings, which must be in memory, and ratings by item."""
    item = posterior.ratings_in_memory.item
    effects = posterior.problem.levels_of_ratings
    return effects, ItemBlocks.of(effects, item)


def _fresh(effects: Effects, sources: Iterable[int], variance: Array, rng: Generator) -> Array:
    """New effects of these sources, and residuals, added up by rating (N,)."""
    sd = np.sqrt(variance)
    residual = sd[-1] * rng.standard_normal(effects.n_ratings)
    return np.asarray(residual + levels.fresh_effects(effects, sources, sd, rng))


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value).tolist() for name, value in point.items()}
