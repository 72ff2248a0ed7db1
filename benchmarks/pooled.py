"""Simulated ratings by one pool of raters, or by two who rate the same items."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

import reliabayes as rb
from benchmarks.simulated import simulate

CORRELATION, SD_RESIDUAL = 0.8, 1.2


class Pool(NamedTuple):
    """Raters, the most and the least ratings an item has of them, and what these vary by."""

    raters: int
    per_item: int
    least: int | None = None
    mean: float = 0.0
    sd_item: float = 1.0
    sd_rater: float = 0.7


def binary(
    items: int, *pools: Pool, correlation: float = CORRELATION, seed: int = 0
) -> pd.DataFrame:
    """Ratings in two categories, by the logit of the second."""
    frame = _levels(items, pools, correlation, seed)
    uniform = np.random.default_rng([seed, 2]).random(len(frame))
    return frame.assign(rating=(uniform < expit(frame["rating"])).astype(int))


def continuous(
    items: int, *pools: Pool, correlation: float = CORRELATION, seed: int = 0
) -> pd.DataFrame:
    """Ratings that are numbers, their residuals alike in all pools."""
    frame = _levels(items, pools, correlation, seed)
    noise = np.random.default_rng([seed, 2]).normal(0, SD_RESIDUAL, len(frame))
    return frame.assign(rating=frame["rating"] + noise)


def read(frame: pd.DataFrame) -> rb.Ratings:
    """The table, with its pools if it names any."""
    return rb.Ratings.from_frame(frame, pool="pool" if "pool" in frame else None)


def _levels(items: int, pools: Sequence[Pool], correlation: float, seed: int) -> pd.DataFrame:
    """Who rates what, and the rating without its residual."""
    rng = np.random.default_rng([seed, 1])
    shared, own = rng.standard_normal((2, items))
    scores = shared, correlation * shared + np.sqrt(1 - correlation**2) * own
    parts, raters = [], 0
    for number, (pool, score) in enumerate(zip(pools, scores, strict=False)):
        rated = simulate(items, pool.raters, pool.per_item, least=pool.least, seed=seed + number)
        effect = rng.normal(pool.mean, pool.sd_rater, pool.raters)
        level = pool.sd_item * score[rated["item"]] + effect[rated["rater"]]
        rater = rated["rater"] + raters
        parts.append(rated.assign(rater=rater, pool=number, rating=level))
        raters += pool.raters
    frame = pd.concat(parts, ignore_index=True)
    return frame if len(pools) > 1 else frame.drop(columns="pool")
