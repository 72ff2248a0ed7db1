"""Gibbs sampling of items in parts: the posterior of all ratings in memory, for any parts."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.models.bases import items_in_parts
from reliabayes.models.priors import Beta
from tests.monte_carlo import standard_errors
from tests.partitions.in_memory import in_parts

MODELS = [
    rb.DawidSkene(),
    rb.MACE(),
    rb.MACE(prevalence="uniform"),
    rb.TAP(),
    rb.TAP(accuracy="by_category"),
    rb.RaterTAP(),
]
FEW: dict[str, Any] = {"seed": 1, "warmup": 5, "draws": 20, "progress": False}


@pytest.fixture(autouse=True)
def few_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(items_in_parts, "MOST_COUNTS", 0)


def table(gold: bool = False) -> pd.DataFrame:
    """400 items in three categories, each with 2 to 6 ratings by some of eight raters."""
    rng = np.random.default_rng(7)
    rows = []
    for item, truth in enumerate(rng.choice(3, 400, p=[0.5, 0.3, 0.2])):
        for rater in rng.choice(8, rng.integers(2, 7), replace=False):
            is_right = rng.random() < 0.55 + 0.05 * rater
            rating = truth if is_right else rng.integers(3)
            rows.append((item, rater, rating, truth if item % 5 == 0 else None))
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating", "gold"])
    return frame if gold else frame.drop(columns="gold")


def ratings_of(frame: pd.DataFrame) -> rb.Ratings:
    gold = "gold" if "gold" in frame else None
    return rb.Ratings.from_frame(frame, gold=gold, scale="nominal")


@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_draws_do_not_depend_on_the_number_of_parts(model: Any) -> None:
    ratings = ratings_of(table())
    starts = model.fit(ratings, **FEW)  # modes are searched for among items of the first part

    one, seven, many = (
        model.fit(in_parts(ratings, number), warm_start=starts, **FEW) for number in (1, 7, 64)
    )

    assert one.settings.sampler == "gibbs"
    for name, values in one.posterior.items():
        for other in (seven, many):
            np.testing.assert_allclose(other.posterior[name], values, rtol=1e-12)
            if name != "log_likelihood":  # a sum, which rounds by part
                np.testing.assert_array_equal(other.posterior[name], values)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_draws_are_those_of_processes(tmp_path: Path) -> None:
    rb.partition(table(), tmp_path / "parts", partitions=5, scale="nominal")

    one, two = (
        rb.DawidSkene().fit(rb.scan_ratings(tmp_path / "parts", n_jobs=n), **FEW) for n in (1, 2)
    )

    assert one.posterior.identical(two.posterior)


@pytest.mark.slow
@pytest.mark.parametrize("model", MODELS, ids=repr)
@pytest.mark.parametrize("gold", [False, True])
def test_posterior_is_that_in_memory(model: Any, gold: bool) -> None:
    ratings = ratings_of(table(gold))
    options: dict[str, Any] = {"draws": 1500, "progress": False}

    found = model.fit(in_parts(ratings, 4), seed=1, **options)

    expected = model.fit(ratings, seed=2, sampler="nuts", **options)
    for column in ("mean", "sd", "lower_90", "upper_90"):
        errors = [standard_errors(fit, column) for fit in (found, expected)]
        for quantity in expected.summary().index:
            difference = found.summary()[column][quantity] - expected.summary()[column][quantity]
            assert abs(difference) < 5.5 * math.hypot(*(each[quantity] for each in errors))


def test_two_readings_of_the_ratings_are_said_to_be_unweighed() -> None:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (2, 60)).repeat(5, axis=0)  # of two criteria, with five raters each
    rating = np.where(rng.random(truth.shape) < 0.85, truth, 1 - truth).T
    ratings = rb.Ratings.from_wide(pd.DataFrame(rating), scale="nominal")

    with pytest.warns(rb.ConvergenceWarning, match="2 modes, whose shares could not be estimated"):
        fit = rb.DawidSkene().fit(in_parts(ratings, 2), seed=1, draws=250, progress=False)

    assert len(fit.settings.modes) == 2


def test_nuts_is_refused() -> None:
    with pytest.raises(ValueError, match=r"NUTS needs distinct items in memory.*400 items"):
        rb.TAP().fit(in_parts(ratings_of(table()), 3), sampler="nuts")


def test_fit_that_takes_too_long_is_ended() -> None:
    dataset = in_parts(ratings_of(table()), 3)

    with pytest.raises(rb.SamplingError, match="timeout"):
        rb.TAP().fit(dataset, draws=1_000_000, timeout=1.0, progress=False)


def test_known_answers_that_may_mislead_are_refused() -> None:
    dataset = in_parts(ratings_of(table(gold=True)), 3)

    with pytest.raises(rb.RatingsError, match=r"gold: .* must fit in memory; found 80 known"):
        rb.DawidSkene(prior_misleading=Beta(2.0, 8.0)).fit(dataset)
