"""Compiled steps of EM, against those in NumPy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.families.categories.compiled_em import (
    compiled_hierarchy,
    compiled_latent_tap,
    steps_are_compiled,
)
from reliabayes.families.categories.density import e_step, expected_at, initial
from reliabayes.families.categories.log_odds import LogOdds, Precision
from reliabayes.inference.em import Climb, Point

Model: TypeAlias = rb.HierarchicalDawidSkene | rb.LatentTAP

MODELS: dict[str, Model] = {
    "hierarchy": rb.HierarchicalDawidSkene(),
    "hierarchy, other priors": rb.HierarchicalDawidSkene(
        prior_prevalence=rb.Dirichlet(1.5),
        prior_location=rb.Normal(-1.0, 2.0),
        prior_spread=rb.HalfStudentT(4, 0.5),
        prior_ability_spread=rb.HalfStudentT(6, 0.8),
    ),
    "latent t-a-p": rb.LatentTAP(),
    "latent t-a-p, other priors": rb.LatentTAP(
        nodes=5,
        prior_prevalence=rb.Dirichlet(1.5),
        prior_mean_alpha=rb.Normal(-1.0, 0.5),
        prior_sd_delta=rb.HalfStudentT(4, 0.5),
        prior_mean_p=rb.Dirichlet(3.0),
    ),
    "latent t-a-p, no difficulty": rb.LatentTAP(difficulty=False),
}
SHARE = rb.Beta(0.5, 9.5)
MISLED: dict[str, Model] = {
    "hierarchy": rb.HierarchicalDawidSkene(prior_misleading=SHARE),
    "latent t-a-p": rb.LatentTAP(prior_misleading=SHARE),
}


def uneven_crowd(n_categories: int, *, gold: bool = False) -> rb.Ratings:
    """Ratings by six raters, 60% right; the first rates some items twice, the last rates one."""
    rng = np.random.default_rng(n_categories)
    truth = rng.permutation(np.arange(60) % n_categories)
    table = pd.DataFrame([(i, j) for i in range(60) for j in range(6)], columns=["item", "rater"])
    table = table[(rng.random(len(table)) < 0.7) & (table["rater"] < 5) | (table["item"] == 3)]
    table = pd.concat([table, table[(table["rater"] == 0) & (table["item"] < 20)]])
    right = rng.random(len(table)) < 0.6
    random = rng.integers(n_categories, size=len(table))
    table["rating"] = np.where(right, truth[table["item"]], random)
    table["gold"] = np.where(table["item"] < 7, truth[table["item"]], np.nan)
    return rb.Ratings.from_frame(
        table,
        scale="nominal",
        gold="gold" if gold else None,
        categories=range(n_categories),
        replicates="keep",
    )


def start(model: Model, ratings: rb.Ratings) -> tuple[Any, Point]:
    """A problem, of a hierarchy with a Laplace approximation, and a point to climb from."""
    problem: Any = model.problem(ratings)
    response = model.family.response
    first = response.maximise(problem.middle, initial(problem, None), problem)
    if isinstance(response, LogOdds):
        centring = response.centring_at(first, problem)
        problem = replace(problem, own=Precision(centring.log_odds_precision))
    return problem, first


def compiled_climb(
    model: Model, here: Point, problem: Any, max_iterations: int, tolerance: float
) -> Climb:
    """EM from a point in compiled steps."""
    is_hierarchy = isinstance(model, rb.HierarchicalDawidSkene)
    climb = compiled_hierarchy if is_hierarchy else compiled_latent_tap
    return climb(here, problem, max_iterations, tolerance)


@pytest.mark.parametrize("gold", [False, True], ids=["no gold", "gold"])
@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("n_categories", [2, 3, 4, 5, 7])
def test_compiled_steps_are_those_of_numpy(n_categories: int, name: str, gold: bool) -> None:
    model = MODELS[name]
    problem, here = start(model, uneven_crowd(n_categories, gold=gold))

    for _ in range(4):
        found = compiled_climb(model, here, problem, 1, 0)

        log_likelihood, expected = e_step(model.family.response, here, problem)
        objective = log_likelihood + model.family.response.log_prior(here, problem)
        here = model.family.response.maximise(here, expected(), problem)
        assert found.path[0] == pytest.approx(objective, rel=1e-12)
        assert list(found.point) == list(here)
        for parameter, values in here.items():
            np.testing.assert_allclose(found.point[parameter], values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("odds", [-200.0, 20.0])
def test_steps_from_raters_who_all_know_or_guess_are_those_of_numpy(odds: float) -> None:
    model = MODELS["latent t-a-p"]
    problem, here = start(model, uneven_crowd(3))
    here = {**here, "alpha": np.full(problem.n_raters, odds), "mean_alpha": np.array(odds)}

    found = compiled_climb(model, here, problem, 1, 0)

    expected = expected_at(model.family.response, here, problem)
    for parameter, values in model.family.response.maximise(here, expected, problem).items():
        np.testing.assert_allclose(found.point[parameter], values, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("name", MISLED)
def test_probability_that_items_mislead_keeps_its_prior_without_gold(name: str) -> None:
    model = MISLED[name]
    problem, here = start(model, uneven_crowd(3))

    found = compiled_climb(model, here, problem, 5, 0)

    (share,) = found.point["misleading"]
    assert share == pytest.approx(0.05)
    log_likelihood, _ = e_step(model.family.response, found.point, problem)
    objective = log_likelihood + model.family.response.log_prior(found.point, problem)
    assert found.path[-1] == pytest.approx(objective, rel=1e-12)


def test_gold_that_says_how_many_items_mislead_is_left_to_numpy() -> None:
    ratings = uneven_crowd(3, gold=True)

    are_compiled = [
        steps_are_compiled(models["hierarchy"].problem(ratings)) for models in (MODELS, MISLED)
    ]

    assert are_compiled == [True, False]


def test_covariates_and_gold_that_says_how_many_items_mislead_are_left_to_numpy() -> None:
    ratings, gold = uneven_crowd(3), uneven_crowd(3, gold=True)
    experience = rb.Covariates(("years",), tuple(range(6)), tuple((1.0 * x,) for x in range(6)))
    misled = rb.LatentTAP(prior_misleading=SHARE)
    cases = (
        (rb.LatentTAP(), gold),
        (misled, ratings),
        (misled, gold),
        (rb.LatentTAP(covariates=experience), ratings),
    )

    are_compiled = [steps_are_compiled(model.problem(rated)) for model, rated in cases]

    assert are_compiled == [True, True, False, False]


@pytest.mark.parametrize("name", ["hierarchy", "latent t-a-p"])
@pytest.mark.parametrize("n_categories", [2, 5])
def test_compiled_climb_never_descends_and_ends_where_a_step_changes_nothing(
    n_categories: int, name: str
) -> None:
    model = MODELS[name]
    problem, here = start(model, uneven_crowd(n_categories))

    found = compiled_climb(model, here, problem, 5000, 1e-9)

    assert found.converged
    assert min(np.diff(found.path)) > -1e-9
    again = model.family.response.maximise(
        found.point, expected_at(model.family.response, found.point, problem), problem
    )
    for parameter, values in again.items():
        np.testing.assert_allclose(found.point[parameter], values, atol=1e-5)
