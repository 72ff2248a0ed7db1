"""Kendall's W and mean correlations of pairs of raters."""

from __future__ import annotations

from functools import partial
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.agreement.resampling import slopes
from tests.pairwise import Table

JUDGES = np.array(
    [[9, 2, 5, 8], [6, 1, 3, 2], [8, 4, 6, 8], [7, 1, 2, 6], [10, 5, 6, 9], [6, 2, 4, 7]]
)
# irr's anxiety, three raters of twenty.
ANXIETY = ["332", "361", "344", "464", "523", "542", "221", "346", "531", "231"]
ANXIETY += ["221", "632", "133", "533", "221", "221", "113", "233", "432", "342"]


@pytest.fixture
def judges() -> Ratings:
    return Ratings.from_wide(JUDGES, scale="numeric")


@pytest.fixture
def anxiety() -> Ratings:
    return Ratings.from_wide(np.array([list(row) for row in ANXIETY]).astype(int), scale="numeric")


def test_w_is_corrected_for_ties_as_in_irr(judges: Ratings, anxiety: Ratings) -> None:
    assert float(agreement.kendall_w(judges)) == pytest.approx(0.887037037037037)
    assert float(agreement.kendall_w(anxiety)) == pytest.approx(0.53966, abs=5e-6)


def test_w_is_tested_by_chi_squared(judges: Ratings, anxiety: Ratings) -> None:
    """irr 0.84.1: kendall(x, TRUE); scipy: friedmanchisquare."""
    found = agreement.kendall_w(judges).test()

    assert (found.distribution, found.df) == ("chi-squared", 5)
    assert [found.statistic, found.p] == pytest.approx([17.7407407407407, 0.00328950924368028])
    assert agreement.kendall_w(anxiety).test().statistic == pytest.approx(30.760, abs=5e-4)
    assert stats.friedmanchisquare(*JUDGES) == pytest.approx([found.statistic, found.p])
    with pytest.raises(ValueError, match="a test of agreement by chance only, without arguments"):
        agreement.kendall_w(judges).test(0.5)


@pytest.mark.parametrize(
    ("data", "correlation", "average", "value"),
    [
        ("judges", "spearman", "fisher", 0.87996290598975),
        ("judges", "spearman", "plain", 0.849587565252189),
        ("anxiety", "spearman", "plain", 0.310000011643218),
        ("anxiety", "pearson", "fisher", 0.223502032389992),
    ],
)
def test_mean_correlations_are_those_of_irr(
    data: str, correlation: Any, average: Any, value: float, request: pytest.FixtureRequest
) -> None:
    ratings = request.getfixturevalue(data)

    found = agreement.mean_correlation(ratings, correlation, average=average)

    assert float(found) == pytest.approx(value, abs=1e-9)


@pytest.mark.slow
@given(st.integers(0, 1000))
def test_correlations_are_those_of_scipy(seed: int) -> None:
    table = Table.simulated(seed, items=12, levels=5)
    ratings = table.ratings(scale="numeric")
    peers: dict[Any, Any] = {
        "spearman": stats.spearmanr,
        "pearson": stats.pearsonr,
        "kendall": stats.kendalltau,
    }

    found = {
        name: float(agreement.mean_correlation(ratings, name, average="plain")) for name in peers
    }

    wide = table.frame.pivot(index="item", columns="rater", values="rating")
    both = [wide[[*pair]].dropna().to_numpy().T for pair in combinations(wide.columns, 2)]
    expected = {name: np.mean([peer(*pair)[0] for pair in both]) for name, peer in peers.items()}
    assert found == pytest.approx(expected)


def test_w_follows_from_the_mean_of_spearmans_correlations_if_there_are_no_ties() -> None:
    table = np.argsort(np.random.default_rng(1).random((4, 9)), axis=1).T
    ratings = Ratings.from_wide(table)

    mean = float(agreement.mean_correlation(ratings, average="plain"))

    assert float(agreement.kendall_w(ratings)) == pytest.approx((1 + 3 * mean) / 4)


@pytest.mark.parametrize("function", [agreement.kendall_w, agreement.mean_correlation])
def test_samples_of_items_are_ranked_anew(judges: Ratings, function: Any) -> None:
    coefficient = function(judges)
    times = np.array([2, 0, 1, 1, 1, 1])

    of_sample = coefficient.formula(times @ coefficient.rows(None))

    again = Ratings.from_wide(np.repeat(JUDGES, times, axis=0), scale="numeric")
    assert of_sample == pytest.approx(float(function(again)))


@pytest.mark.parametrize("function", [agreement.kendall_w, agreement.mean_correlation])
def test_no_rater_is_compared_with_their_copy(judges: Ratings, function: Any) -> None:
    coefficient = function(judges)
    left_out = coefficient.rows(np.array([1.0, 1, 0, 1])).sum(axis=0)

    without = function(Ratings.from_wide(JUDGES[:, [0, 1, 3]], scale="numeric"))

    assert coefficient.formula(left_out) == pytest.approx(float(without))
    doubled = coefficient.formula(coefficient.rows(np.full(4, 2.0)).sum(axis=0))
    assert 0 < doubled < 1


def test_intervals_hold_the_value(judges: Ratings) -> None:
    for coefficient in (agreement.kendall_w(judges), agreement.mean_correlation(judges, "kendall")):
        by_default, bootstrap = coefficient.interval(), coefficient.interval(method="percentile")

        assert by_default.lower < coefficient.value < by_default.upper <= 1
        assert bootstrap.lower < coefficient.value < bootstrap.upper <= 1


def test_perfect_correlations_make_a_mean_of_z_perfect_or_undefined() -> None:
    alike = Ratings.from_wide(np.array([[1, 2, 5], [2, 3, 6], [4, 9, 9]]))
    mixed = Ratings.from_wide(np.array([[1, 2, 5], [2, 3, 4], [4, 9, 9]]))

    assert float(agreement.mean_correlation(alike)) == 1
    assert float(agreement.mean_correlation(mixed, average="plain")) == pytest.approx(2 / 3)
    with pytest.warns(UserWarning, match="Fisher's z is infinite"):
        assert np.isnan(float(agreement.mean_correlation(mixed)))


def test_raters_who_tie_all_items_leave_w_low_or_undefined() -> None:
    one_ties = Ratings.from_wide(np.array([[1, 3], [2, 3], [4, 3]]))
    all_tie = Ratings.from_wide(np.array([[1, 3], [1, 3], [1, 3]]))

    assert float(agreement.kendall_w(one_ties)) == 0.5  # as by chance
    with pytest.warns(UserWarning, match="gave all items the same rating"):
        assert np.isnan(float(agreement.kendall_w(all_tie)))
    with pytest.warns(UserWarning, match="no two raters of the same items vary"):
        assert np.isnan(float(agreement.mean_correlation(one_ties)))


def test_ratings_without_ranks_or_with_gaps_are_refused(judges: Ratings) -> None:
    nominal = Ratings.from_wide(JUDGES, scale="nominal")
    gap = Ratings.from_wide(np.where(JUDGES == 10, np.nan, JUDGES), scale="numeric")
    counts = Ratings.from_counts(np.array([[2, 0], [1, 1]]), scale="ordered")

    with pytest.raises(RatingsError, match=r"or ordered categories for ranks.*scale=\"ordered\""):
        agreement.kendall_w(nominal)
    with pytest.raises(RatingsError, match="found 23 ratings of 6 items by 4 raters"):
        agreement.kendall_w(gap)
    with pytest.raises(RatingsError, match="it must be known who gave each rating"):
        agreement.mean_correlation(counts)
    with pytest.raises(ValueError, match="correlation must be one of spearman, pearson, kendall"):
        agreement.mean_correlation(judges, "tau")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="average must be one of fisher, plain"):
        agreement.mean_correlation(judges, average="z")  # type: ignore[arg-type]


@pytest.mark.parametrize("digits", [0, 6])
@pytest.mark.parametrize(
    "coefficient",
    [
        agreement.kendall_w,
        agreement.mean_correlation,
        partial(agreement.mean_correlation, average="plain"),
        partial(agreement.mean_correlation, correlation="kendall"),
    ],
)
def test_derivatives_are_those_by_a_step_along_each_item(coefficient: Any, digits: int) -> None:
    """With and without ties, of complete ratings and where two raters share no item."""
    rng = np.random.default_rng(1)
    table = (2 * rng.normal(size=(30, 4)) + rng.normal(size=(30, 1))).round(digits)
    tables = [table]
    if coefficient is not agreement.kendall_w:
        tables.append(table.copy())
        tables[1][:15, 0] = tables[1][15:, 1] = np.nan

    for each in tables:
        found = coefficient(Ratings.from_wide(each))
        distinct = found._statistics.distinct
        step = slopes(distinct, partial(_same, found.formula), distinct.total)
        assert slopes(distinct, found.formula, distinct.total) == pytest.approx(step, abs=1e-12)


def _same(formula: Any, sums: Any) -> Any:
    """The formula without its gradient."""
    return formula(sums)
