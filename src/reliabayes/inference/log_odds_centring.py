"""Where a program samples raters' log odds of errors: relative to their own ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.special import log_expit

from reliabayes.arrays import Array
from reliabayes.inference.problem import StanData


@dataclass(frozen=True, eq=False)
class LogOddsCentring:
    """Each rater's log odds of errors by their own ratings alone, and the sizes of spreads.

    Attributes
    ----------
    log_odds_mean, log_odds_precision : array of shape (E, R)
        Mean and precision; the program samples effects relative to both.
    spread_scale : array of shape (E,)
        The program samples numbers of which spreads are the softplus on this scale; empty in fits
        that were saved when it sampled their logarithms.
    """

    real: ClassVar[tuple[str, ...]] = ("spread",)

    log_odds_mean: Array
    log_odds_precision: Array
    spread_scale: Array = field(default_factory=lambda: np.empty(0))

    def stan_data(self) -> StanData:
        """Data for the Stan program, whose matrices have a row for each rater."""
        return StanData(
            values={
                "log_odds_mean": self.log_odds_mean.T,
                "log_odds_precision": self.log_odds_precision.T,
                "spread_scale": self.spread_scale,
            }
        )

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with what the program samples in place of spreads and effects."""
        mean, scale = self._centre_and_scale(point)
        return {
            **point,
            "spread": inverse_softplus(point["spread"], self.spread_scale),
            "effect": (np.asarray(point["effect"]) - mean) / scale,
        }

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program has sampled, inverse to `sampled`."""
        point = {**sampled, "spread": softplus(sampled["spread"], self.spread_scale)}
        mean, scale = self._centre_and_scale(point)
        return {**point, "effect": mean + scale * np.asarray(sampled["effect"])}

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        sampled = self.sampled({name: np.asarray(x) for name, x in point.items()})
        own = {"free_spread": sampled.pop("spread"), "score": sampled.pop("effect").T}
        return {**sampled, **own}

    def from_program(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Draws of the parameters, of the program's draws (chains, draws, ...)."""
        rest = {name: x for name, x in drawn.items() if name not in ("free_spread", "score")}
        score = np.swapaxes(drawn["score"], -1, -2)
        return self.restored({**rest, "spread": drawn["free_spread"], "effect": score})

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of the logarithms of spreads by the sampled numbers, in total."""
        return float(self._log_slopes(np.asarray(point["spread"])).sum())

    def log_slope_of_all(self, drawn: Mapping[str, Array]) -> Array:
        """The same (chains, draws) of draws, with the derivatives of effects by their scores."""
        log_scales = np.empty(drawn["spread"].shape[:-1])
        for at in np.ndindex(log_scales.shape[:1]):  # chain by chain, so that no table is long
            ratio = 1 + drawn["spread"][at][..., None] ** 2 * self.log_odds_precision
            log_scales[at] = -0.5 * np.log(ratio).sum(axis=(-2, -1))
        return np.asarray(self._log_slopes(drawn["spread"]).sum(axis=-1) + log_scales)

    def _log_slopes(self, spread: Array) -> Array:
        slope = log_expit(inverse_softplus(spread, self.spread_scale) / self.spread_scale)
        return np.asarray(slope - np.log(spread))

    def _centre_and_scale(self, point: Mapping[str, Any]) -> tuple[Array, Array]:
        """Mean and scale of effects (..., E, R) of which the sampled are standard scores."""
        location, spread = (np.asarray(point[name])[..., None] for name in ("location", "spread"))
        precision = self.log_odds_precision
        variance = 1 / (1 + spread**2 * precision)
        return variance * spread * precision * (self.log_odds_mean - location), np.sqrt(variance)


def softplus(free: Any, scale: Array | float) -> Array:
    """Positive numbers: near 0 far below 0, and otherwise much the same."""
    return np.asarray(scale * np.logaddexp(0, free / scale))


def inverse_softplus(positive: Any, scale: Array | float) -> Array:
    """Numbers whose `softplus` these are."""
    positive = np.asarray(positive)
    return np.asarray(positive + scale * np.log(-np.expm1(-positive / scale)))
