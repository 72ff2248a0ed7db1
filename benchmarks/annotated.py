"""Simulated ratings in categories."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import reliabayes as rb
from benchmarks.simulated import simulate
from reliabayes.arrays import Array

ACCURACY, WEIGHT = 0.75, 8.0  # prior of the raters' confusion matrices
CHUNK = 1_000_000  # ratings drawn at once


def annotate(
    items: int, raters: int, per_item: int, categories: int, *, seed: int = 0
) -> pd.DataFrame:
    """Simulate ratings of items by random raters, each with a confusion matrix of their own."""
    frame = simulate(items, raters, per_item, seed=seed)[["item", "rater"]]
    rng = np.random.default_rng([seed, 1])
    rows = rb.DiagonalDirichlet(WEIGHT, ACCURACY).rows(categories)
    confusion = np.stack([rng.dirichlet(row, raters) for row in rows], axis=1)
    truth = rng.dirichlet(np.full(categories, 3.0)).cumsum().searchsorted(rng.random(items))
    cumulative = confusion.cumsum(axis=-1)[..., :-1]
    return frame.assign(rating=_draw(cumulative, frame["rater"], truth[frame["item"]], rng))


def ratings(frame: pd.DataFrame, categories: int) -> rb.Ratings:
    """Ratings of a table, for models of categories."""
    return rb.Ratings.from_frame(frame, scale="nominal", categories=range(categories))


def _draw(
    cumulative: Array,
    rater: pd.Series[int],
    truth: NDArray[np.intp],
    rng: np.random.Generator,
) -> NDArray[np.intp]:
    drawn = np.empty(len(rater), np.intp)
    for start in range(0, len(drawn), CHUNK):
        part = slice(start, start + CHUNK)
        row = cumulative[rater.to_numpy()[part], truth[part]]
        drawn[part] = (rng.random((len(row), 1)) > row).sum(axis=1)
    return drawn
