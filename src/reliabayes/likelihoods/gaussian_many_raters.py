"""Gaussian ratings where both items and raters are many: each step is one pass over the ratings.

The counterpart of `CrossedSums` for designs with too many columns to integrate out their effects
together. Stan samples these effects; here they are approximated as if independent (mean field).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.inference.problem import StanData
from reliabayes.inference.warm_start import repeat_em
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_one_pool import Approximation, CrossedDesign, Deviations


class MeanField(NamedTuple):
    """Independent normal approximation of all effects, around a mean.

    ``row`` and ``column`` are expected effects, ``row_variance`` and ``column_variance`` their
    variances.
    """

    sd: Deviations
    mean: float
    row: Array
    row_variance: Array
    column: Array
    column_variance: Array


@dataclass(frozen=True, eq=False)
class CrowdSums:
    """A design, with the sums by pattern that scale and centre the effects of the columns.

    Attributes
    ----------
    design : CrossedDesign
        Who rated what.
    gram : array of shape (D + 1, J)
        Ratings of each column, then their squares summed over the rows of each pattern.
    moment : array of shape (D + 1, J)
        Sum of the ratings of each column, then as in `CrossedSums`.
    """

    design: CrossedDesign
    gram: Array
    moment: Array

    @classmethod
    def of(cls, design: CrossedDesign) -> CrowdSums:
        """Sums of a data set."""
        _, pattern, _ = design.patterns
        member = sp.csr_array((np.ones(len(pattern)), (pattern, np.arange(len(pattern)))))
        shared = (member @ design.counts.power(2)).toarray()
        sums = (member @ sp.diags_array(design.total) @ design.counts).toarray()
        return cls(
            design,
            gram=np.vstack([design.per_column, shared]),
            moment=np.vstack([design.column_total, sums]),
        )

    def stan_data(self) -> StanData:
        """What ``gaussian_icc_crowd.stan`` reads."""
        n, pattern, multiplicity = self.design.patterns
        counts = self.design.counts
        square = np.bincount(pattern, self.design.total**2)
        return StanData(
            sizes={
                "N": int(self.n_ratings),
                "J": self.n_columns,
                "M": counts.shape[0],
                "D": len(n),
                "C": counts.nnz,
            },
            positions={"pattern": pattern, "first_cell": counts.indptr, "column": counts.indices},
            values={
                "n": n,
                "multiplicity": multiplicity,
                "total": self.design.total,
                "count": counts.data,
                "gram": self.gram.T,
                "moment": self.moment.T,
                "square": np.append(self.design.square, square),
            },
        )

    @property
    def n_columns(self) -> int:
        """Number J of columns."""
        return int(self.design.counts.shape[1])

    @property
    def n_patterns(self) -> int:
        """Distinct numbers D of ratings of a row."""
        return len(self.design.patterns[0])

    @property
    def n_ratings(self) -> float:
        """Number of ratings."""
        n, _, multiplicity = self.design.patterns
        return float(n @ multiplicity)

    @property
    def sum_of_squares(self) -> float:
        """Sum of the squared centred ratings."""
        return self.design.square

    def approximate(
        self, start: float, prior: MeanPrior, log_prior: Callable[[Deviations], float]
    ) -> Approximation:
        """Mode by mean-field EM; posterior sds of the standard deviations from the counts.

        With so many ratings the prior of the standard deviations hardly matters and is left out.
        """
        n_rows, n_columns = self.design.counts.shape
        ratings = float(self.design.n.sum())
        first = self.em_step(self.without_effects(start))
        at, path = repeat_em(self.em_step, self.bound, first, tolerance=1e-6 * ratings)
        noise = at.sd.residual**2
        row_noise = np.mean(noise / self.design.n)
        column_noise = np.mean(noise / self.design.per_column)
        # Smaller ones are indistinguishable from 0; EM may end there, but no chain may start there.
        sd = Deviations(
            row=max(at.sd.row, math.sqrt(row_noise * math.sqrt(2 / n_rows))),
            column=max(at.sd.column, math.sqrt(column_noise * math.sqrt(2 / n_columns))),
            residual=at.sd.residual,
        )
        degrees = max(ratings - n_rows - n_columns, n_rows / 10)
        sd_of_log = Deviations(
            row=(1 + row_noise / sd.row**2) / math.sqrt(2 * n_rows),
            column=(1 + column_noise / sd.column**2) / math.sqrt(2 * n_columns),
            residual=1 / math.sqrt(2 * degrees),
        )
        score = self.scores(at.column + at.mean, sd, prior)
        return Approximation(Deviations(*np.log(sd)), sd_of_log, {"score": score}, 0.3, 0.8, path)

    def without_effects(self, sd: float) -> MeanField:
        """No effects, and one standard deviation for all three sources."""
        row, column = map(np.zeros, self.design.counts.shape)
        return MeanField(Deviations(sd, sd, sd), 0.0, row, row, column, column)

    def em_step(self, at: MeanField) -> MeanField:
        """Effects given the rest in turn, then the standard deviations: one step of EM."""
        counts, n, per_column = self.design.counts, self.design.n, self.design.per_column
        noise = at.sd.residual**2
        row_variance = 1 / (n / noise + at.sd.row**-2)
        row = row_variance * (self.design.total - counts @ at.column - n * at.mean) / noise
        column_variance = 1 / (per_column / noise + at.sd.column**-2)
        left = self.design.column_total - counts.T @ row - per_column * at.mean
        column = column_variance * left / noise
        mean = (self.design.total.sum() - n @ row - per_column @ column) / n.sum()
        there = MeanField(at.sd, mean, row, row_variance, column, column_variance)
        sd = Deviations(
            row=math.sqrt(np.mean(row**2 + row_variance)),
            column=math.sqrt(np.mean(column**2 + column_variance)),
            residual=math.sqrt(self._expected_squares(there) / n.sum()),
        )
        return there._replace(sd=sd)

    def bound(self, at: MeanField) -> float:
        """Lower bound of the log-likelihood, up to a constant; EM increases it."""
        margins = (
            (at.sd.row, at.row, at.row_variance),
            (at.sd.column, at.column, at.column_variance),
        )
        squares = self._expected_squares(at)
        bound = -self.design.n.sum() * math.log(at.sd.residual)
        bound = bound - squares / (2 * at.sd.residual**2)
        for sd, effect, variance in margins:
            ratio = (effect**2 + variance) / sd**2
            bound += 0.5 * float(np.sum(np.log(variance / sd**2) - ratio))
        return float(bound)

    def _expected_squares(self, at: MeanField) -> float:
        """Expected sum of squared residuals."""
        n, per_column = self.design.n, self.design.per_column
        linear = at.row @ self.design.total + at.column @ self.design.column_total
        squares = n @ (at.row**2 + at.row_variance)
        squares = squares + per_column @ (at.column**2 + at.column_variance)
        crossed = at.row @ (self.design.counts @ at.column)
        mean = n.sum() * at.mean**2 + 2 * at.mean * (n @ at.row + per_column @ at.column)
        mean -= 2 * at.mean * self.design.total.sum()
        return float(self.design.square - 2 * linear + squares + 2 * crossed + mean)

    def levels(self, score: Array, sd: Deviations, prior: MeanPrior) -> Array:
        """(..., J) levels of the columns, each mean plus effect, from their (..., J) scores."""
        precision, weighted_sum = self._independent_levels(sd)
        root = np.sqrt(precision)
        common = (root * score).sum(axis=-1, keepdims=True)
        common = common / precision.sum(axis=-1, keepdims=True)
        stretch = 1 / np.sqrt(self._common_stiffness(sd, prior, precision)) - 1
        return np.asarray(weighted_sum / precision + score / root + stretch * common)

    def scores(self, level: Array, sd: Deviations, prior: MeanPrior) -> Array:
        """(..., J) scores of (..., J) levels: the inverse of `levels`."""
        precision, weighted_sum = self._independent_levels(sd)
        root = np.sqrt(precision)
        alone = root * (level - weighted_sum / precision)
        common = (root * alone).sum(axis=-1, keepdims=True)
        common = common / precision.sum(axis=-1, keepdims=True)
        stretch = np.sqrt(self._common_stiffness(sd, prior, precision)) - 1
        return np.asarray(alone + stretch * common * root)

    def _common_stiffness(self, sd: Deviations, prior: MeanPrior, precision: Array) -> Array:
        """(..., 1) precision of a shift of all levels at once, over that of independent levels."""
        n, _, multiplicity = self.design.patterns
        size = precision.shape[-1]
        shared = sd.weights(n) @ np.append(n @ multiplicity, n**2 * multiplicity)
        own = size * prior.precision / (size + prior.precision * np.square(sd.column))
        total = np.asarray(shared + own)[..., None]
        return np.asarray(total / precision.sum(axis=-1, keepdims=True))

    def _independent_levels(self, sd: Deviations) -> tuple[Array, Array]:
        """(..., J) precision of each level with the others held at 0, and that times its mean."""
        weights = sd.weights(self.design.patterns[0])
        precision = weights @ self.gram + np.square(sd.column)[..., None] ** -1
        return precision, weights @ self.moment
