"""Sums over parts of the ratings: those of all ratings, whatever the parts and pivots."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.likelihoods import item_sums
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign, CrossedSums
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import PooledDesign
from reliabayes.likelihoods.item_sums import ItemSums
from reliabayes.likelihoods.moments import Moments
from tests.partitions.in_memory import in_parts

RATERS = 9
POOL = np.arange(RATERS) % 3


@pytest.fixture
def ratings() -> rb.Ratings:
    """40 items with one to six ratings, some of them by the same rater twice."""
    rng = np.random.default_rng(1)
    rows = [
        (item, rater, float(rng.integers(1, 8)))
        for item in range(40)
        for rater in rng.choice(RATERS, rng.integers(1, 7), replace=item % 5 == 0)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    return rb.Ratings.from_frame(table, replicates="keep")


@pytest.mark.parametrize("number", [1, 7, 40])
@pytest.mark.parametrize("dense_from", [0.0, 1.0])
def test_sums_of_parts_are_those_of_one_pool(
    ratings: rb.Ratings, number: int, dense_from: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(item_sums, "DENSE_FROM", dense_from)
    nobody = np.zeros(RATERS, int)
    design = CrossedDesign.of(ratings.item, ratings.rater, ratings.values - 4)

    found = in_parts(ratings, number).sum(partial(ItemSums.of, pool=nobody, pivots=(2.5,)))

    assert_equal(found.crossed(4.0), CrossedSums.of(design))


@pytest.mark.parametrize("number", [1, 7, 40])
def test_sums_of_parts_are_those_of_pools(ratings: rb.Ratings, number: int) -> None:
    center = np.array([4.0, 3.5, 5.0])
    centred = ratings.values - center[POOL][ratings.rater]
    design = PooledDesign.of(ratings.item, ratings.rater, centred, POOL)

    found = in_parts(ratings, number).sum(partial(ItemSums.of, pool=POOL, pivots=(2.5, 1.0, 4.0)))

    assert_equal(found.pooled(center), PooledSums.of(design))


def test_moments_of_whole_numbers_do_not_depend_on_order_and_pivot() -> None:
    values = np.random.default_rng(1).integers(0, 100, 1001).astype(float)
    first, second = (
        Moments.of(values[::-1][part], 7.25) for part in (slice(300), slice(300, None))
    )

    one, other = Moments.of(values), first + second

    assert (one.mean, one.sd) == (other.mean, other.sd)
    assert one.mean == pytest.approx(values.mean(), rel=1e-15)
    assert one.sd == pytest.approx(values.std(), rel=1e-15)


@pytest.mark.parametrize(
    ("sd", "centre"), [(0.3, 3.25), (0.5, 3.0), (1.0, 3.0), (2.5, 4.0), (64.0, 0.0)]
)
def test_centre_is_a_multiple_of_a_power_of_two(sd: float, centre: float) -> None:
    values = 3.2 + sd * np.array([-1.0, 1.0])

    assert Moments.of(values).centre == centre


def assert_equal(found: Any, expected: Any) -> None:
    for name, value in vars(expected).items():
        np.testing.assert_array_equal(getattr(found, name), value, err_msg=name)
