"""Cholesky factors of correlation matrices, and their way to Stan's unconstrained scale.

Row k of a factor, k > 0, is a point on a sphere: each coordinate is the hyperbolic tangent of a
free number times the length that those before it leave.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reliabayes.arrays import Array


def n_free(size: int) -> int:
    """Free numbers of a factor: pairs of ``size`` variables."""
    return size * (size - 1) // 2


def size(free: Array) -> int:
    """Number of variables whose factor has so many free numbers."""
    return (1 + math.isqrt(1 + 8 * len(free))) // 2


def draw(size: int, shape: float, rng: np.random.Generator) -> Array:
    """(size, size) Cholesky factor of a correlation matrix drawn from LKJ(``shape``)."""
    _, column = np.tril_indices(size, -1)
    concentration = shape + (size - 2 - column) / 2
    return factor(np.arctanh(2 * rng.beta(concentration, concentration) - 1), size)


def factor(free: Array, size: int) -> Array:
    """(size, size) Cholesky factor, made of free numbers row by row."""
    rows = np.eye(size)
    for row, numbers in enumerate(_by_row(free, size), start=1):
        lengths = np.exp(np.append(0.0, np.cumsum(_log_length(numbers))))
        rows[row, : row + 1] = np.append(np.tanh(numbers), 1.0) * lengths
    return rows


def free(factor: Array) -> Array:
    """(size (size - 1) / 2,) free numbers that a Cholesky factor is made of."""
    lengths = np.sqrt(np.cumsum(factor[:, ::-1] ** 2, axis=1)[:, ::-1])
    row, column = np.tril_indices(len(factor), -1)
    return np.asarray(np.arcsinh(factor[row, column] / lengths[row, column + 1]))


def log_lkj(free: Array, size: int, shape: float) -> float:
    """Log density of free numbers whose correlations are LKJ(``shape``), but for a constant."""
    total = 0.0
    for row, numbers in enumerate(_by_row(free, size), start=1):
        logs = _log_length(numbers)
        diagonal = (size - row + 2 * shape - 3) * logs.sum()
        jacobian = 2 * logs.sum() + np.cumsum(logs)[:-1].sum()
        total += float(diagonal + jacobian)
    return total


def _log_length(numbers: Any) -> Array:
    """Log of the share of a length that is left after each coordinate: log sech."""
    return np.asarray(np.log(2) - np.logaddexp(numbers, -numbers))


def _by_row(free: Array, size: int) -> list[Array]:
    return np.split(free, np.cumsum(np.arange(1, size - 1)))
