"""Generalizability studies, against published numbers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.agreement.generalizability import Estimator, g_study
from tests.facets.test_effects import crossed, rated
from tests.facets.test_estimation import unbalanced

Load = Callable[[str], pd.DataFrame]


def persons(dataset: Load, rater: str, facet: str, name: str) -> rb.Ratings:
    frame = dataset(name).rename(columns={"person": "item", rater: "rater", "Response": "rating"})
    return rb.Ratings.from_frame(frame, facets=[facet], scale="numeric")


def test_crossed_facets_have_brennans_numbers(dataset: Load) -> None:
    ratings = persons(dataset, "i", "o", "brennan_synthetic_3")

    study = g_study(ratings, "item x rater x o")

    assert study.components["variance"].round(4).to_dict() == {
        "item": 0.5528, "rater": 0.4417, "o": 0.0074, "item x rater": 0.5750, "item x o": 0.1009,
        "rater x o": 0.1565, "item x rater x o, residual": 0.9352,
    }  # fmt: skip
    assert study.components["df"].to_list() == [9, 3, 1, 27, 9, 3, 27]
    assert study.components["levels"].to_list() == [10, 4, 2, 40, 20, 8, 80]
    means = study.d_study({"rater": 4, "o": 2}).round(2)
    assert means[["g", "phi"]].to_numpy().tolist() == [[0.64, 0.55]]


def test_nested_facets_have_brennans_numbers(dataset: Load) -> None:
    ratings = persons(dataset, "r", "t", "brennan_synthetic_4")

    study = g_study(ratings, "item x (rater:t)")

    assert study.components["variance"].round(4).to_dict() == {
        "item": 0.4731, "t": 0.3252, "item x t": 0.5596, "rater:t": 0.6475,
        "item x rater:t, residual": 2.3802,
    }  # fmt: skip
    assert study.components["df"].to_list() == [9, 2, 18, 9, 81]
    means = study.d_study({"t": 3, "rater": 4}).round(2)
    assert means[["g", "phi"]].to_numpy().tolist() == [[0.55, 0.46]]


def test_single_ratings_have_the_intraclass_correlations(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("shrout_fleiss_1979"), scale="numeric")

    study = g_study(ratings)

    table = rb.agreement.icc_table(ratings)["value"]
    assert [study.g, study.phi] == pytest.approx(table[["ICC(3,1)", "ICC(2,1)"]].to_list())
    means = study.d_study({"rater": 4}).iloc[0]
    assert means[["g", "phi"]].to_list() == pytest.approx(table[["ICC(3,k)", "ICC(2,k)"]].to_list())


@pytest.mark.parametrize("method", ["anova", "reml"])
def test_standard_errors_follow_from_the_components(method: Estimator) -> None:
    study = g_study(
        rb.Ratings.from_frame(unbalanced(), facets=["day"], replicates="keep"),
        "item x rater x day",
        method=method,
    )
    variance = study.components["variance"].clip(lower=0)

    error = variance.sum() - variance["item"]
    assert study.sem_absolute == pytest.approx(np.sqrt(error))
    assert study.phi == pytest.approx(variance["item"] / variance.sum())
    assert study.mdc == pytest.approx(1.96 * np.sqrt(2 * error), rel=1e-4)
    assert study.sem_relative < study.sem_absolute
    assert study.components["df"].isna().all()
    assert study.components["proportion"].sum() == pytest.approx(1)
    np.testing.assert_allclose(study.components["sd"], np.sqrt(variance))


def test_decision_studies_have_a_row_for_each_combination(dataset: Load) -> None:
    study = g_study(persons(dataset, "i", "o", "brennan_synthetic_3"), "item x rater x o")

    table = study.d_study({"rater": [1, 2, 4], "o": [1, 2]})

    assert table.columns.to_list() == [
        "rater", "o", "g", "phi", "sem_relative", "sem_absolute", "mdc",
    ]  # fmt: skip
    assert table[["rater", "o"]].to_numpy().tolist() == [
        [1, 1], [1, 2], [2, 1], [2, 2], [4, 1], [4, 2],
    ]  # fmt: skip
    assert table["g"].iloc[0] == study.g
    assert (table["g"] > table["phi"]).all()


def test_fixed_facets_are_no_error(dataset: Load) -> None:
    ratings = persons(dataset, "i", "o", "brennan_synthetic_3")
    chosen = g_study(ratings, "item x rater x o", fixed=["o"])

    found = chosen.d_study({"rater": 4, "o": 2})
    later = g_study(ratings, "item x rater x o").d_study({"rater": 4, "o": 2}, fixed="o")

    universe = 0.5528 + 0.1009 / 2
    assert found["g"].item() == pytest.approx(
        universe / (universe + 0.5750 / 4 + 0.9352 / 8), abs=1e-4
    )
    pd.testing.assert_frame_equal(found, later)


def test_dropped_sources_join_the_residual() -> None:
    ratings = rated(crossed(2, item=6, rater=4, day=3), ["day"])

    study = g_study(ratings, "item x rater x day", drop=["rater x day", "item x rater x day"])

    assert study.components.index.to_list() == [
        "item", "rater", "day", "item x rater", "item x day", "residual",
    ]  # fmt: skip
    assert study.components["df"].to_list() == [5, 3, 2, 15, 10, 143 - 35]


def test_dropped_parts_of_an_interaction_join_it() -> None:
    ratings = rated(crossed(2, item=6, rater=4))

    study = g_study(ratings, drop=["rater"])

    # As of raters who are nested in items.
    assert study.components["df"].to_dict() == {"item": 5, "item x rater": 18, "residual": 24}


COMPLETE = crossed(item=6, rater=4)


@pytest.mark.parametrize(
    ("frame", "design", "drop"),
    [
        (COMPLETE.drop(index=3), "item x rater", []),  # an empty cell
        (pd.concat([COMPLETE, COMPLETE.head(3)]), "item x rater", []),  # some ratings are repeated
        (COMPLETE[(COMPLETE["rater"] - COMPLETE["item"]) % 2 == 0], "item x rater", []),
        (crossed(2, item=6, rater=4).drop(index=[0, 1]), "rater:item", []),
        (crossed(item=4, rater=3, day=2), "item x rater x day", ["rater", "item x rater x day"]),
    ],
)
def test_degrees_of_freedom_are_missing_where_they_depend_on_an_order(
    frame: pd.DataFrame, design: str, drop: list[str]
) -> None:
    study = g_study(rated(frame, ["day"] if "day" in frame else []), design, drop=drop)

    assert study.components["df"].isna().all()


def test_negative_estimates_are_shown_and_count_as_0() -> None:
    # Raters differ less than residuals let expect: mean squares 4, 0 and 4.
    ratings = rb.Ratings.from_wide(np.array([[1.0, 3.0], [5.0, 3.0]]), scale="numeric")

    study = g_study(ratings)

    assert study.components["variance"].to_list() == pytest.approx([0, -2, 4], abs=1e-9)
    assert study.components["sd"].to_list() == pytest.approx([0, 0, 2], abs=1e-4)
    assert study.g == study.phi == pytest.approx(0, abs=1e-9)


def test_wrong_arguments_are_refused() -> None:
    ratings = rated(crossed(item=6, rater=4))

    with pytest.raises(ValueError, match="method must be one of anova, reml; found 'ml'"):
        g_study(ratings, method="ml")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="drop must leave the object of measurement, 'item'"):
        g_study(ratings, drop=["item"])
    with pytest.raises(ValueError, match="fixed must name facets"):
        g_study(ratings, fixed=["item"])
    with pytest.raises(ValueError, match="levels must name facets"):
        g_study(ratings).d_study({"raters": 3})
    with pytest.raises(ValueError, match="levels of 'rater' must be whole numbers"):
        g_study(ratings).d_study({"rater": 1.5})  # type: ignore[dict-item]
    with pytest.raises(rb.RatingsError, match="ratings must be numbers"):
        g_study(rb.Ratings.from_wide(np.array([["a", "b"], ["b", "b"]])))


def test_printed_study_begins_with_its_coefficients(dataset: Load) -> None:
    study = g_study(persons(dataset, "i", "o", "brennan_synthetic_3"), "item x rater x o")

    assert repr(study).startswith("item x rater x o by anova, single ratings: G 0.26, Phi 0.20\n")
    assert "G 0.26" in study._repr_html_()
