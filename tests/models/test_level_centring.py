"""Where the sampler looks for the levels of raters, and how far apart correlations may be."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit, roots_hermitenorm

from reliabayes.families.ordered.centring import Levels
from reliabayes.families.ordered.pair_correlation import sd_at
from reliabayes.inference.widening import WIDENING

POOL = np.array([0, 0, 1])


def centring() -> Levels:
    return Levels(
        np.array([1.0, -0.5, 2.0]),
        np.array([0.3, 0.4, 0.5]),
        reference=np.zeros(2, np.int32),
        known_sd_item=np.array([1.0, 1.5]),
        widening=WIDENING["logit"],
    )


def point(sd_item: list[float]) -> dict[str, Any]:
    sds = {"sd_item": np.array(sd_item), "sd_rater": np.array([0.8, 1.2])}
    level = np.array([0.3, -0.2, 1.1])
    return {**sds, "step": np.empty((2, 0)), "mean": np.array([0.1, 0.9]), "level": level}


def test_levels_on_the_unconstrained_scale_come_back() -> None:
    at = point([2.0, 0.4])
    free = centring().unconstrain(at, POOL)
    found = centring().constrain({**at, "mean": np.zeros(2)}, free, POOL)
    np.testing.assert_allclose(found["mean"], at["mean"])
    np.testing.assert_allclose(found["level"], at["level"])


def test_levels_lie_farther_out_where_items_differ_more() -> None:
    # A level and an sd of items give the same proportion of ratings as another level and sd.
    nodes, weights = roots_hermitenorm(80)
    weights = weights / weights.sum()

    def level(sd_item: float) -> float:
        levels = np.linspace(-1, 4, 2001)
        proportion = expit(levels[:, None] + sd_item * nodes) @ weights
        return float(np.interp(0.8, proportion, levels))

    assert level(0) == pytest.approx(logit(0.8), abs=1e-3)
    stretch = centring().stretch(point([3.0, 1.5]))
    np.testing.assert_allclose(stretch, [level(3) / level(1), 1], rtol=0.03)


def test_sd_of_a_correlation_is_that_of_a_normal_density() -> None:
    assert sd_at(lambda x: -0.5 * ((x - 0.3) / 0.2) ** 2, 0.3, 0.2) == pytest.approx(0.2)


def test_sd_of_a_correlation_is_bounded_where_the_density_is_flat() -> None:
    assert sd_at(lambda x: 0.0, 0.3, 0.2) == 1
