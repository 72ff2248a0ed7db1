"""Gaussian ratings where items and raters are both many: sums that start Gibbs sampling."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.crossed_effects import Rows
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_one_pool import Approximation, CrossedDesign, Deviations
from reliabayes.likelihoods.moments import Moments

LEAST_SHARE = 1e-3  # of the variance of all ratings that a source is taken to have at the start
SPREAD = 0.1  # of starting points, in units of the logarithm of a standard deviation


@dataclass(frozen=True, eq=False)
class CrossedTotals:
    """Sums over all rows of a design, or over those of a part of it.

    Ratings are less a pivot, n is the number of ratings of a row i, column j or cell ij, t a sum.

    Attributes
    ----------
    moments : Moments
        Those of all ratings, with the pivot.
    n_rows : int
        Number of rows.
    between : float
        Sum of t_i^2 / n_i.
    squares : float
        Sum of n_i^2.
    overlap : float
        Sum of n_ij^2 / n_i.
    per_column, column_total, column_overlap : array of shape (J,)
        n_j, t_j, and the sum of n_ij^2 over the rows.
    """

    moments: Moments
    n_rows: int
    between: float
    squares: float
    overlap: float
    per_column: Array
    column_total: Array
    column_overlap: Array

    @classmethod
    def of(cls, design: CrossedDesign, pivot: float) -> CrossedTotals:
        """Totals of ratings less a pivot."""
        n, total, cells = design.n, design.total, design.counts.power(2)
        return cls(
            Moments(pivot, int(n.sum()), float(total.sum()), design.square),
            len(n),
            float(np.sum(total**2 / n)),
            float(n @ n),
            float(np.sum(np.asarray(cells.sum(axis=1)).ravel() / n)),
            design.per_column,
            design.column_total,
            np.asarray(cells.sum(axis=0), float).ravel(),
        )

    def __add__(self, other: CrossedTotals) -> CrossedTotals:
        return CrossedTotals(
            self.moments + other.moments,
            self.n_rows + other.n_rows,
            self.between + other.between,
            self.squares + other.squares,
            self.overlap + other.overlap,
            self.per_column + other.per_column,
            self.column_total + other.column_total,
            self.column_overlap + other.column_overlap,
        )

    def deviations(self) -> Deviations:
        """Estimates by Henderson's first method, none much below the noise of the others.

        Henderson (1953), https://doi.org/10.2307/3001853
        """
        size, n = float(self.moments.n), self.per_column
        correction = self.moments.total**2 / size
        rows, columns = self.squares / size, float(n @ n) / size
        expected = [
            [size - rows, size - columns, size - 1],
            [size - rows, self.overlap - columns, self.n_rows - 1],
            [float(np.sum(self.column_overlap / n)) - rows, size - columns, len(n) - 1],
        ]
        between_columns = float(np.sum(self.column_total**2 / n))
        found = np.array([self.moments.square, self.between, between_columns]) - correction
        variance, *_ = np.linalg.lstsq(np.array(expected), found, rcond=None)
        least = LEAST_SHARE * self.moments.sd**2
        row, column, residual = np.sqrt(np.maximum(variance, least)).tolist()
        return Deviations(row, column, residual)


@dataclass(frozen=True, eq=False)
class GibbsSums:
    """What draws effects of rows, and the totals of a design.

    Attributes
    ----------
    rows : Rows
        All rows, in memory or in parts.
    totals : CrossedTotals
        Sums over all of them.
    """

    rows: Rows
    totals: CrossedTotals

    @property
    def n_columns(self) -> int:
        """Number J of columns."""
        return len(self.totals.per_column)

    @property
    def n_ratings(self) -> float:
        """Number of ratings."""
        return float(self.totals.moments.n)

    @property
    def sum_of_squares(self) -> float:
        """Sum of the squared centred ratings."""
        return self.totals.moments.square

    def approximate(
        self, start: float, prior: MeanPrior, log_prior: Callable[[Deviations], float]
    ) -> Approximation:
        """Estimates to start from, which neither a first guess nor priors have a part in."""
        found = self.totals.deviations()
        log_sd = Deviations(*map(math.log, found))
        return Approximation(log_sd, Deviations(SPREAD, SPREAD, SPREAD), ())
