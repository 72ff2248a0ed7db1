"""Decisions on a fit: reliability by numbers of levels, the cheapest design, levels of facets."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

QUICK: dict[str, Any] = {
    "chains": 2,
    "parallel_chains": 2,
    "draws": 200,
    "seed": 1,
    "progress": False,
}
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


@pytest.fixture(scope="module")
def ratings() -> rb.Ratings:
    rng = np.random.default_rng(3)
    table = pd.DataFrame(
        list(product(range(12), range(4), range(3))), columns=["item", "rater", "day"]
    )
    table["rating"] = (
        rng.normal(0, 1.0, 12)[table["item"]]
        + rng.normal(0, 0.3, 4)[table["rater"]]
        + rng.normal(0, 0.4, (12, 3))[table["item"], table["day"]]
        + rng.normal(0, 0.6, len(table))
    )
    return rb.Ratings.from_frame(table, facets=["day"])


@pytest.fixture(scope="module")
def fit(ratings: rb.Ratings) -> rb.Fit:
    return rb.GStudy(design="item x rater x day").fit(ratings, **QUICK)


@pytest.mark.slow
def test_reliability_by_numbers_of_levels_follows_the_published_formula(fit: rb.Fit) -> None:
    found = fit.d_study({"rater": [1, 2, 5], "day": [1, 3]})

    v = {str(name): x for name, x in fit.quantities["variance"].groupby("source")}
    of = {name: x.isel(source=0).values for name, x in v.items()}
    # Brennan (2001), equations 4.3 to 4.9, for 5 raters on 3 days.
    relative = of["item x rater"] / 5 + of["item x day"] / 3
    relative = relative + of["item x rater x day, residual"] / 15
    absolute = relative + of["rater"] / 5 + of["day"] / 3 + of["rater x day"] / 15
    at = found.draws.sel(rater=5, day=3)
    np.testing.assert_allclose(at["g"], of["item"] / (of["item"] + relative))
    np.testing.assert_allclose(at["phi"], of["item"] / (of["item"] + absolute))
    np.testing.assert_allclose(at["sem_absolute"] ** 2, absolute)
    assert found.draws["phi"].dims == ("chain", "draw", "rater", "day")


def test_single_ratings_are_those_of_the_summary(fit: rb.Fit) -> None:
    found = fit.d_study({"rater": 1}).draws.isel(rater=0)

    for name in ("g", "phi", "sem_relative", "sem_absolute", "mdc"):
        np.testing.assert_allclose(found[name], fit.quantities[name])
    np.testing.assert_allclose(
        fit.d_study({"rater": 1}, fixed=["rater"]).draws["phi"].isel(rater=0),
        fit.quantities["intra_rater_icc"],
    )


def test_table_of_a_d_study_has_a_row_for_each_combination(fit: rb.Fit) -> None:
    table = fit.d_study({"rater": [1, 2], "day": [1, 3]}).table("g", prob=0.5)

    assert table.index.to_list() == [(1, 1), (1, 3), (2, 1), (2, 3)]
    assert list(table.columns) == ["mean", "sd", "median", "lower_50", "upper_50"]
    assert (table["median"].diff()[1::2] > 0).all()


def test_no_cheaper_design_is_reliable_enough(fit: rb.Fit) -> None:
    cost = {"rater": 5.0, "day": 3.0}

    best = fit.cheapest(cost, phi=0.8, prob=0.8)

    draws = fit.d_study({"rater": range(1, 31), "day": range(1, 31)}).draws["phi"]
    reached = (draws >= 0.8).mean(("chain", "draw"))
    price = 5.0 * reached["rater"] + 3.0 * reached["day"]
    assert float(price.where(reached >= 0.8).min()) == best["cost"]
    assert float(reached.sel(rater=best["rater"], day=best["day"])) == best["probability"] >= 0.8


def test_what_no_number_of_levels_reaches_is_refused(fit: rb.Fit) -> None:
    with pytest.raises(ValueError, match="however many levels rater have"):
        fit.cheapest({"rater": 1.0}, phi=0.99)
    with pytest.raises(ValueError, match="one of phi and g"):
        fit.cheapest({"rater": 1.0})
    with pytest.raises(ValueError, match="numbers above 0"):
        fit.cheapest({"rater": 0.0}, g=0.8)


@pytest.mark.slow
def test_levels_of_any_facet_have_effects_near_their_means(
    fit: rb.Fit, ratings: rb.Ratings
) -> None:
    table = fit.levels("rater")

    by_rater = ratings.to_frame().groupby("rater")["rating"].mean()
    assert table.index.equals(by_rater.index)
    assert np.abs(fit.raters()["mean"] - table["mean"]).max() < 0.1
    assert np.corrcoef(table["mean"], by_rater)[0, 1] > 0.95
    assert fit.levels("day").shape == (3, 5)
    with pytest.raises(ValueError, match="must be a facet"):
        fit.levels("week")


@pytest.mark.slow
def test_other_models_have_no_facets(ratings: rb.Ratings) -> None:
    table = ratings.to_frame().query("day == 0")
    other = rb.GaussianICC().fit(rb.Ratings.from_frame(table[["item", "rater", "rating"]]), **QUICK)

    with pytest.raises(ValueError, match="GaussianICC has no facets; fit GStudy instead"):
        other.d_study({"rater": [1, 2]})
    with pytest.raises(ValueError, match="has no facets"):
        other.levels("rater")
