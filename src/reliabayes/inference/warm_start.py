"""Warm starts: the mode that EM climbs to, its curvature, and where chains start."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.commands import Geometry
from reliabayes.inference.newton import Newton
from reliabayes.inference.problem import StanPart
from reliabayes.inference.time_limit import check_time

State = TypeVar("State")

JITTER = 2.0  # in posterior sds: R-hat needs starting points wider apart than the posterior
MAX_JITTERED_SD = 1.5  # many parameters far out in their tails at once have no posterior mass
# Searches for the mode, each in units of the curvature found before, which a small move leaves
# valid; and steps of each, whose last gradient and longest step are in posterior sds.
SEARCHES, SEARCH = Newton(5, 0.1), Newton(100, 1e-2, 2.0)
LEAST_STEP, DIFFERENCE = 1e-8, 1e-4  # in posterior sds: steps at least, and for finite differences
LEAST_GAIN = 1e-4  # of a step, relative to what the gradient promises


class Start(Protocol):
    """Anything that offers starting points: a warm start, or an earlier fit."""

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """One dict of parameters for each chain."""


@dataclass(frozen=True, eq=False)
class WarmStart:
    """Approximate posterior: a mode, and a standard deviation of each parameter around it.

    Attributes
    ----------
    mode, sd : mapping of str to array
        Parameters by name, on Stan's unconstrained scale and in Stan's order.
    constrain : callable
        Maps parameters on that scale to those of the Stan program.
    step_size : float or None
        First step of the sampler, in units of ``sd``; None where ``sd`` is a poor guide to the
        posterior, so that the sampler has to find metric and step size.
    mean : array of shape (P,) or None
        Mean of the parameters on that scale, where the posterior is close to a normal distribution.
    covariance : array of shape (P, P) or (P,), or None
        Covariance of the parameters on that scale, or variances, in Stan's order where ``sd`` is a
        poor guide.
    adapt_metric : bool
        Whether the sampler is to improve on ``sd`` during warmup.
    max_tree_depth : int
        Largest depth of the trees of NUTS: few steps suffice in a normal posterior.
    target_acceptance : float
        Acceptance rate that the step size is adapted to.
    thinning : int
        Iterations for each draw.
    path : tuple of float
        Objective of EM after each step; empty if EM had no part in it.
    rough : StanPart or None
        A quicker problem whose density is close to that of the posterior, but for a constant.
    centring : StanPart or None
        Location and scale relative to which the program samples, if they depend on the data.
    climbs : int
        How many climbs of EM ended at this mode.
    """

    mode: Mapping[str, Any]
    sd: Mapping[str, Any]
    constrain: Callable[[Mapping[str, Any]], dict[str, Any]]
    step_size: float | None = None
    mean: Array | None = None
    covariance: Array | None = None
    adapt_metric: bool = False
    max_tree_depth: int = 10
    target_acceptance: float = 0.8
    thinning: int = 1
    path: tuple[float, ...] = ()
    rough: StanPart | None = None
    centring: StanPart | None = None
    climbs: int = 1

    @property
    def point(self) -> dict[str, Any]:
        """The mode, as the Stan program declares its parameters."""
        return {name: np.asarray(value) for name, value in self.constrain(self.mode).items()}

    @property
    def centre(self) -> Array:
        """The mode (P,) on the unconstrained scale."""
        return np.concatenate([np.ravel(value) for value in self.mode.values()])

    @property
    def size(self) -> int:
        """Number of parameters."""
        return sum(np.size(value) for value in self.mode.values())

    @property
    def geometry(self) -> Geometry | None:
        """Metric and step size for the sampler, where they are known."""
        if self.step_size is None:
            return None
        variances = np.concatenate([np.ravel(sd) for sd in self.sd.values()]) ** 2
        metric = variances if self.covariance is None else self.covariance
        return Geometry(metric, self.step_size, self.mean, self.adapt_metric, self.max_tree_depth)

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        """Starting points, dispersed more widely than the posterior.

        A chain starts at the same point however many chains there are.
        """
        return [
            self.constrain(
                {
                    name: mode
                    + JITTER
                    * np.minimum(self.sd[name], MAX_JITTERED_SD)
                    * rng.uniform(-1, 1, np.shape(mode))
                    for name, mode in self.mode.items()
                }
            )
            for rng in map(np.random.default_rng, ([seed, chain] for chain in range(chains)))
        ]


def repeat_em(
    step: Callable[[State], State],
    objective: Callable[[State], float],
    start: State,
    *,
    max_iterations: int = 100,
    tolerance: float = 1e-3,
) -> tuple[State, tuple[float, ...]]:
    """Repeat EM steps until one gains less than ``tolerance``; the point, and its objective."""
    point, path = start, [objective(start)]
    for _ in range(max_iterations):
        check_time()
        point = step(point)
        path.append(objective(point))
        if path[-1] - path[-2] < tolerance:
            break
    return point, tuple(path)


def curvature(log_density: Callable[[Array], float], start: Array) -> tuple[Array, Array]:
    """Mode (P,) of a smooth density of few dimensions, and covariance (P, P) by its curvature.

    Searches in units of the curvature at the current point, which is measured anew after a move
    that is not small.
    """
    at = start
    for _ in range(SEARCHES.steps):
        root = _root_of_covariance(log_density, at)
        move = _uphill(log_density, at, root)
        at = at + root @ move
        if np.abs(move).max() < SEARCHES.last:
            break
    return at, root @ root.T


def _uphill(log_density: Callable[[Array], float], start: Array, root: Array) -> Array:
    """Move to the mode in the given units, in which the density is nearly standard normal.

    By the algorithm of Broyden, Fletcher, Goldfarb and Shanno. That of scipy does the same, but its
    import takes longer than the search.
    """

    def value_at(move: Array) -> float:
        check_time()
        return log_density(start + root @ move)

    def slope_at(move: Array, value: float) -> Array:
        return np.array([value_at(move + step) - value for step in steps]) / DIFFERENCE

    steps = DIFFERENCE * np.eye(len(start))
    at, covariance = np.zeros(len(start)), np.eye(len(start))
    value = value_at(at)
    slope = slope_at(at, value)
    for _ in range(SEARCH.steps):
        if np.abs(slope).max() < SEARCH.last:
            break
        step = covariance @ slope
        step /= max(1.0, float(np.linalg.norm(step)) / SEARCH.longest)
        while not (higher := value_at(at + step)) >= value + LEAST_GAIN * (slope @ step):
            step /= 2
            if not np.abs(step).max() >= LEAST_STEP:  # nor is nan
                return at
        at, value, before = at + step, higher, slope
        slope = slope_at(at, value)
        bend = before - slope
        if (curvature_along := bend @ step) > 0:
            rest = np.eye(len(start)) - np.outer(step, bend) / curvature_along
            covariance = rest @ covariance @ rest.T + np.outer(step, step) / curvature_along
    return at


def _root_of_covariance(log_density: Callable[[Array], float], x: Array) -> Array:
    """Root of the covariance, from the curvature at x."""
    values, vectors = np.linalg.eigh(-_hessian(log_density, x))
    # Where the density is flat or convex, a unit step is as good as any.
    variance = np.where(values > 1, 1 / np.maximum(values, 1), 1.0)
    return np.asarray(vectors * np.sqrt(variance))


def _hessian(function: Callable[[Array], float], x: Array, step: float = 1e-3) -> Array:
    """Second derivatives by finite differences, lower triangle."""
    moves, at = step * np.eye(len(x)), function(x)
    bends = [function(x + move) + function(x - move) - 2 * at for move in moves]
    hessian = np.diag(bends)
    for row, column in zip(*np.tril_indices(len(x), -1), strict=True):
        move = moves[row] + moves[column]
        both = function(x + move) + function(x - move) - 2 * at
        hessian[row, column] = (both - bends[row] - bends[column]) / 2
    return hessian / step**2
