"""Where chains start and how far they step: the mode that EM climbs to, and its curvature."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, TypeVar

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from reliabayes.stan import Geometry

Array = NDArray[np.float64]
Point = TypeVar("Point")

JITTER = 2.0  # posterior sds: starts must differ by more than the posterior for R-hat to tell
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
    adapt : whether the sampler is to improve on ``sd`` during warmup
    acceptance : what the step size is adapted to
    path : objective of EM after each step
    """

    mode: Mapping[str, Any]
    sd: Mapping[str, Any]
    constrain: Callable[[Mapping[str, Any]], dict[str, Any]]
    step_size: float | None = None
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
        return Geometry(variances, self.step_size, self.adapt)

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
    """Mode of a smooth density of few dimensions, and standard deviations by its curvature."""

    def negative(x: Any) -> float:
        return -log_density(x)

    found = scipy.optimize.minimize(negative, start, method="BFGS")
    mode = found.x if -found.fun >= log_density(start) else start
    hessian = _hessian(log_density, mode)
    values, vectors = np.linalg.eigh(-hessian)
    # Where the surface is flat or bends the wrong way, a unit step is as good as any.
    variance = np.where(values > 1, 1 / np.maximum(values, 1), 1.0)
    return mode, np.sqrt(vectors**2 @ variance)


def _hessian(function: Callable[[Array], float], x: Array, step: float = 1e-3) -> Array:
    moves = step * np.eye(len(x))
    corners = [
        [
            function(x + a + b) - function(x + a - b) - function(x - a + b) + function(x - a - b)
            for b in moves
        ]
        for a in moves
    ]
    return np.array(corners) / (4 * step**2)
