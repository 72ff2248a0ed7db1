"""A short run of the sampler, after which a start knows what raters' numbers have in common."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, Protocol, runtime_checkable

import numpy as np
from scipy.special import logit

from reliabayes.arrays import Array
from reliabayes.inference import stan
from reliabayes.inference.log_density import log_densities
from reliabayes.inference.problem import StanPart, stan_data
from reliabayes.inference.warm_start import WarmStart

SAMPLED = "core", "score", "guess_score", "misleading"  # by programs, in their order
SEED, CHAINS = 1979, 2  # the same ratings have the same start
WARMUP, DRAWS = 120, 120  # of each chain
# Where units are far too small, longer trees take most of the time, and small steps get nowhere.
MAX_TREE_DEPTH, ACCEPTANCE = 4, 0.6
# Of each parameter besides what raters have in common: draws that units of 1 are worth, the largest
# variance, and how far the mean may be away. Chains that have not arrived yet say more.
WORTH, LARGEST_VARIANCE, FARTHEST = 60, 3.0, 1.0
# Draws at which a rough density is compared with the one that it stands for, and the sd of their
# difference, in nats: far less than what an accepted trajectory gains or loses.
COMPARED, LARGEST_DIFFERENCE = 12, 0.1
LONG_STEPS = 0.5  # rate of acceptance after it, in large crowds


@runtime_checkable
class SharedParameters(StanPart, Protocol):
    """Centring relative to which a program samples ``core``, what raters have in common."""

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program samples."""

    def relative_to(self, core: Array) -> SharedParameters:
        """The same relative to mean and covariance of a few standard scores (N, G) of ``core``."""


class RefinedProblem(StanPart, Protocol):
    """A problem with a density that may be approximated."""

    @property
    def rough(self) -> StanPart:
        """A quicker problem with nearly the same posterior; this one where none is known."""


Constrain = Callable[[Mapping[str, Any]], dict[str, Any]]


def after_pilot(
    program: str,
    problem: RefinedProblem,
    start: WarmStart,
    constrain_by: Callable[[SharedParameters], Constrain],
) -> WarmStart:
    """The same start in units of the covariance of what raters have in common, from a few draws.

    All other numbers get a mean and a variance each, which few draws say less surely.

    Its covariance at the mode is a poor guide, because all raters' scores follow it.

    Parameters
    ----------
    program : str
        Stan program, which samples ``core``.
    problem : RefinedProblem
        What the posterior depends on.
    start : WarmStart
        A start at the mode.
    constrain_by : callable
        Gives the map from the unconstrained scale to parameters, of a centring.

    Returns
    -------
    WarmStart
    """
    centring = start.centring
    assert isinstance(centring, SharedParameters)
    points = start.create_inits(seed=SEED, chains=CHAINS)
    run = stan.sample(
        program,
        stan_data(problem.rough, centring),
        chains=CHAINS,
        warmup=WARMUP,
        draws=DRAWS,
        seed=SEED,
        inits=[centring.for_program(point) for point in points],
        geometry=replace(start, adapt_metric=False, max_tree_depth=MAX_TREE_DEPTH).geometry,
        acceptance=ACCEPTANCE,
        progress=False,
    )
    drawn = _free(run.parameters)
    core, *others = drawn
    better = centring.relative_to(core)
    mean, variance = np.zeros(start.size), np.ones(start.size)  # of the core in its new units
    other = np.concatenate(others, axis=1)
    weight = len(other) / (len(other) + WORTH)
    mean[core.shape[1] :] = np.clip(weight * other.mean(axis=0), -FARTHEST, FARTHEST)
    spread = np.minimum(other.var(axis=0), LARGEST_VARIANCE)
    variance[core.shape[1] :] += weight * (spread - 1)
    every, log_density = np.concatenate(drawn, axis=1), run.statistics["lp"]
    return replace(
        start,
        mode={name: np.zeros_like(x) for name, x in start.mode.items()},
        constrain=constrain_by(better),
        centring=better,
        adapt_metric=False,
        mean=mean,
        covariance=variance,
        rough=_rough(program, problem, centring, every, log_density),
    )


def _rough(
    program: str, problem: RefinedProblem, centring: StanPart, drawn: Array, log_density: Array
) -> StanPart | None:
    """The quicker problem, if its log density at draws (N, P) follows the problem's."""
    if problem.rough is problem:
        return None
    some = slice(None, None, len(drawn) // COMPARED)
    exact = log_densities(program, stan_data(problem, centring), drawn[some])
    difference = exact - log_density.ravel()[some]
    return problem.rough if np.std(difference) < LARGEST_DIFFERENCE else None


def _free(drawn: Mapping[str, Array]) -> list[Array]:
    """Draws (N, ...) of what a program samples, on the unconstrained scale and in its order."""
    found = {name: drawn[name] for name in SAMPLED if name in drawn}
    if "misleading" in found:
        found["misleading"] = logit(found["misleading"])
    draws = [x.reshape(-1, *x.shape[2:]) for x in found.values()]
    return [x.swapaxes(1, -1).reshape(len(x), -1) for x in draws]  # columns of matrices
