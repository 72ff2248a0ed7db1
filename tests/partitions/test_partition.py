"""Tables in parts on disk: the same ratings as in memory, whatever the source and its parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

COLUMNS = {"item": "ad", "rater": "who", "rating": "score", "pool": "team"}


@pytest.fixture
def frame() -> pd.DataFrame:
    """500 ratings of 100 items by 20 raters in two pools, in random order."""
    rng = np.random.default_rng(1)
    rows = [(n, rater) for n in range(100) for rater in rng.choice(20, 5, replace=False)]
    frame = pd.DataFrame(rows, columns=["ad", "who"])
    frame["team"] = np.where(frame["who"] < 8, "staff", "crowd")
    frame["who"] = frame["who"].map("w{}".format)
    return frame.assign(score=rng.integers(1, 6, 500)).sample(frac=1, random_state=1)


@pytest.mark.parametrize("number", [1, 3, 64])
def test_parts_hold_all_ratings(frame: pd.DataFrame, tmp_path: Path, number: int) -> None:
    dataset = rb.partition(frame, tmp_path / "parts", **COLUMNS, partitions=number)

    found = pd.concat(user_frame(dataset, n) for n in range(len(dataset.parts)))

    columns = ["ad", "who", "score", "team"]
    expected = frame[columns].sort_values(columns, ignore_index=True)
    pd.testing.assert_frame_equal(found.sort_values(columns, ignore_index=True), expected)


def user_frame(dataset: rb.RatingsDataset, number: int) -> pd.DataFrame:
    """A part in the user's ids."""
    part = dataset.parts[number].read()
    assert part.rater_pool is not None
    return pd.DataFrame(
        {
            "ad": dataset.parts[number].item_ids().to_numpy()[part.item],
            "who": part.raters[part.rater],
            "score": part.values.astype(np.int64),
            "team": part.pools[part.rater_pool[part.rater]],
        }
    )
