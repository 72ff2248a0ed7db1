"""The curvature at the mode, from which chains take their initial metric."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.inference.warm_start import curvature

MODE = np.array([0.3, -1.2, 4.0])
PRECISION = np.array([[4.0, 1.5, 0.0], [1.5, 900.0, -2.0], [0.0, -2.0, 1e6]])


@pytest.mark.parametrize("height", [0.0, -3e6])
def test_inverse_curvature_of_a_normal_density_is_its_covariance(height: float) -> None:
    def normal(x: Array) -> float:
        return height - 0.5 * float((x - MODE) @ PRECISION @ (x - MODE))

    mode, covariance = curvature(normal, MODE + np.array([0.4, 0.02, -0.003]))

    sd = np.sqrt(np.diag(np.linalg.inv(PRECISION)))
    assert (mode - MODE) / sd == pytest.approx(np.zeros(3), abs=0.02)
    expected = np.linalg.inv(PRECISION) / np.outer(sd, sd)
    assert covariance / np.outer(sd, sd) == pytest.approx(expected, abs=1e-3)


def test_curvature_is_measured_at_the_mode_of_a_skewed_density() -> None:
    shape = 7.0  # log of a gamma variate: the second derivative at the mode is the shape

    mode, covariance = curvature(lambda x: float(shape * x[0] - math.exp(x[0])), np.array([-1.5]))

    assert mode[0] == pytest.approx(math.log(shape), abs=0.01 / math.sqrt(shape))
    assert covariance[0, 0] == pytest.approx(1 / shape, rel=0.01)


def test_flat_directions_have_unit_variance() -> None:
    _, covariance = curvature(lambda x: float(-50 * x[0] ** 2), np.zeros(2))

    assert covariance == pytest.approx(np.diag([0.01, 1.0]), abs=1e-5)
