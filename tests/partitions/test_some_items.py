"""Some of the items are the same ones whether ratings are in memory or in parts."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.partitions.some_items import some_items
from reliabayes.results.dependence import crowd_of_ratings
from tests.crowds.simulated import crowd


@pytest.fixture(scope="module")
def in_memory() -> rb.Ratings:
    votes, _ = crowd("copies", 9)
    frame = pd.DataFrame({"item": votes.item, "rater": votes.rater, "rating": votes.category})
    return rb.Ratings.from_frame(frame.sample(frac=1, random_state=1), scale="nominal")


@pytest.fixture(scope="module")
def in_parts(in_memory: rb.Ratings, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("parts") / "parts"
    rb.partition(in_memory.to_frame(), folder, partitions=7, scale="nominal")
    return folder


@pytest.mark.slow
@pytest.mark.parametrize("most", [None, 1_500, pytest.param(100_000, marks=pytest.mark.proof)])
def test_dependence_is_the_same_by_any_route(
    in_memory: rb.Ratings, in_parts: Path, most: int | None
) -> None:
    one = crowd_of_ratings(in_memory, most)
    two = crowd_of_ratings(rb.scan_ratings(in_parts), most)

    assert one is not None
    assert two is not None
    np.testing.assert_array_equal(one.votes.rater, two.votes.rater)
    np.testing.assert_array_equal(one.found.z, two.found.z)
    assert [group.raters.tolist() for group in one.groups] == [[0, 1, 2, 3]]
    assert [group.raters.tolist() for group in two.groups] == [[0, 1, 2, 3]]


def test_items_are_a_random_sample_with_all_their_ratings(in_memory: rb.Ratings) -> None:
    found = some_items(in_memory, 1_500)

    assert 1_500 - in_memory.ratings_per_item.max() <= len(found) <= 1_500
    of_found = pd.Series(found.ratings_per_item, found.items)
    of_all = pd.Series(in_memory.ratings_per_item, in_memory.items)
    pd.testing.assert_series_equal(of_found, of_all[found.items], check_dtype=False)
    rank = found.items.to_numpy() / in_memory.n_items
    error = 1 / np.sqrt(12 * len(rank))
    assert rank.mean() == pytest.approx(0.5, abs=4 * error)


def test_no_more_parts_are_read_than_needed(in_parts: Path) -> None:
    whole = rb.scan_ratings(in_parts)

    found = some_items(whole, whole.parts[0].n_ratings - 1)

    assert set(found.items) < set(whole.parts[0].item_ids())
