"""k-rater reliability: published values, and properties of all aggregates."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import rankdata, spearmanr

import reliabayes as rb
from reliabayes.agreement import fleiss_kappa, krippendorff_alpha, spearman_rho
from reliabayes.agreement.intraclass import icc
from reliabayes.agreement.k_raters import krr, krr_bootstrap, krr_curve
from reliabayes.agreement.replications import Aggregate, Replication
from reliabayes.agreement.spearman_brown import spearman_brown
from reliabayes.arrays import Array

Load = Callable[[str], pd.DataFrame]


@pytest.fixture
def wordsim(dataset: Load) -> rb.Ratings:
    """All word pairs of WordSim-353, with the first 13 raters of the two sets identified."""
    sets = [dataset(f"wordsim353_set{number}") for number in (1, 2)]
    frame = pd.concat(
        one.assign(item=f"{number} " + one["item"], rater=one["rater"].str[5:].astype(int))
        for number, one in enumerate(sets, start=1)
    )
    return rb.Ratings.from_frame(frame[frame["rater"] <= 13])


def test_wordsim_has_its_published_reliability(wordsim: rb.Ratings) -> None:
    assert float(icc(wordsim, "ICC(1,1)")) == pytest.approx(0.5905, abs=5e-5)
    assert float(icc(wordsim, "ICC(2,1)")) == pytest.approx(0.5915, abs=5e-5)
    assert float(icc(wordsim, "ICC(1,k)")) == pytest.approx(0.9494, abs=5e-5)
    assert float(icc(wordsim, "ICC(2,k)")) == pytest.approx(0.9496, abs=5e-5)
    assert float(krippendorff_alpha(wordsim)) == pytest.approx(0.5899, abs=5e-5)


def test_spearman_brown_of_wordsim_is_the_published_curve(wordsim: rb.Ratings) -> None:
    k = np.array([1, 2, 3, 5, 10, 13])

    found = spearman_brown(float(icc(wordsim, "ICC(1,1)")), k)

    assert found.round(4).tolist() == [0.5905, 0.7425, 0.8122, 0.8782, 0.9351, 0.9494]


def test_bootstrap_of_wordsim_has_the_published_value(wordsim: rb.Ratings) -> None:
    found = krr_bootstrap(wordsim, replicates=100, seed=1)

    # Difference of two means of 100 replicates each, with an sd of 0.004
    assert found.value == pytest.approx(0.9554, abs=4 * 0.004 * math.sqrt(2 / 100))
    assert found.standard_deviation == pytest.approx(0.004, rel=4 / math.sqrt(2 * 100) + 0.125)


def test_bootstrap_underestimates_the_variance_of_single_ratings_as_expected(
    wordsim: rb.Ratings,
) -> None:
    table = wordsim.values.reshape(-1, 13)
    item, noise = table.mean(axis=1).var(), table.var(axis=1).mean() / 5

    found = krr_bootstrap(wordsim, k=5, replicates=200, seed=1)

    error = found.standard_deviation / math.sqrt(200)
    # A ratio of averages has a bias of the order of 1 / 353 items
    assert found.value == pytest.approx(item / (item + noise), abs=4 * error + 1 / 353)


@given(
    reliability=st.floats(0.01, 0.99),
    k=st.floats(0.1, 10),
    more=st.floats(0.1, 10),
)
def test_spearman_brown_steps_multiply(reliability: float, k: float, more: float) -> None:
    assert spearman_brown(spearman_brown(reliability, k), more) == pytest.approx(
        spearman_brown(reliability, k * more)
    )


def test_spearman_brown_is_undefined_if_means_have_no_variance() -> None:
    assert np.isnan(spearman_brown(np.array([-0.5, -0.9]), 3)).all()


def test_spearman_brown_needs_a_positive_number_of_ratings() -> None:
    with pytest.raises(ValueError, match="k must be above 0; found -1"):
        spearman_brown(0.5, np.array([2, -1]))


@pytest.mark.parametrize("form", [1, 2, 3])
def test_spearman_brown_of_icc_1_is_icc_k(form: int) -> None:
    ratings, _ = replications(seed=5, raters=4)
    single, mean = (icc(ratings, f"ICC({form},{k})") for k in ("1", "k"))  # type: ignore[arg-type]

    found = spearman_brown(float(single), 4)

    assert found == pytest.approx(float(mean))
    assert found == pytest.approx(by_mean_squares(ratings.values.reshape(40, 4))[form])


def test_kuder_richardson_20_is_icc_3_k_of_answers_that_are_0_or_1() -> None:
    ratings, _ = replications(seed=6, raters=5, categories=2)
    answers = ratings.values.reshape(40, 5)
    p, total = answers.mean(axis=0), answers.sum(axis=1)

    kr_20 = 5 / 4 * (1 - (p * (1 - p)).sum() / total.var())

    assert float(icc(ratings, "ICC(3,k)")) == pytest.approx(kr_20)


def test_fixed_raters_with_an_interaction_are_the_exception_to_spearman_brown() -> None:
    """Warrens (2017): the mean of all raters has no interaction, which a single rating has."""
    item, interaction, residual, k = 1.0, 0.3, 0.6, 4
    single = (item - interaction / (k - 1)) / (item + interaction + residual)
    rng = np.random.default_rng(1)
    effects = rng.normal(0, math.sqrt(interaction * k / (k - 1)), (200_000, k))
    merit = rng.normal(0, math.sqrt(item), (200_000, 1)) + effects - effects.mean(axis=1)[:, None]
    one, other = (
        (merit + rng.normal(0, math.sqrt(residual), merit.shape)).mean(axis=1) for _ in range(2)
    )

    # Four standard errors of the correlation of 200,000 pairs
    assert np.corrcoef(one, other)[0, 1] == pytest.approx(1 / 1.15, abs=4 * (1 - 0.87**2) / 447)
    assert spearman_brown(single, k) == pytest.approx(0.783, abs=5e-4)


def test_krr_is_the_alpha_of_the_means() -> None:
    one, other = replications(seed=1)
    means = [side.values.reshape(40, -1).mean(axis=1) for side in (one, other)]

    found = krr(one, other)

    both = np.concatenate(means)
    expected = 1 - np.mean((means[0] - means[1]) ** 2) / 2 / both.var(ddof=1)
    assert float(found) == pytest.approx(expected)


def test_empirical_reliability_has_an_interval_over_items() -> None:
    interval = krr(*replications(seed=1)).interval(seed=1)

    assert interval.lower < float(krr(*replications(seed=1))) < interval.upper


def test_items_of_only_one_replication_are_left_out() -> None:
    one, other = replications(seed=1)
    fewer = other.subset(items=range(30))

    assert float(krr(one, fewer)) == float(krr(one.subset(items=range(30)), fewer))


@pytest.mark.parametrize("aggregate", ["mean", "median", "majority"])
def test_the_aggregate_of_equal_ratings_is_that_rating(aggregate: Aggregate) -> None:
    table = np.random.default_rng(1).integers(0, 3, (40, 2))
    one, other = (
        rb.Ratings.from_wide(np.repeat(column[:, None], 3, axis=1), categories=range(3))
        for column in table.T
    )

    found = krr(one, other, aggregate=aggregate)

    assert float(found) == pytest.approx(float(krippendorff_alpha(rb.Ratings.from_wide(table))))


def test_majority_of_labels_is_the_most_frequent_one() -> None:
    replication = Replication(
        rb.Ratings.from_wide(np.array([list("aab"), list("bcb"), list("ccc")])), "majority"
    )
    rng = np.random.default_rng(1)

    codes = replication.aggregates(*replication.draw(None, 1, rng), 1, rng)

    assert replication.ratings.categories[codes].tolist() == ["a", "b", "c"]


def test_ties_of_the_majority_are_broken_at_random() -> None:
    replication = Replication(rb.Ratings.from_wide(np.tile(["a", "b"], (1000, 1))), "majority")
    rng = np.random.default_rng(1)

    codes = replication.aggregates(*replication.draw(None, 1, rng), 1, rng)

    assert codes.mean() == pytest.approx(0.5, abs=4 * 0.5 / math.sqrt(1000))


def test_medians_are_taken_by_item() -> None:
    ratings = rb.Ratings.from_wide(np.array([[1, 9, 2], [5, np.nan, 8]]))
    replication, rng = Replication(ratings, "median"), np.random.default_rng(1)

    assert replication.aggregates(*replication.draw(None, 1, rng), 1, rng).tolist() == [2, 6.5]


def test_reliability_of_ranks_is_the_rank_correlation_of_mean_reciprocal_ranks() -> None:
    tables = [rankdata(-side.values.reshape(40, -1), axis=0) for side in replications(seed=1)]
    one, other = map(rb.Ratings.from_wide, tables)

    found = krr(one, other, aggregate="rank", coefficient=spearman_rho)

    expected = spearmanr(*[(1 / table).mean(axis=1) for table in tables])
    assert found.name == "k-rater reliability, Spearman's rho"
    assert float(found) == pytest.approx(expected.statistic)


def test_ranks_have_a_curve_by_replications_and_bootstrap() -> None:
    tables = [
        rankdata(-side.values.reshape(40, -1), axis=0) for side in replications(seed=1, raters=8)
    ]

    curve = krr_curve(
        *map(rb.Ratings.from_wide, tables),
        k=[1, 8],
        aggregate="rank",
        coefficient=spearman_rho,
        replicates=20,
    )

    assert curve.columns.to_list() == ["empirical", "bootstrap"]
    expected = spearmanr(*[(1 / table).mean(axis=1) for table in tables])
    assert curve.loc[8, "empirical"] == pytest.approx(expected.statistic)
    assert curve["empirical"].is_monotonic_increasing


def test_ranks_below_1_are_refused() -> None:
    scores, _ = replications(seed=1)

    with pytest.raises(rb.RatingsError, match="ranks must be 1 or higher; found -"):
        krr(scores, scores, aggregate="rank")


@given(k=st.integers(1, 3), blocks=st.integers(1, 4), seed=st.integers(0, 99))
def test_draws_belong_to_their_item_and_have_no_duplicates(k: int, blocks: int, seed: int) -> None:
    replication = Replication(replications(seed=2)[0], "mean")

    row, unit = replication.draw(k, blocks, np.random.default_rng(seed))

    assert (replication.ratings.item[row] == unit % 40).all()
    assert (np.bincount(unit) == k).all()
    assert len(np.unique(np.stack([row, unit]), axis=1).T) == len(row)


@given(blocks=st.integers(1, 4), seed=st.integers(0, 99))
def test_draws_with_replacement_keep_the_number_of_ratings(blocks: int, seed: int) -> None:
    ragged = rb.Ratings.from_wide(np.array([[1, 2, np.nan], [3, 4, 5], [6, np.nan, np.nan]]))

    row, unit = Replication(ragged, "mean").resample(None, blocks, np.random.default_rng(seed))

    assert (ragged.item[row] == unit % 3).all()
    assert np.bincount(unit).tolist() == [2, 3, 1] * blocks


@pytest.mark.slow
def test_methods_agree_where_their_assumptions_hold() -> None:
    one, other = replications(seed=3, items=1000, raters=12)

    curve = krr_curve(one, other, k=[1, 4, 12], replicates=20, seed=1)

    truth = spearman_brown(0.5, curve.index.to_numpy())
    # Errors of correlations of 1000 items; the bootstrap has 11/12 of the residual variance
    error = 4 * (1 - truth**2) / math.sqrt(1000)
    methods = ["empirical", "icc_k", "spearman_brown"]
    assert (abs(curve[methods].sub(truth, axis=0)).lt(error, axis=0)).all(axis=None)
    biased = (1 + 0.5 / 12 / 0.5) / (1 + 1 / 12 + 11 / 12 / curve.index.to_numpy())
    assert (abs(curve["bootstrap"] - biased) < error).all()


def test_nominal_ratings_have_a_curve_of_any_coefficient() -> None:
    one, other = replications(seed=4, items=300, categories=2)
    labels = [rb.Ratings.from_frame(side.to_frame(), scale="nominal") for side in (one, other)]

    curve = krr_curve(
        *labels, k=[1, 3], aggregate="majority", coefficient=fleiss_kappa, replicates=10
    )

    assert curve.columns.to_list() == ["empirical", "bootstrap"]
    assert curve["empirical"].is_monotonic_increasing


def test_the_same_seed_gives_the_same_replicates() -> None:
    ratings, _ = replications(seed=1)

    one, other, third = (krr_bootstrap(ratings, replicates=5, seed=seed) for seed in (1, 1, 2))

    assert one.values.tolist() == other.values.tolist() != third.values.tolist()


def test_coefficients_may_have_options() -> None:
    one, other = replications(seed=1, categories=4)

    found = krr(one, other, coefficient=partial(icc, name="ICC(3,1)"))

    assert found.name == "k-rater reliability, ICC(3,1)"


def test_more_ratings_than_an_item_has_are_refused() -> None:
    with pytest.raises(rb.RatingsError, match="found k = 4, and 3 ratings of item 0"):
        krr(*replications(seed=1), k=4)


def test_replications_without_a_common_item_are_refused() -> None:
    one, other = replications(seed=1)

    with pytest.raises(rb.RatingsError, match="replications must share items"):
        krr(one.subset(items=range(20)), other.subset(items=range(20, 40)))


def test_majorities_of_different_categories_are_refused() -> None:
    one, other = (replications(seed=1, categories=size)[0] for size in (2, 3))

    with pytest.raises(rb.RatingsError, match="must have the same scale and categories"):
        krr(one, other, aggregate="majority")


def test_unknown_aggregates_are_refused() -> None:
    with pytest.raises(ValueError, match="aggregate must be one of mean, median, majority, rank"):
        krr(*replications(seed=1), aggregate="mode")  # type: ignore[arg-type]


def replications(
    *, seed: int, items: int = 40, raters: int = 3, categories: int | None = None
) -> tuple[rb.Ratings, rb.Ratings]:
    """Two replications whose single ratings have an ICC of 0.5, optionally cut into categories."""
    rng = np.random.default_rng(seed)
    merit = rng.normal(0, 1, (items, 1))
    tables = [merit + rng.normal(0, 1, (items, raters)) for _ in range(2)]
    if categories is None:
        return rb.Ratings.from_wide(tables[0]), rb.Ratings.from_wide(tables[1])
    edges = np.quantile(tables[0], np.arange(1, categories) / categories)
    one, other = (
        rb.Ratings.from_wide(np.searchsorted(edges, table), categories=range(categories))
        for table in tables
    )
    return one, other


def by_mean_squares(table: Array) -> dict[int, float]:
    """ICC(1,k), ICC(2,k) and ICC(3,k) as Shrout & Fleiss (1979) write them."""
    n, k = table.shape
    grand, items, raters = table.mean(), table.mean(axis=1), table.mean(axis=0)
    between = k * ((items - grand) ** 2).sum() / (n - 1)
    within = ((table - items[:, None]) ** 2).sum() / (n * (k - 1))
    of_raters = n * ((raters - grand) ** 2).sum() / (k - 1)
    error = ((table - items[:, None] - raters + grand) ** 2).sum() / ((n - 1) * (k - 1))
    return {
        1: (between - within) / between,
        2: (between - error) / (between + (of_raters - error) / n),
        3: (between - error) / between,
    }
