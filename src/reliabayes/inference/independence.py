"""Independence sampling of posteriors of few parameters that are nearly normal.

Proposals come from a t distribution around the mode, whatever the last draw was, so that densities
are all that is computed: some five for each effective draw, where NUTS takes dozens of gradients.
"""

from __future__ import annotations

import math
import os
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array, Codes
from reliabayes.inference.progress import progress_bar
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import run_threads
from reliabayes.inference.time_limit import seconds_left

DF = 9  # of proposals, whose tails must be heavier than those of the posterior
ROUNDS = 2  # of adaptation
SETTLING = 20  # iterations of each chain from its first proposal until it is a draw
SLOW = 0.005  # seconds that a density takes; quicker ones leave other threads no time


@dataclass(frozen=True, eq=False)
class NearNormal:
    """A posterior of few parameters, of which mode and curvature are known.

    Attributes
    ----------
    evaluate : callable
        Log density at parameters (P,), on a scale where they have no limits, and numbers (M,) that
        are found with it.
    finish : callable
        Draws by name, given parameters (chains, draws, P), the numbers found with them (chains,
        draws, M), and a source of randomness.
    mode : array of float, shape (P,)
        Mode.
    covariance : array of float, shape (P, P)
        Covariance by the curvature there.
    is_vague : bool
        Whether NUTS is quicker, because few data leave it far from normal.

    References
    ----------
    Tierney (1994), section 2.3.3. https://doi.org/10.1214/aos/1176325750
    """

    sampler: ClassVar[Literal["independence"]] = "independence"

    evaluate: Callable[[Array], tuple[float, Array]]
    finish: Callable[[Array, Array, np.random.Generator], Mapping[str, Array]]
    mode: Array
    covariance: Array
    is_vague: bool = False


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

    def draw(self, number: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Points (number, P), and log densities up to a constant."""
        p, axis = len(self.location), np.arange(len(self.location))
        t = rng.standard_t(DF, (number, p))
        side = (rng.random((number, p)) < self.mass[1]).astype(int)
        points = self.location + (2 * side - 1) * np.abs(t) * self.scale[side, axis] @ self.root
        log_density = -0.5 * (DF + 1) * np.log1p(t**2 / DF).sum(axis=1)
        log_density += np.log(self.mass / self.scale)[side, axis].sum(axis=1)
        return points, log_density - np.linalg.slogdet(self.root)[1]

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
    settling = min(SETTLING, warmup)
    rounds = np.diff(np.linspace(0, warmup - settling, ROUNDS + 1, dtype=int))
    proposal = _Proposal.around(posterior.mode, posterior.covariance)
    run = _Run(posterior.evaluate, chains, seed, parallel_chains, seconds_left(timeout))
    total = chains * (warmup + draws)
    with (
        progress_bar("independence sampling", total, run.done, progress) as watch,
        threadpool_limits(limits=1, user_api="blas"),
    ):
        for number in rounds:
            found = run.propose(proposal, int(number), watch)
            proposal = proposal.improved(found.points, found.log_ratio)
        found = run.propose(proposal, settling + draws, watch)
    chain = np.arange(chains)[:, None]
    at, rate = found.accepted(run.rngs)
    at, rate = at[:, settling:], rate[:, settling:]
    parameters = posterior.finish(found.points[chain, at], found.others[chain, at], run.rngs[0])
    statistics = {"lp": found.log_density[chain, at], "acceptance_rate": rate}
    return Draws(dict(parameters), statistics)


@dataclass(frozen=True, eq=False)
class _Proposed:
    """Points (C, N, P) for C chains, and what is known of each.

    Log densities (C, N) of the posterior, their log ratios (C, N) to those of the proposal, and
    the numbers (C, N, M) found with them.
    """

    points: Array
    log_density: Array
    log_ratio: Array
    others: Array

    def accepted(self, rngs: Sequence[np.random.Generator]) -> tuple[Codes, Array]:
        """Position (C, N) of the proposal that chains are at, and its rate of acceptance (C, N)."""
        at = np.zeros(self.log_ratio.shape, np.int64)
        rate = np.ones(self.log_ratio.shape)
        for chain, (ratio, rng) in enumerate(zip(self.log_ratio, rngs, strict=True)):
            uniform, current = rng.random(len(ratio)), 0
            for number in range(1, len(ratio)):
                chance = math.exp(min(0.0, ratio[number] - ratio[current]))
                current = number if uniform[number] < chance else current
                at[chain, number], rate[chain, number] = current, chance
        return at, rate


class _Run:
    """Draws proposals for all chains and evaluates them."""

    def __init__(
        self,
        evaluate: Callable[[Array], tuple[float, Array]],
        chains: int,
        seed: int,
        at_once: int | None,
        seconds: float,
    ) -> None:
        self.evaluate = evaluate
        self.rngs = [np.random.default_rng([seed, chain]) for chain in range(chains)]
        self.at_once = at_once or os.cpu_count() or 1
        self.until = time.monotonic() + seconds
        self.evaluated = [0] * chains

    def done(self) -> int:
        """Number of proposals that were evaluated."""
        return sum(self.evaluated)

    def propose(self, proposal: _Proposal, number: int, watch: Callable[[], None]) -> _Proposed:
        """Evaluate as many proposals for each chain."""
        drawn = [proposal.draw(number, rng) for rng in self.rngs]
        points = np.stack([each for each, _ in drawn])
        log_density = np.empty(points.shape[:2])
        others: list[list[Array]] = [[] for _ in self.rngs]
        stop = threading.Event()

        def chain(position: int) -> None:
            for n, point in enumerate(points[position]):
                if stop.is_set():
                    return
                log_density[position, n], more = self.evaluate(point)
                others[position].append(more)
                self.evaluated[position] += 1

        began = time.monotonic()
        self.evaluate(proposal.location)
        at_once = self.at_once if time.monotonic() - began > SLOW else 1
        tasks = [partial(chain, position) for position in range(len(self.rngs))]
        run_threads(tasks, stop, at_once=at_once, until=self.until, watch=watch)
        log_ratio = log_density - np.stack([each for _, each in drawn])
        return _Proposed(points, log_density, log_ratio, np.array(others))
