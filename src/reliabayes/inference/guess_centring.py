"""Where a program samples raters' guesses: relative to those that are expected of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData

GUESSES = Parameter("p", "simplex", ("rater", "category"))


@dataclass(frozen=True, eq=False)
class GuessCentring:
    """Expected guesses of each rater.

    Attributes
    ----------
    guessed : array of shape (R, K)
        By category; the program samples distributions of guesses relative to them.
    """

    real: ClassVar[tuple[str, ...]] = ()

    guessed: Array

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        return StanData(values={"guessed": self.guessed})

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with the simplexes that the program's scores are the free numbers of."""
        return {**point, "p": GUESSES.constrain(self._score(point))}

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of such simplexes, inverse to `sampled`."""
        return {
            **sampled,
            "p": self._guesses(GUESSES.unconstrain(np.asarray(sampled["p"])), sampled),
        }

    def _guesses(self, score: Array, point: Mapping[str, Any]) -> Array:
        """Probabilities (..., R, K) of scores (..., R, K - 1)."""
        mean, sd = self._mean_and_sd(point)
        log_odds = mean + sd * score
        taken = expit(log_odds)
        rest = np.cumsum(log_expit(-log_odds), axis=-1)
        before = np.exp(np.concatenate([np.zeros_like(rest[..., :1]), rest], axis=-1))
        ones = np.ones_like(taken[..., :1])
        return np.asarray(before * np.concatenate([taken, ones], axis=-1))

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        rest = {name: np.asarray(x) for name, x in point.items() if name != "p"}
        return {**rest, "guess_score": self._score(point)}

    def from_program(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Draws of the parameters, of the program's draws."""
        rest = {name: x for name, x in drawn.items() if name != "guess_score"}
        return {**rest, "p": self._guesses(drawn["guess_score"], drawn)}

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of stick-breaking log odds by scores, in total."""
        return float(np.log(self._mean_and_sd(point)[1]).sum())

    def _score(self, point: Mapping[str, Any]) -> Array:
        p = np.asarray(point["p"])
        mean, sd = self._mean_and_sd(point)
        later = np.cumsum(p[..., :0:-1], axis=-1)[..., ::-1]
        return np.asarray((np.log(p[..., :-1]) - np.log(later) - mean) / sd)

    def _mean_and_sd(self, point: Mapping[str, Any]) -> tuple[Array, Array]:
        """Mean and sd (..., R, K - 1) of log odds of a category against all later ones."""
        concentration, mean_p = (np.asarray(point[x]) for x in ("concentration", "mean_p"))
        shape = 1 + concentration[..., None] * mean_p
        own, later = shape[..., :-1], np.cumsum(shape[..., :0:-1], axis=-1)[..., ::-1]
        guessed = self.guessed[:, :-1], np.cumsum(self.guessed[:, :0:-1], axis=1)[:, ::-1]
        one, other = own[..., None, :] - 0.5 + guessed[0], later[..., None, :] - 0.5 + guessed[1]
        return np.log(one / other), np.sqrt(1 / one + 1 / other)
