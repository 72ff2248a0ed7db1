"""Runs of Gibbs sampling from several modes share the draws of one, if chains pass between them."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from reliabayes.families.categories import combination
from reliabayes.families.categories.density import states_at, states_at_each
from reliabayes.families.categories.modes import find_modes
from reliabayes.inference import gibbs
from reliabayes.sampling.thresholds import MIXING
from tests.models.gibbs_runs import Run, noted_runs
from tests.models.test_misleading import rated
from tests.models.test_modes import near_chance, worse_than_chance

pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")

MODEL = rb.HierarchicalDawidSkene()


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """Each run of the Gibbs sampler."""
    return noted_runs(monkeypatch)


@pytest.fixture(scope="module")
def passing() -> tuple[rb.Fit, list[Run]]:
    """A fit whose chains pass between modes, as far as 200 draws tell, and its runs."""
    with pytest.MonkeyPatch.context() as patch, warnings.catch_warnings():
        warnings.simplefilter("ignore", rb.ConvergenceWarning)
        patch.setattr(combination, "MIXING", MIXING._replace(r_hat=1.1, ess=20))
        runs = noted_runs(patch)
        return MODEL.fit(near_chance(1), seed=1, draws=401, sampler="gibbs"), runs


@pytest.mark.slow
def test_runs_between_whose_modes_chains_pass_share_the_draws_of_one(
    passing: tuple[rb.Fit, list[Run]],
) -> None:
    fit, runs = passing

    assert [options["draws"] for _, options, _ in runs] == [201, 201]
    assert not any(options.get("done") for _, options, _ in runs)
    assert fit.posterior.sizes["draw"] == 401
    every = np.concatenate([drawn.parameters["location"] for _, _, drawn in runs], axis=1)
    for chain, drawn in enumerate(fit.posterior["location"].to_numpy()):
        assert np.isin(drawn[:, 0], every[chain, :, 0]).all()
        assert len(np.unique(drawn[:, 0])) == 401


@pytest.mark.slow
def test_runs_whose_chains_stay_at_modes_go_on_until_each_has_all_draws(
    runs: list[Run],
) -> None:
    MODEL.fit(worse_than_chance(0), seed=1, draws=200, sampler="gibbs")

    assert [options["draws"] for _, options, _ in runs] == [100] * 4
    assert [options["warmup"] for _, options, _ in runs][2:] == [0, 0]
    for (_, _, first), (_, options, _) in zip(runs[:2], runs[2:], strict=True):
        assert options["done"] == first.iterations > 0
        for chain, point in enumerate(options["inits"]):
            for name, value in point.items():
                np.testing.assert_array_equal(value, first.parameters[name][chain, -1])


def test_runs_from_different_modes_have_random_numbers_of_their_own(
    passing: tuple[rb.Fit, list[Run]],
) -> None:
    _, runs = passing

    one, other = (drawn.parameters["prevalence"][..., 0].ravel() for _, _, drawn in runs)
    # Chains with the same random numbers become alike: their correlation was 0.8 and more.
    assert abs(np.corrcoef(one, other)[0, 1]) < 0.3


def test_chains_are_those_of_their_numbers() -> None:
    problem = MODEL.problem(near_chance(0))
    own: Any = MODEL.conjugate(problem)
    inits = MODEL.start(problem).create_inits(seed=1, chains=3)
    options: dict[str, Any] = {"warmup": 0, "draws": 20, "seed": 1, "progress": False}

    every = gibbs.sample(own, chains=3, inits=inits, **options)
    last = gibbs.sample(own, chains=1, inits=inits[2:], first_chain=2, **options)

    np.testing.assert_array_equal(every.parameters["effect"][2:], last.parameters["effect"])


@pytest.mark.slow
@pytest.mark.parametrize("model", [MODEL, rb.MACE()], ids=lambda model: model.name())
def test_states_at_several_points_are_those_at_each(model: Any) -> None:
    problem = model.problem(worse_than_chance(0))
    points = [mode.climb.point for mode in find_modes(model.family, problem)]

    together = {name: np.array([point[name] for point in points]) for name in points[0]}

    found = states_at_each(model.family.response, together, problem)

    assert len(points) > 1
    for point, states in zip(points, found, strict=True):
        np.testing.assert_allclose(
            states, states_at(model.family.response, point, problem), atol=1e-12
        )


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        rb.MACE(prevalence="uniform"),
        pytest.param(rb.RaterTAP(prevalence="item"), marks=pytest.mark.proof),
    ],
    ids=repr,
)
def test_modes_without_a_prevalence_are_weighed(model: Any) -> None:
    one, other = np.random.default_rng(1).integers(0, 2, (2, 40))
    ratings = rb.Ratings.from_wide(np.stack([one, one, other, other], axis=1), scale="nominal")

    fit = model.fit(ratings, seed=1, chains=2, draws=100, sampler="gibbs")

    assert len(find_modes(model.family, model.problem(ratings))) == 2
    masses = [mode.mass for mode in fit.settings.modes]
    assert masses == pytest.approx([0.5, 0.5], abs=0.1)  # neither pair of raters is the better one


@pytest.mark.parametrize("misleading", [None, rb.Beta(1, 9)])
def test_states_at_several_points_keep_known_answers(misleading: rb.Beta | None) -> None:
    model = rb.HierarchicalDawidSkene(prior_misleading=misleading)
    problem, rng = model.problem(rated(known=0.5)), np.random.default_rng(1)
    response = model.family.response
    points = [response.draw_from_prior(problem, rng, {}) for _ in range(3)]
    together = {name: np.array([point[name] for point in points]) for name in points[0]}

    found = states_at_each(model.family.response, together, problem)

    assert problem.n_gold_states == 4
    for point, states in zip(points, found, strict=True):
        np.testing.assert_allclose(
            states, states_at(model.family.response, point, problem), atol=1e-12
        )
