"""Hierarchical Dawid-Skene: the program matches a plain formula, and raters are pooled."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, log_expit, softmax
from scipy.stats import dirichlet, halfnorm, norm, t

import reliabayes as rb
from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.density import expected_at
from reliabayes.families.categories.log_odds import LogOdds, Precision
from reliabayes.inference import stan
from reliabayes.inference.log_odds import confusion_matrices, log_odds_at
from reliabayes.inference.log_odds_centring import LogOddsCentring
from reliabayes.inference.problem import stan_data
from reliabayes.models.hierarchical_dawid_skene import HierarchicalDawidSkene
from tests.designs import slopes

# These tests check the location of draws; other tests check convergence.
pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


MODEL = HierarchicalDawidSkene()
OTHER_PRIORS = HierarchicalDawidSkene(
    prior_prevalence=rb.Dirichlet((1.0, 2.0, 4.0)),
    prior_location=rb.Normal(-1.0, 2.0),
    prior_spread=rb.HalfStudentT(4, 0.5),
    prior_ability_spread=rb.HalfStudentT(6, 0.8),
)
OFF_DIAGONAL = ~np.eye(3, dtype=bool)


@pytest.fixture
def ratings() -> rb.Ratings:
    """Three categories; two items have a known category, and the last rater rates a single item."""
    rng = np.random.default_rng(3)
    frame = crossed(10, 3).assign(rating=rng.integers(0, 3, 30))
    frame.loc[30] = {"item": 0, "rater": 3, "rating": 2}
    frame["gold"] = frame["item"].map({4: 2, 7: 0})
    return rb.Ratings.from_frame(frame, gold="gold", categories=range(3))


@pytest.mark.parametrize("model", [MODEL, OTHER_PRIORS])
def test_stan_density_equals_the_plain_formula(
    model: HierarchicalDawidSkene, ratings: rb.Ratings
) -> None:
    one, other = random_points(model, ratings, 2)

    found = density(model, ratings, one) - density(model, ratings, other)

    expected = plain_density(model, ratings, one) - plain_density(model, ratings, other)
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.slow
def test_gradient_equals_finite_differences(ratings: rb.Ratings) -> None:
    problem = MODEL.problem(ratings)
    start = MODEL.start(problem)
    data = stan_data(problem, start.centring)
    at = np.concatenate([np.ravel(mode) for mode in start.mode.values()]) + 0.3
    some = np.random.default_rng(1).permutation(len(at))[:6]
    sizes = np.cumsum([np.size(mode) for mode in start.mode.values()])[:-1]

    def point(free: Array) -> Mapping[str, Any]:
        parts = zip(start.mode.items(), np.split(free, sizes), strict=True)
        own = start.constrain({name: x.reshape(np.shape(mode)) for (name, mode), x in parts})
        return MODEL.for_program(own, start.centring)

    def evaluate(free: Array) -> pd.Series[float]:
        program = stan.load(MODEL.program(problem))
        values = {name: x.tolist() for name, x in point(free).items()}
        return program.log_prob(values, data, sig_figs=17).iloc[0]

    found = evaluate(at).iloc[1:].to_numpy(float)[some]

    moves = np.eye(len(at))[some]
    expected = slopes(lambda x: float(evaluate(at + x @ moves).iloc[0]), np.zeros(len(some)))
    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize("model", [MODEL, OTHER_PRIORS])
def test_objective_of_em_equals_the_stan_density(
    model: HierarchicalDawidSkene, ratings: rb.Ratings
) -> None:
    problem = model.problem(ratings)
    centring = model.start(problem).centring
    assert isinstance(centring, LogOddsCentring)
    problem = replace(problem, own=Precision(centring.log_odds_precision))  # as in Stan
    one, other = random_points(model, ratings, 2)

    def objective(point: Mapping[str, Array]) -> float:
        return model.log_likelihood(point, problem) + LogOdds().log_prior(point, problem)

    found = objective(one) - objective(other)

    expected = (
        density(model, ratings, one, jacobian=True) - density(model, ratings, other, jacobian=True)
    )  # fmt: skip
    assert found == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(("items", "raters", "categories"), [(30, 4, 2), (60, 20, 3), (40, 3, 6)])
@pytest.mark.parametrize(
    "start", [*(pytest.param(start, marks=pytest.mark.proof) for start in range(2)), 2]
)
def test_em_never_decreases_the_objective(
    items: int, raters: int, categories: int, start: int
) -> None:
    ratings = simulated(items, raters, categories, seed=start)

    found = MODEL.em(ratings, restarts=start, seed=1)

    assert np.diff(found.path).min() > -1e-9 * abs(found.path[-1])
    assert found.converged


@pytest.mark.slow
def test_em_converges_to_a_local_maximum_of_the_density() -> None:
    ratings = simulated(60, 5, 3, seed=1)
    start = MODEL.start(MODEL.problem(ratings))
    mode = density(MODEL, ratings, start.point, jacobian=True)

    nearby = [start.create_inits(seed=seed, chains=1)[0] for seed in range(10)]

    assert all(density(MODEL, ratings, point, jacobian=True) < mode for point in nearby)


def test_tight_prior_spread_gives_all_raters_the_same_confusion_matrix() -> None:
    ratings = simulated(300, 6, 3, seed=2)
    shrunk = HierarchicalDawidSkene(
        prior_location=rb.Normal(-2, 20),
        prior_spread=rb.HalfNormal(1e-4),
        prior_ability_spread=rb.HalfNormal(1e-4),
    )

    found = shrunk.em(ratings)

    # The estimate of a common matrix pools all ratings, weighted by posterior true categories.
    weight = found.category_probabilities().to_numpy()[ratings.item]
    counts = weight.T @ np.eye(3)[ratings.category]
    proportions = counts / counts.sum(axis=1, keepdims=True)
    assert float(found.quantities["confusion"].std("rater").max()) < 1e-3
    assert found.quantities["typical_confusion"].values == pytest.approx(proportions, abs=2e-3)


def test_wide_prior_spread_gives_the_estimates_of_dawid_and_skene() -> None:
    ratings = simulated(3000, 6, 3, seed=2, prevalence=np.full(3, 1 / 3))
    free = HierarchicalDawidSkene(prior_location=rb.Normal(-2, 20), prior_spread=rb.HalfNormal(50))

    found = free.em(ratings).quantities["confusion"]

    expected = rb.DawidSkene().em(ratings).quantities["confusion"]
    assert found.values == pytest.approx(expected.values, abs=0.02)


@pytest.mark.slow
def test_accuracy_of_a_rater_with_a_single_rating_shrinks_to_that_of_the_others() -> None:
    truth: dict[str, Any] = {"prevalence": [0.5, 0.5], "location": [-2.0, -1.0]}
    truth |= {"spread": [0.2, 0.2], "ability_spread": 0.0}
    drawn = MODEL.simulate(crossed(200, 10), np.random.default_rng(1), parameters=truth)
    frame = drawn.to_frame().query("rater < 9 or item == 0")

    fit = MODEL.fit(rb.Ratings.from_frame(frame), seed=1)

    accuracy = fit.raters()["accuracy"]
    typical = fit.quantities["typical_confusion"].mean(("chain", "draw")).values
    assert accuracy.drop(9).min() < accuracy[9] < accuracy.drop(9).max()
    # About 900 ratings inform each; the mean log odds of the raters has an sd of 0.2 / sqrt(10).
    assert typical[[0, 1], [1, 0]] == pytest.approx(expit([-2.0, -1.0]), abs=0.06)


def test_pooling_reduces_the_error_for_many_raters_with_few_ratings() -> None:
    rng = np.random.default_rng(4)
    design = simulated(300, 60, 2, seed=4)
    truth = {
        **MODEL.draw_parameters(design, rng),
        "location": np.array([-1.5, -1.5]),
        "spread": np.array([0.6, 0.6]),
        "ability_spread": np.array(0.0),
    }
    ratings = MODEL.simulate(design, rng, parameters=truth)
    true = confusion_of(truth)

    as_in_rater = rb.DawidSkene(prior_confusion=rb.DiagonalDirichlet(8, 0.6))
    pooled, unpooled = (
        model.em(ratings, priors=True).quantities["confusion"] for model in (MODEL, as_in_rater)
    )

    error, other = (float(np.abs(found.values - true).mean()) for found in (pooled, unpooled))
    assert error < 0.7 * other


@pytest.mark.slow
def test_simulated_parameters_are_recovered() -> None:
    rng = np.random.default_rng(5)
    design = crossed(300, 10)
    truth = MODEL.draw_parameters(design, rng, categories=range(3))
    ratings = MODEL.simulate(design, rng, categories=range(3), parameters=truth)
    # Ten raters say how much these ten differ.
    sds = {"spread": truth["effect"].std(axis=1), "ability_spread": truth["ability"].std()}
    expected = {name: truth[name] * sds.get(name, 1.0) for name in ("prevalence", "location", *sds)}

    fit = MODEL.fit(ratings, seed=1, draws=300)

    assert fit.diagnostics().problems == []
    for name, value in expected.items():
        draws = fit.quantities[name]
        score = (draws.mean(("chain", "draw")) - value) / draws.std(("chain", "draw"))
        assert np.abs(score.values).max() < 4, name
    found = fit.quantities["confusion"].mean(("chain", "draw")).values
    assert np.abs(found - confusion_of(truth)).mean() < 0.03


def test_sampler_adapts_its_metric_if_true_categories_are_uncertain() -> None:
    certain, uncertain = simulated(100, 10, 2, seed=6), simulated(100, 2, 2, seed=6)

    starts = [MODEL.start(MODEL.problem(ratings)) for ratings in (certain, uncertain)]

    assert [start.adapt_metric for start in starts] == [False, True]


def test_sampler_adapts_its_metric_if_a_spread_of_many_raters_is_all_but_unknown() -> None:
    few, many = simulated(180, 60, 2, seed=3), simulated(360, 120, 2, seed=3)

    problems = [MODEL.problem(ratings) for ratings in (few, many)]
    starts = [MODEL.start(problem) for problem in problems]

    sds = (
        LogOdds().posterior_sd(point, expected_at(LogOdds(), point, problem), problem)
        for point, problem in zip((start.point for start in starts), problems, strict=True)
    )
    assert [bool(sd["spread"].max() > 0.5) for sd in sds] == [True, True]  # of logs of spreads
    assert [start.adapt_metric for start in starts] == [False, True]


@pytest.mark.parametrize("spread", [1e-200, 1e-20, 1e2])
def test_density_is_finite_for_extreme_spreads(spread: float, ratings: rb.Ratings) -> None:
    (point,) = random_points(MODEL, ratings, 1)

    extremes = {"spread": np.full(6, spread), "ability_spread": np.array(spread)}

    found = [density(MODEL, ratings, point | {name: x}) for name, x in extremes.items()]

    assert np.isfinite(found).all()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("categories", "seed"),
    [
        (4, 0),
        pytest.param(4, 1, marks=pytest.mark.proof),
        pytest.param(6, 0, marks=pytest.mark.proof),
    ],
)
def test_categories_keep_their_names_where_some_raters_are_careless(
    categories: int, seed: int
) -> None:
    # With independent errors, the density would be higher with names of categories exchanged.
    ratings, truth, accuracy = careful_and_careless(categories, seed)

    estimate = MODEL.em(ratings, restarts=10, priors=True)
    fit = MODEL.fit(ratings, seed=1, chains=2, draws=200, progress=False)

    for found in (estimate, fit):
        right = found.category_probabilities().to_numpy().argmax(axis=1) == truth
        assert right.mean() > 0.9
    typical = fit.quantities["typical_confusion"].mean(("chain", "draw"))
    assert (np.diagonal(typical) > 0.6).all()
    # Of 40 intervals of 90%, 30 or fewer hold the truth with probability 0.006.
    low, high = fit.quantities["accuracy"].quantile([0.05, 0.95], ("chain", "draw")).values
    assert ((low <= accuracy) & (accuracy <= high)).sum() > 30


def confusion_of(point: Mapping[str, Any]) -> Array:
    """Confusion matrices (R, K, K) at a point."""
    return confusion_matrices(log_odds_at(point), len(point["prevalence"]))


def careful_and_careless(categories: int, seed: int) -> tuple[rb.Ratings, Codes, Array]:
    """300 items rated by 5 of 40 raters, of whom a third are right 35% of the time.

    With the true categories, and the accuracies of the raters.
    """
    rng = np.random.default_rng(seed)
    truth = rng.integers(0, categories, 300)
    accuracy = rng.choice([0.97, 0.9, 0.35], 40)
    item, rater = np.arange(300).repeat(5), np.argsort(rng.random((300, 40)))[:, :5].ravel()
    wrong = (truth[item] + rng.integers(1, categories, 1500)) % categories
    rating = np.where(rng.random(1500) < accuracy[rater], truth[item], wrong)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
    return rb.Ratings.from_frame(frame, scale="nominal"), truth, accuracy


def test_unused_category_is_fitted() -> None:
    frame = crossed(20, 4).assign(rating=np.tile([0, 0, 1, 1, 1], 16))
    ratings = rb.Ratings.from_frame(frame, scale="nominal", categories=range(3))

    prevalence = MODEL.em(ratings).quantities["prevalence"]

    assert float(prevalence[2]) < 0.05


def test_prior_of_typical_accuracy_does_not_depend_on_the_number_of_categories() -> None:
    for_two, for_fifty = (MODEL.prior_numbers(n)["location"][0] for n in (2, 50))

    accuracy = [1 / (1 + (n - 1) * math.exp(mean)) for n, mean in ((2, for_two), (50, for_fifty))]

    assert accuracy == pytest.approx([expit(2.0)] * 2)


def test_prior_that_does_not_identify_the_categories_is_refused() -> None:
    with pytest.raises(ValueError, match="prior_location must have a finite sd"):
        HierarchicalDawidSkene(prior_location=rb.Normal(-2, math.inf))


def crossed(items: int, raters: int) -> pd.DataFrame:
    pairs = pd.MultiIndex.from_product([range(items), range(raters)], names=["item", "rater"])
    return pairs.to_frame(index=False)


def simulated(items: int, raters: int, categories: int, *, seed: int, **known: Array) -> rb.Ratings:
    """Ratings simulated from the model; each item has up to five raters."""
    rng = np.random.default_rng(seed)
    chosen = [rng.choice(raters, min(5, raters), replace=False) for _ in range(items)]
    frame = pd.DataFrame({"item": np.arange(items), "rater": chosen}).explode("rater")
    design = frame.astype({"rater": int})
    return MODEL.simulate(design, rng, categories=range(categories), parameters=known)


def random_points(model: HierarchicalDawidSkene, ratings: rb.Ratings, n: int) -> list[Any]:
    rng = np.random.default_rng(11)
    return [model.draw_parameters(ratings, rng) for _ in range(n)]


def density(
    model: HierarchicalDawidSkene, ratings: rb.Ratings, point: Any, *, jacobian: bool = False
) -> float:
    """Log density of the Stan program, whose own has derivatives by what it samples."""
    problem = model.problem(ratings)
    centring = model.start(problem).centring
    assert isinstance(centring, LogOddsCentring)
    point = {name: np.asarray(value) for name, value in point.items()}
    sampled = model.for_program(point, centring)
    table = stan.load(model.program(problem)).log_prob(
        {name: value.tolist() for name, value in sampled.items()},
        stan_data(problem, centring),
        jacobian=jacobian,
        sig_figs=17,
    )
    spread, of_ability = point["spread"], point["ability_spread"]
    precision = centring.log_odds_precision
    found = float(table["lp__"].iloc[0])
    found -= float(log_expit(sampled["free_spread"] / centring.spread_scale).sum())
    found -= float(log_expit(sampled["free_ability_spread"] / centring.ability_scale))
    found += 0.5 * float(np.log1p(spread[:, None] ** 2 * precision).sum())
    found += 0.5 * float(np.log1p(of_ability**2 * centring.level_precision).sum())
    if not jacobian:
        return found
    # By logarithms of spreads; what is a rater's own has a normal approximation, integrated out.
    between = np.diag(spread**2) + of_ability**2
    ratios = np.eye(len(spread)) + precision.T[..., None] * between
    narrowed = float(np.linalg.slogdet(ratios)[1].sum())
    return found + float(np.log(spread).sum() + np.log(of_ability)) - 0.5 * narrowed


def plain_density(
    model: HierarchicalDawidSkene, ratings: rb.Ratings, point: Mapping[str, Array]
) -> float:
    """Log density of ratings and parameters in plain loops over items and ratings."""
    total = 0.0
    rows_of = [np.flatnonzero(ratings.item == item) for item in range(ratings.n_items)]
    assert ratings.gold_category is not None
    for gold, rows in zip(ratings.gold_category, rows_of, strict=True):
        by_truth = point["prevalence"].copy()
        for row in rows:
            effect = point["effect"][:, ratings.rater[row]]
            log_odds = np.zeros((3, 3))
            log_odds[OFF_DIAGONAL] = point["location"] + point["spread"] * effect
            log_odds[OFF_DIAGONAL] -= point["ability_spread"] * point["ability"][ratings.rater[row]]
            by_truth *= softmax(log_odds, axis=1)[:, ratings.category[row]]
        total += math.log(by_truth.sum() if gold < 0 else by_truth[gold])
    of_spread, of_ability = map(half_t, (model.prior_spread, model.prior_ability_spread))
    mean = model.prior_location.mean - math.log(2)
    return float(
        total
        + dirichlet(model.prior_prevalence.of(3)).logpdf(point["prevalence"])
        + norm(mean, model.prior_location.sd).logpdf(point["location"]).sum()
        + of_spread.logpdf(point["spread"]).sum()
        + of_ability.logpdf(point["ability_spread"])
        + norm().logpdf(point["ability"]).sum()
        + norm().logpdf(point["effect"]).sum()
    )


def half_t(prior: rb.HalfNormal | rb.HalfStudentT) -> Any:
    """The distribution of a prior, up to a constant."""
    if isinstance(prior, rb.HalfNormal):
        return halfnorm(scale=prior.scale)
    return t(prior.df, scale=prior.scale)
