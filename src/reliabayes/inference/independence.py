"""Independence sampling of posteriors of few parameters that are nearly normal.

Proposals come from a t distribution around the mode, whatever the last draw was, so that densities
are all that is computed: some five for each effective draw, where NUTS takes dozens of gradients.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, ClassVar, Literal

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array, Codes, blocks
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import run_threads
from reliabayes.inference.time_limit import seconds_left
from reliabayes.progress import progress_bar

DF = 9  # of proposals, whose tails must be heavier than those of the posterior
ROUNDS = 2  # of adaptation
SETTLING = 20  # iterations of each chain from its first proposal until it is a draw
SLOW = 0.005  # seconds that a block of densities takes; quicker ones leave other threads no time


@dataclass(frozen=True, eq=False)
class NearNormal:
    """A posterior of few parameters, of which mode and curvature are known.

    Attributes
    ----------
    evaluate : callable
        Log densities (N,) at parameters (N, P), on a scale where they have no limits, and numbers
        (N, M) that are found with them.
    finish : callable
        Draws by name, given parameters (chains, draws, P), the numbers found with them (chains,
        draws, M), and a source of randomness.
    mode : array of float, shape (P,)
        Mode.
    covariance : array of float, shape (P, P)
        Covariance by the curvature there.
    prefers_nuts : bool
        Whether NUTS is better where it can run, as where few data leave the posterior far from
        normal: chains would stay for long at points that proposals hardly reach.
    is_only : bool
        Whether no other sampler can run.
    thinning : int
        Iterations for each draw, and for each iteration of adaptation: several where densities are
        quick, since chains may stay at a point for long.
    block : int
        Points that are evaluated at once.

    References
    ----------
    Tierney (1994), section 2.3.3. https://doi.org/10.1214/aos/1176325750
    """

    sampler: ClassVar[Literal["independence"]] = "independence"

    evaluate: Callable[[Array], tuple[Array, Array]]
    finish: Callable[[Array, Array, np.random.Generator], Mapping[str, Array]]
    mode: Array
    covariance: Array
    prefers_nuts: bool = False
    is_only: bool = False
    thinning: int = 1
    block: int = 1


@dataclass(frozen=True, eq=False)
class _Proposal:
    """A t distribution with scales of its own on each side of its location, along each axis.

    Geweke (1989), section 4, https://doi.org/10.2307/1913710.

    Attributes
    ----------
    location : array of float, shape (P,)
        Where the sides meet.
    root : array of float, shape (P, P)
        Symmetric root of the scale.
    mass, scale : array of float, shape (2, P)
        Probability of each side, below and above, and factor of the scale there.
    """

    location: Array
    root: Array
    mass: Array
    scale: Array

    @classmethod
    def around(cls, mode: Array, covariance: Array) -> _Proposal:
        """With equal sides."""
        sides = (2, len(mode))
        return cls(mode, _root(covariance), np.full(sides, 0.5), np.ones(sides))

    def draw(self, number: int, rng: np.random.Generator) -> Array:
        """Points (number, P)."""
        p, axis = len(self.location), np.arange(len(self.location))
        side = (rng.random((number, p)) < self.mass[1]).astype(int)
        away = np.abs(rng.standard_t(DF, (number, p))) * self.scale[side, axis]
        return np.asarray(self.location + (2 * side - 1) * away @ self.root)

    def log_density(self, points: Array) -> Array:
        """Log densities of points (..., P), up to a constant."""
        z = (points - self.location) @ self.inverse
        side = (z >= 0).astype(int)
        axis = np.arange(len(self.location))
        log_t = -0.5 * (DF + 1) * np.log1p((z / self.scale[side, axis]) ** 2 / DF)
        return np.asarray((log_t + np.log(self.mass / self.scale)[side, axis]).sum(axis=-1))

    @cached_property
    def inverse(self) -> Array:
        """Inverse (P, P) of the root."""
        return np.asarray(np.linalg.inv(self.root))

    def improved(self, points: Array, log_ratio: Array) -> _Proposal:
        """The same with moments of weighted points (..., P), as far as their number tells them.

        Weights are truncated: Ionides (2008), https://doi.org/10.1198/106186008X320456.
        """
        if not log_ratio.size:
            return self
        points = points.reshape(-1, len(self.location))
        weight = np.exp(log_ratio.ravel() - log_ratio.max())
        weight = np.minimum(weight, math.sqrt(len(weight)) * weight.mean())
        weight /= weight.sum()
        enough = 1 / (weight**2).sum()
        trust = enough / (enough + len(self.location) ** 2)
        location = weight @ points
        centred = points - location
        covariance = (weight[:, None] * centred).T @ centred
        old = self.root @ self.root
        root = _root(old + trust * (covariance - old))
        at = self.location + trust * (location - self.location)
        z = np.linalg.solve(root, (points - at).T)
        above = np.stack([z < 0, z >= 0])
        mass = above @ weight
        squares = (above * z**2) @ weight
        prior = 2 * len(self.location) / enough  # pretended points on each side, of scale 1
        return _Proposal(
            at,
            root,
            (mass + prior / 2) / (1 + prior),
            np.sqrt((squares + prior / 2) / (mass + prior / 2)),
        )


def _accepted(log_ratio: Array, rng: np.random.Generator) -> tuple[Codes, Array]:
    """Which proposal a chain is at after each of them, the first included, and their chances.

    Ratios are those of the posterior to the proposals.
    """
    current, at = -math.inf, 0
    positions, chances = np.zeros(len(log_ratio), np.intp), np.ones(len(log_ratio))
    uniform = rng.random(len(log_ratio))
    for n, (ratio, u) in enumerate(zip(log_ratio.tolist(), uniform.tolist(), strict=True)):
        chance = math.exp(min(0.0, ratio - current)) if n else 1.0
        if u < chance:
            current, at = ratio, n
        positions[n], chances[n] = at, chance
    return positions, chances


def _root(covariance: Array) -> Array:
    values, vectors = np.linalg.eigh(covariance)
    return np.asarray(vectors * np.sqrt(values) @ vectors.T)


def sample(
    posterior: NearNormal,
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    parallel_chains: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
) -> Draws:
    """Draws from a posterior by an independence sampler.

    Parameters
    ----------
    posterior : NearNormal
        The posterior.
    chains, warmup, draws : int
        Markov chains, and the iterations of each: those by which all chains together adapt the
        proposals, which are discarded, and those kept.
    seed : int
        Seed of all chains.
    parallel_chains : int, optional
        Chains run at once; by default as many as there are processors.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.
    timeout : float, optional
        Seconds that all chains together may take.

    Returns
    -------
    Draws
        With the statistics ``lp`` and ``acceptance_rate``.

    Raises
    ------
    SamplingError
        The chains took longer than ``timeout``.
    """
    settling, each = min(SETTLING, warmup), posterior.thinning
    rounds = each * np.diff(np.linspace(0, warmup - settling, ROUNDS + 1, dtype=int))
    proposal = _Proposal.around(posterior.mode, posterior.covariance)
    run = _Run(posterior, chains, seed, parallel_chains, seconds_left(timeout))
    total = chains * (settling + each * (warmup - settling + draws))
    with (
        progress_bar("independence sampling", total, run.done, progress) as watch,
        threadpool_limits(limits=1, user_api="blas"),
    ):
        for number in rounds:
            proposal = run.adapted(proposal, int(number), watch)
        points, others, log_density, rate = run.drawn(proposal, settling, each * draws, watch)
    parameters = posterior.finish(points, others, run.rngs[0])
    return Draws(dict(parameters), {"lp": log_density, "acceptance_rate": rate})


class _Run:
    """Chains over one posterior, with the same proposals, in threads where that is quicker."""

    def __init__(
        self,
        posterior: NearNormal,
        chains: int,
        seed: int,
        at_once: int | None,
        seconds: float,
    ) -> None:
        self.posterior = posterior
        self.rngs = [np.random.default_rng([seed, chain]) for chain in range(chains)]
        self.most_at_once = at_once or os.cpu_count() or 1
        self.until = time.monotonic() + seconds
        self.evaluated = [0] * chains

    def done(self) -> int:
        """Number of densities that were computed."""
        return sum(self.evaluated)

    def adapted(self, proposal: _Proposal, number: int, watch: Callable[[], None]) -> _Proposal:
        """Proposals by the moments of as many points of each chain."""

        def chain(position: int, stop: threading.Event) -> tuple[Array, Array]:
            points = proposal.draw(number, self.rngs[position])
            log_density, _ = self._evaluated(points, position, stop)
            return points, log_density - proposal.log_density(points)

        points, log_ratio = zip(*self._in_threads(chain, watch), strict=True)
        return proposal.improved(np.concatenate(points), np.concatenate(log_ratio))

    def drawn(
        self, proposal: _Proposal, settling: int, iterations: int, watch: Callable[[], None]
    ) -> tuple[Array, Array, Array, Array]:
        """Points (C, N, P), numbers found with them (C, N, M), log densities and acceptance rates.

        Chains begin at their first proposal, so many iterations before those from which draws are
        taken.
        """

        def chain(position: int, stop: threading.Event) -> tuple[Array, Array, Array, Array]:
            rng = self.rngs[position]
            points = proposal.draw(settling + iterations, rng)
            log_density, others = self._evaluated(points, position, stop)
            at, chance = _accepted(log_density - proposal.log_density(points), rng)
            kept = slice(settling + self.posterior.thinning - 1, None, self.posterior.thinning)
            at = at[kept]
            return points[at], others[at], log_density[at], chance[kept]

        points, others, log_density, rate = map(
            np.array, zip(*self._in_threads(chain, watch), strict=True)
        )
        return points, others, log_density, rate

    @cached_property
    def at_once(self) -> int:
        """Chains run at once: one if blocks are so quick that threads wait for each other."""
        began = time.monotonic()
        self.posterior.evaluate(np.tile(self.posterior.mode, (self.posterior.block, 1)))
        return self.most_at_once if time.monotonic() - began > SLOW else 1

    def _evaluated(
        self, points: Array, position: int, stop: threading.Event
    ) -> tuple[Array, Array]:
        """Log densities (N,) at points (N, P), and the numbers (N, M) found with them."""
        found: list[tuple[Array, Array]] = []
        for block in blocks(len(points), self.posterior.block):
            if stop.is_set():  # nobody waits for the rest
                raise InterruptedError
            found.append(self.posterior.evaluate(points[block]))
            self.evaluated[position] += len(points[block])
        if not found:
            return np.empty(0), np.empty((0, 0))
        log_density, others = map(np.concatenate, zip(*found, strict=True))
        return np.where(np.isnan(log_density), -math.inf, log_density), others

    def _in_threads(
        self, chain: Callable[[int, threading.Event], Any], watch: Callable[[], None]
    ) -> list[Any]:
        """What a function finds for each chain."""
        stop, found = threading.Event(), [None] * len(self.rngs)

        def task(position: int) -> None:
            found[position] = chain(position, stop)

        tasks = [partial(task, position) for position in range(len(found))]
        run_threads(tasks, stop, at_once=self.at_once, until=self.until, watch=watch)
        return found
