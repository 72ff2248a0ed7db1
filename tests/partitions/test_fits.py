"""What needs all ratings in memory says so for ratings in parts."""

from __future__ import annotations

import pytest

import reliabayes as rb
from reliabayes.wording import joined
from tests.partitions.in_memory import in_parts


@pytest.fixture
def ratings() -> rb.Ratings:
    return rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))


def test_models_that_need_ratings_in_memory_refuse_a_dataset(ratings: rb.Ratings) -> None:
    model, dataset = rb.OrdinalICC(), in_parts(ratings, 2)

    others = joined(sorted(each.__name__ for each in rb.MODELS if each.takes_parts))
    with pytest.raises(
        TypeError, match=f"OrdinalICC needs all ratings in memory.*parts are {others}"
    ):
        model.fit(dataset)


def test_dataset_says_what_needs_all_ratings(ratings: rb.Ratings) -> None:
    dataset = in_parts(ratings, 2)

    with pytest.raises(AttributeError, match="no ratings_per_item, which needs all ratings"):
        _ = dataset.ratings_per_item


def test_dataset_has_no_other_attributes(ratings: rb.Ratings) -> None:
    assert not hasattr(in_parts(ratings, 2), "rating_per_item")
