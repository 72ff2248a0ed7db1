"""Sensitivity to priors by weights of the draws agrees with fits under the other priors."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.results.sensitivity import smoothed
from tests.monte_carlo import standard_errors

pytestmark = pytest.mark.slow


def three_raters(items: int = 30, raters: int = 3) -> rb.Ratings:
    rng = np.random.default_rng(1)
    item, rater = rng.standard_normal((items, 1)), 0.4 * rng.standard_normal((1, raters))
    return rb.Ratings.from_wide(item + rater + 0.8 * rng.standard_normal((items, raters)))


@pytest.mark.parametrize("shape", [0.3, 0.5, 0.8])
def test_shape_of_the_tail_is_that_of_pareto_weights(shape: float) -> None:
    uniform = (np.arange(20_000) + 0.5) / 20_000

    weights, k = smoothed(-shape * np.log(uniform))

    assert weights.sum() == pytest.approx(1)
    # The sd of the estimate is (1 + k) / sqrt(424 in the tail), and a prior pulls it towards 0.5.
    assert k == pytest.approx(shape, abs=0.1)


def test_weights_give_the_moments_of_the_other_distribution() -> None:
    x = np.random.default_rng(2).standard_normal(20_000)

    weights, k = smoothed(0.5 * x - 0.125)  # normal with mean 0.5

    assert k < 0.5
    assert weights @ x == pytest.approx(0.5, abs=0.04)
    assert weights @ x**2 == pytest.approx(1.25, abs=0.1)


def test_weights_of_a_tail_without_end_are_cut_off() -> None:
    log_ratio = np.full(200, -1000.0)
    log_ratio[::10] = np.linspace(-400, 0, 20)

    weights, k = smoothed(log_ratio)

    assert k > 20
    assert np.isfinite(weights).all()
    assert weights.sum() == pytest.approx(1)


def test_medians_under_half_and_twice_the_scale_are_those_of_other_fits() -> None:
    ratings = three_raters()
    prior: Any = rb.GaussianICC().priors(ratings)["sd_rater"]

    row: Any = rb.GaussianICC().fit(ratings, seed=1).sensitivity(["icc"]).loc["sd_rater", "icc"]

    for times, column in ((0.5, "half"), (2.0, "twice")):
        other = dataclasses.replace(prior, scale=times * prior.scale)
        fit = rb.GaussianICC(prior_sd_rater=other).fit(ratings, seed=2)
        error = standard_errors(fit, "median")["icc"]
        expected = fit.summary().loc["icc", "median"]
        assert row[column] == pytest.approx(expected, abs=6 * error), column
    assert row["half"] > row["median"] > row["twice"]
    assert row["sensitivity"] > 0.05
    assert row["pareto_k"] < 0.7


def test_summary_says_how_far_the_icc_depends_on_a_prior_where_raters_are_few() -> None:
    few = rb.GaussianICC().fit(three_raters(), seed=1, chains=2)
    many = rb.GaussianICC().fit(three_raters(raters=12), seed=1, chains=2)

    table: Any = few.summary()
    note = table.attrs["note"]

    assert note.startswith("3 raters leave uncertain how much raters differ")
    assert f"its median is {table.loc['icc', 'median']:.2f}, with half" in note
    assert many.summary().attrs["note"] == ""


def five_raters(raters: int = 5) -> rb.Ratings:
    rng = np.random.default_rng(3)
    truth = rng.integers(0, 2, (60, 1))
    is_right = rng.random((60, raters)) < 0.9
    return rb.Ratings.from_wide(np.where(is_right, truth, 1 - truth), scale="nominal")


@pytest.mark.parametrize(
    "model", [rb.DawidSkene, pytest.param(rb.RaterTAP, marks=pytest.mark.proof)]
)
def test_accuracy_under_half_and_twice_the_weight_is_that_of_other_fits(model: Any) -> None:
    ratings = five_raters()
    name = "confusion" if model is rb.DawidSkene else "a"

    fit = model().fit(ratings, seed=1, draws=2000)  # weights of draws cost three quarters of them
    table: Any = fit.sensitivity(["accuracy"]).loc[name]

    for times, column in ((0.5, "half"), (2.0, "twice")):
        other = model(**{f"prior_{name}": of_weight(name, times)}).fit(ratings, seed=2, draws=500)
        error = standard_errors(other, "median")
        for rater, row in table.iterrows():
            expected = other.summary(names=["accuracy"]).loc[rater, "median"]
            assert row[column] == pytest.approx(expected, abs=6 * error[rater]), (rater, column)
    assert table["pareto_k"].max() < 0.7
    assert table["sensitivity"].max() > 0.05


def of_weight(name: str, times: float) -> Any:
    """The default prior of accuracies, with so many times its concentrations."""
    return rb.Beta(times, times) if name == "a" else times * rb.DawidSkene().prior_confusion.rows(2)


def test_summary_says_how_far_accuracies_depend_on_a_prior_where_raters_are_few() -> None:
    few = rb.DawidSkene().fit(five_raters(), seed=1, draws=500)
    many = rb.DawidSkene().fit(five_raters(12), seed=1, draws=500)

    note = few.summary().attrs["note"]
    mean = few.quantities["accuracy"].mean("rater").median()

    assert note.startswith("With 5 raters the prior of confusion counts for their mean accuracy")
    assert f"its median is {mean:.2f}, with half the prior's weight" in note
    assert many.summary().attrs["note"] == ""


def occasions(levels: int = 2, raters: int = 12) -> rb.Ratings:
    """Ratings of 30 items on a few occasions, of which none differs from the others."""
    rng = np.random.default_rng(4)
    cells = pd.MultiIndex.from_product([range(30), range(raters), range(levels)])
    table = cells.to_frame(index=False).set_axis(["item", "rater", "day"], axis=1)
    table["rating"] = rng.standard_normal(30)[table["item"]] + rng.standard_normal(len(table))
    return rb.Ratings.from_frame(table, facets=["day"])


def test_medians_of_a_g_study_under_another_scale_are_those_of_another_fit() -> None:
    ratings = occasions(raters=3)
    model = rb.GStudy(design="item x rater x day")
    prior: Any = model.priors(ratings)["sd"]["day"]

    row: Any = model.fit(ratings, seed=1).sensitivity(["phi"]).loc["sd[day]", "phi"]

    for times, column in ((0.5, "half"), (2.0, "twice")):
        other = dataclasses.replace(prior, scale=times * prior.scale)
        fit = dataclasses.replace(model, prior_sd=(("day", other),)).fit(ratings, seed=2)
        error = standard_errors(fit, "median")["phi"]
        assert row[column] == pytest.approx(fit.summary().loc["phi", "median"], abs=6 * error)


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # of few draws
def test_summary_of_a_g_study_says_what_depends_on_the_prior_of_a_facet_of_few_levels() -> None:
    model = rb.GStudy(design="item x rater x day")
    fit = model.fit(occasions(), seed=1, draws=250)
    fixed = dataclasses.replace(model, fixed=("day",)).fit(occasions(), seed=1, draws=250)
    many = model.fit(occasions(levels=10), seed=1, draws=250)

    note = fit.summary().attrs["note"]

    upper = float(fit.quantities["mdc"].quantile(0.95))
    assert note.startswith(
        "2 days leave the variance between days uncertain, so mdc depends on the prior of sd[day]; "
        f"its 90% interval ends at {upper:.2f}, or at "
    )
    assert note.endswith(
        "If all measurements have the same days, GStudy(..., fixed=['day']) leaves their "
        "differences out of the error."
    )
    assert fixed.note == many.note == ""
