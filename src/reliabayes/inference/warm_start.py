"""Where chains start and how far they step: the mode that EM climbs to, and its curvature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.optimize

from reliabayes.arrays import Array
from reliabayes.inference.stan import Geometry

Point = TypeVar("Point")

JITTER = 2.0  # posterior sds: starts must differ by more than the posterior for R-hat to tell
CLIMBS = 5  # to a mode at most
NEAR, FLAT, STEP = 0.1, 1e-2, 1e-4  # in posterior sds: a short way, a level slope, a small step
WIDEST = 1.5  # sd of starts: far out in the tails of many parameters at once there is nothing


class Start(Protocol):
    """Anything that offers starting points: a warm start, or an earlier fit."""

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """One dict of parameters for each chain."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Approximate posterior: a mode, and a standard deviation of each parameter around it.

    Attributes
    ----------
    mode, sd : parameters by name, on Stan's unconstrained scale and in Stan's order
    constrain : maps parameters on that scale to those of the Stan program
    step_size : first step of the sampler, in units of ``sd``; None where ``sd`` says nothing of
        the posterior, so that metric and step are the sampler's to find
    covariance : (P, P) of the parameters on that scale, where it is known how they go together
    adapt : whether the sampler is to improve on ``sd`` during warmup
    acceptance : what the step size is adapted to
    path : objective of EM after each step
    """

    mode: Mapping[str, Any]
    sd: Mapping[str, Any]
    constrain: Callable[[Mapping[str, Any]], dict[str, Any]]
    step_size: float | None = None
    covariance: Array | None = None
    adapt: bool = False
    acceptance: float = 0.8
    path: tuple[float, ...] = ()

    @property
    def point(self) -> dict[str, Any]:
        """The mode, as the Stan program declares its parameters."""
        return {name: np.asarray(value) for name, value in self.constrain(self.mode).items()}

    @property
    def geometry(self) -> Geometry | None:
        """Metric and step size for the sampler, where they are known."""
        if self.step_size is None:
            return None
        variances = np.concatenate([np.ravel(sd) for sd in self.sd.values()]) ** 2
        metric = variances if self.covariance is None else self.covariance
        return Geometry(metric, self.step_size, self.adapt)

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points, dispersed more widely than the posterior; a chain's own never changes.

        A chain starts at the same point however many chains there are.
        """
        return [
            self.constrain(
                {
                    name: mode
                    + JITTER
                    * np.minimum(self.sd[name], WIDEST)
                    * rng.uniform(-1, 1, np.shape(mode))
                    for name, mode in self.mode.items()
                }
            )
            for rng in map(np.random.default_rng, ([seed, chain] for chain in range(chains)))
        ]


def climb(
    step: Callable[[Point], Point],
    objective: Callable[[Point], float],
    start: Point,
    *,
    most: int = 100,
    tolerance: float = 1e-3,
) -> tuple[Point, tuple[float, ...]]:
    """Repeat EM steps until one gains less than ``tolerance``; the point and the path there."""
    point, path = start, [objective(start)]
    for _ in range(most):
        point = step(point)
        path.append(objective(point))
        if path[-1] - path[-2] < tolerance:
            break
    return point, tuple(path)


def curvature(log_density: Callable[[Array], float], start: Array) -> tuple[Array, Array]:
    """Mode (P,) of a smooth density of few dimensions, and covariance (P, P) by its curvature.

    Climbs in units of the curvature where it stands, which is measured anew after a long way.
    """
    at = start
    for _ in range(CLIMBS):
        root = _root(log_density, at)
        way = _way_up(log_density, at, root)
        at = at + root @ way
        if np.abs(way).max() < NEAR:
            break
    return at, root @ root.T


def _way_up(log_density: Callable[[Array], float], start: Array, root: Array) -> Array:
    """Way to the mode in the given units, in which the density is nearly standard normal."""

    def negative(way: Any) -> float:
        return -log_density(start + root @ way)

    nowhere = np.zeros(len(start))
    found = scipy.optimize.minimize(
        negative, nowhere, method="BFGS", options={"gtol": FLAT, "eps": STEP}
    )
    return np.asarray(found.x) if found.fun <= negative(nowhere) else nowhere


def _root(log_density: Callable[[Array], float], x: Array) -> Array:
    """Root of the covariance by the curvature at x."""
    values, vectors = np.linalg.eigh(-_hessian(log_density, x))
    # Where the surface is flat or bends the wrong way, a unit step is as good as any.
    variance = np.where(values > 1, 1 / np.maximum(values, 1), 1.0)
    return np.asarray(vectors * np.sqrt(variance))


def _hessian(function: Callable[[Array], float], x: Array, step: float = 1e-3) -> Array:
    """Second derivatives, lower triangle: from values at x, along each axis, and two at once."""
    moves, at = step * np.eye(len(x)), function(x)
    bends = [function(x + move) + function(x - move) - 2 * at for move in moves]
    hessian = np.diag(bends)
    for row, column in zip(*np.tril_indices(len(x), -1), strict=True):
        move = moves[row] + moves[column]
        both = function(x + move) + function(x - move) - 2 * at
        hessian[row, column] = (both - bends[row] - bends[column]) / 2
    return hessian / step**2
