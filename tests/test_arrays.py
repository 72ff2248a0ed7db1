"""The distinct rows of an array, and the position of each row among them."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes.arrays import distinct_rows


@pytest.mark.parametrize(
    "values", [[0, 1, 2], [-1.5, 0.0, 1 / 3], [7]], ids=["counts", "fractions", "constant"]
)
def test_distinct_rows_are_those_of_numpy_unique(values: list[float]) -> None:
    rows = np.random.default_rng(1).choice(np.array(values, float), (200, 3))

    distinct, position = distinct_rows(rows)

    expected, expected_position = np.unique(rows, axis=0, return_inverse=True)
    assert distinct.tolist() == expected.tolist()
    assert position.tolist() == expected_position.ravel().tolist()
