"""Quantities are the textbook's formulas, on numbers, arrays and labelled draws alike."""

from __future__ import annotations

import math

import numpy as np
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

from reliabayes.quantities import icc, icc_k, labeler_icc, raters_needed

shares = st.floats(1e-6, 1 - 1e-6)
sds = st.floats(1e-3, 1e3)


def test_icc_of_shrout_and_fleiss_is_the_published_one() -> None:
    targets, judges, error = 11.24167, 32.48611, 1.01944  # mean squares of Table 3
    variances = [(targets - error) / 4, (judges - error) / 6, error]

    single = icc(*np.sqrt(variances))

    assert single == pytest.approx(0.2898, abs=5e-5)
    assert icc_k(single, k=4) == pytest.approx(0.6201, abs=5e-5)


@given(item=sds, rater=sds, residual=sds)
def test_shares_of_variance_add_up(item: float, rater: float, residual: float) -> None:
    shares = [icc(*order) for order in ((item, rater, residual), (residual, rater, item))]

    total = sum(shares) + labeler_icc(item, rater, residual)

    assert total == pytest.approx(1)


# Spearman-Brown on WordSim-353, published for 1, 2, 3, 5, 10 and 13 raters.
@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 0.5905), (2, 0.7425), (3, 0.8122), (5, 0.8782), (10, 0.9351), (13, 0.9494)],
)
def test_reliability_of_means_is_the_published_one(k: int, expected: float) -> None:
    assert icc_k(0.5905, k) == pytest.approx(expected, abs=1e-4)


@given(single=shares, target=shares)
def test_raters_needed_are_the_fewest_that_reach_the_target(single: float, target: float) -> None:
    k = float(raters_needed(single, target))

    reached, missed = icc_k(single, k), icc_k(single, max(k - 1, 1))
    assert k == int(k)
    assert reached >= target * (1 - 1e-9)
    assert k == 1 or missed < target * (1 + 1e-9)


def test_no_number_of_raters_makes_up_for_no_signal() -> None:
    assert raters_needed(0.0, 0.8) == math.inf


def test_labelled_draws_keep_their_labels() -> None:
    sd = xr.DataArray(np.ones((2, 3)), dims=("chain", "draw"), coords={"chain": [0, 1]})

    result = icc(sd, sd, sd)

    assert result.dims == ("chain", "draw")
    assert result.values == pytest.approx(np.full((2, 3), 1 / 3))


@pytest.mark.parametrize("k", [0, -1, math.nan])
def test_fewer_than_one_rating_is_refused(k: float) -> None:
    with pytest.raises(ValueError, match="k is a number of ratings and must be at least 1"):
        icc_k(0.5, k)


@pytest.mark.parametrize("reliability", [0, 1, 80])
def test_impossible_reliability_is_refused(reliability: float) -> None:
    with pytest.raises(ValueError, match="reliability must lie strictly between 0 and 1"):
        raters_needed(0.5, reliability)
