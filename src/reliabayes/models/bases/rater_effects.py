"""Base class of models whose program samples other numbers than their parameters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from typing_extensions import TypeVar

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter, from_free, to_free
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.multimodal import MultimodalModel

P = TypeVar("P", bound=CategoricalProblem, default=Any)


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


class RaterEffectsModel(MultimodalModel[P]):
    """A model whose program samples effects of raters relative to what their own ratings say.

    The draws that a fit has are those of the parameters, whatever the centring.
    """

    cold_acceptance: ClassVar[float | None] = None  # from dispersed starts, if different

    def centred(self, start: WarmStart, point: Point, centring: Centring) -> WarmStart:
        """A start at a point, in numbers that the program samples."""
        sampled, parameters = centring.sampled(point), self._sampled_parameters(centring)
        return replace(
            start,
            mode={p.name: p.unconstrain(np.asarray(sampled[p.name])) for p in parameters},
            constrain=partial(self.constrain_sampled, centring=centring),
            centring=centring,
        )

    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, Centring)
        return replace(
            super().cold_start(problem, centring),
            constrain=partial(self.constrain_sampled, centring=centring),
            target_acceptance=self.cold_acceptance or self.acceptance(problem),
        )

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""
        assert isinstance(centring, Centring)
        return centring.for_program(point)

    def from_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of the program, with the parameters in place of what it sampled."""
        assert isinstance(centring, Centring)
        found = centring.from_program(run.parameters)
        own = {p.name: found[p.name] for p in self.parameters()}
        return replace(run, parameters=own | found)

    def log_volume(self, start: WarmStart) -> float:
        """Log of the product of all sds around a mode, in the units of EM's objective."""
        assert isinstance(start.centring, Centring)
        return super().log_volume(start) + start.centring.log_slope(start.point)

    def to_free(self, point: Point, centring: StanPart | None) -> Array:
        """Points (..., P) on Stan's unconstrained scale."""
        assert isinstance(centring, Centring)
        return to_free(self._sampled_parameters(centring), centring.sampled(point))

    def from_free(self, points: Array, centring: StanPart | None, problem: P) -> Point:
        """Draws (...) of the parameters, of points (..., P) on Stan's unconstrained scale."""
        assert isinstance(centring, Centring)
        return centring.restored(
            from_free(self._sampled_parameters(centring), points, problem.size)
        )

    def constrain_sampled(self, free: Point, centring: Centring) -> dict[str, Any]:
        """Parameters of those on the unconstrained scale."""
        own = {
            p.name: p.constrain(np.asarray(free[p.name]))
            for p in self._sampled_parameters(centring)
        }
        return {name: value.tolist() for name, value in centring.restored(own).items()}

    def _sampled_parameters(self, centring: Centring) -> tuple[Parameter, ...]:
        return tuple(
            replace(each, support="real") if each.name in centring.real else each
            for each in self.parameters()
        )
