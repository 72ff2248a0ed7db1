"""Cholesky factors of correlation matrices, and Stan's transform of them to free numbers.

Each row of a factor has length 1. Each of its elements left of the diagonal is the hyperbolic
tangent of a free number, times the length that the elements before it leave.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from reliabayes.arrays import Array


def n_free(size: int) -> int:
    """Number of free numbers of a factor.

    Parameters
    ----------
    size : int
        Number D of variables, at least 1.

    Returns
    -------
    int
        D (D - 1) / 2, the number of pairs of variables.
    """
    return size * (size - 1) // 2


def size(free: Array) -> int:
    """Number of variables of a factor, from its free numbers.

    Parameters
    ----------
    free : array of float, shape (D (D - 1) / 2,)
        The free numbers.

    Returns
    -------
    int
        Number D of variables.
    """
    return (1 + math.isqrt(1 + 8 * len(free))) // 2


def parts(root: Array) -> tuple[Array, Array]:
    """Standard deviations, and factor of the correlations, of a lower root of a covariance.

    Parameters
    ----------
    root : array of float, shape (D, D)
        Lower triangular, its diagonal of either sign; the covariance may be singular.

    Returns
    -------
    tuple of arrays of float, shapes (D,) and (D, D)
        Where a standard deviation is 0, its variable is uncorrelated with others.
    """
    root = root * np.where(np.diag(root) < 0, -1.0, 1.0)
    sd = np.sqrt(np.square(root).sum(axis=1))
    none = sd == 0
    factor = np.where(none[:, None], np.eye(len(root)), root / np.where(none, 1.0, sd)[:, None])
    return sd, factor


def draw(size: int, shape: float, rng: np.random.Generator) -> Array:
    """Draw the Cholesky factor of a correlation matrix from an LKJ distribution.

    Parameters
    ----------
    size : int
        Number D of variables, at least 2.
    shape : float
        Shape of the LKJ distribution, above 0; 1 is uniform over correlation matrices.
    rng : Generator
        Source of randomness.

    Returns
    -------
    array of float, shape (D, D)
        The lower Cholesky factor.
    """
    _, column = np.tril_indices(size, -1)
    concentration = shape + (size - 2 - column) / 2
    return factor(np.arctanh(2 * rng.beta(concentration, concentration) - 1), size)


def factor(free: Array, size: int) -> Array:
    """Cholesky factor of a correlation matrix from its free numbers.

    Parameters
    ----------
    free : array of float, shape (D (D - 1) / 2,)
        The free numbers, row by row.
    size : int
        Number D of variables, at least 1.

    Returns
    -------
    array of float, shape (D, D)
        The lower Cholesky factor.
    """
    rows = np.eye(size)
    for row, numbers in enumerate(_by_row(free, size), start=1):
        lengths = np.exp(np.append(0.0, np.cumsum(_log_remaining_length(numbers))))
        rows[row, : row + 1] = np.append(np.tanh(numbers), 1.0) * lengths
    return rows


def free(factor: Array) -> Array:
    """Free numbers of the Cholesky factor of a correlation matrix, the inverse of `factor`.

    Parameters
    ----------
    factor : array of float, shape (D, D)
        The lower Cholesky factor.

    Returns
    -------
    array of float, shape (D (D - 1) / 2,)
        The free numbers, row by row.
    """
    lengths = np.sqrt(np.cumsum(factor[:, ::-1] ** 2, axis=1)[:, ::-1])
    row, column = np.tril_indices(len(factor), -1)
    return np.asarray(np.arcsinh(factor[row, column] / lengths[row, column + 1]))


def log_lkj(free: Array, size: int, shape: float) -> float:
    """Log density of free numbers under an LKJ distribution of the correlations.

    Parameters
    ----------
    free : array of float, shape (D (D - 1) / 2,)
        The free numbers, row by row.
    size : int
        Number D of variables, at least 1.
    shape : float
        Shape of the LKJ distribution, above 0; 1 is uniform over correlation matrices.

    Returns
    -------
    float
        The log density, with the Jacobian of the transform, up to a constant.
    """
    total = 0.0
    for row, numbers in enumerate(_by_row(free, size), start=1):
        log_lengths = _log_remaining_length(numbers)
        log_diagonal = (size - row + 2 * shape - 3) * log_lengths.sum()
        log_jacobian = 2 * log_lengths.sum() + np.cumsum(log_lengths)[:-1].sum()
        total += float(log_diagonal + log_jacobian)
    return total


def _log_remaining_length(numbers: Any) -> Array:
    """Log of the proportion of a row's length that each element leaves: log sech."""
    return np.asarray(np.log(2) - np.logaddexp(numbers, -numbers))


def _by_row(free: Array, size: int) -> list[Array]:
    return np.split(free, np.cumsum(np.arange(1, size - 1)))
