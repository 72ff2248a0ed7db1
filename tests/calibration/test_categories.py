"""Posteriors of models of categories are calibrated."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import Normal, Ratings
from reliabayes.families.ordered import family
from tests.calibration.categories import (
    ANNOTATION,
    SDS,
    annotated,
    few_raters,
    polled,
)
from tests.calibration.numbers import complete_design, pooled_design
from tests.calibration.ranks import FALSE_ALARMS, Parameters, calibrate

pytestmark = pytest.mark.calibration


@pytest.fixture(autouse=True)
def earlier_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the groupthink models follow the earlier poll."""
    monkeypatch.setattr("reliabayes.families.categories.groupthink.vote_proportions", polled)


# Fits of two pools take ten seconds here: see below, and with several pools.
@pytest.mark.parametrize("name", [name for name in ANNOTATION if "xcc" not in name])
def test_annotation_posteriors_are_calibrated_over_many_data_sets(name: str) -> None:
    model, n_categories = ANNOTATION[name]

    found = calibrate(model, partial(annotated, model, n_categories, few_raters()), n=100, seed=5)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def crowd_of_25() -> pd.DataFrame:
    """Six of 25 raters for each of 100 items."""
    return complete_design(100, 25).query("(item + 7 * rater) % 25 < 6")


@pytest.mark.parametrize(
    ("name", "n_categories", "design"),
    [
        ("logit-icc", 2, complete_design(100, 6)),
        ("ordinal-icc", 3, complete_design(100, 6)),
        ("latent-tap", 3, crowd_of_25()),
    ],
)
def test_posteriors_by_fixed_trajectories_are_calibrated(
    name: str, n_categories: int, design: pd.DataFrame
) -> None:
    model, _ = ANNOTATION[name]
    are_normal = []

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        truth, ratings = annotated(model, n_categories, design, rng)
        are_normal.append(model.starts(model.problem(ratings))[0].mean is not None)
        return truth, ratings

    found = calibrate(model, simulated, n=100, seed=17)

    print(found, np.mean(are_normal))
    assert np.mean(are_normal) > 0.3
    assert found.p_value > FALSE_ALARMS, str(found)


@pytest.mark.parametrize("name", ["ordinal-icc", "logit-icc", "logit-icc, probit"])
def test_posteriors_of_crowds_are_calibrated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(family, "is_crowd", lambda problem: True)
    model, n_categories = ANNOTATION[name]
    design = complete_design(60, 40).query("(7 * item + 11 * rater) % 40 < 8")

    found = calibrate(model, partial(annotated, model, n_categories, design), n=100, seed=18)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


# Few raters with so many ratings that a short run comes first: model, categories, and design.
BY_A_SHORT_RUN: dict[str, tuple[Any, int, pd.DataFrame]] = {
    "latent-tap": (rb.LatentTAP(), 3, complete_design(40, 6)),
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), **SDS), 2, pooled_design(200, 2)),
    "ordinal-icc": (rb.OrdinalICC(prior_cut=Normal(0, 1.5), **SDS), 4, complete_design(100, 4)),
}


@pytest.mark.parametrize("name", BY_A_SHORT_RUN)
def test_posteriors_of_few_raters_are_calibrated_after_a_short_run(name: str) -> None:
    model, n_categories, design = BY_A_SHORT_RUN[name]

    found = calibrate(model, partial(annotated, model, n_categories, design), n=100, seed=10)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
