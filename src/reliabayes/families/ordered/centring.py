"""Relative to what programs of ordered scores sample levels of raters, and what these share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered.problem import SDS
from reliabayes.inference import correlation
from reliabayes.inference.core_units import units_of
from reliabayes.inference.em import Point
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.problem import StanData
from reliabayes.inference.widening import stretch_of
from reliabayes.sampling.thresholds import CROWD

MeanAndScale = tuple[Array, Array]

# Scales of softplus, in units of the sds where chains start. Among many raters an sd is known well,
# or may be near 0: it should be half a normal density. Of few it has a long tail to the right, and
# on so large a scale the softplus is an exponential.
HALF, LOGARITHMIC = 0.5, 1e4


@dataclass(frozen=True, eq=False)
class Levels:
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
    """

    level_mean: Array
    level_variance: Array
    reference: Codes
    known_sd_item: Array
    widening: float

    def level_at(self, point: Point, pool: Codes, stretch: Array | float = 1.0) -> Array:
        """Means (R,) of the levels relative to the first cut point, at a point's steps."""
        step = np.reshape(point.get("step", ()), (pool.max() + 1, -1))
        return self.level_mean * stretch + reference_cuts(step, self.reference)[pool]

    def stretch(self, point: Point) -> Array:
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

    def unconstrain(self, point: Point, pool: Codes) -> dict[str, Array]:
        """Means and levels of the point on the unconstrained scale."""
        (mean, mean_scale), (level, level_scale) = self._scales(point, pool)
        return {
            "mean": np.reshape((point["mean"] - mean) / mean_scale, np.shape(point["mean"])),
            "level": (point["level"] - level) / level_scale,
        }

    def _scales(self, point: Point, pool: Codes) -> tuple[MeanAndScale, MeanAndScale]:
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


@dataclass(frozen=True, eq=False, kw_only=True)
class CoreCentring:
    """Centring of levels, and of sds, correlation, steps and means, in this order: the core.

    Attributes
    ----------
    level_mean, level_variance, reference, known_sd_item, widening
        Those of `Levels`.
    node : array of shape (Q,)
        Nodes of the standard score of an item that suffice around the mode; empty where the
        problem's are needed.
    pool : array of int, shape (R,)
        Position of each rater's pool.
    spread_scale : array of shape (2 G,)
        In place of sds of items and of raters stand numbers of which they are the softplus on these
        scales.
    core_mean, core_root : array of shapes (C,) and (C, C)
        Mean and root of the covariance of the core, free of bounds; the program samples its
        standard scores.
    """

    not_data: ClassVar[frozenset[str]] = frozenset({"reference", "node", "pool"})

    level_mean: Array
    level_variance: Array
    reference: Codes = field(default_factory=lambda: np.zeros(1, np.int32))
    known_sd_item: Array = field(default_factory=lambda: np.zeros(1))
    widening: float = 0.0
    node: Array = field(default_factory=lambda: np.empty(0))
    pool: Codes
    spread_scale: Array
    core_mean: Array
    core_root: Array

    @property
    def levels(self) -> Levels:
        """Levels of raters."""
        return Levels(**{each.name: getattr(self, each.name) for each in fields(Levels)})

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        values = {name: value for name, value in vars(self).items() if name not in self.not_data}
        return StanData(positions={"reference": self.reference}, values=values)

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        at = {name: np.asarray(value, float) for name, value in point.items()}
        levels = self.levels.unconstrain(at, self.pool)
        sds = np.concatenate([np.ravel(at[name]) for name in SDS])
        rho = correlation.free(at["factor_item"]) if "factor_item" in at else np.empty(0)
        free = [
            inverse_softplus(sds, self.spread_scale),
            rho,
            np.log(at.get("step", [])),
            levels["mean"],
        ]
        away = np.concatenate([np.ravel(part) for part in free]) - self.core_mean
        return {"core": np.linalg.solve(self.core_root, away), "score": levels["level"]}

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program samples, inverse to `for_program`."""
        free = self.core_mean + self.core_root @ np.asarray(sampled["core"])
        size = len(self.known_sd_item)
        shape = (size,) if size > 1 else ()
        pairs = size * (size - 1) // 2
        sds, rho, steps, means = np.split(free, [2 * size, 2 * size + pairs, len(free) - size])
        item, rater = softplus(sds, self.spread_scale).reshape(2, *shape)
        scores = {"mean": means.reshape(shape), "level": sampled["score"]}
        steps = np.exp(steps.reshape(*shape, -1))
        point = {"sd_item": item, "sd_rater": rater, "step": steps, **scores}
        if pairs:
            point["factor_item"] = correlation.factor(rho, size)
        return self.levels.constrain(point, scores, self.pool)

    def relative_to(self, core: Array) -> CoreCentring:
        """The same relative to mean and covariance of a few standard scores (N, C) of the core."""
        mean, root = units_of(self.core_mean, self.core_root, core)
        return replace(self, core_mean=mean, core_root=root)


def core_centring(levels: Levels, node: Array, pool: Codes, mode: Point, sd: Point) -> CoreCentring:
    """The core in units of standard deviations around a mode, both on the unconstrained scale."""
    sds = np.exp(np.concatenate([np.ravel(mode[name]) for name in SDS]))
    scale = (HALF if np.bincount(pool).min() >= CROWD else LOGARITHMIC) * sds
    free = inverse_softplus(sds, scale)
    own = [np.ravel(x) for name, x in mode.items() if name not in (*SDS, "level")]
    spread = np.concatenate([np.ravel(x) for name, x in sd.items() if name != "level"])
    spread[: len(sds)] *= sds / expit(free / scale)
    return CoreCentring(
        **vars(levels),
        node=node,
        pool=pool,
        spread_scale=scale,
        core_mean=np.concatenate([free, *own]),
        core_root=np.diag(spread),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreCentring:
    """Centring of levels and of sampled scores of items.

    Attributes
    ----------
    level_mean, level_variance, reference, known_sd_item, widening
        Those of `Levels`, which do not depend on sds of items here.
    node : array
        Empty: scores have no nodes.
    effect_precision, effect_weighted_mean : array of shape (G, I)
        Of an item's effect in each pool given those in the pools before, from the ratings of the
        pool and of those after it: its precision, and its mean times the precision.
    """

    level_mean: Array
    level_variance: Array
    reference: Codes = field(default_factory=lambda: np.zeros(1, np.int32))
    known_sd_item: Array = field(default_factory=lambda: np.zeros(1))
    widening: float = 0.0
    node: Array = field(default_factory=lambda: np.empty(0))
    effect_precision: Array
    effect_weighted_mean: Array

    @property
    def levels(self) -> Levels:
        """Levels of raters."""
        return Levels(**{each.name: getattr(self, each.name) for each in fields(Levels)})

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        names = "level_mean", "level_variance", "effect_precision", "effect_weighted_mean"
        values = {name: getattr(self, name) for name in names}
        return StanData(positions={"reference": self.reference}, values=values)
