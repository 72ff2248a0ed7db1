"""Covariances that the sampler takes as they are, where the posterior is nearly normal."""

from __future__ import annotations

import functools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from benchmarks.score_priors import simulated
from benchmarks.simulated import simulate
from reliabayes.arrays import Array
from reliabayes.choices import Sampler
from reliabayes.inference.log_density import log_densities, log_gradients
from reliabayes.inference.problem import stan_data
from tests.by_program import draws_by_program

MODEL = rb.LogitICC()
FEW: dict[str, Any] = {"seed": 1, "chains": 2, "draws": 300, "progress": False}


def ratings(items: int, raters: int, per_item: int) -> rb.Ratings:
    design = simulate(items, raters, per_item, seed=3)[["item", "rater"]]
    truth = {"sd_item": 1.0, "sd_rater": 0.7, "mean": 0.2}
    return MODEL.simulate(design, np.random.default_rng(3), parameters=truth)


def test_gradients_are_those_of_the_density() -> None:
    problem = MODEL.problem(ratings(60, 4, 3))
    (start,) = MODEL.starts(problem)
    data, step = stan_data(problem, start.centring), 1e-5
    at: Array = 0.1 * np.arange(start.size, dtype=float)
    moves = step * np.eye(start.size)

    _, found = log_gradients("ordinal_icc", data, at[None])

    after, before = (log_densities("ordinal_icc", data, at + sign * moves) for sign in (1, -1))
    np.testing.assert_allclose(found[0], (after - before) / (2 * step), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("raters", [6, 12])
def test_many_ratings_by_several_raters_have_a_nearly_normal_posterior(raters: int) -> None:
    (start,) = MODEL.starts(MODEL.problem(ratings(600, raters, 6)))

    assert start.max_tree_depth == 2
    assert start.covariance is not None
    sd = np.sqrt(np.diag(start.covariance))
    # What is known of a level by its own ratings is nearly all that is.
    assert sd[-raters:] == pytest.approx(np.ones(raters), abs=0.3)


@pytest.mark.parametrize(("items", "raters"), [(15, 5), (15, 12)])
def test_trees_of_the_sampler_grow_freely_elsewhere(items: int, raters: int) -> None:
    (start,) = MODEL.starts(MODEL.problem(ratings(items, raters, 4)))

    assert start.max_tree_depth == 10
    assert start.covariance is None


def test_few_raters_with_many_ratings_have_units_by_a_short_run() -> None:
    (start,) = MODEL.starts(MODEL.problem(ratings(600, 5, 4)))

    assert start.mean is not None
    assert start.covariance is not None
    assert start.covariance.shape == (start.size,)


@pytest.mark.slow
def test_posterior_that_reaches_where_exponentials_overflow_is_not_nearly_normal() -> None:
    # By the curvature at the mode, a standard deviation of log sd_rater is 363.
    rng, model = np.random.default_rng([2, 4, 30, 10, 9, 3, 0]), rb.OrdinalICC()
    rated = simulated(model, 4, items=30, raters=10, icc=0.9, sd_rater=0.3, rng=rng)

    (start,) = model.starts(model.problem(rated))

    assert start.covariance is None


@functools.cache
def by_long_trajectories() -> rb.Fit:
    rated = ratings(600, 12, 6)
    return MODEL.fit(rated, warm_start=MODEL.start(MODEL.problem(rated)), **FEW)


@pytest.mark.slow
@pytest.mark.parametrize(("sampler", "steps"), [("nuts", 3), ("hmc", 2)])
def test_short_trajectories_are_no_fault_and_reach_the_same_posterior(
    sampler: Sampler, steps: int
) -> None:
    rated = ratings(600, 12, 6)

    short = MODEL.fit(rated, sampler=sampler, **FEW)
    long = by_long_trajectories()

    assert short.settings.sampler == sampler
    assert short.sample_stats["n_steps"].max() == steps
    assert short.diagnostics().tree_depth_hits == 0
    of_short, of_long = short.summary(), long.summary()
    z: Array = (of_short["mean"] - of_long["mean"]) / np.hypot(of_short["mcse"], of_long["mcse"])
    assert np.abs(z).max() < 4


@pytest.mark.slow
def test_mean_is_known_where_the_posterior_is_skewed() -> None:
    rated = ratings(200, 7, 5)
    problem = MODEL.problem(rated)
    (start,) = MODEL.starts(problem)
    assert start.mean is not None
    assert start.covariance is not None

    run = draws_by_program(MODEL, problem, start, chains=4, draws=1000, seed=1)

    drawn = np.concatenate(
        [run.parameters["core"], run.parameters["score"].reshape(4, 1000, -1)], axis=-1
    )
    lp = run.statistics["lp"][0]
    density = log_densities(MODEL.program(problem), stan_data(problem, start.centring), drawn[0])
    np.testing.assert_allclose(lp - lp[0], density - density[0], atol=1e-6)
    errors = (drawn.mean(axis=(0, 1)) - start.mean) / np.sqrt(np.diag(start.covariance))
    of_mode = (drawn.mean(axis=(0, 1)) - start.centre) / np.sqrt(np.diag(start.covariance))
    assert np.abs(errors).max() < 0.1
    assert np.abs(of_mode).max() > 2 * np.abs(errors).max()


def test_nuts_samples_where_tails_are_wide() -> None:
    rated = MODEL.simulate(  # raters hardly differ
        simulate(1000, 8, 4, seed=3)[["item", "rater"]],
        np.random.default_rng(3),
        parameters={"sd_item": 1.0, "sd_rater": 0.1, "mean": 0.0},
    )

    (start,) = MODEL.starts(MODEL.problem(rated))

    assert start.covariance is not None
    assert start.mean is None


@pytest.mark.slow
def test_draws_without_trees_are_saved_with_their_diagnostics(tmp_path: Path) -> None:
    fit = MODEL.fit(ratings(200, 7, 5), **FEW)
    fit.save(tmp_path / "fit.nc")

    found = rb.Fit.load(tmp_path / "fit.nc")

    assert fit.settings.sampler == "hmc"
    assert fit.settings.sampler_name == "Hamiltonian Monte Carlo"
    assert found.settings == fit.settings
    assert found.diagnostics().bfmi == pytest.approx(fit.diagnostics().bfmi)
    assert found.summary().equals(fit.summary())
    assert set(fit.sample_stats) >= {"diverging", "energy", "n_steps", "acceptance_rate"}


@pytest.mark.slow
def test_files_of_stan_are_those_of_nuts(tmp_path: Path) -> None:
    rated = ratings(200, 7, 5)

    fit = MODEL.fit(rated, output_dir=tmp_path, **FEW)

    assert fit.settings.sampler == "nuts"
    assert "engine = nuts" in next(tmp_path.glob("*_1.csv")).read_text()
    with pytest.raises(ValueError, match="output_dir keeps Stan's files"):
        MODEL.fit(rated, output_dir=tmp_path, sampler="hmc")


def test_fixed_trajectories_are_refused_where_no_normal_distribution_is_known() -> None:
    with pytest.raises(ValueError, match="LogitICC has no normal distribution close to its poster"):
        MODEL.fit(ratings(15, 12, 4), sampler="hmc")
