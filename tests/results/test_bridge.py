"""Bridge sampling against integrals that are known."""

import numpy as np
import pytest
from scipy import stats

from reliabayes.arrays import Array
from reliabayes.results.bridge import bridge


@pytest.mark.parametrize("size", [1, 3, 20])
def test_mass_of_a_skewed_density_is_its_integral(size: int) -> None:
    rng = np.random.default_rng(3)
    gumbel = stats.gumbel_l()

    def evaluate(points: Array) -> Array:
        return np.asarray(gumbel.logpdf(points).sum(axis=1)) + 5.0

    draws = gumbel.rvs((4000, size), random_state=rng)
    found = bridge(draws, evaluate(draws), evaluate, rng)

    assert found.log == pytest.approx(5.0, abs=4 * found.error)
    assert found.error < 0.05 * np.sqrt(size)


@pytest.mark.slow
def test_error_is_that_of_repeated_estimates() -> None:
    rng = np.random.default_rng(4)
    student = stats.multivariate_t(np.zeros(5), np.eye(5), df=7)

    def log_t(points: Array) -> Array:
        return np.asarray(student.logpdf(points))

    found = []
    for _ in range(100):
        draws = student.rvs(800, random_state=rng)
        found.append(bridge(draws, log_t(draws), log_t, rng))

    log, error = np.array(found).T
    assert np.std(log) == pytest.approx(np.sqrt(np.mean(error**2)), rel=0.25)
    assert np.mean(log) == pytest.approx(0, abs=3 * np.std(log) / 10)


def test_mass_of_a_part_of_the_space() -> None:
    rng = np.random.default_rng(6)
    draws = np.abs(rng.normal(size=(4000, 1)))

    def evaluate(points: Array) -> Array:
        inside = points[:, 0] > 0
        return np.where(inside, stats.norm.logpdf(points[:, 0]), -np.inf)

    found = bridge(draws, evaluate(draws), evaluate, rng)

    assert found.log == pytest.approx(np.log(0.5), abs=4 * found.error)
    assert found.error < 0.05


def test_error_is_large_without_overlap() -> None:
    rng = np.random.default_rng(5)
    draws = rng.permutation(np.concatenate([rng.normal(at, 0.1, (200, 1)) for at in (-40, 40)]))

    def evaluate(points: Array) -> Array:
        return np.asarray(-0.5 * ((np.abs(points[:, 0]) - 40) / 0.1) ** 2)

    assert bridge(draws, evaluate(draws), evaluate, rng).error > 0.3
