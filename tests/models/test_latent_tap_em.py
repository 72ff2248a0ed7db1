"""Compiled steps of EM for raters who know or guess, against those in NumPy."""

from __future__ import annotations

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.inference.em import Point
from reliabayes.models.bases.difficulty import LatentTAPProblem
from reliabayes.models.bases.latent_tap_em import compiled_climb, steps_are_compiled
from tests.designs import uneven_crowd

MODELS = {
    "default": rb.LatentTAP(),
    "other priors": rb.LatentTAP(
        nodes=5,
        prior_prevalence=rb.Dirichlet(1.5),
        prior_mean_alpha=rb.Normal(-1.0, 0.5),
        prior_sd_delta=rb.HalfStudentT(4, 0.5),
        prior_mean_p=rb.Dirichlet(3.0),
    ),
    "no difficulty": rb.LatentTAP(difficulty=False),
}
MISLED = rb.LatentTAP(prior_misleading=rb.Beta(0.5, 9.5))


def start(model: rb.LatentTAP, ratings: rb.Ratings) -> tuple[LatentTAPProblem, Point]:
    """A problem, and a point to climb from."""
    problem = model.problem(ratings)
    return problem, model.maximise(model.midpoint(problem), model.initial(problem, None), problem)


@pytest.mark.parametrize("gold", [False, True], ids=["no gold", "gold"])
@pytest.mark.parametrize("name", MODELS)
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
        assert list(found.point) == list(here)
        for parameter, values in here.items():
            np.testing.assert_allclose(found.point[parameter], values, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("odds", [-200.0, 20.0])
def test_steps_from_raters_who_all_know_or_guess_are_those_of_numpy(odds: float) -> None:
    model = MODELS["default"]
    problem, here = start(model, uneven_crowd(3))
    here = {**here, "alpha": np.full(problem.n_raters, odds), "mean_alpha": np.array(odds)}

    found = compiled_climb(here, problem, 1, 0)

    expected = model.expected_at(here, problem)
    for parameter, values in model.maximise(here, expected, problem).items():
        np.testing.assert_allclose(found.point[parameter], values, rtol=1e-6, atol=1e-6)


def test_probability_that_items_mislead_keeps_its_prior_without_gold() -> None:
    problem, here = start(MISLED, uneven_crowd(3))

    found = compiled_climb(here, problem, 5, 0)

    (share,) = found.point["misleading"]
    assert share == pytest.approx(0.05)
    log_likelihood, _ = MISLED.e_step(found.point, problem)
    objective = log_likelihood + MISLED.log_prior(found.point, problem)
    assert found.path[-1] == pytest.approx(objective, rel=1e-12)


def test_covariates_and_gold_that_says_how_many_items_mislead_are_left_to_numpy() -> None:
    ratings, gold = uneven_crowd(3), uneven_crowd(3, gold=True)
    experience = rb.Covariates(("years",), tuple(range(6)), tuple((1.0 * x,) for x in range(6)))
    cases = (
        (rb.LatentTAP(), gold),
        (MISLED, ratings),
        (MISLED, gold),
        (rb.LatentTAP(covariates=experience), ratings),
    )

    are_compiled = [steps_are_compiled(model.problem(rated)) for model, rated in cases]

    assert are_compiled == [True, True, False, False]


@pytest.mark.parametrize("n_categories", [2, 5])
def test_compiled_climb_never_descends_and_ends_where_a_step_changes_nothing(
    n_categories: int,
) -> None:
    model = MODELS["default"]
    problem, here = start(model, uneven_crowd(n_categories))

    found = compiled_climb(here, problem, 5000, 1e-9)

    assert found.converged
    assert min(np.diff(found.path)) > -1e-9
    again = model.maximise(found.point, model.expected_at(found.point, problem), problem)
    for parameter, values in again.items():
        np.testing.assert_allclose(found.point[parameter], values, atol=1e-5)
