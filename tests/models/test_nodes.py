"""Nodes of a quadrature: as many as the posterior of a fit needs."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families import integration
from reliabayes.families.categories.difficulty import difficulty_nodes
from reliabayes.families.categories.latent_starts import with_enough_nodes
from reliabayes.families.ordered.density import finer
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.ordered_model import OrderedModel

pytestmark = pytest.mark.slow

MODELS: dict[str, tuple[OrderedModel, int]] = {
    "logit": (rb.LogitICC(), 2),
    "probit": (rb.LogitICC(link="probit"), 2),
    "ordinal": (rb.OrdinalICC(), 4),
    "two pools": (rb.OrdinalXCC(), 4),
}

short_chains = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


def simulated(name: str, items: int) -> rb.Ratings:
    """Ratings of each item by three of six raters of each of two pools."""
    model, categories = MODELS[name]
    rng = np.random.default_rng(4)
    rows = [
        (item, 6 * pool + rater, pool)
        for item in range(items)
        for pool in range(2)
        for rater in rng.choice(6, 3, replace=False)
    ]
    design = pd.DataFrame(rows, columns=["item", "rater", "pool"])
    pooled = isinstance(model, rb.OrdinalXCC)
    given: dict[str, Array] = {"sd_item": np.array([1.5, 2.0]) if pooled else np.array(2.0)}
    return model.simulate(design, rng, categories=range(categories), parameters=given)


@pytest.mark.parametrize("name", MODELS)
def test_fewer_nodes_do_where_the_sd_of_items_is_known(name: str) -> None:
    model, ratings = MODELS[name][0], simulated(name, items=400)
    problem = model.problem(ratings)
    start = model.start(problem)

    settled = model.settled(problem, start.centring)

    assert settled.nodes.number < 0.8 * problem.nodes.number
    fine = replace(problem, nodes=finer(problem.nodes, problem.is_pooled))
    for point in start.create_inits(seed=3, chains=4):
        at = {parameter: np.asarray(value) for parameter, value in point.items()}
        error = model.log_likelihood(at, settled) - model.log_likelihood(at, fine)
        assert abs(error) < 1e-3


@pytest.mark.parametrize("name", MODELS)
def test_all_nodes_are_kept_where_it_is_hardly_known(name: str) -> None:
    model, problem = MODELS[name][0], MODELS[name][0].problem(simulated(name, items=20))

    settled = model.settled(problem, model.start(problem).centring)

    assert settled.nodes.number == problem.nodes.number


def test_nodes_that_were_asked_for_are_kept() -> None:
    model = rb.LogitICC(nodes=101)
    problem = model.problem(simulated("logit", items=400))

    assert model.settled(problem, model.start(problem).centring).nodes.number == 101


@short_chains
def test_a_fit_and_its_file_have_the_same_nodes_and_state_their_error(tmp_path: Path) -> None:
    model, ratings = rb.LogitICC(), simulated("logit", items=400)

    fit = model.fit(ratings, seed=1, chains=2, warmup=50, draws=50)
    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")

    checks = fit.diagnostics()
    assert checks.nodes < model.problem(ratings).nodes.number
    assert 0 < checks.integration_error < 1e-3
    assert loaded.diagnostics().nodes == checks.nodes
    assert loaded.diagnostics().integration_error == checks.integration_error
    assert loaded.quantities.equals(fit.quantities)


def test_a_mode_is_found_with_fewer_nodes_than_all_sds_may_need(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    model, rng = rb.LogitICC(), np.random.default_rng(5)
    frame = pd.MultiIndex.from_product([range(15), range(60)], names=["item", "rater"])
    given = {"sd_item": np.array(2.0)}
    ratings = model.simulate(frame.to_frame(index=False), rng, parameters=given)
    problem = model.problem(ratings)
    assert problem.nodes.number > 100

    coarse = model.start(problem).point
    monkeypatch.setattr(integration, "MANY_NODES", 10_000)
    fine = model.start(problem).point

    monkeypatch.setattr(integration, "MANY_NODES", 60)
    assert integration.coarse_nodes(problem.nodes).number < 70
    for name, value in model.start(problem).point.items():
        assert value == pytest.approx(fine[name], abs=0.02)
        assert coarse[name] == pytest.approx(fine[name], abs=0.02)


def test_items_with_hundreds_of_ratings_keep_their_nodes() -> None:
    model, rng = rb.LatentTAP(), np.random.default_rng(2)
    frame = pd.MultiIndex.from_product([range(6), range(300)], names=["item", "rater"])
    ratings = model.simulate(frame.to_frame(index=False), rng, categories=["a", "b"])
    problem: Any = model.problem(ratings)
    assert problem.nodes.number > 64

    (start,) = with_enough_nodes(model.family.response, [model.start(problem)], problem)

    settled: Any = model.settled(problem, start.centring)
    assert settled.nodes.number >= problem.nodes.number


@short_chains
def test_difficulties_that_differ_much_have_more_nodes_in_a_fit_and_its_file(
    tmp_path: Path,
) -> None:
    model, rng = rb.LatentTAP(), np.random.default_rng(9)
    frame = pd.MultiIndex.from_product([range(1500), range(6)], names=["item", "rater"])
    design = frame.to_frame(index=False)
    given = {"sd_delta": np.array([4.0]), "mean_alpha": np.array(1.0)}
    ratings = model.simulate(design, rng, categories=["a", "b", "c"], parameters=given)
    usual = difficulty_nodes(6, None).number

    fit = model.fit(ratings, seed=1, chains=2, warmup=50, draws=50, progress=False)
    fit.save(tmp_path / "fit.nc")

    checks = fit.diagnostics()
    assert checks.nodes is not None
    assert checks.nodes > usual
    assert checks.integration_error < 0.05
    assert rb.Fit.load(tmp_path / "fit.nc").diagnostics().nodes == checks.nodes


@pytest.mark.parametrize(
    ("most", "sd_delta"), [(3, 0.3), (3, 2.2), (12, 2.2), (40, 0.3), (40, 1.2)]
)
def test_nodes_of_difficulties_suffice_and_twice_as_many_are_all_but_exact(
    most: int, sd_delta: float
) -> None:
    model, rng = rb.LatentTAP(), np.random.default_rng(8)
    rows = [(item, rater) for item in range(40) for rater in rng.choice(40, most, replace=False)]
    design = pd.DataFrame(rows, columns=["item", "rater"])
    given = {"sd_delta": np.array([sd_delta]), "mean_alpha": np.array(1.0)}
    ratings = model.simulate(design, rng, categories=["a", "b", "c"], parameters=given)
    problem: Any = model.problem(ratings)
    point = {**model.family.response.draw_from_prior(problem, rng, given), **given}
    number = problem.nodes.number

    exact, found, closer = (
        model.log_likelihood(point, replace(problem, nodes=nodes))
        for nodes in (
            Nodes.of(241, reach=9.0),
            problem.nodes,
            difficulty_nodes(most, 2 * number),
        )
    )

    assert abs(found - exact) < 1e-3
    assert abs(closer - exact) < 1e-6
