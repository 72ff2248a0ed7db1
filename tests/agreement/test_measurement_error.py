"""Errors of measurement and their limits."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from reliabayes import Ratings, RatingsError, agreement, datasets
from reliabayes.agreement import measurement_error
from reliabayes.agreement.variance_sum import VarianceSum
from reliabayes.choices import ErrorKind
from tests.agreement.test_concordance import AGAIN, WRIGHT, of

# Weir (2005), table 1: squats, two trials
TRIALS = [[146, 148, 170, 90, 157, 156, 176, 205], [140, 152, 152, 99, 145, 153, 167, 218]]
KINDS: tuple[ErrorKind, ...] = ("absolute", "consistency", "within")


@pytest.fixture
def judges() -> Ratings:
    return Ratings.from_frame(datasets.load("shrout_fleiss_1979"))


def repeated(raters: int = 4, repeats: int = 3, severity: float = 1.0) -> Ratings:
    rng = np.random.default_rng(5)
    effects = rng.normal(20, 3, (10, 1, 1)) + severity * rng.normal(0, 2, (1, raters, 1))
    x = effects + rng.normal(0, 1, (10, raters, 1)) + rng.normal(0, 1, (10, raters, repeats))
    item, rater, repeat = np.indices(x.shape).reshape(3, -1)
    columns = {"item": item, "rater": rater, "rating": x[item, rater, repeat]}
    return Ratings.from_frame(pd.DataFrame(columns), replicates="keep")


def test_error_of_two_trials() -> None:
    found = measurement_error(of(*TRIALS), "consistency")

    assert [found.sem.value, found.sem.lower, found.sem.upper, found.mdc.value] == pytest.approx(
        [7.556926813006915, 4.996444653370584, 15.380402234581297, 20.94673244207793], rel=1e-9
    )
    assert found.sem.method == "chi-squared"


def test_coefficient_of_variation(judges: Ratings) -> None:
    found = measurement_error(judges, "consistency")

    assert [found.sem.value, found.cv.value] == pytest.approx(  # SimplyAgree 0.3.0, reli_aov()
        [1.00967541539073, 0.190804802908485]
    )


def test_repeatability_of_a_meter() -> None:
    found = measurement_error(of(WRIGHT, AGAIN), "within")

    assert found.sem.value == pytest.approx(15.3066690578669)
    assert found.mdc.value == pytest.approx(42.43, abs=5e-3)


@pytest.mark.parametrize("severity", [0.0, 1.0])
def test_values_are_those_of_a_g_study(severity: float) -> None:
    ratings = repeated(severity=severity)
    study = agreement.g_study(ratings)

    found = [measurement_error(ratings, kind) for kind in KINDS]

    variance = study.components["variance"]
    sems = [study.sem_absolute, study.sem_relative, np.sqrt(float(variance.iloc[-1]))]
    assert [each.sem.value for each in found] == pytest.approx(sems)
    assert found[0].mdc.value == pytest.approx(study.mdc)


def test_values_without_repeats_are_those_of_a_g_study(judges: Ratings) -> None:
    study = agreement.g_study(judges)

    found = [measurement_error(judges, kind).sem.value for kind in ("absolute", "consistency")]

    assert found == pytest.approx([study.sem_absolute, study.sem_relative])


def test_consistency_and_absolute_errors_are_those_of_iccs(judges: Ratings) -> None:
    """SEM^2 = total variance (1 - ICC)."""
    study = agreement.g_study(judges)
    total = float(study.components["variance"].sum())
    icc = float(agreement.icc(judges, "ICC(2,1)"))

    found = measurement_error(judges).sem.value

    assert found**2 == pytest.approx(total * (1 - icc))


@pytest.mark.parametrize("kind", KINDS)
def test_limits_contain_the_value(kind: ErrorKind) -> None:
    found = measurement_error(repeated(), kind)

    for row in found.table().to_numpy():
        assert row[1] < row[0] < row[2]
    assert found.mdc.lower == pytest.approx(1.96 * np.sqrt(2) * found.sem.lower)


def test_sum_of_one_mean_square_has_exact_limits() -> None:
    one = VarianceSum.of((1.0, 4.0, 16), (0.0, 9.0, 3))

    assert one.total == 4
    assert one.limit(0.975) == pytest.approx(4 * 16 / 6.907664353497)
    assert one.variance == pytest.approx(2)


def test_errors_that_grow_with_the_rating() -> None:
    rng = np.random.default_rng(1)
    x = np.exp(rng.normal(3, 1, (4000, 1)) + rng.normal(0, 0.2, (4000, 3)))

    found = measurement_error(Ratings.from_wide(x), "within")

    true = np.sqrt(np.exp(0.2**2) - 1)
    assert found.log_cv.lower < true < found.log_cv.upper
    assert found.log_cv.value == pytest.approx(true, rel=0.02)


def test_ratings_at_or_below_0_have_no_variation_relative_to_them() -> None:
    found = measurement_error(of([-3, 1, -2], [-2, 2, -2]), "within")

    assert np.isnan([found.cv.value, found.cv.lower, found.log_cv.value]).all()


def test_equal_ratings_have_no_error() -> None:
    found = measurement_error(of([1, 2, 3], [1, 2, 3]))

    assert found.table().to_numpy().tolist() == [[0.0] * 3] * 4


def test_anonymous_raters_have_an_error_within_items() -> None:
    counts = np.array([[2, 1, 0], [0, 3, 0], [0, 1, 2]])
    ratings = Ratings.from_counts(counts, categories=[1, 2, 3], scale="numeric")

    assert measurement_error(ratings, "within").sem.value == pytest.approx(np.sqrt(4 / 3 / 6))
    with pytest.raises(RatingsError, match="measurement_error: it must be known who gave each"):
        measurement_error(ratings)


@pytest.mark.parametrize(
    ("wide", "message"),
    [
        ([[1, 2], [2, np.nan], [3, 4]], r"found 5 of 6 pairs of item and rater\. Use g_study"),
        ([["a", "b"], ["b", "b"]], r"ratings must be numbers here; .*scale="),
    ],
)
def test_ratings_without_an_error(wide: Any, message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        measurement_error(Ratings.from_wide(np.array(wide)))


def test_unequal_repeats_have_an_error_within_only() -> None:
    frame = repeated().to_frame().drop(index=0)
    ratings = Ratings.from_frame(frame, replicates="keep")

    with pytest.raises(RatingsError, match="found 2 to 3 ratings of a pair of item and rater"):
        measurement_error(ratings)
    assert measurement_error(ratings, "within").sem.value > 0


def test_options_that_do_not_exist(judges: Ratings) -> None:
    with pytest.raises(ValueError, match="kind must be one of absolute, consistency, within"):
        measurement_error(judges, "relative")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="prob must lie strictly between 0 and 1"):
        measurement_error(judges, prob=1)
