"""Intraclass correlations: published values, and REML against a dense computation."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.optimize
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import reliabayes as rb
from reliabayes.agreement.anova import icc_table
from reliabayes.agreement.design import Design
from reliabayes.agreement.icc_analysis import Analysis
from reliabayes.agreement.icc_choice import which_icc
from reliabayes.agreement.icc_names import NAMES, IccName
from reliabayes.agreement.icc_sums import MAX_PRODUCTS
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.resampling import influence
from reliabayes.arrays import Array
from reliabayes.likelihoods.gaussian_one_pool import Deviations
from tests.designs import LongTable, dense_covariance, long_tables

Load = Callable[[str], pd.DataFrame]

SINGLE: tuple[IccName, ...] = ("ICC(1,1)", "ICC(2,1)", "ICC(3,1)")
TWO_WAY: tuple[IccName, ...] = ("ICC(2,1)", "ICC(3,1)")
names = st.sampled_from(NAMES)
ratios = st.tuples(st.floats(0, 5), st.floats(0, 5)).map(np.array)


def test_shrout_and_fleiss_have_their_published_values(dataset: Load) -> None:
    table = icc_table(rb.Ratings.from_frame(dataset("shrout_fleiss_1979")))

    assert table["value"].round(4).to_dict() == {
        "ICC(1,1)": 0.1657, "ICC(2,1)": 0.2898, "ICC(3,1)": 0.7148,
        "ICC(1,k)": 0.4428, "ICC(2,k)": 0.6201, "ICC(3,k)": 0.9093,
    }  # fmt: skip


def test_shrout_and_fleiss_have_their_published_tests(dataset: Load) -> None:
    table = icc_table(rb.Ratings.from_frame(dataset("shrout_fleiss_1979")))

    found = table[["F", "df1", "df2"]].round(2).to_numpy().tolist()
    assert found == [[1.79, 5, 18], [11.03, 5, 15], [11.03, 5, 15]] * 2
    assert table.loc["ICC(1,1)", "p"] == pytest.approx(stats.f.sf(1.7947, 5, 18), abs=1e-4)


def test_shrout_and_fleiss_have_their_published_intervals(dataset: Load) -> None:
    table = icc_table(rb.Ratings.from_frame(dataset("shrout_fleiss_1979")))

    found = table[["lower_95", "upper_95"]].round(2).to_numpy().tolist()
    assert found == [
        [-0.13, 0.72], [0.02, 0.76], [0.34, 0.95], [-0.88, 0.91], [0.07, 0.93], [0.68, 0.99],
    ]  # fmt: skip


def test_shrout_and_fleiss_have_their_published_mean_squares(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("shrout_fleiss_1979"))

    squares = Analysis.of(ratings, "ICC(2,1)", "ratings").squares

    found = [squares.item, squares.rater, squares.residual]
    assert np.round(found, 5).tolist() == [11.24167, 32.48611, 1.01944]


def test_anxiety_has_its_published_values(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("anxiety"), scale="numeric")

    table = icc_table(ratings)

    published = [0.175, 0.198, 0.216, 0.389, 0.426, 0.453]
    assert table["value"].to_list() == pytest.approx(published, abs=0.00051)
    own = table[["F", "lower_95", "upper_95"]].round(3)
    assert own.T["ICC(2,1)"].to_list() == [1.827, -0.039, 0.494]
    assert Analysis.of(ratings, "ICC(2,1)", "ratings").satterthwaite == pytest.approx(
        39.75, abs=0.005
    )


def test_simulated_matrix_has_its_reference_values(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("irrsim_seed_test1"), scale="numeric")

    found = [round(float(icc(ratings, name)), 5) for name in NAMES]

    assert found == [0.52431, 0.52353, 0.51845, 0.86865, 0.86829, 0.86595]


def test_k_columns_differs_from_k_ratings_in_incomplete_data(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("irrsim_seed_test2"), scale="numeric")

    assert round(float(icc(ratings, "ICC(1,1)")), 5) == 0.16923
    assert round(float(icc(ratings, "ICC(1,1)", k="columns")), 5) == 0.06358


@pytest.mark.parametrize("name", NAMES)
def test_k_columns_equals_k_ratings_in_complete_data(dataset: Load, name: IccName) -> None:
    ratings = rb.Ratings.from_frame(dataset("anxiety"), scale="numeric")

    assert float(icc(ratings, name, k="columns")) == pytest.approx(float(icc(ratings, name)))


@given(table=long_tables(), one=ratios, other=ratios)
def test_restricted_deviance_equals_the_dense_computation(
    table: LongTable, one: Array, other: Array
) -> None:
    design = design_of(table)
    products = design.products(design.totals())

    found = products.deviance(one) - products.deviance(other)

    expected = dense_deviance(table, one) - dense_deviance(table, other)
    assert found == pytest.approx(expected, rel=1e-7, abs=1e-7)


@pytest.mark.slow
@given(seed=st.integers(0, 2**16))
def test_no_variances_fit_better_than_the_reml_estimates(seed: int) -> None:
    table = LongTable.simulated(items=7, raters=4, ratings=25, seed=seed)
    design = design_of(table)
    best, _ = design.products(design.totals()).best_ratios()

    def dense(root: Any) -> float:
        return dense_deviance(table, np.square(root))

    starts = ([1.0, 1.0], [0.1, 3.0], [3.0, 0.1])
    found = [scipy.optimize.minimize(dense, start, method="Nelder-Mead").fun for start in starts]
    assert dense_deviance(table, best) <= min(found) + 1e-6


def test_reml_of_complete_data_equals_the_analysis_of_variance(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("shrout_fleiss_1979"))
    design = design_of(LongTable(ratings.item, ratings.rater, ratings.values))

    item, rater, residual = design.products(design.totals()).components()

    published = [(11.24167 - 1.01944) / 4, (32.48611 - 1.01944) / 6, 1.01944]
    assert [item, rater, residual] == pytest.approx(published, abs=5e-6)


@given(table=long_tables())
def test_rows_of_items_add_up_to_the_totals(table: LongTable) -> None:
    design = design_of(table)

    rows = design.rows().toarray()

    assert rows.sum(axis=0) == pytest.approx(design.totals(), abs=1e-9)


@pytest.mark.parametrize("name", NAMES)
def test_samples_fitted_in_a_batch_equal_samples_fitted_singly(name: IccName) -> None:
    coefficient = icc(incomplete(seed=3), name)
    rows = coefficient.rows(None).toarray()  # type: ignore[union-attr]
    times = np.random.default_rng(1).multinomial(len(rows), np.full(len(rows), 1 / len(rows)), 8)

    batch = coefficient.formula(np.asarray(times @ rows, float))

    single = [float(coefficient.formula(one)) for one in np.asarray(times @ rows, float)]
    assert batch == pytest.approx(np.array(single), abs=1e-7)


@pytest.mark.parametrize("name", NAMES)
def test_influence_of_items_is_the_derivative_of_the_estimate(name: IccName) -> None:
    coefficient = icc(incomplete(seed=3), name)
    rows = coefficient.rows(None).toarray()  # type: ignore[union-attr]
    total, step = rows.sum(axis=0), 1e-4

    found = influence(coefficient._sampling.distinct_rows, coefficient.formula)

    ahead, behind = (coefficient.formula(total + by * rows) for by in (step, -step))
    assert found == pytest.approx((ahead - behind) / (2 * step), abs=1e-6)


@pytest.mark.parametrize("parts", [1, 2])
def test_f_test_of_incomplete_designs_equals_least_squares(parts: int) -> None:
    frames = [incomplete(seed=part).to_frame() for part in range(parts)]
    frames = [frame.add([12 * part, 6 * part, 0]) for part, frame in enumerate(frames)]
    ratings = rb.Ratings.from_frame(pd.concat(frames))
    item, rater = (np.eye(codes.max() + 1)[codes] for codes in (ratings.item, ratings.rater))

    f, df1, df2, p = Analysis.of(ratings, "ICC(2,1)", "ratings").test()

    (without_items, rater_rank), (residual, full_rank) = (
        least_squares(effects, ratings.values) for effects in (rater, np.hstack([item, rater]))
    )
    freedom = full_rank - rater_rank, len(ratings) - full_rank
    expected = (without_items - residual) / freedom[0] / (residual / freedom[1])
    assert (df1, df2) == freedom
    assert f == pytest.approx(expected)
    assert p == pytest.approx(stats.f.sf(expected, *freedom))


@pytest.mark.slow
def test_interval_of_incomplete_designs_inverts_the_likelihood_ratio_test() -> None:
    ratings = incomplete(seed=4, rater=0.3)
    table = LongTable(ratings.item, ratings.rater, ratings.values)
    rater_ratios = np.exp(np.linspace(-8, 4, 400))
    own = icc_table(ratings).loc["ICC(2,1)"].to_dict()

    def profile(value: float) -> float:
        item_ratios = value / (1 - value) * (1 + rater_ratios)
        ratios = np.column_stack([item_ratios, rater_ratios])
        return min(dense_deviance(table, ratio) for ratio in ratios)

    rise = [profile(own[end]) - profile(own["value"]) for end in ("lower_95", "upper_95")]
    # The grid has steps of 0.03, and the curvature of the deviance is about 2 * 12
    assert rise == pytest.approx([stats.chi2.ppf(0.95, 1)] * 2, abs=24 * 0.03**2 / 4)


def test_mean_iccs_use_the_harmonic_mean_of_the_numbers_of_ratings() -> None:
    ratings = incomplete(seed=5)
    k = stats.hmean(ratings.ratings_per_item)

    single, mean = (float(icc(ratings, name)) for name in (NAMES[1], NAMES[4]))

    assert mean == pytest.approx(k * single / (1 + (k - 1) * single))


@pytest.mark.slow
@pytest.mark.parametrize("complete", [True, False])
@settings(max_examples=10)
@given(
    name=names,
    seed=st.integers(0, 99),
    shift=st.floats(-1e4, 1e4),
    stretch=st.floats(1e-3, 1e3),
)
def test_icc_is_invariant_to_order_names_origin_and_unit(
    complete: bool, name: IccName, seed: int, shift: float, stretch: float
) -> None:
    ratings = incomplete(seed=seed, proportion=1.0 if complete else 0.7)
    frame = ratings.to_frame()
    moved = frame.assign(
        rating=shift + stretch * frame["rating"],
        rater=[f"r{20 - rater}" for rater in frame["rater"]],
    ).sample(frac=1, random_state=seed)

    same = icc(rb.Ratings.from_frame(moved), name)

    # Within 1e-7 of its maximum the restricted likelihood is constant up to rounding
    assert float(same) == pytest.approx(float(icc(ratings, name)), abs=1e-6)


@pytest.mark.parametrize("proportion", [1.0, 0.6])
@pytest.mark.parametrize("name", NAMES)
def test_perfect_agreement_gives_one(name: IccName, proportion: float) -> None:
    ratings = incomplete(seed=1, proportion=proportion, rater=0, residual=0)

    assert float(icc(ratings, name)) == pytest.approx(1)
    ends = icc_table(ratings)[["lower_95", "upper_95"]]
    assert ends.T[name].to_list() == [1, 1]


def test_with_perfect_agreement_the_item_variance_is_that_of_the_ratings() -> None:
    item = np.array([0, 0, 1, 1, 1, 2], np.int32)
    design = design_of(
        LongTable(item, np.array([0, 1, 0, 1, 2, 2], np.int32), np.array([1.0, 4, 9])[item])
    )

    found = design.products(design.totals()).components()

    assert list(map(float, found)) == pytest.approx([np.var([1, 4, 9], ddof=1), 0, 0])


@pytest.mark.parametrize("proportion", [1.0, 0.6])
def test_severity_alone_lowers_agreement_but_not_consistency(proportion: float) -> None:
    ratings = incomplete(seed=1, proportion=proportion, residual=0)

    table = icc_table(ratings)

    frame = ratings.to_frame()
    effects = least_squares_effects(frame)
    expected = effects["item"].var() / (effects["item"].var() + effects["rater"].var())
    assert table.loc["ICC(2,1)", "value"] == pytest.approx(expected, abs=1e-4)
    assert table.loc["ICC(3,1)", "value"] == pytest.approx(1)


def test_icc_is_undefined_if_only_raters_vary() -> None:
    ratings = rb.Ratings.from_wide(np.tile([1.0, 2.0, 4.0], (5, 1)))

    with pytest.warns(
        UserWarning, match=r"ICC\(3,1\) is undefined: the variance in its denominator is 0"
    ):
        value = float(icc(ratings, "ICC(3,1)"))
    with pytest.warns(UserWarning, match="At least one ICC is undefined: the variance"):
        table = icc_table(ratings)

    assert math.isnan(value)
    assert table.loc["ICC(3,1)", ["value", "lower_95", "upper_95"]].isna().all()


@pytest.mark.parametrize("name", SINGLE)
def test_raters_drawn_twice_form_no_pairs_with_themselves(name: IccName) -> None:
    ratings = incomplete(seed=2, proportion=1.0)
    coefficient = icc(ratings, name)
    times = np.array([2.0, 0, 1, 1, 2, 0])

    found = coefficient.formula(coefficient.rows(times).sum(axis=0))  # type: ignore[arg-type]

    weight = times[ratings.rater]
    items = ratings.item[:, None] == ratings.item
    raters = ratings.rater[:, None] == ratings.rater
    square = (ratings.values[:, None] - ratings.values) ** 2
    pairs = np.outer(weight, weight)
    within, others, everyone, of_rater = (
        np.average(square, weights=kind)
        for kind in (
            pairs * (items & ~raters),
            pairs * (~items & ~raters),
            pairs * ~items,
            weight * (~items & raters),
        )
    )
    expected = {
        "ICC(1,1)": 1 - within / everyone,
        "ICC(2,1)": 1 - within / others,
        "ICC(3,1)": (others - within) / of_rater,
    }[name]
    assert found == pytest.approx(expected)


def test_raters_of_incomplete_designs_cannot_be_resampled() -> None:
    with pytest.raises(rb.RatingsError, match='Pass over="items", or fit GaussianICC'):
        icc(incomplete(seed=1), "ICC(2,1)").interval(over="raters")


def test_anonymous_raters_have_one_way_coefficients_only() -> None:
    counts = np.array([[3, 0, 1], [1, 2, 0], [0, 0, 3]])
    ratings = rb.Ratings.from_counts(counts, scale="numeric", categories=[1, 2, 3])

    assert icc_table(ratings).index.to_list() == ["ICC(1,1)", "ICC(1,k)"]
    with pytest.raises(rb.RatingsError, match=r"ICC\(2,1\): it must be known who gave"):
        icc(ratings, "ICC(2,1)")


def test_nominal_ratings_are_refused() -> None:
    ratings = rb.Ratings.from_wide(np.array([["a", "b"], ["b", "b"]]))

    with pytest.raises(rb.RatingsError, match="ratings must be numbers here"):
        icc(ratings, "ICC(2,1)")


def test_more_raters_than_fit_into_memory_are_refused() -> None:
    raters = math.isqrt(MAX_PRODUCTS)
    rater = np.append(np.arange(raters), np.arange(1, raters + 1))
    item = np.append(np.arange(raters), np.arange(raters))
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rater % 7})

    with pytest.raises(rb.RatingsError, match=r"would take 2.* GB. Use ICC\(1,1\), or GaussianICC"):
        icc(rb.Ratings.from_frame(frame), "ICC(2,1)")


@pytest.mark.parametrize(
    ("same", "sample", "absolute", "mean", "name", "words"),
    [
        (False, True, True, False, "ICC(1,1)", "one-way random"),
        (False, False, True, True, "ICC(1,k)", "Means of k ratings"),
        (True, True, True, False, "ICC(2,1)", "two-way random effects, absolute agreement"),
        (True, False, True, True, "ICC(2,k)", "mixed effects, absolute agreement"),
        (True, True, False, False, "ICC(3,1)", "random effects, consistency"),
        (True, False, False, True, "ICC(3,k)", "two-way mixed effects, consistency"),
    ],
)
def test_choice_of_an_icc_is_explained(
    same: bool, sample: bool, absolute: bool, mean: bool, name: str, words: str
) -> None:
    choice = which_icc(
        same_raters=same,
        raters_are_a_sample=sample,
        absolute_agreement=absolute,
        mean_of_k=mean,
    )

    assert choice.name == name
    assert words in choice.reason.replace("\n", " ")


def test_consistency_is_refused_if_each_item_has_its_own_raters() -> None:
    with pytest.raises(ValueError, match="absolute_agreement must be True"):
        which_icc(
            same_raters=False, raters_are_a_sample=True, absolute_agreement=False, mean_of_k=False
        )


def test_unknown_names_are_refused() -> None:
    with pytest.raises(ValueError, match=r"must be one of ICC\(1,1\).*found 'ICC2'"):
        icc(incomplete(seed=1), "ICC2")  # type: ignore[arg-type]


def incomplete(
    *, seed: int, proportion: float = 0.7, rater: float = 0.7, residual: float = 0.8
) -> rb.Ratings:
    """A proportion of the ratings of 12 items by 6 raters, with all of the first item and rater."""
    rng = np.random.default_rng(seed)
    effects = rng.normal(0, 1, (12, 1)) + rater * rng.normal(0, 1, 6)
    table = effects + residual * rng.normal(0, 1, (12, 6))
    is_kept = rng.random((12, 6)) < proportion
    is_kept[0] = is_kept[:, 0] = True
    return rb.Ratings.from_wide(np.where(is_kept, table, np.nan))


def dense_deviance(table: LongTable, ratio: Array) -> float:
    """Minus twice the log restricted likelihood with the scale profiled out, by N x N matrices."""
    covariance = dense_covariance(table, Deviations(math.sqrt(ratio[0]), math.sqrt(ratio[1]), 1.0))
    n, inverse = len(covariance), np.linalg.inv(covariance)
    precision = inverse.sum()
    left = table.ratings - (inverse @ table.ratings).sum() / precision
    log_det = np.linalg.slogdet(covariance)[1] + np.log(precision)
    return float(log_det + (n - 1) * np.log(left @ inverse @ left))


def least_squares(effects: Array, values: Array) -> tuple[float, int]:
    """Residual sum of squares of a regression on effects, and their rank."""
    found, _, rank, _ = np.linalg.lstsq(effects, values)
    return float(((values - effects @ found) ** 2).sum()), int(rank)


def least_squares_effects(frame: pd.DataFrame) -> dict[str, Any]:
    """Least-squares effects of items and raters."""
    both = pd.get_dummies(frame[["item", "rater"]].astype(str), dtype=float)
    found = pd.Series(np.linalg.lstsq(both.to_numpy(), frame["rating"])[0], index=both.columns)
    return {kind: found[found.index.str.startswith(kind)] for kind in ("item", "rater")}


def of_one_item_each() -> rb.Ratings:
    """Raters with one item each: their severity cannot be told from residuals."""
    values = np.random.default_rng(1).normal(size=12)
    frame = {"item": np.arange(12) // 3, "rater": np.arange(12), "rating": values}
    return rb.Ratings.from_frame(pd.DataFrame(frame))


@pytest.mark.parametrize("name", TWO_WAY)
def test_severity_of_raters_with_one_item_each_is_not_identified(name: IccName) -> None:
    with pytest.raises(rb.RatingsError, match=r"found 12 raters with one rating each. Use ICC\(1"):
        icc(of_one_item_each(), name)


def test_raters_with_one_item_each_leave_the_one_way_iccs() -> None:
    with pytest.warns(UserWarning, match=r"^ICC\(2, \.\) and ICC\(3, \.\) are left out") as caught:
        table = icc_table(of_one_item_each())

    assert table.index.tolist() == ["ICC(1,1)", "ICC(1,k)"]
    assert table.notna().all(axis=None)
    assert len(caught) == 1


def design_of(table: LongTable) -> Design:
    sizes = np.unique(np.bincount(table.row))
    centred = table.ratings - table.ratings.mean()
    return Design.of(table.row, table.column, centred, sizes, int(table.column.max()) + 1)
