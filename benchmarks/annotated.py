"""Simulated ratings in categories, as `simulated` makes ratings that are numbers."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import reliabayes as rb
from benchmarks.simulated import simulate

ACCURACY, WEIGHT = 0.75, 8.0  # of raters, on average, and as ratings: how alike they are
CHUNK = 1_000_000  # ratings drawn together


def annotate(
    items: int, raters: int, per_item: int, categories: int, *, seed: int = 0
) -> pd.DataFrame:
    """Ratings of items by raters drawn at random, each of whom has a confusion matrix."""
    frame = simulate(items, raters, per_item, seed=seed)[["item", "rater"]]
    rng = np.random.default_rng([seed, 1])
    rows = rb.DiagonalDirichlet(WEIGHT, ACCURACY).rows(categories)
    confusion = np.stack([rng.dirichlet(row, raters) for row in rows], axis=1)
    truth = rng.dirichlet(np.full(categories, 3.0)).cumsum().searchsorted(rng.random(items))
    edges = confusion.cumsum(axis=-1)[..., :-1]
    return frame.assign(rating=_drawn(edges, frame["rater"], truth[frame["item"]], rng))


def ratings(frame: pd.DataFrame, categories: int) -> rb.Ratings:
    """The table, as all models of categories read it."""
    return rb.Ratings.from_frame(frame, scale="nominal", categories=range(categories))


def _drawn(
    edges: NDArray[np.float64],
    rater: pd.Series[int],
    truth: NDArray[np.intp],
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    drawn = np.empty(len(rater), np.intp)
    for start in range(0, len(drawn), CHUNK):
        part = slice(start, start + CHUNK)
        row = edges[rater.to_numpy()[part], truth[part]]
        drawn[part] = (rng.random((len(row), 1)) > row).sum(axis=1)
    return drawn
