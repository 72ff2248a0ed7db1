"""Where a program samples raters' guesses: relative to those that are expected of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit, log_expit

from reliabayes.arrays import Array
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData
from reliabayes.inference.threads import of_parts

GUESSES = Parameter("p", "simplex", ("rater", "category"))
LARGEST_BEND = 2.5  # as in guess_density_pass.cpp


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
        log_odds = self._log_odds(point).of_scores(score)
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

        def guesses(chain: int) -> Array:
            return self._guesses(
                drawn["guess_score"][chain], {k: x[chain] for k, x in rest.items()}
            )

        return {**rest, "p": np.stack(of_parts(guesses, range(len(drawn["guess_score"]))))}

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of stick-breaking log odds by scores, in total."""
        return float(np.log(self._log_odds(point).slopes(self._score(point))).sum())

    def _score(self, point: Mapping[str, Any]) -> Array:
        p = np.asarray(point["p"])
        later = np.cumsum(p[..., :0:-1], axis=-1)[..., ::-1]
        return self._log_odds(point).scores(np.log(p[..., :-1]) - np.log(later))

    def _log_odds(self, point: Mapping[str, Any]) -> _LogOdds:
        """Expected log odds (..., R, K - 1) of a category against all later ones."""
        concentration, mean_p = (np.asarray(point[x]) for x in ("concentration", "mean_p"))
        shape = 1 + concentration[..., None] * mean_p
        own, later = shape[..., :-1], np.cumsum(shape[..., :0:-1], axis=-1)[..., ::-1]
        guessed = self.guessed[:, :-1], np.cumsum(self.guessed[:, :0:-1], axis=1)[:, ::-1]
        one, other = own[..., None, :] - 0.5 + guessed[0], later[..., None, :] - 0.5 + guessed[1]
        sd = np.sqrt(1 / one + 1 / other)
        return _LogOdds(np.log(one / other), sd, sd * (one - other) / (one + other))


class _LogOdds(NamedTuple):
    """Mean, sd and skewness of log odds, which are ``mean + sd * h(score)``.

    ``h(z) = z + skew * (z**2 / (3 * (r + 1)) - 1 / 6)`` with ``r = sqrt(1 + (skew * z / bend)**2)``
    is the Cornish-Fisher expansion where ``skew * z`` is small, and increases everywhere if the
    bend is less than 3.
    """

    mean: Array
    sd: Array
    skew: Array

    def of_scores(self, score: Array) -> Array:
        """Log odds of scores."""
        bent = self.skew * score**2 / (3 * (self._root(score) + 1))
        return np.asarray(self.mean + self.sd * (score + bent - self.skew / 6))

    def scores(self, log_odds: Array) -> Array:
        """Scores of log odds, inverse to `of_scores`.

        With ``y = h(z) + skew / 6`` and ``n = 3 * skew / bend**2``, ``r = 1 + n * (y - z)`` makes a
        quadratic equation of the definition of r.
        """
        y = (log_odds - self.mean) / self.sd + self.skew / 6
        n, q = 3 * self.skew / LARGEST_BEND**2, (LARGEST_BEND / 3) ** 2
        w = 1 + n * y
        root = np.sqrt(1 - q + q * w**2)
        # Of two forms of the same number the one that does not cancel: n is not 0 where w < 0.
        divisor = np.where(w > 0, w + root, (1 - q) * n)
        return np.asarray(np.where(w > 0, y * (w + 1), w - root) / divisor)

    def slopes(self, score: Array) -> Array:
        """Derivatives of log odds by their scores."""
        return np.asarray(self.sd * (1 + self.skew * score / (3 * self._root(score))))

    def _root(self, score: Array) -> Array:
        return np.asarray(np.sqrt(1 + (self.skew * score / LARGEST_BEND) ** 2))
