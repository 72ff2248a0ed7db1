"""Tests of coefficients against a value, and intervals with the distributions of others."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, t

from reliabayes import Ratings, RatingsError, agreement, datasets
from tests.partitions.in_memory import in_parts

SAS = [[0, 4, 1], [0, 8, 0], [0, 1, 5]]
BORTZ = [[53, 5, 2], [11, 14, 5], [1, 6, 3]]
SALMON = [[19, 10], [6, 256]]
NAN = np.nan
# Krippendorff (2011), without the unit that was rated once
UNITS = [
    *([1, 1, NAN, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4]),
    *([4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [NAN, 5, 5, 5], [NAN, NAN, 1, 1]),
]


def kappa(table: Any, weights: Any = None) -> agreement.Coefficient:
    return agreement.cohen_kappa(Ratings.from_table(np.array(table), scale="ordered"), weights)


def p_of(ratings: Ratings, name: str, null: float) -> float:
    with warnings.catch_warnings():  # of ICC(2, .) in incomplete designs
        warnings.simplefilter("ignore")
        return float(agreement.icc_table(ratings, null=null)["p"][name])


@pytest.fixture
def judges() -> Ratings:
    return Ratings.from_frame(datasets.load("shrout_fleiss_1979"))


@pytest.mark.parametrize(
    ("table", "weights", "error", "z", "p"),
    [  # SAS FREQ; the others statsmodels 0.15.0, cohens_kappa
        (SAS, None, 0.1484, 3.2626, 0.0011),
        (SAS, "linear", 0.1426, 3.2971, 0.0010),
        (BORTZ, "quadratic", 0.09972183534434403, 5.682473298951437, 1.3276064570234534e-08),
        (SALMON, "linear", 0.058425526977599805, 11.528930628325723, 9.430783857057502e-31),
    ],
)
def test_error_of_cohens_kappa_at_no_agreement(
    table: Any, weights: Any, error: float, z: float, p: float
) -> None:
    found = kappa(table, weights).test(error="null")

    assert kappa(table, weights).value / found.statistic == pytest.approx(error, rel=3e-4)
    assert found.statistic == pytest.approx(z, rel=1e-5)
    assert found.p == pytest.approx(p, abs=6e-5, rel=1e-8)
    assert (found.distribution, found.df) == ("normal", None)


def test_kappa_of_occurring_levels_has_the_z_of_irr(
    dataset: Callable[[str], pd.DataFrame],
) -> None:
    """irr, kappa2(anxiety[, 2:3], "equal")."""
    frame = dataset("anxiety")
    ratings = Ratings.from_frame(frame[frame["rater"] != "rater1"], scale="ordered")
    found = agreement.cohen_kappa(ratings, "linear")

    test = found.test(error="null")

    assert found.value == pytest.approx(0.1459075, rel=1e-6)
    assert (test.statistic, test.p) == pytest.approx((1.282472, 0.1996772), rel=5e-6)


def test_scotts_pi_has_the_error_of_fleiss_with_two_ratings() -> None:
    ratings = Ratings.from_table(np.array(BORTZ))

    scott = agreement.scott_pi(ratings).test(error="null")

    assert scott.statistic == pytest.approx(agreement.fleiss_z(ratings))


@pytest.mark.parametrize("function", [agreement.cohen_kappa, agreement.fleiss_kappa])
def test_tests_of_a_dataset_in_parts(function: Any) -> None:
    ratings = Ratings.from_table(np.array(SALMON))
    whole, parted = function(ratings), function(in_parts(ratings, 3))

    assert parted.test(error="null").statistic == pytest.approx(whole.test(error="null").statistic)
    assert parted.test(0.1).statistic == pytest.approx(whole.test(0.1).statistic)


def test_error_at_no_agreement_is_the_spread_of_chance_ratings() -> None:
    """Of 4,000 tables with the same margins, by a permutation of one rater's categories."""
    rng = np.random.default_rng(1)
    one, other = np.repeat([0, 1, 2], [50, 30, 20]), np.repeat([0, 1, 2], [30, 30, 40])
    shuffled = rng.permuted(np.tile(other, (4000, 1)), axis=1)
    observed = (shuffled == one).mean(axis=1)
    chance = 0.5 * 0.3 + 0.3 * 0.3 + 0.2 * 0.4

    spread = np.std((observed - chance) / (1 - chance))

    found = agreement.cohen_kappa(Ratings.from_wide(np.column_stack([one, other]), scale="nominal"))
    error = found.value / found.test(error="null").statistic
    # Given the margins, variances have n - 1 in place of n; 1% is the Monte Carlo error.
    assert spread == pytest.approx(error * np.sqrt(100 / 99), rel=0.03)


def test_analytic_test_inverts_the_analytic_interval() -> None:
    found = kappa(BORTZ)
    interval = found.interval(0.9, method="analytic")

    at_limits = [found.test(limit).p for limit in (interval.lower, interval.upper)]

    assert at_limits == pytest.approx([0.1, 0.1])
    assert found.test(interval.lower, alternative="greater").p == pytest.approx(0.05)
    assert found.test(interval.lower, alternative="less").p == pytest.approx(0.95)


@pytest.mark.parametrize(
    ("function", "value", "error", "lower", "p"),
    [  # irrCAC 1.0, which rounds limits to three digits
        (agreement.krippendorff_alpha, 0.74342, 0.14557, 0.419, 0.000459425698154714),
        (agreement.conger_kappa, 0.76245, 0.13352, 0.465, 0.000195446674550848),
    ],
)
def test_limits_and_p_by_students_t(
    function: Any, value: float, error: float, lower: float, p: float
) -> None:
    """The error of alpha there is that without Krippendorff's correction: ours by N / (N - 1)."""
    found = function(Ratings.from_wide(np.array(UNITS), scale="nominal"))

    interval = found.interval(method="analytic")

    n = np.count_nonzero(~np.isnan(np.array(UNITS, float)))
    wider = n / (n - 1) if function is agreement.krippendorff_alpha else 1
    assert found.value == pytest.approx(value, abs=6e-6)
    assert wider * interval.standard_error == pytest.approx(error, abs=1e-5)
    reach = t.ppf(0.975, len(UNITS) - 1) * wider * interval.standard_error
    assert found.value - reach == pytest.approx(lower, abs=6e-4)
    assert interval.upper == 1
    assert 2 * t.sf(found.test().statistic / wider, len(UNITS) - 1) == pytest.approx(p, rel=2e-3)
    assert found.test().df == len(UNITS) - 1


@pytest.mark.parametrize(
    ("table", "weights", "limits"),
    [  # vcd 1.4.11, confint(Kappa(table))
        (BORTZ, None, [0.279694854455742, 0.577448002687115]),
        (BORTZ, "quadratic", [0.412370279240984, 0.720963054092349]),
    ],
)
def test_limits_by_the_normal_distribution(table: Any, weights: Any, limits: list[float]) -> None:
    found = kappa(table, weights).interval(method="analytic", distribution="normal")

    assert [found.lower, found.upper] == pytest.approx(limits)


@pytest.mark.parametrize("distribution", ["t", "normal"])
def test_analytic_limits_do_not_exceed_one(distribution: Any) -> None:
    found = agreement.gwet_ac1(Ratings.from_wide(np.array(UNITS), scale="nominal"))
    error = found.standard_error(method="analytic")

    interval = found.interval(method="analytic", distribution=distribution)

    assert found.value + norm.ppf(0.975) * error > 1
    assert interval.upper == 1


@pytest.mark.parametrize(
    ("name", "null", "f", "df1", "df2", "p"),
    [  # McGraw & Wong (1996), table 8; those of ICC(1, .) and ICC(3, .) also by irr 0.84.1
        ("ICC(1,1)", 0.5, 0.358935698447894, 5, 18, 0.869764388765841),
        ("ICC(2,1)", 0.2, 1.5434782608695656, 5, 5.3022511085833735, 0.316616147127352),
        ("ICC(2,k)", 0.3, 3.035033211913435, 5, 7.136518826153806, 0.08839256642451933),
    ],
)
def test_icc_against_a_value(
    judges: Ratings, name: str, null: float, f: float, df1: float, df2: float, p: float
) -> None:
    table = agreement.icc_table(judges, null=null)

    assert list(table[["F", "df1", "df2", "p"]].T[name]) == pytest.approx([f, df1, df2, p])


def test_icc_of_means_against_a_value(dataset: Callable[[str], pd.DataFrame]) -> None:
    """irr 0.84.1: icc(anxiety, "oneway", unit = "average", r0 = 0.4)."""
    table = agreement.icc_table(Ratings.from_frame(dataset("anxiety")), null=0.4)

    found = list(table[["F", "df1", "df2", "p"]].T["ICC(1,k)"])

    assert found == pytest.approx([0.981877373846988, 19, 40, 0.49958182500614])


@pytest.mark.parametrize("name", ["ICC(1,1)", "ICC(3,1)", "ICC(1,k)", "ICC(3,k)"])
def test_test_of_an_icc_inverts_its_interval(judges: Ratings, name: str) -> None:
    frame = judges.to_frame().drop(index=[3, 10])
    for ratings in (judges, Ratings.from_frame(frame)):
        null = float(agreement.icc_table(ratings)["upper_95"][name])
        assert p_of(ratings, name, null) == pytest.approx(0.975)


def test_icc_2_of_an_incomplete_design_has_a_test_of_zero_only(judges: Ratings) -> None:
    ratings = Ratings.from_frame(judges.to_frame().drop(index=3))

    with pytest.warns(UserWarning, match=r"ICC\(2, \.\) has no F test against a value above 0"):
        table = agreement.icc_table(ratings, null=0.2)

    assert np.isnan(float(table["p"]["ICC(2,1)"]))
    assert float(agreement.icc_table(ratings)["p"]["ICC(2,1)"]) < 0.01


def test_value_that_a_coefficient_cannot_have() -> None:
    with pytest.raises(ValueError, match=r"null must be below 1 for Cohen's kappa, not 1"):
        kappa(BORTZ).test(1)
    with pytest.raises(
        ValueError, match=r"null must be at least 0 and below 1 for Cohen's kappa, o"
    ):
        kappa(BORTZ).part("observed agreement").test(-0.1)
    with pytest.raises(ValueError, match=r"null must be finite for .* less"):
        (kappa(BORTZ) - kappa(BORTZ, "linear")).test(NAN)
    with pytest.raises(ValueError, match=r"null must be at least 0 and below 1, not 1"):
        agreement.icc_table(Ratings.from_wide(np.array([[1, 2], [3, 4]])), null=1)


def test_error_at_no_agreement_that_is_not_published() -> None:
    ratings = Ratings.from_table(np.array(BORTZ), scale="ordered")

    for found in (agreement.scott_pi(ratings, "linear"), agreement.gwet_ac1(ratings)):
        with pytest.raises(ValueError, match=r"published error, not for .*\. Pass error="):
            found.test(error="null")
    with pytest.raises(ValueError, match=r"where Cohen's kappa is 0; found null=0\.2"):
        kappa(BORTZ).test(0.2, error="null")


def test_error_at_no_agreement_of_designs_without_a_formula() -> None:
    frame = pd.DataFrame({"item": [1, 1, 1, 2, 2], "rater": [*"abbab"], "rating": [1, 1, 2, 2, 2]})
    ratings = Ratings.from_frame(frame, scale="nominal", replicates="keep")
    uneven = Ratings.from_wide(np.array([[1, 1, 2], [2, 2, NAN]]), scale="nominal")

    with pytest.raises(RatingsError, match=r'error="null": each rater must have .* at most once'):
        agreement.cohen_kappa(ratings).test(error="null")
    with pytest.raises(RatingsError, match=r'error="null": all items must .* same number'):
        agreement.fleiss_kappa(uneven).test(error="null")


def test_options_that_no_test_and_no_interval_has() -> None:
    with pytest.raises(ValueError, match="alternative must be one of two-sided, greater, less"):
        kappa(BORTZ).test(alternative="larger")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match='distribution is for method="analytic"'):
        kappa(BORTZ).interval(distribution="normal")
    with pytest.raises(ValueError, match="distribution must be one of t, normal"):
        kappa(BORTZ).interval(method="analytic", distribution="z")  # type: ignore[arg-type]


def test_perfect_agreement_has_a_test_by_the_error_at_no_agreement_only() -> None:
    found = kappa([[5, 0], [0, 5]])

    with pytest.warns(UserWarning, match=r"cannot be tested: its standard error is 0"):
        analytic = found.test()

    assert np.isnan([analytic.statistic, analytic.p]).all()
    assert found.test(error="null").statistic == pytest.approx(np.sqrt(10))
