"""Where a program samples what raters know and guess: relative to what their own ratings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from reliabayes.arrays import Array
from reliabayes.inference.core_units import units_of
from reliabayes.inference.guess_centring import GuessCentring
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData
from reliabayes.inference.widening import stretch_of

SPREADS = ("sd_alpha", "sd_delta", "concentration")
SIMPLEXES = ("prevalence", "mean_p")
# What raters have in common, in the program's order, and how many dimensions each has.
CORE = {
    "prevalence": 1,
    "mean_alpha": 0,
    "sd_alpha": 0,
    "sd_delta": 1,
    "eta": 1,
    "mean_p": 1,
    "concentration": 0,
}
SIMPLEX = Parameter("shares", "simplex", ("category",))


@dataclass(frozen=True, eq=False)
class KnowledgeCentring:
    """What each rater's ratings say of their accuracy and guesses, and all ratings of the rest.

    Attributes
    ----------
    alpha_mean, alpha_precision : array of shape (R,)
        Mean and precision of the accuracy; the program samples accuracies relative to both.
    guessed : array of shape (R, K)
        Expected guesses by category; the program samples distributions of guesses relative to them.
    spread_scale : array of shape (3,)
        In place of sd_alpha, sd_delta and concentration stand numbers of which they are the
        softplus on these scales.
    core_mean, core_root : array of shape (G,) and (G, G)
        Mean and root of the covariance of what raters have in common; the program samples its
        standard scores.
    known_sd_delta : float
        Sd of difficulties that accuracies were found with.
    widening : float
        Where difficulties differ more, they widen the curve of knowing, and accuracies lie farther
        out: in proportion to ``sqrt(1 + widening sd_delta**2)``. 0 where they do not.
    nodes : int
        Number of nodes of the difficulty that suffice there; 0 for those of the problem.
    """

    real: ClassVar[tuple[str, ...]] = SPREADS

    alpha_mean: Array
    alpha_precision: Array
    guessed: Array
    spread_scale: Array
    core_mean: Array
    core_root: Array
    known_sd_delta: float = field(default=0.0, kw_only=True)
    widening: float = field(default=0.0, kw_only=True)
    nodes: int = field(default=0, kw_only=True)

    def stan_data(self) -> StanData:
        """Data for the Stan program, whose matrices have a row for each rater."""
        return StanData(
            values={
                "alpha_mean": self.alpha_mean[:, None],
                "alpha_precision": self.alpha_precision[:, None],
                "guessed": self.guessed,
                "spread_scale": self.spread_scale,
                "core_mean": self.core_mean,
                "core_root": self.core_root,
                "known_sd_delta": self.known_sd_delta,
                "widening": self.widening,
            }
        )

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point with what the program samples, and simplexes that it samples the free numbers of.

        These are standard scores of what raters have in common, of accuracies and of guesses.
        """
        parts = self._parts(self.core(point), point)
        parts |= {name: SIMPLEX.constrain(parts[name]) for name in SIMPLEXES}
        return {**self._guesses.sampled(point), **parts, "alpha": self._score(point)}

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of such numbers, inverse to `sampled`."""
        scores = {name: np.asarray(sampled[name]) for name in CORE if name in sampled}
        scores |= {name: SIMPLEX.unconstrain(scores[name]) for name in SIMPLEXES}
        free = self.core_mean + _packed(scores) @ self.core_root.T
        parts = self._parts(free, sampled)
        parts |= {name: SIMPLEX.constrain(parts[name]) for name in SIMPLEXES}
        parts |= {name: softplus(parts[name], scale) for name, scale in self._scales(sampled)}
        point = self._guesses.restored({**sampled, **parts})
        mean, sd = self._mean_and_sd(point)
        return {**point, "alpha": mean + sd * np.asarray(sampled["alpha"])}

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        found = self._guesses.for_program(point)
        rest = {name: x for name, x in found.items() if name not in (*CORE, "alpha")}
        return {**rest, "core": self.core(point), "score": self._score(point)[..., None]}

    def from_program(self, drawn: Mapping[str, Array]) -> dict[str, Array]:
        """Draws of the parameters, of the program's draws."""
        own = "core", "score", "log_guess_density"
        rest = {name: x for name, x in drawn.items() if name not in own}
        return self._guesses.from_program(rest)

    def core(self, point: Mapping[str, Any]) -> Array:
        """Standard scores (..., G) of what raters have in common."""
        free = {name: np.asarray(point[name], float) for name in CORE if name in point}
        free |= {name: SIMPLEX.unconstrain(free[name]) for name in SIMPLEXES}
        free |= {name: inverse_softplus(free[name], scale) for name, scale in self._scales(point)}
        away = _packed(free) - self.core_mean
        return np.asarray(np.linalg.solve(self.core_root, away[..., None])[..., 0])

    def relative_to(self, core: Array) -> KnowledgeCentring:
        """The same relative to mean and covariance of a few standard scores (N, G) of `core`."""
        mean, root = units_of(self.core_mean, self.core_root, core)
        return replace(self, core_mean=mean, core_root=root)

    def slopes(self, point: Mapping[str, Any]) -> dict[str, Array]:
        """Derivatives of logarithms of what is positive by the numbers in their place."""
        found = {}
        for name, scale in self._scales(point):
            value = np.asarray(point[name])
            found[name] = expit(inverse_softplus(value, scale) / scale) / value
        return found

    def log_slope(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of EM's free numbers by the program's, in total."""
        of_spreads = sum(np.log(slope).sum() for slope in self.slopes(point).values())
        of_core = np.linalg.slogdet(self.core_root).logabsdet
        of_alpha = np.log(self._mean_and_sd(point)[1]).sum()
        return float(of_core + of_spreads + of_alpha) + self._guesses.log_slope(point)

    def _scales(self, point: Mapping[str, Any]) -> list[tuple[str, float]]:
        scales = zip(SPREADS, self.spread_scale.tolist(), strict=True)
        return [(name, scale) for name, scale in scales if name in point]

    def _parts(self, core: Array, like: Mapping[str, Any]) -> dict[str, Array]:
        """Numbers (..., G) by name, those of simplexes free ones."""
        found, used = {}, 0
        for name, dims in CORE.items():
            if name not in like:
                continue
            size = np.shape(like[name])[-1] - (name in SIMPLEXES) if dims else 1
            part = core[..., used : used + size]
            found[name] = part if dims else part[..., 0]
            used += size
        return found

    def _score(self, point: Mapping[str, Any]) -> Array:
        """Standard scores (..., R) of accuracies."""
        mean, sd = self._mean_and_sd(point)
        return np.asarray((np.asarray(point["alpha"]) - mean) / sd)

    @property
    def _guesses(self) -> GuessCentring:
        return GuessCentring(self.guessed)

    def _mean_and_sd(self, point: Mapping[str, Any]) -> tuple[Array, Array]:
        """Mean and sd (..., R) of accuracies of which the sampled are standard scores."""
        mean, sd = (np.asarray(point[name])[..., None] for name in ("mean_alpha", "sd_alpha"))
        stretch = self._stretch(point)
        own = (sd / stretch) ** 2 * self.alpha_precision
        centre = mean + own / (1 + own) * (stretch * self.alpha_mean - mean)
        return centre, sd / np.sqrt(1 + own)

    def _stretch(self, point: Mapping[str, Any]) -> Array:
        """How much farther out (..., 1) accuracies lie than where they were found."""
        sd = point.get("sd_delta", np.full(1, self.known_sd_delta))
        return stretch_of(sd, self.known_sd_delta, self.widening)


def _packed(values: Mapping[str, Array]) -> Array:
    """Numbers (..., G) of what raters have in common, by name."""
    parts = [x if CORE[name] else x[..., None] for name, x in values.items()]
    return np.concatenate(parts, axis=-1)
