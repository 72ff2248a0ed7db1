"""Posteriors of G studies are calibrated, of numbers and of categories."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import HalfStudentT, Normal, Ratings
from tests.calibration.numbers import complete_design
from tests.calibration.ranks import FALSE_ALARMS, Calibration, Parameters, calibrate

pytestmark = pytest.mark.calibration

FACETS = complete_design(6, 3).merge(pd.DataFrame({"day": range(2)}), how="cross")
G_STUDIES = {
    "crossed": ("item x rater x day", FACETS),
    "nested": ("item x (rater:day)", FACETS),
    "replicates": ("item x rater", FACETS),
    "empty cells": ("item x rater x day", FACETS.query("(item + rater + day) % 4 > 0")),
    "crowd": ("item x rater", complete_design(40, 20).query("(3 * item + rater) % 5 == 0")),
}


def calibrate_g_study(name: str, n: int, seed: int) -> Calibration:
    design, table = G_STUDIES[name]
    model = rb.GStudy(design=design, prior_mean=Normal(1, 2), prior_sd=HalfStudentT(4, 0.7))

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        truth = model.draw_parameters(table, rng)
        return truth, model.simulate(table, rng, parameters=truth)

    return calibrate(model, simulated, n, seed=seed)


@pytest.mark.parametrize("name", G_STUDIES)
def test_g_studies_are_calibrated_over_many_data_sets(name: str) -> None:
    found = calibrate_g_study(name, n=500, seed=7)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def calibrate_graded_g_study(name: str, family: Any, n: int, seed: int) -> Calibration:
    design, table = G_STUDIES[name]
    prior = HalfStudentT(4, 0.7)
    model: Any = rb.GStudy(design=design, family=family, prior_mean=Normal(0.5, 1), prior_sd=prior)
    categories = range(2 if family == "logit" else 4)

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        while True:
            truth = model.draw_parameters(table, rng, categories=categories)
            try:
                ratings = model.simulate(table, rng, parameters=truth, categories=categories)
            except rb.RatingsError:  # all ratings are the same
                continue
            sd = np.append(truth["sd"], math.pi / math.sqrt(3))
            return {"sd": sd, "cut": truth["cut"]}, ratings

    return calibrate(model, simulated, n, seed=seed)


@pytest.mark.parametrize("family", ["logit", "ordinal"])
@pytest.mark.parametrize("name", G_STUDIES)
def test_g_studies_of_categories_are_calibrated(name: str, family: str) -> None:
    found = calibrate_graded_g_study(name, family, n=150, seed=8)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
