"""Simulated ratings that are numbers, in tables of up to ten million rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

MEAN, SD_ITEM, SD_RATER, SD_RESIDUAL = 3.0, 1.0, 0.6, 1.2
CHUNK = 10_000_000  # pairs of item and rater in memory at once


def simulate(
    items: int, raters: int, per_item: int, *, min_per_item: int | None = None, seed: int = 0
) -> pd.DataFrame:
    """Simulate ratings by random raters, ``min_per_item`` to ``per_item`` for each item."""
    rng = np.random.default_rng(seed)
    n = rng.integers(min_per_item or per_item, per_item + 1, items)
    rater = np.concatenate(list(_assign(n, raters, per_item, rng)))
    item = np.repeat(np.arange(items), n)
    effects = rng.normal(MEAN, SD_ITEM, items)[item] + rng.normal(0, SD_RATER, raters)[rater]
    rating = effects + rng.normal(0, SD_RESIDUAL, len(item))
    return pd.DataFrame({"item": item, "rater": rater, "rating": rating})


def simulate_pools(items: int, raters: int, per_item: Sequence[int]) -> pd.DataFrame:
    """Items and raters in pools of so many raters, who each rate an item so many times."""
    parts = [
        simulate(items, raters, each, seed=pool).assign(pool=pool)
        for pool, each in enumerate(per_item)
    ]
    table = pd.concat(parts)
    return table.assign(rater=table["rater"] + raters * table["pool"])


def _assign(
    n: NDArray[np.int64], raters: int, per_item: int, rng: np.random.Generator
) -> Iterator[NDArray[np.intp]]:
    """Distinct raters of each item, in blocks of items."""
    rows = max(1, CHUNK // raters)
    for start in range(0, len(n), rows):
        part = n[start : start + rows, None]
        order = rng.random((len(part), raters)).argpartition(per_item - 1, axis=1)
        yield order[:, :per_item][np.arange(per_item) < part]
