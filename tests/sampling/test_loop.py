"""Chains go on until draws are good enough, and other samplers follow where they cannot."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.inference import stan
from reliabayes.inference.stan import Draws
from reliabayes.results.diagnostics import Diagnostics
from reliabayes.sampling import loop
from tests.inference.test_gibbs import crowd
from tests.models.gibbs_runs import noted_runs
from tests.models.test_alarms import study

pytestmark = pytest.mark.slow

QUICK: dict[str, Any] = {"chains": 2, "draws": 500, "seed": 3, "progress": False}


def in_doubt(monkeypatch: pytest.MonkeyPatch, *answers: bool, disagree: bool = False) -> None:
    """Let the first fits be in doubt or not, as told, and the others not."""
    told = [*answers]
    monkeypatch.setattr(loop.Aim, "is_met", lambda aim, fit: not (told and told.pop(0)))
    monkeypatch.setattr(loop.Aim, "next", lambda aim, fit: (4, fit.settings.draws))
    monkeypatch.setattr(Diagnostics, "chains_disagree", property(lambda checks: disagree))


def test_chains_of_gibbs_sampling_go_on_where_they_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    in_doubt(monkeypatch, True)
    runs = noted_runs(monkeypatch)

    rb.DawidSkene().fit(crowd(400, 60, 3, 4), **QUICK)

    (usual, first, drawn), (longer, second, _) = runs
    assert longer.sweeps + longer.passes == 4 * (usual.sweeps + usual.passes)
    assert (first["warmup"], second["warmup"]) == (200, 0)
    assert second["done"] == drawn.iterations == usual.sweeps * (200 + 500) + 1
    for chain, point in enumerate(second["inits"]):
        for name, value in point.items():
            np.testing.assert_array_equal(value, drawn.parameters[name][chain, -1])


@pytest.mark.parametrize(("disagree", "kept"), [(False, 125), (True, 0)])
def test_one_in_so_many_draws_stays_if_chains_agree(
    disagree: bool, kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings = crowd(400, 60, 3, 4)
    in_doubt(monkeypatch, False)
    first = rb.DawidSkene().fit(ratings, **QUICK).posterior["confusion"].to_numpy()
    in_doubt(monkeypatch, True, disagree=disagree)

    then = rb.DawidSkene().fit(ratings, **QUICK).posterior["confusion"].to_numpy()

    assert then.shape == first.shape
    np.testing.assert_array_equal(then[:, :kept], first[:, 3::4][:, :kept])
    assert not np.isin(then[:, kept:], first).any()


def test_sweeps_have_random_numbers_of_their_own(monkeypatch: pytest.MonkeyPatch) -> None:
    in_doubt(monkeypatch, True, True)
    runs = noted_runs(monkeypatch)

    rb.RaterTAP().fit(crowd(100, 8, 3, 4), **QUICK)

    first, second, third = (run.drawn.parameters["a"] for run in runs)
    assert not np.isin(second, first).any()
    assert not np.isin(third, [*first.ravel(), *second.ravel()]).any()


def test_nuts_goes_on_with_what_it_has_adapted(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings = study(rb.GaussianICC(), (30, 5), seed=1)
    in_doubt(monkeypatch, True)
    calls: list[tuple[dict[str, Any], Draws]] = []
    sample = stan.sample

    def noted(program: str, **options: Any) -> Draws:
        calls.append((options, sample(program, **options)))
        return calls[-1][1]

    monkeypatch.setattr(stan, "sample", noted)

    fit = rb.GaussianICC().fit(ratings, **QUICK)

    (_, first), (then, second) = calls
    assert then["warmup"] == 0
    assert then["thinning"] == 4
    assert then["draws"] == 375
    step_sizes = first.statistics["step_size"][:, -1]
    assert [each.step_size for each in then["geometry"]] == pytest.approx(step_sizes, rel=1e-5)
    assert second.statistics["step_size"] == pytest.approx(
        np.broadcast_to(step_sizes[:, None], (2, 375)), rel=1e-5
    )
    for chain, point in enumerate(then["inits"]):
        assert point["sd_item"] == first.parameters["sd_item"][chain, -1]
    assert fit.posterior.sizes["draw"] == 500
    assert not np.isin(second.parameters["sd_item"], first.parameters["sd_item"]).any()


@pytest.mark.parametrize(
    ("shape", "thinning"),
    [
        ((30, 5), [1, 4]),  # small steps
        ((300, 12), [1, 1]),  # long trees after none
    ],
)
def test_nuts_is_more_careful_where_it_cannot_go_on(
    shape: tuple[int, int], thinning: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    in_doubt(monkeypatch, *[True] * 9)
    monkeypatch.setattr(Diagnostics, "needs_smaller_steps", property(lambda checks: True))
    asked: list[dict[str, Any]] = []
    sample = stan.sample

    def noted(program: str, **options: Any) -> Draws:
        asked.append(options)
        return sample(program, **options)

    monkeypatch.setattr(stan, "sample", noted)

    fit = rb.LogitICC().fit(study(rb.LogitICC(), shape, seed=1), **QUICK)

    assert [each["thinning"] for each in asked] == thinning
    assert fit.settings.sampler == "nuts"
    assert fit.settings.max_tree_depth == 10


def test_a_sampler_that_is_asked_for_is_neither_changed_nor_prolonged(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    in_doubt(monkeypatch, True)
    runs = noted_runs(monkeypatch)

    rb.DawidSkene().fit(crowd(40, 8, 3, 4), sampler="gibbs", **QUICK)

    assert len(runs) == 1


@pytest.mark.parametrize(
    ("model", "ratings", "sampler"),
    [
        (rb.GaussianICC(), study(rb.GaussianICC(), (30, 5), seed=1), "nuts"),
        (rb.DawidSkene(), crowd(100, 8, 3, 4), "gibbs"),
    ],
    ids=["nuts", "gibbs"],
)
def test_draws_have_the_effective_size_that_is_asked_for(
    model: Any, ratings: rb.Ratings, sampler: str
) -> None:
    fit = model.fit(ratings, seed=1, ess=3000, draws=1000, progress=False)

    checks = fit.diagnostics()
    assert fit.settings.sampler == sampler
    assert min(checks.ess_bulk, checks.ess_tail) >= 3000


def test_means_have_the_error_that_is_asked_for() -> None:
    ratings = study(rb.GaussianICC(), (30, 5), seed=1)
    usual = rb.GaussianICC().fit(ratings, seed=1, progress=False).summary()["mcse"]["icc"]

    fit = rb.GaussianICC().fit(ratings, seed=1, mcse={"icc": usual / 2}, progress=False)

    assert fit.summary()["mcse"]["icc"] <= usual / 2


def test_a_precision_that_is_not_reached_is_said() -> None:
    ratings = study(rb.GaussianICC(), (30, 5), seed=1)

    with pytest.warns(rb.ConvergenceWarning, match="mcse=0.001 was asked for icc, and it is 0.0"):
        rb.GaussianICC().fit(ratings, seed=1, draws=300, mcse={"icc": 0.001}, progress=False)


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ({"ess": 3}, "ess must be a finite number from 4 on, not 3"),
        ({"ess": float("nan")}, "ess must be a finite number"),
        ({"ess": float("inf")}, "ess must be a finite number"),
        ({"ess": "many"}, "ess must be a finite number"),
        ({"ess": 5000, "draws": 1000}, "an ESS of 5000 cannot come from 4 chains of 1,000 draws"),
        ({"mcse": {"kappa": 0.1}}, "GaussianICC reports no 'kappa'. Choose from icc,"),
        ({"mcse": {"icc": 0}}, "mcse of 'icc' must be a finite number above 0, not 0"),
        ({"mcse": 0.1}, "mcse must name quantities, as in"),
    ],
)
def test_what_is_no_precision_is_refused(given: dict[str, Any], message: str) -> None:
    ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))

    with pytest.raises(ValueError, match=message):
        rb.GaussianICC().fit(ratings, **given)


@pytest.mark.parametrize("name", ["wine", pytest.param("vision", marks=pytest.mark.proof)])
def test_ridges_of_real_ratings_are_drawn_well(
    name: str, dataset: Callable[[str], pd.DataFrame]
) -> None:
    ratings = rb.Ratings.from_frame(dataset(name), scale="nominal")

    fit = rb.DawidSkene().fit(ratings, seed=1, progress=False)

    assert fit.settings.sampler == "gibbs"
    assert not fit.diagnostics().problems


def test_chains_do_not_go_on_for_what_more_draws_cannot_solve() -> None:
    checks = Diagnostics(1.0, 900, 900, 0, 0, 9.9, chains=4, draws=4000)

    assert not checks.draws_are_in_doubt
    for problem in (
        {"relabelled": (1,)},
        {"integration_error": 1.0},
        {"unweighed_modes": 2, "warm_start": False},
        {"unweighed_modes": 2, "searches_all": False},
    ):
        found = replace(checks, **problem)
        assert found.problems
        assert not found.draws_are_in_doubt
    for problem in ({"r_hat": 1.2}, {"ess_tail": 90}, {"divergences": 99}, {"unweighed_modes": 2}):
        assert replace(checks, **problem).draws_are_in_doubt
