"""The table of coefficients: selection, values, intervals, words and warnings."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import pytest

from reliabayes import Ratings, RatingsError, agreement, datasets
from reliabayes.agreement import Coefficient, Interval
from reliabayes.agreement.icc_names import IccName
from reliabayes.choices import Method, Over, Scale
from reliabayes.finding_table import FindingTable
from reliabayes.guidelines import GUIDELINES

SAMPLES = 400
POOL = {0: "a", 1: "a", 2: "b", 3: "b"}
ICCS = ["ICC(1,1)", "ICC(2,1)", "ICC(3,1)", "ICC(1,k)", "ICC(2,k)", "ICC(3,k)"]
LINEAR_AND_QUADRATIC = [
    "percent agreement", "Fleiss' kappa (linear)", "Fleiss' kappa (quadratic)",
    "Gwet's AC2 (quadratic)", "alpha (ordinal)",
]  # fmt: skip
UNWEIGHTED = [
    "percent agreement", "Fleiss' kappa", "Brennan & Prediger's S", "Gwet's AC1",
    "alpha (nominal)", "alpha (nominal), shares of votes",
]  # fmt: skip


Function = Callable[[Ratings], Coefficient]


def monte_carlo_tolerance(interval: Interval) -> float:
    """Five standard errors of the difference of two limits from SAMPLES normal replicates each.

    The standard error of a quantile is sqrt(p (1 - p) / n) over the density, 0.0584 at p = 0.025.
    """
    limit = np.sqrt(0.025 * 0.975 / SAMPLES) / 0.0584 * interval.standard_error
    return float(5 * np.sqrt(2) * limit)


def simulated(raters: int = 4, *, items: int = 60, missing: float = 0) -> pd.DataFrame:
    """Wide ratings; raters guess in a third of them, and all rated the first two items."""
    rng = np.random.default_rng(raters)
    true, other = rng.integers(4, size=(items, 1)), rng.integers(4, size=(items, raters))
    rating = np.where(rng.random((items, raters)) < 0.65, true, other).astype(float)
    rating[2:][rng.random((items - 2, raters)) < missing] = np.nan
    return pd.DataFrame(rating)


@pytest.mark.parametrize(
    ("scale", "raters", "expected"),
    [
        ("nominal", 2, [*UNWEIGHTED, "Cohen's kappa", "P_I"]),
        ("nominal", 3, [*UNWEIGHTED, "Conger's kappa"]),
        (
            "ordered",
            2,
            [*LINEAR_AND_QUADRATIC, "Cohen's kappa (linear)", "Cohen's kappa (quadratic)"],
        ),
        (
            "ordered",
            3,
            [*LINEAR_AND_QUADRATIC, "Conger's kappa (linear)", "Conger's kappa (quadratic)"],
        ),
        ("numeric", 2, ["alpha (interval)", *ICCS]),
        ("numeric", 3, ["alpha (interval)", *ICCS]),
    ],
)
def test_coefficients_suit_scale_and_raters(scale: Scale, raters: int, expected: list[str]) -> None:
    ratings = Ratings.from_wide(simulated(raters), scale=scale)

    table = ratings.agreement(method="analytic")

    assert set(table.index) == set(expected)
    assert table.index.name == "coefficient"
    assert table.notna().all(axis=None)


@pytest.mark.parametrize(
    ("scale", "expected"),
    [
        ("nominal", UNWEIGHTED),
        ("ordered", LINEAR_AND_QUADRATIC),
        ("numeric", ["alpha (interval)", "ICC(1,1)", "ICC(1,k)"]),
    ],
)
def test_anonymous_raters_have_coefficients_that_need_no_raters(
    scale: Scale, expected: list[str]
) -> None:
    ratings = Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3], [3, 0]]), scale=scale)

    table = ratings.agreement(method="analytic")

    assert list(table.index) == expected


def test_two_pools_add_cross_replication_reliability() -> None:
    ratings = Ratings.from_wide(simulated(), pool=POOL, scale="nominal")

    table = ratings.agreement(method="analytic")

    values = table.loc[["kappa_x", "normalized kappa_x"], "value"].tolist()
    assert values == [
        float(agreement.kappa_x(ratings)),
        float(agreement.normalized_kappa_x(ratings)),
    ]


def test_iccs_are_the_published_ones() -> None:
    ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))

    table = ratings.agreement(method="analytic")

    published = [0.17, 0.29, 0.71, 0.44, 0.62, 0.91]  # Shrout & Fleiss (1979), Table 4
    assert table.loc[ICCS, "value"].round(2).tolist() == published


@pytest.mark.parametrize(
    ("over", "label", "function"),
    [
        ("items", "Fleiss' kappa", agreement.fleiss_kappa),
        ("items", "Gwet's AC1", agreement.gwet_ac1),
        ("items", "Conger's kappa", agreement.conger_kappa),
        ("items", "alpha (nominal)", agreement.krippendorff_alpha),
        ("raters", "Fleiss' kappa", agreement.fleiss_kappa),
        ("raters", "Conger's kappa", agreement.conger_kappa),
        ("both", "Fleiss' kappa", agreement.fleiss_kappa),
    ],
)
def test_intervals_differ_from_those_of_each_coefficient_only_by_sampling(
    over: Over, label: str, function: Function
) -> None:
    ratings = Ratings.from_wide(simulated(10), scale="nominal")

    table = ratings.agreement(over=over, method="percentile", replicates=SAMPLES, seed=1)

    alone = function(ratings).interval(over=over, method="percentile", replicates=SAMPLES, seed=2)
    assert table.loc[label, "lower_95"] == pytest.approx(
        alone.lower, abs=monte_carlo_tolerance(alone)
    )
    assert table.loc[label, "upper_95"] == pytest.approx(
        alone.upper, abs=monte_carlo_tolerance(alone)
    )
    assert set(table["over"]) == {over}


@pytest.mark.slow
@pytest.mark.parametrize("missing", [0, 0.3])
@pytest.mark.parametrize("name", ["ICC(1,1)", "ICC(2,k)", "ICC(3,1)"])
def test_intervals_of_iccs_differ_from_those_of_each_only_by_sampling(
    name: IccName, missing: float
) -> None:
    ratings = Ratings.from_wide(simulated(missing=missing), scale="numeric")

    table = ratings.agreement(method="percentile", replicates=SAMPLES, seed=1)

    alone = agreement.icc(ratings, name).interval(method="percentile", replicates=SAMPLES, seed=2)
    assert table.loc[name, "lower_95"] == pytest.approx(
        alone.lower, abs=monte_carlo_tolerance(alone)
    )
    assert table.loc[name, "upper_95"] == pytest.approx(
        alone.upper, abs=monte_carlo_tolerance(alone)
    )


@pytest.mark.parametrize("method", ["bca", "jackknife", "analytic"])
def test_other_methods_give_the_interval_of_each_coefficient(method: Method) -> None:
    ratings = Ratings.from_wide(simulated(2), scale="nominal")

    table = ratings.agreement(prob=0.9, method=method, replicates=200)

    alone = agreement.cohen_kappa(ratings).interval(0.9, method=method, replicates=200)
    assert table.T["Cohen's kappa"].tolist() == [
        float(agreement.cohen_kappa(ratings)),
        alone.standard_error,
        alone.lower,
        alone.upper,
        "items",
        method,
    ]


def test_column_names_contain_the_probability() -> None:
    table = Ratings.from_wide(simulated(2), scale="numeric").agreement(prob=0.8, method="analytic")

    assert list(table) == ["value", "standard_error", "lower_80", "upper_80", "over", "method"]


def test_the_same_seed_gives_the_same_table_for_any_number_of_jobs() -> None:
    ratings = Ratings.from_wide(simulated(), scale="numeric")

    one = ratings.agreement(method="percentile", replicates=300, seed=3)
    with joblib.parallel_config(backend="threading"):
        two = ratings.agreement(method="percentile", replicates=300, seed=3, n_jobs=2)

    pd.testing.assert_frame_equal(one, two, check_exact=True)


def test_a_guideline_adds_words_and_its_caution() -> None:
    ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))

    table = ratings.agreement(method="analytic", guideline="koo_li")

    words = ["poor", "poor", "moderate", "poor", "moderate", "excellent"]
    assert table.loc[ICCS, "word"].tolist() == words
    assert table.attrs["guideline"] == "Koo & Li"
    assert table.attrs["caution"] == GUIDELINES["koo_li"].caution


def test_percent_agreement_has_no_word() -> None:
    ratings = Ratings.from_wide(simulated(2), scale="nominal")

    table = ratings.agreement(method="analytic", guideline=GUIDELINES["fleiss"])

    assert table.loc["percent agreement", "word"] == ""
    assert table.loc["Cohen's kappa", "word"] == "poor"


@pytest.mark.parametrize(
    ("scale", "coefficient"),
    [("nominal", "alpha (nominal)"), ("ordered", "alpha (ordinal)"), ("numeric", "ICC(2,1)")],
)
def test_notebooks_show_a_finding_above_the_table(scale: Any, coefficient: str) -> None:
    table = Ratings.from_wide(simulated(), scale=scale).agreement(prob=0.9)

    value, lower, upper = table.loc[coefficient, ["value", "lower_90", "upper_90"]]
    finding = (
        f"{coefficient} is {value:.2f} (90% interval {lower:.2f} to {upper:.2f}); 1 is perfect "
        "agreement, 0 agreement by chance"
    )
    assert isinstance(table, FindingTable)
    shown = table._repr_html_()
    assert table.attrs["finding"] == finding
    assert type(table.head(2)) is pd.DataFrame
    assert shown.startswith(f"<p>{finding}</p><table")
    assert f"<td>{value:.3f}</td>" in shown


def test_shares_of_votes_agree_with_those_of_another_replication_as_their_row_says() -> None:
    rng = np.random.default_rng(1)
    chances = rng.dirichlet([1, 0.7, 0.5], 4000).cumsum(axis=1)[:, None, :]
    one, other = ((rng.random((4000, 5, 1)) > chances).sum(axis=2) for _ in range(2))

    row = (
        Ratings.from_wide(one, scale="nominal").agreement().loc["alpha (nominal), shares of votes"]
    )

    shares = [(votes[:, :, None] == range(3)).mean(axis=1) for votes in (one, other)]
    disagreement = ((shares[0] - shares[1]) ** 2).sum(axis=1).mean()
    by_chance = 2 * np.concatenate(shares).var(axis=0, ddof=1).sum()
    # Two estimates of one reliability, each with an error of that of the row
    assert row["value"] == pytest.approx(
        1 - disagreement / by_chance, abs=4 * np.sqrt(2) * row["standard_error"]
    )
    assert row["standard_error"] < 0.01


@pytest.mark.parametrize(
    ("rows", "ending"),
    [
        ([[0, 1], [1, 0], [0, 1], [1, 0], [0, 0]], "; below 0, raters agree less than by chance"),
        (
            [[0, 1], [1, 0], [1, 0]] * 20,
            "; below 0, raters agree less than by chance: look for a reversed scale or a category "
            "that they understand differently",
        ),
    ],
)
def test_a_negative_coefficient_is_put_into_words(rows: list[list[int]], ending: str) -> None:
    found = Ratings.from_wide(np.array(rows), scale="nominal").agreement().attrs["finding"]

    assert found.startswith("alpha (nominal) is -")
    assert found.endswith(ending)


@pytest.mark.parametrize(
    ("values", "views", "finding"),
    [
        (3, ["alpha (ordinal)", "alpha (interval)"], "alpha (ordinal) is"),
        (7, ["alpha (ordinal)", "alpha (interval)"], "alpha (ordinal) is"),
        (8, ["alpha (interval)", "alpha (ordinal)"], "ICC(2,1) is"),
        (10, ["alpha (interval)", "alpha (ordinal)"], "ICC(2,1) is"),
        (11, ["alpha (interval)"], "ICC(2,1) is"),
    ],
)
def test_whole_numbers_that_may_be_grades_have_both_views_the_likely_one_first(
    values: int, views: list[str], finding: str
) -> None:
    rows = np.minimum(np.arange(values)[::-1, None] + [0, 0, 1], values - 1)

    guessed = Ratings.from_wide(rows).agreement(method="analytic")
    given = Ratings.from_wide(rows, scale="numeric").agreement(method="analytic")

    assert [name for name in guessed.index if name.startswith("alpha")] == views
    assert guessed.attrs["finding"].startswith(finding)
    assert "alpha (ordinal)" not in given.index


def test_words_are_added_only_with_a_guideline() -> None:
    table = Ratings.from_wide(simulated(2), scale="numeric").agreement(method="analytic")

    assert "word" not in table
    assert "caution" not in table.attrs


def test_undefined_coefficients_are_nan_with_a_warning() -> None:
    rows = [["x", "y", "x", "x"], ["y", "x", "y", "x"], ["x", "y", "y", "y"]]
    ratings = Ratings.from_wide(np.array(rows), pool=POOL)

    with pytest.warns(UserWarning, match="normalized kappa_x is undefined: a pool's alpha is not"):
        table = ratings.agreement(method="analytic", guideline="fleiss")

    assert table.T["normalized kappa_x"].isna().tolist() == [True] * 4 + [False] * 3
    assert table.loc["normalized kappa_x", "word"] == "undefined"
    assert table.T["kappa_x"].notna().all()


def test_impossible_coefficients_are_left_out_with_a_warning() -> None:
    wide = pd.DataFrame(np.array([list("xxx"), list("yyx"), list("xyy"), list("yyy")]))
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b"})

    with pytest.warns(UserWarning, match=r"^normalized kappa_x: left out\. .* by pool 'b'"):
        table = ratings.agreement(method="analytic")

    assert "kappa_x" in table.index
    assert "normalized kappa_x" not in table.index


def test_a_single_pool_has_no_cross_replication_reliability() -> None:
    ratings = Ratings.from_wide(simulated(), scale="numeric", pool=dict.fromkeys(range(4), "a"))

    with pytest.warns(UserWarning, match="^kappa_x, normalized kappa_x: left out.*two pools"):
        table = ratings.agreement(method="analytic")

    assert "ICC(2,1)" in table.index


def test_two_way_iccs_of_many_raters_are_not_bootstrapped() -> None:
    ratings = Ratings.from_wide(simulated(26, missing=0.1), scale="numeric")

    with pytest.warns(
        UserWarning, match=r"^ICC\(2,1\), ICC\(2,k\), .* 25 or fewer raters.*\"model\""
    ):
        table = ratings.agreement(method="percentile", replicates=10)

    assert set(table.index) == {"alpha (interval)", "ICC(1,1)", "ICC(1,k)"}


def test_two_way_iccs_of_incomplete_designs_have_no_interval_over_raters() -> None:
    ratings = Ratings.from_wide(simulated(10, missing=0.2), scale="numeric")

    with pytest.warns(UserWarning, match="^ICC.*: no interval.*incomplete design"):
        table = ratings.agreement(over="raters", method="percentile", replicates=10)

    assert table.T["ICC(2,1)"].isna().tolist() == [False, True, True, True, False, False]
    assert table.T["alpha (interval)"].notna().all()


def test_samples_without_a_value_cause_one_warning() -> None:
    ratings = Ratings.from_wide(np.array([["x", "x"], ["y", "y"], ["x", "y"]]))

    with pytest.warns(UserWarning, match=r"undefined in \d+ of 500 bootstrap samples") as caught:
        ratings.agreement(method="percentile", replicates=500)

    assert len(caught) == 1


@pytest.mark.parametrize(
    ("raters", "pool", "found"),
    [(2, None, "found 2"), (3, {0: "a", 1: "b", 2: "b"}, "found 1 and 2")],
)
def test_too_few_raters_are_not_resampled(
    raters: int, pool: dict[int, str] | None, found: str
) -> None:
    ratings = Ratings.from_wide(simulated(raters), pool=pool, scale="nominal")

    with pytest.raises(RatingsError, match=found):
        ratings.agreement(over="raters")


def test_anonymous_raters_are_not_resampled() -> None:
    ratings = Ratings.from_counts(np.array([[3, 0], [1, 2], [0, 3]]))

    with pytest.raises(RatingsError, match="anonymous raters"):
        ratings.agreement(over="both")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prob": 1.0}, "strictly between 0 and 1, not 1.0"),
        ({"method": "boot"}, "method must be one of model"),
        ({"over": "rater"}, "over must be one of items"),
        ({"replicates": 1, "method": "bca"}, "at least 2, not 1"),
        ({"guideline": "koo"}, "the name of a guideline; found 'koo'"),
        ({"method": "analytic", "over": "raters"}, 'supports over="items" only'),
    ],
)
def test_invalid_options_are_refused(options: dict[str, str], message: str) -> None:
    ratings = Ratings.from_wide(simulated(), scale="nominal")

    with pytest.raises(ValueError, match=message):
        ratings.agreement(**options)  # type: ignore[arg-type]


def test_intervals_of_two_raters_say_that_they_hold_for_these() -> None:
    two, three = (Ratings.from_wide(simulated(n)[:40], scale="nominal") for n in (2, 3))

    table = two.agreement()

    assert table.loc["alpha (nominal)", "over"] == "items, these raters"
    assert "for these raters)" in table.attrs["finding"]
    assert two.agreement(over="items").loc["alpha (nominal)", "over"] == "items"
    assert three.agreement().loc["alpha (nominal)", "over"] == "both"
