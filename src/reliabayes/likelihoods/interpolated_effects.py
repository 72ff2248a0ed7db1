"""The density of very many ratings with normal effects, interpolated where it is expensive."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import cached_property
from typing import ClassVar

import numpy as np
import scipy.linalg
from numpy.polynomial import chebyshev

from reliabayes.arrays import Array, Codes
from reliabayes.errors import RatingsError
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.estimation import anova
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.marginal_effects import MarginalEffects, Reduced, Solved

DEGREE = 5  # of the polynomials, in all coordinates together
MAX_NODES = 130
MEMBERS_PER_NODE = 100  # fewer effects in blocks are eliminated quickly at every draw
WIDTH, LEAST_WIDTH = 10.0, 0.05  # of the box; the first in standard errors of log variances
NEAR_ZERO = 1e-8  # least coordinate
CHECKS = 5  # points at which the interpolated density is compared with the exact one
NEGLIGIBLE = 25.0  # nats below the highest density
LARGE = 1e300  # a diagonal element that any row below a matrix is compatible with
TOLERANCE = 1e-3  # largest error of the log density there


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
    exact : MarginalEffects
        The density that is interpolated.
    sources : array of int, shape (D,)
        Sources that have a coordinate.
    per_level : array of float, shape (D,)
        Mean numbers of ratings of their levels.
    low, high : array of float, shape (D,)
        Box of the coordinates.
    variance : array of float, shape (K,)
        Variances at its centre.
    """

    is_quick: ClassVar[bool] = True  # dozens of densities at once

    exact: MarginalEffects
    sources: Codes
    per_level: Array
    low: Array
    high: Array
    variance: Array

    @classmethod
    def of(cls, exact: MarginalEffects, sums: EffectSums) -> InterpolatedEffects | None:
        """Polynomials around the estimates of an analysis of variance.

        None if the exact density is quick, there are no estimates, or the error is too large.
        """
        sources = np.union1d(exact.source[exact.blocks.members], [exact.first])
        n_nodes = math.comb(DEGREE + len(sources), DEGREE)
        if n_nodes > MAX_NODES or len(exact.blocks.members) < MEMBERS_PER_NODE * n_nodes:
            return None
        try:
            variance = anova(sums)
        except RatingsError:
            return None
        if variance[-1] <= 0:
            return None
        levels = np.bincount(sums.source)[sources]
        per_level = sums.n / levels
        width = np.maximum(WIDTH * np.sqrt(2 / levels), LEAST_WIDTH)
        centre = np.log1p(per_level * np.maximum(variance[sources] / variance[-1], 0))
        low = np.maximum(centre - width, NEAR_ZERO)
        # What may be 0 is proposed far above it, too.
        high = centre + width * np.where(low > NEAR_ZERO, 1, 3)
        variance = np.maximum(variance, 0.01 * variance[-1])
        variance[sources] = np.expm1((low + high) / 2) / per_level * variance[-1]
        found = cls(exact, sources, per_level, low, high, variance)
        return found if found._error() < TOLERANCE else None

    def at(self, variance: Array) -> Marginal:
        """Density at variances (K,) of the sources, the last that of the residual."""
        return Marginal(*(float(each[0]) for each in self.at_many(variance[None])))

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K); -inf so far out that rounding decides."""
        x = np.log1p(self.per_level * variances[:, self.sources] / variances[:, -1:])
        x = np.where(self.low > NEAR_ZERO, x, np.maximum(x, NEAR_ZERO))
        edge = np.clip(x, self.low, self.high)
        found = np.array(self._completed(edge, self._with(variances, edge)))
        doubtful = (x != edge).any(axis=1) & (found[0] > self._highest - NEGLIGIBLE)
        if doubtful.any():
            found[:, doubtful] = self.exact.at_many(variances[doubtful])
        return Marginal(*found)

    @cached_property
    def _highest(self) -> float:
        """Log density at the centre of the box, or where its numbers near 0 are 0, if larger."""
        centre = (self.low + self.high) / 2
        x = np.array([centre, np.where(self.low > NEAR_ZERO, centre, self.low)])
        return float(self._completed(x, self._with(self.variance[None], x)).log_density.max())

    def _with(self, variances: Array, x: Array) -> Array:
        """Variances (N, K), those of the sources by the coordinates (N, D)."""
        found = np.repeat(variances, len(x) // len(variances), axis=0)
        found[:, self.sources] = np.expm1(x) / self.per_level * found[:, -1:]
        return found

    def _completed(self, x: Array, variances: Array) -> Marginal:
        """Interpolated densities (N,) at coordinates (N, D) and the variances that have these.

        The right side is a row below the matrix, so that the Cholesky factor has its solution.
        """
        values = self._basis(self._unit(x)) @ self._coefficients
        size, at = len(self.exact.blocks.rest), np.arange(len(self.exact.blocks.rest))
        log_det, explained, right, triangle = np.split(values, [1, 2, 2 + size], axis=1)
        matrix = np.zeros((len(values), size + 1, size + 1))
        matrix[(slice(None), *self._triangle)] = triangle
        own = self.exact.precision(variances)
        matrix[:, at, at] += own
        matrix[:, size, :size], matrix[:, size, size] = right, LARGE
        factor = np.linalg.cholesky(matrix)
        scores, diagonal = factor[:, size, :size], factor[:, at, at]
        sd = 1 / diagonal[:, -1]
        solved = Solved(
            2 * np.log(diagonal).sum(axis=1), (scores**2).sum(axis=1), scores[:, -1] * sd, sd
        )
        reduced = Reduced(log_det[:, 0], explained[:, 0], right, matrix)
        return self.exact.density(reduced, own, solved, variances)

    @cached_property
    def _coefficients(self) -> Array:
        """(nodes, numbers) coefficients of the polynomials.

        Nodes are approximate Fekete points: Sommariva & Vianello (2009),
        https://doi.org/10.1016/j.camwa.2008.11.011.
        """
        axis = np.cos(np.pi * np.arange(DEGREE + 1) / DEGREE)
        candidates = np.array(list(itertools.product(axis, repeat=len(self.sources))))
        basis = np.array([self._basis(point) for point in candidates])
        pivots = scipy.linalg.qr(basis.T, mode="r", pivoting=True)[1]
        nodes = pivots[: basis.shape[1]]
        values = np.array(
            [self._flat(self.exact.reduced(self._ratio(candidates[k]))) for k in nodes]
        )
        return np.linalg.solve(basis[nodes], values)

    @cached_property
    def _powers(self) -> Codes:
        """(nodes, D) degrees by coordinate, which add up to no more than the total."""
        every = itertools.product(range(DEGREE + 1), repeat=len(self.sources))
        return np.array([degrees for degrees in every if sum(degrees) <= DEGREE])

    @cached_property
    def _triangle(self) -> tuple[Codes, Codes]:
        return np.tril_indices(len(self.exact.blocks.rest))

    def _basis(self, point: Array) -> Array:
        """Products (..., nodes) of Chebyshev polynomials at points (..., D) of the cube."""
        single = chebyshev.chebvander(point, DEGREE)
        axis = np.arange(len(self.sources))
        return np.asarray(single[..., axis, self._powers].prod(axis=-1))

    def _unit(self, x: Array) -> Array:
        return np.asarray((2 * x - self.low - self.high) / (self.high - self.low))

    def _ratio(self, point: Array) -> Array:
        """Relative variances (K,) at a point of the cube."""
        x = (self.low + self.high + point * (self.high - self.low)) / 2
        ratio: Array = self.variance / self.variance[-1]
        ratio[self.sources] = np.expm1(x) / self.per_level
        return ratio

    def _flat(self, reduced: Reduced) -> Array:
        log_det, explained, right, matrix = reduced
        return np.concatenate([[log_det, explained], right, matrix.T[self._triangle]])

    def _error(self) -> float:
        """Largest difference between interpolated and exact log density at random points."""
        points = np.random.default_rng(1).uniform(-1, 1, (CHECKS, len(self.sources)))
        variances = self.variance[-1] * np.array([self._ratio(point) for point in points])
        found, exact = self.at_many(variances), self.exact.at_many(variances)
        return float(np.abs(found.log_density - exact.log_density).max())
