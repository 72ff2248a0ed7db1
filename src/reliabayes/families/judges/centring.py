"""Where the program of judge panels samples levels of errors: relative to what answers say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit

from reliabayes.arrays import Array
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.problem import StanData

KINDS = ("prevalence", "people", "misreading")  # of levels, in the order of the program


@dataclass(frozen=True, eq=False)
class PanelCentring:
    """Levels of each unit by its own answers, and the sizes of spreads.

    Units are groups of items (their prevalence), people, and groups of items again (how judges
    misread them). A unit's levels are location + spread * effect.

    Attributes
    ----------
    prevalence_mean, prevalence_precision : array of shape (G, K - 1)
        Normal approximation of the likelihood of each level; effects are sampled relative to it.
    people_mean, people_precision : array of shape (P, L)
        The same of people's errors.
    misreading_mean, misreading_precision : array of shape (M, F * L)
        The same of misreadings, family by family.
    spread_scale : array of shape (3,)
        The program samples numbers of which spreads are the softplus on these scales.
    prior_location, prior_spread : array of shape (3,)
        Location and spread of levels that are not pooled.
    """

    prevalence_mean: Array
    prevalence_precision: Array
    people_mean: Array
    people_precision: Array
    misreading_mean: Array
    misreading_precision: Array
    spread_scale: Array
    prior_location: Array
    prior_spread: Array

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        names = [f"{kind}_{what}" for kind in KINDS for what in ("mean", "precision")]
        values = {name: getattr(self, name) for name in names}
        values |= {name: x.T for name, x in values.items() if not name.startswith("misreading")}
        return StanData(values={**values, "spread_scale": self.spread_scale})

    def sampled(self, point: Mapping[str, Any]) -> dict[str, Array]:
        """A point with the free numbers that the program samples in place of spreads and levels."""
        found = {name: np.asarray(value, float) for name, value in point.items()}
        for at, kind in enumerate(KINDS):
            location, spread = self._population(found, at)
            mean, scale = self._centre_and_scale(kind, location, spread)
            level = found.get(f"{kind}_log_odds", mean)
            effect = (level.reshape(mean.shape) - location) / spread
            found[f"{kind}_log_odds"] = ((effect - mean) / scale).reshape(level.shape)
            name = f"{kind}_spread"
            if name in found:
                found[name] = inverse_softplus(found[name], self.spread_scale[at])
        return found

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Array]:
        """The point of what the program has sampled, inverse to `sampled`."""
        found = {name: np.asarray(value, float) for name, value in sampled.items()}
        for at, kind in enumerate(KINDS):
            name = f"{kind}_spread"
            if name in found:
                found[name] = softplus(found[name], self.spread_scale[at])
            location, spread = self._population(found, at)
            mean, scale = self._centre_and_scale(kind, location, spread)
            score = found.get(f"{kind}_log_odds", mean)
            effect = mean + scale * score.reshape(mean.shape)
            found[f"{kind}_log_odds"] = (location + spread * effect).reshape(score.shape)
        return found

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it, in its matrices."""
        found: dict[str, Any] = dict(self.sampled(point))
        for kind in KINDS:
            shape = getattr(self, f"{kind}_mean").shape
            score = found.pop(f"{kind}_log_odds").reshape(shape)
            found[f"{kind}_score"] = score if kind == "misreading" else score.T
            if f"{kind}_location" in found:
                found[f"free_{kind}_spread"] = found.pop(f"{kind}_spread").ravel()
                found[f"{kind}_location"] = found[f"{kind}_location"].ravel()
        return found

    def log_slopes(self, point: Mapping[str, Any]) -> float:
        """Log of the derivatives of spreads and effects by what the program samples, in total."""
        total = 0.0
        for at, kind in enumerate(KINDS):
            _, scale = self._centre_and_scale(kind, *self._population(point, at))
            total += float(np.log(scale).sum())
            if (spread := point.get(f"{kind}_spread")) is not None:
                own = self.spread_scale[at]
                total += float(log_expit(inverse_softplus(spread, own) / own).sum())
        return total

    def _population(self, point: Mapping[str, Array], at: int) -> tuple[Array, Array]:
        """Location and spread (C,) of each column of levels."""
        kind = KINDS[at]
        columns = getattr(self, f"{kind}_mean").shape[1]
        if f"{kind}_location" not in point:
            return np.full(columns, self.prior_location[at]), np.full(
                columns, self.prior_spread[at]
            )
        spread = point[f"{kind}_spread"].ravel()
        each = columns // max(len(spread), 1)
        return point[f"{kind}_location"].ravel(), np.repeat(spread, each)

    def _centre_and_scale(self, kind: str, location: Array, spread: Array) -> tuple[Array, Array]:
        """Mean and scale of effects of which the sampled numbers are standard scores."""
        own_mean, precision = (getattr(self, f"{kind}_{what}") for what in ("mean", "precision"))
        variance = 1 / (1 + spread**2 * precision)
        return variance * spread * precision * (own_mean - location), np.sqrt(variance)
