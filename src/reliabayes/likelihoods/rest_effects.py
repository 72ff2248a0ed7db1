"""Effects that are solved for together, after those of which there are many are integrated out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy

from reliabayes.arrays import Array, Codes
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.item_effects import LARGE


class Solved(NamedTuple):
    """Log determinant of a precision, what it explains, and mean and sd of the last effect."""

    log_det: Any
    explained: Any
    mean: Any
    sd_mean: Any


class Reduced(NamedTuple):
    """What is left when all effects but the rest are integrated out, per residual variance.

    Log determinant of I + V B with the covariances V of these effects and the precision B that
    ratings give them, what they explain, and right side (P,) and matrix (P, P) of the rest, whose
    upper triangle by columns is set. Those of parts that share no effects but the rest add up.
    """

    log_det: Any
    explained: Any
    right: Array
    matrix: Array

    def flat(self) -> Array:
        """All these numbers (2 + P + P (P + 1) / 2,)."""
        triangle = self.matrix.T[np.tril_indices(len(self.right))]
        return np.concatenate([[self.log_det, self.explained], self.right, triangle])


@dataclass(frozen=True, eq=False)
class RestOfEffects:
    """The rest, and what the density needs besides what the others leave to it.

    Attributes
    ----------
    n : int
        Number of ratings.
    centre : float
        Prior mean of the grand mean, or the mean of the ratings if it has none.
    sd_mean : float
        Standard deviation of that prior, infinite if it is flat.
    square : float
        Sum of squares of the ratings, relative to ``centre``.
    first : int
        Source that is eliminated first.
    size, levels : array of float, shape (D,)
        Distinct numbers of ratings of its levels, and how many levels have each.
    source : array of int, shape (P,)
        Source of each effect of the rest, that of the mean last.
    """

    n: int
    centre: float
    sd_mean: float
    square: float
    first: int
    size: Array
    levels: Array
    source: Codes

    def precision(self, variance: Array) -> Array:
        """Precisions (..., P) of the rest by their priors, per residual variance."""
        residual = variance[..., -1:]
        own = residual / variance[..., self.source]
        own[..., -1] = residual[..., 0] * self.sd_mean**-2
        return np.asarray(own)

    def density(
        self, log_det: Any, explained: Any, own: Array, solved: Solved, variance: Array
    ) -> Marginal:
        """Density, given what is left of others, the precisions of the rest and its solution."""
        residual, flat = variance[..., -1], math.isinf(self.sd_mean)
        first = variance[..., self.first] / residual
        determinants = (
            log_det
            + np.log1p(np.multiply.outer(first, self.size)) @ self.levels
            + solved.log_det
            - np.log(own[..., : own.shape[-1] - flat]).sum(axis=-1)
            + (self.n - flat) * np.log(2 * math.pi * residual)
        )
        quadratic = (self.square - explained - solved.explained) / residual
        return Marginal(
            -0.5 * (determinants + quadratic),
            self.centre + solved.mean,
            np.sqrt(residual) * solved.sd_mean,
        )

    def densities(self, flat: Array, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K), given what others leave at each, as flat numbers."""
        log_det, explained, own, factor, scores = self._solved(flat, variances)
        diagonal = np.diagonal(factor, axis1=1, axis2=2)
        sd = 1 / diagonal[:, -1]
        solved = Solved(
            2 * np.log(diagonal).sum(axis=1), (scores**2).sum(axis=1), scores[:, -1] * sd, sd
        )
        return self.density(log_det, explained, own, solved, variances)

    def draw(
        self, flat: Array, variance: Array, rng: np.random.Generator
    ) -> tuple[list[Array], float]:
        """Effects of the rest by source and the mean, drawn given the ratings."""
        *_, factor, scores = (each[0] for each in self._solved(flat[None], variance[None]))
        noise = math.sqrt(variance[-1]) * rng.standard_normal(len(scores))
        drawn = scipy.linalg.solve_triangular(
            factor, scores + noise, trans=1, lower=True, check_finite=False
        )
        by_source = [drawn[:-1][self.source[:-1] == k] for k in range(len(variance) - 1)]
        return by_source, self.centre + float(drawn[-1])

    def _solved(self, flat: Array, variances: Array) -> tuple[Array, Array, Array, Array, Array]:
        """What others leave, precisions (N, P), and factors (N, P, P) and scores (N, P)."""
        size, at = len(self.source), np.arange(len(self.source))
        log_det, explained, right, triangle = np.split(flat, [1, 2, 2 + size], axis=1)
        # The right side is a row below the matrix, so that the Cholesky factor has its solution.
        matrix = np.zeros((len(flat), size + 1, size + 1))
        matrix[(slice(None), *self._triangle)] = triangle
        own = self.precision(variances)
        matrix[:, at, at] += own
        matrix[:, size, :size], matrix[:, size, size] = right, LARGE
        factor = np.asarray(np.linalg.cholesky(matrix), np.float64)
        return log_det[:, 0], explained[:, 0], own, factor[:, :size, :size], factor[:, size, :size]

    @cached_property
    def _triangle(self) -> tuple[Codes, Codes]:
        return np.tril_indices(len(self.source))
