"""Crossed effects of items and raters of one population, on numbers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal.crossed_problem import CrossedProblem
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
from reliabayes.families.normal.gaussian_parts import CHUNK, effects_of_part
from reliabayes.inference.crossed_gibbs import MOST_LEVELS, levels_given
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.em import Point
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.interpolated_density import InterpolatedDensity
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.time_limit import check_time
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.gaussian_one_pool import CrossedSums, Deviations
from reliabayes.likelihoods.gaussian_pools_design import Components
from reliabayes.likelihoods.swept_sums import SweptSums
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior
from reliabayes.results.summaries import describe

DIMS = {"level": ("column",)}  # of what is sampled beside numbers: levels of the columns
MANY, MANY_AT_ONCE = 8, 512  # iterations for each draw of an interpolated density, and at once
# Cells of the sums at most, 160 MB; of precision matrices at once, 4 MB; and proposals for each
# draw, which are more where the matrices are small.
MOST_CELLS, CHUNK_OF_CELLS, THINNED_CELLS, MOST_THINNING = 20_000_000, 500_000, 2_500, 32

Draws = Posterior[CrossedProblem]


@dataclass(frozen=True)
class Crossed:
    """The family of `GaussianICC`.

    Attributes
    ----------
    priors : GaussianPriors
        Priors as they were set, to draw parameters from.
    """

    priors: GaussianPriors

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return DIMS

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """Mean and standard deviations, which are numbers."""
        return gaussian_parameters(DIMS)

    # Density, and where chains start.

    def program(self, problem: CrossedProblem) -> str:
        """The program, which integrates out all effects."""
        return "gaussian_icc"

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

    def cold_start(self, problem: CrossedProblem) -> WarmStart:
        """Standard deviations within a factor e of equal parts of the variance, no effects."""
        mode: dict[str, Any] = dict.fromkeys(SDS, math.log(problem.equal_sd))
        sd: dict[str, Any] = dict.fromkeys(SDS, 0.5)
        return WarmStart(mode=mode, sd=sd, constrain=_constrain, target_acceptance=0.95)

    def near_normal(self, problem: CrossedProblem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations, unless columns are very many.

        Their density is quick, and found for many points at once, so that proposals need not be
        good: chains of hundreds of thousands of them give a thousand draws. With hundreds of
        columns it is slow, and interpolated.
        """
        if isinstance(problem.sums, SweptSums):
            return None
        is_large = problem.is_large
        cells = (problem.sums.n_columns + 1) ** 2
        if not is_large and cells * (problem.sums.n_patterns + 1) > MOST_CELLS:
            return None
        evaluate = partial(_evaluate, problem)
        at, sd = (np.array([each[name] for name in SDS]) for each in (mode.mode, mode.sd))
        quick = InterpolatedDensity.of(evaluate, at, sd) if is_large else None
        if quick:
            return NearNormal(quick, _finish, at, np.diag(sd**2), thinning=MANY, block=MANY_AT_ONCE)
        return NearNormal(
            evaluate,
            _finish,
            at,
            np.diag(sd**2),
            prefers_nuts=not is_large,
            thinning=int(np.clip(THINNED_CELLS // cells, 1, MOST_THINNING)),
            block=max(1, CHUNK_OF_CELLS // cells),
        )

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

    # Results.

    def quantities(self, posterior: Draws) -> xr.Dataset:
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

    def items(self, posterior: Draws, prob: float | None, rng: np.random.Generator) -> pd.DataFrame:
        """Effects of the items, in units of the rating: mean, sd, median and interval."""
        return _effects(posterior, "item", prob, rng)

    def items_by_part(
        self, posterior: Draws, prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        sd, columns = _column_effects(_with_few_levels(posterior), rng)
        return partial(effects_of_part, sd, columns, posterior.problem.center, prob)

    def raters(
        self, posterior: Draws, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters, in units of the rating: mean, sd, median and interval."""
        posterior = _with_few_levels(posterior)
        table = _effects(posterior, "rater", prob, rng)
        table.attrs["draws"] = posterior.n_draws
        return table

    def new_rater(self, posterior: Draws, rng: np.random.Generator) -> dict[str, Array]:
        """Effect of one who is drawn from their population."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        drawn = self.levels(posterior, np.random.default_rng(SEED))
        at = _components(posterior.stacked())[1]
        return log_density_by_item(posterior, one_pool(posterior.ratings), drawn, at)

    def replicates(self, posterior: Draws, rng: np.random.Generator) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        ratings, at = posterior.ratings_in_memory, _components(posterior.stacked())[1]
        return replicates(ratings, one_pool(ratings), self.levels(posterior, rng), at, rng)

    def levels(self, posterior: Draws, rng: np.random.Generator) -> Iterator[Array]:
        """Levels (R,) of the raters, drawn given each draw in turn."""
        problem = posterior.problem
        sd, columns = _column_effects(posterior, rng)
        for draw, row in enumerate(columns):
            effect = row[:-1]
            if problem.swapped:
                one = Deviations(*(values[[draw]] for values in sd))
                n_raters = problem.size("rater")
                (chunk,) = problem.rows().draw_rows(one, row[None], n_raters, rng)
                effect = chunk[0]
            yield problem.center + row[-1] + effect

    # Simulation.

    def drawn_point(
        self,
        design: pd.DataFrame | Ratings,
        given: Point,
        categories: Iterable[Any],
        rng: np.random.Generator,
    ) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors."""
        return {
            name: given[name] if name in given else self.priors.draw(name, (), rng)
            for name in ("mean", *SDS)
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
        pool = one_pool(blank)
        mean, at = _components(self.drawn_point(blank, given, categories, rng))
        return simulated(blank, pool, mean, at, rng)


def one_pool(ratings: AnyRatings) -> Codes:
    """Position (R,) of each rater's pool: all are one population."""
    if isinstance(ratings, Ratings):
        ratings.require_known_raters("GaussianICC")
    return np.zeros(ratings.n_raters, np.intp)


def _effects(
    posterior: Draws,
    margin: Literal["item", "rater"],
    prob: float | None,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Summary of exact draws of effects given the parameters, in units of the rating."""
    problem = posterior.problem
    sd, columns = _column_effects(posterior, rng)
    is_column = (margin == "rater") != problem.swapped
    rows = None if is_column else problem.rows()
    chunks = rows.draw_rows(sd, columns, CHUNK, rng) if rows else [columns[:, :-1]]
    table = pd.concat([pd.DataFrame(describe(chunk, prob)) for chunk in chunks], ignore_index=True)
    return table.set_axis(problem.coords[margin].rename(margin))


def _column_effects(posterior: Draws, rng: np.random.Generator) -> tuple[Deviations, Array]:
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
        drawn = levels_given(problem.effects, np.array(sd), draws["mean"], seed).T
        return sd, np.column_stack([drawn - means[:, None], means])
    return sd, problem.crossed.draw_columns(sd, means, prior, rng)


def _components(point: Point) -> tuple[Array, Components]:
    """Mean (..., 1), and variance components, of parameters (...)."""
    mean, item, rater, residual = (np.asarray(point[name])[..., None] for name in ("mean", *SDS))
    return mean, Components(item[..., None], rater, residual)


def _with_few_levels(posterior: Draws) -> Draws:
    """As many draws as have levels of all raters that fit in memory."""
    most = max(MOST_LEVELS // posterior.problem.size("rater"), 1)
    return posterior.thinned(most) if posterior.n_draws > most else posterior


def _evaluate(problem: CrossedProblem, log_sd: Array) -> tuple[Array, Array]:
    """Log densities (N,) at log standard deviations (N, 3), and means with their sds (N, 2)."""
    check_time()
    sds = np.exp(log_sd).T
    log_prior = sum(map(log_half_t, sds, (problem.priors[name] for name in SDS)))
    at = Deviations(*sds).swap(problem.swapped)
    found = problem.crossed.marginal(at, problem.mean_prior)
    return (
        found.log_density + log_prior + log_sd.sum(axis=1),
        np.column_stack([problem.center + found.mean, found.sd_mean]),
    )


def _finish(log_sd: Array, mean: Array, rng: np.random.Generator) -> dict[str, Array]:
    """Draws by name, with means drawn given the standard deviations."""
    drawn = mean[..., 0] + mean[..., 1] * rng.standard_normal(mean.shape[:2])
    sds = np.moveaxis(np.exp(log_sd), -1, 0)
    return dict(zip(SDS, sds, strict=True)) | {"mean": drawn}


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value) if name in SDS else value for name, value in point.items()}
