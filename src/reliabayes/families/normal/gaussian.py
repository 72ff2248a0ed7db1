"""Numbers with effects of items and raters, in one pool or several: priors, and results by item."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from reliabayes.arrays import Array, Codes
from reliabayes.families.simulation import rated
from reliabayes.inference.densities import half_t, log_half_t
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter, Support
from reliabayes.inference.problem import Problem
from reliabayes.likelihoods.gaussian_items import NormalItems
from reliabayes.likelihoods.gaussian_pools_design import Components
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal, SdPrior
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

SDS = ("sd_item", "sd_rater", "sd_residual")
SUPPORTS: Mapping[str, Support] = {"mean": "real", "factor_item": "correlation"}
SEED = 1979  # of drawn levels: the same draws always give the same likelihoods


@dataclass(frozen=True)
class GaussianPriors:
    """Priors as they were set, by parameter; None for those that the ratings determine."""

    mean: Normal | None
    sd_item: SdPrior | None
    sd_rater: SdPrior | None
    sd_residual: SdPrior | None

    def __post_init__(self) -> None:
        for name, prior in vars(self).items():
            allowed = (Normal,) if name == "mean" else (HalfNormal, HalfStudentT)
            if prior is not None and not isinstance(prior, allowed):
                names = " or ".join(kind.__name__ for kind in allowed)
                raise TypeError(f"prior_{name} must be a {names}, not {prior!r}.")

    def of_sds(self, sd: float) -> dict[str, SdPrior]:
        """Priors of the standard deviations, given that of all ratings."""
        return {
            "sd_item": self.sd_item or HalfStudentT(3, sd),
            "sd_rater": self.sd_rater or HalfStudentT(1, 0.25 * sd),
            "sd_residual": self.sd_residual or HalfStudentT(3, sd),
        }

    def completed(
        self, given: Point, shapes: Mapping[str, tuple[int, ...]], rng: Generator
    ) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors, which must be set."""
        return {
            name: np.broadcast_to(given[name], shape)
            if name in given
            else self._drawn(name, shape, rng)
            for name, shape in shapes.items()
        }

    def _drawn(self, name: str, shape: tuple[int, ...], rng: Generator) -> Array:
        prior = getattr(self, name)
        if prior is None or math.isinf(prior.stan[1]):
            raise ValueError(
                f"prior_{name} must be set, and not be flat, for {name} to be drawn; found "
                f"{prior}. Set it, or pass parameters={{{name!r}: ...}}."
            )
        if name == "mean":
            mean, sd = prior.stan
            return np.asarray(mean + sd * rng.standard_normal(shape))
        return np.reshape([half_t(prior.stan, rng) for _ in range(math.prod(shape))], shape)


def log_prior_of_sds(sds: Iterable[Any], problem: Problem) -> float:
    """Log density of the priors of the standard deviations, on the scale of their logs."""
    pairs = zip(SDS, sds, strict=True)
    return float(sum(np.sum(log_half_t(x, problem.priors[name]) + np.log(x)) for name, x in pairs))


def parameters(dims: Mapping[str, tuple[str, ...]], *names: str) -> tuple[Parameter, ...]:
    """Mean and standard deviations, and further parameters, with their dimensions."""
    return tuple(
        Parameter(name, SUPPORTS.get(name, "positive"), dims.get(name, ()))
        for name in ("mean", *SDS, *names)
    )


def log_density_by_item(
    posterior: Posterior[Any], pool: Codes, levels: Iterator[Array], at: Components
) -> tuple[Array, Codes]:
    """Log density (S, I) of the ratings of items, given levels (R,) of the raters at each draw.

    Raters have pools (R,), and variance components are (S, ...).
    """
    ratings = posterior.ratings_in_memory
    items = NormalItems.of(ratings, pool)
    found = np.empty((posterior.n_draws, ratings.n_items))
    for row, level, *here in zip(found, levels, *at, strict=True):
        row[:] = items.log_density(ratings.values, level, Components(*here))
    return found, np.arange(ratings.n_items, dtype=np.int32)


def replicates(
    ratings: Ratings,
    pool: Codes,
    levels: Iterator[Array],
    at: Components,
    rng: Generator,
) -> Iterator[Array]:
    """Ratings (N,) of new items by the same raters, draw by draw."""
    items = NormalItems.of(ratings, pool)
    for level, *here in zip(levels, *at, strict=True):
        yield items.draw(level, Components(*here), rng)


def iccs(sds: xr.Dataset) -> dict[str, xr.DataArray]:
    """ICCs and labeler ICC of standard deviations."""
    item, rater, residual = (sds[name] for name in SDS)
    return {
        "icc": quantities.icc(item, rater, residual),
        "icc_consistency": quantities.icc_consistency(item, residual),
        "labeler_icc": quantities.labeler_icc(item, rater, residual),
    }


def table_of_chunks(chunks: Iterable[Array], prob: float | None) -> pd.DataFrame:
    """Summary of draws (S, U) of effects, some of which are drawn at a time."""
    tables = [pd.DataFrame(describe(chunk, prob)) for chunk in chunks]
    return pd.concat(tables, ignore_index=True)


def blank_numbers(design: pd.DataFrame | Ratings) -> Ratings:
    """Ratings of a design, with arbitrary numbers."""
    return rated(design, np.arange(float(len(design))))


def simulated(blank: Ratings, pool: Codes, mean: Array, at: Components, rng: Generator) -> Ratings:
    """Ratings by raters of pools (R,) with means (G,)."""
    level = mean[pool] + at.rater[pool] * rng.standard_normal(blank.n_raters)
    return replace(blank, rating=NormalItems.of(blank, pool).draw(level, at, rng))
