"""Densities of few parameters that are slow and smooth, by polynomials around the mode."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy
from numpy.polynomial import chebyshev

from reliabayes.arrays import Array, Codes

Density = Callable[[Array], tuple[Array, Array]]

DEGREE = 5  # of the polynomials, in all parameters together
WIDTH = 7.0  # of the box to either side of the mode, in posterior standard deviations
CHECKED = 4.0  # likewise, of the box in which the error is measured
CHECKS = 5  # points at which the interpolated density is compared with the exact one
TOLERANCE = 1e-3  # largest error of the log density there, in nats


@dataclass(frozen=True, eq=False)
class InterpolatedDensity:
    """Log densities, and numbers that are found with them, as polynomials in a box.

    Outside the box, where hardly any proposal lies, they are computed exactly.

    Attributes
    ----------
    exact : callable
        Log densities (N,) at points (N, P), and numbers (N, M) that are found with them.
    mode, sd : array of float, shape (P,)
        Mode of the density, and standard deviations around it.
    coefficients : array of float, shape (nodes, 1 + M)
        Of products of Chebyshev polynomials.
    """

    exact: Density
    mode: Array
    sd: Array
    coefficients: Array

    @classmethod
    def of(cls, exact: Density, mode: Array, sd: Array) -> InterpolatedDensity | None:
        """Polynomials through exact values; None if the error is too large.

        Nodes are approximate Fekete points: Sommariva & Vianello (2009),
        https://doi.org/10.1016/j.camwa.2008.11.011.
        """
        axis = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
        candidates = np.array(list(itertools.product(axis, repeat=len(mode))))
        basis = _basis(candidates)
        pivots = scipy.linalg.qr(basis.T, mode="r", pivoting=True)[1]
        nodes = pivots[: basis.shape[1]]
        values = _table(exact, mode + WIDTH * sd * candidates[nodes])
        coefficients = np.asarray(np.linalg.solve(basis[nodes], values), float)
        found = cls(exact, mode, sd, coefficients)
        points = np.random.default_rng(1).uniform(-CHECKED, CHECKED, (CHECKS, len(mode)))
        x = mode + sd * points
        error = np.abs(found(x)[0] - exact(x)[0]).max()
        return found if error < TOLERANCE else None

    def __call__(self, x: Array) -> tuple[Array, Array]:
        """Log densities (N,) at points (N, P), and numbers (N, M) that are found with them."""
        unit = (x - self.mode) / (WIDTH * self.sd)
        inside = (np.abs(unit) <= 1).all(axis=1)
        table = np.empty((len(x), self.coefficients.shape[1]))
        table[inside] = _basis(unit[inside]) @ self.coefficients
        if not inside.all():
            table[~inside] = _table(self.exact, x[~inside])
        return table[:, 0], table[:, 1:]


def _table(exact: Density, x: Array) -> Array:
    """Log densities and other numbers (N, 1 + M), one point at a time."""
    return np.array([np.append(*(part[0] for part in exact(point[None]))) for point in x])


def _powers(dimensions: int) -> Codes:
    """(nodes, P) degrees by parameter, which add up to no more than the total."""
    every = itertools.product(range(DEGREE + 1), repeat=dimensions)
    return np.array([degrees for degrees in every if sum(degrees) <= DEGREE])


def _basis(points: Array) -> Array:
    """Products (N, nodes) of Chebyshev polynomials at points (N, P) of the cube."""
    single = chebyshev.chebvander(points, DEGREE)
    axis = np.arange(points.shape[1])
    return np.asarray(single[:, axis, _powers(points.shape[1])].prod(axis=-1))
