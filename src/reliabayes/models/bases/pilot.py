"""A short run of the sampler, after which a start knows what raters' numbers have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
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
# Raters from which on steps can be long after it, at this rate of acceptance, and ratings of each
# from which on such trees do as well, for half the time.
LARGE_CROWD, LONG_STEPS, RATINGS_OF_EACH, SHORT_TREES = 100, 0.5, 30, 3
# In such crowds, iterations that make a draw where raters have fewer ratings each: their average
# guesses are then poorly known, and mix slowly.
ITERATIONS_OF_DRAW, FEW_OF_EACH = 2, 40


@runtime_checkable
class Core(StanPart, Protocol):
    """Centring relative to which a program samples ``core``, what raters have in common."""

    def relative_to(self, core: Array) -> Core:
        """The same relative to mean and covariance of a few standard scores (N, G) of it."""


class RefinedProblem(StanPart, Protocol):
    """A problem with a density that may be approximated."""

    @property
    def rough(self) -> StanPart:
        """A quicker problem with nearly the same posterior; this one where none is known."""


class CoreModel(Protocol):
    """A model whose program samples ``core``."""

    def program(self, problem: Any) -> str:
        """Stan program."""

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""

    def constrain_sampled(self, free: Mapping[str, Any], centring: Any) -> dict[str, Any]:
        """Parameters of those on the unconstrained scale."""


def after_pilot(model: CoreModel, problem: RefinedProblem, start: WarmStart) -> WarmStart:
    """The same start in units of the covariance of what raters have in common, from a few draws.

    All other numbers get a mean and a variance each, which few draws say less surely.

    Its covariance at the mode is a poor guide, because all raters' scores follow it.
    """
    centring = start.centring
    assert isinstance(centring, Core)
    points = start.create_inits(seed=SEED, chains=CHAINS)
    run = stan.sample(
        model.program(problem),
        stan_data(problem.rough, centring),
        chains=CHAINS,
        warmup=WARMUP,
        draws=DRAWS,
        seed=SEED,
        inits=[model.for_program(point, centring) for point in points],
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
    return replace(
        start,
        mode={name: np.zeros_like(x) for name, x in start.mode.items()},
        constrain=partial(model.constrain_sampled, centring=better),
        centring=better,
        adapt_metric=False,
        mean=mean,
        covariance=variance,
        rough=_rough(model, problem, centring, np.concatenate(drawn, axis=1), run.statistics["lp"]),
    )


def _rough(
    model: CoreModel, problem: RefinedProblem, centring: Core, drawn: Array, log_density: Array
) -> StanPart | None:
    """The quicker problem, if its log density at draws (N, P) follows the problem's."""
    if problem.rough is problem:
        return None
    some = slice(None, None, len(drawn) // COMPARED)
    exact = log_densities(model.program(problem), stan_data(problem, centring), drawn[some])
    difference = exact - log_density.ravel()[some]
    return problem.rough if np.std(difference) < LARGEST_DIFFERENCE else None


def _free(drawn: Mapping[str, Array]) -> list[Array]:
    """Draws (N, ...) of what a program samples, on the unconstrained scale and in its order."""
    found = {name: drawn[name] for name in SAMPLED if name in drawn}
    if "misleading" in found:
        found["misleading"] = logit(found["misleading"])
    draws = [x.reshape(-1, *x.shape[2:]) for x in found.values()]
    return [x.swapaxes(1, -1).reshape(len(x), -1) for x in draws]  # columns of matrices


def suited_to_crowd(start: WarmStart, problem: Any) -> WarmStart:
    """The start, from 100 raters on, as the number of their ratings asks for.

    With 30 ratings each, trees are short and steps long; below 40, two iterations make a draw.
    """
    if problem.n_raters < LARGE_CROWD:
        return start
    n_ratings = problem.mixture.multiplicity @ problem.mixture.counts.sum(axis=1)
    of_each = float(n_ratings) / problem.n_raters
    if of_each < FEW_OF_EACH:
        start = replace(start, thinning=ITERATIONS_OF_DRAW)
    if of_each < RATINGS_OF_EACH:
        return start
    return replace(start, max_tree_depth=SHORT_TREES, target_acceptance=LONG_STEPS)
