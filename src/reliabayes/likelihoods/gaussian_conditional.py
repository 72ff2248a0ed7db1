"""Gaussian effects given the data, and the prior of means that they go with."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg.lapack import dtrtrs

from reliabayes.arrays import Array


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


class Conditional(NamedTuple):
    """Normal distribution of the effects of the columns, and of the means last, given the data.

    ``factor`` is the lower Cholesky factor L of the precision, ``whitened`` is L' times the mean.
    """

    factor: Array
    whitened: Array

    @classmethod
    def of(cls, precision: Array, score: Array) -> Conditional:
        """Distribution with a precision, of which the score is the product with the mean."""
        factor = np.asarray(np.linalg.cholesky(precision), float)
        return cls(factor, _solve(factor, score))

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
        noise = rng.standard_normal(len(self.whitened))
        last = slice(-len(means), None)
        noise[last] = self.factor[last, last].T @ means - self.whitened[last]
        return _solve(self.factor, self.whitened + noise, transposed=True)


def _solve(factor: Array, right: Array, *, transposed: bool = False) -> Array:
    """Solution of a lower triangular system, without scipy's checks: they take longer than it."""
    solution, _ = dtrtrs(factor, right, lower=1, trans=int(transposed))
    return np.asarray(solution)
