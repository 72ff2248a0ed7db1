"""Gaussian ICC: crossed random effects of items and raters."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.crossed_gibbs import MOST_LEVELS, levels_given
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums, Deviations
from reliabayes.likelihoods.gaussian_pools_design import Components
from reliabayes.likelihoods.moments import Moments
from reliabayes.likelihoods.swept_sums import SweptSums
from reliabayes.models.bases.crossed_density import near_normal
from reliabayes.models.bases.gaussian import (
    SDS,
    GaussianModel,
    Point,
    check_mean,
    check_residual,
    check_sd,
    log_prior_of_sds,
    moments_of,
)
from reliabayes.models.bases.gaussian_crossed import CrossedProblem, sums_of
from reliabayes.models.bases.gaussian_parts import (
    CHUNK,
    effects_of_part,
    effects_of_parts,
    leading,
    moments_of_parts,
    suits_sums,
    sums_of_parts,
)
from reliabayes.models.bases.likelihood_model import Criterion, Search
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.partitions import AnyRatings, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

Margin = Literal["item", "rater"]


@dataclass(frozen=True, kw_only=True)
class GaussianICC(GaussianModel[CrossedProblem]):
    r"""Reliability of ratings on a continuous scale, for any incomplete, unbalanced design.

    .. math:: y_{ij} = \mu + u_i + v_j + \epsilon_{ij}

    with normal effects of items (sd_item) and raters (sd_rater) and normal residuals
    (sd_residual). Effects and mean are integrated out exactly, so that a fit costs much the same
    for a thousand ratings and for a million; where items and raters are both many, Gibbs sampling
    is quicker and the default. With hundreds of both, ``sampler="nuts"`` takes minutes. Pools and
    gold are not used: all raters are one population; pick a pool with
    ``ratings.subset(pools=[...])``.

    Quantities, for single ratings on the scale of the ratings: ``icc`` (agreement: raters
    drawn at random, whose severity counts), ``icc_consistency`` (the same raters, whose severity
    does not count) and ``labeler_icc`` in [0, 1]; ``sd_item``, ``sd_rater``, ``sd_residual`` and
    ``mean`` in units of the rating.

    Few raters say little about how much raters differ, so that ``icc`` depends on the prior of
    sd_rater; ``icc_consistency`` does not.

    Parameters
    ----------
    prior_mean : Normal, optional
        Prior of the mean. By default its mean is that of the ratings, and its sd 2.5 times theirs.
    prior_sd_item, prior_sd_rater, prior_sd_residual : HalfNormal or HalfStudentT, optional
        Priors of the standard deviations. The defaults are half t, with 3 degrees of freedom and
        the sd of the ratings as scale for items and residual; with 1 degree of freedom and a
        quarter of that scale for raters.

    References
    ----------
    Shrout & Fleiss (1979), ICC(2,1). https://doi.org/10.1037/0033-2909.86.2.420
    """

    summary: ClassVar[str] = "ICC of ratings on a continuous scale"
    samples_in_numpy: ClassVar[bool] = True
    takes_parts: ClassVar[bool] = True
    reports: ClassVar[tuple[str, ...]] = ("icc", "icc_consistency", "labeler_icc", *SDS, "mean")

    def priors(self, ratings: AnyRatings) -> dict[str, Normal | HalfNormal | HalfStudentT]:
        """Priors in force for these ratings, by parameter."""
        if isinstance(ratings, RatingsDataset):
            (moments,) = moments_of_parts(ratings, self.pool_of_raters(ratings))
            return self._priors(moments)
        return self._priors(moments_of(ratings.values))

    def _priors(self, moments: Moments) -> dict[str, Normal | HalfNormal | HalfStudentT]:
        sd = check_sd(moments.sd)
        return {
            "mean": self.prior_mean or Normal(moments.mean, 2.5 * sd),
            **self.sd_priors(sd),
        }

    def problem(self, ratings: Ratings) -> CrossedProblem:
        """Sums of the centred ratings, and priors."""
        ratings.require_known_raters("GaussianICC")
        moments = moments_of(ratings.values)
        priors = self._checked_priors(moments)
        check_residual(ratings.item, ratings.rater, ratings.values)
        row, column = ratings.item, ratings.rater
        swapped = ratings.n_raters > ratings.n_items
        if swapped:
            row, column = column, row
        design = CrossedDesign.of(row, column, ratings.values - moments.centre)
        columns = pd.RangeIndex(len(design.column_total))
        return CrossedProblem(
            coords={"item": ratings.items, "rater": ratings.raters, "column": columns},
            priors=priors,
            swapped=swapped,
            center=moments.centre,
            sums=sums_of(design, moments.centre),
            design=design,
        )

    def problem_of_parts(self, dataset: RatingsDataset) -> CrossedProblem:
        """The same sums, added up over the parts; or, of very many raters, where the items are."""
        first = leading(dataset)
        check_residual(first.item, first.rater, first.values)
        sums: CrossedSums | SweptSums
        if suits_sums(dataset, first):
            found = sums_of_parts(dataset, self.pool_of_raters(dataset), first)
            (moments,) = found.moments
            center = moments.centre
            sums = found.crossed(center)
        else:
            sums = effects_of_parts(dataset, first)
            moments = sums.totals.moments
            center = moments.pivot
        priors = self._checked_priors(moments)
        columns = pd.RangeIndex(dataset.n_raters)
        return CrossedProblem(
            coords={"rater": dataset.raters, "column": columns},
            priors=priors,
            swapped=False,
            center=center,
            sums=sums,
        )

    def _checked_priors(self, moments: Moments) -> dict[str, Array]:
        priors = self._priors(moments)
        check_mean(priors["mean"], moments.mean, moments.sd)
        return {name: prior.stan for name, prior in priors.items()}

    def program(self, problem: CrossedProblem) -> str:
        """The program, which integrates out all effects."""
        return "gaussian_icc"

    def conjugate(self, problem: CrossedProblem) -> CrossedEffects | None:
        """All effects, given which the mean and the standard deviations are quickly drawn."""
        return problem.effects

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """The run as it is: its log density is the program's."""
        return run

    def prefers_gibbs(self, problem: CrossedProblem) -> bool:
        """Where columns are too many for their effects to be integrated out."""
        return isinstance(problem.sums, SweptSums)

    def starts(self, problem: CrossedProblem) -> tuple[WarmStart, ...]:
        """The start at the one mode."""
        return (self.start(problem),)

    def start(self, problem: CrossedProblem) -> WarmStart:
        """Mode of the posterior and its curvature, by EM."""

        def log_prior(sd: Deviations) -> float:
            priors = (problem.priors[name] for name in SDS)
            return float(sum(map(log_half_t, sd.swap(problem.swapped), priors)))

        found = problem.sums.approximate(problem.equal_sd, problem.mean_prior, log_prior)
        log_sd, sd_of_log = (x.swap(problem.swapped) for x in (found.log_sd, found.sd_of_log))
        return WarmStart(
            mode=dict(zip(SDS, log_sd, strict=True)),
            sd=dict(zip(SDS, sd_of_log, strict=True)),
            constrain=_constrain,
            step_size=found.step_size,
            adapt_metric=isinstance(problem.sums, SweptSums),
            target_acceptance=found.target_acceptance,
            path=found.path,
        )

    def near_normal(self, problem: CrossedProblem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations, unless columns are very many."""
        return near_normal(problem, mode)

    def cold_start(self, problem: CrossedProblem, centring: StanPart | None) -> WarmStart:
        """Standard deviations within a factor e of equal parts of the variance, no effects."""
        mode: dict[str, Any] = dict.fromkeys(SDS, math.log(problem.equal_sd))
        sd: dict[str, Any] = dict.fromkeys(SDS, 0.5)
        return WarmStart(mode=mode, sd=sd, constrain=_constrain, target_acceptance=0.95)

    def search(self, problem: CrossedProblem, criterion: Criterion) -> Search:
        """Standard deviations of items and raters, and the log of that of residuals, in units."""
        unit, within = problem.equal_sd, problem if criterion == "posterior" else problem.flat

        def sds(x: Array) -> dict[str, Any]:
            return dict(zip(SDS, unit * np.append(np.abs(x[:2]), math.exp(x[2])), strict=True))

        def marginal(x: Array) -> Marginal:
            return within.marginal(problem.deviations(sds(x)))

        def log_density(x: Array) -> float:
            found = marginal(x)
            if criterion == "posterior":
                sd = problem.deviations(sds(x)).swap(problem.swapped)
                return float(found.log_density) + log_prior_of_sds(sd, problem)
            return found.criterion(restricted=criterion == "restricted")

        def point(x: Array) -> dict[str, Any]:
            return {"mean": problem.center + marginal(x).mean, **sds(x)}

        return Search(log_density, np.array([1.0, 1.0, 0.0]), np.arange(3) < 2, point)

    def log_likelihood(self, point: Point, problem: CrossedProblem) -> float:
        """Log density of all ratings, with all effects integrated out."""
        found = problem.flat.marginal(problem.deviations(point))
        return found.at_mean(point["mean"] - problem.center)

    def quantities(self, posterior: Posterior[CrossedProblem]) -> xr.Dataset:
        """ICCs and labeler ICC beside the parameters, each (chain, draw)."""
        sds = [posterior.draws[name] for name in SDS]
        item, _, residual = sds
        return xr.Dataset(
            {
                "icc": quantities.icc(*sds),
                "icc_consistency": quantities.icc_consistency(item, residual),
                "labeler_icc": quantities.labeler_icc(*sds),
                **posterior.draws[[*SDS, "mean"]],
            }
        )

    def items(
        self, posterior: Posterior[CrossedProblem], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return _described(self.effects(posterior, "item", rng), prob)

    def items_by_part(
        self, posterior: Posterior[CrossedProblem], prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        sd, columns = self._column_effects(_with_few_levels(posterior), rng)
        return partial(effects_of_part, sd, columns, posterior.problem.center, prob)

    def raters(
        self, posterior: Posterior[CrossedProblem], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        posterior = _with_few_levels(posterior)
        table = _described(self.effects(posterior, "rater", rng), prob)
        table.attrs["draws"] = posterior.n_draws
        return table

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of what is sampled beside numbers: levels of the columns."""
        return {"level": ("column",)}

    def effects(
        self, posterior: Posterior[CrossedProblem], margin: Margin, rng: np.random.Generator
    ) -> Iterator[xr.DataArray]:
        """Exact draws of the effects given the parameters, in units of the rating, in chunks."""
        problem = posterior.problem
        sd, columns = self._column_effects(posterior, rng)
        is_column = (margin == "rater") != problem.swapped
        rows = None if is_column else problem.rows()
        chunks = rows.draw_rows(sd, columns, CHUNK, rng) if rows else [columns[:, :-1]]
        ids, start = problem.coords[margin], 0
        for chunk in chunks:
            stop = start + chunk.shape[1]
            yield xr.DataArray(
                chunk.reshape(*posterior.shape, -1),
                dims=("chain", "draw", margin),
                coords={margin: ids[start:stop]},
            )
            start = stop

    def levels(
        self, posterior: Posterior[CrossedProblem], rng: np.random.Generator
    ) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        problem = posterior.problem
        sd, columns = self._column_effects(posterior, rng)
        for draw, row in enumerate(columns):
            effect = row[:-1]
            if problem.swapped:
                one = Deviations(*(values[[draw]] for values in sd))
                n_raters = problem.size("rater")
                (chunk,) = problem.rows().draw_rows(one, row[None], n_raters, rng)
                effect = chunk[0]
            yield problem.center + row[-1] + effect

    def _column_effects(
        self, posterior: Posterior[CrossedProblem], rng: np.random.Generator
    ) -> tuple[Deviations, Array]:
        """(S,) deviations, and draws (S, J + 1) of the effects of the columns, the mean last."""
        problem, draws = posterior.problem, posterior.stacked()
        sd = problem.deviations(draws)
        means, prior, sums = draws["mean"] - problem.center, problem.mean_prior, problem.sums
        if isinstance(rng, NoNoise) and not isinstance(sums, CrossedSums):
            one = Deviations(*(float(each[0]) for each in sd))
            expected = problem.rows().expected_columns(one, float(means[0]))
            return sd, np.append(expected, means)[None]
        if "level" in draws:
            return sd, np.column_stack([draws["level"] - means[:, None], means])
        if isinstance(sums, SweptSums) and problem.effects:
            seed = int(rng.integers(2**31))
            levels = levels_given(problem.effects, np.array(sd), draws["mean"], seed).T
            return sd, np.column_stack([levels - means[:, None], means])
        return sd, problem.crossed.draw_columns(sd, means, prior, rng)

    def pool_of_raters(self, ratings: AnyRatings) -> Codes:
        """All raters are one population."""
        if isinstance(ratings, Ratings):
            ratings.require_known_raters("GaussianICC")
        return np.zeros(ratings.n_raters, np.intp)

    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """The mean and the standard deviations are numbers."""
        return dict.fromkeys(("mean", *SDS), ())

    def by_pool(self, point: Point) -> tuple[Array, Components]:
        """Mean (..., 1), and variance components, of parameters (...)."""
        mean, item, rater, residual = (
            np.asarray(point[name])[..., None] for name in ("mean", *SDS)
        )
        return mean, Components(item[..., None], rater, residual)


def _with_few_levels(posterior: Posterior[CrossedProblem]) -> Posterior[CrossedProblem]:
    """As many draws as have levels of all raters that fit in memory."""
    most = max(MOST_LEVELS // posterior.problem.size("rater"), 1)
    return posterior.thinned(most) if posterior.n_draws > most else posterior


def _described(chunks: Iterator[xr.DataArray], prob: float | None) -> pd.DataFrame:
    """Summary of draws (chain, draw, units) in chunks, a row for each unit."""
    return pd.concat(
        [
            pd.DataFrame(
                describe(chunk.values.reshape(-1, chunk.shape[-1]), prob),
                index=pd.Index(chunk.indexes[chunk.dims[-1]], name=chunk.dims[-1]),
            )
            for chunk in chunks
        ]
    )


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value) if name in SDS else value for name, value in point.items()}
