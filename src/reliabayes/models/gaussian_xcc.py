"""Gaussian xCC: agreement between pools of raters of the same items."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.inference import correlation
from reliabayes.inference.warm_start import WarmStart, climb, curvature
from reliabayes.likelihoods.gaussian_one_pool import MeanPrior
from reliabayes.likelihoods.gaussian_pools import PooledDesign, PooledSums, Spreads
from reliabayes.models.bases.densities import log_half_t
from reliabayes.models.bases.gaussian import (
    SDS,
    GaussianModel,
    Point,
    check_mean,
    check_residual,
    spread,
)
from reliabayes.models.bases.points import stacked
from reliabayes.models.bases.xcc import XCC, agreement, pool_of_raters
from reliabayes.models.priors import HalfNormal, Normal
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.summaries import describe

CAUTIOUS = 0.98  # acceptance that brings divergences of the smallest designs down to 0
CHUNK = 4_000_000  # numbers at once while effects are drawn: 32 MB
LARGEST = 30_000_000  # numbers in the sums: 240 MB for each chain


@dataclass(frozen=True, kw_only=True)
class GaussianXCC(GaussianModel):
    r"""Agreement between pools of raters on a continuous scale, for any incomplete design.

    .. math:: y_{ij} = \mu_{g(j)} + u_{i,g(j)} + v_j + \epsilon_{ij}

    with normal effects of an item in each pool (sd_item), correlated between pools, and normal
    effects of raters (sd_rater by pool) and residuals (sd_residual). Effects and means are summed
    out exactly, so that time hardly grows with the ratings. It grows with the number of raters
    cubed, from seconds for 100 to minutes for 500, and with that of patterns, the different numbers
    of ratings that items have from each pool.

    Pools may have rated different items: only those that both have rated tell of their correlation.
    Where there are none, its posterior is its prior.

    Quantities: of each pair of pools ``normalized_xcc``, the correlation of an item's effects, and
    ``unnormalized_xcc``, that of single ratings, in [-1, 1]; of each pool ``icc`` and
    ``labeler_icc`` in [0, 1], and ``sd_item``, ``sd_rater``, ``sd_residual`` and ``mean`` in units
    of the rating. A pair is named as in ``normalized_xcc[crowd, expert]``.

    Parameters
    ----------
    residual : {"shared", "per_pool"}
        Whether all pools have one standard deviation of residuals, as in the published model, or
        each its own. Then ICCs differ more between pools.
    prior_mean : Normal
        Of each pool. Default: mean of its ratings, and 2.5 times the sd of all.
    prior_sd_item, prior_sd_rater, prior_sd_residual : HalfNormal or HalfStudentT
        Of each pool. Default: half normal with the sd of all ratings as scale.
    prior_lkj : float
        Shape of the LKJ prior of the correlations; 1 is uniform, more leans towards 0.

    References
    ----------
    Wong, Paritosh & Aroyo (2021). https://doi.org/10.18653/v1/2021.acl-long.548
    Lewandowski, Kurowicka & Joe (2009). https://doi.org/10.1016/j.jmva.2009.04.008
    """

    summary: ClassVar[str] = "agreement between pools of raters on a continuous scale"
    reports: ClassVar[tuple[str, ...]] = (*XCC, "icc", "labeler_icc", *SDS, "mean")

    residual: Literal["shared", "per_pool"] = "shared"
    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.residual not in ("shared", "per_pool"):
            raise ValueError(f"residual must be 'shared' or 'per_pool', not {self.residual!r}.")
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter; of the means a tuple, by pool."""
        return self._priors(ratings, _means(ratings, pool_of_raters(self, ratings)))

    def _priors(self, ratings: Ratings, means: Array) -> dict[str, Any]:
        sd = spread(ratings)
        return {
            "mean": tuple(self.prior_mean or Normal(mean, 2.5 * sd) for mean in means.tolist()),
            "sd_item": self.prior_sd_item or HalfNormal(sd),
            "sd_rater": self.prior_sd_rater or HalfNormal(sd),
            "sd_residual": self.prior_sd_residual or HalfNormal(sd),
        }

    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Sums of the ratings, centred by pool, as the Stan program describes them."""
        center, design = _design(self, ratings)
        _check_size(design)
        self._check_residual(ratings)
        priors, sums = self._priors(ratings, center), PooledSums.of(design)
        sd = np.sqrt(design.square / sums.ratings)
        for of_pool in zip(priors["mean"], center, sd, strict=True):
            check_mean(*of_pool)
        return {
            **sums.to_stan(),
            "E": 1 if self.residual == "shared" else len(center),
            "center": center,
            "prior_mean": _mean_and_sd(priors),
            **{f"prior_{name}": priors[name].stan for name in SDS},
            "prior_lkj": self.prior_lkj,
        }

    def _check_residual(self, ratings: Ratings) -> None:
        """Refuse ratings that effects explain wholly, be they one for each item or one by pool."""
        pool = pool_of_raters(self, ratings)
        check_residual(ratings.item, ratings.rater, ratings.values)
        shared, pools = self.residual == "shared", range(len(ratings.pools))
        for rows in [slice(None)] if shared else [pool[ratings.rater] == g for g in pools]:
            check_residual(ratings.item[rows], ratings.rater[rows], ratings.values[rows], pool)

    def warm_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Mode of the posterior and its curvature, from where EM leads."""
        sums = PooledSums.from_stan(data)
        prior = MeanPrior.of(data["prior_mean"].T, data["center"])
        share, pools = np.full(data["G"], _share(data)), data["G"]
        halfway = np.full(correlation.n_free(pools), 0.5)
        best, path = climb(
            lambda at: sums.em_step(at, prior, shared=data["E"] == 1),
            lambda at: sums.log_likelihood(at, prior),
            Spreads(share[:, None] * correlation.factor(halfway, pools), share, share),
        )

        def log_posterior(x: Array) -> float:
            point = _by_name(x, data)
            log_sd = np.concatenate([point[name] for name in SDS])
            priors = (log_half_t(np.exp(point[name]), data[f"prior_{name}"]).sum() for name in SDS)
            lkj = correlation.log_lkj(point["factor_item"], pools, data["prior_lkj"])
            likelihood = sums.log_likelihood(_spreads(_constrain(point, pools)), prior)
            return likelihood + float(sum(priors) + log_sd.sum()) + lkj

        mode, covariance = curvature(log_posterior, _free(best, data))
        sd = np.sqrt(np.diag(covariance))
        widest = sd.max()
        return WarmStart(
            mode=_by_name(mode, data),
            sd=_by_name(sd, data),
            constrain=lambda point: _constrain(point, pools),
            # As in GaussianICC: where little is known, curvature is a poor guide; where next to
            # nothing is, the posterior has long tails towards standard deviations of 0.
            step_size=0.9 if widest < 0.3 else None,
            covariance=covariance,
            acceptance=0.7 if widest < 0.3 else 0.9 if widest < 0.6 else CAUTIOUS,
            path=path,
        )

    def cold_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Standard deviations within a factor e of equal shares, correlations of either sign."""
        pools, share = data["G"], math.log(_share(data))
        sizes = dict(zip(SDS, (pools, pools, data["E"]), strict=True))
        mode = {name: np.full(size, share) for name, size in sizes.items()}
        mode["factor_item"] = np.zeros(correlation.n_free(pools))
        return WarmStart(
            mode=mode,
            sd={name: np.full_like(at, 0.5) for name, at in mode.items()},
            constrain=lambda point: _constrain(point, pools),
            acceptance=CAUTIOUS,
        )

    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """Agreement by pair of pools, and ICCs by pool, beside the parameters."""
        sds = _reported(posterior)
        item, rater, residual = (sds[name] for name in SDS)
        icc = quantities.icc(item, rater, residual)
        return xr.Dataset(
            {
                **agreement(posterior["factor_item"], icc, ratings.pools),
                "icc": icc,
                "labeler_icc": quantities.labeler_icc(item, rater, residual),
                **sds,
                "mean": posterior["mean"],
            }
        )

    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items in each pool, in units of the rating: mean, sd, median, interval."""
        parts, start = [], 0
        for chunk in self.item_effects(posterior, ratings, rng):
            items = ratings.items[start : start + chunk.shape[1]]
            index = pd.MultiIndex.from_product([items, ratings.pools], names=["item", "pool"])
            parts.append(pd.DataFrame(describe(chunk.reshape(len(chunk), -1), prob), index=index))
            start += len(items)
        return pd.concat(parts)

    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Pool and effect of the raters, in units of the rating: mean, sd, median and interval."""
        pool = pool_of_raters(self, ratings)
        _, few = self._effects_of_the_few(posterior, ratings, rng)
        table = pd.DataFrame(
            describe(few[:, : ratings.n_raters], prob), index=ratings.raters.rename("rater")
        )
        table.insert(0, "pool", ratings.pools[pool])
        return table

    def item_effects(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Exact draws of the effects given the parameters: (S, chunk, G) of items in order."""
        _, design = _design(self, ratings)
        at, few = self._effects_of_the_few(posterior, ratings, rng)
        return design.draw_items(at, few, CHUNK, rng)

    def levels(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        center, _ = _design(self, ratings)
        pool = self.pool_of_raters(ratings)
        _, few = self._effects_of_the_few(posterior, ratings, rng)
        for effects, means in zip(*np.split(few, [len(pool)], axis=1), strict=True):
            yield effects + (center + means)[pool]

    def _effects_of_the_few(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> tuple[Spreads, Array]:
        """(S, ...) spreads, and draws (S, F + G) of raters' effects and of the means."""
        center, design = _design(self, ratings)
        prior = MeanPrior.of([*_mean_and_sd(self.priors(ratings)).T], center)
        means, at = self.by_pool(stacked(posterior))
        return at, PooledSums.of(design).draw_few(at, means - center, prior, rng)

    def pool_of_raters(self, ratings: Ratings) -> Codes:
        """Position (R,) of each rater's pool."""
        return pool_of_raters(self, ratings)

    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """Means and standard deviations are by pool, but for a residual that all share."""
        by_pool = dict.fromkeys(("mean", *SDS), (pools,))
        shared = {"sd_residual": (1,)} if self.residual == "shared" else {}
        return {**by_pool, **shared, "factor_item": (pools, pools)}

    def by_pool(self, point: Point) -> tuple[Array, Spreads]:
        """Means (..., G), and what ratings vary by, of parameters (..., G)."""
        return np.asarray(point["mean"]), _spreads(point)

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
            "mean": ("pool",),
        }


def _means(ratings: Ratings, pool: Codes) -> Array:
    """(G,) means of the ratings by raters whose pools (R,) are given."""
    total = np.bincount(ratings.rater, ratings.values)
    return np.asarray(np.bincount(pool, total) / np.bincount(pool, ratings.ratings_per_rater))


def _design(model: object, ratings: Ratings) -> tuple[Array, PooledDesign]:
    """(G,) centres taken off the ratings of each pool, and the design."""
    pool = pool_of_raters(model, ratings)
    center = _means(ratings, pool)
    centred = center[pool][ratings.rater]
    np.subtract(ratings.values, centred, out=centred)
    return center, PooledDesign.of(ratings.item, ratings.rater, centred, pool)


def _check_size(design: PooledDesign) -> None:
    """Refuse designs whose sums would fill the memory."""
    if design.size > LARGEST:
        raters, patterns = design.counts.shape[1], len(design.patterns[0])
        size = f"{8 * design.size / 1e9:.2g} GB"
        rule = f"raters must be so few that their sums take {8 * LARGEST / 1e9:.2g} GB at most"
        found = f"{raters} raters and {patterns} patterns of ratings by pool, which take {size}"
        remedy = "Take a part of the raters: ratings.subset(raters=[...])."
        raise RatingsError([Fault("rater", rule, found, remedy)])


def _mean_and_sd(priors: Mapping[str, Any]) -> Array:
    """(G, 2) mean and standard deviation of the prior of each pool's mean."""
    return np.array([prior.stan for prior in priors["mean"]], float)


def _share(data: Mapping[str, Any]) -> float:
    """Standard deviation of each source if all three had a third of the variance."""
    return math.sqrt(data["square"][: data["G"]].sum() / data["N"].sum() / 3)


def _free(at: Spreads, data: Mapping[str, Any]) -> Array:
    """Spreads on Stan's unconstrained scale, in its order."""
    item = np.sqrt(np.square(at.root).sum(axis=1))
    factor = correlation.free(at.root / item[:, None])
    return np.concatenate(
        [np.log(item), np.log(at.rater), np.log(at.residual[: data["E"]]), factor]
    )


def _by_name(x: Array, data: Mapping[str, Any]) -> dict[str, Array]:
    """Parameters by name, of the vector that holds them in Stan's order."""
    ends = np.cumsum([data["G"], data["G"], data["E"]])
    return dict(zip((*SDS, "factor_item"), np.split(x, ends), strict=True))


def _constrain(point: Mapping[str, Any], pools: int) -> dict[str, Any]:
    sds = {name: np.exp(point[name]).tolist() for name in SDS}
    return {**sds, "factor_item": correlation.factor(point["factor_item"], pools).tolist()}


def _spreads(point: Mapping[str, Any]) -> Spreads:
    """Spreads of parameters as the program declares them, (...) or (S, ...)."""
    item, rater, residual, factor = (np.asarray(point[name]) for name in (*SDS, "factor_item"))
    return Spreads(item[..., None] * factor, rater, np.broadcast_to(residual, rater.shape))


def _reported(posterior: xr.Dataset) -> xr.Dataset:
    """Standard deviations; that of residuals that all pools share is one number."""
    sds = posterior[list(SDS)]
    return sds.squeeze("all", drop=True) if "all" in sds.dims else sds
