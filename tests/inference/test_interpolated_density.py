"""Interpolated densities: close to the exact ones, and refused where they are not."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.inference.interpolated_density import WIDTH, InterpolatedDensity

MODE, SD = np.array([0.1, -1.0, 2.0]), np.array([0.02, 0.001, 0.01])


def log_gamma(x: Array) -> tuple[Array, Array]:
    """Log precisions of normal samples, and the mean of these."""
    z = x - MODE
    size = 2 / SD**2 / 4
    return (size * (z - np.expm1(z * 2) / 2)).sum(axis=1), z.mean(axis=1, keepdims=True)


@pytest.mark.parametrize("reach", [3.0, WIDTH, 2 * WIDTH])
def test_interpolated_density_is_the_exact_one(reach: float) -> None:
    x = MODE + reach * SD * np.random.default_rng(2).uniform(-1, 1, (50, 3))

    found = InterpolatedDensity.of(log_gamma, MODE, SD)

    assert found is not None
    for value, expected in zip(found(x), log_gamma(x), strict=True):
        np.testing.assert_allclose(value, expected, atol=2e-3)


def test_density_that_is_not_smooth_is_refused() -> None:
    def exact(x: Array) -> tuple[Array, Array]:
        return -np.abs((x - MODE) / SD).sum(axis=1), np.zeros((len(x), 1))

    assert InterpolatedDensity.of(exact, MODE, SD) is None
