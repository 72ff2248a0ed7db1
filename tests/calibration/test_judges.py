"""Posteriors of judge panels are calibrated."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import Ratings
from tests.calibration.ranks import FALSE_ALARMS, Parameters, calibrate

pytestmark = pytest.mark.calibration

FAMILIES = {"a1": "a", "a2": "a", "b1": "b"}
NOT_POOLED = rb.JudgePanel(family=FAMILIES, pooling="none", misreading="shared")
PANELS: dict[str, tuple[rb.JudgePanel, int]] = {
    "two categories": (rb.JudgePanel(family=FAMILIES), 2),
    "three, not pooled": (NOT_POOLED, 3),
    "five ordered": (rb.JudgePanel(family=FAMILIES), 5),
}


@pytest.mark.parametrize("name", PANELS)
def test_posteriors_of_judge_panels_are_calibrated(name: str) -> None:
    model, n_categories = PANELS[name]

    found = calibrate(model, partial(judged, model, n_categories), n=1000, seed=19)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def judged(
    model: rb.JudgePanel, n_categories: int, rng: np.random.Generator
) -> tuple[Parameters, Ratings]:
    """Answers on 60 items of two systems: two people on half, three judges of two families on all.

    The first judge has two runs.
    """
    rows = [
        (item, rater, pool, run, f"system {item % 2}")
        for item in range(60)
        for rater, pool, runs in (
            *(("p", "human", 1), ("q", "human", 1)),
            *((judge, "llm", 1 + (judge == "a1")) for judge in FAMILIES),
        )
        for run in range(runs)
        if pool == "llm" or item % 4 < 2
    ]
    frame = pd.DataFrame(rows, columns=["item", "rater", "pool", "run", "system"])
    frame["rating"] = np.arange(len(frame)) % n_categories
    design = Ratings.from_frame(
        frame,
        pool="pool",
        facets=["run"],
        group="system",
        scale="ordered",
        categories=range(n_categories),
    )
    categories = range(n_categories)
    truth = model.draw_parameters(design, rng, categories=categories)
    while True:
        try:
            return truth, model.simulate(design, rng, categories=categories, parameters=truth)
        except rb.RatingsError:
            truth = model.draw_parameters(design, rng, categories=categories)
