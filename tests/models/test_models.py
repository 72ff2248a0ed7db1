"""Properties that every model in MODELS has."""

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
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models import RatingModel
from tests.conftest import ROOT

every_model = pytest.mark.parametrize(
    "model", [model() for model in rb.MODELS], ids=lambda model: model.name()
)
pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]

QUICK: dict[str, Any] = {"chains": 2, "parallel_chains": 2, "warmup": 50, "draws": 25, "seed": 3}
ONE_CHAIN = QUICK | {"chains": 1, "parallel_chains": 1}


@pytest.fixture
def ratings(model: RatingModel) -> rb.Ratings:
    """Ratings to which the model can be fitted."""
    return suitable_ratings(model)


@every_model
def test_model_cannot_be_changed(model: RatingModel) -> None:
    field = dataclasses.fields(model)[0].name

    with pytest.raises(dataclasses.FrozenInstanceError):
        setattr(model, field, None)


@every_model
def test_stan_data_has_exactly_the_inputs_of_the_program(
    model: RatingModel, ratings: rb.Ratings
) -> None:
    program = ROOT / "stan" / f"{model.program(model.problem(ratings))}.stan"

    data = model.stan_data(ratings)

    assert set(data) == set(stan_info(program)["inputs"])


@every_model
def test_quantities_are_those_in_reports_and_in_order(model: RatingModel) -> None:
    fit = fitted(model)

    assert set(fit.quantities) <= set(model.reports)
    assert list(fit.quantities) == [name for name in model.reports if name in fit.quantities]


# Chains are started and take their seeds in the same way for all models, at one mode or at several.


@pytest.mark.parametrize("model", [rb.GaussianXCC(), rb.TAP()], ids=lambda x: x.name())
def test_draws_of_a_chain_do_not_depend_on_the_number_of_chains(model: RatingModel) -> None:
    two, one = fitted(model), fitted(model, chains=1)

    assert two.modes.empty  # otherwise their masses would be estimated from all chains
    xr.testing.assert_identical(two.posterior.isel(chain=slice(1)), one.posterior)


@pytest.mark.parametrize("model", [rb.GaussianXCC(), rb.DawidSkene()], ids=lambda x: x.name())
def test_draws_depend_on_the_seed_and_not_on_the_number_of_parallel_chains(
    model: RatingModel, ratings: rb.Ratings
) -> None:
    sequential = model.fit(ratings, **(QUICK | {"parallel_chains": 1}))
    other = model.fit(ratings, **(QUICK | {"seed": 4}))

    xr.testing.assert_identical(sequential.posterior, fitted(model).posterior)
    assert not sequential.posterior.equals(other.posterior)


@every_model
def test_dispersed_starts_keep_the_acceptance_of_the_warm_start(
    model: RatingModel, ratings: rb.Ratings
) -> None:
    problem = model.problem(ratings)
    warm = start(model)

    cold = model.cold_start(problem, warm.centring)

    assert cold.target_acceptance >= warm.target_acceptance


# The tests of Ratings show for all tables that neither the order of rows nor ids reach a model.
# Here one model shows it end to end, from the table to the draws.


def test_order_of_rows_does_not_change_draws() -> None:
    model = rb.GaussianXCC()
    frame = suitable_ratings(model).to_frame().sample(frac=1, random_state=2)
    shuffled = rb.Ratings.from_frame(frame, pool="pool")

    one, other = fitted(model, chains=1), model.fit(shuffled, **ONE_CHAIN)

    xr.testing.assert_identical(one.posterior, other.posterior)


def test_ids_only_change_labels() -> None:
    model = rb.GaussianXCC()
    frame = suitable_ratings(model).to_frame()
    renamed = rb.Ratings.from_frame(
        frame.assign(item=frame["item"] + 1000, rater=frame["rater"].map("rater {}".format)),
        pool="pool",
    )

    one, other = fitted(model, chains=1), model.fit(renamed, **ONE_CHAIN)

    xr.testing.assert_identical(*(x.posterior.drop_vars(x.posterior.coords) for x in (one, other)))
    assert other.raters().index.tolist() == [f"rater {rater}" for rater in one.raters().index]
    items = (x.items().index.get_level_values("item") for x in (other, one))
    assert next(items).tolist() == [item + 1000 for item in next(items)]


@every_model
def test_saved_fit_loads_unchanged(model: RatingModel, ratings: rb.Ratings, tmp_path: Path) -> None:
    fit = fitted(model)

    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")

    xr.testing.assert_identical(loaded.posterior, fit.posterior)
    xr.testing.assert_identical(loaded.quantities, fit.quantities)
    assert (loaded.model, loaded.ratings, loaded.settings) == (model, ratings, fit.settings)
    pd.testing.assert_frame_equal(loaded.summary(), fit.summary())
    pd.testing.assert_frame_equal(loaded.items(draws=10), fit.items(draws=10))
    pd.testing.assert_frame_equal(loaded.raters(), fit.raters())


@every_model
def test_estimates_of_raters_may_take_some_of_the_draws(model: RatingModel) -> None:
    fit = fitted(model)
    every_fifth = fit.posterior.isel(draw=slice(None, None, 5)).assign_coords(draw=range(5))

    found = fit.raters(draws=10)

    expected = dataclasses.replace(fit, posterior=every_fifth).raters()
    pd.testing.assert_frame_equal(found, expected)


@pytest.mark.parametrize(
    "model",
    [
        rb.LogitXCC(),
        rb.HierarchicalDawidSkene(),
        *(
            pytest.param(model, marks=pytest.mark.proof)
            for model in (rb.GaussianICC(), rb.LogitICC(), rb.TAP())
        ),
    ],
    ids=lambda model: model.name(),
)
def test_earlier_fit_can_be_a_warm_start(model: RatingModel, ratings: rb.Ratings) -> None:
    earlier = fitted(model)

    later = model.fit(ratings, warm_start=earlier, **ONE_CHAIN)

    assert later.posterior.sizes == earlier.posterior.isel(chain=[0]).sizes
    two, three = (earlier.create_inits(seed=1, chains=chains) for chains in (2, 3))
    assert all(np.array_equal(two[1][name], three[1][name]) for name in two[1])


@every_model
def test_em_never_decreases_and_chains_start_at_different_points(model: RatingModel) -> None:
    warm = start(model)

    inits = warm.create_inits(seed=1, chains=4)

    assert np.diff(warm.path).min() >= -1e-9 * abs(warm.path[-1])
    assert len({json.dumps(init) for init in inits}) == 4


@every_model
def test_stan_program_is_formatted_by_stanc(model: RatingModel) -> None:
    for program in (ROOT / "stan").glob(f"{model.name().replace('-', '_')}*.stan"):
        text = program.read_text()

        formatted = Toolchain.find().stanc("--auto-format", "--max-line-length=100", program)

        assert text == formatted


@functools.cache
def fitted(model: RatingModel, chains: int = 2) -> rb.Fit:
    """Short fit, shared by all tests."""
    return model.fit(suitable_ratings(model), **(QUICK if chains == 2 else ONE_CHAIN))


@functools.cache
def start(model: RatingModel) -> WarmStart:
    """At the heaviest mode, shared by all tests."""
    return model.starts(model.problem(suitable_ratings(model)))[0]


@functools.cache
def suitable_ratings(model: RatingModel) -> rb.Ratings:
    """Ratings 0, 1 and 2 by two pools, or binary ratings if the model only takes two categories."""
    rng = np.random.default_rng(1)
    item, rater = (codes.ravel() for codes in np.mgrid[:30, :6])
    noise = rng.normal(0, 1, 30)[item] + rng.normal(0, 0.5, 6)[rater] + rng.normal(0, 0.5, 180)
    rating = np.clip(np.round(1 + noise), 0, 2)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
    frame["pool"] = np.where(rater % 2, "human", "llm")
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
