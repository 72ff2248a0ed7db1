"""Modes are looked for once for each fit, and never for a loaded fit."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.families.ordered import em
from reliabayes.families.ordered.centring import ScoreCentring
from reliabayes.models import RatingModel
from reliabayes.models.saved_classes import saved_classes
from reliabayes.results.storage import pack_arrays, unpack_arrays

pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")

QUICK: dict[str, Any] = {"chains": 1, "warmup": 10, "draws": 10, "seed": 3}


@pytest.fixture
def starts(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Record the names of models whose `starts`, which runs EM, is called."""
    called: list[str] = []
    for model in rb.MODELS:
        original = model.starts

        def counted(self: Any, problem: Any, original: Any = original) -> Any:
            called.append(type(self).__name__)
            return original(self, problem)

        monkeypatch.setattr(model, "starts", counted)
    return called


@pytest.mark.parametrize(
    ("model", "warm_start"),
    [
        pytest.param(model(), warm_start, marks=marks)
        for model, marks in (
            (rb.GaussianICC, ()),
            (rb.LogitXCC, pytest.mark.proof),
            (rb.DawidSkene, ()),
            (rb.HierarchicalDawidSkene, pytest.mark.proof),
        )
        for warm_start in (True, False)
    ],
    ids=lambda x: x.name() if isinstance(x, RatingModel) else "warm" if x else "cold",
)
def test_modes_are_found_once_for_each_fit(
    model: RatingModel, warm_start: bool, starts: list[str]
) -> None:
    fit = model.fit(ratings(model, pools=2), warm_start=warm_start, **QUICK)

    fit.summary()
    fit.items(draws=2)
    fit.raters(draws=2)

    assert starts == [type(model).__name__]


@pytest.mark.slow
def test_loaded_fit_of_three_pools_computes_items_without_em(
    tmp_path: Path, starts: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    fit = of_three_pools()
    fit.save(tmp_path / "fit.nc")
    starts.clear()
    monkeypatch.setattr(em, "climbed", None)

    loaded = rb.Fit.load(tmp_path / "fit.nc")

    pd.testing.assert_frame_equal(loaded.items(), fit.items())
    assert starts == []


@functools.cache
def of_three_pools() -> rb.Fit:
    """Fit that tests share."""
    return rb.LogitXCC().fit(ratings(rb.LogitXCC(), pools=3), **QUICK)


def ratings(model: RatingModel, pools: int) -> rb.Ratings:
    """Binary or numeric ratings of 15 items by three raters of each pool."""
    rng = np.random.default_rng(1)
    item, rater = (codes.ravel() for codes in np.mgrid[:15, : 3 * pools])
    score = rng.normal(0, 1, 15)[item] + rng.normal(0, 0.5, 3 * pools)[rater]
    score = score + rng.normal(0, 0.5, len(item))
    rating = score if model.continuous else (score > 0).astype(int)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating, "pool": rater % pools})
    return rb.Ratings.from_frame(frame, pool="pool")


def test_fit_saved_before_levels_had_a_reference_cut_point_has_the_same_items(
    tmp_path: Path,
) -> None:
    fit = of_three_pools()
    assert isinstance(fit.centring, ScoreCentring)
    earlier = pack_arrays(fit.centring).drop_vars("reference")
    earlier.attrs["class"] = "reliabayes.models.bases.scores:ScoreCentring"  # where it was

    centring = unpack_arrays(earlier, saved_classes())

    old = dataclasses.replace(fit, centring=centring)
    pd.testing.assert_frame_equal(old.items(), fit.items())  # two categories have one cut point
