"""EM of ratings in parts: the estimates of all ratings in memory, for any number of parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.models.bases import items_in_parts
from reliabayes.models.priors import Beta
from tests.partitions.in_memory import in_parts

MODELS = [
    rb.DawidSkene(),
    rb.MACE(),
    rb.MACE(prevalence="uniform"),
    rb.TAP(),
    rb.RaterTAP(),
    rb.DawidSkene(prior_misleading=Beta(2.0, 8.0)),
]


@pytest.fixture(scope="module")
def ratings() -> rb.Ratings:
    """300 items in three categories, each with 2 to 7 ratings by some of nine raters."""
    rng = np.random.default_rng(11)
    rows = []
    for item, truth in enumerate(rng.choice(3, 300, p=[0.5, 0.3, 0.2])):
        gold = "abc"[truth] if item % 10 == 0 else None
        for rater in rng.choice(9, rng.integers(2, 8), replace=False):
            is_right = rng.random() < 0.5 + 0.05 * rater
            rows.append(
                (f"i{item:03}", f"r{rater}", "abc"[truth if is_right else rng.integers(3)], gold)
            )
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    return rb.Ratings.from_frame(frame, gold="gold")


@pytest.fixture
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_in_parts, "MOST_COUNTS", 0)


@pytest.mark.slow
@pytest.mark.usefixtures("few_in_memory")
@pytest.mark.parametrize("number", [1, 7, 64])
@pytest.mark.parametrize("priors", [False, True])
@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_estimate_is_that_in_memory(
    ratings: rb.Ratings, model: Any, priors: bool, number: int
) -> None:
    found = model.em(in_parts(ratings, number), priors=priors)

    expected = model.em(ratings, priors=priors)
    assert_same(found, expected, 1e-9)


@pytest.mark.parametrize("model", [rb.TAP(), rb.DawidSkene()], ids=repr)
def test_distinct_items_that_fit_into_memory_are_merged(ratings: rb.Ratings, model: Any) -> None:
    problem = model.problem_of_parts(in_parts(ratings, 7))

    expected = model.problem(ratings).mixture
    assert problem.parts is None
    assert (problem.mixture.counts != expected.counts).nnz == 0
    assert problem.mixture.multiplicity.tolist() == expected.multiplicity.tolist()
    assert_same(model.em(in_parts(ratings, 7)), model.em(ratings), 1e-12)


@pytest.mark.usefixtures("few_in_memory")
def test_tables_of_items_are_written_by_part(ratings: rb.Ratings, tmp_path: Path) -> None:
    found = rb.DawidSkene().em(in_parts(ratings, 3))

    found.write_items(tmp_path / "items")

    files = sorted((tmp_path / "items").iterdir())
    written = pd.concat([pd.read_parquet(file) for file in files]).set_index("item")
    expected = rb.DawidSkene().em(ratings).items()
    assert [file.name for file in files] == [f"part-0000{number}.parquet" for number in range(3)]
    pd.testing.assert_frame_equal(written, expected, check_dtype=False, rtol=1e-7, atol=1e-9)


def test_items_of_ratings_in_memory_are_written_to_one_file(
    ratings: rb.Ratings, tmp_path: Path
) -> None:
    found = rb.DawidSkene().em(ratings)

    found.write_items(tmp_path)

    written = pd.read_parquet(tmp_path / "part-00000.parquet").set_index("item")
    pd.testing.assert_frame_equal(written, found.items(), check_dtype=False)


def test_tables_of_items_in_parts_are_not_returned(ratings: rb.Ratings) -> None:
    found = rb.DawidSkene().em(in_parts(ratings, 3))

    for table in found.items, found.category_probabilities:
        with pytest.raises(rb.RatingsError, match=r"write_items\(folder\)"):
            table()


@pytest.mark.usefixtures("few_in_memory")
def test_random_starts_of_ratings_in_parts_are_refused(ratings: rb.Ratings) -> None:
    with pytest.raises(rb.RatingsError, match="starts from the votes"):
        rb.DawidSkene().em(in_parts(ratings, 3), restarts=2)


def test_models_that_need_all_ratings_refuse_parts(ratings: rb.Ratings) -> None:
    with pytest.raises(TypeError, match="needs all ratings in memory"):
        rb.HierarchicalDawidSkene().em(in_parts(ratings, 3))


def assert_same(found: rb.PointEstimate, expected: rb.PointEstimate, tolerance: float) -> None:
    assert (found.converged, expected.converged) == (True, True)
    assert found.log_likelihood == pytest.approx(expected.log_likelihood, rel=tolerance)
    for name, values in expected.quantities.items():
        np.testing.assert_allclose(
            found.quantities[name], values, rtol=tolerance, atol=tolerance, err_msg=str(name)
        )
    pd.testing.assert_frame_equal(found.raters(), expected.raters(), rtol=1e-7, atol=tolerance)
