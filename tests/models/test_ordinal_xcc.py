"""LogitXCC and OrdinalXCC of two pools: densities, quadrature and posteriors."""

from __future__ import annotations

import contextlib
import math
import tracemalloc
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, log_expit, logsumexp
from scipy.stats import multivariate_normal, norm

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.ordered.pool_parts import pool_subsets
from reliabayes.inference import correlation, stan
from reliabayes.inference.em import Point
from reliabayes.likelihoods.ordinal import Observed
from reliabayes.models.ordered_model import OrderedModel
from reliabayes.results.posterior import Posterior
from tests.conftest import load_or_skip
from tests.designs import gradients
from tests.models.score_programs import sampled_at

MODELS: dict[str, tuple[OrderedModel, int]] = {
    "logit": (rb.LogitXCC(), 2),
    "probit": (rb.LogitXCC(link="probit"), 2),
    "ordinal": (rb.OrdinalXCC(), 3),
}
every_model = pytest.mark.parametrize("name", MODELS)


@pytest.mark.slow
@every_model
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16), rho=st.sampled_from([-0.6, 0.0, 0.5, 0.9, 0.98, 0.999]))
def test_likelihood_integrates_out_pairs_of_item_effects(name: str, seed: int, rho: float) -> None:
    model, _ = MODELS[name]
    ratings, point = small(name, seed, rho)
    fine = replace(model, nodes=61)
    problem, data = fine.problem(ratings), fine.stan_data(ratings)

    in_numpy = model.log_likelihood(point, problem)
    one, other = log_densities(data, [point, shifted(point)])

    assert in_numpy == pytest.approx(by_lattice(model, ratings, point), abs=1e-6)
    # The points differ only in the correlation, whose prior is flat: only the likelihood changes.
    difference = model.log_likelihood(shifted(point), problem) - in_numpy
    assert other - one == pytest.approx(difference, abs=1e-5)


@pytest.mark.slow
def test_likelihood_is_accurate_for_pools_that_strongly_disagree() -> None:
    ratings, model = disagreeing(300), rb.LogitXCC(nodes=601)
    points = [disagreeing_point(rho) for rho in (0.999, 0.99)]

    by_program = log_densities(model.stan_data(ratings), points)
    in_numpy = [model.log_likelihood(point, model.problem(ratings)) for point in points]
    expected = [by_log_lattice(ratings, point) for point in points]

    assert in_numpy == pytest.approx(expected, abs=1e-5)
    # Only the likelihood changes, because the prior of the correlation is flat.
    assert np.diff(by_program) == pytest.approx(np.diff(expected), abs=1e-5)
    assert expected[0] < -600


@pytest.mark.slow
def test_quadrature_is_accurate_for_items_with_many_ratings() -> None:
    ratings, points = large_pools(0.97)
    model = rb.LogitXCC(nodes=141)

    by_program = log_densities(model.stan_data(ratings), points)
    found, differences = gradients(model, ratings, seed=2)

    expected = [by_log_lattice(ratings, point) for point in points]
    assert np.diff(by_program) == pytest.approx(np.diff(expected), abs=1e-5)
    assert found == pytest.approx(differences, rel=1e-5, abs=1e-4)


@pytest.mark.slow
def test_error_of_the_likelihood_and_items_take_little_memory_with_crowds() -> None:
    model, problem = rb.LogitXCC(), rb.LogitXCC().problem(crowds(raters=100))
    point, narrow = (crowds_point(raters=100, rho=rho) for rho in (0.0, 0.999))
    stacked = {name: np.stack([point[name], narrow[name]]) for name in point}
    posterior: Any = SimpleNamespace(stacked=lambda: stacked, problem=problem)

    tracemalloc.start()
    found = model.log_likelihood(point, problem)
    nodes, error = model.integration_error(posterior)
    rng, every = np.random.default_rng(1), slice(None)
    effects = problem.treatment.drawn_effects(point, every, posterior, rng)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()

    # Pools without correlation are two independent studies.
    alone = [
        rb.LogitICC().log_likelihood(part.at(point), part.problem) for part in pool_subsets(problem)
    ]
    assert found == pytest.approx(math.fsum(alone), abs=1e-6)
    assert error < 1e-3
    assert nodes > 300
    assert effects[problem.mixture.distinct[0]].min() > 3  # of the item that all say 1 of
    assert peak < 1e8  # a table of all pairs of the finer nodes takes 15 GB


@every_model
def test_likelihood_does_not_depend_on_the_size_of_blocks(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, (ratings, point) = replace(MODELS[name][0], nodes=21), small(name, 1, 0.9)
    problem = model.problem(ratings)
    whole = model.log_likelihood(point, problem)

    monkeypatch.setattr("reliabayes.likelihoods.ordinal_pairs.IN_MEMORY", 100)

    assert model.log_likelihood(point, problem) == pytest.approx(whole, abs=1e-9)


@pytest.mark.slow
@every_model
@pytest.mark.parametrize("rho", [-0.5, 0.98])
def test_effects_of_items_are_drawn_given_ratings_of_both_pools(name: str, rho: float) -> None:
    model, (ratings, point) = MODELS[name][0], small(name, 1, rho)
    problem, rng = model.problem(ratings), np.random.default_rng(1)
    copies: Any = np.repeat(problem.mixture.distinct, 2000)
    many = replace(problem, mixture=problem.mixture.part(copies))
    posterior: Any = SimpleNamespace(problem=many)

    drawn = problem.treatment.drawn_effects(point, slice(None), posterior, rng)
    drawn = drawn.reshape(-1, 2000, 2)

    effect, probabilities = lattice(model, ratings, point)
    for item, probability in enumerate(probabilities):
        weight = probability / probability.sum()
        mean = (effect * weight).sum(axis=(1, 2))
        residual = effect - mean[:, None, None]
        covariance = np.einsum("aij,bij,ij->ab", residual, residual, weight)
        error = np.sqrt(covariance.diagonal() / 2000)
        assert np.abs(drawn[item].mean(axis=0) - mean).max() < 4 * error.max()
        # The relative error of a variance of so many draws is 3%.
        assert np.cov(drawn[item].T) == pytest.approx(covariance, abs=0.13 * covariance.max())


@pytest.mark.parametrize(
    ("items", "raters", "sd_rater", "acceptance"),
    [(200, 6, 0.05, 0.8), (200, 5, 0.05, 0.95), (20, 16, 0.05, 0.98), (30, 20, 0.05, 0.8)],
    ids=["several raters", "few raters", "few items", "many raters"],
)
def test_target_acceptance_is_lower_if_there_are_several_raters_and_sds_of_items_are_known(
    items: int, raters: int, sd_rater: float, acceptance: float
) -> None:
    rng = np.random.default_rng(3)
    design = rb.simulate.incomplete(items, raters, 3, rng, pools=2)
    given_ = {"mean": [0.0, 0.0], "sd_item": [1.0, 1.0], "sd_rater": [sd_rater, sd_rater]}
    ratings = rb.LogitXCC().simulate(design, rng, parameters=given_)

    start = rb.LogitXCC().start(rb.LogitXCC().problem(ratings))

    assert start.target_acceptance == acceptance


@pytest.mark.slow
def test_density_is_continuous_as_the_correlation_approaches_one() -> None:
    ratings, point = small("logit", 1, 0.5)
    data = rb.LogitXCC(nodes=61).stan_data(ratings)
    factors = [[1, 0], [1 - 5e-7, 1e-3]], [[1, 0], [1 - 5e-13, 1e-6]]

    one, other = log_densities(data, [{**point, "factor_item": np.array(x)} for x in factors])

    assert one == pytest.approx(other, abs=1e-4)


def test_gradient_is_accurate_for_pools_that_strongly_disagree() -> None:
    found, expected = gradients(rb.LogitXCC(nodes=101), disagreeing(300), seed=1)

    assert found == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("raters", "items", "nodes", "rho"),
    [
        pytest.param((2, 5), 300, 61, 0.6, marks=pytest.mark.proof),
        pytest.param((5, 2), 300, 61, 0.6, marks=pytest.mark.proof),
        ((2, 5), 300, 61, 0.98),
        ((5, 2), 300, 61, 0.98),
        pytest.param((9, 12), 400, 201, 0.6, marks=pytest.mark.proof),
    ],
    ids=["few first", "few second", "few first in blocks", "few second in blocks", "none kept"],
)
def test_density_and_gradient_hold_for_equal_ratings_by_a_pool(
    raters: tuple[int, int], items: int, nodes: int, rho: float
) -> None:
    ratings, points = rated_by_all(raters, items, sd_item=(1.2, 2.0), rho=rho, seed=6)
    model = rb.LogitXCC(nodes=nodes)

    by_program = log_densities(model.stan_data(ratings), points)
    found, differences = gradients(model, ratings, seed=3)

    in_numpy = [model.log_likelihood(point, model.problem(ratings)) for point in points]
    assert np.diff(by_program) == pytest.approx(np.diff(in_numpy), abs=1e-6)
    assert found == pytest.approx(differences, rel=1e-6, abs=1e-5)


@every_model
@settings(max_examples=1)
@given(seed=st.integers(0, 2**16))
def test_gradient_equals_finite_differences(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, _ = small(name, seed, 0.5)

    found, expected = gradients(replace(model, nodes=61), ratings, seed)

    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    "rho", [*(pytest.param(rho, marks=pytest.mark.proof) for rho in (0.0, 0.5, 0.9)), 0.98]
)
@every_model
def test_observed_agreement_equals_the_correlation_of_simulated_ratings(
    name: str, rho: float
) -> None:
    model, n_categories = MODELS[name]
    given_: dict[str, Any] = {
        "sd_item": [1.5, 2.0],
        "sd_rater": [0.8, 0.4],
        "mean": [0.4, -0.5],
        "factor_item": correlation.factor(np.arctanh([rho]), 2),
        "level": np.zeros(4),
    }
    if not model.family.is_binary:
        given_["step"] = np.full((2, n_categories - 2), 0.8)
    template, _ = small(name, 1, rho)
    one_draw = {key: np.asarray(x, float)[None, None] for key, x in given_.items()}

    problem = model.problem(template)
    posterior = Posterior(model.labelled(one_draw, problem), template, problem)
    found = model.quantities(posterior).squeeze()

    rng = np.random.default_rng(2)
    items = rng.standard_normal((400_000, 2)) @ given_["factor_item"].T
    rated = []
    for pool in (0, 1):
        steps = given_["step"][pool] if not model.family.is_binary else []
        cut = np.append(0.0, np.cumsum(steps)) - given_["mean"][pool]
        noise = (
            rng.logistic(size=len(items)) if model.link == "logit" else rng.normal(size=len(items))
        )
        score = items[:, pool] * given_["sd_item"][pool] + noise
        score += given_["sd_rater"][pool] * rng.standard_normal(len(items))
        rated.append((score > cut[:, None]).sum(axis=0))
    unnormalized = float(found["unnormalized_xcc_observed"])
    assert np.corrcoef(rated[0], rated[1])[0, 1] == pytest.approx(unnormalized, abs=0.008)
    ceiling = math.sqrt(float(found["icc_observed"][0] * found["icc_observed"][1]))
    assert float(found["normalized_xcc_observed"]) == pytest.approx(unnormalized / ceiling)
    assert float(found["normalized_xcc"]) == pytest.approx(rho)


@pytest.mark.parametrize(
    ("sd_item", "rho", "error"), [(4.8, 0.999, 1e-6), (4.8, 0.5, 1e-6), (20.0, 0.999, 2e-3)]
)
def test_observed_agreement_of_halves_is_a_ratio_of_arcsines(
    sd_item: float, rho: float, error: float
) -> None:
    # Sheppard (1899): halves of two normal variables with correlation r have covariance
    # asin(r) / 2 pi. The first 60 terms of the expansion, alone, give 0.9966 for 0.9974.
    observed = Observed.of(
        np.full((1, 2), sd_item), np.full((1, 2), 1e-9), np.zeros((1, 2, 1)), "probit"
    )
    between = observed.covariance(np.array([rho]), 0, 1)

    found = float((between / (observed.icc * observed.variance)[:, 0])[0])

    reliability = sd_item**2 / (sd_item**2 + 1)
    expected = math.asin(rho * reliability) / math.asin(reliability)
    assert found == pytest.approx(expected, abs=error)


REFERENCE = {
    "hate_speech": {"rho": (0.827, 0.036), "icc": (0.766, 0.724), "xcc": (0.613, 0.061)},
    "offensive": {"rho": (0.883, 0.026), "icc": (0.633, 0.707), "xcc": (0.589, 0.055)},
}


@pytest.mark.posteriors
@pytest.mark.parametrize("rating", REFERENCE)
def test_posterior_for_tweets_matches_the_reference(rating: str) -> None:
    ratings = rb.Ratings.from_frame(load_or_skip("hs_brexit"), rating=rating, pool="pool")

    prior = rb.HalfNormal(2.5)  # as in the reference
    fit = rb.LogitXCC(prior_sd_item=prior, prior_sd_rater=prior).fit(ratings, seed=1)

    reference = REFERENCE[rating]
    for name, (mean, sd) in (
        ("normalized_xcc", reference["rho"]),
        ("unnormalized_xcc", reference["xcc"]),
    ):
        draws = fit.quantities[name]
        # The reference has about 300 effective draws.
        assert float(draws.mean()) == pytest.approx(mean, abs=0.15 * sd)
        assert float(draws.std()) == pytest.approx(sd, rel=0.15)
    iccs = fit.quantities["icc"].mean(("chain", "draw")).sel(pool=["control", "target"])
    assert iccs.values == pytest.approx(reference["icc"], abs=0.015)
    assert fit.diagnostics().problems == []
    assert fit.diagnostics().r_hat < 1.01


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_correlation_is_recovered_and_items_have_scores_in_both_pools() -> None:
    fit = fitted(0.95)

    lower, upper = np.quantile(fit.quantities["normalized_xcc"], [0.005, 0.995])
    items, raters = fit.items(draws=100), fit.raters()

    assert lower < 0.95 < upper
    assert np.corrcoef(items["mean"].to_numpy().reshape(-1, 2).T)[0, 1] > 0.8
    assert raters.groupby("pool").size().tolist() == [3, 3]
    assert fit.diagnostics().divergences == 0


@pytest.mark.posteriors
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_correlation_of_pools_without_common_items_keeps_its_prior() -> None:
    fit = fitted(0.0, shared=False)

    rho = fit.quantities["normalized_xcc"]

    assert float(rho.mean()) == pytest.approx(0, abs=0.2)
    assert float(rho.std()) == pytest.approx(1 / math.sqrt(3), abs=0.1)


@pytest.mark.posteriors
def test_word_similarities_in_categories_agree_as_in_the_gaussian_model() -> None:
    words = load_or_skip("wordsim_two_pools")
    category = pd.cut(words["rating"], [-1, 1, 3, 5, 7, 9, 10], labels=False)
    ratings = rb.Ratings.from_frame(words.assign(rating=category), pool="pool", categories=range(6))

    fit = rb.OrdinalXCC().fit(ratings, seed=1, chains=2)

    rho = fit.quantities["normalized_xcc"]
    # Estimate of the Gaussian model of the numbers; the categories lose some information.
    assert float(rho.mean()) == pytest.approx(0.986, abs=0.03)
    assert fit.quantities["icc"].mean(("chain", "draw")).values == pytest.approx(
        [0.655, 0.710], abs=0.05
    )
    assert fit.diagnostics().divergences == 0


@pytest.mark.posteriors
def test_parameters_of_large_pools_are_recovered_with_short_trajectories() -> None:
    rng = np.random.default_rng(1)
    design = rb.simulate.incomplete(600, 24, 3, rng, pools=2)
    factor = np.linalg.cholesky([[1, 0.9], [0.9, 1]])
    truth = {"mean": [2.0, 1.0], "sd_item": [1.5, 1.0], "sd_rater": [0.7, 0.7]}
    ratings = rb.LogitXCC().simulate(design, rng, parameters={**truth, "factor_item": factor})

    fit = rb.LogitXCC().fit(ratings, seed=1)

    table = fit.summary(prob=0.998)
    by_pool = [f"{name}[{pool}]" for name in ("mean", "sd_item", "sd_rater") for pool in (1, 2)]
    found = table.loc[["normalized_xcc[1, 2]", *by_pool]]
    true = [0.9, *truth["mean"], *truth["sd_item"], *truth["sd_rater"]]
    assert ((found["lower_99.8"] < true) & (true < found["upper_99.8"])).all()
    assert fit.sample_stats["n_steps"].mean() < 12
    assert fit.diagnostics().problems == []


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize(
    "query",
    [
        "rater in (0, 1, 4, 5)",
        pytest.param("rater < 3 or rater - 3 == item % 3", marks=pytest.mark.posteriors),
    ],
)
def test_sparse_designs_give_finite_posteriors(query: str) -> None:
    frame = fitted(0.95).ratings.to_frame().query(query)

    fit = rb.LogitXCC().fit(rb.Ratings.from_frame(frame, pool="pool"), seed=1, chains=2, draws=100)

    assert all(np.isfinite(x).all() for x in fit.quantities.values())


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_one_pool_is_refused() -> None:
    frame = fitted(0.95).ratings.to_frame()

    with pytest.raises(rb.RatingsError, match="pool="):
        rb.LogitXCC().fit(rb.Ratings.from_frame(frame.drop(columns="pool")))


@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_quantities_of_pairs_are_named_by_their_pools() -> None:
    fit = fitted(0.95)

    assert fit.quantities["normalized_xcc"].indexes["pair"].tolist() == ["a, b"]
    assert fit.quantities["normalized_xcc_observed"].indexes["pair"].tolist() == ["a, b"]


def small(name: str, seed: int, rho: float) -> tuple[rb.Ratings, Point]:
    """A small design with two raters in each pool, and the true parameters."""
    model, n_categories = MODELS[name]
    rng = np.random.default_rng(seed)
    design = pd.DataFrame([(i, j) for i in range(5) for j in range(4)], columns=["item", "rater"])
    design = design.query("not (item == 0 and rater > 1) and not (item == 1 and rater < 2)")
    template = rb.Ratings.from_frame(
        design.assign(rating=np.arange(len(design)) % n_categories, pool=design["rater"] // 2),
        categories=range(n_categories),
        pool="pool",
    )
    given_: dict[str, Any] = {
        "sd_item": rng.uniform(0.3, 1.5, 2),
        "sd_rater": rng.uniform(0.2, 1, 2),
        "mean": rng.normal(size=2),
        "factor_item": correlation.factor(np.arctanh([rho]), 2),
    }
    if not model.family.is_binary:
        given_["step"] = rng.uniform(0.2, 1.5, (2, n_categories - 2))
    while True:  # redraw if all ratings are equal
        with contextlib.suppress(rb.RatingsError):
            ratings = model.simulate(template, rng, parameters=given_)
            levels = rng.normal(np.repeat(given_["mean"], 2), np.repeat(given_["sd_rater"], 2))
            return ratings, {key: np.asarray(x) for key, x in {**given_, "level": levels}.items()}


def disagreeing(times: int) -> rb.Ratings:
    """Two pools of two raters; the pools disagree about two items in all ``times`` replicates."""
    design = pd.MultiIndex.from_product([range(3), range(4)], names=["item", "rater"])
    frame = design.to_frame(index=False).assign(pool=lambda x: x["rater"] // 2)
    repeated = frame[frame["item"] < 2].loc[lambda x: x.index.repeat(times)]
    rated = repeated.assign(rating=(repeated["item"] + repeated["pool"]) % 2)
    unrepeated = frame[frame["item"] == 2].assign(rating=[0, 1, 1, 0])
    return rb.Ratings.from_frame(pd.concat([rated, unrepeated]), pool="pool", replicates="keep")


def log_densities(data: Mapping[str, Any], points: list[Point]) -> list[float]:
    """Log densities of the program for binary ratings by two pools."""
    program = stan.load("ordinal_xcc")
    found = []
    for scores, log_slope in (sampled_at(data, point) for point in points):
        table = program.log_prob(scores, dict(data), jacobian=False, sig_figs=17)
        found.append(float(table["lp__"][0]) - log_slope)
    return found


def large_pools(rho: float) -> tuple[rb.Ratings, list[Point]]:
    """Ratings by two pools of 25 raters; two points with different correlations."""
    return rated_by_all((25, 25), items=4, sd_item=(3.0, 2.5), rho=rho, seed=5)


def rated_by_all(
    raters: tuple[int, int], items: int, *, sd_item: tuple[float, float], rho: float, seed: int
) -> tuple[rb.Ratings, list[Point]]:
    """Ratings by all raters of two pools; two points with different correlations."""
    rng = np.random.default_rng(seed)
    frame = pd.MultiIndex.from_product([range(items), range(sum(raters))], names=["item", "rater"])
    design = frame.to_frame(index=False).assign(pool=lambda x: (x["rater"] >= raters[0]) * 1)
    given_: dict[str, Any] = {
        "sd_item": np.array(sd_item),
        "sd_rater": np.array([0.8, 0.5]),
        "mean": np.array([0.5, -0.5]),
        "factor_item": correlation.factor(np.arctanh([rho]), 2),
    }
    ratings = rb.LogitXCC().simulate(design, rng, parameters=given_)
    level = rng.normal(np.repeat(given_["mean"], raters), np.repeat(given_["sd_rater"], raters))
    point = {**given_, "level": level}
    return ratings, [point, shifted(point)]


def crowds(raters: int) -> rb.Ratings:
    """Ten items rated by all raters of two pools, the first of which all of them say 1 of."""
    frame = pd.MultiIndex.from_product([range(10), range(2 * raters)], names=["item", "rater"])
    long = frame.to_frame(index=False).assign(pool=lambda x: x["rater"] // raters)
    rating = (long["item"] == 0) | ((long["item"] + long["rater"]) % 10 == 0)
    return rb.Ratings.from_frame(long.assign(rating=rating.astype(int)), pool="pool")


def crowds_point(raters: int, rho: float) -> Point:
    return {
        "sd_item": np.array([1.0, 0.8]),
        "sd_rater": np.array([0.5, 0.5]),
        "mean": np.array([-2.2, -2.0]),
        "factor_item": correlation.factor(np.arctanh([rho]), 2),
        "level": np.linspace(-3, -1.5, 2 * raters),
    }


def disagreeing_point(rho: float) -> Point:
    return {
        "sd_item": np.array([2.0, 1.5]),
        "sd_rater": np.array([0.5, 0.5]),
        "mean": np.array([0.0, 0.2]),
        "factor_item": correlation.factor(np.arctanh([rho]), 2),
        "level": np.array([0.1, -0.1, 0.3, 0.1]),
    }


def by_log_lattice(ratings: rb.Ratings, point: Point) -> float:
    """Log-likelihood of binary ratings by a fine grid over an item's effects, in log space."""
    node = np.linspace(-6, 6, 801)
    rho = point["factor_item"][1, 0]
    covariance = [[1, rho], [rho, 1]]
    x, y = np.meshgrid(node, node, indexing="ij")
    density = multivariate_normal([0, 0], covariance).logpdf(np.stack([x, y], axis=-1))
    density += 2 * math.log(node[1] - node[0])
    assert ratings.rater_pool is not None
    total = 0.0
    for item in range(ratings.n_items):
        by_pool = np.zeros((2, len(node)))
        for rater, category in product(range(ratings.n_raters), range(2)):
            same = (ratings.item == item) & (ratings.rater == rater)
            times = int((same & (ratings.category == category)).sum())
            pool = ratings.rater_pool[rater]
            score = point["level"][rater] + point["sd_item"][pool] * node
            by_pool[pool] += times * log_expit(score if category else -score)
        total += float(logsumexp(density + by_pool[0][:, None] + by_pool[1]))
    return total


def shifted(point: Point) -> Point:
    """The same point with a different correlation."""
    free = correlation.free(point["factor_item"])
    return {**point, "factor_item": correlation.factor(0.9 * free, 2)}


def by_lattice(model: OrderedModel, ratings: rb.Ratings, point: Point) -> float:
    """Log-likelihood by a fine grid over the standard scores of each item."""
    _, probabilities = lattice(model, ratings, point)
    return math.fsum(math.log(probability.sum()) for probability in probabilities)


def lattice(model: OrderedModel, ratings: rb.Ratings, point: Point) -> tuple[Array, list[Array]]:
    """Effects (2, n, n) at a fine grid, and probabilities (n, n) with the ratings of each item."""
    cdf: Any = expit if model.link == "logit" else norm.cdf
    node = np.linspace(-8, 8, 321)
    first, second = np.meshgrid(node, node, indexing="ij")
    weight = norm.pdf(first) * norm.pdf(second) * (node[1] - node[0]) ** 2
    factor = point["factor_item"]
    effect = (
        point["sd_item"][0] * first,
        point["sd_item"][1] * (factor[1, 0] * first + factor[1, 1] * second),
    )
    assert ratings.rater_pool is not None
    found = []
    for item in range(ratings.n_items):
        probability = weight.copy()
        for row in np.flatnonzero(ratings.item == item):
            rater, category = ratings.rater[row], ratings.category[row]
            pool = ratings.rater_pool[rater]
            step = point["step"][pool] if not model.family.is_binary else []
            cut = np.concatenate([[-np.inf, 0.0], np.cumsum(step), [np.inf]])
            at = point["level"][rater] + effect[pool]
            probability *= cdf(at - cut[category]) - cdf(at - cut[category + 1])
        found.append(probability)
    return np.array(effect), found


FITS: dict[tuple[float, bool], rb.Fit] = {}


def fitted(rho: float, shared: bool = True) -> rb.Fit:
    """Fit of 80 items and two pools of three raters, who rate all items or disjoint halves."""
    if (rho, shared) not in FITS:
        pairs = pd.MultiIndex.from_product([range(80), range(6)], names=["item", "rater"])
        design = pairs.to_frame(index=False).assign(
            pool=lambda x: np.where(x["rater"] < 3, "a", "b")
        )
        if not shared:
            design = design[(design["item"] % 2 == 0) == (design["pool"] == "a")]
        parameters: Mapping[str, Any] = {
            "sd_item": [2.0, 1.5],
            "sd_rater": [0.5, 0.5],
            "mean": [0.0, 0.3],
            "factor_item": correlation.factor(np.arctanh([rho]), 2),
        }
        template = rb.Ratings.from_frame(
            design.assign(rating=np.arange(len(design)) % 2), pool="pool"
        )
        ratings = rb.LogitXCC().simulate(template, np.random.default_rng(1), parameters=parameters)
        FITS[rho, shared] = rb.LogitXCC().fit(ratings, seed=1, chains=2, draws=200)
    return FITS[rho, shared]


@pytest.mark.parametrize("rho", [0.5, 0.99, 0.9999])
@pytest.mark.parametrize("sd_item", [2.0, 8.0, 20.0])
def test_covariance_of_ratings_is_that_of_two_signs(rho: float, sd_item: float) -> None:
    scale = np.full((1, 2), sd_item), np.full((1, 2), 0.5), np.zeros((1, 2, 1))

    found = float(Observed.of(*scale, "probit").covariance(np.array([rho]), 0, 1)[0])

    # Sheppard (1899): both scores, of variance sd^2 + 1/4 + 1, are above 0 with this probability
    expected = np.arcsin(rho * sd_item**2 / (sd_item**2 + 1.25)) / (2 * np.pi)
    # Terms beyond 150 decrease with their number, for which they have the power of the first
    assert found == pytest.approx(expected, abs=4e-4)
