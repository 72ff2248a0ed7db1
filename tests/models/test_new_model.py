"""A user's model outside the package, with its own dimension, works as those in the package."""

from __future__ import annotations

import importlib
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from tests.conftest import ROOT

pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning"),  # one chain
]

TRUE = {"x": 0.8, "y": 0.3}


@pytest.fixture
def model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, compiled: Callable[[str], Path]
) -> rb.RatingModel:
    """The model imported from a user's module, with its Stan program in a user's folder."""
    shutil.copy(ROOT / "tests" / "models" / "vendor_accuracy.py", tmp_path / "my_models.py")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "my_models", raising=False)
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(compiled("vendor_accuracy").parent))
    model: rb.RatingModel = importlib.import_module("my_models").VendorAccuracy()
    return model


@pytest.fixture
def ratings() -> rb.Ratings:
    """Binary ratings of 150 items by three raters from each of two vendors."""
    rng = np.random.default_rng(1)
    truth = rng.integers(0, 2, 150)
    raters = ["x1", "x2", "x3", "y1", "y2", "y3"]
    item, place = np.mgrid[:150, :6].reshape(2, -1)
    accuracy = np.array([TRUE[rater[0]] for rater in raters])[place]
    guess = rng.integers(0, 2, len(item))
    rating = np.where(rng.random(len(item)) < accuracy, truth[item], guess)
    frame = pd.DataFrame({"item": item, "rater": np.array(raters)[place], "rating": rating})
    return rb.Ratings.from_frame(frame)


def test_users_model_recovers_parameters_along_its_own_dimension(
    model: rb.RatingModel, ratings: rb.Ratings
) -> None:
    fit = model.fit(ratings, seed=1, chains=2)

    assert fit.diagnostics().problems == []
    assert fit.posterior["a"].dims == ("chain", "draw", "vendor")
    table = fit.summary()
    for vendor, true in TRUE.items():
        mean, sd = map(float, table.loc[f"a[{vendor}]", ["mean", "sd"]])
        assert mean == pytest.approx(true, abs=4 * sd)


def test_saved_fit_of_a_users_model_loads_unchanged(
    model: rb.RatingModel, ratings: rb.Ratings, tmp_path: Path
) -> None:
    fit = model.fit(ratings, seed=1, chains=1, warmup=50, draws=20)
    fit.save(tmp_path / "fit.nc")

    loaded = rb.Fit.load(tmp_path / "fit.nc")

    assert loaded.model == model
    xr.testing.assert_identical(loaded.quantities, fit.quantities)
    pd.testing.assert_frame_equal(loaded.items(), fit.items())


def test_missing_class_of_a_saved_model_is_named(
    model: rb.RatingModel,
    ratings: rb.Ratings,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fit = model.fit(ratings, seed=1, chains=1, warmup=50, draws=20)
    fit.save(tmp_path / "fit.nc")
    monkeypatch.delitem(sys.modules, "my_models")
    (tmp_path / "my_models.py").write_text("# The class was removed.\n")

    with pytest.raises(ValueError, match="needs the class 'VendorAccuracy' of the module 'my_mod"):
        rb.Fit.load(tmp_path / "fit.nc")


def test_sizes_and_ids_of_the_dimension_reach_stan(model: Any, ratings: rb.Ratings) -> None:
    data = model.stan_data(ratings)

    assert data["L"] == 2
    assert data["vendor"].tolist() == [1, 1, 1, 2, 2, 2]
