"""Bridge sampling: the mass of a density that is known up to a constant, from draws of it."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy
from scipy.special import expit, logsumexp

from reliabayes.arrays import Array
from reliabayes.results.chain_statistics import measures

DRAWS_PER_PARAMETER = 10  # from which on draws are enough to estimate all covariances
MAX_ITERATIONS = 1000
TOLERANCE = 1e-6  # nats


class Mass(NamedTuple):
    """Logarithm of the integral of a density, in nats, and its standard error."""

    log: float
    error: float


def bridge(
    draws: Array,
    log_density: Array,
    evaluate: Callable[[Array], Array],
    rng: np.random.Generator,
) -> Mass:
    """Log of the integral of a density over its whole space.

    The first half of the draws gives a normal approximation; the integral is then estimated from
    the other half and from points drawn from the approximation, weighted optimally.

    Parameters
    ----------
    draws : array of shape (S, P)
        Draws from the density, of P real numbers, chain by chain.
    log_density : array of shape (S,)
        Log of the density at the draws, in nats, up to a constant.
    evaluate : callable
        Gives the same (N,) at any points (N, P); minus infinity where the density is 0.
    rng : Generator
        Source of the points.

    Returns
    -------
    Mass
        In nats, up to the same constant. The error is infinite where the approximation and the
        density have next to nothing in common.

    References
    ----------
    Meng & Wong (1996), https://www.jstor.org/stable/24306045.
    Error: Frühwirth-Schnatter (2004), https://doi.org/10.1111/j.1368-423X.2004.00125.x
    """
    half = len(draws) // 2
    normal = _Normal.of(draws[:half])
    kept = draws[half:]
    points = normal.draw(len(kept), rng)
    # Log ratios of the density to its approximation, at draws of each.
    at_draws = log_density[half:] - normal.log_density(kept)
    at_points = evaluate(points) - normal.log_density(points)
    log_mass = float(np.median(at_draws))
    for _ in range(MAX_ITERATIONS):
        # Each number is weighted by how probably it is of the other kind.
        of_density = expit(at_points - log_mass)
        of_normal = expit(log_mass - at_draws)
        if not (of_density.mean() > 0 and of_normal.mean() > 0):
            return Mass(log_mass, math.inf)
        change = math.log(of_density.mean() / of_normal.mean())
        log_mass += change
        if abs(change) < TOLERANCE:
            break
    halves = of_normal[: len(kept) // 2 * 2].reshape(2, -1)
    variance = (
        of_density.var() / of_density.mean() ** 2 / of_density.size
        + of_normal.var()
        / of_normal.mean() ** 2
        / np.fmax(measures(halves[None])["ess_bulk"][0], 1.0)
    )
    return Mass(log_mass, math.sqrt(variance))


class _Normal(NamedTuple):
    """Multivariate normal distribution: mean (P,), and root of the covariance, lower triangle."""

    mean: Array
    root: Array

    @classmethod
    def of(cls, points: Array) -> _Normal:
        """The one with the mean and the covariances of points (N, P), or with their variances."""
        if len(points) < DRAWS_PER_PARAMETER * points.shape[1]:
            return cls(points.mean(axis=0), np.diag(points.std(axis=0)))
        return cls(
            points.mean(axis=0), scipy.linalg.cholesky(np.atleast_2d(np.cov(points.T)), lower=True)
        )

    def draw(self, number: int, rng: np.random.Generator) -> Array:
        score = rng.standard_normal((number, len(self.mean)))
        return np.asarray(self.mean + score @ self.root.T)

    def log_density(self, points: Array) -> Array:
        score = scipy.linalg.solve_triangular(self.root, (points - self.mean).T, lower=True)
        log_scale = np.log(np.diag(self.root)).sum() + 0.5 * len(self.mean) * math.log(2 * math.pi)
        return np.asarray(-0.5 * (score**2).sum(axis=0) - log_scale)


def shares(masses: Array) -> Array:
    """Shares of the whole, from logs of masses."""
    return np.asarray(np.exp(masses - logsumexp(masses)))
