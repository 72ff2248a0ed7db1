"""Where chains start, and numbers that a program samples in place of parameters.

Where raters are drawn from a population, the program samples their effects relative to what their
own ratings say: relative to a centring. Without one it samples the parameters themselves.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.categories.density import expected_at
from reliabayes.families.categories.family import Categories, Response
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference import parameters
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.log_odds_centring import LogOddsCentring
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.thresholds import CROWD, FEW_PARAMETERS, Adaptation


@runtime_checkable
class Centring(StanPart, Protocol):
    """Relative to what a program samples effects of raters."""

    real: ClassVar[tuple[str, ...]]  # parameters in place of which it samples any real numbers

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with numbers whose free ones the program samples."""

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of such numbers, inverse to `sampled`."""

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""

    def from_program(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Draws of the parameters, of the program's draws."""

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of EM's free numbers by the program's, in total."""


def start_at(family: Categories, found: Climb, problem: CategoricalProblem) -> WarmStart:
    """Starting points around a mode that EM has found."""
    if family.effects is not None:
        return family.effects.start_at(found, problem, family.adaptation)
    return start_around(family.response, found, problem, family.adaptation)


def start_around(
    response: Response, found: Climb, problem: CategoricalProblem, adaptation: Adaptation
) -> WarmStart:
    """Starting points around a mode, as if the program sampled the parameters themselves."""
    point = found.point
    mode = {each.name: each.unconstrain(point[each.name]) for each in problem.parameters}
    is_small = sum(np.size(value) for value in mode.values()) <= FEW_PARAMETERS
    return WarmStart(
        mode=mode,
        sd=response.posterior_sd(point, expected_at(response, point, problem), problem),
        constrain=partial(constrained, problem.parameters, None),
        step_size=0.5,
        adapt_metric=is_small or adaptation.metric,
        target_acceptance=_acceptance(adaptation, problem),
        thinning=adaptation.thinning,
        path=found.path,
    )


def centred(
    start: WarmStart, point: Point, centring: Centring, problem: CategoricalProblem
) -> WarmStart:
    """A start at a point, in numbers that the program samples."""
    sampled, own = centring.sampled(point), _sampled(problem.parameters, centring)
    return replace(
        start,
        mode={each.name: each.unconstrain(np.asarray(sampled[each.name])) for each in own},
        constrain=partial(constrained, problem.parameters, centring),
        centring=centring,
    )


def cold_start(
    family: Categories, problem: CategoricalProblem, centring: StanPart | None
) -> WarmStart:
    """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
    middle = {each.name: np.zeros(each.free_shape(problem.size)) for each in problem.parameters}
    return WarmStart(
        middle,
        {name: np.full_like(zero, 0.5) for name, zero in middle.items()},
        partial(constrained, problem.parameters, centring),
        target_acceptance=family.adaptation.from_afar or _acceptance(family.adaptation, problem),
    )


def _acceptance(adaptation: Adaptation, problem: CategoricalProblem) -> float:
    """Acceptance rate that the step size is adapted to."""
    crowd = adaptation.in_crowds if problem.n_raters >= CROWD else None
    return crowd or adaptation.acceptance


# Between what a program samples and the parameters.


def constrained(
    declared: tuple[Parameter, ...], centring: StanPart | None, free: Mapping[str, Any]
) -> dict[str, Any]:
    """Parameters as the model declares them, of numbers on Stan's unconstrained scale."""
    own = {
        each.name: each.constrain(np.asarray(free[each.name]))
        for each in _sampled(declared, centring)
    }
    point = centring.restored(own) if isinstance(centring, Centring) else own
    return {name: value.tolist() for name, value in point.items()}


def for_program(point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
    """A point as the program declares it."""
    return centring.for_program(point) if isinstance(centring, Centring) else point


def from_program(run: Draws, declared: tuple[Parameter, ...], centring: StanPart | None) -> Draws:
    """A run of the program, with the parameters in place of what it sampled."""
    if not isinstance(centring, Centring):
        return run
    found = centring.from_program(run.parameters)
    own = {each.name: found[each.name] for each in declared}
    return replace(run, parameters=own | found)


def as_by_program(run: Draws, centring: StanPart | None) -> Draws:
    """A run of Gibbs sampling, with the log density of what the program samples."""
    if not isinstance(centring, LogOddsCentring):
        return run
    lp = run.statistics["lp"] + centring.log_slope_of_all(run.parameters)
    return replace(run, statistics={**run.statistics, "lp": lp})


def to_free(point: Point, problem: CategoricalProblem, centring: StanPart | None) -> Array:
    """Points (..., P) on Stan's unconstrained scale, of draws (...) of the parameters."""
    sampled = centring.sampled(point) if isinstance(centring, Centring) else point
    return parameters.to_free(_sampled(problem.parameters, centring), sampled)


def from_free(points: Array, problem: CategoricalProblem, centring: StanPart | None) -> Point:
    """Draws (...) of the parameters, of points (..., P) on Stan's unconstrained scale."""
    own = parameters.from_free(_sampled(problem.parameters, centring), points, problem.size)
    return centring.restored(own) if isinstance(centring, Centring) else own


def log_volume(start: WarmStart) -> float:
    """Log of the product of all sds around a mode, in the units of EM's objective."""
    volume = sum(float(np.log(each).sum()) for each in start.sd.values())
    if not isinstance(start.centring, Centring):
        return volume
    return volume + start.centring.log_slope(start.point)


def _sampled(declared: tuple[Parameter, ...], centring: StanPart | None) -> tuple[Parameter, ...]:
    """Parameters with the supports of the numbers that the program samples in their place."""
    if not isinstance(centring, Centring):
        return declared
    return tuple(
        replace(each, support="real") if each.name in centring.real else each for each in declared
    )
