"""GStudy: its Stan programs match the dense density, its posteriors REML and published numbers."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import halfnorm, multivariate_normal, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.normal.effects_problem import EffectsProblem
from reliabayes.inference import stan
from reliabayes.inference.independence import NearNormal
from reliabayes.sampling.plan import first_step
from tests.designs import slopes

Load = Callable[[str], pd.DataFrame]

REPEATED = "item x rater"
DESIGNS = ("item x rater x day", "item x (rater:day)", "(item:day) x rater", REPEATED)


def rated(design: str, share: float = 1.0) -> rb.Ratings:
    """Small ratings of a design, of which a share is kept."""
    rng = np.random.default_rng(5)
    table = pd.DataFrame(
        list(product(range(4), range(3), range(2))), columns=["item", "rater", "day"]
    )
    effects = [rng.normal(size=4)[table["item"]], rng.normal(0, 0.7, 3)[table["rater"]]]
    table["rating"] = np.sum(effects, axis=0) + rng.normal(0, 0.5, len(table))
    if share < 1:
        table = table.sample(frac=share, random_state=2)
    facets = [] if design == REPEATED else ["day"]
    return rb.Ratings.from_frame(table, facets=facets, replicates="keep")


def problem_of(model: rb.GStudy, ratings: rb.Ratings) -> EffectsProblem:
    problem = model.problem(ratings)
    assert isinstance(problem, EffectsProblem)
    return problem


def dense(model: rb.GStudy, problem: EffectsProblem, ratings: rb.Ratings, log_sd: Array) -> float:
    """Log density by a covariance matrix of all ratings, log priors and Jacobian."""
    variance = np.exp(2 * log_sd)
    mean, sd_mean = problem.priors["mean"]
    levels = problem.levels_of_ratings.level
    covariance = variance[-1] * np.eye(len(ratings)) + (0 if math.isinf(sd_mean) else sd_mean**2)
    for level, own in zip(levels, variance, strict=False):
        covariance += own * (level[:, None] == level)
    found = multivariate_normal(np.full(len(ratings), mean), covariance).logpdf(ratings.values)
    for value, (df, scale) in zip(np.exp(log_sd), problem.priors["sd"], strict=True):
        prior = halfnorm(scale=scale) if math.isinf(df) else t(df, scale=scale)
        found += prior.logpdf(value) + (0 if math.isinf(df) else math.log(2))
    return float(found + log_sd.sum())


@pytest.mark.slow
@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("share", [1.0, 0.8])
def test_density_equals_the_dense_density(design: str, share: float) -> None:
    prior = rb.HalfNormal(1.5) if share < 1 else rb.HalfStudentT(4, 0.7)
    model = rb.GStudy(design=design, prior_mean=rb.Normal(0.4, 2.0), prior_sd=prior)
    ratings = rated(design, share)
    problem = problem_of(model, ratings)
    assert (problem.squares is None) == (share < 1)
    log_sd = np.random.default_rng(1).normal(-0.3, 0.6, problem.size("source"))

    value, gradient = evaluate(model, ratings, np.exp(log_sd))

    def of(point: Array) -> float:
        return dense(model, problem, ratings, point)

    assert value == pytest.approx(of(log_sd), rel=1e-8, abs=1e-8)
    assert gradient == pytest.approx(slopes(of, log_sd), rel=1e-6, abs=1e-5)


@pytest.mark.parametrize("design", DESIGNS)
def test_independence_sampling_evaluates_the_dense_density(design: str) -> None:
    model = rb.GStudy(design=design, prior_mean=rb.Normal(0.4, 2.0), prior_sd=rb.HalfNormal(1.5))
    ratings = rated(design, 0.8)
    problem = problem_of(model, ratings)
    posterior = model.near_normal(problem, model.starts(problem)[0])
    assert posterior is not None
    points = np.random.default_rng(1).normal(-0.3, 0.6, (3, problem.size("source")))

    log_density, means = posterior.evaluate(points)

    differences = log_density - [dense(model, problem, ratings, x) for x in points]
    assert differences == pytest.approx([differences[0]] * 3, abs=1e-8)
    # The mean by generalised least squares, with the prior as one more observation.
    variance = np.exp(2 * points[0])
    covariance = variance[-1] * np.eye(len(ratings))
    for level, own in zip(problem.levels_of_ratings.level, variance, strict=False):
        covariance += own * (level[:, None] == level)
    weight = np.linalg.solve(covariance, np.ones(len(ratings)))
    precision = weight.sum() + 1 / 4
    expected = [(weight @ ratings.values + 0.4 / 4) / precision, precision**-0.5]
    assert means[0] == pytest.approx(expected)


def crowd(items: int, raters: int, per_item: int) -> rb.Ratings:
    rng = np.random.default_rng(3)
    item = np.repeat(np.arange(items), per_item)
    rater = np.concatenate([rng.choice(raters, per_item, replace=False) for _ in range(items)])
    rating = rng.normal(0, 1, items)[item] + rng.normal(0, 0.6, raters)[rater]
    rating += rng.normal(0, 0.8, len(item))
    return rb.Ratings.from_frame(pd.DataFrame({"item": item, "rater": rater, "rating": rating}))


@pytest.mark.slow
def test_independence_sampling_has_the_posterior_of_nuts() -> None:
    ratings = crowd(60, 25, 4)
    auto = rb.GStudy().fit(ratings, seed=1, draws=500, progress=False)
    nuts = rb.GStudy().fit(ratings, seed=1, draws=500, progress=False, sampler="nuts")
    assert (auto.settings.sampler, nuts.settings.sampler) == ("independence", "nuts")

    for one, other in zip(*(fit.summary().itertuples() for fit in (auto, nuts)), strict=True):
        error = math.hypot(one.mcse, other.mcse)
        assert abs(one.mean - other.mean) < 5 * error
        assert one.sd == pytest.approx(other.sd, rel=0.15)


def test_few_ratings_that_say_little_are_left_to_nuts() -> None:
    model, ratings = rb.GStudy(design=DESIGNS[0]), rated(DESIGNS[0], 0.8)
    problem = model.problem(ratings)
    mode = model.starts(problem)[0]
    assert first_step(model, "auto", problem, mode, True, None).own is None
    asked = first_step(model, "independence", problem, mode, True, None).own
    assert isinstance(asked, NearNormal)


@pytest.mark.parametrize("design", DESIGNS)
@pytest.mark.parametrize("sd", [2.0, math.inf])
def test_mean_squares_give_the_density_of_any_design(design: str, sd: float) -> None:
    model = rb.GStudy(design=design, prior_mean=rb.Normal(0.3, sd))
    problem = problem_of(model, rated(design))
    assert problem.squares is not None
    variance = np.random.default_rng(2).gamma(2, 1, problem.size("source"))

    by_effects = problem.marginal.at(variance).log_density

    assert problem.log_density(variance) == pytest.approx(by_effects, rel=1e-10)


@pytest.mark.slow
@pytest.mark.parametrize("share", [pytest.param(1.0, marks=pytest.mark.proof), 0.8])
def test_effects_are_drawn_from_their_distribution_given_the_ratings(share: float) -> None:
    ratings = rated("item x rater x day", share)
    problem = problem_of(rb.GStudy(design="item x rater x day"), ratings)
    variance = np.random.default_rng(3).gamma(2, 0.5, problem.size("source"))
    rng = np.random.default_rng(4)

    drawn = np.array(
        [
            [*np.concatenate(found), mean]
            for found, mean in (problem.draw(variance, rng) for _ in range(1000))
        ]
    )

    # All effects and the mean are jointly normal with the ratings.
    effects = problem.levels_of_ratings
    sizes = effects.sizes
    columns = [np.eye(size)[level] for level, size in zip(effects.level, sizes, strict=True)]
    design = np.hstack([*columns, np.ones((len(ratings), 1))])
    mean, sd_mean = problem.priors["mean"]
    prior = np.append(np.repeat(variance[:-1], sizes), sd_mean**2)
    gain = (design * prior).T @ np.linalg.inv(
        design * prior @ design.T + variance[-1] * np.eye(len(ratings))
    )
    expected = gain @ (ratings.values - mean)
    expected[-1] += mean
    covariance = np.diag(prior) - gain @ (design * prior)
    sd = np.sqrt(np.diag(covariance))
    assert np.abs((drawn.mean(axis=0) - expected) / sd).max() < 4.5 / np.sqrt(1000)
    assert np.abs(np.cov(drawn.T) - covariance).max() < 0.16 * float((sd**2).max())


@pytest.mark.slow
def test_posterior_of_many_ratings_agrees_with_restricted_likelihood() -> None:
    rng = np.random.default_rng(6)
    table = pd.DataFrame(
        list(product(range(150), range(30), range(2))), columns=["item", "rater", "day"]
    )
    table["rating"] = (
        rng.normal(0, 1.0, 150)[table["item"]]
        + rng.normal(0, 0.5, 30)[table["rater"]]
        + rng.normal(0, 0.8, (150, 30))[table["item"], table["rater"]]
        + rng.normal(0, 0.6, len(table))
    )
    ratings = rb.Ratings.from_frame(table, facets=["day"], replicates="keep")
    model = rb.GStudy(design="item x rater", prior_sd=rb.HalfNormal(100))

    fit = model.fit(ratings, seed=1, progress=False)

    reml = rb.agreement.g_study(ratings, "item x rater", method="reml").components["sd"]
    sd = fit.quantities["sd"]
    error = (sd.median(("chain", "draw")).values - reml) / sd.std(("chain", "draw")).values
    assert np.abs(error).max() < 0.25


def test_drawing_parameters_names_the_prior_that_is_not_set() -> None:
    model = rb.GStudy(prior_mean=rb.Normal(0, 1), prior_sd=(("item", rb.HalfNormal(1.0)),))

    with pytest.raises(ValueError, match=r"prior_sd\['rater'\] must be set for sd to be drawn"):
        model.draw_parameters(rated(REPEATED), np.random.default_rng(1))


@pytest.mark.parametrize("share", [1.0, 0.9])
def test_ratings_without_a_residual_are_refused(share: float) -> None:
    table = rated("item x rater x day", share).to_frame()
    table["rating"] = table["item"] + 2.5 * table["rater"] + 0.3 * table["day"]
    ratings = rb.Ratings.from_frame(table, facets=["day"])

    with pytest.raises(rb.RatingsError, match="must have a residual besides the effects"):
        rb.GStudy(design="item x rater x day").problem(ratings)


def test_as_many_effects_as_ratings_are_no_perfect_fit() -> None:
    ratings = rated("item x rater x day", 0.5)

    assert problem_of(rb.GStudy(design="item x rater x day"), ratings).squares is None


@pytest.mark.slow
@pytest.mark.parametrize("share", [pytest.param(1.0, marks=pytest.mark.proof), 0.7])
def test_two_facets_are_the_gaussian_icc(share: float) -> None:
    table = rated(REPEATED, share).to_frame()
    ratings = rb.Ratings.from_frame(table, replicates="keep")
    options: dict[str, Any] = {"chains": 2, "draws": 4000, "seed": 2, "progress": False}
    same: dict[str, Any] = {
        f"prior_sd_{name}": rb.HalfNormal(1.0) for name in ("item", "rater", "residual")
    }

    ours = rb.GStudy(drop=("item x rater",), prior_sd=rb.HalfNormal(1.0)).fit(ratings, **options)
    other = rb.GaussianICC(**same).fit(ratings, **options)

    for one, two in (("phi", "icc"), ("g", "icc_consistency"), ("mean", "mean")):
        draws, expected = (fit.quantities[name] for fit, name in ((ours, one), (other, two)))
        assert float(draws.mean()) == pytest.approx(
            float(expected.mean()), abs=0.1 * float(expected.std())
        )
        assert float(draws.std()) == pytest.approx(float(expected.std()), rel=0.1)


def evaluate(model: rb.GStudy, ratings: rb.Ratings, sd: Array) -> tuple[float, Array]:
    """Log density and gradient by the log standard deviations."""
    program = stan.load(model.program(model.problem(ratings)))
    table = program.log_prob({"sd": sd.tolist()}, data=model.stan_data(ratings), sig_figs=17)
    value, *gradient = table.iloc[0]
    return float(value), np.array(gradient)


def test_a_design_that_ends_with_the_object_of_measurement_is_refused() -> None:
    with pytest.raises(ValueError, match=r"'rater', which is nested .* pass design='item'"):
        rb.GStudy(design="rater:item")
