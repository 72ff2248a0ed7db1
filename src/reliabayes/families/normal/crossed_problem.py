"""Gaussian ratings with crossed effects, reduced to sums."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from reliabayes.errors import Fault, RatingsError
from reliabayes.inference.crossed_effects import CrossedEffects
from reliabayes.inference.problem import Problem, StanData
from reliabayes.likelihoods.gaussian_conditional import Marginal, MeanPrior, above_zero
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums, Deviations
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from reliabayes.likelihoods.row_effects import RowEffects
from reliabayes.likelihoods.swept_sums import CrossedTotals, SweptSums

MOST_SUMS = 150_000_000  # numbers in the sums: 1.2 GB
MOST_BY_STAN = 30_000_000  # the same for NUTS, of which a step then takes more than a second
# Work of a density, as `work_of` counts it: from the first on, NUTS takes longer than independence
# sampling; up to the second, that takes no longer than Gibbs sampling of a thousand ratings.
# Densities are smooth where sums are so few for each cell. From ``python -m benchmarks.switch``.
MANY_BY_NUTS, MOST_EXACT, SUMS_BY_CELL = 125_000, 8_000_000, 40


@dataclass(frozen=True, eq=False, kw_only=True)
class CrossedProblem(Problem):
    """Gaussian ratings with crossed effects, reduced to sums.

    Attributes
    ----------
    swapped : bool
        Whether raters make the rows of the design, because there are more of them than items.
    center : float
        Subtracted from every rating before the sums.
    sums : CrossedSums or SweptSums
        Sums of the centred ratings, to integrate out the effects of the columns, or to sample them
        by Gibbs sampling.
    design : CrossedDesign or None
        Who rated what; None of ratings in parts.
    """

    swapped: bool
    center: float
    sums: CrossedSums | SweptSums
    design: CrossedDesign | None = None

    @cached_property
    def crossed(self) -> CrossedSums:
        """Sums to integrate out the effects of the columns."""
        return self.sums if isinstance(self.sums, CrossedSums) else CrossedSums.of(self.rows())

    @cached_property
    def effects(self) -> CrossedEffects | None:
        """What Gibbs sampling of all effects needs; None of ratings in parts that are few sums."""
        sums = self.sums
        if not isinstance(sums, SweptSums):
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
        if isinstance(sums, SweptSums):
            return False
        return work_of(sums.n_columns, sums.n_patterns) >= MANY_BY_NUTS

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
        if isinstance(self.sums, SweptSums):
            rows, columns = self.sums.totals.n_rows, self.sums.n_columns
            patterns = len(self.design.patterns[0]) if self.design else math.inf
            if columns**2 * (patterns + 1) > MOST_BY_STAN:
                raise ValueError(
                    f"NUTS is too slow for effects of {rows:,} and {columns:,} items and raters. "
                    "Pass sampler='auto' or 'gibbs', and leave output_dir out."
                )
        return self.crossed


def sums_of(design: CrossedDesign, center: float) -> CrossedSums | SweptSums:
    """Sums of centred ratings that suit their design; ``benchmarks/README.md`` has measurements."""
    return CrossedSums.of(design) if integrates_out(design) else effect_sums(design, center)


def effect_sums(design: CrossedDesign, center: float) -> SweptSums:
    """Rows and totals of centred ratings in memory."""
    return SweptSums(RowEffects.of(design), CrossedTotals.of(design, center))


def integrates_out(design: CrossedDesign) -> bool:
    """Whether integrating out the effects of the columns is cheaper than sampling them."""
    return are_cheap_sums(len(design.column_total), len(design.patterns[0]), design.counts.nnz)


def are_cheap_sums(columns: int, patterns: int, cells: int) -> bool:
    """Whether densities of sums over pairs of columns cost less than passes over the cells.

    Of many ratings densities are smooth, so that a few dozen are computed and others interpolated.
    """
    if columns**2 * (patterns + 1) <= min(SUMS_BY_CELL * cells, MOST_SUMS):
        return True
    return work_of(columns, patterns) <= MOST_EXACT


def work_of(columns: int, patterns: int) -> int:
    """Work of a density or its gradient: a Cholesky factor, and a sum over patterns."""
    return columns**2 * (columns + 4 * patterns)
