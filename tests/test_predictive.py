"""Whether a model gives ratings such as were seen."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

import reliabayes as rb
from reliabayes import datasets, predictive
from reliabayes.predictive import PredictiveChecks, overall_p_value


def fitted(model: Any, ratings: rb.Ratings) -> rb.Fit:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        fit: rb.Fit = model.fit(ratings, chains=2, draws=250, seed=1)
    return fit


def random_ratings(items: int, raters: int, ratings: int, seed: int = 1) -> rb.Ratings:
    """Incomplete, with replicates, in three categories."""
    rng = np.random.default_rng(seed)
    columns = {
        "item": rng.integers(0, items, ratings),
        "rater": rng.integers(0, raters, ratings),
        "rating": rng.choice(["no", "perhaps", "yes"], ratings),
    }
    return rb.Ratings.from_frame(pd.DataFrame(columns), replicates="keep")


def same(ratings: rb.Ratings) -> PredictiveChecks:
    """Checks with two replicates that are the ratings themselves."""
    return PredictiveChecks.of(ratings, [ratings.category] * 2, prob=0.9)


@pytest.fixture(scope="module")
def simulated() -> rb.Ratings:
    """Ratings by raters of different accuracy, four of six of each item."""
    rng = np.random.default_rng(1)
    rater = np.argsort(rng.random((400, 6)), axis=1)[:, :4]
    design = pd.DataFrame({"item": np.repeat(np.arange(400), 4), "rater": rater.ravel()})
    said_no = [(0.9, 0.1), (0.9, 0.4), (0.6, 0.1), (0.7, 0.3), (0.8, 0.1), (0.9, 0.2)]
    confusion = [[[right, 1 - right], [wrong, 1 - wrong]] for right, wrong in said_no]
    parameters = {"prevalence": [0.6, 0.4], "confusion": confusion}
    return rb.DawidSkene().simulate(design, rng, categories=["no", "yes"], parameters=parameters)


def test_dawid_skene_does_not_give_the_votes_on_dental_x_rays(
    dataset: Callable[[str], pd.DataFrame],
) -> None:
    """Dentists disagree more on some X-rays than on others of the same true category."""
    fit = fitted(rb.DawidSkene(), rb.Ratings.from_frame(dataset("caries")))

    checks = fit.check()

    all_positive = checks.votes.query("category == 1 and votes == 5").iloc[0]
    assert checks.p_values["votes"] == pytest.approx(1 / 201)
    assert checks.p_values["raters"] > 0.5
    assert all_positive["observed"] == 100
    assert all_positive["upper_90"] < 90


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_model_with_difficulty_gives_the_votes_on_dental_x_rays(
    dataset: Callable[[str], pd.DataFrame],
) -> None:
    ratings = rb.Ratings.from_frame(dataset("caries"))

    fit = rb.LatentTAP().fit(ratings, seed=1, chains=2, warmup=150, draws=100)

    assert fit.check().p_values["votes"] > 0.05


def test_model_that_gave_the_ratings_passes(simulated: rb.Ratings) -> None:
    checks = fitted(rb.DawidSkene(), simulated).check()

    assert checks.p_values.index.tolist() == ["votes", "raters", "pairs"]
    assert (checks.p_values > 0.1).all()


def test_raters_who_differ_are_not_all_alike(simulated: rb.Ratings) -> None:
    checks = fitted(rb.TAP(), simulated).check()

    assert checks.p_values["raters"] == checks.p_values["pairs"] == pytest.approx(1 / 201)


def test_replicates_of_one_rater_are_counted() -> None:
    frame = datasets.load("dawid_skene_1979")
    ratings = rb.Ratings.from_frame(frame, replicates="keep")

    checks = fitted(rb.DawidSkene(), ratings).check(draws=50)

    assert checks.replicates == 50
    assert checks.pairs is not None
    assert checks.pairs["common"].tolist() == [135] * 4 + [45] * 6
    assert checks.p_values["votes"] > 0.05


def test_seed_tells_the_replicates(simulated: rb.Ratings) -> None:
    fit = fitted(rb.DawidSkene(), simulated)

    one, same_seed, other = fit.check(20), fit.check(20, seed=1), fit.check(20, seed=2)

    pd.testing.assert_frame_equal(one.votes, same_seed.votes)
    assert not one.votes.equals(other.votes)


def test_items_are_counted_by_their_votes() -> None:
    frame = pd.DataFrame(
        {
            "item": ["a", "a", "a", "b", "b", "c"],
            "rater": ["x", "y", "z", "x", "y", "x"],
            "rating": ["no", "yes", "yes", "yes", "yes", "no"],
        }
    )

    votes = same(rb.Ratings.from_frame(frame)).votes

    assert votes["category"].tolist() == ["no"] * 4 + ["yes"] * 4
    assert votes["votes"].tolist() == [0, 1, 2, 3] * 2
    assert votes["observed"].tolist() == [1, 2, 0, 0, 1, 0, 2, 0]


def test_raters_are_counted_by_category() -> None:
    ratings = random_ratings(items=30, raters=8, ratings=200)

    raters = same(ratings).raters

    assert raters is not None
    frame = ratings.to_frame()
    expected = pd.crosstab(frame["rater"], frame["rating"])
    found = raters.pivot(index="rater", columns="category", values="observed")
    np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("items", [10, 300], ids=["dense", "sparse"])
def test_agreement_is_that_of_all_ratings_two_raters_gave_to_the_same_item(items: int) -> None:
    ratings = random_ratings(items, raters=8, ratings=300)

    pairs = same(ratings).pairs

    assert pairs is not None
    frame = ratings.to_frame().astype({"rating": str})
    both = frame.merge(frame, on="item", suffixes=("", "_other")).query("rater < rater_other")
    agree = (both["rating"] == both["rating_other"]).groupby([both["rater"], both["rater_other"]])
    found = pairs.set_index(["rater", "other"])
    assert found.index.tolist() == agree.mean().index.tolist()
    np.testing.assert_allclose(found["observed"], agree.mean())
    np.testing.assert_array_equal(found["common"], agree.size())


def test_of_many_raters_the_busiest_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = random_ratings(items=40, raters=8, ratings=300)
    busiest = pd.Series(ratings.ratings_per_rater, ratings.raters).nlargest(3).index
    all_pairs = same(ratings).pairs
    monkeypatch.setattr(predictive, "MOST_RATERS", 3)

    pairs = same(ratings).pairs

    assert all_pairs is not None
    are_busy = all_pairs["rater"].isin(busiest) & all_pairs["other"].isin(busiest)
    assert pairs is not None
    pd.testing.assert_frame_equal(pairs, all_pairs[are_busy].reset_index(drop=True))


def test_raters_without_common_items_are_no_pairs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(predictive, "MOST_RATERS", 2)
    columns = {"item": [1, 2, 3, 4, 4], "rater": list("xxyyz"), "rating": [0, 1, 0, 1, 1]}

    checks = same(rb.Ratings.from_frame(pd.DataFrame(columns)))

    assert checks.pairs is None
    assert checks.p_values.index.tolist() == ["votes", "raters"]


def test_of_anonymous_raters_only_the_votes_are_checked() -> None:
    counts = pd.DataFrame({"no": [3, 2, 0, 1, 3], "yes": [0, 1, 3, 2, 0]})
    fit = fitted(rb.TAP(), rb.Ratings.from_counts(counts))

    checks = fit.check(draws=20)

    assert checks.p_values.index.tolist() == ["votes"]
    assert (checks.raters, checks.pairs) == (None, None)


def test_replicates_are_summed_up_beside_the_observed_number() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": [1, 2, 1, 2], "rating": [0, 1, 1, 1]})
    ratings = rb.Ratings.from_frame(frame)
    replicates = [codes(0, 0, 1, 1), codes(1, 1, 1, 1), codes(0, 1, 1, 1), codes(0, 1, 0, 1)]

    checks = PredictiveChecks.of(ratings, replicates, prob=0.5)

    assert checks.raters is not None
    assert checks.pairs is not None
    summary = ["observed", "mean", "lower_50", "upper_50"]
    assert checks.pairs[summary].iloc[0].tolist() == [0.5, 0.625, 0.375, 1]
    assert checks.raters["observed"].tolist() == [1, 1, 0, 2]
    assert checks.raters["mean"].tolist() == [1, 1, 0.25, 1.75]


def test_p_value_of_a_number_is_two_sided() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2, 2], "rater": [1, 2, 1, 2], "rating": [0, 0, 1, 1]})
    ratings = rb.Ratings.from_frame(frame)
    below, as_seen = [codes(0, 1, 0, 1)] * 18, [ratings.category]

    checks = PredictiveChecks.of(ratings, below + as_seen, prob=0.9)

    assert checks.pairs is not None
    assert checks.pairs["p_value"].tolist() == [2 * 2 / 20]  # 1 of 19 is as high
    assert same(ratings).votes["p_value"].tolist() == [1.0] * 6


def test_each_data_set_among_others_has_its_rank_as_p_value() -> None:
    counts = np.random.default_rng(1).poisson(3, (20, 7))

    p_values = [overall_p_value(np.roll(counts, shift, axis=0)) for shift in range(20)]

    assert sorted(p_values) == pytest.approx(np.arange(1, 21) / 20)


def test_numbers_that_never_change_say_nothing() -> None:
    varying = np.array([[4], [1], [2], [3], [9]])
    still = np.full((5, 3), 7)

    assert overall_p_value(still) == 1
    assert overall_p_value(np.hstack([varying, still])) == overall_p_value(varying)


def test_checks_show_what_they_found() -> None:
    assert repr(same(random_ratings(items=10, raters=3, ratings=30))) == (
        "PredictiveChecks(votes p = 1.000, raters p = 1.000, pairs p = 1.000; 2 replicates)"
    )


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
