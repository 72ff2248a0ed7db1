"""LogitXCC and OrdinalXCC of three pools, whose item scores are sampled.

Only the likelihood for comparing models integrates them out.
"""

from __future__ import annotations

import contextlib
import functools
import json
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import expit, logsumexp
from scipy.stats import halfnorm, multivariate_normal, norm, t

import reliabayes as rb
from hatch_build import Toolchain
from reliabayes.arrays import Array
from reliabayes.families.ordered.centring import ScoreCentring
from reliabayes.inference import correlation, stan
from reliabayes.inference.em import Point
from reliabayes.inference.problem import stan_data
from reliabayes.likelihoods.ordinal_pools import standard_scores
from reliabayes.models.ordered_model import OrderedModel
from tests.conftest import ROOT
from tests.designs import gradients, slopes

MODELS: dict[str, tuple[OrderedModel, int]] = {
    "logit": (rb.LogitXCC(), 2),
    "probit": (rb.LogitXCC(link="probit"), 2),
    "ordinal": (rb.OrdinalXCC(), 3),
}
every_model = pytest.mark.parametrize("name", MODELS)
POOLS = 3


# Densities.


@every_model
def test_stan_data_has_exactly_the_inputs_of_the_program(name: str) -> None:
    model, _ = MODELS[name]

    ratings, _ = small(name, 1)

    data = model.stan_data(ratings)

    program = ROOT / "stan" / f"{model.program(model.problem(ratings))}.stan"
    assert set(data) == set(json.loads(Toolchain.find().stanc("--info", program))["inputs"])


@every_model
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16))
def test_density_equals_the_plain_formula(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, first = small(name, seed)
    problem = model.problem(ratings)
    _, second = small(name, seed + 1)
    points = [
        with_scores(point, ratings, seed + place) for place, point in enumerate((first, second))
    ]

    program = stan.load(model.program(problem))
    centring = model.start(problem).centring
    assert isinstance(centring, ScoreCentring)
    data = stan_data(problem, centring)
    by_program = [
        float(program.log_prob(at, data, jacobian=False, sig_figs=17)["lp__"].iloc[0])
        for at in points
    ]

    # Stan drops constants, so compare differences between points.
    by_scipy = [log_density(model, ratings, at, centring) for at in points]
    assert np.diff(by_program) == pytest.approx(np.diff(by_scipy), rel=1e-7, abs=1e-5)


@pytest.mark.parametrize("name", ["logit", "ordinal"])
@settings(max_examples=1)
@given(seed=st.integers(0, 2**16))
def test_gradient_equals_finite_differences(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, _ = small(name, seed)

    found, expected = gradients(model, ratings, seed)

    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@every_model
@settings(max_examples=1)
@given(seed=st.integers(0, 2**16))
def test_likelihood_integrates_out_item_effects(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, point = small(name, seed)

    found = model.log_likelihood(point, model.problem(ratings))

    assert found == pytest.approx(by_lattice(model, ratings, point), abs=1e-4)


def test_likelihood_does_not_depend_on_the_chunk_size(monkeypatch: pytest.MonkeyPatch) -> None:
    ratings, point = small("ordinal", 1)
    model, problem = rb.OrdinalXCC(nodes=5), rb.OrdinalXCC().problem(ratings)
    whole = model.log_likelihood(point, problem)

    monkeypatch.setattr("reliabayes.likelihoods.ordinal_pools.IN_MEMORY", 1000)

    assert model.log_likelihood(point, problem) == pytest.approx(whole, abs=1e-6)


# Posteriors.

pytestmark = [pytest.mark.slow, pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")]


def test_posterior_covers_the_simulated_parameters() -> None:
    fit = fitted()

    truth = {"normalized_xcc": RHO, "sd_item": SD_ITEM, "sd_rater": SD_RATER, "mean": MEAN}
    for name, value in truth.items():
        draws = fit.quantities[name]
        score = (draws.mean(("chain", "draw")) - value) / draws.std(("chain", "draw"))
        assert np.abs(score.values).max() < 3, name
    assert fit.diagnostics().divergences == 0
    assert (fit.diagnostics().nodes, fit.diagnostics().integration_error) == (0, 0)


def test_item_scores_and_rater_severities_correlate_with_mean_ratings() -> None:
    fit = fitted()

    items, raters = fit.items(draws=100), fit.raters()

    frame = fit.ratings.to_frame()
    mean_ratings = frame.groupby(["item", "pool"])["rating"].mean()
    rated = items[items["ratings"] > 0]
    assert items.index.names == ["item", "pool"]
    assert np.corrcoef(rated["mean"], mean_ratings.reindex(rated.index))[0, 1] > 0.85
    assert raters.groupby("pool").size().tolist() == [4, 4, 4]
    rater_means = frame.groupby("rater")["rating"].mean().reindex(raters.index)
    for pool, table in raters.groupby("pool"):
        assert np.corrcoef(table["mean"], rater_means[table.index])[0, 1] > 0.8, pool


def test_pairs_can_be_contrasted_and_likelihoods_are_not_quantities() -> None:
    fit = fitted()

    contrast = fit.contrast("xcc", ("b", "a"), ("c", "a")).summary()

    select = fit.quantities["normalized_xcc"].sel
    difference = select(pair="a, b") - select(pair="a, c")
    assert contrast.loc["normalized_xcc", "mean"] == pytest.approx(float(difference.mean()))
    assert not {"log_likelihood", "bits_per_rating"} & set(fit.quantities)
    # The exact p-values are at least 0.5; with 100 replicates their Monte Carlo error is 0.05.
    assert (fit.check(draws=100).p_values > 0.2).all()


@pytest.mark.posteriors
def test_comparison_prefers_the_true_model_to_one_without_agreement() -> None:
    fit = fitted()
    none = rb.LogitXCC(prior_lkj=300).fit(fit.ratings, seed=1, chains=2, draws=50)

    table = rb.compare({"some": fit, "none": none}, draws=50)

    assert table.index.tolist() == ["some", "none"]


@pytest.mark.posteriors
def test_two_pools_have_the_same_posterior_with_a_third_that_is_nearly_empty() -> None:
    frame = fitted().ratings.to_frame()
    reduced = frame[(frame["pool"] != "c") | ((frame["item"] < 2) & (frame["rater"] < "c2"))]
    # Under LKJ(1) for three pools, the marginal prior of each correlation is LKJ(1.5).
    models = [
        (rb.LogitXCC(), reduced),
        (rb.LogitXCC(prior_lkj=1.5), reduced[reduced["pool"] != "c"]),
    ]

    fits = [
        model.fit(rb.Ratings.from_frame(part, pool="pool"), seed=1, chains=2, draws=1000)
        for model, part in models
    ]

    names = ["normalized_xcc[a, b]", "unnormalized_xcc[a, b]", "icc[a]", "icc[b]", "mean[b]"]
    three, two = (fit.summary().loc[names] for fit in fits)
    error = np.hypot(three["mcse"], two["mcse"])
    assert (np.abs(three["mean"] - two["mean"]) < 4 * error).all()
    assert three["sd"].to_numpy() == pytest.approx(two["sd"].to_numpy(), rel=0.2)


SPARSE = {
    "two raters each": "rater in ('a0', 'a1', 'b0', 'b1', 'c0', 'c1')",
    "two disjoint pools": "pool == 'a' and item < 20 or pool == 'b' and item >= 20 or pool == 'c'",
    "no common items": "item % 3 == (pool == 'b') + 2 * (pool == 'c')",
}


@pytest.mark.parametrize(
    "name",
    [
        "no common items",
        pytest.param("two raters each", marks=pytest.mark.proof),
        pytest.param("two disjoint pools", marks=pytest.mark.proof),
    ],
)
def test_sparse_designs_give_finite_posteriors(name: str) -> None:
    frame = fitted().ratings.to_frame().query(SPARSE[name])

    fit = rb.LogitXCC().fit(
        rb.Ratings.from_frame(frame, pool="pool"), seed=1, chains=1, warmup=50, draws=20
    )

    assert all(np.isfinite(x).all() for x in fit.quantities.values())
    assert fit.items(draws=20).notna().all(axis=None)
    assert np.isfinite(fit.log_likelihood(draws=4)).all()


def small(name: str, seed: int) -> tuple[rb.Ratings, Point]:
    """A small design with two raters in each of three pools, and the true parameters."""
    model, n_categories = MODELS[name]
    rng = np.random.default_rng(seed)
    pairs = pd.MultiIndex.from_product([range(4), range(2 * POOLS)], names=["item", "rater"])
    design = pairs.to_frame(index=False).assign(pool=lambda x: x["rater"] // 2)
    design = design.query("not (item == 0 and pool == 1) and not (item == 1 and pool != 2)")
    template = rb.Ratings.from_frame(
        design.assign(rating=np.arange(len(design)) % n_categories),
        categories=range(n_categories),
        pool="pool",
    )
    given_: dict[str, Any] = {
        "sd_item": rng.uniform(0.3, 1.5, POOLS),
        "sd_rater": rng.uniform(0.2, 1, POOLS),
        "mean": rng.normal(size=POOLS),
        "factor_item": correlation.draw(POOLS, 1.0, rng),
    }
    if not model.family.is_binary:
        given_["step"] = rng.uniform(0.2, 1.5, (POOLS, n_categories - 2))
    levels = rng.normal(np.repeat(given_["mean"], 2), np.repeat(given_["sd_rater"], 2))
    while True:  # redraw if all ratings are equal
        with contextlib.suppress(rb.RatingsError):
            ratings = model.simulate(template, rng, parameters=given_)
            return ratings, {key: np.asarray(x) for key, x in {**given_, "level": levels}.items()}


def with_scores(point: Point, ratings: rb.Ratings, seed: int) -> dict[str, Array]:
    score = np.random.default_rng(seed).normal(size=(POOLS, ratings.n_items))
    return {**point, "score": score}


def effects(point: Point, centring: ScoreCentring, score: Array) -> Array:
    """Item effects (G, I) by pool."""
    step = point.get("step", np.empty((POOLS, 0)))
    from_first = [own[:k].sum() for own, k in zip(step, centring.reference, strict=True)]
    level = (point["level"] - centring.level_mean).reshape(POOLS, 2)
    shift = level.mean(axis=1) - from_first
    root = point["sd_item"][:, None] * point["factor_item"]
    prior = centring.effect_precision, centring.effect_weighted_mean
    return np.asarray(root @ standard_scores(score.reshape(POOLS, -1), root, shift, *prior))


def log_density(
    model: OrderedModel, ratings: rb.Ratings, at: Point, centring: ScoreCentring
) -> float:
    """Log density of parameters and scores: that of the effects plus the log Jacobian."""
    score = at["score"]

    def gradient(k: int) -> Array:
        return slopes(lambda x: float(effects(at, centring, x).ravel()[k]), score.ravel())

    log_jacobian = np.linalg.slogdet([gradient(k) for k in range(score.size)])[1]
    found = effects(at, centring, score)
    factor, sd_item, sd_rater, level = (
        at[name] for name in ("factor_item", "sd_item", "sd_rater", "level")
    )
    covariance = (sd_item[:, None] * factor) @ (sd_item[:, None] * factor).T
    step = at.get("step", np.empty((POOLS, 0)))
    cut = np.cumsum(np.column_stack([-at["mean"], step]), axis=1)
    location = 5 if not model.family.is_binary else 2.5
    # Prior of the Cholesky factor; that of the correlations is flat.
    lkj = np.arange(POOLS - 1, -1, -1) @ np.log(factor.diagonal())
    return float(
        log_jacobian
        + np.sum(multivariate_normal(np.zeros(POOLS), covariance).logpdf(found.T))
        + np.sum(log_ratings(model, ratings, at, found))
        + np.sum(norm.logpdf(cut, 0, location))
        + np.sum(halfnorm.logpdf(sd_item, scale=4) + np.log(2) + t.logpdf(sd_rater, 3))
        + np.sum(norm.logpdf(level, np.repeat(at["mean"], 2), np.repeat(sd_rater, 2)))
        + lkj
    )


def log_ratings(model: OrderedModel, ratings: rb.Ratings, at: Point, effect: Array) -> Array:
    """Log-probability (N, ...) of each rating, given effects (G, I, ...)."""
    cdf: Any = expit if model.link == "logit" else norm.cdf
    step = at.get("step", np.empty((POOLS, 0)))
    edge, first = np.full((POOLS, 1), np.inf), np.zeros((POOLS, 1))
    cut = np.concatenate([-edge, first, np.cumsum(step, axis=1), edge], axis=1)
    pool = ratings.rater // 2
    upper, lower = (cut[pool, ratings.category + side] for side in (0, 1))
    score = effect[pool, ratings.item].T + at["level"][ratings.rater]
    probability = cdf(score - upper) - cdf(score - lower)
    return np.asarray(np.log(np.maximum(probability, 1e-300)).T)


def by_lattice(model: OrderedModel, ratings: rb.Ratings, point: Point) -> float:
    """Log-likelihood by a fine grid over the three standard scores of an item."""
    node = np.linspace(-7, 7, 57)
    score = np.stack(np.meshgrid(node, node, node, indexing="ij")).reshape(POOLS, -1)
    root = point["sd_item"][:, None] * point["factor_item"]
    effect = np.repeat((root @ score)[:, None], ratings.n_items, axis=1)
    log_rating = log_ratings(model, ratings, point, effect)
    weight = norm.logpdf(score).sum(axis=0) + POOLS * math.log(node[1] - node[0])
    by_item = [log_rating[ratings.item == item].sum(axis=0) for item in range(ratings.n_items)]
    return float(sum(logsumexp(total + weight) for total in by_item))


RHO, SD_ITEM = np.array([0.9, 0.4, 0.5]), np.array([2.0, 1.5, 1.8])
SD_RATER, MEAN = np.array([0.5, 0.6, 0.4]), np.array([0.0, 0.3, -0.4])


@functools.cache
def fitted() -> rb.Fit:
    """Fit of 48 items and three pools of four raters; one pool did not rate the first six items."""
    design = pd.DataFrame(
        [(i, f"{pool}{j}", pool) for i in range(48) for pool in "abc" for j in range(4)],
        columns=["item", "rater", "pool"],
    ).query("not (item < 6 and pool == 'a')")
    matrix = np.eye(POOLS)
    matrix[np.triu_indices(POOLS, 1)] = RHO
    parameters = {
        "sd_item": SD_ITEM,
        "sd_rater": SD_RATER,
        "mean": MEAN,
        "factor_item": np.linalg.cholesky(matrix.T),  # reads the lower triangle only
    }
    half = rb.HalfNormal(2.5)
    model = rb.LogitXCC(prior_sd_item=half, prior_sd_rater=half)
    ratings = model.simulate(design, np.random.default_rng(1), parameters=parameters)
    return model.fit(ratings, seed=1, chains=2, warmup=100, draws=150)
