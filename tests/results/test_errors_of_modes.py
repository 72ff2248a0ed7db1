"""Monte Carlo errors over several modes, against exact sums and repeated estimates of masses."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import gammaln, logsumexp

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.results.chain_statistics import measures
from reliabayes.results.errors_of_modes import with_errors_of_modes
from reliabayes.results.modes import Mode

pytestmark = pytest.mark.slow


def two_camps(seed: int, n_items: int, accuracy: float) -> Array:
    """Categories (items, 4) by two raters who follow a criterion, and two who follow another."""
    rng = np.random.default_rng(seed)
    camps = []
    for _ in range(2):
        truth = rng.integers(0, 2, (n_items, 1))
        camps.append(np.where(rng.random((n_items, 2)) < accuracy, truth, 1 - truth))
    return np.hstack(camps)


def exact_means(rated: Array, prevalence: Array, confusion: Array) -> Array:
    """Posterior means of prevalence and confusion by a sum over all true categories.

    Items with the same ratings are exchangeable, so that the sum is over how many of each kind are
    of the second category. Given these, all is Dirichlet.
    """
    kinds, number = np.unique(rated, axis=0, return_counts=True)
    every = np.meshgrid(*[np.arange(n + 1) for n in number], indexing="ij")
    second = np.stack(every, -1).reshape(-1, len(number))
    by_truth = number - second, second
    log = (gammaln(number + 1) - sum(gammaln(part + 1) for part in by_truth)).sum(axis=1)
    means = []

    def add(counts: Array, prior: Array) -> None:
        nonlocal log
        after = counts + prior
        log = log + gammaln(after).sum(axis=1) - gammaln(after.sum(axis=1))
        means.append(after / after.sum(axis=1, keepdims=True))

    add(np.stack([part.sum(axis=1) for part in by_truth], 1), prevalence)
    for rater in range(rated.shape[1]):
        for part, prior in zip(by_truth, confusion, strict=True):
            given = [part @ (kinds[:, rater] == category) for category in (0, 1)]
            add(np.stack(given, 1), prior)
    return np.asarray(np.exp(log - logsumexp(log)) @ np.concatenate(means, axis=1))


def scores(seed: int, n_items: int, accuracy: float, of_fit: int) -> Array:
    """Errors of posterior means in Monte Carlo standard errors."""
    rated = two_camps(seed, n_items, accuracy)
    ratings = rb.Ratings.from_wide(pd.DataFrame(rated), scale="nominal")
    model = rb.DawidSkene()
    priors: Any = model.problem(ratings).priors
    exact = exact_means(rated, priors["prevalence"], priors["confusion"][0])

    fit = model.fit(ratings, seed=of_fit, progress=False)

    found = fit.summary(names=["prevalence", "confusion"])
    return np.asarray((found["mean"] - exact) / found["mcse"])


# At the first, chains leave the lighter mode, which has 0.14, and hardly ever the heavier one; at
# the second, the lighter one has 0.005.
@pytest.mark.parametrize(
    ("seed", "n_items", "accuracy", "of_fit"),
    [pytest.param(3, 30, 0.9, 6, marks=pytest.mark.proof), (51, 40, 0.98, 2)],
)
def test_means_over_modes_are_those_of_exact_enumeration(
    seed: int, n_items: int, accuracy: float, of_fit: int
) -> None:
    found = scores(seed, n_items, accuracy, of_fit)

    assert np.abs(found).max() < 4.5


@pytest.mark.proof
def test_monte_carlo_errors_are_right_on_average_over_tables_of_two_camps() -> None:
    found = np.concatenate(
        [
            scores(seed, n_items, accuracy, of_fit)
            for n_items, accuracy in ((20, 0.97), (40, 0.98), (30, 0.9))
            for seed in (51, 1, 2, 3)
            for of_fit in range(1, 7)
        ]
    )

    assert 0.6 < np.mean(found**2) < 1.4
    assert np.abs(found).max() < 4.5


def test_errors_of_means_are_those_that_repeated_estimates_of_masses_have() -> None:
    rng = np.random.default_rng(1)
    share, error, repeats = 0.3, 0.1, 400
    means, stated = [], []
    for _ in range(repeats):
        ratio = np.exp(rng.normal(np.log(share / (1 - share)), error * np.sqrt(2)))
        estimated = ratio / (1 + ratio)
        number = round(250 * estimated)
        of_draw = rng.permuted(np.tile(np.arange(250) < number, (4, 1)), axis=1).astype(np.int32)
        draws = (rng.standard_normal((4, 250)) + 5 * of_draw)[None]
        modes = (Mode(1 - estimated, error, 0.0, 1), Mode(estimated, error, 0.0, 1))
        found = with_errors_of_modes(measures(draws), draws, of_draw, modes)
        means.append(draws.mean())
        stated.append(found["mcse"][0])

    assert np.std(means) == pytest.approx(np.sqrt(np.mean(np.square(stated))), rel=0.15)


def test_numbers_that_are_alike_at_all_modes_keep_their_errors() -> None:
    rng = np.random.default_rng(2)
    draws, of_draw = rng.standard_normal((1, 4, 250)), rng.integers(0, 2, (4, 250)).astype(np.int32)
    modes = (Mode(0.5, 0.2, 0.0, 1), Mode(0.5, 0.2, 0.0, 1))
    before = measures(draws)

    after = with_errors_of_modes(before, draws, of_draw, modes)

    assert after["mcse"][0] == pytest.approx(before["mcse"][0], rel=0.05)
    assert after["ess_bulk"][0] == pytest.approx(before["ess_bulk"][0], rel=0.1)
