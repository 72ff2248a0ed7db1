"""Compiled steps of EM for a hierarchy, against those in NumPy."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.inference.em import Point
from reliabayes.models.bases.compiled_em import steps_are_compiled
from reliabayes.models.bases.hierarchical_problem import HierarchicalProblem
from reliabayes.models.bases.hierarchy_em import compiled_climb
from tests.designs import uneven_crowd

MODELS = {
    "default": rb.HierarchicalDawidSkene(),
    "other priors": rb.HierarchicalDawidSkene(
        prior_prevalence=rb.Dirichlet(1.5),
        prior_location=rb.Normal(-1.0, 2.0),
        prior_spread=rb.HalfStudentT(4, 0.5),
    ),
    "misleading": rb.HierarchicalDawidSkene(prior_misleading=rb.Beta(0.5, 9.5)),
}


def start(
    model: rb.HierarchicalDawidSkene, ratings: rb.Ratings
) -> tuple[HierarchicalProblem, Point]:
    """A problem with a Laplace approximation, and a point to climb from."""
    problem = model.problem(ratings)
    first = model.maximise(model.midpoint(problem), model.initial(problem, None), problem)
    return replace(problem, precision=model.centring_at(first, problem).log_odds_precision), first


@pytest.mark.parametrize("gold", [False, True], ids=["no gold", "gold"])
@pytest.mark.parametrize("name", ["default", "other priors"])
@pytest.mark.parametrize("n_categories", [2, 3, 4, 5, 7])
def test_compiled_steps_are_those_of_numpy(n_categories: int, name: str, gold: bool) -> None:
    model = MODELS[name]
    problem, here = start(model, uneven_crowd(n_categories, gold=gold))

    for _ in range(4):
        found = compiled_climb(here, problem, 1, 0)

        log_likelihood, expected = model.e_step(here, problem)
        objective = log_likelihood + model.log_prior(here, problem)
        here = model.maximise(here, expected(), problem)
        assert found.path[0] == pytest.approx(objective, rel=1e-12)
        for parameter, values in here.items():
            np.testing.assert_allclose(found.point[parameter], values, rtol=1e-9, atol=1e-9)


def test_probability_that_items_mislead_keeps_its_prior_without_gold() -> None:
    model = MODELS["misleading"]
    problem, here = start(model, uneven_crowd(3))

    found = compiled_climb(here, problem, 5, 0)

    (share,) = found.point["misleading"]
    assert share == pytest.approx(0.05)
    log_likelihood, _ = model.e_step(found.point, problem)
    objective = log_likelihood + model.log_prior(found.point, problem)
    assert found.path[-1] == pytest.approx(objective, rel=1e-12)


def test_gold_that_says_how_many_items_mislead_is_left_to_numpy() -> None:
    ratings = uneven_crowd(3, gold=True)

    are_compiled = [
        steps_are_compiled(MODELS[name].problem(ratings)) for name in ("default", "misleading")
    ]

    assert are_compiled == [True, False]


@pytest.mark.parametrize("n_categories", [2, 5])
def test_compiled_climb_never_descends_and_ends_where_a_step_changes_nothing(
    n_categories: int,
) -> None:
    model = MODELS["default"]
    problem, here = start(model, uneven_crowd(n_categories))

    found = compiled_climb(here, problem, 5000, 1e-9)

    assert found.converged
    assert min(np.diff(found.path)) > -1e-9
    _, expected = model.e_step(found.point, problem)
    again = model.maximise(found.point, expected(), problem)
    for parameter, values in again.items():
        np.testing.assert_allclose(found.point[parameter], values, atol=1e-5)
