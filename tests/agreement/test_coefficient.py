"""Intervals of coefficients, their differences, and what no coefficient must depend on."""

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
from reliabayes.agreement.resampling import Statistics, draw_raters
from reliabayes.arrays import Array
from tests import pairwise
from tests.pairwise import Table, some, tables

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
]
SHARED: list[Function] = [agreement.information_agreement]
PLAIN: list[Function] = [agreement.percent_agreement, agreement.unanimous_agreement]
AGAINST_MARGINS = [CORRECTED[0], *CORRECTED[3:]]
OF_PAIRS = [CORRECTED[3], *CORRECTED[5:7], *CORRECTED[8:], *SHARED]
NOMINAL = CORRECTED[:5] + CORRECTED[6:] + SHARED + PLAIN
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
    """Coefficients of ratings, nan without a warning where undefined."""
    ratings = Ratings.from_frame(frame, pool="pool", **options)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is undefined")
        return [float(function(ratings)) for function in functions]


def pooled(table: Table) -> pd.DataFrame:
    return table.frame.assign(pool=table.rater % 2)


@pytest.fixture(scope="module")
def ratings() -> Ratings:
    """Of 30 items by 4 raters, incomplete."""
    return Table.simulated(2, items=30).ratings()


@pytest.fixture(scope="module")
def many() -> Ratings:
    """Of 4000 items by 5 raters, who err in a third of their ratings."""
    rng = np.random.default_rng(2)
    true, other = rng.integers(4, size=(4000, 1)), rng.integers(4, size=(4000, 5))
    return Ratings.from_wide(np.where(rng.random((4000, 5)) < 0.65, true, other))


@some
@given(tables(), st.randoms(use_true_random=False))
def test_the_order_of_rows_leaves_no_trace(table: Table, random: Any) -> None:
    frame = pooled(table)
    rows = random.sample(range(len(frame)), len(frame))

    shuffled = values(CORRECTED + PLAIN, frame.iloc[rows])

    assert shuffled == pytest.approx(values(CORRECTED + PLAIN, frame), nan_ok=True, abs=0)


@some
@given(tables(), st.permutations(range(5)))
def test_names_of_raters_are_names_only(table: Table, order: list[int]) -> None:
    frame = pooled(table)
    renamed = frame.assign(rater=np.array(order)[table.rater])

    found = values(CORRECTED + PLAIN, renamed)

    assert found == pytest.approx(values(CORRECTED + PLAIN, frame), nan_ok=True, abs=1e-12)


@some
@given(tables(), st.permutations(range(4)))
def test_names_of_categories_are_names_only(table: Table, order: list[int]) -> None:
    frame = pooled(table)
    renamed = frame.assign(rating=np.array(order)[frame["rating"].astype(int)])

    found = values(NOMINAL, renamed, categories=range(4))

    expected = values(NOMINAL, frame, categories=range(4))
    assert found == pytest.approx(expected, nan_ok=True, abs=1e-12)


@some
@given(tables(), st.floats(-1e3, 1e3), st.floats(0.01, 100))
def test_zero_and_unit_of_numbers_do_not_matter(table: Table, zero: float, unit: float) -> None:
    frame = pooled(table)
    moved = frame.assign(rating=zero + unit * frame["rating"])

    found = values(INTERVAL, moved)

    # Numbers near 1e3 with steps of 0.01 lose 1e5 of their 16 digits, squares as many again.
    assert found == pytest.approx(values(INTERVAL, frame), nan_ok=True, abs=1e-6)


@pytest.mark.parametrize("function", CORRECTED + SHARED + PLAIN)
def test_perfect_agreement_is_1(function: Function) -> None:
    wide = np.tile(np.array([[1], [2], [3], [0.1]]), 4)
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"})

    assert float(function(ratings)) == pytest.approx(1, abs=1e-15)


@pytest.mark.parametrize("function", OF_PAIRS)
def test_one_category_tells_nothing_of_agreement(function: Function) -> None:
    wide = np.full((5, 4), 0.1)
    wide[4] = [0.2, np.nan, np.nan, np.nan]
    ratings = Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"})

    with pytest.warns(UserWarning, match=r"is undefined: .*all ratings are the same|one category"):
        assert np.isnan(float(function(ratings)))


@pytest.mark.parametrize("function", AGAINST_MARGINS + SHARED)
def test_samples_of_one_category_tell_nothing_of_agreement(function: Function) -> None:
    wide = np.full((7, 4), 0.1)
    wide[0] = [0.2, 0.1, 0.1, 0.3]
    coefficient = function(Ratings.from_wide(wide, pool={0: "a", 1: "a", 2: "b", 3: "b"}))
    without_first = np.array([0, 1, 1, 1, 1, 1, 1])

    assert np.isnan(coefficient.formula(without_first @ coefficient.rows(None)))


@pytest.mark.parametrize("function", CORRECTED[:7])
def test_weights_of_items_are_what_drawing_items_is(function: Function) -> None:
    table = Table.simulated(3, items=12, levels=4)
    coefficient = function(table.ratings(categories=range(4)))
    times: NDArray[np.int64] = np.random.default_rng(1).multinomial(12, np.full(12, 1 / 12))

    reweighted = coefficient.formula(np.asarray(times @ coefficient.rows(None)))

    drawn = function(table.with_items(times).ratings(categories=range(4)))
    assert reweighted == pytest.approx(float(drawn), abs=1e-12)


def test_replicates_are_of_the_draws_that_were_made() -> None:
    table = Table.simulated(4, items=12, levels=4)
    noisy = table._replace(value=table.value + np.random.default_rng(1).random(len(table.value)))
    alpha = agreement.krippendorff_alpha(noisy.ratings())
    stream = np.random.SeedSequence(5).spawn(1)[0]

    replicates = alpha.bootstrap(replicates=4, seed=5)

    # All rows differ, so that each column of the draw is an item.
    times = Statistics.of(alpha.rows(None)).draw(np.random.default_rng(stream), 4)
    drawn = [agreement.krippendorff_alpha(noisy.with_items(each).ratings()) for each in times]
    assert replicates == pytest.approx([float(each) for each in drawn], abs=1e-12)


def test_equal_rows_are_drawn_as_often_as_if_they_were_apart() -> None:
    few = np.repeat([[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]], [500, 300, 200], axis=0)

    merged = Statistics.of(np.random.default_rng(1).permutation(few))
    drawn = merged.draw(np.random.default_rng(2), 4000)

    assert dict(zip(map(tuple, merged.rows), merged.times, strict=True)) == {
        (0.0, 1.0): 500,
        (1.0, 0.0): 300,
        (1.0, 1.0): 200,
    }
    share = merged.times / 1000
    assert (drawn.sum(axis=1) == 1000).all()
    # Means have standard errors of at most 0.25, variances of 2.2%.
    assert drawn.mean(axis=0) == pytest.approx(merged.times, abs=1)
    assert drawn.var(axis=0) == pytest.approx(1000 * share * (1 - share), rel=0.09)


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
@some
@given(tables(), st.integers(0, 2**16))
def test_a_rater_drawn_twice_never_agrees_with_himself(name: str, table: Table, seed: int) -> None:
    function, expected = PAIRWISE[name]
    coefficient = function(table.ratings())
    # Two raters at least, so that there are pairs.
    times = np.random.default_rng(seed).permutation([2, 1, 1, 0, 3][: table.rater.max() + 1])

    found = coefficient.formula(np.asarray(coefficient.rows(times).sum(axis=0)))

    assert found == pytest.approx(expected(table.with_raters(times)), abs=1e-12)


def test_an_item_whose_raters_are_not_drawn_is_no_item() -> None:
    wide = np.array([[1, 1, 2], [2, 2, 1], [1, 2, 2], [np.nan, np.nan, 2]])
    weights, left = np.array([1, 1, 0]), Ratings.from_wide(wide[:3, :2])

    kappa = agreement.fleiss_kappa_by_category(Ratings.from_wide(wide))[1]

    found = kappa.formula(np.asarray(kappa.rows(weights).sum(axis=0)))
    assert found == pytest.approx(float(agreement.fleiss_kappa_by_category(left)[1]))


def test_pairs_of_raters_count_as_often_as_they_are_drawn(ratings: Ratings) -> None:
    light = agreement.light_kappa(ratings)

    found = light.formula(np.asarray(light.rows(np.array([2.0, 1.0, 3.0, 0.0])).sum(axis=0)))

    two = [agreement.cohen_kappa(ratings.subset(raters=pair)) for pair in ([0, 1], [0, 2], [1, 2])]
    assert found == pytest.approx(np.average([float(each) for each in two], weights=[2, 6, 3]))


def test_across_pools_raters_count_as_often_as_they_are_drawn() -> None:
    table = Table.simulated(5, items=20)
    kappa = agreement.kappa_x(table.pooled(), "absolute")

    found = kappa.formula(np.asarray(kappa.rows(np.array([2.0, 1.0, 0.0, 1.0])).sum(axis=0)))

    drawn = table.with_raters(np.array([2, 1, 0, 1]))
    expected = pairwise.kappa_x(drawn, np.arange(4) % 2, pairwise.absolute)
    assert found == pytest.approx(expected, abs=1e-12)


def test_raters_are_drawn_within_their_pools() -> None:
    drawn = draw_raters(np.array([0, 1, 0, 1, 1]), np.random.default_rng(1), 500)

    assert (drawn[:, [0, 2]].sum(axis=1) == 2).all()
    assert (drawn[:, [1, 3, 4]].sum(axis=1) == 3).all()
    assert set(drawn[:, 1]) == {0, 1, 2, 3}


@pytest.mark.parametrize("function", NOMINAL[:6] + SHARED + PLAIN)
def test_the_bootstrap_has_the_error_of_the_delta_method(many: Ratings, function: Function) -> None:
    coefficient = function(many)

    bootstrap = coefficient.standard_error(replicates=1000)

    # The standard deviation of 1000 replicates has a relative error of 2.2%.
    assert bootstrap == pytest.approx(coefficient.standard_error(method="analytic"), rel=0.09)


def test_the_jackknife_has_the_error_of_the_delta_method(many: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(many)

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
def test_two_raters_are_neither_drawn_nor_left_out(method: agreement.coefficient.Method) -> None:
    alpha = agreement.krippendorff_alpha(Ratings.from_wide(np.array([[1, 1], [2, 2], [3, 4]])))

    with pytest.raises(RatingsError, match=r"three raters or more to draw from, .* found 2"):
        alpha.interval(over="raters", method=method)


def test_bca_is_that_of_scipy(ratings: Ratings) -> None:
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


def test_percentiles_are_those_of_the_replicates(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    interval = alpha.interval(0.8, replicates=200, seed=3)

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


def test_to_draw_both_varies_more_than_to_draw_either(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    items, raters, both = (
        alpha.standard_error(over=over, replicates=500) for over in ("items", "raters", "both")
    )

    assert max(items, raters) < both


def test_samples_of_one_category_are_left_out_and_counted() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [2, 2], [1, 1], [1, 1]]))

    interval = agreement.krippendorff_alpha(ratings).interval(replicates=1000)

    # Without the second item: (3/4)^4 of the samples; with it alone, (1/4)^4; error 0.015
    assert interval.undefined / 1000 == pytest.approx(0.3203, abs=0.06)
    assert interval.replicates == 1000 - interval.undefined
    assert (interval.lower, interval.upper) == (1, 1)


def test_bca_of_perfect_agreement_is_certain() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [2, 2], [1, 1], [2, 2]]))

    interval = agreement.krippendorff_alpha(ratings).interval(method="bca", replicates=50)

    assert (interval.lower, interval.upper) == (1, 1)


def test_where_leaving_an_item_out_leaves_nothing_the_jackknife_knows_no_error() -> None:
    ratings = Ratings.from_wide(np.array([[1, 1], [2, 2], [1, 1]]))

    interval = agreement.krippendorff_alpha(ratings).interval(method="jackknife")

    assert np.isnan(interval.standard_error)


def test_a_difference_is_paired_over_items(many: Ratings) -> None:
    first, second = (agreement.krippendorff_alpha(many, m) for m in ("nominal", "interval"))

    difference = second - first

    one, other, paired = (
        each.standard_error(method="analytic") for each in (first, second, difference)
    )
    assert float(difference) == pytest.approx(float(second) - float(first))
    assert paired < np.hypot(one, other)
    assert difference.standard_error(replicates=1000) == pytest.approx(paired, rel=0.09)


def test_a_difference_from_itself_is_certain(ratings: Ratings) -> None:
    alpha = agreement.krippendorff_alpha(ratings)

    interval = agreement.difference(alpha, alpha).interval(over="both", replicates=50)

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

    expected = agreement.percent_agreement(ratings).interval(replicates=100)
    assert observed.interval(replicates=100) == expected


def test_unknown_parts_are_told(ratings: Ratings) -> None:
    with pytest.raises(
        ValueError, match=r"\('observed agreement', 'expected agreement'\), not 'x'"
    ):
        agreement.fleiss_kappa(ratings).part("x")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"prob": 95}, "prob must lie strictly between 0 and 1, not 95"),
        ({"replicates": 1}, "replicates must be at least 2, not 1"),
        ({"over": "pools"}, "over must be one of items, raters, both, not 'pools'"),
        ({"method": "bc"}, "method must be one of percentile, bca, jackknife, analytic, not 'bc'"),
        ({"method": "analytic", "over": "raters"}, 'method "analytic" is over items, not raters'),
        (
            {"method": "jackknife", "over": "both"},
            'method "jackknife" is over items or over raters',
        ),
    ],
)
def test_options_that_make_no_sense_are_told(
    ratings: Ratings, options: dict[str, Any], message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        agreement.krippendorff_alpha(ratings).interval(**options)
