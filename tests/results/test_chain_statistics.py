"""Effective sample sizes, R-hat and Monte Carlo error, against arviz."""

from __future__ import annotations

from itertools import pairwise

import arviz as az
import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.results.chain_statistics import ess_bulk, ess_tail, mcse_mean, r_hat


def autoregressive(rng: np.random.Generator, coefficient: float, chains: int, draws: int) -> Array:
    """Return draws of which each is correlated with the one before."""
    noise = rng.standard_normal((draws, chains))
    for before, after in pairwise(noise):
        after += coefficient * before
    return noise.T.copy()


RNG = np.random.default_rng(1)
DRAWS = {
    "independent": RNG.standard_normal((4, 1000)),
    "slow": autoregressive(RNG, 0.9, 4, 1000),
    "antithetic": autoregressive(RNG, -0.7, 4, 1000),
    "slower than the chain is long": autoregressive(RNG, 0.999, 4, 200),
    "chains that disagree": RNG.standard_normal((4, 500)) + np.arange(4)[:, None],
    "chains of different spread": RNG.standard_normal((4, 500)) * [[1], [1], [1], [4]],
    "heavy tails": RNG.standard_cauchy((2, 333)),
    "odd number of draws": RNG.standard_normal((3, 251)),
    "one chain": RNG.standard_normal((1, 400)),
    "ties": RNG.integers(0, 3, (4, 300)).astype(float),
    "constant": np.ones((4, 100)),
    "chains that never move": np.repeat([[0.0], [1.0]], 100, axis=1),
    "a missing draw": np.where(np.arange(400).reshape(4, 100) == 7, np.nan, 1.0),
    "an infinite draw": np.where(np.arange(400).reshape(4, 100) == 7, np.inf, np.arange(100.0)),
    **{f"{n} draws": RNG.standard_normal((4, n)) for n in range(3, 13)},
}


@pytest.mark.parametrize("draws", DRAWS.values(), ids=DRAWS)
def test_measures_agree_with_arviz(draws: Array) -> None:
    with np.errstate(all="ignore"):
        found = ess_bulk(draws), ess_tail(draws), mcse_mean(draws)
        expected = (
            az.ess(draws, method="bulk"),  # type: ignore[no-untyped-call]
            az.ess(draws, method="tail", prob=(0.05, 0.95)),  # type: ignore[no-untyped-call]
            az.mcse(draws, method="mean"),  # type: ignore[no-untyped-call]
        )

    np.testing.assert_allclose(found, [float(x) for x in expected], rtol=1e-9)


@pytest.mark.parametrize("draws", [x for x in DRAWS.values() if len(x) > 1])
def test_r_hat_agrees_with_arviz(draws: Array) -> None:
    with np.errstate(all="ignore"):
        found, expected = r_hat(draws), float(az.rhat(draws))  # type: ignore[no-untyped-call]

    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_r_hat_of_one_chain_is_unknown() -> None:
    assert np.isnan(r_hat(DRAWS["one chain"]))
