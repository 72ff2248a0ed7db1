"""Hierarchical Dawid-Skene: its program is the model, and raters borrow from one another."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import softmax
from scipy.stats import dirichlet, halfnorm, norm

import reliabayes as rb
from tests.designs import Array
from tests.test_annotation import Point, check_gradient, complete, log_density, random_points

MODEL = rb.HierarchicalDawidSkene()


@pytest.fixture
def ratings() -> rb.Ratings:
    """Three categories; the last rater rates a single item."""
    rng = np.random.default_rng(3)
    frame = complete(10, 3).assign(rating=rng.integers(0, 3, 30))
    frame.loc[30] = {"item": 0, "rater": 3, "rating": 2}
    return rb.Ratings.from_frame(frame, categories=range(3))


def test_program_is_the_model_written_plainly(ratings: rb.Ratings) -> None:
    one, other = random_points(MODEL, ratings)

    found = log_density(MODEL, ratings, one) - log_density(MODEL, ratings, other)

    expected = plain_density(ratings, one) - plain_density(ratings, other)
    assert found == pytest.approx(expected, abs=1e-8)


def test_gradient_is_the_slope_of_the_density(ratings: rb.Ratings) -> None:
    check_gradient(MODEL, ratings)


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_rater_of_a_single_item_is_taken_to_be_like_the_others() -> None:
    truth = {"prevalence": [0.5, 0.5], "location": [-2.0, -1.0], "spread": [0.2, 0.2]}
    ratings = MODEL.simulate(complete(200, 10), np.random.default_rng(1), parameters=truth)
    frame = ratings.to_frame().query("rater < 9 or item == 0")

    fit = MODEL.fit(rb.Ratings.from_frame(frame), seed=1)

    raters = fit.raters()
    others = raters["accuracy"].drop(9)
    typical = fit.quantities["typical_confusion"].mean(("chain", "draw")).values
    assert others.min() < raters.loc[9, "accuracy"] < others.max()
    # Shares of wrong ratings are 0.12 and 0.27, each told by some 900 ratings.
    assert typical[[0, 1], [1, 0]] == pytest.approx([0.119, 0.269], abs=0.06)


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_raters_who_cannot_differ_have_one_confusion_matrix(ratings: rb.Ratings) -> None:
    alike = rb.HierarchicalDawidSkene(prior_spread=rb.HalfNormal(0.01))

    confusion = alike.fit(ratings, seed=1, draws=100, chains=2).quantities["confusion"]

    assert float(confusion.std("rater").mean()) < 0.005


def test_errors_get_rarer_with_the_number_of_categories_they_are_shared_by() -> None:
    two, many = (MODEL.priors(n)["prior_location"][0] for n in (2, 50))

    right = [1 / (1 + (n - 1) * math.exp(mean)) for n, mean in ((2, two), (50, many))]

    assert right[0] == pytest.approx(right[1])


def plain_density(ratings: rb.Ratings, point: Point) -> float:
    """Log density of ratings and parameters, item by item and rater by rater."""
    data = MODEL.data(ratings)
    log_odds = plain_log_odds(point, np.asarray(data["centred"]))
    confusion = np.zeros((ratings.n_raters, 3, 3))
    confusion[:, ~np.eye(3, dtype=bool)] = log_odds.T
    confusion = softmax(confusion, axis=-1)
    total = 0.0
    for item in range(ratings.n_items):
        rows = ratings.item == item
        rated = confusion[ratings.rater[rows], :, ratings.category[rows]]
        total += math.log(point["prevalence"] @ rated.prod(axis=0))
    mean = -2 - math.log(2)
    stretch = (np.log(point["spread"])[:, None] * (1 - np.asarray(data["centred"]))).sum()
    by_error = norm(point["location"][:, None], point["spread"][:, None]).logpdf(log_odds)
    return float(
        total
        + dirichlet(3 * np.ones(3)).logpdf(point["prevalence"])
        + norm(mean, 1).logpdf(point["location"]).sum()
        + halfnorm().logpdf(point["spread"]).sum()
        + by_error.sum()
        + stretch
    )


def plain_log_odds(point: Point, centred: Array) -> Array:
    location, spread = point["location"][:, None], point["spread"][:, None]
    return np.asarray(location + (point["score"] - location * centred) * spread ** (1 - centred))
