"""What the programs of latent scores sample at values of their parameters, written out plainly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from reliabayes.arrays import Array

Point = Mapping[str, Any]


def sampled_at(data: Point, point: Point) -> tuple[dict[str, Array], float]:
    """Standard scores that a program declares, and the log of the factor between densities.

    The second is what the log density of the scores has more than that of the parameters, up to a
    constant.
    """
    known = np.asarray(data["known_sd_item"], float)
    size = len(known)
    pool = np.asarray(data.get("pool", np.ones(len(data["level_mean"]), int))) - 1
    item, rater, mean = (np.reshape(point[name], size) for name in ("sd_item", "sd_rater", "mean"))
    step = np.reshape(point.get("step", ()), (size, -1))

    stretch = np.sqrt((1 + data["widening"] * item**2) / (1 + data["widening"] * known**2))
    first = np.array([step[g, : k - 1].sum() for g, k in enumerate(data["reference"])])
    own = np.asarray(data["level_mean"]) * stretch[pool] + first[pool]
    variance = np.asarray(data["level_variance"]) * stretch[pool] ** 2
    number = np.bincount(pool)
    sd_mean = np.sqrt((rater**2 + np.bincount(pool, variance) / number) / number)
    between = rater[pool] ** 2
    expected = (own * between + mean[pool] * variance) / (between + variance)
    sd_level = np.sqrt(between * variance / (between + variance))

    sd, scale = np.concatenate([item, rater]), np.asarray(data["spread_scale"])
    slope = 1 - np.exp(-sd / scale)  # of a softplus
    log_slope = np.log(slope).sum() + np.log(step).sum() + np.log(sd_mean).sum()
    log_slope += np.log(sd_level).sum()
    free = [scale * np.log(np.exp(sd / scale) - 1)]
    if size == 2:
        factor = np.asarray(point["factor_item"])
        free.append(np.array([np.arctanh(factor[1, 0])]))
        log_slope += 2 * np.log(factor[1, 1])
    free += [np.log(step).ravel(), (mean - np.bincount(pool, own) / number) / sd_mean]
    away = np.concatenate(free) - np.asarray(data["core_mean"])
    scores = {
        "core": np.linalg.solve(np.asarray(data["core_root"]), away),
        "score": (np.asarray(point["level"]) - expected) / sd_level,
    }
    return scores, float(log_slope)
