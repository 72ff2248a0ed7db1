"""Summaries of draws: mean, sd, median and intervals with the stated probability."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliabayes.arrays import Array
from reliabayes.results.summaries import Interval, describe, interval_bounds

probabilities = st.floats(0.05, 0.95)
seeds = st.integers(0, 2**16)


def test_draws_are_described_by_textbook_formulas() -> None:
    draws = np.array([1.0, 2.0, 3.0, 4.0, 10.0])

    described = describe(draws, 0.5)

    assert described == {
        "mean": 4.0,
        "sd": pytest.approx(np.sqrt(12.5)),
        "median": 3.0,
        "lower_50": 2.0,
        "upper_50": 4.0,
    }


@pytest.mark.parametrize(("prob", "named"), [(0.9, "90"), (0.95, "95"), (0.999, "99.9")])
def test_intervals_are_named_after_their_probability(prob: float, named: str) -> None:
    described = describe(np.arange(10.0), prob)

    assert list(described) == ["mean", "sd", "median", f"lower_{named}", f"upper_{named}"]


def test_units_are_described_one_by_one() -> None:
    draws = np.random.default_rng(1).normal(size=(100, 3))

    described = describe(draws, 0.9)

    for name, values in described.items():
        each = [describe(column, 0.9)[name] for column in draws.T]
        assert values == pytest.approx(np.array(each))


@given(prob=probabilities, seed=seeds)
def test_equal_tailed_interval_has_equal_tails(prob: float, seed: int) -> None:
    draws = np.random.default_rng(seed).gamma(2, size=1000)

    lower, upper = interval_bounds(draws, prob)

    tail = (1 - prob) / 2 * 1000
    assert np.sum(draws < lower) == pytest.approx(tail, abs=1)
    assert np.sum(draws > upper) == pytest.approx(tail, abs=1)


@given(prob=probabilities, seed=seeds)
def test_shortest_interval_has_its_probability_and_none_is_shorter(prob: float, seed: int) -> None:
    draws = np.random.default_rng(seed).gamma(2, size=200)

    lower, upper = interval_bounds(draws, prob, "hdi")

    covered = number_between(draws, lower, upper)
    ordered = np.sort(draws)
    others = ordered[covered - 1 :] - ordered[: len(ordered) - covered + 1]
    assert covered >= prob * len(draws)
    assert upper - lower == pytest.approx(others.min())


def test_shortest_interval_of_skewed_draws_lies_at_the_mode() -> None:
    draws = -np.log(np.arange(1, 10_000) / 10_000)  # quantiles of an exponential

    lower, upper = interval_bounds(draws, 0.9, "hdi")

    assert lower == pytest.approx(0, abs=2e-4)
    assert upper == pytest.approx(np.log(10), abs=2e-3)


@pytest.mark.parametrize("interval", ["equal_tailed", "hdi"])
def test_order_of_draws_does_not_matter(interval: Interval) -> None:
    draws = np.random.default_rng(2).normal(size=500)

    assert interval_bounds(draws[::-1], 0.8, interval) == interval_bounds(draws, 0.8, interval)


@pytest.mark.parametrize("prob", [0, 1, 90, -0.5, np.nan])
def test_impossible_probability_is_refused(prob: float) -> None:
    with pytest.raises(ValueError, match="prob must lie strictly between 0 and 1, not"):
        interval_bounds(np.arange(10.0), prob)


def test_unknown_interval_is_refused() -> None:
    with pytest.raises(ValueError, match="interval must be 'equal_tailed' or 'hdi', not 'eti'"):
        interval_bounds(np.arange(10.0), 0.9, "eti")  # type: ignore[arg-type]


def number_between(draws: Array, lower: float, upper: float) -> int:
    return int(((draws >= lower) & (draws <= upper)).sum())


def test_shortest_intervals_are_computed_unit_by_unit() -> None:
    draws = np.random.default_rng(1).exponential(size=(500, 3))

    lower, upper = interval_bounds(draws, 0.8, "hdi")

    each = [interval_bounds(unit, 0.8, "hdi") for unit in draws.T]
    assert lower.tolist() == [low for low, _ in each]
    assert upper.tolist() == [high for _, high in each]
