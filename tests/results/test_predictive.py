"""Posterior predictive checks detect models that do not fit the ratings."""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import reliabayes as rb
from reliabayes import datasets
from reliabayes.results import discrepancies
from reliabayes.results.predictive import PredictiveChecks, overall_p_value

# A p-value of 200 replicates has a Monte Carlo error of sqrt(p (1 - p) / 200). Whatever the draws,
# checks that fail here have one below 0.01, of which fewer than one in 10,000 is found above 0.05;
# checks that pass have one above 0.3, which is six errors above 0.1.
FAILS, PASSES = 0.05, 0.1


@functools.cache
def fitted(model: Any, ratings: rb.Ratings) -> rb.Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        fit: rb.Fit = model.fit(ratings, chains=2, draws=250, seed=1)
    return fit


@functools.cache
def rated(departure: str) -> rb.Ratings:
    """Numbers by four of six raters per item: normal, except for one departure."""
    rng = np.random.default_rng(1)
    rater = np.argsort(rng.random((150, 6)), axis=1)[:, :4].ravel()
    item = np.repeat(np.arange(150), 4)
    score, severity = rng.normal(size=150), rng.normal(0, 0.5, 6)
    residual, own = rng.normal(0, 0.7, 600), rng.normal(0, 0.7, 150)
    residuals: dict[str, Any] = {
        "heavy tails": 0.4 * rng.standard_t(2, 600),
        "disputed items": residual * rng.lognormal(0, 0.8, 150)[item],
        "careless raters": residual * np.array([0.3, 1, 1, 1, 1, 2])[rater],
        "raters who copy": np.where(rater < 2, own[item], residual),
    }
    scores = {"two kinds of items": 1.5 * np.sign(score)}
    value = (
        scores.get(departure, score)[item] + severity[rater] + residuals.get(departure, residual)
    )
    value = np.maximum(value, -1) if departure == "a floor" else value
    return rb.Ratings.from_frame(pd.DataFrame({"item": item, "rater": rater, "rating": value}))


def random_ratings(items: int, raters: int, ratings: int, seed: int = 1) -> rb.Ratings:
    """Incomplete ratings with replicates in three categories."""
    rng = np.random.default_rng(seed)
    columns = {
        "item": rng.integers(0, items, ratings),
        "rater": rng.integers(0, raters, ratings),
        "rating": rng.choice(["no", "perhaps", "yes"], ratings),
    }
    return rb.Ratings.from_frame(pd.DataFrame(columns), replicates="keep")


def random_numbers(items: int, raters: int, ratings: int) -> rb.Ratings:
    """Incomplete numbers with replicates."""
    frame = random_ratings(items, raters, ratings).to_frame()
    values = np.random.default_rng(1).normal(50, 2, ratings)
    return rb.Ratings.from_frame(frame.assign(rating=values), replicates="keep")


def checks_against_itself(ratings: rb.Ratings) -> PredictiveChecks:
    """Checks with two replicates that equal the ratings."""
    return PredictiveChecks.of_categories(ratings, [ratings.category] * 2, prob=0.9)


def number_checks_against_itself(ratings: rb.Ratings) -> PredictiveChecks:
    """Checks of numbers with two replicates that equal the ratings."""
    return PredictiveChecks.of_numbers(ratings, [ratings.values] * 2, prob=0.9)


@pytest.fixture(scope="module")
def simulated() -> rb.Ratings:
    """Ratings by raters of different accuracy, four of six per item."""
    rng = np.random.default_rng(1)
    rater = np.argsort(rng.random((400, 6)), axis=1)[:, :4]
    design = pd.DataFrame({"item": np.repeat(np.arange(400), 4), "rater": rater.ravel()})
    said_no = [(0.9, 0.1), (0.9, 0.4), (0.6, 0.1), (0.7, 0.3), (0.8, 0.1), (0.9, 0.2)]
    confusion = [[[right, 1 - right], [wrong, 1 - wrong]] for right, wrong in said_no]
    parameters = {"prevalence": [0.6, 0.4], "confusion": confusion}
    return rb.DawidSkene().simulate(design, rng, categories=["no", "yes"], parameters=parameters)


@pytest.mark.slow
def test_dawid_skene_misses_the_votes_on_dental_x_rays(
    dataset: Callable[[str], pd.DataFrame],
) -> None:
    """Some X-rays are harder than others of the same true category."""
    fit = fitted(rb.DawidSkene(), rb.Ratings.from_frame(dataset("caries")))

    checks = fit.check()

    assert checks.votes is not None
    all_positive = checks.votes.query("category == 1 and votes == 5").iloc[0]
    assert checks.p_values["votes"] < FAILS
    assert checks.p_values["raters"] > 0.5
    assert all_positive["observed"] == 100
    assert all_positive["upper_90"] < 90


@pytest.mark.posteriors
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_model_with_item_difficulty_fits_the_votes_on_dental_x_rays(
    dataset: Callable[[str], pd.DataFrame],
) -> None:
    ratings = rb.Ratings.from_frame(dataset("caries"))

    fit = rb.LatentTAP().fit(ratings, seed=1, chains=2, warmup=150, draws=100)

    assert fit.check().p_values["votes"] > PASSES


@pytest.mark.slow
def test_model_that_generated_the_ratings_passes(simulated: rb.Ratings) -> None:
    checks = fitted(rb.DawidSkene(), simulated).check()

    assert checks.p_values.index.tolist() == ["votes", "raters", "pairs"]
    assert (checks.p_values > PASSES).all()


@pytest.mark.slow
def test_model_of_exchangeable_raters_fails_when_raters_differ(simulated: rb.Ratings) -> None:
    checks = fitted(rb.TAP(), simulated).check()

    assert (checks.p_values[["raters", "pairs"]] < FAILS).all()


@pytest.mark.slow
def test_replicates_of_one_rater_are_counted() -> None:
    frame = datasets.load("dawid_skene_1979")
    ratings = rb.Ratings.from_frame(frame, replicates="keep")

    checks = fitted(rb.DawidSkene(), ratings).check(draws=300)

    assert checks.replicates == 300
    assert checks.pairs is not None
    assert checks.pairs["common"].tolist() == [135] * 4 + [45] * 6
    assert checks.p_values["votes"] > 0.1  # 0.27 in the long run, six Monte Carlo errors away


def test_seed_determines_the_replicates(simulated: rb.Ratings) -> None:
    fit = fitted(rb.DawidSkene(), simulated)
    seed = fit.settings.seed

    default, same_seed, other = (
        fit.check(20),
        fit.check(20, seed=seed),
        fit.check(20, seed=seed + 1),
    )

    votes = [checks.votes for checks in (default, same_seed, other)]
    assert votes[0] is not None
    assert votes[1] is not None
    assert votes[2] is not None
    pd.testing.assert_frame_equal(votes[0], votes[1])
    assert not votes[0].equals(votes[2])


def test_items_are_counted_by_number_of_votes() -> None:
    frame = pd.DataFrame(
        {
            "item": ["a", "a", "a", "b", "b", "c"],
            "rater": ["x", "y", "z", "x", "y", "x"],
            "rating": ["no", "yes", "yes", "yes", "yes", "no"],
        }
    )

    votes = checks_against_itself(rb.Ratings.from_frame(frame)).votes

    assert votes is not None
    assert votes["category"].tolist() == ["no"] * 4 + ["yes"] * 4
    assert votes["votes"].tolist() == [0, 1, 2, 3] * 2
    assert votes["observed"].tolist() == [1, 2, 0, 0, 1, 0, 2, 0]


def test_ratings_are_counted_by_rater_and_category() -> None:
    ratings = random_ratings(items=30, raters=8, ratings=200)

    raters = checks_against_itself(ratings).raters

    assert raters is not None
    frame = ratings.to_frame()
    expected = pd.crosstab(frame["rater"], frame["rating"])
    found = raters.pivot(index="rater", columns="category", values="observed")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("items", [10, 300], ids=["dense", "sparse"])
def test_agreement_covers_all_pairs_of_ratings_of_the_same_item(items: int) -> None:
    ratings = random_ratings(items, raters=8, ratings=300)

    pairs = checks_against_itself(ratings).pairs

    assert pairs is not None
    frame = ratings.to_frame().astype({"rating": str})
    both = frame.merge(frame, on="item", suffixes=("", "_other")).query("rater < rater_other")
    agree = (both["rating"] == both["rating_other"]).groupby([both["rater"], both["rater_other"]])
    found = pairs.set_index(["rater", "other"])
    assert found.index.tolist() == agree.mean().index.tolist()
    np.testing.assert_allclose(found["observed"], agree.mean())
    np.testing.assert_array_equal(found["common"], agree.size())


def test_only_raters_with_most_ratings_are_compared_in_pairs(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    ratings = random_ratings(items=40, raters=8, ratings=300)
    busiest = pd.Series(ratings.ratings_per_rater, ratings.raters).nlargest(3).index
    all_pairs = checks_against_itself(ratings).pairs
    monkeypatch.setattr(discrepancies, "MOST_RATERS", 3)

    pairs = checks_against_itself(ratings).pairs

    assert all_pairs is not None
    both_compared = all_pairs["rater"].isin(busiest) & all_pairs["other"].isin(busiest)
    assert pairs is not None
    pd.testing.assert_frame_equal(pairs, all_pairs[both_compared].reset_index(drop=True))


def test_raters_without_common_items_are_not_paired(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(discrepancies, "MOST_RATERS", 2)
    columns = {"item": [1, 2, 3, 4, 4], "rater": list("xxyyz"), "rating": [0, 1, 0, 1, 1]}

    checks = checks_against_itself(rb.Ratings.from_frame(pd.DataFrame(columns)))

    assert checks.pairs is None
    assert checks.p_values.index.tolist() == ["votes", "raters"]


def test_only_votes_are_checked_for_anonymous_raters() -> None:
    counts = pd.DataFrame({"no": [3, 2, 0, 1, 3], "yes": [0, 1, 3, 2, 0]})
    fit = fitted(rb.TAP(), rb.Ratings.from_counts(counts))

    checks = fit.check(draws=20)

    assert checks.p_values.index.tolist() == ["votes"]
    assert (checks.raters, checks.pairs) == (None, None)


def test_replicates_are_summarised_beside_the_observed_value() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": [1, 2, 1, 2], "rating": [0, 1, 1, 1]})
    ratings = rb.Ratings.from_frame(frame)
    replicates = [codes(0, 0, 1, 1), codes(1, 1, 1, 1), codes(0, 1, 1, 1), codes(0, 1, 0, 1)]

    checks = PredictiveChecks.of_categories(ratings, replicates, prob=0.5)

    assert checks.raters is not None
    assert checks.pairs is not None
    summary = ["observed", "mean", "lower_50", "upper_50"]
    assert checks.pairs[summary].iloc[0].tolist() == [0.5, 0.625, 0.375, 1]
    assert checks.raters["observed"].tolist() == [1, 1, 0, 2]
    assert checks.raters["mean"].tolist() == [1, 1, 0.25, 1.75]


def test_p_value_of_a_statistic_is_two_sided() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": [1, 2, 1, 2], "rating": [0, 0, 1, 1]})
    ratings = rb.Ratings.from_frame(frame)
    below, equal = [codes(0, 1, 0, 1)] * 18, [ratings.category]

    checks = PredictiveChecks.of_categories(ratings, below + equal, prob=0.9)

    assert checks.pairs is not None
    assert checks.pairs["p_value"].tolist() == [2 * 2 / 20]  # 1 of 19 replicates is as high
    in_the_middle = checks_against_itself(ratings).raters
    assert in_the_middle is not None
    assert in_the_middle["p_value"].tolist() == [1.0] * 4


def test_overall_p_value_is_a_rank_among_data_sets() -> None:
    counts = np.random.default_rng(1).poisson(3, (20, 7))

    p_values = [overall_p_value(np.roll(counts, shift, axis=0)) for shift in range(20)]

    assert sorted(p_values) == pytest.approx(np.arange(1, 21) / 20)


def test_constant_statistics_do_not_affect_the_overall_p_value() -> None:
    varying = np.array([[4], [1], [2], [3], [9]])
    constant = np.full((5, 3), 7)

    assert overall_p_value(constant) == 1
    assert overall_p_value(np.hstack([varying, constant])) == overall_p_value(varying)


def test_checks_show_their_p_values() -> None:
    assert repr(checks_against_itself(random_ratings(items=10, raters=3, ratings=30))) == (
        "PredictiveChecks(votes p = 1.000, raters p = 1.000, pairs p = 1.000; 2 replicates)"
    )


@pytest.mark.slow
def test_normal_ratings_pass() -> None:
    checks = fitted(rb.GaussianICC(), rated("none")).check()

    assert checks.p_values.index.tolist() == ["ratings", "items", "raters", "pairs"]
    assert (checks.p_values > PASSES).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("departure", "check"),
    [
        ("two kinds of items", "ratings"),
        ("a floor", "ratings"),
        ("heavy tails", "items"),
        ("disputed items", "items"),
        ("careless raters", "raters"),
        ("raters who copy", "pairs"),
    ],
)
def test_departure_from_normality_fails_its_check(departure: str, check: str) -> None:
    checks = fitted(rb.GaussianICC(), rated(departure)).check()

    assert checks.p_values[check] < FAILS


@pytest.mark.slow
def test_copying_and_careless_raters_are_identified() -> None:
    copied = fitted(rb.GaussianICC(), rated("raters who copy")).check().pairs
    careless = fitted(rb.GaussianICC(), rated("careless raters")).check().raters

    assert copied is not None
    assert careless is not None
    closest = copied.sort_values("observed").iloc[0]
    assert closest[["rater", "other"]].tolist() == [0, 1]
    assert closest["observed"] == pytest.approx(0, abs=1e-6)
    assert careless.query("statistic == 'sd' and observed > upper_90")["rater"].tolist() == [5]
    assert (careless.query("statistic == 'mean'")["p_value"] > PASSES).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # of Pareto k
def test_model_of_one_pool_fails_for_two_pools_that_disagree() -> None:
    item, rater = (codes.ravel() for codes in np.mgrid[:150, :6])
    design = pd.DataFrame({"item": item, "rater": rater, "pool": np.where(rater < 3, "a", "b")})
    parameters = {
        "mean": [3, 5],
        "sd_item": [1, 2],
        "sd_rater": 0.5,
        "sd_residual": 0.5,
        "factor_item": [[1, 0], [0.3, np.sqrt(1 - 0.3**2)]],
    }
    ratings = rb.GaussianXCC().simulate(design, np.random.default_rng(1), parameters=parameters)

    right, wrong = (fitted(model, ratings) for model in (rb.GaussianXCC(), rb.GaussianICC()))

    # The smallest is 0.13 in the long run: of 500 replicates, five Monte Carlo errors away.
    assert (right.check(draws=500).p_values > 0.05).all()
    assert wrong.check().p_values["pairs"] < FAILS
    assert rb.compare({"one": wrong, "two": right}).index[0] == "two"


def test_bands_are_bounded_by_quantiles_of_the_observed_values() -> None:
    ratings = random_numbers(items=400, raters=8, ratings=2000)

    bands = number_checks_against_itself(ratings).ratings

    assert bands is not None
    assert bands["observed"].tolist() == [0, 20, 80, 100, *[200] * 8, 100, 80, 20, 0]
    assert bands["above"].tolist() == [-np.inf, *bands["up_to"][:-1]]
    in_third_band = (ratings.values > bands["above"][2]) & (ratings.values <= bands["up_to"][2])
    assert in_third_band.sum() == 80


def test_edges_of_bands_lie_midway_between_rounded_ratings() -> None:
    wide = np.array([[48, 49], [48, 50], [50, 51], [50, 51]])

    bands = number_checks_against_itself(rb.Ratings.from_wide(wide)).ratings

    assert bands is not None
    assert bands["up_to"].tolist() == [47.5, 48.5, 49.5, 50.5, 51.5, np.inf]
    assert bands["observed"].tolist() == [0, 2, 1, 3, 2, 0]


def test_items_are_counted_by_the_sd_of_their_ratings() -> None:
    ratings = random_numbers(items=100, raters=8, ratings=300)

    items = number_checks_against_itself(ratings).items

    assert items is not None
    sd = ratings.to_frame().groupby("item")["rating"].std().dropna()
    bins = pd.cut(sd, [-np.inf, *items["up_to"]]).value_counts(sort=False)
    np.testing.assert_array_equal(items["observed"], bins)
    assert items["observed"].sum() < ratings.n_items


def test_raters_have_a_mean_and_an_sd_around_item_means() -> None:
    ratings = random_numbers(items=30, raters=8, ratings=200)

    raters = number_checks_against_itself(ratings).raters

    assert raters is not None
    frame = ratings.to_frame()
    deviation = frame["rating"] - frame.groupby("item")["rating"].transform("mean")
    found = raters.pivot(index="rater", columns="statistic", values="observed")
    np.testing.assert_allclose(found["mean"], frame.groupby("rater")["rating"].mean())
    np.testing.assert_allclose(found["sd"], deviation.groupby(frame["rater"]).std(ddof=0))


@pytest.mark.parametrize("items", [10, 300], ids=["dense", "sparse"])
def test_sd_of_differences_covers_all_pairs_of_ratings_of_the_same_item(items: int) -> None:
    ratings = random_numbers(items, raters=8, ratings=300)

    pairs = number_checks_against_itself(ratings).pairs

    assert pairs is not None
    frame = ratings.to_frame()
    both = frame.merge(frame, on="item", suffixes=("", "_other")).query("rater < rater_other")
    difference = both["rating"] - both["rating_other"]
    moments = difference.groupby([both["rater"], both["rater_other"]]).agg(["std", "size"])
    expected = moments[moments["size"] > 1]
    found = pairs.set_index(["rater", "other"])
    assert found.index.tolist() == expected.index.tolist()
    np.testing.assert_array_equal(found["common"], expected["size"])
    population_sd = np.sqrt(1 - 1 / expected["size"]) * expected["std"]
    np.testing.assert_allclose(found["observed"], population_sd)


def test_sd_of_differences_needs_two_common_items() -> None:
    columns = {"item": [1, 1, 2, 3], "rater": list("xyxy"), "rating": [1.0, 2.5, 3.0, 4.0]}

    checks = number_checks_against_itself(rb.Ratings.from_frame(pd.DataFrame(columns)))

    assert checks.p_values.index.tolist() == ["ratings", "items", "raters"]
    assert (checks.votes, checks.pairs) == (None, None)


def test_measurements_are_compared_at_any_scale() -> None:
    numbers = np.random.default_rng(1).normal(size=(20, 7))

    p_values = [overall_p_value(scale * numbers, resolution=0) for scale in (1e-6, 1, 1e6)]

    assert len(set(p_values)) == 1
    assert overall_p_value(np.zeros((20, 7)), resolution=0) == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"draws": 0}, "draws must be a whole number from 1, not 0"),
        ({"seed": -1}, "seed must be a whole number from 0, not -1"),
        ({"prob": 1}, "prob must lie strictly between 0 and 1, not 1"),
    ],
)
def test_impossible_options_are_refused(
    simulated: rb.Ratings, options: dict[str, Any], message: str
) -> None:
    fit = fitted(rb.TAP(), simulated)

    with pytest.raises(ValueError, match=message):
        fit.check(**options)


def codes(*categories: int) -> NDArray[np.int32]:
    return np.array(categories, np.int32)
