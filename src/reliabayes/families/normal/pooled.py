"""Effects of items in several pools, correlated between them, and of raters, on numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal.gaussian import (
    SDS,
    SEED,
    GaussianPriors,
    blank_numbers,
    gaussian_parameters,
    log_density_by_item,
    log_prior_of_sds,
    replicates,
    simulated,
)
from reliabayes.families.normal.pooled_problem import (
    CHUNK,
    PooledGaussianProblem,
    by_name,
    components,
    constrain,
    crowd_start,
    free,
    pooled_effects_of_part,
    table_of_effects,
)
from reliabayes.families.pools import agreement, required_pools
from reliabayes.inference import correlation
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart, curvature, repeat_em
from reliabayes.likelihoods.gaussian_pools_design import Components
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

SMALL_DESIGN_ACCEPTANCE = 0.98  # target that avoids divergences of the smallest designs

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
        return gaussian_parameters(self.dims, "factor_item")

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
        widest = sd.max()
        # As in GaussianICC: with little data the curvature is a poor guide; with next to none, the
        # posterior has long tails towards standard deviations of 0.
        if widest < 0.3:
            step_size, acceptance = 0.9, 0.7
        else:
            step_size, acceptance = None, 0.9 if widest < 0.6 else SMALL_DESIGN_ACCEPTANCE
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
            target_acceptance=SMALL_DESIGN_ACCEPTANCE,
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
        item, rater, residual = (sds[name] for name in SDS)
        icc = quantities.icc(item, rater, residual)
        return xr.Dataset(
            {
                **agreement(draws["factor_item"], icc, posterior.ratings.pools),
                "icc": icc,
                "icc_consistency": quantities.icc_consistency(item, residual),
                "labeler_icc": quantities.labeler_icc(item, rater, residual),
                **sds,
                "mean": draws["mean"],
            }
        )

    def items(self, posterior: Draws, prob: float | None, rng: np.random.Generator) -> pd.DataFrame:
        """Effects of the items in each pool, in units of the rating: mean, sd, median, interval."""
        ratings, design = posterior.ratings_in_memory, posterior.problem.items()
        chunks = design.draw_items(*_rater_effects(posterior, rng), CHUNK, rng)
        return table_of_effects(chunks, ratings, prob)

    def items_by_part(
        self, posterior: Draws, prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        drawn, problem = _rater_effects(posterior, rng), posterior.problem
        return partial(pooled_effects_of_part, *drawn, problem.center, problem.pool, prob)

    def raters(
        self, posterior: Draws, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Pool and effect of the raters, in units of the rating: mean, sd, median and interval."""
        ratings = posterior.ratings
        _, effects = _rater_effects(posterior, rng)
        table = pd.DataFrame(
            describe(effects[:, : ratings.n_raters], prob), index=ratings.raters.rename("rater")
        )
        table.insert(0, "pool", ratings.pools[posterior.problem.pool])
        return table

    def new_rater(self, posterior: Draws, rng: np.random.Generator) -> dict[str, Array]:
        """Effect of one of each pool, who is drawn from its population."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        drawn = self.levels(posterior, np.random.default_rng(SEED))
        at = components(posterior.stacked())
        return log_density_by_item(posterior, posterior.problem.pool, drawn, at)

    def replicates(self, posterior: Draws, rng: np.random.Generator) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        ratings, pool = posterior.ratings_in_memory, posterior.problem.pool
        at = components(posterior.stacked())
        return replicates(ratings, pool, self.levels(posterior, rng), at, rng)

    def levels(self, posterior: Draws, rng: np.random.Generator) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        problem, pool = posterior.problem, posterior.problem.pool
        _, drawn = _rater_effects(posterior, rng)
        for effects, means in zip(*np.split(drawn, [len(pool)], axis=1), strict=True):
            yield effects + (problem.center + means)[pool]

    # Simulation.

    def drawn_point(
        self,
        design: pd.DataFrame | Ratings,
        given: Point,
        categories: Iterable[Any],
        rng: np.random.Generator,
    ) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors."""
        blank = design if isinstance(design, Ratings) else blank_numbers(design)
        pools = len(blank.pools)
        shapes = {
            **dict.fromkeys(("mean", *SDS), (pools,)),
            **({"sd_residual": (1,)} if self.shares_residual else {}),
            "factor_item": (pools, pools),
        }

        def drawn(name: str, shape: tuple[int, ...]) -> Array:
            if name == "factor_item":
                return correlation.draw(pools, self.lkj, rng)
            return self.priors.draw(name, shape, rng)

        return {
            name: np.broadcast_to(given[name], shape) if name in given else drawn(name, shape)
            for name, shape in shapes.items()
        }

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        given: Point,
        categories: Iterable[Any],
        rng: np.random.Generator,
    ) -> Ratings:
        """Ratings of a design."""
        blank = blank_numbers(design)
        pool = required_pools("GaussianXCC", blank)
        point = self.drawn_point(blank, given, categories, rng)
        return simulated(blank, pool, point["mean"], components(point), rng)


def _rater_effects(posterior: Draws, rng: np.random.Generator) -> tuple[Components, Array]:
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
    return log_prior_of_sds(sds, problem) + free_correlation
