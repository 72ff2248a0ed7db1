"""Simulated ratings by one pool of raters, or by two pools that rate the same items."""

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
    """A pool: its size, its ratings per item (``min_per_item`` to ``per_item``), its parameters."""

    raters: int
    per_item: int
    min_per_item: int | None = None
    mean: float = 0.0
    sd_item: float = 1.0
    sd_rater: float = 0.7


def binary(
    items: int, *pools: Pool, correlation: float = CORRELATION, seed: int = 0
) -> pd.DataFrame:
    """Simulate ratings in two categories, with a logit link."""
    frame = _simulate_levels(items, pools, correlation, seed)
    uniform = np.random.default_rng([seed, 2]).random(len(frame))
    return frame.assign(rating=(uniform < expit(frame["rating"])).astype(int))


def continuous(
    items: int, *pools: Pool, correlation: float = CORRELATION, seed: int = 0
) -> pd.DataFrame:
    """Simulate ratings that are numbers, with the same residual sd in all pools."""
    frame = _simulate_levels(items, pools, correlation, seed)
    noise = np.random.default_rng([seed, 2]).normal(0, SD_RESIDUAL, len(frame))
    return frame.assign(rating=frame["rating"] + noise)


def read(frame: pd.DataFrame) -> rb.Ratings:
    """Ratings of a table, with pools if it has a column for them."""
    return rb.Ratings.from_frame(frame, pool="pool" if "pool" in frame else None)


def _simulate_levels(
    items: int, pools: Sequence[Pool], correlation: float, seed: int
) -> pd.DataFrame:
    """Design, with the expected rating (or logit) of each row as its rating."""
    rng = np.random.default_rng([seed, 1])
    shared, own = rng.standard_normal((2, items))
    scores = shared, correlation * shared + np.sqrt(1 - correlation**2) * own
    parts, n_raters = [], 0
    for number, (pool, score) in enumerate(zip(pools, scores, strict=False)):
        rated = simulate(
            items, pool.raters, pool.per_item, min_per_item=pool.min_per_item, seed=seed + number
        )
        effect = rng.normal(pool.mean, pool.sd_rater, pool.raters)
        level = pool.sd_item * score[rated["item"]] + effect[rated["rater"]]
        rater = rated["rater"] + n_raters
        parts.append(rated.assign(rater=rater, pool=number, rating=level))
        n_raters += pool.raters
    frame = pd.concat(parts, ignore_index=True)
    return frame if len(pools) > 1 else frame.drop(columns="pool")
