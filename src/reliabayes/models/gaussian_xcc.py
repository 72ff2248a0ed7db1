"""Gaussian xCC: agreement between pools of raters of the same items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.inference import correlation
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart, curvature, repeat_em
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.bases.gaussian import (
    SDS,
    GaussianModel,
    Point,
    check_mean,
    check_residual,
    check_sd,
    log_prior_of_sds,
    moments_by_pool,
)
from reliabayes.models.bases.gaussian_parts import leading, moments_of_parts, sums_of_parts
from reliabayes.models.bases.gaussian_pools import (
    CHUNK,
    PooledGaussianProblem,
    by_name,
    components,
    constrain,
    crowd_start,
    free,
    integrates_out,
    pooled_effects_of_part,
    table_of_effects,
)
from reliabayes.models.bases.likelihood_model import Criterion, Search
from reliabayes.models.bases.pools import XCC, agreement, pool_of_raters
from reliabayes.models.priors import Normal
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

SMALL_DESIGN_ACCEPTANCE = 0.98  # target that avoids divergences of the smallest designs


@dataclass(frozen=True, kw_only=True)
class GaussianXCC(GaussianModel[PooledGaussianProblem]):
    r"""Agreement between pools of raters on a continuous scale, for any incomplete design.

    .. math:: y_{ij} = \mu_{g(j)} + u_{i,g(j)} + v_j + \epsilon_{ij}

    with normal effects of an item in each pool (sd_item), correlated between pools, and normal
    effects of raters (sd_rater by pool) and residuals (sd_residual). Effects and means are
    integrated out exactly, so that time hardly grows with the ratings; of crowds, the levels of
    raters are sampled, and time grows with the ratings.

    Pools may have rated different items: only those that both have rated inform their correlation.
    Without any, its posterior is its prior.

    Quantities: of each pair of pools ``normalized_xcc``, the correlation of an item's effects, and
    ``unnormalized_xcc``, that of single ratings, in [-1, 1]; of each pool ``icc``,
    ``icc_consistency`` (the same raters, whose severity does not count) and ``labeler_icc`` in
    [0, 1], and ``sd_item``, ``sd_rater``, ``sd_residual`` and ``mean`` in units of the rating. A
    pair is named as in ``normalized_xcc[crowd, expert]``.

    Parameters
    ----------
    residual : {"shared", "per_pool"}
        Whether all pools have one standard deviation of residuals, as in the published model, or
        each its own. Then ICCs differ more between pools.
    prior_mean : Normal, optional
        Prior of the mean of each pool. By default its mean is that of the pool's ratings, and its
        sd 2.5 times that of all ratings.
    prior_sd_item, prior_sd_rater, prior_sd_residual : HalfNormal or HalfStudentT, optional
        Priors of the standard deviations in each pool. The defaults are half t, with 3 degrees of
        freedom and the sd of all ratings as scale for items and residual; with 1 degree of freedom
        and a quarter of that scale for raters.
    prior_lkj : float, default 1.0
        Shape of the LKJ prior of the correlations: 1 is uniform, larger values favour 0.

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548
    Lewandowski, Kurowicka & Joe (2009). https://doi.org/10.1016/j.jmva.2009.04.008
    """

    summary: ClassVar[str] = "agreement between pools of raters on a continuous scale"
    takes_parts: ClassVar[bool] = True
    reports: ClassVar[tuple[str, ...]] = (
        *XCC,
        "icc",
        "icc_consistency",
        "labeler_icc",
        *SDS,
        "mean",
    )

    residual: Literal["shared", "per_pool"] = "shared"
    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.residual not in ("shared", "per_pool"):
            raise ValueError(f"residual must be 'shared' or 'per_pool', not {self.residual!r}.")
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter; of the means a tuple, by pool."""
        pool = pool_of_raters(self, ratings)
        if isinstance(ratings, RatingsDataset):
            return self._priors(moments_of_parts(ratings, pool))
        return self._priors(moments_by_pool(ratings.values, pool[ratings.rater]))

    def _priors(self, moments: Sequence[Moments]) -> dict[str, Any]:
        first, *others = moments
        of_all = sum((of.about(first.pivot) for of in others), first)
        sd = check_sd(of_all.sd)
        return {
            "mean": tuple(self.prior_mean or Normal(of.mean, 2.5 * sd) for of in moments),
            **self.sd_priors(sd),
            "lkj": self.prior_lkj,
        }

    def problem(self, ratings: Ratings) -> PooledGaussianProblem:
        """Sums of the ratings, centred by pool, and priors."""
        pool = pool_of_raters(self, ratings)
        moments = moments_by_pool(ratings.values, pool[ratings.rater])
        center = np.array([of.centre for of in moments])
        centred = center[pool][ratings.rater]
        np.subtract(ratings.values, centred, out=centred)
        design = PooledDesign.of(ratings.item, ratings.rater, centred, pool)
        self._check_residual(ratings)
        return PooledGaussianProblem(
            coords={
                "item": ratings.items,
                "rater": ratings.raters,
                "pool": ratings.pools,
                "all": pd.RangeIndex(1),
            },
            priors=self._checked_priors(moments),
            center=center,
            n_residuals=1 if self.residual == "shared" else len(moments),
            sums=PooledSums.of(design) if integrates_out(design) else PooledCrowdSums.of(design),
            design=design,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> PooledGaussianProblem:
        """The same sums, added up over the parts; effects of the raters are integrated out."""
        first = leading(dataset)
        sums = sums_of_parts(dataset, pool_of_raters(self, dataset), first)
        self._check_residual(first)
        center = np.array([of.centre for of in sums.moments])
        return PooledGaussianProblem(
            coords={"rater": dataset.raters, "pool": dataset.pools, "all": pd.RangeIndex(1)},
            priors=self._checked_priors(sums.moments),
            center=center,
            n_residuals=1 if self.residual == "shared" else len(center),
            sums=sums.pooled(center),
        )

    def _checked_priors(self, moments: Sequence[Moments]) -> dict[str, Array]:
        priors = self._priors(moments)
        for prior, of in zip(priors["mean"], moments, strict=True):
            check_mean(prior, of.mean, of.sd)
        return {
            "mean": np.array([prior.stan for prior in priors["mean"]], float),
            **{name: priors[name].stan for name in SDS},
            "lkj": np.array(self.prior_lkj),
        }

    def _check_residual(self, ratings: Ratings) -> None:
        """Refuse ratings that effects explain completely, be they one per item or one per pool."""
        pool = pool_of_raters(self, ratings)
        check_residual(ratings.item, ratings.rater, ratings.values)
        shared, pools = self.residual == "shared", range(len(ratings.pools))
        for rows in [slice(None)] if shared else [pool[ratings.rater] == g for g in pools]:
            check_residual(ratings.item[rows], ratings.rater[rows], ratings.values[rows], pool)

    def program(self, problem: PooledGaussianProblem) -> str:
        """The program that integrates out the effects of the raters, or the one that samples."""
        samples = isinstance(problem.sums, PooledCrowdSums)
        return "gaussian_xcc_crowd" if samples else "gaussian_xcc"

    def starts(self, problem: PooledGaussianProblem) -> tuple[WarmStart, ...]:
        """The start at the one mode."""
        return (self.start(problem),)

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
            return sums.log_likelihood(here, prior) + self._log_prior(x, problem)

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

    def cold_start(self, problem: PooledGaussianProblem, centring: StanPart | None) -> WarmStart:
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
                return found + self._log_prior(free(here, problem), problem)
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

    def _log_prior(self, x: Array, problem: PooledGaussianProblem) -> float:
        """Log density of the priors on Stan's unconstrained scale."""
        point = by_name(x, problem)
        sds = (np.exp(point[name]) for name in SDS)
        lkj = correlation.log_lkj(point["factor_item"], problem.n_pools, self.prior_lkj)
        return log_prior_of_sds(sds, problem) + lkj

    def log_likelihood(self, point: Point, problem: PooledGaussianProblem) -> float:
        """Log density of all ratings, with all effects integrated out."""
        means, at = self.by_pool(point)
        at, flat = problem.above_zero(at), problem.flat.mean_prior
        given = problem.pooled.given(at, flat).log_density_of(means - problem.center)
        return problem.pooled.log_likelihood(at, flat) + given

    def quantities(self, posterior: Posterior[PooledGaussianProblem]) -> xr.Dataset:
        """Agreement by pair of pools, and ICCs by pool, beside the parameters."""
        draws = posterior.draws
        sds = _squeezed(draws[list(SDS)])
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

    def items(
        self,
        posterior: Posterior[PooledGaussianProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Effects of the items in each pool, in units of the rating: mean, sd, median, interval."""
        ratings, design = posterior.ratings_in_memory, posterior.problem.items()
        chunks = design.draw_items(*self._rater_effects(posterior, rng), CHUNK, rng)
        return table_of_effects(chunks, ratings, prob)

    def items_by_part(
        self,
        posterior: Posterior[PooledGaussianProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        drawn, problem = self._rater_effects(posterior, rng), posterior.problem
        return partial(pooled_effects_of_part, *drawn, problem.center, problem.pool, prob)

    def raters(
        self,
        posterior: Posterior[PooledGaussianProblem],
        prob: float | None,
        rng: np.random.Generator,
    ) -> pd.DataFrame:
        """Pool and effect of the raters, in units of the rating: mean, sd, median and interval."""
        ratings = posterior.ratings
        _, effects = self._rater_effects(posterior, rng)
        table = pd.DataFrame(
            describe(effects[:, : ratings.n_raters], prob), index=ratings.raters.rename("rater")
        )
        table.insert(0, "pool", ratings.pools[self.pool_of_raters(ratings)])
        return table

    def levels(
        self, posterior: Posterior[PooledGaussianProblem], rng: np.random.Generator
    ) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        problem, pool = posterior.problem, posterior.problem.pool
        _, drawn = self._rater_effects(posterior, rng)
        for effects, means in zip(*np.split(drawn, [len(pool)], axis=1), strict=True):
            yield effects + (problem.center + means)[pool]

    def _rater_effects(
        self, posterior: Posterior[PooledGaussianProblem], rng: np.random.Generator
    ) -> tuple[Components, Array]:
        """(S, ...) components, and draws (S, R + G) of raters' effects and of the means."""
        problem = posterior.problem
        draws, prior, sums = posterior.stacked(), problem.mean_prior, problem.sums
        means, at = self.by_pool(draws)
        at = problem.above_zero(at)
        offsets = means - problem.center
        if isinstance(sums, PooledCrowdSums) and "score" in draws:
            levels = sums.levels(draws["score"], at, prior)
            return at, np.hstack([levels - offsets[:, problem.pool], offsets])
        return at, problem.pooled.draw_raters(at, offsets, prior, rng)

    def pool_of_raters(self, ratings: AnyRatings) -> Codes:
        """Position (R,) of each rater's pool."""
        return pool_of_raters(self, ratings)

    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """Means and standard deviations are by pool, but for a residual that all share."""
        by_pool = dict.fromkeys(("mean", *SDS), (pools,))
        shared = {"sd_residual": (1,)} if self.residual == "shared" else {}
        return {**by_pool, **shared, "factor_item": (pools, pools)}

    def by_pool(self, point: Point) -> tuple[Array, Components]:
        """Means (..., G), and variance components, of parameters (..., G)."""
        return np.asarray(point["mean"]), components(point)

    def draw_parameter(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """A parameter drawn from its prior."""
        if name == "factor_item":
            return correlation.draw(shape[0], self.prior_lkj, rng)
        return super().draw_parameter(name, shape, rng)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {
            "sd_item": ("pool",),
            "sd_rater": ("pool",),
            "sd_residual": ("all" if self.residual == "shared" else "pool",),
            "factor_item": ("pool", "factor"),
            "score": ("rater",),
            "mean": ("pool",),
        }


def _squeezed(sds: xr.Dataset) -> xr.Dataset:
    """Standard deviations; that of residuals that all pools share is one number."""
    return sds.squeeze("all", drop=True) if "all" in sds.dims else sds
