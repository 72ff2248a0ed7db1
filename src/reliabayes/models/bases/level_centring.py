"""Centring of raters' levels: the program samples them relative to what their own ratings say."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.inference.problem import StanData
from reliabayes.inference.widening import stretch_of

MeanAndScale = tuple[Array, Array]


@dataclass(frozen=True, eq=False)
class LevelCentring:
    """Each rater's level by their own ratings alone, relative to a cut point amid the ratings.

    Levels count from the first cut point. Where no rating lies below it, only the prior says where
    it is, and all levels move with it.

    Attributes
    ----------
    level_mean, level_variance : array of shape (R,)
        Mean, relative to the reference cut point, and variance; the program samples means and
        levels relative to both.
    reference : array of int, shape (G,)
        Position of the reference cut point, by pool; the first of all pools, as in fits that were
        saved before there was another.
    known_sd_item : array of shape (G,)
        Standard deviation of item effects that levels were found with, by pool.
    widening : float
        Where items differ more, their effects widen the curve of the residuals, and levels lie
        farther out: in proportion to ``sqrt(1 + widening sd_item**2)``. 0 where they do not.
    node : array of shape (Q,)
        Nodes of the standard score of an item that suffice around the mode; empty where the
        problem's are needed.
    """

    not_data: ClassVar[frozenset[str]] = frozenset({"reference", "node"})

    level_mean: Array
    level_variance: Array
    reference: Codes = field(default_factory=lambda: np.zeros(1, np.int32), kw_only=True)
    known_sd_item: Array = field(default_factory=lambda: np.zeros(1), kw_only=True)
    widening: float = field(default=0.0, kw_only=True)
    node: Array = field(default_factory=lambda: np.empty(0), kw_only=True)

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        values = {name: value for name, value in vars(self).items() if name not in self.not_data}
        return StanData(positions={"reference": self.reference}, values=values)

    def level_at(
        self, point: Mapping[str, Any], pool: Codes, stretch: Array | float = 1.0
    ) -> Array:
        """Means (R,) of the levels relative to the first cut point, at a point's steps."""
        step = np.reshape(point.get("step", ()), (pool.max() + 1, -1))
        return self.level_mean * stretch + reference_cuts(step, self.reference)[pool]

    def stretch(self, point: Mapping[str, Any]) -> Array:
        """How much wider (G,) levels lie where items differ more than the centring assumed."""
        item = np.reshape(point["sd_item"], -1)
        return stretch_of(item, self.known_sd_item, self.widening)

    def constrain(
        self, point: Mapping[str, Any], free: Mapping[str, Any], pool: Codes
    ) -> dict[str, Any]:
        """The point with means (G,) or (), and levels (R,), of those on the unconstrained scale."""
        found = {name: np.asarray(value) for name, value in point.items()}
        (centre, scale), _ = self._scales(found, pool)
        mean = centre + scale * np.asarray(free["mean"])
        found["mean"] = np.reshape(mean, np.shape(free["mean"]))
        _, (centre, scale) = self._scales(found, pool)
        found["level"] = centre + scale * np.asarray(free["level"])
        return {name: value.tolist() for name, value in found.items()}

    def unconstrain(self, point: Mapping[str, Any], pool: Codes) -> dict[str, Array]:
        """Means and levels of the point on the unconstrained scale."""
        (mean, mean_scale), (level, level_scale) = self._scales(point, pool)
        return {
            "mean": np.reshape((point["mean"] - mean) / mean_scale, np.shape(point["mean"])),
            "level": (point["level"] - level) / level_scale,
        }

    def _scales(self, point: Mapping[str, Any], pool: Codes) -> tuple[MeanAndScale, MeanAndScale]:
        """Centre and scale of the means (G,), and given the means those of the levels (R,)."""
        size = np.bincount(pool)
        between = np.reshape(point["sd_rater"], -1) ** 2
        stretch = self.stretch(point)[pool]
        level_mean = self.level_at(point, pool, stretch)
        level_variance = self.level_variance * stretch**2
        own = (level_mean, level_variance)
        centre, within = (np.bincount(pool, values) / size for values in own)
        mean, variance = np.reshape(point["mean"], -1)[pool], between[pool]
        shrinkage = level_variance / (level_variance + variance)
        return (
            (centre, np.sqrt((between + within) / size)),
            (
                level_mean + (mean - level_mean) * shrinkage,
                np.sqrt(variance * shrinkage),
            ),
        )


def reference_cuts(step: Array, reference: Codes) -> Array:
    """Distance (G,) of reference cut points from the first, by the steps (G, K - 2) between."""
    below = np.arange(step.shape[1]) < np.asarray(reference)[:, None]
    return np.asarray((step * below).sum(axis=1))
