"""Unconstrained numbers map to Cholesky factors of correlation matrices as in Stan, and back."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reliabayes.arrays import Array
from reliabayes.inference import correlation
from tests.designs import slopes

frees = st.integers(2, 4).flatmap(
    lambda size: st.lists(
        st.floats(-3, 3), min_size=correlation.n_free(size), max_size=correlation.n_free(size)
    ).map(np.array)
)


def size_of(free: Array) -> int:
    return {1: 2, 3: 3, 6: 4}[len(free)]


def lower(matrix: Array) -> Array:
    return matrix[np.tril_indices(len(matrix), -1)]


def test_factor_of_two_variables_matches_the_textbook_formula() -> None:
    factor = correlation.factor(np.arctanh([0.6]), 2)

    assert factor == pytest.approx(np.array([[1, 0], [0.6, 0.8]]))


@given(free=frees)
def test_unconstrained_numbers_are_recovered_from_the_factor(free: Array) -> None:
    factor = correlation.factor(free, size_of(free))

    back = correlation.free(factor)

    assert np.diag(factor @ factor.T) == pytest.approx(np.ones(size_of(free)))
    assert back == pytest.approx(free, abs=1e-8)


@given(free=frees, shape=st.floats(0.5, 4))
def test_log_lkj_includes_the_jacobian_of_the_transform(free: Array, shape: float) -> None:
    size = size_of(free)

    def correlation_of(pair: int, x: Array) -> float:
        factor = correlation.factor(x, size)
        return float(lower(factor @ factor.T)[pair])

    found = correlation.log_lkj(free, size, shape)

    pairs = range(len(free))
    jacobian = np.array([slopes(partial(correlation_of, pair), free) for pair in pairs])
    log_det = 2 * np.log(np.diag(correlation.factor(free, size))).sum()
    expected = (shape - 1) * log_det + np.linalg.slogdet(jacobian)[1]
    assert found == pytest.approx(expected, abs=1e-4)


def test_factor_is_valid_for_correlations_near_one() -> None:
    factor = correlation.factor(np.array([15.0, -15.0, 0.0]), 3)

    assert np.isfinite(correlation.log_lkj(np.array([15.0, -15.0, 0.0]), 3, 1.0))
    assert np.diag(factor) == pytest.approx([1, 0, 0], abs=1e-5)
    assert (np.diag(factor) > 0).all()
