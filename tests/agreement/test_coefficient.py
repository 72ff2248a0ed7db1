"""Intervals of coefficients, their differences, and invariances of all coefficients."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.agreement import Coefficient
from reliabayes.agreement.distinct_rows import DistinctRows
from reliabayes.agreement.resampling import resample_raters
from reliabayes.arrays import Array
from reliabayes.choices import Method
from tests import pairwise
from tests.pairwise import Table, tables

Function = Callable[[Ratings], Coefficient]

CORRECTED: list[Function] = [
    agreement.fleiss_kappa,
    agreement.brennan_prediger,
    agreement.gwet_ac1,
    agreement.light_kappa,
    agreement.conger_kappa,
    agreement.krippendorff_alpha,
    lambda ratings: agreement.krippendorff_alpha(ratings, "nominal"),
    lambda ratings: agreement.iota(ratings, distance="nominal"),
    lambda ratings: agreement.kappa_x(ratings, "nominal"),
    lambda ratings: agreement.normalized_kappa_x(ratings, "nominal"),
    lambda ratings: agreement.normalized_kappa_x(ratings, "nominal", irr="kappa"),
]
INFORMATION: list[Function] = [agreement.information_agreement]
UNCORRECTED: list[Function] = [agreement.percent_agreement, agreement.unanimous_agreement]
CHANCE_FROM_MARGINS = [CORRECTED[0], *CORRECTED[3:]]
OF_PAIRABLE_ITEMS = [CORRECTED[3], *CORRECTED[5:7], *CORRECTED[8:], *INFORMATION]
NOMINAL = CORRECTED[:5] + CORRECTED[6:] + INFORMATION + UNCORRECTED
INTERVAL: list[Function] = [
    agreement.krippendorff_alpha,
    agreement.iota,
    agreement.kappa_x,
    lambda ratings: agreement.kappa_x(ratings, "absolute"),
    lambda ratings: agreement.fleiss_kappa(ratings, "quadratic"),
    lambda ratings: agreement.light_kappa(ratings, "linear"),
    agreement.gwet_ac2,
]


def values(functions: list[Function], frame: pd.DataFrame, **options: Any) -> list[float]:
    """Coefficients of ratings; nan, without a warning, where they are undefined."""
    ratings = Ratings.from_frame(frame, pool="pool", **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is undefined")
        return [float(function(ratings)) for function in functions]


def pooled(table: Table) -> pd.DataFrame:
    return table.frame.assign(pool=table.rater % 2)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    """Incomplete ratings of 30 items by 4 raters."""
    return Table.simulated(2, items=30).ratings()


@pytest.fixture(scope="module")
def large() -> Ratings:
    """Ratings of 4000 items by 5 raters, who guess in a third of their ratings."""
    rng = np.random.default_rng(2)
    true, other = rng.integers(4, size=(4000, 1)), rng.integers(4, size=(4000, 5))
    return Ratings.from_wide(np.where(rng.random((4000, 5)) < 0.65, true, other))


@pytest.mark.slow
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_does_not_matter(table: Table, random: Any) -> None:
    frame = pooled(table)
    rows = random.sample(range(len(frame)), len(frame))

    shuffled = values(CORRECTED + UNCORRECTED, frame.iloc[rows])

    assert shuffled == pytest.approx(values(CORRECTED + UNCORRECTED, frame), nan_ok=True, abs=0)


@pytest.mark.slow
@given(tables(), st.permutations(range(5)))
def test_names_of_raters_do_not_matter(table: Table, order: list[int]) -> None:
    frame = pooled(table)
    renamed = frame.assign(rater=np.array(order)[table.rater])

    found = values(CORRECTED + UNCORRECTED, renamed)

    assert found == pytest.approx(values(CORRECTED + UNCORRECTED, frame), nan_ok=True, abs=1e-12)


@pytest.mark.slow
@given(tables(), st.permutations(range(4)))
def test_names_of_categories_do_not_matter(table: Table, order: list[int]) -> None:
    frame = pooled(table)
    renamed = frame.assign(rating=np.array(order)[frame["rating"].astype(int)])

    found = values(NOMINAL, renamed, categories=range(4))

    expected = values(NOMINAL, frame, categories=range(4))
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@pytest.mark.slow
@given(tables(), st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_origin_and_unit_of_numbers_do_not_matter(table: Table, origin: float, unit: float) -> None:
    frame = pooled(table)
    moved = frame.assign(rating=origin + unit * frame["rating"])

    found = values(INTERVAL, moved)

    # Numbers near 1e3 with steps of 0.01 lose 5 of their 16 digits, and squares another 5.
    assert found == pytest.approx(values(INTERVAL, frame), nan_ok=True, abs=1e-6)


@pytest.mark.parametrize("function", CORRECTED + INFORMATION + UNCORRECTED)
def test_perfect_agreement_is_1(function: Function) -> None:
    wide = np.tile(np.array([[1], [2], [3], [0.1]]), 4)
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"})

    assert float(function(ratings)) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("function", OF_PAIRABLE_ITEMS)
def test_coefficients_are_undefined_with_one_category(function: Function) -> None:
    wide = np.full((5, 4), 0.1)
    wide[4] = [0.2, np.nan, np.nan, np.nan]
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"})

    with pytest.warns(UserWarning, match=r"is undefined: .*all ratings are the same|one category"):
        assert np.isnan(float(function(ratings)))


@pytest.mark.parametrize("function", CHANCE_FROM_MARGINS + INFORMATION)
def test_coefficients_are_undefined_in_samples_of_one_category(function: Function) -> None:
    wide = np.full((7, 4), 0.1)
    wide[0] = [0.2, 0.1, 0.1, 0.3]
    coefficient = function(Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"}))
    without_first = np.array([0, 1, 1, 1, 1, 1, 1])

    assert np.isnan(coefficient.formula(without_first @ coefficient.rows(None)))


@pytest.mark.parametrize("function", CORRECTED[:7])
def test_weighting_items_equals_drawing_them_repeatedly(function: Function) -> None:
    table = Table.simulated(3, items=12, levels=4)
    coefficient = function(table.ratings(categories=range(4)))
    times: NDArray[np.int64] = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12))

    reweighted = coefficient.formula(np.asarray(times @ coefficient.rows(None)))

    drawn = function(table.with_items(times).ratings(categories=range(4)))
    assert reweighted == pytest.approx(float(drawn), abs=1e-12)


def test_replicates_are_coefficients_of_the_drawn_items() -> None:
    table = Table.simulated(4, items=12, levels=4)
    noisy = table._replace(value=table.value + np.random.default_rng(1).random(len(table.value)))
    alpha = agreement.krippendorff_alpha(noisy.ratings())
    stream = np.random.SeedSequence(5).spawn(1)[0]

    replicates = alpha.bootstrap(replicates=4, seed=5)

    # All rows differ, so that each column of the draw is an item.
    times = DistinctRows.of(alpha.rows(None)).resample(np.random.default_rng(stream), 4)
    drawn = [agreement.krippendorff_alpha(noisy.with_items(each).ratings()) for each in times]
    assert replicates == pytest.approx([float(each) for each in drawn], abs=1e-12)


def test_merged_rows_are_drawn_as_often_as_separate_rows() -> None:
    rows = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [500, 300, 200], axis=0)

    merged = DistinctRows.of(np.random.default_rng(1).permutation(rows))
    drawn = merged.resample(np.random.default_rng(2), 4000)

    assert dict(zip(map(tuple, merged.rows), merged.multiplicity, strict=True)) == {
        (0.0, 1.0): 500,
        (1.0, 0.0): 300,
        (1.0, 1.0): 200,
    }
    p = merged.multiplicity / 1000
    assert (drawn.sum(axis=1) == 1000).all()
    # Means have standard errors of at most 0.25, variances of 2.2%.
    assert drawn.mean(axis=0) == pytest.approx(merged.multiplicity, abs=1)
    assert drawn.var(axis=0) == pytest.approx(1000 * p * (1 - p), rel=0.09)


PAIRWISE: dict[str, tuple[Function, Callable[[Table], float]]] = {
    "percent": (agreement.percent_agreement, pairwise.percent),
    "alpha": (
        agreement.krippendorff_alpha,
        lambda table: pairwise.alpha(table, pairwise.squared),
    ),
    "ordinal": (
        lambda ratings: agreement.krippendorff_alpha(ratings, "ordinal"),
        lambda table: pairwise.alpha(table, pairwise.ordinal(table)),
    ),
    "specific": (
        lambda ratings: agreement.specific_agreement(ratings)[1.0],
        lambda table: pairwise.specific(table, 1.0),
    ),
    "conger": (
        agreement.conger_kappa,
        lambda table: pairwise.conger(table, pairwise.nominal),
    ),
}


@pytest.mark.parametrize("name", PAIRWISE)
@given(tables(), st.integers(0, 2**16))
def test_a_rater_drawn_twice_is_not_paired_with_themselves(
    name: str, table: Table, seed: int
) -> None:
    function, expected = PAIRWISE[name]
    coefficient = function(table.ratings())
    # At least two raters are drawn, so that there are pairs.
    times = np.random.default_rng(seed).permutation([2, 1, 1, 0, 3][: table.rater.max() + 1])

    found = coefficient.formula(np.asarray(coefficient.rows(times).sum(axis=0)))

    assert found == pytest.approx(expected(table.with_raters(times)), abs=1e-12)


def test_an_item_without_drawn_raters_is_ignored() -> None:
    wide = np.array([[1, 1, 2], [2, 2, 1], [1, 2, 2], [np.nan, np.nan, 2]])
    weights, left = np.array([1, 1, 0]), Ratings.from_wide(wide[:3, :2])

    kappa = agreement.fleiss_kappa_by_category(Ratings.from_wide(wide))[1]

    found = kappa.formula(np.asarray(kappa.rows(weights).sum(axis=0)))
    assert found == pytest.approx(float(agreement.fleiss_kappa_by_category(left)[1]))


def test_pairs_of_raters_count_in_proportion_to_their_draws(ratings: Ratings) -> None:
    light = agreement.light_kappa(ratings)

    found = light.formula(np.asarray(light.rows(np.array([2.0, 1.0, 3.0, 0.0])).sum(axis=0)))

    two = [agreement.cohen_kappa(ratings.subset(raters=pair)) for pair in ([0, 1], [0, 2], [1, 2])]
    assert found == pytest.approx(np.average([float(each) for each in two], weights=[2, 6, 3]))


def test_across_pools_raters_count_in_proportion_to_their_draws() -> None:
    table = Table.simulated(5, items=20)
    kappa = agreement.kappa_x(table.pooled(), "absolute")

    found = kappa.formula(np.asarray(kappa.rows(np.array([2.0, 1.0, 0.0, 1.0])).sum(axis=0)))

    drawn = table.with_raters(np.array([2, 1, 0, 1]))
    expected = pairwise.kappa_x(drawn, np.arange(4) % 2, pairwise.absolute)
    assert found == pytest.approx(expected, abs=1e-12)


def test_raters_are_drawn_within_their_pools() -> None:
    drawn = resample_raters(np.array([0, 1, 0, 1, 1]), np.random.default_rng(1), 500)

    assert (drawn[:, [0, 2]].sum(axis=1) == 2).all()
    assert (drawn[:, [1, 3, 4]].sum(axis=1) == 3).all()
    assert set(drawn[:, 1]) == {0, 1, 2, 3}


@pytest.mark.parametrize("function", NOMINAL[:6] + INFORMATION + UNCORRECTED)
def test_bootstrap_and_delta_method_have_the_same_standard_error(
    large: Ratings, function: Function
) -> None:
    coefficient = function(large)

    bootstrap = coefficient.standard_error(replicates=1000)

    # The standard deviation of 1000 replicates has a relative error of 2.2%.
    assert bootstrap == pytest.approx(coefficient.standard_error(method="analytic"), rel=0.09)


def test_jackknife_and_delta_method_have_the_same_standard_error(large: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(large)

    jackknife = alpha.interval(method="jackknife")

    analytic = alpha.interval(method="analytic")
    # They differ by the curvature of the formula, of relative size 1 / 4000.
    assert jackknife.standard_error == pytest.approx(analytic.standard_error, rel=2e-3)
    assert jackknife.lower == pytest.approx(analytic.lower, abs=1e-4)


def test_the_jackknife_leaves_out_one_rater_at_a_time(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    error = alpha.standard_error(over="raters", method="jackknife")

    left = [ratings.subset(raters=ratings.raters.drop([rater])) for rater in ratings.raters]
    without = [float(agreement.krippendorff_alpha(some)) for some in left]
    assert error == pytest.approx(np.sqrt(3 * np.var(without)))


@pytest.mark.parametrize("method", ["percentile", "jackknife", "bca"])
def test_two_raters_are_neither_resampled_nor_left_out(method: Method) -> None:
    alpha = agreement.krippendorff_alpha(Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4]])))

    with pytest.raises(RatingsError, match=r"requires at least three raters, .* found 2"):
        alpha.interval(over="raters", method=method)


def test_bca_equals_scipy(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)
    rows, items = np.asarray(alpha.rows(None)), np.arange(ratings.n_items)

    def statistic(drawn: NDArray[np.int64], axis: int) -> Array:
        return alpha.formula(rows[drawn].sum(axis=axis - 1))

    known = stats.bootstrap((items,), statistic, n_resamples=2, method="percentile")
    known.bootstrap_distribution = alpha.bootstrap(replicates=999)

    ours = alpha.interval(0.9, method="bca", replicates=999)

    theirs = stats.bootstrap(
        (items,), statistic, n_resamples=0, bootstrap_result=known, confidence_level=0.9
    )
    assert (ours.lower, ours.upper) == pytest.approx(tuple(theirs.confidence_interval))


def test_percentile_limits_are_quantiles_of_the_replicates(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    interval = alpha.interval(0.8, method="percentile", replicates=200, seed=3)

    replicates = alpha.bootstrap(replicates=200, seed=3)
    assert (interval.lower, interval.upper) == pytest.approx(np.quantile(replicates, [0.1, 0.9]))
    assert interval.standard_error == pytest.approx(replicates.std(ddof=1))


@pytest.mark.parametrize("over", ["items", "raters", "both"])
def test_any_number_of_jobs_gives_the_same_replicates(ratings: Ratings, over: Any) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    one = alpha.bootstrap(over=over, replicates=250, seed=4)
    with joblib.parallel_config(backend="threading"):
        two = alpha.bootstrap(over=over, replicates=250, seed=4, n_jobs=2)

    np.testing.assert_array_equal(one, two)


def test_another_seed_gives_other_replicates(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    one, other = (alpha.bootstrap(replicates=10, seed=seed) for seed in (1, 2))

    assert not np.isin(one, other).any()


def test_resampling_both_varies_more_than_resampling_either(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    items, raters, both = (
        alpha.standard_error(over=over, replicates=500) for over in ("items", "raters", "both")
    )

    assert max(items, raters) < both


def test_samples_of_one_category_are_left_out_and_counted() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [2, 2], [1, 1], [1, 1]]))

    interval = agreement.krippendorff_alpha(ratings).interval(method="percentile", replicates=1000)

    # Samples without the second item: (3/4)^4; with no other: (1/4)^4; standard error 0.015
    assert interval.undefined / 1000 == pytest.approx(0.3203, abs=0.06)
    assert interval.replicates == 1000 - interval.undefined


def test_the_jackknife_is_undefined_if_the_coefficient_is_without_some_item() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [2, 2], [1, 1]]))

    interval = agreement.krippendorff_alpha(ratings).interval(method="jackknife")

    assert np.isnan(interval.standard_error)


def test_a_difference_is_paired_over_items(large: Ratings) -> None:
    first, second = (agreement.krippendorff_alpha(large, m) for m in ("nominal", "interval"))

    difference = second - first

    one, other, paired = (
        each.standard_error(method="analytic") for each in (first, second, difference)
    )
    assert float(difference) == pytest.approx(float(second) - float(first))
    assert paired < np.hypot(one, other)
    assert difference.standard_error(replicates=1000) == pytest.approx(paired, rel=0.09)


def test_the_difference_of_a_coefficient_from_itself_has_no_width(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    interval = agreement.difference(alpha, alpha).interval()

    assert (interval.lower, interval.upper) == (0, 0)


def test_items_and_raters_are_paired_by_id() -> None:
    table = Table.simulated(6, items=20)
    whole, half = table.ratings(), table.part(table.item >= 10).ratings()
    left = half.subset(raters=[3, 1, 0])

    difference = agreement.conger_kappa(left) - agreement.conger_kappa(whole)

    weights = np.array([1.0, 2.0, 0.0, 1.0])  # of raters 0, 1, 3, then 2
    one, other = agreement.conger_kappa(left), agreement.conger_kappa(whole)
    parts = [
        each.formula(np.asarray(each.rows(own).sum(axis=0)))
        for each, own in ((one, weights[:3]), (other, weights[[0, 1, 3, 2]]))
    ]
    found = difference.formula(np.asarray(difference.rows(weights).sum(axis=0)))
    assert difference.raters is not None
    assert difference.raters.index.tolist() == [0, 1, 3, 2]
    assert sorted(difference.items) == list(range(20))
    assert found == pytest.approx(parts[0] - parts[1])


def test_differences_of_sparse_statistics_are_paired_as_well(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)
    half = agreement.krippendorff_alpha(ratings.subset(items=range(15, 30)))
    sparse = replace(half, rows=lambda weights: sp.csr_array(half.rows(weights)))

    one, other = ((alpha - each).interval(replicates=50) for each in (half, sparse))

    assert (one.lower, one.upper) == pytest.approx((other.lower, other.upper))


def test_a_part_has_an_interval_of_its_own(ratings: Ratings) -> None:
    kappa = agreement.fleiss_kappa(ratings)

    observed = kappa.part("observed agreement")

    assert observed.interval() == agreement.percent_agreement(ratings).interval()


def test_unknown_parts_are_refused(ratings: Ratings) -> None:
    with pytest.raises(
        ValueError, match=r"\('observed agreement', 'expected agreement'\), not 'x'"
    ):
        agreement.fleiss_kappa(ratings).part("x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prob": 95}, "prob must lie strictly between 0 and 1, not 95"),
        ({"replicates": 1, "method": "bca"}, "replicates must be at least 2, not 1"),
        ({"over": "pools"}, "over must be one of items, raters, both, not 'pools'"),
        ({"method": "bc"}, "method must be one of model, log, percentile, .*, not 'bc'"),
        (
            {"method": "analytic", "over": "raters"},
            'method "analytic" supports over="items" only, not over="raters"',
        ),
        (
            {"method": "jackknife", "over": "both"},
            'method "jackknife" supports over="items" or over="raters"',
        ),
    ],
)
def test_invalid_options_are_refused(
    ratings: Ratings, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        agreement.krippendorff_alpha(ratings).interval(**options)
