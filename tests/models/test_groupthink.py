"""Raters who follow the ratings before theirs, and what the published model says of itself."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import logsumexp, xlogy

import reliabayes as rb
from reliabayes.families.categories.groupthink import association, earlier_proportions
from tests.models.test_annotation import check_gradient, log_density

EARLIER = rb.Groupthink(shares="earlier")
MODELS: dict[str, Any] = {
    "groupthink": EARLIER,
    "rater-groupthink": rb.RaterGroupthink(shares="earlier", prevalence="shared"),
}
every_model = pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)


@pytest.fixture
def ratings() -> rb.Ratings:
    frame = pd.DataFrame(
        {"item": [1, 1, 1, 1, 2, 2, 3], "rater": [1, 2, 3, 4, 2, 4, 3], "rating": list("aabacbc")}
    )
    return rb.Ratings.from_frame(frame, categories=list("abc"), scale="nominal")


def test_a_rating_follows_those_before_it_and_one_of_any_category(ratings: rb.Ratings) -> None:
    found = earlier_proportions(ratings)

    third = 1 / 3
    expected = [
        third,  # nobody to follow
        (1 + third) / 2,  # after one a
        third / 3,  # the first b after two a
        (2 + third) / 4,  # after two a and a b
        third,
        third / 2,
        third,
    ]
    assert found.tolist() == pytest.approx(expected)


@every_model
def test_density_is_that_of_raters_one_after_another(model: Any, ratings: rb.Ratings) -> None:
    rng = np.random.default_rng(2)
    points = [dict(model.draw_parameters(ratings, rng, categories=list("abc"))) for _ in range(2)]

    found = [log_density(model, ratings, point) for point in points]

    expected = [one_after_another(point, ratings) for point in points]
    assert np.diff(found) == pytest.approx(np.diff(expected), abs=1e-9)


def one_after_another(point: Any, ratings: rb.Ratings) -> float:
    """Log-likelihood in plain loops: by item, true category and rater. All priors are uniform."""
    total = 0.0
    for item in range(ratings.n_items):
        rows = np.flatnonzero(ratings.item == item)
        by_truth = np.ravel(point["prevalence"]).copy()
        for truth in range(3):
            votes = np.full(3, 1 / 3)
            for row in rows:
                rated = ratings.category[row]
                a = np.ravel(point["a"])[ratings.rater[row] % np.size(point["a"])]
                by_truth[truth] *= a * (rated == truth) + (1 - a) * votes[rated] / votes.sum()
                votes[rated] += 1
        total += math.log(by_truth.sum())
    return total


@pytest.mark.parametrize("most", [6, 600])
def test_published_density_is_a_sum_over_true_categories(most: int) -> None:
    ratings, prevalence = equal_ratings(most), [0.2, 0.5, 0.3]
    accuracies = [0.01, 0.6, 0.99]  # of 600 ratings, products of the last two exceed all numbers

    found = [
        log_density(
            rb.Groupthink(), ratings, {"prevalence": np.array(prevalence), "a": np.array(a)}
        )
        for a in accuracies
    ]

    counts = ratings.counts[:, None]
    followed = counts / counts.sum(axis=2, keepdims=True)
    probabilities = [a * np.eye(3) + (1 - a) * followed for a in accuracies]
    by_truth = [xlogy(counts, each).sum(axis=2) for each in probabilities]
    expected = [logsumexp(each, b=prevalence, axis=1).sum() for each in by_truth]
    assert np.diff(found) == pytest.approx(np.diff(expected), rel=1e-12)


@pytest.mark.parametrize("most", [6, 600])
def test_gradient_of_published_density_equals_finite_differences(most: int) -> None:
    check_gradient(rb.Groupthink(), equal_ratings(most))


@pytest.mark.slow
def test_start_knows_that_followers_say_nothing_of_the_prevalence() -> None:
    ratings = rb.Groupthink().simulate(
        rb.simulate.crossed(300, 6), np.random.default_rng(4), parameters={"a": 0.3}
    )
    model = rb.Groupthink()

    start = model.start(model.problem(ratings))

    fit = model.fit(ratings, seed=1, progress=False)
    prevalence = fit.to_arviz().posterior["prevalence"].values
    sd = model.parameters()[0].unconstrain(prevalence).std(axis=(0, 1))
    assert start.sd["prevalence"] == pytest.approx(sd, rel=0.25)


def test_start_counts_known_true_categories() -> None:
    frame = equal_ratings(6).to_frame().assign(gold=lambda x: x["item"] % 2)
    crowd = pd.concat([frame.assign(item=frame["item"] + 4 * k) for k in range(50)])
    model = rb.Groupthink()

    sds = [
        model.start(model.problem(rb.Ratings.from_frame(crowd, scale="nominal", gold=gold))).sd
        for gold in (None, "gold")
    ]

    assert sds[0]["prevalence"][0] > 1
    assert sds[1]["prevalence"][0] == pytest.approx(math.sqrt(1 / 100 + 1 / 101), rel=0.05)


def test_association_is_the_variance_of_rows_that_columns_explain() -> None:
    assert association(np.array([[30.0, 0], [0, 70]])) == 1
    assert association(np.array([[3.0, 9], [2, 6]])) == pytest.approx(0, abs=1e-15)
    # Of two categories it is the squared correlation.
    assert association(np.array([[40.0, 10], [10, 40]])) == pytest.approx(0.6**2)


def equal_ratings(most: int) -> rb.Ratings:
    """Ratings of four items, two of which are alike, up to so many of a category."""
    counts = np.array([[most, most // 2, 0], [1, 0, most], [most, most // 2, 0], [0, 2, 0]])
    item, category = np.indices(counts.shape).reshape(2, -1).repeat(counts.ravel(), axis=1)
    frame = pd.DataFrame({"item": item, "rating": category})
    frame["rater"] = frame.groupby("item").cumcount()
    return rb.Ratings.from_frame(frame, scale="nominal")


@pytest.mark.slow
@every_model
def test_gradient_equals_finite_differences(model: Any, ratings: rb.Ratings) -> None:
    check_gradient(model, ratings)


def test_second_rater_repeats_the_first_three_times_of_four_if_nobody_knows() -> None:
    design = rb.simulate.crossed(4000, 2)
    rng = np.random.default_rng(1)

    ratings = EARLIER.simulate(design, rng, parameters={"a": 1e-9, "prevalence": [0.5, 0.5]})

    # Of the two votes that can be followed, one is the first rating and one is of any category.
    repeats = (ratings.counts == 2).any(axis=1).mean()
    assert repeats == pytest.approx((1 + 1 / 2) / 2, abs=4 * math.sqrt(0.75 * 0.25 / 4000))


@pytest.mark.slow
def test_accuracy_is_recovered_where_the_published_shares_hide_it() -> None:
    truth = {"a": 0.7, "prevalence": [0.7, 0.3]}
    ratings = EARLIER.simulate(
        rb.simulate.crossed(300, 6), np.random.default_rng(3), parameters=truth
    )

    earlier, published = (
        model.fit(ratings, seed=1, draws=300).quantities["a"].quantile([0.01, 0.99]).values
        for model in (EARLIER, rb.Groupthink())
    )

    assert earlier[0] < 0.7 < earlier[1]
    assert published[1] < 0.1


def test_results_of_the_published_shares_say_what_they_cannot_show(ratings: rb.Ratings) -> None:
    published = rb.Groupthink().em(ratings).summary()
    earlier = EARLIER.em(ratings).summary()

    assert "contain the rating itself" in published.attrs["caution"]
    assert earlier.attrs["caution"] == ""


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_printed_fits_say_what_the_published_shares_cannot_show(ratings: rb.Ratings) -> None:
    fit = rb.Groupthink().fit(ratings, seed=1, draws=50, warmup=50, progress=False)

    for shown in (str(fit), fit._repr_html_()):
        assert "The accuracy a therefore falls to nearly 0" in " ".join(shown.split())


def test_earlier_ratings_must_be_known() -> None:
    counts = rb.Ratings.from_counts(np.array([[3, 0], [1, 2]]))

    with pytest.raises(rb.RatingsError, match="it must be known who gave each rating"):
        EARLIER.em(counts)


def test_unknown_shares_are_refused() -> None:
    with pytest.raises(ValueError, match="shares must be 'all' or 'earlier', not 'own'"):
        rb.Groupthink(shares="own")  # type: ignore[arg-type]


@pytest.mark.calibration
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_published_shares_cover_no_accuracy_and_earlier_ones_do() -> None:
    covered: dict[str, list[bool]] = {"all": [], "earlier": []}
    for seed in range(60):
        rng = np.random.default_rng([seed, 4])
        truth: Any = {"a": rng.uniform(0.2, 0.9), "prevalence": [0.7, 0.3]}
        ratings = EARLIER.simulate(rb.simulate.crossed(200, 6), rng, parameters=truth)
        for model in (rb.Groupthink(), EARLIER):
            fit = model.fit(ratings, seed=seed, progress=False)
            lower, upper = fit.quantities["a"].quantile([0.05, 0.95]).values
            covered[model.shares].append(lower < truth["a"] < upper)

    print({shares: sum(each) for shares, each in covered.items()}, "of 60")
    assert sum(covered["all"]) == 0
    assert 47 <= sum(covered["earlier"]) <= 60  # binomial(60, 0.9): 0.999
