"""The proportion of the ratings at hand that are correct."""

from __future__ import annotations

import functools
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb


@functools.cache
def taught() -> tuple[rb.Fit, pd.DataFrame]:
    """A fit of ratings whose true categories are all known, and their table."""
    rng = np.random.default_rng(1)
    frame = rb.simulate.crossed(30, 4)
    truth = rng.integers(0, 3, 30)
    frame["gold"] = truth[frame["item"] - 1]
    is_right = rng.random(len(frame)) < 0.7
    frame["rating"] = np.where(is_right, frame["gold"], rng.integers(0, 3, len(frame)))
    frame["pool"] = frame["rater"].map(lambda rater: "one" if rater < 4 else "two")
    ratings = rb.Ratings.from_frame(frame, pool="pool", gold="gold", scale="nominal")
    return rb.TAP().fit(ratings, chains=2, seed=1, progress=False), frame


@pytest.mark.slow
@pytest.mark.parametrize("by", ["pool", "rater"])
def test_with_known_categories_it_is_the_proportion_of_hits(by: Any) -> None:
    fit, frame = taught()
    hits = frame["rating"].eq(frame["gold"])

    overall, grouped = fit.correct_share(), fit.correct_share(by)

    assert overall.dims == ("chain", "draw")
    assert overall.values == pytest.approx(np.full(overall.shape, hits.mean()))
    expected = hits.groupby(frame[by].to_numpy()).mean()
    assert grouped[by].values.tolist() == expected.index.tolist()
    assert grouped.isel(chain=0, draw=0).values == pytest.approx(expected.to_numpy())


@pytest.mark.slow
def test_without_known_categories_its_mean_is_the_mean_probability_of_the_ratings() -> None:
    _, frame = taught()
    ratings = rb.Ratings.from_frame(frame, scale="nominal")
    fit = rb.TAP().fit(ratings, seed=1, progress=False)
    probability = fit.category_probabilities().to_numpy()[ratings.item, ratings.category]

    share = fit.correct_share()

    # Both average over all draws; the states of 30 items are drawn once for each.
    error = 4 * float(share.std()) / np.sqrt(share.size)
    assert float(share.mean()) == pytest.approx(probability.mean(), abs=error)


def test_pools_are_a_caution_beside_the_results() -> None:
    fit, _ = taught()

    assert "judged against one consensus" in fit.summary().attrs["caution"]
    assert "judged against one consensus" in fit.raters().attrs["caution"]


def test_unknown_groups_are_refused() -> None:
    fit, frame = taught()
    without = replace(fit, ratings=rb.Ratings.from_frame(frame, scale="nominal"))

    with pytest.raises(ValueError, match="by must be 'all', 'pool' or 'rater', not 'item'"):
        fit.correct_share("item")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="by='pool' needs ratings with pools"):
        without.correct_share("pool")


def test_models_without_true_categories_refuse_it(of_judges: rb.Fit) -> None:
    with pytest.raises(AttributeError, match="GaussianICC has no true categories"):
        of_judges.correct_share()
