"""What a program of latent scores samples: what raters have in common, and their levels."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
from scipy.special import expit

from reliabayes.arrays import Array, Codes
from reliabayes.inference import correlation
from reliabayes.inference.core_units import units_of
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.level_centring import LevelCentring

CROWD = 20  # raters of each pool
SDS = ("sd_item", "sd_rater")
ADDED = ("core", "score", "item_score", "log_slope")  # of programs; no parameters of the model
# Scales of softplus, in units of the sds where chains start. Among many raters an sd is known well,
# or may be near 0: it should be half a normal density. Of few it has a long tail to the right, and
# on so large a scale the softplus is an exponential.
HALF, LOGARITHMIC = 0.5, 1e4


@runtime_checkable
class ScoresOfCore(StanPart, Protocol):
    """Centring relative to which a program samples scores in place of parameters."""

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program samples, inverse to `for_program`."""


@dataclass(frozen=True, eq=False, kw_only=True)
class CoreCentring(LevelCentring):
    """Centring of levels, and of sds, correlation, steps and means, in this order: the core.

    Attributes
    ----------
    pool : array of int, shape (R,)
        Position of each rater's pool.
    spread_scale : array of shape (2 G,)
        In place of sds of items and of raters stand numbers of which they are the softplus on these
        scales.
    core_mean, core_root : array of shapes (C,) and (C, C)
        Mean and root of the covariance of the core, free of bounds; the program samples its
        standard scores.
    """

    not_data: ClassVar[frozenset[str]] = LevelCentring.not_data | {"pool"}

    pool: Codes
    spread_scale: Array
    core_mean: Array
    core_root: Array

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it."""
        at = {name: np.asarray(value, float) for name, value in point.items()}
        levels = self.unconstrain(at, self.pool)
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
        return self.constrain(point, scores, self.pool)

    def relative_to(self, core: Array) -> CoreCentring:
        """The same relative to mean and covariance of a few standard scores (N, C) of the core."""
        mean, root = units_of(self.core_mean, self.core_root, core)
        return replace(self, core_mean=mean, core_root=root)


def in_core(start: WarmStart, pool: Codes) -> WarmStart:
    """A start at a mode of parameters and levels in standard scores of the core and of levels."""
    levels = start.centring
    assert isinstance(levels, LevelCentring)
    sds = np.exp(np.concatenate([np.ravel(start.mode[name]) for name in SDS]))
    scale = (HALF if np.bincount(pool).min() >= CROWD else LOGARITHMIC) * sds
    free = inverse_softplus(sds, scale)
    own = {name: value for name, value in start.mode.items() if name not in (*SDS, "level")}
    spread = {name: value for name, value in start.sd.items() if name != "level"}
    sd = np.concatenate([np.ravel(value) for value in spread.values()])
    sd[: len(sds)] *= sds / expit(free / scale)
    centring = CoreCentring(
        **vars(levels),
        pool=pool,
        spread_scale=scale,
        core_mean=np.concatenate([free, *map(np.ravel, own.values())]),
        core_root=np.diag(sd),
    )
    return replace(
        start,
        mode={"core": np.zeros(len(sd)), "score": start.mode["level"]},
        sd={"core": np.ones(len(sd)), "score": start.sd["level"]},
        constrain=centring.restored,
        centring=centring,
    )
