"""Stated probabilities are tempered log odds, and known answers say by how much."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.special import expit, logit, softmax

from reliabayes.arrays import Codes
from reliabayes.crowds.crowd import crowd_of
from reliabayes.crowds.statement import TYPICAL, Statement, correlation_of
from tests.crowds.simulated import crowd

N_ITEMS = 2_000


def statement(temperature: float, misled: float = 0.01) -> tuple[Statement, Codes]:
    """Log odds of two categories that are too large by a temperature, and the truth."""
    rng = np.random.default_rng(1)
    scores = np.stack([np.zeros(N_ITEMS), rng.normal(0, 6, N_ITEMS)], axis=1)
    truth = (rng.random(N_ITEMS) < expit(scores[:, 1] / temperature)).astype(int)
    at = np.array([0.0, logit(misled)])
    half, log = np.full(2, 0.5), np.full(N_ITEMS, np.log(2.0))
    return Statement(scores, half, log, at, at, np.diag([0.25, 2.25])), truth


def some(truth: Codes, number: int) -> Codes:
    return np.where(np.arange(N_ITEMS) < number, truth, -1)


def test_stated_are_tempered_log_odds_mixed_with_the_prevalence() -> None:
    found, _ = statement(2.0, misled=0.1)

    expected = 0.9 * softmax(found.log_odds / 2, axis=1) + 0.1 * 0.5
    assert found.probabilities() == pytest.approx(expected)


@pytest.mark.parametrize("temperature", [1.2, 2.0, 4.0])
def test_known_answers_find_the_temperature(temperature: float) -> None:
    found, truth = statement(temperature)

    given = found.given(some(truth, 1_000))

    assert 2 * np.exp(given.at[0]) == pytest.approx(temperature, rel=0.15)
    assert given.covariance[0, 0] < 0.1 * found.covariance[0, 0]


def test_information_about_the_temperature_is_that_of_a_logistic_regression() -> None:
    found, _ = statement(2.0, misled=1e-9)

    slope = found.log_odds[:, 1] / 2
    p = expit(slope)
    assert found.information[0, 0] == pytest.approx((p * (1 - p) * slope**2).mean(), rel=1e-3)


def test_more_known_answers_are_expected_to_bring_smaller_errors() -> None:
    found, _ = statement(2.0)

    errors = [found.with_answers(number).calibration_error for number in (0, 50, 500)]
    scores = [found.with_answers(number).log_score for number in (0, 50, 500)]

    assert errors == sorted(errors, reverse=True)
    assert scores == sorted(scores, reverse=True)


def test_expected_gain_of_answers_is_that_of_answers_given() -> None:
    found, truth = statement(2.0)

    expected = found.with_answers(200).covariance[0, 0]

    assert found.given(some(truth, 200)).covariance[0, 0] == pytest.approx(expected, rel=0.3)


def test_an_uncertain_correlation_is_drawn_to_that_of_typical_crowds() -> None:
    assert correlation_of(0.02, 1e-6) == pytest.approx(0.02)
    assert correlation_of(0.02, 0.05) == pytest.approx((0.02 + TYPICAL) / 2)
    assert correlation_of(0.0, np.inf) == TYPICAL


def test_raters_who_err_more_dependently_are_stated_with_less_confidence() -> None:
    votes, _ = crowd("independent", 1)
    found = crowd_of(votes)
    dependent = replace(found, found=replace(found.found, mean=0.2))

    one, two = (Statement.of(each).probabilities().max(axis=1) for each in (found, dependent))

    assert (two < one).all()


@pytest.mark.slow
def test_independent_raters_lose_little_by_it() -> None:
    lost = []
    for seed in range(3):
        votes, truth = crowd("independent", seed)
        found = crowd_of(votes)
        rows = np.arange(len(truth)), truth
        stated, model = Statement.of(found).probabilities(), found.estimate.probability
        lost.append(np.log(model[rows]).mean() - np.log(stated[rows]).mean())

    assert np.mean(lost) < 0.12
