"""Fits of ratings in parts: the same numbers as in memory, and what needs ratings in memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from tests.partitions.in_memory import in_parts

MODELS = [rb.GaussianICC(), rb.GaussianXCC(), rb.GaussianXCC(residual="per_pool")]
SAMPLING: dict[str, Any] = {"seed": 1, "chains": 2, "draws": 50, "progress": False}


@pytest.fixture
def ratings() -> rb.Ratings:
    """70 items, each with some of whole-number grades of eight raters."""
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal(70), rng.standard_normal(8)
    score = 50 + 10 * item[:, None] + 5 * rater + 7 * rng.standard_normal((70, 8))
    grades = np.where(rng.random((70, 8)) < 0.7, np.rint(score), np.nan)
    table = rb.Ratings.from_wide(grades).to_frame()
    return rb.Ratings.from_frame(table.assign(pool=table["rater"] % 3), pool="pool")


@pytest.mark.parametrize("number", [1, 7, 64])
@pytest.mark.parametrize(
    "model", [rb.GaussianICC(), rb.GaussianXCC(), rb.GaussianXCC(residual="per_pool")]
)
@pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning")
def test_draws_are_those_in_memory(ratings: rb.Ratings, model: Any, number: int) -> None:
    expected = model.fit(ratings, **SAMPLING)

    found = model.fit(in_parts(ratings, number), **SAMPLING)

    assert found.posterior.identical(expected.posterior)
    assert found.summary().equals(expected.summary())


@pytest.mark.parametrize("model", MODELS, ids=repr)
def test_priors_are_those_in_memory(ratings: rb.Ratings, model: Any) -> None:
    assert model.priors(in_parts(ratings, 7)) == model.priors(ratings)


def test_models_that_need_ratings_in_memory_refuse_a_dataset(ratings: rb.Ratings) -> None:
    model, dataset = rb.OrdinalICC(), in_parts(ratings, 2)

    others = "parts are DawidSkene, GStudy, GaussianICC, GaussianXCC, MACE, RaterTAP and TAP"
    with pytest.raises(TypeError, match=f"OrdinalICC needs all ratings in memory.*{others}"):
        model.fit(dataset)


def test_dataset_says_what_needs_all_ratings(ratings: rb.Ratings) -> None:
    dataset = in_parts(ratings, 2)

    with pytest.raises(AttributeError, match="no ratings_per_item, which needs all ratings"):
        _ = dataset.ratings_per_item


def test_dataset_has_no_other_attributes(ratings: rb.Ratings) -> None:
    assert not hasattr(in_parts(ratings, 2), "rating_per_item")
