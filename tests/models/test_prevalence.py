"""The prevalence of true categories is estimated unless asked otherwise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

MODELS: dict[str, Any] = {
    "MACE": (rb.MACE(), rb.MACE(prevalence="uniform")),
    "RaterTAP": (rb.RaterTAP(), rb.RaterTAP(prevalence="item")),
}
every_model = pytest.mark.parametrize(("default", "fixed"), MODELS.values(), ids=MODELS)


@every_model
def test_estimated_prevalence_corrects_items_of_a_rare_category(default: Any, fixed: Any) -> None:
    ratings, truth = crowd(prevalence=0.1)

    right, right_if_fixed = (
        (model.em(ratings, priors=True).items()["category"] == truth).mean()
        for model in (default, fixed)
    )

    # Of five ratings that are each right with probability 0.7, the majority is right with 0.837.
    # With the true prevalence, Bayes' rule asks for four votes for the rare category, and is right
    # with 0.9 * 0.969 + 0.1 * 0.528 = 0.925; the binomial sd of 400 items is 0.013.
    assert right == pytest.approx(0.925, abs=0.04)
    assert right_if_fixed < right - 0.05


@every_model
def test_estimated_prevalence_costs_little_where_categories_are_equally_frequent(
    default: Any, fixed: Any
) -> None:
    ratings, truth = crowd(prevalence=0.5)

    right, right_if_fixed = (
        (model.em(ratings, priors=True).items()["category"] == truth).mean()
        for model in (default, fixed)
    )

    assert right > right_if_fixed - 0.04  # twice the binomial sd of 400 items


@every_model
def test_prevalence_is_reported_unless_it_is_fixed(default: Any, fixed: Any) -> None:
    ratings, _ = crowd(prevalence=0.1)

    assert float(default.em(ratings).quantities["prevalence"].sel(true_category=1)) < 0.25
    assert "prevalence" not in fixed.em(ratings).quantities


def crowd(prevalence: float) -> tuple[rb.Ratings, Any]:
    """400 items, each rated by 5 of 10 raters, who are right 7 times of 10; and the truth."""
    rng = np.random.default_rng(1)
    truth = (rng.random(400) < prevalence).astype(int)
    raters = rng.permuted(np.tile(np.arange(10), (400, 1)), axis=1)[:, :5]
    is_right = rng.random(raters.shape) < 0.7
    rated = np.where(is_right, truth[:, None], 1 - truth[:, None])
    item = np.repeat(np.arange(400), 5)
    frame = pd.DataFrame({"item": item, "rater": raters.ravel(), "rating": rated.ravel()})
    return rb.Ratings.from_frame(frame, scale="nominal"), truth
