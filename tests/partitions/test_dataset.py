"""Ratings in parts: sizes, and sums that do not depend on the number of parts."""

from __future__ import annotations

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.arrays import Codes
from tests.partitions.in_memory import in_parts


@pytest.fixture
def ratings() -> rb.Ratings:
    return rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))


@pytest.mark.parametrize("number", [1, 2, 6])
def test_parts_hold_all_ratings(ratings: rb.Ratings, number: int) -> None:
    dataset = in_parts(ratings, number)

    sizes = len(dataset), dataset.n_items, dataset.n_raters

    assert sizes == (24, 6, 4)


@pytest.mark.parametrize("number", [1, 2, 6])
def test_sums_over_parts_are_those_of_all_ratings(ratings: rb.Ratings, number: int) -> None:
    found = in_parts(ratings, number).sum(sums_by_rater)

    np.testing.assert_array_equal(found, sums_by_rater(ratings))


def sums_by_rater(part: rb.Ratings) -> Codes:
    return np.asarray(np.bincount(part.rater, part.values, minlength=part.n_raters), np.int64)
