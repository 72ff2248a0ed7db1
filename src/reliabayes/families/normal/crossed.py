"""Numbers with crossed effects of items and raters: reduced to sums, and their family."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.normal import gaussian
from reliabayes.families.normal.family import Wanted
from reliabayes.families.normal.gaussian import SDS, GaussianPriors
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.crossed_gibbs import MOST_LEVELS, levels_given
from reliabayes.inference.densities import log_half_t
from reliabayes.inference.em import Point
from reliabayes.inference.independence import NearNormal
from reliabayes.inference.interpolated_density import InterpolatedDensity
from reliabayes.inference.no_noise import NoNoise
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData
from reliabayes.inference.time_limit import check_time
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_conditional import Marginal, MeanPrior, above_zero
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums, Deviations
from reliabayes.likelihoods.gaussian_pools_design import Components
from reliabayes.likelihoods.gibbs_sums import CrossedTotals, GibbsSums
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from reliabayes.likelihoods.row_effects import RowEffects
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import CROSSED, CROSSED_STEPS, GIBBS_STEPS

DIMS = {"level": ("column",)}  # of what is sampled beside numbers: levels of the columns


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedProblem(Problem):
    """Gaussian ratings with crossed effects, reduced to sums.

    Attributes
    ----------
    swapped : bool
        Whether raters make the rows of the design, because there are more of them than items.
    center : float
        Subtracted from every rating before the sums.
    sums : CrossedSums or GibbsSums
        Sums of the centred ratings, to integrate out the effects of the columns, or to sample them
        by Gibbs sampling.
    design : CrossedDesign or None
        Who rated what; None of ratings in parts.
    """

    swapped: bool
    center: float
    sums: CrossedSums | GibbsSums
    design: CrossedDesign | None = None

    @cached_property
    def crossed(self) -> CrossedSums:
        """Sums to integrate out the effects of the columns."""
        return self.sums if isinstance(self.sums, CrossedSums) else CrossedSums.of(self.rows())

    @cached_property
    def effects(self) -> CrossedEffects | None:
        """What Gibbs sampling of all effects needs; None of ratings in parts that are few sums."""
        sums = self.sums
        if not isinstance(sums, GibbsSums):
            if self.design is None:
                return None
            sums = effect_sums(self.design, self.center)
        totals = sums.totals
        names = Deviations("sd_item", "sd_rater", "sd_residual").swap(self.swapped)
        offset, precision = map(float, self.mean_prior)
        row, column, residual = (self.priors[name] for name in names)
        return CrossedEffects(
            rows=sums.rows,
            n_rows=totals.n_rows,
            per_column=totals.per_column,
            column_total=totals.column_total,
            square=totals.moments.square,
            center=self.center,
            mean_prior=(offset, precision),
            sd_priors=(row, column, residual),
            names=(names.row, names.column, names.residual),
        )

    def deviations(self, point: Mapping[str, Any]) -> Deviations:
        """Standard deviations of a point; the least above 0 in place of those that are 0."""
        sds = (point[name] for name in ("sd_item", "sd_rater", "sd_residual"))
        return Deviations(*(above_zero(sd, self.equal_sd) for sd in sds)).swap(self.swapped)

    @cached_property
    def flat(self) -> CrossedProblem:
        """The same problem without a prior of the mean."""
        return replace(self, priors={**self.priors, "mean": np.array([0.0, math.inf])})

    def marginal(self, sd: Deviations) -> Marginal:
        """Log density of the ratings, and the mean given them, relative to the centre."""
        if isinstance(self.sums, CrossedSums):
            return self.sums.marginal(sd, self.mean_prior)
        return self._exact.at(np.square(sd))

    @cached_property
    def _exact(self) -> MarginalEffects:
        """The density where columns are many."""
        if self.design is None:
            rule = "all ratings must be in memory for the likelihood with so many raters"
            found = f"ratings in parts by {self.sums.n_columns:,} raters"
            remedy = "Read them into memory, dataset.to_ratings(), or call fit."
            raise RatingsError([Fault("ratings", rule, found, remedy)])
        mean, sd = map(float, self.priors["mean"])
        return MarginalEffects.of(self.design.effect_sums(), mean - self.center, sd)

    def rows(self) -> CrossedDesign:
        """Who rated what, to draw the effects of the rows."""
        if self.design is None:
            raise ValueError("the effects of items of a dataset are drawn part by part.")
        return self.design

    @property
    def is_large(self) -> bool:
        """Whether columns are so many that a density takes long, of which few must do."""
        sums = self.sums
        if isinstance(sums, GibbsSums):
            return False
        return work_of(sums.n_columns, sums.n_patterns) >= CROSSED.interpolated

    @property
    def equal_sd(self) -> float:
        """Standard deviation of each source if all three had a third of the variance."""
        return math.sqrt(self.sums.sum_of_squares / self.sums.n_ratings / 3)

    @property
    def mean_prior(self) -> MeanPrior:
        """Prior of the mean relative to the centre."""
        return MeanPrior.of(self.priors["mean"], self.center)

    def stan_data(self) -> StanData:
        """Sums, centre and priors."""
        own = StanData(values={"swapped": int(self.swapped), "center": self.center})
        return self.prior_data | self._for_stan().stan_data() | own

    def _for_stan(self) -> CrossedSums:
        """The sums that NUTS needs, unless they are too many."""
        if isinstance(self.sums, GibbsSums):
            rows, columns = self.sums.totals.n_rows, self.sums.n_columns
            patterns = len(self.design.patterns[0]) if self.design else math.inf
            if columns**2 * (patterns + 1) > CROSSED.by_nuts:
                raise ValueError(
                    f"NUTS is too slow for effects of {rows:,} and {columns:,} items and raters. "
                    "Pass sampler='auto' or 'gibbs', and leave output_dir out."
                )
        return self.crossed


def sums_of(design: CrossedDesign, center: float) -> CrossedSums | GibbsSums:
    """Sums of centred ratings that suit their design; ``benchmarks/README.md`` has measurements."""
    return CrossedSums.of(design) if integrates_out(design) else effect_sums(design, center)


def effect_sums(design: CrossedDesign, center: float) -> GibbsSums:
    """Rows and totals of centred ratings in memory."""
    return GibbsSums(RowEffects.of(design), CrossedTotals.of(design, center))


def integrates_out(design: CrossedDesign) -> bool:
    """Whether integrating out the effects of the columns is cheaper than sampling them."""
    return are_cheap_sums(len(design.column_total), len(design.patterns[0]), design.counts.nnz)


def are_cheap_sums(columns: int, patterns: int, cells: int) -> bool:
    """Whether densities of sums over pairs of columns cost less than passes over the cells.

    Of many ratings densities are smooth, so that a few dozen are computed and others interpolated.
    """
    if columns**2 * (patterns + 1) <= min(CROSSED.sums_by_cell * cells, CROSSED.most_sums):
        return True
    return work_of(columns, patterns) <= CROSSED.integrated


def work_of(columns: int, patterns: int) -> int:
    """Work of a density or its gradient: a Cholesky factor, and a sum over patterns."""
    return columns**2 * (columns + 4 * patterns)


Draws = Posterior[CrossedProblem]


@dataclass(frozen=True)
class Crossed:
    """The family of `GaussianICC`, with priors as they were set."""

    priors: GaussianPriors

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""
        return DIMS

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """Mean and standard deviations, which are numbers."""
        return gaussian.parameters(DIMS)

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
        by_gibbs = isinstance(problem.sums, GibbsSums)
        steps = GIBBS_STEPS if by_gibbs else CROSSED_STEPS
        step_size, acceptance = steps.of(max(sd_of_log))
        return WarmStart(
            mode=dict(zip(SDS, log_sd, strict=True)),
            sd=dict(zip(SDS, sd_of_log, strict=True)),
            constrain=_constrain,
            step_size=step_size,
            adapt_metric=by_gibbs,
            target_acceptance=acceptance,
            path=found.path,
        )

    def cold_start(self, problem: CrossedProblem) -> WarmStart:
        """Standard deviations within a factor e of equal parts of the variance, no effects."""
        mode: dict[str, Any] = dict.fromkeys(SDS, math.log(problem.equal_sd))
        sd: dict[str, Any] = dict.fromkeys(SDS, 0.5)
        acceptance = CROSSED_STEPS.unknown
        return WarmStart(mode=mode, sd=sd, constrain=_constrain, target_acceptance=acceptance)

    def near_normal(self, problem: CrossedProblem, mode: WarmStart) -> NearNormal | None:
        """Independence sampling of the log standard deviations, unless columns are very many.

        Their density is quick, and found for many points at once, so that proposals need not be
        good: chains of hundreds of thousands of them give a thousand draws. With hundreds of
        columns it is slow, and interpolated.
        """
        if isinstance(problem.sums, GibbsSums):
            return None
        is_large = problem.is_large
        cells = (problem.sums.n_columns + 1) ** 2
        if not is_large and cells * (problem.sums.n_patterns + 1) > CROSSED.most_cells:
            return None
        evaluate = partial(_evaluate, problem)
        at, sd = (np.array([each[name] for name in SDS]) for each in (mode.mode, mode.sd))
        quick = InterpolatedDensity.of(evaluate, at, sd) if is_large else None
        if quick:
            return NearNormal(
                quick,
                _finish,
                at,
                np.diag(sd**2),
                thinning=CROSSED.proposals,
                block=CROSSED.at_once,
            )
        return NearNormal(
            evaluate,
            _finish,
            at,
            np.diag(sd**2),
            prefers_nuts=not is_large,
            thinning=int(np.clip(CROSSED.single // cells, 1, CROSSED.most_proposals)),
            block=max(1, IN_MEMORY // 4 // cells),
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
                return float(found.log_density) + gaussian.log_prior_of_sds(sd, problem)
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
        sds = posterior.draws[list(SDS)]
        return xr.Dataset({**gaussian.iccs(sds), **sds, "mean": posterior.draws["mean"]})

    def effects_of_levels(
        self, posterior: Draws, facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame:
        """Summary of exact draws of effects given the parameters, in units of the rating."""
        of_raters = facet == "rater"
        posterior = _with_few_levels(posterior) if of_raters else posterior
        problem = posterior.problem
        sd, columns = _column_effects(posterior, rng)
        rows = problem.rows() if of_raters == problem.swapped else None
        chunks = rows.draw_rows(sd, columns, 2 * IN_MEMORY, rng) if rows else [columns[:, :-1]]
        table = gaussian.table_of_chunks(chunks, prob).set_axis(problem.coords[facet].rename(facet))
        if of_raters:
            table.attrs["draws"] = posterior.n_draws
        return table

    def items_by_part(self, posterior: Draws, prob: float | None, rng: Generator) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of those of the raters."""
        sd, columns = _column_effects(_with_few_levels(posterior), rng)
        return partial(effects_of_part, sd, columns, posterior.problem.center, prob)

    def new_rater(self, posterior: Draws, rng: Generator) -> dict[str, Array]:
        """Effect of one who is drawn from their population."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def pointwise(self, posterior: Draws) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        drawn = self.levels(posterior, np.random.default_rng(gaussian.SEED))
        at = _components(posterior.stacked())[1]
        return gaussian.log_density_by_item(posterior, one_pool(posterior.ratings), drawn, at)

    def replicates(self, posterior: Draws, rng: Generator) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        ratings, at = posterior.ratings_in_memory, _components(posterior.stacked())[1]
        return gaussian.replicates(ratings, one_pool(ratings), self.levels(posterior, rng), at, rng)

    def levels(self, posterior: Draws, rng: Generator) -> Iterator[Array]:
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

    def drawn_point(self, wanted: Wanted, rng: Generator) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors."""
        names = ("mean", *SDS)
        return self.priors.completed(wanted.given, dict.fromkeys(names, ()), rng)

    def simulate(self, wanted: Wanted, rng: Generator) -> Ratings:
        """Ratings of a design."""
        blank = gaussian.blank_numbers(wanted.design)
        pool = one_pool(blank)
        return gaussian.simulated(blank, pool, *_components(self.drawn_point(wanted, rng)), rng)


def one_pool(ratings: AnyRatings) -> Codes:
    """Position (R,) of each rater's pool: all are one population."""
    if isinstance(ratings, Ratings):
        ratings.require_known_raters("GaussianICC")
    return np.zeros(ratings.n_raters, np.intp)


def effects_of_part(
    sd: Deviations,
    columns: Array,
    center: float,
    prob: float | None,
    part: Ratings,
    rng: Generator,
) -> pd.DataFrame:
    """Table of the effects of the items of a part, given those of all raters.

    ``sd`` has (S,) draws, ``columns`` is (S, R + 1) with the mean last, less ``center``.
    """
    raters = columns.shape[1] - 1
    design = CrossedDesign.of(part.item, part.rater, part.values - center, raters)
    table = gaussian.table_of_chunks(design.draw_rows(sd, columns, 2 * IN_MEMORY, rng), prob)
    return table.set_axis(part.items.rename("item"))


def _column_effects(posterior: Draws, rng: Generator) -> tuple[Deviations, Array]:
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
    if isinstance(sums, GibbsSums) and problem.effects:
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


def _finish(log_sd: Array, mean: Array, rng: Generator) -> dict[str, Array]:
    """Draws by name, with means drawn given the standard deviations."""
    drawn = mean[..., 0] + mean[..., 1] * rng.standard_normal(mean.shape[:2])
    sds = np.moveaxis(np.exp(log_sd), -1, 0)
    return dict(zip(SDS, sds, strict=True)) | {"mean": drawn}


def _constrain(point: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.exp(value) if name in SDS else value for name, value in point.items()}
