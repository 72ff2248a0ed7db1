"""Gaussian xCC: agreement between pools of raters of the same items."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.families.normal import checks, gaussian_parts
from reliabayes.families.normal.gaussian import SDS, GaussianPriors
from reliabayes.families.normal.pooled import Pooled, PooledGaussianProblem, integrates_out
from reliabayes.families.pools import XCC, pool_of_raters
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import PooledDesign
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.normal_model import NormalModel
from reliabayes.models.priors import Normal, SdPrior
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings


@dataclass(frozen=True, kw_only=True)
class GaussianXCC(NormalModel[PooledGaussianProblem]):
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
    references: ClassVar[tuple[str, ...]] = ("wong2021",)
    reports: ClassVar[tuple[str, ...]] = (
        *XCC,
        "icc",
        "icc_consistency",
        "labeler_icc",
        *SDS,
        "mean",
    )

    prior_mean: Normal | None = None
    prior_sd_item: SdPrior | None = None
    prior_sd_rater: SdPrior | None = None
    prior_sd_residual: SdPrior | None = None
    residual: Literal["shared", "per_pool"] = "shared"
    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        self._given()  # refuses priors of other kinds
        if self.residual not in ("shared", "per_pool"):
            raise ValueError(f"residual must be 'shared' or 'per_pool', not {self.residual!r}.")
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")

    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter; of the means a tuple, by pool."""
        pool = pool_of_raters(self, ratings)
        if isinstance(ratings, RatingsDataset):
            return self._priors(gaussian_parts.moments_of_parts(ratings, pool))
        return self._priors(checks.moments_by_pool(ratings.values, pool[ratings.rater]))

    def _priors(self, moments: Sequence[Moments]) -> dict[str, Any]:
        first, *others = moments
        of_all = sum((of.about(first.pivot) for of in others), first)
        sd = checks.check_sd(of_all.sd)
        return {
            "mean": tuple(self.prior_mean or Normal(of.mean, 2.5 * sd) for of in moments),
            **self._given().of_sds(sd),
            "lkj": self.prior_lkj,
        }

    def problem(self, ratings: Ratings) -> PooledGaussianProblem:
        """Sums of the ratings, centred by pool, and priors."""
        pool = pool_of_raters(self, ratings)
        moments = checks.moments_by_pool(ratings.values, pool[ratings.rater])
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
        first = gaussian_parts.leading(dataset)
        sums = gaussian_parts.sums_of_parts(dataset, pool_of_raters(self, dataset), first)
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
            checks.check_mean(prior, of.mean, of.sd)
        return {
            "mean": np.array([prior.stan for prior in priors["mean"]], float),
            **{name: priors[name].stan for name in SDS},
            "lkj": np.array(self.prior_lkj),
        }

    def _check_residual(self, ratings: Ratings) -> None:
        """Refuse ratings that effects explain completely, be they one per item or one per pool."""
        pool = pool_of_raters(self, ratings)
        checks.check_residual(ratings.item, ratings.rater, ratings.values)
        shared, pools = self.residual == "shared", range(len(ratings.pools))
        for rows in [slice(None)] if shared else [pool[ratings.rater] == g for g in pools]:
            checks.check_residual(
                ratings.item[rows], ratings.rater[rows], ratings.values[rows], pool
            )

    @property
    def normal_family(self) -> Pooled:
        """Effects of items in each pool, and of raters."""
        return Pooled(self._given(), self.prior_lkj, self.residual == "shared")

    def _given(self) -> GaussianPriors:
        return GaussianPriors(
            self.prior_mean, self.prior_sd_item, self.prior_sd_rater, self.prior_sd_residual
        )

    def caution(self, ratings: Ratings) -> str:
        """That ratings may be grades or categories, if they are few whole numbers."""
        return checks.caution_of_numbers(ratings)
