"""Diagnostics raise no alarm where nothing is wrong, and raise it where something is."""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes.inference import stan
from reliabayes.models import RatingModel
from reliabayes.results.convergence import Convergence
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.results.settings import Settings

DESIGNS = ((10, 3), (30, 5), (200, 3))  # items, and raters or raters of each of two pools
STUDIES = 30  # of each design
BINARY = ("logit-icc", "logit-xcc", "tap", "rater-tap")

quiet = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


def study(model: Any, size: tuple[int, int], seed: int) -> rb.Ratings:
    """Ratings that come from the model, with parameters from its priors and moderate sds."""
    rng = np.random.default_rng([*size, seed])
    items, raters = size
    pools = 2 if model.name().endswith("xcc") else 1
    item, rater = np.indices((items, raters * pools)).reshape(2, -1)
    design = pd.DataFrame({"item": item, "rater": rater})
    if pools > 1:
        design["pool"] = np.where(rater < raters, "a", "b")
    if model.name() == "judge-panel":
        design["pool"] = np.where(rater < 2, "human", "judge")
    names = {"gaussian": ("item", "rater", "residual"), "logit": ("item", "rater")}
    names["ordinal"] = names["logit"]
    kind = model.name().split("-")[0]
    chosen: dict[str, Any] = {}
    each = None if pools == 1 or kind == "gaussian" else pools
    if kind not in ("gaussian", "gstudy"):
        chosen["categories"] = range(2 if model.name() in BINARY else 3)
    for _ in range(100):
        truth: dict[str, Any] = {
            f"sd_{name}": rng.uniform(0.4, 1.5, each) for name in names.get(kind, ())
        }
        if kind == "gstudy":
            truth["sd"] = rng.uniform(0.4, 1.5, 3)
        if kind in ("gaussian", "gstudy"):
            truth["mean"] = 3.0
        with contextlib.suppress(rb.RatingsError):  # ratings that are all equal say nothing
            ratings: rb.Ratings = model.simulate(design, rng, parameters=truth, **chosen)
            return ratings
    raise AssertionError("no study has ratings that a model takes")


@quiet
@pytest.mark.calibration
@pytest.mark.parametrize("model", [model() for model in rb.MODELS], ids=lambda x: x.name())
def test_well_specified_studies_raise_no_alarm(model: RatingModel) -> None:
    alarms = {}
    for size, seed in product(DESIGNS, range(STUDIES)):
        if found := model.fit(study(model, size, seed), seed=1).diagnostics().problems:
            alarms[size, seed] = found

    # A model with alarms in 6% of studies has three or more here with probability 0.9.
    assert len(alarms) <= 2, alarms


@quiet
@pytest.mark.calibration
@pytest.mark.parametrize("fault", ["cut short", "two places"])
def test_chains_that_do_not_represent_the_posterior_raise_an_alarm(fault: str) -> None:
    model, alarms = rb.LogitICC(), 0
    for seed in range(20):
        ratings = study(model, (30, 5), seed)
        if fault == "cut short":
            fit = model.fit(ratings, seed=seed, warm_start=False, warmup=1, draws=50)
        else:  # half of the chains are a posterior sd away
            fit = model.fit(ratings, seed=seed)
            sd = fit.posterior["sd_item"]
            moved = sd + float(sd.std()) * (sd["chain"] >= 2)
            fit = dataclasses.replace(fit, posterior=fit.posterior.assign(sd_item=moved))
        alarms += bool(fit.diagnostics().problems)

    assert alarms >= 0.95 * 20


@pytest.mark.calibration
@pytest.mark.parametrize("acceptance", [0.8, 0.95])
def test_a_funnel_raises_an_alarm(
    acceptance: float, compiled: Callable[[str], Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(compiled("funnel").parent))
    size: dict[str, Any] = {"chains": 4, "warmup": 1000, "draws": 1000}
    inits, alarms = [{"log_scale": 0.0, "number": [0.0] * 9}] * 4, 0
    for seed in range(20):
        run = stan.sample("funnel", {}, seed=seed, inits=inits, acceptance=acceptance, **size)
        values = xr.Dataset(
            {"log_scale": (("chain", "draw"), run.parameters["log_scale"])}
            | {"number": (("chain", "draw", "of"), run.parameters["number"])},
            coords={"of": range(9)},
        )
        sampler = xr.Dataset({k: (("chain", "draw"), x) for k, x in run.statistics.items()})
        found = Diagnostics.of(
            Convergence(values).monitored, sampler, Settings(**size, seed=seed), 0.0, 0
        )
        alarms += bool(found.problems)

    assert alarms >= 0.95 * 20
