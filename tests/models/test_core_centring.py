"""What programs of latent scores sample in place of their parameters, and in which units."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.families.ordered.centring import HALF, LOGARITHMIC, CoreCentring
from reliabayes.inference.problem import stan_data
from tests.models.score_programs import sampled_at

pytestmark = pytest.mark.slow

MODEL = rb.OrdinalXCC()


def ratings(raters: int, items: int, sd: float = 1.0) -> rb.Ratings:
    """Grades by two pools, each of which rates an item twice."""
    rng = np.random.default_rng(3)
    design = rb.simulate.incomplete(items, raters, 2, rng, pools=2)
    truth = {"sd_item": [sd, sd], "sd_rater": [sd, sd]}
    return MODEL.simulate(design, rng, parameters=truth, categories=range(4))


def start_of(raters: int, items: int = 60) -> tuple[Any, CoreCentring]:
    start = MODEL.start(MODEL.problem(ratings(raters, items)))
    assert isinstance(start.centring, CoreCentring)
    return start, start.centring


@pytest.mark.parametrize("raters", [4, 30])
def test_scores_are_those_of_plain_formulas_and_come_back(raters: int) -> None:
    start, centring = start_of(raters)
    data = stan_data(MODEL.problem(ratings(raters, 60)), centring)
    rng = np.random.default_rng(1)
    free = {name: rng.normal(x, 0.5) for name, x in start.mode.items()}

    point = start.constrain(free)

    plain, _ = sampled_at(data, {name: np.asarray(x) for name, x in point.items()})
    for found in (centring.for_program(point), plain):
        np.testing.assert_allclose(found["core"], free["core"], rtol=1e-6, atol=1e-6)
        np.testing.assert_allclose(found["score"], free["score"], rtol=1e-6, atol=1e-6)


def test_sds_of_few_raters_are_sampled_as_their_logarithms() -> None:
    start, centring = start_of(raters=4)
    one = {name: np.zeros_like(x) for name, x in start.mode.items()}
    one["core"][0] = 1.0

    sd = np.array([start.constrain(free)["sd_item"][0] for free in (start.mode, one)])

    assert centring.spread_scale[0] == pytest.approx(LOGARITHMIC * sd[0])
    log_sd = centring.core_root[0, 0] / centring.spread_scale[0]
    assert np.log(sd[1] / sd[0]) == pytest.approx(log_sd, rel=1e-3)


def test_sds_of_crowds_are_sampled_nearly_as_they_are() -> None:
    start, centring = start_of(raters=30)

    assert centring.spread_scale[0] == pytest.approx(HALF * start.point["sd_item"][0])


def test_crowd_with_poor_units_starts_from_those_of_a_short_run() -> None:
    few = MODEL.problem(ratings(raters=110, items=220))

    (start,) = MODEL.starts(few)

    assert isinstance(start.centring, CoreCentring)
    root = start.centring.core_root
    assert np.abs(np.tril(root, -1)).max() > 0
    assert start.target_acceptance == 0.5
