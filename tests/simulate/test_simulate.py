"""Simulated ratings have the requested agreement, and studies the published regression."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from typing import Any

import joblib  # type: ignore[import-untyped]
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.figure import Figure
from scipy import stats

import reliabayes as rb
from reliabayes import simulate
from reliabayes.agreement.intraclass import icc
from reliabayes.simulate.matrices import is_unanimous
from reliabayes.simulate.study import COEFFICIENTS

ICCS = {name: COEFFICIENTS[name] for name in ("ICC(1,1)", "ICC(1,1), k = columns")}


@pytest.fixture(scope="module")
def published_study() -> pd.DataFrame:
    """The design of the regression in IRRsim: 900 matrices of 100 items by 2 of 6 raters each."""
    return simulate.reliability_study(coefficients=ICCS, seed=1)


@pytest.fixture(scope="module")
def cars() -> pd.DataFrame:
    """Ezekiel's stopping distances by speed (1930), the data set cars of R."""
    speed = np.repeat(
        [4, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 22, 23, 24, 25],
        [2, 2, 1, 1, 3, 2, 4, 4, 4, 3, 2, 3, 4, 3, 5, 1, 1, 4, 1],
    )
    distance = [
        2, 10, 4, 22, 16, 10, 18, 26, 34, 17, 28, 14, 20, 24, 28, 26, 34, 34, 46, 26, 36, 60, 80,
        20, 26, 54, 32, 40, 32, 40, 50, 42, 56, 76, 84, 36, 46, 68, 32, 48, 52, 56, 64, 66, 54,
        70, 92, 93, 120, 85,
    ]  # fmt: skip
    return pd.DataFrame({"observed_agreement": speed, "distance": distance})


@given(
    agreement=st.floats(0, 1),
    items=st.integers(20, 40),
    raters=st.integers(2, 7),
    left_out=st.integers(0, 5),
    categories=st.integers(2, 5),
    seed=st.integers(0, 99),
)
def test_observed_agreement_is_as_close_as_counting_allows(
    agreement: float, items: int, raters: int, left_out: int, categories: int, seed: int
) -> None:
    per_item = max(2, raters - left_out)

    ratings = simulate.rating_matrix(
        agreement=agreement,
        items=items,
        raters=raters,
        ratings_per_item=per_item,
        categories=categories,
        match="observed",
        rng=np.random.default_rng(seed),
    )

    agreed = is_unanimous(ratings.category.reshape(items, per_item)).mean()
    assert abs(agreed - agreement) <= 0.5 / items + 1e-12
    assert (ratings.ratings_per_item == per_item).all()
    assert ratings.categories.to_list() == list(range(1, categories + 1))


@pytest.mark.parametrize("per_item", [2, 4])
def test_expected_agreement_includes_chance_agreement(per_item: int) -> None:
    p = np.array([0.2, 0.3, 0.5])

    ratings = simulate.rating_matrix(
        agreement=0.4,
        items=20_000,
        raters=6,
        ratings_per_item=per_item,
        distribution=list(2 * p),
        rng=np.random.default_rng(1),
    )

    expected = 0.4 + 0.6 * (p**per_item).sum()
    agreed = is_unanimous(ratings.category.reshape(-1, per_item)).mean()
    assert agreed == pytest.approx(expected, abs=4 * math.sqrt(0.25 / 20_000))
    assert np.bincount(ratings.category) / len(ratings) == pytest.approx(
        p, abs=4 * math.sqrt(0.25 / 20_000)
    )


def test_raters_are_drawn_with_equal_probability() -> None:
    ratings = simulate.rating_matrix(
        agreement=0.5, items=6000, raters=6, ratings_per_item=2, rng=np.random.default_rng(1)
    )

    assert ratings.ratings_per_rater == pytest.approx(2000, abs=4 * math.sqrt(2000))


def test_the_same_stream_gives_the_same_matrix() -> None:
    one, other = (
        simulate.rating_matrix(agreement=0.5, rng=np.random.default_rng(7)) for _ in range(2)
    )

    assert one == other


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"agreement": 1.2}, "agreement must lie between 0 and 1; found 1.2"),
        ({"items": 0}, "items must be 1 or more; found 0"),
        ({"raters": 1}, "raters must be 2 or more; found 1"),
        ({"ratings_per_item": 7}, "ratings_per_item must lie between 2 and 6; found 7"),
        ({"categories": 1}, "categories must be 2 or more; found 1"),
        ({"distribution": [1, 2]}, "distribution must be 3 finite weights"),
        ({"distribution": [1, -2, 3]}, "distribution must be 3 finite weights"),
        ({"match": "seen"}, "match must be 'observed' or None; found 'seen'"),
        (
            {"distribution": [1, 0, 0], "match": "observed"},
            "positive weight to at least two categories",
        ),
    ],
)
def test_impossible_matrices_are_refused(wrong: dict[str, Any], message: str) -> None:
    given: dict[str, Any] = {"agreement": 0.5, "raters": 6, "rng": np.random.default_rng(1)}

    with pytest.raises(ValueError, match=message):
        simulate.rating_matrix(**given | wrong)


@pytest.mark.slow
def test_regression_of_icc_with_k_columns_is_the_published_one(
    published_study: pd.DataFrame,
) -> None:
    found = simulate.agreement_regression(published_study, "ICC(1,1), k = columns")

    # Published standard errors are 0.02316, 0.07322 and 0.05491; ours are the same
    differences = found.coefficients - [0.25002, -1.30374, 1.96041]
    assert (abs(differences) < 4 * math.sqrt(2) * np.array([0.02316, 0.07322, 0.05491])).all()
    # Standard errors of a variance of 900 residuals
    assert found.residual_standard_error == pytest.approx(0.04921, rel=4 / math.sqrt(900))
    assert found.r_squared == pytest.approx(0.959, abs=0.041 * 4 * math.sqrt(2 / 450))
    assert found.degrees_of_freedom == pytest.approx(897)


def test_regression_of_icc_with_k_ratings_is_a_straight_line(published_study: pd.DataFrame) -> None:
    line = simulate.agreement_regression(published_study, "ICC(1,1)", "linear")
    curve = simulate.agreement_regression(published_study, "ICC(1,1)", "quadratic")

    # Standard errors of a line and a parabola through 900 points with a residual sd of 0.054
    assert line.coefficients.to_numpy() == pytest.approx([-0.5, 1.5], abs=4 * 0.01)
    assert curve.coefficients["agreement^2"] == pytest.approx(0, abs=4 * 0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("levels", "raters", "per_item", "single", "averaged"),
    [(5, 2, 2, 0.71, 0.63), (2, 16, 13, 0.99, 0.88)],
    ids=["smallest", "largest"],
)
def test_published_r_squared_is_of_all_response_distributions_together(
    levels: int, raters: int, per_item: int, single: float, averaged: float
) -> None:
    # Weights of the simulations of IRRsim, some of which do not sum to 1
    first_and_last = {"lightly": (0.55, 0.55), "moderately": (0.4, 0.6), "highly": (0.2, 0.8)}
    skewed = {
        name: [first / (levels - 1)] * (levels - 1) + [last]
        for name, (first, last) in first_and_last.items()
    }

    study = simulate.reliability_study(
        categories=[levels],
        raters=[raters],
        ratings_per_item=[per_item],
        distributions={"uniform": None, **skewed},
        coefficients={name: COEFFICIENTS[name] for name in ("ICC(1,1), k = columns", "ICC(1,k)")},
        matrices=20,
        seed=1,
    )

    for name, published in {"ICC(1,1), k = columns": single, "ICC(1,k)": averaged}.items():
        # The published number has two digits; the other term is the standard error of an R-squared
        error = 2 * math.sqrt(published) * (1 - published) / math.sqrt(len(study))
        found = simulate.agreement_regression(study, name)
        assert found.r_squared == pytest.approx(published, abs=0.005 + 4 * error), name


@pytest.mark.parametrize("raters", [6, 12])
def test_the_number_of_raters_lowers_the_icc_only_with_k_columns(raters: int) -> None:
    study = simulate.reliability_study(
        agreement=[0.7], raters=[raters], coefficients=ICCS, matrices=300, match="observed", seed=1
    )

    means = study[list(ICCS)].mean()
    error = 4 * study["ICC(1,1)"].std() / math.sqrt(300)
    assert means["ICC(1,1)"] == pytest.approx(1.5 * 0.7 - 0.5, abs=error)
    expected = 2 * 0.55 / (2 + (raters - 2) * (1 - 0.55))
    assert means["ICC(1,1), k = columns"] == pytest.approx(expected, abs=error)


@pytest.mark.slow
def test_study_has_each_coefficient_of_each_matrix() -> None:
    study = simulate.reliability_study(agreement=[0.5], matrices=60, items=[30], seed=3)
    stream = np.random.SeedSequence(3).spawn(2)[0]

    plan = partial(simulate.rating_matrix, agreement=0.5, items=50 * 30, raters=6)
    first = plan(ratings_per_item=2, rng=np.random.default_rng(stream)).subset(items=range(1, 31))

    assert len(study) == 60
    for name, coefficient in COEFFICIENTS.items():
        assert study[name].iloc[0] == pytest.approx(float(coefficient(first)), abs=1e-7), name


@pytest.mark.slow
@pytest.mark.parametrize(("raters", "per_item"), [(6, 2), (4, 4), (3, 3)])
def test_coefficients_of_tiny_matrices_are_nan_or_at_most_one(raters: int, per_item: int) -> None:
    study = simulate.reliability_study(
        agreement=[0, 0.5, 1],
        items=[3, 5],
        raters=[raters],
        ratings_per_item=[per_item],
        matrices=30,
        seed=1,
    )

    found = study[list(COEFFICIENTS)]
    unanimous = found[study["observed_agreement"] == 1]
    is_one = unanimous.isna() | (abs(unanimous - 1) < 1e-6)
    assert (found.isna() | (found <= 1 + 1e-9)).all(axis=None)
    assert is_one.all(axis=None)
    assert found.isna().any(axis=None)


@pytest.mark.slow
def test_studies_do_not_depend_on_the_number_of_workers() -> None:
    study = partial(simulate.reliability_study, agreement=[0.4, 0.8], coefficients=ICCS, seed=5)

    with joblib.parallel_config(backend="threading"):  # processes take seconds to start
        pd.testing.assert_frame_equal(study(n_jobs=1), study(n_jobs=3))


def test_possible_combinations_of_designs_are_simulated() -> None:
    study = simulate.reliability_study(
        agreement=[0.5],
        categories=[2, 3],
        raters=[2, 4],
        ratings_per_item=[None, 3],
        distributions={"uniform": None, "skewed": (0.1, 0.1, 0.8)},
        matrices=1,
        coefficients={},
    )

    design = ["categories", "raters", "ratings_per_item", "distribution"]
    assert sorted(study[design].itertuples(index=False, name=None)) == [
        (2, 2, 2, "uniform"), (2, 4, 3, "uniform"), (2, 4, 4, "uniform"),
        (3, 2, 2, "skewed"), (3, 2, 2, "uniform"), (3, 4, 3, "skewed"), (3, 4, 3, "uniform"),
        (3, 4, 4, "skewed"), (3, 4, 4, "uniform"),
    ]  # fmt: skip


def test_studies_without_a_possible_design_are_refused() -> None:
    with pytest.raises(ValueError, match=r"at least one combination .* must be possible"):
        simulate.reliability_study(raters=[2], ratings_per_item=[3])


def test_progress_goes_to_standard_error(capsys: pytest.CaptureFixture[str]) -> None:
    simulate.reliability_study(agreement=[0.5], matrices=1, coefficients={}, progress=True)

    out, err = capsys.readouterr()
    assert out == ""
    assert "Simulating" in err


def test_polynomials_equal_least_squares(cars: pd.DataFrame) -> None:
    found = simulate.agreement_regression(cars, "distance", "quadratic")

    highest_first = np.polyfit(cars["observed_agreement"], cars["distance"], 2)
    assert found.coefficients.to_numpy() == pytest.approx(highest_first[::-1])


@pytest.mark.parametrize(
    ("curve", "error", "r_squared"),
    [("linear", 15.38, 0.6511), ("quadratic", 15.18, 0.6673), ("loess", 15.29, 0.6815)],
)
def test_curves_of_cars_equal_those_of_r(
    cars: pd.DataFrame, curve: simulate.regression.Curve, error: float, r_squared: float
) -> None:
    found = simulate.agreement_regression(cars, "distance", curve)

    # R interpolates its loess between a few points, and prints two digits
    assert found.residual_standard_error == pytest.approx(error, abs=0.01)
    assert found.r_squared == pytest.approx(r_squared, abs=0.0005)


def test_loess_of_cars_has_the_fitted_values_of_r(cars: pd.DataFrame) -> None:
    found = simulate.agreement_regression(cars, "distance", "loess").predict([10, 15])

    assert found["mean"].to_list() == pytest.approx([21.865315, 41.205226], abs=1e-3)


def test_confidence_band_of_a_line_follows_the_textbook_formula(cars: pd.DataFrame) -> None:
    speed = cars["observed_agreement"]
    line = stats.linregress(speed, cars["distance"])

    found = simulate.agreement_regression(cars, "distance", "linear").predict([21], prob=0.9)

    error = math.hypot(line.stderr * (21 - speed.mean()), 15.3796 / math.sqrt(50))
    reach = stats.t.ppf(0.95, 48) * error
    middle = line.intercept + 21 * line.slope
    assert found.iloc[0].to_list() == pytest.approx([middle, middle - reach, middle + reach])


@pytest.mark.parametrize(
    ("curve", "estimates", "errors", "t", "p"),
    [
        ("linear", [-17.5791, 3.9324], [6.7584, 0.4155], [-2.601, 9.464], [0.0123, 1.49e-12]),
        (
            "quadratic",
            [2.47014, 0.91329, 0.09996],
            [14.81716, 2.03422, 0.06597],
            [0.167, 0.449, 1.515],
            [0.868, 0.656, 0.136],
        ),
    ],
)
def test_the_summary_of_cars_equals_that_of_r(
    cars: pd.DataFrame,
    curve: simulate.regression.Curve,
    estimates: list[float],
    errors: list[float],
    t: list[float],
    p: list[float],
) -> None:
    found = simulate.agreement_regression(cars, "distance", curve).summary()

    assert list(found) == ["estimate", "standard_error", "t", "p_value"]
    assert found["estimate"].to_list() == pytest.approx(estimates, abs=6e-5)
    assert found["standard_error"].to_list() == pytest.approx(errors, abs=6e-5)
    assert found["t"].to_list() == pytest.approx(t, abs=6e-4)
    assert found["p_value"].to_list() == pytest.approx(p, rel=4e-3)


@pytest.mark.parametrize(
    ("curve", "f", "degrees", "p", "adjusted"),
    [
        ("linear", 89.57, (1, 48), 1.490e-12, 0.6438),
        ("quadratic", 47.14, (2, 47), 5.852e-12, 0.6532),
    ],
)
def test_the_f_test_of_cars_equals_that_of_r(
    cars: pd.DataFrame,
    curve: simulate.regression.Curve,
    f: float,
    degrees: tuple[int, int],
    p: float,
    adjusted: float,
) -> None:
    found = simulate.agreement_regression(cars, "distance", curve)

    assert found.f_test["F"] == pytest.approx(f, abs=0.006)
    assert found.f_test[["df_curve", "df_residual"]].to_list() == pytest.approx(degrees)
    assert found.f_test["p_value"] == pytest.approx(p, rel=1e-3)
    assert found.adjusted_r_squared == pytest.approx(adjusted, abs=6e-5)


@pytest.mark.parametrize("name", ["coefficients", "f_test", "adjusted_r_squared"])
def test_loess_has_no_coefficients(cars: pd.DataFrame, name: str) -> None:
    with pytest.raises(ValueError, match="linear or quadratic to have coefficients"):
        getattr(simulate.agreement_regression(cars, "distance", "loess"), name)


@pytest.mark.parametrize("curve", ["linear", "quadratic", "loess"])
def test_the_agreement_of_a_value_predicts_this_value(
    cars: pd.DataFrame, curve: simulate.regression.Curve
) -> None:
    found = simulate.agreement_regression(cars, "distance", curve)

    agreement = found.agreement_at([20, 60])

    assert agreement.index.to_list() == [20, 60]
    assert found.predict(agreement.to_list())["mean"].to_list() == pytest.approx([20, 60], abs=1e-3)


def test_no_simulated_agreement_reaches_a_value_beyond_the_curve(cars: pd.DataFrame) -> None:
    found = simulate.agreement_regression(cars, "distance", "linear").agreement_at([-2, 50, 200])

    assert found.isna().to_list() == [True, False, True]
    assert found[50] == pytest.approx((50 + 17.5791) / 3.9324, abs=1e-3)


def test_regressions_without_data_are_refused(cars: pd.DataFrame) -> None:
    with pytest.raises(ValueError, match="must be a column of the study"):
        simulate.agreement_regression(cars, "ICC(1,1)")
    with pytest.raises(ValueError, match="more than 2 distinct values of observed_agreement"):
        simulate.agreement_regression(cars.iloc[:4], "distance")


def test_the_title_of_the_plot_states_the_finding(published_study: pd.DataFrame) -> None:
    ax = Figure().add_subplot()

    drawn = simulate.agreement_regression(published_study, "ICC(1,1)", "linear").plot(ax)

    assert drawn is ax
    assert ax.get_ylabel() == "ICC(1,1)"
    points, line = ax.get_lines()
    assert (len(points.get_xdata()), len(line.get_xdata())) == (900, 200)  # type: ignore[arg-type]
    assert ax.get_title(loc="left").replace("\n", " ") == (
        "A straight line in agreement explains 96% of the variance of ICC(1,1)"
    )
    note = ax.texts[0].get_text().replace("\n", " ")
    assert note == "-0.51 + 1.52 a. 900 simulated matrices, 95% band"


def test_the_plot_marks_the_agreements_that_are_asked_for(published_study: pd.DataFrame) -> None:
    line = simulate.agreement_regression(published_study, "ICC(1,1)", "linear")

    ax = line.plot(Figure().add_subplot(), at=[0.8])

    value = line.predict([0.8])["mean"].item()
    mark = ax.get_lines()[2]
    assert np.asarray(mark.get_xydata())[1].tolist() == pytest.approx([0.8, value])
    assert f"80%: {value:.2f}" in [text.get_text() for text in ax.texts]


def test_a_plot_of_loess_has_no_equation(cars: pd.DataFrame) -> None:
    ax = simulate.agreement_regression(cars, "distance", "loess").plot(prob=0.9)
    plt.close("all")

    assert ax.texts[0].get_text() == "50 simulated matrices, 90% band"


def test_crossed_designs_have_every_item_and_rater() -> None:
    table = simulate.crossed(3, 2, pools=2)

    assert len(table.drop_duplicates()) == 3 * 2 * 2
    assert table.groupby("pool")["rater"].unique().map(list).to_dict() == {1: [1, 2], 2: [3, 4]}


@pytest.mark.parametrize("pools", [1, 2])
def test_incomplete_designs_draw_raters_of_each_pool(pools: int) -> None:
    table = simulate.incomplete(300, 5, 2, np.random.default_rng(1), pools=pools)

    assert not table.duplicated().any()
    assert (table.groupby("item").size() == 2 * pools).all()
    per_rater = table.groupby("rater").size()
    assert per_rater.to_numpy() == pytest.approx(np.full(5 * pools, 120), abs=4 * math.sqrt(120))


def test_nested_designs_have_raters_who_rate_one_item() -> None:
    table = simulate.nested(4, 3)

    assert (table.groupby("rater")["item"].size() == 1).all()
    assert (table.groupby("item")["rater"].size() == 3).all()


def test_activity_in_crowds_follows_zipfs_law() -> None:
    table = simulate.crowd(20_000, 50, 1, np.random.default_rng(1))

    weight = 1 / np.arange(1, 51)
    expected = 20_000 * weight / weight.sum()
    found = table.groupby("rater").size().to_numpy()
    assert (abs(found - expected) < 4.5 * np.sqrt(expected)).all()


def test_nobody_in_a_crowd_rates_an_item_twice() -> None:
    table = simulate.crowd(500, 10, 6, np.random.default_rng(1), tail=2)

    assert not table.duplicated().any()
    assert (table.groupby("item").size() == 6).all()


@pytest.mark.parametrize(
    "design",
    [
        simulate.crossed(12, 4),
        simulate.incomplete(12, 4, 2, np.random.default_rng(1)),
        simulate.nested(12, 3),
        simulate.crowd(12, 20, 4, np.random.default_rng(1)),
        simulate.crossed(12, 3, pools=2),
    ],
    ids=["crossed", "incomplete", "nested", "crowd", "pools"],
)
def test_models_simulate_ratings_of_any_design(design: pd.DataFrame) -> None:
    ratings = rb.DawidSkene().simulate(design, np.random.default_rng(1))

    assert ratings.to_frame()[list(design)].to_numpy().tolist() == (
        design.sort_values(["item", "rater"]).to_numpy().tolist()
    )


@pytest.mark.parametrize(
    "wrong",
    [
        lambda rng: simulate.crossed(0, 2),
        lambda rng: simulate.incomplete(3, 2, 3, rng),
        lambda rng: simulate.nested(3, 0),
        lambda rng: simulate.crowd(3, 2, 2, rng, tail=-1),
    ],
)
def test_impossible_designs_are_refused(wrong: Callable[[np.random.Generator], Any]) -> None:
    with pytest.raises(ValueError, match="must be"):
        wrong(np.random.default_rng(1))


def test_icc_of_two_ratings_is_a_linear_function_of_their_agreement() -> None:
    ratings = simulate.rating_matrix(
        agreement=0.8, items=50_000, match="observed", rng=np.random.default_rng(1)
    )

    # Standard error of a correlation of 50,000 pairs
    assert float(icc(ratings, "ICC(1,1)")) == pytest.approx(0.7, abs=4 * 0.5 / math.sqrt(50_000))
