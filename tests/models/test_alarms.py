"""Diagnostics raise no alarm where nothing is wrong, and raise it where something is."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

DESIGNS = ((10, 3), (30, 5), (200, 3))
STUDIES = 100


def gaussian(design: pd.DataFrame, rng: np.random.Generator) -> rb.Fit:
    truth = {"mean": 3.0, "sd_item": 1.0, "sd_rater": 0.4, "sd_residual": 0.8}
    ratings = rb.GaussianICC().simulate(design, rng, parameters=truth)
    return rb.GaussianICC().fit(ratings, seed=1)


def logit(design: pd.DataFrame, rng: np.random.Generator) -> rb.Fit:
    truth = {"mean": 0.3, "sd_item": 1.5, "sd_rater": 0.7}
    ratings = rb.LogitICC().simulate(design, rng, parameters=truth)
    return rb.LogitICC().fit(ratings, seed=1)


@pytest.mark.calibration
@pytest.mark.parametrize("size", DESIGNS)
@pytest.mark.parametrize("fit", [gaussian, logit])
def test_well_specified_studies_raise_no_alarm(
    fit: Callable[[pd.DataFrame, np.random.Generator], rb.Fit], size: tuple[int, int]
) -> None:
    cells = np.indices(size).reshape(2, -1).T
    design = pd.DataFrame(cells, columns=["item", "rater"])
    alarms = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        for study in range(STUDIES):
            found = fit(design, np.random.default_rng([*size, study]))
            alarms += bool(found.diagnostics().problems)

    assert alarms <= 0.02 * STUDIES


@pytest.mark.calibration
@pytest.mark.parametrize("fault", ["cut short", "two places"])
def test_chains_that_do_not_represent_the_posterior_raise_an_alarm(fault: str) -> None:
    cells = np.indices((30, 5)).reshape(2, -1).T
    design = pd.DataFrame(cells, columns=["item", "rater"])
    truth = {"mean": 0.3, "sd_item": 1.5, "sd_rater": 0.7}
    alarms = 0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        for study in range(20):
            rng = np.random.default_rng([40, study])
            ratings = rb.LogitICC().simulate(design, rng, parameters=truth)
            if fault == "cut short":
                fit = rb.LogitICC().fit(ratings, seed=study, warm_start=False, warmup=1, draws=50)
            else:  # half of the chains are a posterior sd away
                fit = rb.LogitICC().fit(ratings, seed=study)
                sd = fit.posterior["sd_item"]
                moved = sd + float(sd.std()) * (sd["chain"] >= 2)
                fit = dataclasses.replace(fit, posterior=fit.posterior.assign(sd_item=moved))
            alarms += bool(fit.diagnostics().problems)

    assert alarms >= 0.95 * 20
