"""Distinct rows, and which of them each row is."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes.arrays import distinct_rows


@pytest.mark.parametrize(
    "values", [[0, 1, 2], [-1.5, 0.0, 1 / 3], [7]], ids=["counts", "shares", "one"]
)
def test_rows_are_those_that_numpy_finds_by_comparing_them_whole(values: list[float]) -> None:
    rows = np.random.default_rng(1).choice(np.array(values, float), (200, 3))

    distinct, which = distinct_rows(rows)

    expected, place = np.unique(rows, axis=0, return_inverse=True)
    assert distinct.tolist() == expected.tolist()
    assert which.tolist() == place.ravel().tolist()
