"""What holds of every model in MODELS."""

from __future__ import annotations

import dataclasses
import functools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from hatch_build import Toolchain
from reliabayes.models import RatingModel
from tests.conftest import ROOT

every_model = pytest.mark.parametrize(
    "model", [model() for model in rb.MODELS], ids=lambda model: model.name()
)
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")

QUICK: dict[str, Any] = {"chains": 2, "parallel_chains": 2, "warmup": 50, "draws": 25, "seed": 3}
ONE_CHAIN = QUICK | {"chains": 1, "parallel_chains": 1}


@pytest.fixture
def ratings(model: RatingModel) -> rb.Ratings:
    """Ratings that the model can be fitted to."""
    return suited(model)


@every_model
def test_model_cannot_be_changed(model: RatingModel) -> None:
    field = dataclasses.fields(model)[0].name

    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(model, field, None)


@every_model
def test_model_gives_just_what_its_program_reads(model: RatingModel, ratings: rb.Ratings) -> None:
    program = ROOT / "stan" / f"{model.program(model.problem(ratings))}.stan"

    data = model.stan_data(ratings)

    assert set(data) == set(stan_info(program)["inputs"])


@pytest.mark.slow
@every_model
def test_model_reports_the_quantities_it_promises(model: RatingModel) -> None:
    fit = fitted(model)

    assert set(fit.quantities) <= set(model.reports)
    assert list(fit.quantities) == [name for name in model.reports if name in fit.quantities]


@pytest.mark.slow
@every_model
def test_same_seed_gives_the_same_draws_however_many_chains_run_at_once(
    model: RatingModel, ratings: rb.Ratings
) -> None:
    together, fewer = fitted(model), fitted(model, chains=1)

    one_by_one = model.fit(ratings, **(QUICK | {"parallel_chains": 1}))
    other = model.fit(ratings, **(ONE_CHAIN | {"seed": 4}))

    xr.testing.assert_identical(one_by_one.posterior, together.posterior)
    xr.testing.assert_identical(one_by_one.posterior.isel(chain=slice(1)), fewer.posterior)
    assert not fewer.posterior.equals(other.posterior)


# The tests of Ratings prove for all tables that the order of rows and the ids never reach a model;
# one model shows that the whole way from the table to the draws keeps to it.


def test_order_of_rows_leaves_no_trace() -> None:
    model = rb.GaussianXCC()
    frame = suited(model).to_frame().sample(frac=1, random_state=2)
    shuffled = rb.Ratings.from_frame(frame, pool="pool")

    one, other = fitted(model, chains=1), model.fit(shuffled, **ONE_CHAIN)

    xr.testing.assert_identical(one.posterior, other.posterior)


def test_ids_change_nothing_but_labels() -> None:
    model = rb.GaussianXCC()
    frame = suited(model).to_frame()
    renamed = rb.Ratings.from_frame(
        frame.assign(item=frame["item"] + 1000, rater=frame["rater"].map("rater {}".format)),
        pool="pool",
    )

    one, other = fitted(model, chains=1), model.fit(renamed, **ONE_CHAIN)

    xr.testing.assert_identical(*(x.posterior.drop_vars(x.posterior.coords) for x in (one, other)))
    assert other.raters().index.tolist() == [f"rater {rater}" for rater in one.raters().index]
    items = (x.items().index.get_level_values("item") for x in (other, one))
    assert next(items).tolist() == [item + 1000 for item in next(items)]


@pytest.mark.slow
@every_model
def test_fit_comes_back_from_disk_as_it_was(
    model: RatingModel, ratings: rb.Ratings, tmp_path: Path
) -> None:
    fit = fitted(model)

    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")

    xr.testing.assert_identical(loaded.posterior, fit.posterior)
    xr.testing.assert_identical(loaded.quantities, fit.quantities)
    assert (loaded.model, loaded.ratings, loaded.settings) == (model, ratings, fit.settings)
    pd.testing.assert_frame_equal(loaded.summary(), fit.summary())
    pd.testing.assert_frame_equal(loaded.items(), fit.items())
    pd.testing.assert_frame_equal(loaded.raters(), fit.raters())


@pytest.mark.slow
@every_model
def test_earlier_fit_offers_starting_points(model: RatingModel, ratings: rb.Ratings) -> None:
    earlier = fitted(model, chains=1)

    later = model.fit(ratings, warm_start=earlier, **ONE_CHAIN)

    assert later.posterior.sizes == earlier.posterior.sizes
    few, more = (earlier.create_inits(seed=1, chains=chains) for chains in (2, 3))
    assert all(np.array_equal(few[1][name], more[1][name]) for name in few[1])


@every_model
def test_em_never_goes_down_and_starts_differ(model: RatingModel, ratings: rb.Ratings) -> None:
    start = model.start(model.problem(ratings))

    inits = start.create_inits(seed=1, chains=4)

    assert np.diff(start.path).min() >= -1e-9 * abs(start.path[-1])
    assert len({json.dumps(init) for init in inits}) == 4


@every_model
def test_program_is_laid_out_by_stanc(model: RatingModel) -> None:
    for program in (ROOT / "stan").glob(f"{model.name().replace('-', '_')}*.stan"):
        text = program.read_text()

        laid_out = Toolchain.find().stanc("--auto-format", "--max-line-length=100", program)

        assert text == laid_out


@functools.cache
def fitted(model: RatingModel, chains: int = 2) -> rb.Fit:
    """A quick fit, made once for all tests."""
    return model.fit(suited(model), **(QUICK if chains == 2 else ONE_CHAIN))


@functools.cache
def suited(model: RatingModel) -> rb.Ratings:
    """Numbers from 0 to 2 by raters of two pools: three categories, or two if it takes no more."""
    rng = np.random.default_rng(1)
    item, rater = (codes.ravel() for codes in np.mgrid[:30, :6])
    noise = rng.normal(0, 1, 30)[item] + rng.normal(0, 0.5, 6)[rater] + rng.normal(0, 0.5, 180)
    rating = np.clip(np.round(1 + noise), 0, 2)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating, "pool": rater % 2})
    some = frame.sample(150, random_state=1)
    three = rb.Ratings.from_frame(some, pool="pool")
    try:
        model.problem(three)
    except rb.RatingsError:
        return rb.Ratings.from_frame(some.assign(rating=some["rating"] > 1), pool="pool")
    return three


def stan_info(program: Path) -> dict[str, Any]:
    info: dict[str, Any] = json.loads(Toolchain.find().stanc("--info", program))
    return info
