"""Effective sample sizes, R-hat and Monte Carlo error, against arviz."""

from __future__ import annotations

from itertools import pairwise

import arviz as az
import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.results.chain_statistics import BLOCK, measures


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
    found = measures(draws[None])
    with np.errstate(all="ignore"):
        expected = (
            az.ess(draws, method="bulk"),  # type: ignore[no-untyped-call]
            az.ess(draws, method="tail", prob=(0.05, 0.95)),  # type: ignore[no-untyped-call]
            az.mcse(draws, method="mean"),  # type: ignore[no-untyped-call]
        )

    for name, value in zip(("ess_bulk", "ess_tail", "mcse"), expected, strict=True):
        np.testing.assert_allclose(found[name], float(value), rtol=1e-9, err_msg=name)


@pytest.mark.parametrize("draws", [x for x in DRAWS.values() if len(x) > 1])
def test_r_hat_agrees_with_arviz(draws: Array) -> None:
    with np.errstate(all="ignore"):
        expected = float(az.rhat(draws))  # type: ignore[no-untyped-call]

    np.testing.assert_allclose(measures(draws[None])["r_hat"], expected, rtol=1e-12)


def test_r_hat_of_one_chain_is_unknown() -> None:
    assert np.isnan(measures(DRAWS["one chain"][None])["r_hat"])


def test_each_number_is_measured_by_itself() -> None:
    shape = (4, BLOCK // 16)  # of which a block has four
    kinds = [
        np.random.default_rng(2).standard_normal(shape),
        np.ones(shape),
        np.full(shape, np.nan),
        np.arange(np.prod(shape)).reshape(shape) % 7.0,
        autoregressive(np.random.default_rng(3), 0.9, *shape),
        np.arange(np.prod(shape), dtype=float).reshape(shape),
    ]

    found = measures(np.stack(kinds))

    for unit, draws in enumerate(kinds):
        for name, values in measures(draws[None]).items():
            np.testing.assert_allclose(found[name][unit], values[0], rtol=1e-12, err_msg=name)
