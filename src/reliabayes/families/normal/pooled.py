"""Numbers by raters of several pools, with correlated effects of items: sums, and the family."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal import gaussian
from reliabayes.families.normal.family import Wanted
from reliabayes.families.normal.gaussian import SDS, GaussianPriors
from reliabayes.families.pools import agreement, required_pools
from reliabayes.inference import correlation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData
from reliabayes.inference.warm_start import WarmStart, curvature, repeat_em
from reliabayes.likelihoods.gaussian_conditional import MeanPrior, above_zero
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign, pool_pairs
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe
from reliabayes.sampling.thresholds import POOLED_STEPS

MAX_SIZE = 30_000_000  # numbers in the sums: 240 MB for each chain


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledGaussianProblem(Problem):
    """Gaussian ratings by pools of raters, reduced to sums.

    Attributes
    ----------
    center : array of shape (G,)
        Subtracted from the ratings of each pool before the sums.
    n_residuals : int
        Standard deviations of residuals: 1 if all pools share it, or G.
    sums : PooledSums or PooledCrowdSums
        Sums of the centred ratings, to integrate out the effects of the raters or to sample them.
    design : PooledDesign or None
        Who rated what; None of ratings in parts.
    """

    center: Array
    n_residuals: int
    sums: PooledSums | PooledCrowdSums
    design: PooledDesign | None = None

    @property
    def n_pools(self) -> int:
        """Number G of pools."""
        return self.size("pool")

    @property
    def equal_sd(self) -> float:
        """Standard deviation of each source if all three had a third of the variance."""
        return math.sqrt(self.sums.sum_of_squares / self.sums.ratings.sum() / 3)

    @property
    def pool(self) -> Codes:
        """(R,) pool of each rater."""
        sums = self.sums
        return sums.design.pool if isinstance(sums, PooledCrowdSums) else sums.pool

    @cached_property
    def pooled(self) -> PooledSums:
        """Sums to integrate out the effects of the raters."""
        sums = self.sums
        return PooledSums.of(sums.design) if isinstance(sums, PooledCrowdSums) else sums

    @cached_property
    def flat(self) -> PooledGaussianProblem:
        """The same problem without priors of the means."""
        none = np.tile([0.0, math.inf], (self.n_pools, 1))
        return replace(self, priors={**self.priors, "mean": none})

    def above_zero(self, at: Components) -> Components:
        """Components with the least standard deviations above 0 in place of those that are 0."""
        return at._replace(rater=above_zero(at.rater, self.equal_sd))

    def items(self) -> PooledDesign:
        """Who rated what, to draw the effects of the items."""
        if self.design is None:
            raise ValueError("the effects of items of a dataset are drawn part by part.")
        return self.design

    @property
    def mean_prior(self) -> MeanPrior:
        """Prior of the means relative to the centres."""
        return MeanPrior.of(self.priors["mean"].T, self.center)

    def stan_data(self) -> StanData:
        """Sums, centres and priors."""
        own = StanData({"E": self.n_residuals}, values={"center": self.center})
        return self.prior_data | self.sums.stan_data() | own


def integrates_out(design: PooledDesign) -> bool:
    """Whether integrating out the effects of the raters is cheaper than sampling them.

    The first costs a Cholesky factor and a sum over pairs of pools for each gradient, the second a
    pass over the cells, for more gradients; ``benchmarks/README.md`` has the measurements.
    """
    raters, pairs = len(design.pool), len(pool_pairs(design.patterns[0])[0])
    cells = design.counts.nnz
    if design.size > MAX_SIZE:
        return False
    # With less data the sampled levels mix badly, and a fit takes no time anyway.
    return cells < 1000 or raters**2 * (raters + 4 * pairs) <= 100 * cells


def crowd_start(
    sums: PooledCrowdSums, first: Components, problem: PooledGaussianProblem
) -> WarmStart:
    """Mode by mean-field EM, and standard deviations from counts."""
    found, path = sums.approximate(first, shared=problem.n_residuals == 1)
    at, uncertainty = sums.uncertainty(found.at)
    level = found.mean[sums.design.pool] + found.rater
    mode = by_name(free(at, problem), problem)
    sd = dict(zip(mode, uncertainty, strict=True))
    if problem.n_residuals == 1:
        sd["sd_residual"] = 1 / np.sqrt((uncertainty.residual**-2).sum(keepdims=True))
    return WarmStart(
        mode={**mode, "score": sums.scores(level, at, problem.mean_prior)},
        sd={**sd, "score": np.ones_like(level)},
        constrain=lambda point: constrain(point, problem.n_pools),
        step_size=0.3,
        target_acceptance=0.8,
        path=path,
    )


def free(at: Components, problem: PooledGaussianProblem) -> Array:
    """Components on Stan's unconstrained scale, in its order."""
    item = np.sqrt(np.square(at.root).sum(axis=1))
    factor = correlation.free(at.root / item[:, None])
    return np.concatenate(
        [np.log(item), np.log(at.rater), np.log(at.residual[: problem.n_residuals]), factor]
    )


def by_name(x: Array, problem: PooledGaussianProblem) -> dict[str, Array]:
    """Parameters by name, of the vector that holds them in Stan's order."""
    ends = np.cumsum([problem.n_pools, problem.n_pools, problem.n_residuals])
    return dict(zip((*SDS, "factor_item"), np.split(x, ends), strict=True))


def constrain(point: Mapping[str, Any], pools: int) -> dict[str, Any]:
    """Parameters as the programs declare them, of those on the unconstrained scale."""
    sds = {name: np.exp(point[name]).tolist() for name in SDS}
    factor = correlation.factor(point["factor_item"], pools).tolist()
    return {**point, **sds, "factor_item": factor}


def components(point: Mapping[str, Any]) -> Components:
    """Components of parameters as the program declares them, (...) or (S, ...)."""
    item, rater, residual, factor = (np.asarray(point[name]) for name in (*SDS, "factor_item"))
    return Components(item[..., None] * factor, rater, np.broadcast_to(residual, rater.shape))


Draws = Posterior[PooledGaussianProblem]


@dataclass(frozen=True)
class Pooled:
    """The family of `GaussianXCC`.

    Attributes
    ----------
    priors : GaussianPriors
        Priors as they were set, to draw parameters from.
    lkj : float
        Shape of the LKJ prior of the correlations.
    shares_residual : bool
        Whether all pools have one standard deviation of residuals.
    """

    priors: GaussianPriors
    lkj: float
    shares_residual: bool

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return {
            "sd_item": ("pool",),
            "sd_rater": ("pool",),
            "sd_residual": ("all" if self.shares_residual else "pool",),
            "factor_item": ("pool", "factor"),
            "score": ("rater",),
            "mean": ("pool",),
        }

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """Means and standard deviations, and the correlation of pools."""
        return gaussian.parameters(self.dims, "factor_item")

    # Density, and where chains start.

    def program(self, problem: PooledGaussianProblem) -> str:
        """The program that integrates out the effects of the raters, or the one that samples."""
        samples = isinstance(problem.sums, PooledCrowdSums)
        return "gaussian_xcc_crowd" if samples else "gaussian_xcc"

    def start(self, problem: PooledGaussianProblem) -> WarmStart:
        """Mode of the posterior and its curvature, by EM."""
        sums, prior, pools = problem.sums, problem.mean_prior, problem.n_pools
        equal = np.full(pools, problem.equal_sd)
        halfway = np.full(correlation.n_free(pools), 0.5)
        first = Components(equal[:, None] * correlation.factor(halfway, pools), equal, equal)
        if isinstance(sums, PooledCrowdSums):
            return crowd_start(sums, first, problem)
        best, path = repeat_em(
            lambda at: sums.em_step(at, prior, shared=problem.n_residuals == 1),
            lambda at: sums.log_likelihood(at, prior),
            first,
        )

        def log_posterior(x: Array) -> float:
            here = components(constrain(by_name(x, problem), pools))
            return sums.log_likelihood(here, prior) + _log_prior(x, problem)

        mode, covariance = curvature(log_posterior, free(best, problem))
        sd = np.sqrt(np.diag(covariance))
        step_size, acceptance = POOLED_STEPS.of(sd.max())
        return WarmStart(
            mode=by_name(mode, problem),
            sd=by_name(sd, problem),
            constrain=lambda point: constrain(point, pools),
            step_size=step_size,
            covariance=covariance,
            target_acceptance=acceptance,
            path=path,
        )

    def cold_start(self, problem: PooledGaussianProblem) -> WarmStart:
        """Standard deviations within a factor e of equal variances, correlations of either sign."""
        pools, log_sd = problem.n_pools, math.log(problem.equal_sd)
        sizes = dict(zip(SDS, (pools, pools, problem.n_residuals), strict=True))
        mode = {name: np.full(size, log_sd) for name, size in sizes.items()}
        mode["factor_item"] = np.zeros(correlation.n_free(pools))
        sd = {name: np.full_like(at, 0.5) for name, at in mode.items()}
        if isinstance(problem.sums, PooledCrowdSums):
            mode["score"] = sd["score"] = np.zeros(problem.size("rater"))  # all chains start at 0
        return WarmStart(
            mode=mode,
            sd=sd,
            constrain=lambda point: constrain(point, pools),
            target_acceptance=POOLED_STEPS.unknown,
        )

    def search(self, problem: PooledGaussianProblem, criterion: Criterion) -> Search:
        """Lower root of the covariance of items, sds of raters, and logs of those of residuals."""
        unit, pools, sums = problem.equal_sd, problem.n_pools, problem.pooled
        prior = (problem if criterion == "posterior" else problem.flat).mean_prior
        lower = np.tril_indices(pools)
        ends = np.array([len(lower[0]), len(lower[0]) + pools])

        def at(x: Array) -> Components:
            (of_items, rater, residual), root = np.split(x, ends), np.zeros((pools, pools))
            root[lower] = of_items
            sd = np.broadcast_to(np.exp(residual), pools)
            return problem.above_zero(Components(unit * root, unit * np.abs(rater), unit * sd))

        def log_density(x: Array) -> float:
            here = at(x)
            found = sums.log_likelihood(here, prior)
            if criterion == "posterior":
                return found + _log_prior(free(here, problem), problem)
            if criterion == "restricted":
                return found
            given = sums.given(here, prior)
            return found + given.log_density_of(given.mean[-pools:])

        def point(x: Array) -> dict[str, Any]:
            here = at(x)
            sd, factor = correlation.parts(here.root)
            return {
                "mean": problem.center + sums.given(here, prior).mean[-pools:],
                "sd_item": sd,
                "sd_rater": unit * np.abs(x[ends[0] : ends[1]]),
                "sd_residual": unit * np.exp(x[ends[1] :]),
                "factor_item": factor,
            }

        halfway = correlation.factor(np.full(correlation.n_free(pools), 0.5), pools)[lower]
        start = np.concatenate([halfway, np.ones(pools), np.zeros(problem.n_residuals)])
        may_be_zero = np.concatenate(
            [lower[0] == lower[1], np.ones(pools, bool), np.zeros(problem.n_residuals, bool)]
        )
        return Search(log_density, start, may_be_zero, point)

    def log_likelihood(self, point: Point, problem: PooledGaussianProblem) -> float:
        """Log density of all ratings, with all effects integrated out."""
        at, flat = problem.above_zero(components(point)), problem.flat.mean_prior
        offsets = np.asarray(point["mean"]) - problem.center
        given = problem.pooled.given(at, flat).log_density_of(offsets)
        return problem.pooled.log_likelihood(at, flat) + given

    # Results.

    def quantities(self, posterior: Draws) -> xr.Dataset:
        """Agreement by pair of pools, and ICCs by pool, beside the parameters."""
        draws = posterior.draws
        sds = draws[list(SDS)]
        if "all" in sds.dims:  # one residual of all pools
            sds = sds.squeeze("all", drop=True)
        iccs = gaussian.iccs(sds)
        xccs = agreement(draws["factor_item"], iccs["icc"], posterior.ratings.pools)
        return xr.Dataset({**xccs, **iccs, **sds, "mean": draws["mean"]})

    def effects_of_levels(
        self, posterior: Draws, facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame:
        """Effects of items in each pool, or of raters with their pools, in units of the rating."""
        problem, ratings = posterior.problem, posterior.ratings
        if facet == "item":
            design, drawn = problem.items(), _rater_effects(posterior, rng)
            chunks = design.draw_items(*drawn, 2 * IN_MEMORY, rng)
            return _table_of_items(chunks, posterior.ratings_in_memory, prob)
        effects = _rater_effects(posterior, rng)[1][:, : ratings.n_raters]
        table = pd.DataFrame(describe(effects, prob), index=ratings.raters.rename("rater"))
        table.insert(0, "pool", ratings.pools[problem.pool])
        return table

    def items_by_part(self, posterior: Draws, prob: float | None, rng: Generator) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        drawn, problem = _rater_effects(posterior, rng), posterior.problem
        return partial(_effects_of_part, *drawn, problem.center, problem.pool, prob)

    def new_rater(self, posterior: Draws, rng: Generator) -> dict[str, Array]:
        """Effect of one of each pool, who is drawn from its population."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        drawn = self.levels(posterior, np.random.default_rng(gaussian.SEED))
        at = components(posterior.stacked())
        return gaussian.log_density_by_item(posterior, posterior.problem.pool, drawn, at)

    def replicates(self, posterior: Draws, rng: Generator) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        ratings, pool = posterior.ratings_in_memory, posterior.problem.pool
        at = components(posterior.stacked())
        return gaussian.replicates(ratings, pool, self.levels(posterior, rng), at, rng)

    def levels(self, posterior: Draws, rng: Generator) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        problem, pool = posterior.problem, posterior.problem.pool
        _, drawn = _rater_effects(posterior, rng)
        for effects, means in zip(*np.split(drawn, [len(pool)], axis=1), strict=True):
            yield effects + (problem.center + means)[pool]

    # Simulation.

    def drawn_point(self, wanted: Wanted, rng: Generator) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors."""
        pools = len(gaussian.blank_numbers(wanted.design).pools)
        shapes: dict[str, tuple[int, ...]] = dict.fromkeys(("mean", *SDS), (pools,))
        if self.shares_residual:
            shapes["sd_residual"] = (1,)
        point = self.priors.completed(wanted.given, shapes, rng)
        factor = wanted.given.get("factor_item")
        if factor is None:
            factor = correlation.draw(pools, self.lkj, rng)
        return {**point, "factor_item": np.broadcast_to(factor, (pools, pools))}

    def simulate(self, wanted: Wanted, rng: Generator) -> Ratings:
        """Ratings of a design."""
        blank = gaussian.blank_numbers(wanted.design)
        pool = required_pools("GaussianXCC", blank)
        point = self.drawn_point(wanted, rng)
        return gaussian.simulated(blank, pool, point["mean"], components(point), rng)


def _effects_of_part(
    at: Components,
    effects: Array,
    center: Array,
    pool: Codes,
    prob: float | None,
    part: Ratings,
    rng: Generator,
) -> pd.DataFrame:
    """Table of the effects of the items of a part, given those of all raters.

    ``at`` has (S, ...) draws, ``effects`` is (S, R + G) with the means last, less ``center`` (G,);
    ``pool`` (R,) has the pools of the raters.
    """
    centred = part.values - center[pool][part.rater]
    design = PooledDesign.of(part.item, part.rater, centred, pool)
    return _table_of_items(design.draw_items(at, effects, 2 * IN_MEMORY, rng), part, prob)


def _table_of_items(chunks: Iterable[Array], ratings: Ratings, prob: float | None) -> pd.DataFrame:
    """Table of effects of items in pools, of chunks (S, items, G) of draws."""
    index = pd.MultiIndex.from_product([ratings.items, ratings.pools], names=["item", "pool"])
    flat = (chunk.reshape(len(chunk), -1) for chunk in chunks)
    return gaussian.table_of_chunks(flat, prob).set_axis(index)


def _rater_effects(posterior: Draws, rng: Generator) -> tuple[Components, Array]:
    """(S, ...) components, and draws (S, R + G) of raters' effects and of the means."""
    problem = posterior.problem
    draws, prior, sums = posterior.stacked(), problem.mean_prior, problem.sums
    at = problem.above_zero(components(draws))
    offsets = draws["mean"] - problem.center
    if isinstance(sums, PooledCrowdSums) and "score" in draws:
        levels = sums.levels(draws["score"], at, prior)
        return at, np.hstack([levels - offsets[:, problem.pool], offsets])
    return at, problem.pooled.draw_raters(at, offsets, prior, rng)


def _log_prior(x: Array, problem: PooledGaussianProblem) -> float:
    """Log density of the priors on Stan's unconstrained scale."""
    point = by_name(x, problem)
    sds = (np.exp(point[name]) for name in SDS)
    lkj = float(problem.priors["lkj"])
    free_correlation = correlation.log_lkj(point["factor_item"], problem.n_pools, lkj)
    return gaussian.log_prior_of_sds(sds, problem) + free_correlation
