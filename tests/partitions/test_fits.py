"""Fits of ratings in parts: which models take them, and what needs ratings in memory."""

from __future__ import annotations

import pytest

import reliabayes as rb
from tests.partitions.in_memory import in_parts


@pytest.fixture
def ratings() -> rb.Ratings:
    return rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))


def test_dataset_says_what_needs_all_ratings(ratings: rb.Ratings) -> None:
    dataset = in_parts(ratings, 2)

    with pytest.raises(AttributeError, match="no ratings_per_item, which needs all ratings"):
        _ = dataset.ratings_per_item


def test_dataset_has_no_other_attributes(ratings: rb.Ratings) -> None:
    assert not hasattr(in_parts(ratings, 2), "rating_per_item")
