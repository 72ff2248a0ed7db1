"""Elementary arithmetic that the coefficients share."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reliabayes.arrays import Array, Codes

ROUNDING = 1e-13  # relative rounding error of differences of sums of squares


def ratio(numerator: ArrayLike, denominator: ArrayLike, otherwise: float = np.nan) -> Array:
    """Return the elementwise quotient, or another value where the denominator is 0.

    Parameters
    ----------
    numerator, denominator : array_like
        Broadcast against each other; complex numbers are allowed.
    otherwise : float, default nan
        Value where the denominator is 0.

    Returns
    -------
    array
        The quotients.
    """
    above, below = np.broadcast_arrays(numerator, denominator)
    out = np.full(above.shape, otherwise, np.result_type(above, below, float))
    return np.asarray(np.divide(above, below, out=out, where=below != 0))


def sum_by_index(index: Codes, values: Array | None, size: int) -> Array:
    """Return the sum of the values with each index.

    Parameters
    ----------
    index : array of int, shape (N,)
        Index of each value, from 0 to ``size - 1``.
    values : array of float, shape (N,), or None
        None counts the indices.
    size : int
        Length of the result.

    Returns
    -------
    array of float, shape (size,)
        The sums; 0 for an index that does not occur.
    """
    return np.asarray(np.bincount(index, values, size), np.float64)


def difference_of_squares(one: Array, other: Array) -> Array:
    """Subtract sums of squares; the result is 0 where it is within rounding error.

    Parameters
    ----------
    one, other : array of float, shape (...)
        Sums of squares.

    Returns
    -------
    array of float, shape (...)
        Their difference.
    """
    out = one - other
    return np.where(np.abs(out) > ROUNDING * np.abs(one), out, 0)
