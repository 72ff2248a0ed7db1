"""Gaussian effects given the data, and the prior of means that they go with."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy

from reliabayes.arrays import Array

FEW = 30  # effects, in whose systems Python takes less time than the import of scipy.linalg
LEAST = 1e-6  # of the scale of ratings: a standard deviation whose effects make no difference


def above_zero(sd: Any, scale: float) -> Any:
    """Standard deviations, with one that makes no difference in place of 0."""
    return np.maximum(sd, LEAST * scale)


class MeanPrior(NamedTuple):
    """Normal prior of the mean, relative to the centre of the ratings; precision 0 is flat.

    Numbers, or (G,) arrays for the means of pools.
    """

    offset: Any
    precision: Any

    @classmethod
    def of(cls, mean_and_sd: Sequence[Any] | Array, center: Any) -> MeanPrior:
        """Prior given as mean and standard deviation."""
        mean, sd = mean_and_sd
        return cls(mean - center, sd**-2)


class Marginal(NamedTuple):
    """Log density of the ratings, and mean and sd of the mean given them; numbers or (N,)."""

    log_density: Any
    mean: Any
    sd_mean: Any

    def criterion(self, *, restricted: bool) -> float:
        """Log-likelihood at the most likely mean, or restricted, if the mean's prior was flat."""
        return float(self.log_density) if restricted else self.at_mean(self.mean)

    def at_mean(self, mean: Any) -> float:
        """Log density of the ratings given the mean, if its prior was flat."""
        away = (mean - self.mean) / self.sd_mean
        of_mean = -0.5 * (away**2 + math.log(2 * math.pi)) - math.log(self.sd_mean)
        return float(self.log_density + of_mean)


class Conditional(NamedTuple):
    """Normal distribution of the effects of the columns, and of the means last, given the data.

    ``factor`` is the lower Cholesky factor L of the precision, ``whitened`` is L' times the mean.
    `of` and `draw` also take stacks of them, one for each draw of the parameters.
    """

    factor: Array
    whitened: Array

    @classmethod
    def of(cls, precision: Array, score: Array) -> Conditional:
        """Distribution with a precision, of which the score is the product with the mean."""
        factor = np.asarray(np.linalg.cholesky(precision), float)
        return cls(factor, _solve(factor, score))

    def log_density_of(self, means: Array) -> float:
        """Log density of the means (G,), which come last, given the data."""
        last = slice(-len(means), None)
        root = self.factor[last, last]
        away = root.T @ means - self.whitened[last]
        constant = 0.5 * len(means) * math.log(2 * math.pi)
        return float(np.log(np.diag(root)).sum() - 0.5 * away @ away - constant)

    @property
    def mean(self) -> Array:
        """Expected effects, and expected means as distances from the centre."""
        return _solve(self.factor, self.whitened, transposed=True)

    @property
    def covariance(self) -> Array:
        """Covariance of the effects and means."""
        inverse = _solve(self.factor, np.eye(len(self.factor)))
        return inverse.T @ inverse

    def draw(self, means: Array, rng: np.random.Generator) -> Array:
        """Effects drawn given the data and the means, which the result repeats last."""
        noise = rng.standard_normal(self.whitened.shape)
        last = slice(-means.shape[-1], None)
        own = np.einsum("...ji,...j->...i", self.factor[..., last, last], means)
        noise[..., last] = own - self.whitened[..., last]
        return _solve(self.factor, self.whitened + noise, transposed=True)


def _solve(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    """Solution of a lower triangular system, or of a stack of them."""
    if factor.ndim > 2:
        return _solve_stack(factor.swapaxes(1, 2) if transposed else factor, right, transposed)
    if len(factor) <= FEW:
        return _substituted(factor.T if transposed else factor, right, transposed)
    # Without scipy's checks, which take longer than the solution.
    solution, _ = scipy.linalg.lapack.dtrtrs(factor, right, lower=1, trans=int(transposed))
    return np.asarray(solution)


def _substituted(triangle: Array, right: Array, upper: bool) -> Array:
    """Solution of a small triangular system, one unknown at a time."""
    solution = np.zeros_like(right)
    for unknown in reversed(range(len(right))) if upper else range(len(right)):
        left = right[unknown] - triangle[unknown] @ solution
        solution[unknown] = left / triangle[unknown, unknown]
    return solution


def _solve_stack(triangle: Array, right: Array, upper: bool) -> Array:
    """Solutions (S, n) of (S, n, n) triangular systems, one unknown of all of them at a time."""
    solution = np.zeros_like(right)
    n = right.shape[1]
    for unknown in reversed(range(n)) if upper else range(n):
        row = triangle[:, unknown]
        left = right[:, unknown] - np.einsum("sk,sk->s", row, solution)
        solution[:, unknown] = left / row[:, unknown]
    return solution
