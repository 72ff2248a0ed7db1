"""Base class of models whose program samples effects of raters, centred and scaled, and spreads."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from typing_extensions import TypeVar

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.log_odds_centring import LogOddsCentring
from reliabayes.inference.parameters import Parameter, from_free, to_free
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.multimodal import MultimodalModel
from reliabayes.results.modes import Combined

P = TypeVar("P", bound=CategoricalProblem, default=Any)


class RaterEffectsModel(MultimodalModel[P]):
    """A model with a `LogOddsCentring`: its program samples other numbers than spreads and effects.

    The draws that a fit has are those of spreads and effects, whatever the centring.
    """

    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, LogOddsCentring)
        return replace(
            super().cold_start(problem, centring),
            constrain=partial(self.constrain_sampled, centring=centring),
            target_acceptance=0.95,
        )

    def for_program(self, point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
        """A point as the program declares it."""
        assert isinstance(centring, LogOddsCentring)
        return centring.for_program(point)

    def combine(
        self, modes: Sequence[WarmStart], runs: Sequence[Draws], problem: P, seed: int
    ) -> Combined:
        """Draws of all runs, as parameters, in proportion to the masses of their modes."""
        restored = [_restored(run, mode.centring) for run, mode in zip(runs, modes, strict=False)]
        return super().combine(modes, restored, problem, seed)

    def log_volume(self, start: WarmStart) -> float:
        """Of the posterior around a mode of the logarithms of spreads, in units of these."""
        assert isinstance(start.centring, LogOddsCentring)
        return super().log_volume(start) + start.centring.log_slope(start.mode["spread"])

    def to_free(self, point: Point, centring: StanPart | None) -> Array:
        """Points (..., P) on Stan's unconstrained scale."""
        assert isinstance(centring, LogOddsCentring)
        return to_free(self._sampled_parameters(), centring.sampled(point))

    def from_free(self, points: Array, centring: StanPart | None, problem: P) -> Point:
        """Draws (...) of the parameters, of points (..., P) on Stan's unconstrained scale."""
        assert isinstance(centring, LogOddsCentring)
        return centring.restored(from_free(self._sampled_parameters(), points, problem.size))

    def constrain_sampled(self, free: Point, centring: LogOddsCentring) -> dict[str, Any]:
        """Parameters of those on the unconstrained scale."""
        own = {p.name: p.constrain(np.asarray(free[p.name])) for p in self._sampled_parameters()}
        return {name: value.tolist() for name, value in centring.restored(own).items()}

    def _sampled_parameters(self) -> tuple[Parameter, ...]:
        return tuple(
            replace(each, support="real") if each.name == "spread" else each
            for each in self.parameters()
        )


def _restored(run: Draws, centring: StanPart | None) -> Draws:
    """A run with the parameters in place of what the program sampled."""
    assert isinstance(centring, LogOddsCentring)
    return replace(run, parameters=centring.from_program(run.parameters))
