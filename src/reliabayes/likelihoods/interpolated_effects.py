"""The density of very many ratings with normal effects, interpolated where it is expensive."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import ClassVar, Protocol

import numpy as np
import scipy
from numpy.polynomial import chebyshev

from reliabayes.arrays import Array, Codes
from reliabayes.errors import RatingsError
from reliabayes.facets.squared_totals import SquaredTotals
from reliabayes.inference.interpolated_density import TOLERANCE
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from reliabayes.likelihoods.rest_effects import RestOfEffects

DEGREES = (5, 7, 9, 11)  # of the polynomials, in all coordinates together, until one is enough
MAX_NODES = 130  # by default
MEMBERS_PER_NODE = 100  # fewer effects in blocks are eliminated quickly at every draw
WIDTH, LEAST_WIDTH = 10.0, 0.05  # of the box; the first in standard errors of log variances
NEAR_ZERO = 1e-8  # least coordinate
CHECKS = 9  # points, and the centre, at which the density is compared with the exact one
NEGLIGIBLE = 25.0  # nats below the highest density


class ExactEffects(Protocol):
    """The density that is interpolated."""

    @property
    def rest(self) -> RestOfEffects:
        """The rest of the effects, to which what the others leave is interpolated."""

    @property
    def eliminated(self) -> Codes:
        """Sources of the others."""

    def reduced_at(self, ratios: Array) -> Array:
        """What is left of them, as flat numbers, at variances (N, K) relative to the residual."""

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K)."""


@dataclass(frozen=True, eq=False)
class Box:
    """Where polynomials stand for exact values.

    Attributes
    ----------
    sources : array of int, shape (D,)
        Sources that have a coordinate.
    per_level : array of float, shape (D,)
        Mean numbers of ratings of their levels.
    low, high : array of float, shape (D,)
        Ends of the coordinates.
    variance : array of float, shape (K,)
        Variances at its centre.
    degree : int
        Degree of the polynomials.
    """

    sources: Codes
    per_level: Array
    low: Array
    high: Array
    variance: Array
    degree: int

    @classmethod
    def around(cls, variance: Array, sources: Codes, squares: SquaredTotals) -> Box:
        """Box around estimates of variances (K,)."""
        levels = squares.levels[sources]
        per_level = squares.n / levels
        width = np.maximum(WIDTH * np.sqrt(2 / levels), LEAST_WIDTH)
        centre = np.log1p(per_level * np.maximum(variance[sources] / variance[-1], 0))
        low = np.maximum(centre - width, NEAR_ZERO)
        # What may be 0 is proposed far above it, too.
        high = centre + width * np.where(low > NEAR_ZERO, 1, 3)
        variance = np.maximum(variance, 0.01 * variance[-1])
        variance[sources] = np.expm1((low + high) / 2) / per_level * variance[-1]
        return cls(sources, per_level, low, high, variance, DEGREES[0])

    @cached_property
    def nodes(self) -> Array:
        """(nodes, D) points of the cube through which polynomials pass.

        They are approximate Fekete points: Sommariva & Vianello (2009),
        https://doi.org/10.1016/j.camwa.2008.11.011.
        """
        axis = np.cos(np.pi * np.arange(self.degree + 1) / self.degree)
        candidates = np.array(list(itertools.product(axis, repeat=len(self.sources))))
        basis = self.basis(candidates)
        pivots = scipy.linalg.qr(basis.T, mode="r", pivoting=True)[1]
        return np.asarray(candidates[pivots[: basis.shape[1]]])

    def basis(self, points: Array) -> Array:
        """Products (N, nodes) of Chebyshev polynomials at points (N, D) of the cube."""
        single = chebyshev.chebvander(points, self.degree)
        axis = np.arange(len(self.sources))
        return np.asarray(single[..., axis, self._powers].prod(axis=-1))

    def unit(self, x: Array) -> Array:
        """Points (N, D) of the cube that have these coordinates."""
        return np.asarray((2 * x - self.low - self.high) / (self.high - self.low))

    def ratios(self, points: Array) -> Array:
        """Variances (N, K) at points (N, D) of the cube, relative to that of the residual."""
        x = (self.low + self.high + points * (self.high - self.low)) / 2
        return self.with_coordinates(self.variance[None] / self.variance[-1], x)

    def with_coordinates(self, variances: Array, x: Array) -> Array:
        """Variances (N, K), those of the sources by the coordinates (N, D)."""
        found = np.repeat(variances, len(x) // len(variances), axis=0)
        found[:, self.sources] = np.expm1(x) / self.per_level * found[:, -1:]
        return found

    @cached_property
    def _powers(self) -> Codes:
        """(nodes, D) degrees by coordinate, which add up to no more than the total."""
        every = itertools.product(range(self.degree + 1), repeat=len(self.sources))
        return np.array([degrees for degrees in every if sum(degrees) <= self.degree])


@dataclass(frozen=True, eq=False)
class InterpolatedEffects:
    """What effects in blocks leave to the rest, as polynomials in the ratios of their variances.

    With the residual variance factored out, all that the many effects of items contribute is a
    smooth function of few numbers, log(1 + n r) by source: n is the mean number of ratings of a
    level, r the variance of the source relative to that of the residual. Polynomials pass through
    exact values at nodes in a box that is far wider than the posterior. Away from the box the
    density falls (it is log-concave in these numbers if the design is balanced), so that the one at
    its edge stands for it where that is negligible; elsewhere outside it is computed exactly.

    Attributes
    ----------
    exact : ExactEffects
        The density that is interpolated.
    box : Box
        Where it is.
    coefficients : array of float, shape (nodes, numbers)
        Of the polynomials.
    """

    is_quick: ClassVar[bool] = True  # dozens of densities at once

    exact: ExactEffects
    box: Box
    coefficients: Array

    @classmethod
    def of(
        cls, exact: ExactEffects, squares: SquaredTotals, most: int = MAX_NODES
    ) -> InterpolatedEffects | None:
        """Polynomials around the estimates of an analysis of variance, with so many nodes at most.

        None if there are no estimates, or the error is too large.
        """
        sources = exact.eliminated
        try:
            variance = squares.estimates()
        except RatingsError:
            return None
        if variance[-1] <= 0:
            return None
        box = Box.around(variance, sources, squares)
        for degree in DEGREES:
            if n_nodes(len(sources), degree) > most:
                break
            found, error = cls._in(replace(box, degree=degree), exact)
            if error < TOLERANCE:
                return found
        return None

    @classmethod
    def _in(cls, box: Box, exact: ExactEffects) -> tuple[InterpolatedEffects, float]:
        """Polynomials in a box, and the largest error of the log density at some points."""
        centre = np.zeros((1, len(box.sources)))
        checks = np.random.default_rng(1).uniform(-1, 1, (CHECKS, len(box.sources)))
        ratios = box.ratios(np.concatenate([box.nodes, centre, checks]))
        values, expected = np.split(exact.reduced_at(ratios), [len(box.nodes)])
        coefficients = np.asarray(np.linalg.solve(box.basis(box.nodes), values), np.float64)
        found = cls(exact, box, coefficients)
        at = box.variance[-1] * ratios[len(values) :]
        difference = found.at_many(at).log_density - exact.rest.densities(expected, at).log_density
        return found, float(np.abs(difference).max())

    def at(self, variance: Array) -> Marginal:
        """Density at variances (K,) of the sources, the last that of the residual."""
        return Marginal(*(float(each[0]) for each in self.at_many(variance[None])))

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K); -inf so far out that rounding decides."""
        x, edge = self._coordinates(variances)
        found = np.array(self._completed(edge, variances))
        doubtful = (x != edge).any(axis=1) & (found[0] > self._highest - NEGLIGIBLE)
        if doubtful.any():
            found[:, doubtful] = self.exact.at_many(variances[doubtful])
        return Marginal(*found)

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects of the rest by source and the mean, drawn given the ratings."""
        _, edge = self._coordinates(variance[None])
        return self.exact.rest.draw(self._values(edge)[0], variance, rng)

    @cached_property
    def _highest(self) -> float:
        """Log density at the centre of the box, or where its numbers near 0 are 0, if larger."""
        box = self.box
        centre = (box.low + box.high) / 2
        x = np.array([centre, np.where(box.low > NEAR_ZERO, centre, box.low)])
        return float(self._completed(x, box.variance[None]).log_density.max())

    def _coordinates(self, variances: Array) -> tuple[Array, Array]:
        """Coordinates (N, D) of variances (N, K), and the nearest in the box."""
        box = self.box
        x = np.log1p(box.per_level * variances[:, box.sources] / variances[:, -1:])
        x = np.where(box.low > NEAR_ZERO, x, np.maximum(x, NEAR_ZERO))
        return x, np.clip(x, box.low, box.high)

    def _values(self, x: Array) -> Array:
        """What others leave to the rest (N, numbers) at coordinates (N, D)."""
        return np.asarray(self.box.basis(self.box.unit(x)) @ self.coefficients)

    def _completed(self, x: Array, variances: Array) -> Marginal:
        """Interpolated densities (N,) at coordinates (N, D), and variances of other sources."""
        return self.exact.rest.densities(self._values(x), self.box.with_coordinates(variances, x))


def n_nodes(dimensions: int, degree: int = DEGREES[0]) -> int:
    """Number of nodes in so many coordinates."""
    return math.comb(degree + dimensions, degree)


def is_worth_it(exact: MarginalEffects) -> bool:
    """Whether the exact density is so slow that values at nodes are found sooner than draws."""
    return len(exact.blocks.members) >= MEMBERS_PER_NODE * n_nodes(len(exact.eliminated))
