"""Gaussian ICC: crossed random effects of items and raters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_many_raters import CrowdSums
from reliabayes.likelihoods.gaussian_one_pool import (
    CrossedDesign,
    CrossedSums,
    Deviations,
    MeanPrior,
)
from reliabayes.likelihoods.gaussian_pools import Spreads
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
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.summaries import describe

Margin = Literal["item", "rater"]

CHUNK = 4_000_000  # effects drawn at once: 32 MB


@dataclass(frozen=True, kw_only=True)
class GaussianICC(GaussianModel):
    r"""Reliability of ratings on a continuous scale, for any incomplete, unbalanced design.

    .. math:: y_{ij} = \mu + u_i + v_j + \epsilon_{ij}

    with normal effects of items (sd_item) and raters (sd_rater) and normal residuals
    (sd_residual). Effects and mean are summed out exactly, so that a fit costs much the same for
    a thousand ratings and for a million. Pools and gold are not used: all raters are one
    population; pick a pool with ``ratings.subset(pools=[...])``.

    Quantities, for single ratings on the scale of the ratings: ``icc`` and ``labeler_icc`` in
    [0, 1]; ``sd_item``, ``sd_rater``, ``sd_residual`` and ``mean`` in units of the rating.

    Parameters
    ----------
    prior_mean : Normal
        Default: mean of the ratings, and 2.5 times their sd.
    prior_sd_item, prior_sd_rater, prior_sd_residual : HalfNormal or HalfStudentT
        Default: half normal with the sd of the ratings as scale.

    References
    ----------
    Shrout & Fleiss (1979), ICC(2,1). https://doi.org/10.1037/0033-2909.86.2.420
    """

    summary: ClassVar[str] = "ICC of ratings on a continuous scale"
    reports: ClassVar[tuple[str, ...]] = ("icc", "labeler_icc", *SDS, "mean")

    def priors(self, ratings: Ratings) -> dict[str, Normal | HalfNormal | HalfStudentT]:
        """Priors in force for these ratings, by parameter."""
        sd = spread(ratings)
        return {
            "mean": self.prior_mean or Normal(float(ratings.values.mean()), 2.5 * sd),
            "sd_item": self.prior_sd_item or HalfNormal(sd),
            "sd_rater": self.prior_sd_rater or HalfNormal(sd),
            "sd_residual": self.prior_sd_residual or HalfNormal(sd),
        }

    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Sums of the centred ratings, as the Stan programs describe them."""
        ratings.require_known_raters("GaussianICC")
        priors = self.priors(ratings)
        check_mean(priors["mean"], ratings.values.mean(), ratings.values.std())
        check_residual(ratings.item, ratings.rater, ratings.values)
        swapped, center, design = _design(ratings)
        sums = CrossedSums.of(design) if _summed_out(design) else CrowdSums.of(design)
        return {
            **sums.to_stan(),
            "swapped": int(swapped),
            "center": center,
            **{f"prior_{name}": prior.stan for name, prior in priors.items()},
        }

    def program(self, data: Mapping[str, Any]) -> str:
        """The program that sums the effects of the few out, or the one that samples them."""
        return "gaussian_icc_crowd" if "few" in data else "gaussian_icc"

    def warm_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Mode of the posterior and its curvature, from where EM leads."""
        swapped = bool(data["swapped"])
        sums = (CrowdSums if "few" in data else CrossedSums).from_stan(data)

        def log_prior(sd: Deviations) -> float:
            priors = (data[f"prior_{name}"] for name in SDS)
            return float(sum(map(log_half_t, sd.swap(swapped), priors)))

        prior = MeanPrior.of(data["prior_mean"], data["center"])
        found = sums.approximate(_share(data), prior, log_prior)
        return WarmStart(
            mode=dict(zip(SDS, found.log_sd.swap(swapped), strict=True)) | found.score,
            sd=dict(zip(SDS, found.spread.swap(swapped), strict=True))
            | {name: np.ones_like(score) for name, score in found.score.items()},
            constrain=_constrain,
            step_size=found.step_size,
            acceptance=found.acceptance,
            path=found.path,
        )

    def cold_start(self, data: Mapping[str, Any]) -> WarmStart:
        """Standard deviations within a factor e of equal shares of the variance, no effects."""
        score = {"score": np.zeros(data["F"])} if "few" in data else {}
        return WarmStart(
            mode=dict.fromkeys(SDS, math.log(_share(data))) | score,
            sd=dict.fromkeys(SDS, 0.5) | score,
            constrain=_constrain,
            acceptance=0.9,
        )

    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """ICC and labeler ICC beside the parameters, each (chain, draw)."""
        sds = [posterior[name] for name in SDS]
        return xr.Dataset(
            {
                "icc": quantities.icc(*sds),
                "labeler_icc": quantities.labeler_icc(*sds),
                **posterior[[*SDS, "mean"]],
            }
        )

    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return _described(self.effects(posterior, ratings, "item", rng), prob)

    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        return _described(self.effects(posterior, ratings, "rater", rng), prob)

    def dims(self) -> dict[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan programs' variables: all are scalars, or scores."""
        return {"score": ("few",)}

    def effects(
        self, posterior: xr.Dataset, ratings: Ratings, margin: Margin, rng: np.random.Generator
    ) -> Iterator[xr.DataArray]:
        """Exact draws of the effects given the parameters, in units of the rating, in chunks."""
        swapped, _, design = _design(ratings)
        sd, few = self._effects_of_the_few(posterior, ratings, rng)
        is_few = (margin == "rater") != swapped
        chunks = [few[:, :-1]] if is_few else design.draw_many(sd, few, CHUNK, rng)
        ids, start = (ratings.items if margin == "item" else ratings.raters), 0
        for chunk in chunks:
            stop = start + chunk.shape[1]
            yield xr.DataArray(
                chunk.reshape(posterior.sizes["chain"], posterior.sizes["draw"], -1),
                dims=("chain", "draw", margin),
                coords={margin: ids[start:stop]},
            )
            start = stop

    def levels(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        swapped, center, design = _design(ratings)
        sd, few = self._effects_of_the_few(posterior, ratings, rng)
        for draw, row in enumerate(few):
            effect = row[:-1]
            if swapped:
                one = Deviations(*(values[[draw]] for values in sd))
                (chunk,) = design.draw_many(one, row[None], ratings.n_raters, rng)
                effect = chunk[0]
            yield center + row[-1] + effect

    def _effects_of_the_few(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> tuple[Deviations, Array]:
        """(S,) deviations, and draws (S, F + 1) of the effects of the few, the mean last."""
        swapped, center, design = _design(ratings)
        draws = stacked(posterior)
        sd = Deviations(*(draws[name] for name in SDS)).swap(swapped)
        means = draws["mean"] - center
        prior = MeanPrior.of(self.priors(ratings)["mean"].stan, center)
        if "score" not in draws:
            return sd, CrossedSums.of(design).draw_few(sd, means, prior, rng)
        levels = CrowdSums.of(design).levels(draws["score"], sd, prior)
        return sd, np.column_stack([levels - means[:, None], means])

    def pool_of_raters(self, ratings: Ratings) -> Codes:
        """All raters are one population."""
        ratings.require_known_raters("GaussianICC")
        return np.zeros(ratings.n_raters, np.intp)

    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """The mean and the standard deviations are numbers."""
        return dict.fromkeys(("mean", *SDS), ())

    def by_pool(self, point: Point) -> tuple[Array, Spreads]:
        """Mean (..., 1), and what ratings vary by, of parameters (...)."""
        mean, item, rater, residual = (
            np.asarray(point[name])[..., None] for name in ("mean", *SDS)
        )
        return mean, Spreads(item[..., None], rater, residual)


def _described(chunks: Iterator[xr.DataArray], prob: float) -> pd.DataFrame:
    """Summary of draws (chain, draw, units) that come in chunks, a row for each unit."""
    return pd.concat(
        [
            pd.DataFrame(
                describe(chunk.values.reshape(-1, chunk.shape[-1]), prob),
                index=pd.Index(chunk.indexes[chunk.dims[-1]], name=chunk.dims[-1]),
            )
            for chunk in chunks
        ]
    )


def _design(ratings: Ratings) -> tuple[bool, float, CrossedDesign]:
    """Whether raters are the many, the centre taken off the ratings, and the design."""
    values = ratings.values
    center = float(values.mean())
    many, few = ratings.item, ratings.rater
    swapped = ratings.n_raters > ratings.n_items
    if swapped:
        many, few = few, many
    return swapped, center, CrossedDesign.of(many, few, values - center)


def _summed_out(design: CrossedDesign) -> bool:
    """Whether summing the effects of the few out is cheaper than sampling them.

    The one costs a Cholesky factor and a sum over patterns for each gradient, the other a pass over
    the cells, for more gradients; ``benchmarks/README.md`` has the measurements.
    """
    few, patterns, cells = len(design.few_total), len(design.patterns[0]), design.counts.nnz
    # With less data the sampled levels mix badly, and a fit takes no time anyway.
    return cells < 1000 or few**2 * (few + 4 * patterns) <= 20 * cells


def _share(data: Mapping[str, Any]) -> float:
    """Standard deviation of each source if all three had a third of the variance."""
    return math.sqrt(data["square"][0] / data["N"] / 3)


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value) if name in SDS else value for name, value in point.items()}
