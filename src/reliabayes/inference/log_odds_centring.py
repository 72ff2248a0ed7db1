"""Where a program samples raters' log odds of errors: relative to their own ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import log_expit

from reliabayes.arrays import Array
from reliabayes.inference.log_odds import levels_at
from reliabayes.inference.problem import StanData

OF_PROGRAM = ("free_spread", "score", "free_ability_spread", "level_score", "level")


@dataclass(frozen=True, eq=False)
class LogOddsCentring:
    """Each rater's log odds of errors by their own ratings alone, and the sizes of spreads.

    Attributes
    ----------
    log_odds_mean, log_odds_precision : array of shape (E, R)
        Mean and precision; the program samples effects relative to both.
    spread_scale : array of shape (E,)
        The program samples numbers of which spreads are the softplus on this scale.
    level_mean, level_precision : array of shape (R,)
        Mean and precision of what all log odds of a rater share.
    ability_scale : array of shape ()
        As ``spread_scale``, of the spread of abilities.
    """

    real: ClassVar[tuple[str, ...]] = ("spread", "ability_spread")

    log_odds_mean: Array
    log_odds_precision: Array
    spread_scale: Array
    level_mean: Array
    level_precision: Array
    ability_scale: Array

    def stan_data(self) -> StanData:
        """Data for the Stan program, whose matrices have a row for each rater."""
        return StanData(
            values={
                "log_odds_mean": self.log_odds_mean.T,
                "log_odds_precision": self.log_odds_precision.T,
                "spread_scale": self.spread_scale,
                "level_mean": self.level_mean[:, None],
                "level_precision": self.level_precision[:, None],
                "ability_scale": self.ability_scale,
            }
        )

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with what the program samples in place of spreads, abilities and effects."""
        of_level, of_effects = self._scales(point)
        return {
            **point,
            "spread": inverse_softplus(point["spread"], self.spread_scale),
            "ability_spread": inverse_softplus(point["ability_spread"], self.ability_scale),
            "ability": of_level.score(-np.asarray(point["ability"])),
            "effect": of_effects(levels_at(point)).score(np.asarray(point["effect"])),
        }

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program has sampled, inverse to `sampled`."""
        point = {
            **sampled,
            "spread": softplus(sampled["spread"], self.spread_scale),
            "ability_spread": softplus(sampled["ability_spread"], self.ability_scale),
        }
        of_level, of_effects = self._scales(point)
        point["ability"] = -of_level.value(np.asarray(sampled["ability"]))
        own = of_effects(levels_at(point)).value(np.asarray(sampled["effect"]))
        return {**point, "effect": own}

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        sampled = self.sampled({name: np.asarray(x) for name, x in point.items()})
        own = {
            "free_spread": sampled.pop("spread"),
            "score": sampled.pop("effect").T,
            "free_ability_spread": sampled.pop("ability_spread"),
            "level_score": sampled.pop("ability")[:, None],
        }
        return {**sampled, **own}

    def from_program(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Draws of the parameters, of the program's draws (chains, draws, ...)."""
        own = {
            "spread": drawn["free_spread"],
            "effect": np.swapaxes(drawn["score"], -1, -2),
            "ability_spread": drawn["free_ability_spread"],
            "ability": drawn["level_score"][..., 0],
        }
        return self.restored({**{k: x for k, x in drawn.items() if k not in OF_PROGRAM}, **own})

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of the logarithms of spreads by the sampled numbers, in total."""
        return float(self._log_slopes(point))

    def log_slope_of_all(self, drawn: Mapping[str, Array]) -> Array:
        """The same (chains, draws) of draws, with the derivatives of effects by their scores."""
        log_scales = np.empty(drawn["spread"].shape[:-1])
        for at in np.ndindex(log_scales.shape[:1]):  # chain by chain, so that no table is long
            own, of_level = drawn["spread"][at], drawn["ability_spread"][at]
            of_effects = np.log1p(own[..., None] ** 2 * self.log_odds_precision).sum(axis=(-2, -1))
            of_levels = np.log1p(of_level[..., None] ** 2 * self.level_precision).sum(axis=-1)
            log_scales[at] = -0.5 * (of_effects + of_levels)
        return np.asarray(self._log_slopes(drawn) + log_scales)

    def _log_slopes(self, point: Mapping[str, Any]) -> Array:
        of_spread, of_ability = (
            log_expit(inverse_softplus(sd, scale) / scale) - np.log(sd)
            for sd, scale in (
                (np.asarray(point["spread"]), self.spread_scale),
                (np.asarray(point["ability_spread"]), self.ability_scale),
            )
        )
        return np.asarray(of_spread.sum(axis=-1) + of_ability)

    def _scales(self, point: Mapping[str, Any]) -> tuple[_Scores, Callable[[Array], _Scores]]:
        """Scores (..., R) of levels, and (..., E, R) of effects given levels (..., R)."""
        location, spread = (np.asarray(point[name])[..., None] for name in ("location", "spread"))
        of_ability = np.asarray(point["ability_spread"])[..., None]
        of_level = _Scores.of(of_ability, self.level_mean, self.level_precision)

        def of_effects(level: Array) -> _Scores:
            away = self.log_odds_mean - location - level[..., None, :]
            return _Scores.of(spread, away, self.log_odds_precision)

        return of_level, of_effects


class _Scores(NamedTuple):
    """What standard scores stand for: effects with this mean and scale."""

    mean: Array
    scale: Array

    @classmethod
    def of(cls, spread: Array, away: Array, precision: Array) -> _Scores:
        """Of effects times a spread that ratings say to be so far from the location."""
        variance = 1 / (1 + spread**2 * precision)
        return cls(variance * spread * precision * away, np.sqrt(variance))

    def score(self, effect: Array) -> Array:
        """The scores of effects."""
        return np.asarray((effect - self.mean) / self.scale)

    def value(self, score: Array) -> Array:
        """The effects of scores."""
        return np.asarray(self.mean + self.scale * score)


def softplus(free: Any, scale: Array | float) -> Array:
    """Positive numbers: near 0 far below 0, and otherwise much the same."""
    return np.asarray(scale * np.logaddexp(0, free / scale))


def inverse_softplus(positive: Any, scale: Array | float) -> Array:
    """Numbers whose `softplus` these are."""
    positive = np.asarray(positive)
    return np.asarray(positive + scale * np.log(-np.expm1(-positive / scale)))
