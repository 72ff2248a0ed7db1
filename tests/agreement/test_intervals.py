"""Intervals: which is the default, what it rests on, and where it says that it does not cover."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy import stats

from reliabayes import Ratings, agreement, datasets
from reliabayes.agreement import Coefficient
from reliabayes.agreement.icc_analysis import Analysis
from reliabayes.agreement.icc_names import IccName
from reliabayes.arrays import Array
from reliabayes.choices import Method, Over, Scale

UNANIMOUS = np.repeat([[1, 1, 1], [2, 2, 2]], 15, axis=0)


_ = np.nan
KRIPPENDORFF = np.array(
    [
        [1, 1, _, 1], [2, 2, 3, 2], [3, 3, 3, 3], [3, 3, 3, 3], [2, 2, 2, 2], [1, 2, 3, 4],
        [4, 4, 4, 4], [1, 1, 2, 1], [2, 2, 2, 2], [_, 5, 5, 5], [_, _, 1, 1], [_, _, 3, _],
    ]
)  # fmt: skip


def judges() -> Ratings:
    return Ratings.from_frame(datasets.load("shrout_fleiss_1979"))


def guessed(raters: int, *, items: int = 30, missing: float = 0.0) -> Array:
    """Ratings by raters who guess in a third of them."""
    rng = np.random.default_rng(raters)
    table = guessed_by(rng, raters=raters, items=items)
    table[2:][rng.random((items - 2, raters)) < missing] = np.nan
    return table


def guessed_by(rng: np.random.Generator, *, raters: int, items: int) -> Array:
    true, other = rng.integers(3, size=(items, 1)), rng.integers(3, size=(items, raters))
    return np.where(rng.random((items, raters)) < 0.65, true, other).astype(float)


def nominal(table: Array) -> Ratings:
    return Ratings.from_wide(table, scale="nominal")


def test_the_default_interval_of_shrout_and_fleiss_is_the_published_one() -> None:
    interval = agreement.icc(judges(), "ICC(2,1)").interval()

    assert (round(interval.lower, 2), round(interval.upper, 2)) == (0.02, 0.76)
    assert (interval.over, interval.method) == ("both", "model")


@pytest.mark.slow
def test_the_table_shows_the_default_of_each_coefficient() -> None:
    table = judges().agreement()

    assert table.T["ICC(2,1)"][["lower_95", "upper_95"]].astype(float).round(2).tolist() == [
        0.02,
        0.76,
    ]
    assert table.T["ICC(3,1)"][["over", "method"]].tolist() == ["items", "model"]
    assert table.T["alpha (interval)"][["over", "method"]].tolist() == ["both", "log"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["ICC(1,1)", "ICC(2,k)", "ICC(3,k)"])
def test_default_intervals_of_iccs_are_those_of_the_table_of_iccs(name: IccName) -> None:
    ratings = Ratings.from_wide(guessed(4, missing=0.2))

    interval = agreement.icc(ratings, name).interval(0.9)

    limits = agreement.icc_table(ratings, prob=0.9).T[name]
    assert [interval.lower, interval.upper] == limits[["lower_90", "upper_90"]].tolist()


def test_intervals_of_many_items_by_few_raters_span_the_published_and_the_likelihood_one() -> None:
    rng = np.random.default_rng(3)
    table = rng.normal(size=(60, 1)) + 0.7 * rng.normal(size=3) + 0.7 * rng.normal(size=(60, 3))
    ratings = Ratings.from_wide(table)
    analysis = Analysis.of(ratings, "ICC(2,1)", "ratings")

    interval = agreement.icc(ratings, "ICC(2,1)").interval()

    both = np.array([analysis.interval(0.95), analysis._likelihood_interval(0.95)])
    assert (interval.lower, interval.upper) == (both[:, 0].min(), both[:, 1].max())


def test_the_interval_of_a_negative_icc_starts_at_its_published_limit() -> None:
    table = np.array([[1, 3, 2], [3, 1, 1], [2, 2, 3], [1, 2, 3], [3, 2, 2]])

    coefficient = agreement.icc(Ratings.from_wide(table), "ICC(2,1)")

    interval = coefficient.interval()
    assert interval.lower < coefficient.value < 0 < interval.upper


@pytest.mark.parametrize("name", ["ICC(1,1)", "ICC(3,1)"])
def test_exact_intervals_of_balanced_designs_are_the_published_ones(name: IccName) -> None:
    analysis = Analysis.of(judges(), name, "ratings")

    lower, upper = analysis._exact_interval(0.95)

    published = analysis.interval(0.95)
    assert (lower, upper) == pytest.approx((max(published[0], 0), published[1]), abs=1e-8)


def test_exact_interval_of_incomplete_designs_inverts_the_f_test() -> None:
    """With the true ratio of variances, ratings that are decorrelated give an ordinary F test."""
    ratings = Ratings.from_wide(guessed(4, items=12, missing=0.3))
    rater, item = (np.eye(4)[ratings.rater], np.eye(12)[ratings.item])

    analysis = Analysis.of(ratings, "ICC(3,1)", "ratings")

    def f(icc: float) -> float:
        root = np.linalg.cholesky(np.eye(len(ratings)) + icc / (1 - icc) * item @ item.T)
        whitened = np.linalg.solve(root, np.column_stack([rater, ratings.values]))
        square = np.linalg.lstsq(whitened[:, :-1], whitened[:, -1], rcond=None)[1][0]
        both = np.hstack([rater, item])
        fitted = both @ np.linalg.lstsq(both, ratings.values, rcond=None)[0]
        residual = ((ratings.values - fitted) ** 2).sum()
        degrees = 11, len(ratings) - 15
        return float(stats.f.cdf((square - residual) / residual * degrees[1] / 11, *degrees))

    lower, upper = analysis.interval(0.9)
    assert (f(lower), f(upper)) == pytest.approx((0.95, 0.05), abs=1e-6)


@pytest.mark.parametrize("name", ["ICC(1,1)", "ICC(2,1)", "ICC(3,1)"])
def test_mean_squares_and_likelihood_give_the_same_standard_error(name: IccName) -> None:
    analysis = Analysis.of(judges(), name, "ratings")

    error = analysis.standard_error()

    inverse = analysis._slope @ analysis.products.variance_of_ratios() @ analysis._slope
    assert error == pytest.approx(np.sqrt(inverse), rel=1e-6)


def test_limits_of_kappas_are_those_of_log_disagreement() -> None:
    kappa = agreement.fleiss_kappa(nominal(guessed(2)))

    interval = kappa.interval()

    error = kappa.standard_error(method="analytic") / (1 - kappa.value)
    reach = stats.t.ppf(0.975, 29) * error
    expected = 1 - (1 - kappa.value) * np.exp([reach, -reach])
    assert (interval.lower, interval.upper) == pytest.approx(tuple(expected))
    assert (interval.over, interval.method) == ("items", "log")


@pytest.mark.parametrize(
    ("function", "published"),
    [
        (agreement.gwet_ac1, 0.14295),
        (agreement.fleiss_kappa, 0.15302),
        (agreement.brennan_prediger, 0.14472),
    ],
)
def test_errors_of_gwet_are_those_that_irrcac_prints(
    function: Callable[[Ratings], Coefficient], published: float
) -> None:
    """The twelve units of Krippendorff (2011), one of them rated once; irrCAC 0.4.4."""
    coefficient = function(nominal(KRIPPENDORFF))

    assert round(agreement.gwet_error(coefficient), 5) == published


def test_errors_of_gwet_are_the_analytic_ones_without_singly_rated_items() -> None:
    coefficient = agreement.gwet_ac1(nominal(KRIPPENDORFF[:-1]))

    analytic = coefficient.standard_error(method="analytic")
    assert agreement.gwet_error(coefficient) == pytest.approx(analytic)


def test_errors_of_gwet_are_for_his_coefficients() -> None:
    with pytest.raises(ValueError, match=r"must be AC1, AC2, .* not Krippendorff's alpha"):
        agreement.gwet_error(agreement.krippendorff_alpha(nominal(KRIPPENDORFF)))


@pytest.mark.slow
def test_errors_of_gwet_are_too_large_if_items_are_rated_once() -> None:
    """Half of 60 items are rated once: the standard deviation of AC1 over 250 samples."""
    rng = np.random.default_rng(4)
    found = []
    for _ in range(250):
        table = guessed_by(rng, raters=3, items=60)
        table[rng.random(60) < 0.5, 1:] = np.nan
        ac1 = agreement.gwet_ac1(nominal(table))
        error = ac1.standard_error(method="analytic")
        found.append((ac1.value, error, agreement.gwet_error(ac1)))
    values, ours, gwet = np.array(found).T

    # The standard deviation of 250 values has a relative error of 4.5%
    assert ours.mean() / values.std() == pytest.approx(1, abs=0.12)
    assert gwet.mean() / values.std() > 1.12


def test_the_analytic_interval_has_students_t() -> None:
    kappa = agreement.fleiss_kappa(nominal(guessed(2)))

    interval = kappa.interval(method="analytic")

    reach = stats.t.ppf(0.975, 29) * kappa.standard_error(method="analytic")
    assert interval.upper - kappa.value == pytest.approx(reach)


NEARLY_UNANIMOUS = np.array([[1, 1]] * 8 + [[1, 2]])
NEARLY_DISAGREEING = np.array([[1, 2], [2, 3], [3, 1], [1, 3], [2, 1], [1, 1]])


@pytest.mark.parametrize("method", ["analytic", "jackknife"])
@pytest.mark.parametrize(
    "function", [agreement.gwet_ac1, agreement.brennan_prediger, agreement.percent_agreement]
)
def test_intervals_by_students_t_end_at_the_largest_possible_value(
    function: Callable[[Ratings], Coefficient], method: Method
) -> None:
    coefficient = function(nominal(NEARLY_UNANIMOUS))

    interval = coefficient.interval(method=method)

    reach = stats.t.ppf(0.975, 8) * interval.standard_error
    assert coefficient.value + reach > 1
    assert interval.upper == 1
    assert interval.lower == pytest.approx(coefficient.value - reach)


@pytest.mark.parametrize("method", ["analytic", "jackknife", "log"])
def test_intervals_of_proportions_end_at_zero(method: Method) -> None:
    ratings = nominal(NEARLY_DISAGREEING)

    intervals = [
        each.interval(method=method, over="items")
        for each in (
            agreement.percent_agreement(ratings),
            agreement.unanimous_agreement(ratings),
            agreement.specific_agreement(ratings)[1.0],
        )
    ]

    assert [each.lower for each in intervals] == [0, 0, 0]
    assert all(each.upper > 0 for each in intervals)


def test_parts_in_other_units_are_not_held_below_one() -> None:
    entropy = agreement.information_agreement(nominal(guessed(2))).part("entropy of the first")

    interval = entropy.interval(method="analytic")

    reach = stats.t.ppf(0.975, 29) * interval.standard_error
    assert [interval.lower, interval.upper] == pytest.approx(
        [entropy.value - reach, entropy.value + reach]
    )


def test_variance_over_both_is_that_of_two_way_clusters() -> None:
    """Percent agreement over items and raters, from the formulas written out in loops."""
    table = guessed(4, items=12)
    agrees = table[:, :, None] == table[:, None, :]
    pairs = [(r, s) for r in range(4) for s in range(r)]
    by_pair = {pair: agrees[:, pair[0], pair[1]] for pair in pairs}
    value = np.mean([by_pair[pair] for pair in pairs])
    per_item = np.mean([by_pair[pair] for pair in pairs], axis=0)
    without = np.array(
        [np.mean([by_pair[p] for p in pairs if r not in p], axis=0) for r in range(4)]
    )

    found = agreement.percent_agreement(nominal(table)).interval(over="both")

    of_items = ((per_item - value) ** 2).sum() / 12 / 11
    means = without.mean(axis=1)
    of_raters = 3 / 4 * ((means - means.mean()) ** 2).sum()
    cells = (per_item - without) / 12
    cells = cells - cells.mean(axis=0) - cells.mean(axis=1, keepdims=True) + cells.mean()
    of_cells = 3 / 4 * 12 / 11 * (cells**2).sum()
    assert found.standard_error**2 == pytest.approx(
        max(of_items + of_raters - of_cells, of_items), rel=1e-9
    )


def test_raters_of_many_are_left_out_in_groups_of_one_pool() -> None:
    table, pool = guessed(90, items=20), {rater: "ab"[rater < 30] for rater in range(90)}
    ratings = Ratings.from_wide(table, scale="nominal", pool=pool)

    groups = agreement.fleiss_kappa(ratings)._sampling.without_raters

    assert np.bincount(groups.pool).tolist() == [10, 20]  # of 30 and of 60 raters
    assert groups.freedom == 28


@pytest.mark.parametrize(
    ("scale", "function"),
    [
        ("nominal", agreement.percent_agreement),
        ("nominal", agreement.fleiss_kappa),
        ("nominal", agreement.gwet_ac1),
        ("ordered", agreement.krippendorff_alpha),
        ("numeric", agreement.icc),
    ],
)
@pytest.mark.parametrize("method", [None, "percentile", "bca"])
def test_unanimous_ratings_admit_what_so_many_items_can_miss(
    scale: Scale, function: object, method: Method | None
) -> None:
    coefficient: Coefficient = function(Ratings.from_wide(UNANIMOUS, scale=scale))  # type: ignore[operator]

    interval = coefficient.interval(method=method, replicates=20)

    assert interval.lower == pytest.approx(0.05 ** (1 / 30))  # exact bound for 0 of 30; 1 - 3/30
    assert interval.upper == 1
    assert interval.over == "items"


def test_unanimous_disagreement_admits_some_agreement() -> None:
    table = np.array([["a", "b"], ["b", "a"]] * 10)

    interval = agreement.percent_agreement(nominal(table)).interval()

    assert interval.lower == 0
    assert interval.upper == pytest.approx(1 - 0.05 ** (1 / 20))


def test_the_table_admits_ignorance_of_unanimous_ratings_too() -> None:
    table = nominal(UNANIMOUS).agreement(method="percentile", replicates=20)

    assert table["lower_95"].tolist() == pytest.approx([0.05 ** (1 / 30)] * len(table))


@pytest.mark.parametrize(
    ("over", "method"),
    [("raters", "bca"), ("raters", "percentile"), ("both", "percentile"), ("raters", "jackknife")],
)
def test_too_few_raters_for_an_interval_over_raters_cause_a_warning(
    over: Over, method: Method | None
) -> None:
    kappa = agreement.fleiss_kappa(nominal(guessed(3)))

    with pytest.warns(UserWarning, match=f'with 3 raters the interval over="{over}"'):
        kappa.interval(over=over, method=method, replicates=20)


def test_raters_that_cannot_be_left_out_leave_items_to_sample() -> None:
    ratings = Ratings.from_wide(guessed(4), scale="nominal", pool={0: "a", 1: "a", 2: "b", 3: "b"})

    interval = agreement.normalized_kappa_x(ratings).interval()

    assert (interval.over, interval.method) == ("items", "log")


@pytest.mark.parametrize(
    ("function", "over", "message"),
    [
        (agreement.fleiss_kappa, None, 'method "model" is for ICCs'),
        (agreement.icc, "items", 'supports over="both" only for ICC'),
    ],
)
def test_the_model_is_for_iccs_and_what_they_sample(
    function: object, over: Over | None, message: str
) -> None:
    coefficient: Coefficient = function(Ratings.from_wide(guessed(3)))  # type: ignore[operator]

    with pytest.raises(ValueError, match=message):
        coefficient.interval(method="model", over=over)


def test_an_interval_is_shown_in_one_short_line() -> None:
    interval = agreement.Interval(
        lower=-0.41839763, upper=0.48739064, prob=0.95, standard_error=0.17, method="log",
        over="both",
    )  # fmt: skip

    assert repr(interval) == "Interval(-0.4184 to 0.4874, 95% over both, method 'log')"
    assert interval._repr_html_().startswith(
        "<p>95% interval from -0.42 to 0.49, for other items and other raters</p><table"
    )
