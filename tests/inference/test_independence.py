"""Independence sampling, against posteriors that are known exactly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from scipy.special import digamma, polygamma

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.inference.independence import NearNormal, sample
from reliabayes.inference.stan import Draws

COVARIANCE = np.array([[1.0, -0.6], [-0.6, 0.5]])
Evaluate = Callable[[Array], tuple[Array, Array]]

SHAPE = 2.0  # of a gamma distribution, whose log has a long left tail
draw = partial(sample, chains=4, warmup=220, draws=1000, seed=1, progress=False)


def log_density(x: Array) -> tuple[Array, Array]:
    normal = -0.5 * (x[:, :2] * np.linalg.solve(COVARIANCE, x[:, :2].T).T).sum(axis=1)
    return normal + SHAPE * x[:, 2] - np.exp(x[:, 2]), x.sum(axis=1, keepdims=True)


def posterior(evaluate: Evaluate = log_density) -> NearNormal:
    """Two correlated normal parameters, and the log of a gamma variable; their sum is reported."""

    def finish(x: Array, found: Array, rng: np.random.Generator) -> dict[str, Array]:
        return {"x": x, "total": found[..., 0], "noise": rng.standard_normal(x.shape[:2])}

    mode = np.array([0, 0, np.log(SHAPE)])
    covariance = np.diag([1, 0.5, 1 / SHAPE])
    return NearNormal(evaluate, finish, mode, covariance)


@pytest.fixture(scope="module")
def drawn() -> Draws:
    return draw(posterior())


def test_draws_have_the_moments_of_the_posterior(drawn: Draws) -> None:
    x = drawn.parameters["x"].reshape(-1, 3)
    mean, variance = digamma(SHAPE), polygamma(1, SHAPE)
    errors = np.sqrt(np.append(np.diag(COVARIANCE), variance) / 1000)  # ESS is above 1000
    assert np.all(np.abs(x.mean(axis=0) - [0, 0, mean]) < 4 * errors)
    assert np.cov(x.T)[:2, :2] == pytest.approx(COVARIANCE, abs=0.12)
    assert x[:, 2].var() == pytest.approx(variance, rel=0.2)


def test_numbers_found_with_a_point_stay_with_it(drawn: Draws) -> None:
    x = drawn.parameters["x"]
    assert drawn.parameters["total"] == pytest.approx(x.sum(axis=-1))
    assert np.unique(drawn.parameters["noise"]).size == 4000


def test_statistics_are_those_of_the_draws(drawn: Draws) -> None:
    x, lp = drawn.parameters["x"][2, :50], drawn.statistics["lp"][2, :50]
    assert lp == pytest.approx(log_density(x)[0])
    assert 0.6 < drawn.statistics["acceptance_rate"].mean() < 1


def test_same_seed_same_draws_however_many_chains_run_at_once(drawn: Draws) -> None:
    again = draw(posterior(), parallel_chains=1)
    assert np.array_equal(again.parameters["x"], drawn.parameters["x"])


@pytest.mark.slow
def test_thinned_chains_repeat_fewer_points(drawn: Draws) -> None:
    thinned = draw(replace(posterior(), thinning=4))
    repeated = [np.mean(np.diff(found.parameters["x"][..., 0]) == 0) for found in (drawn, thinned)]
    assert thinned.parameters["x"].shape == (4, 1000, 3)
    assert repeated[1] < repeated[0] / 4


def test_fewer_iterations_to_adapt_still_give_draws() -> None:
    for warmup in (0, 5):
        found = sample(posterior(), chains=1, warmup=warmup, draws=4, seed=1, progress=False)
        assert found.parameters["x"].shape == (1, 4, 3)
        assert np.isfinite(found.statistics["lp"]).all()


@pytest.mark.slow
def test_sampling_ends_with_its_time() -> None:
    with pytest.raises(rb.SamplingError, match="longer than its timeout"):
        draw(posterior(), draws=100_000, timeout=0.2)


def test_an_error_in_a_chain_ends_all() -> None:
    def fails(x: Array) -> tuple[Array, Array]:
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        draw(posterior(fails), draws=100_000)
