"""Models of categorical ratings: programs match plain formulas, posteriors published values."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import expit, log_expit, logsumexp, xlogy
from scipy.stats import beta, dirichlet, halfnorm, norm, truncnorm

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.problem import prevalence_at
from reliabayes.inference import stan
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.problem import stan_data
from reliabayes.models.category_model import CategoryModel
from reliabayes.results.posterior import Posterior
from tests.conftest import load_or_skip
from tests.designs import four_point_moves, four_point_slopes, log_densities

Point = dict[str, Array]
Load = Callable[[str], pd.DataFrame]


# Each model as a plain function: probabilities (K,) of a rating given the item's true category.
RatingProbabilities = Callable[[Point, int, int, Array], Array]
Prior = Callable[[Point], Any]


def dawid_skene(point: Point, rater: int, truth: int, proportions: Array) -> Array:
    return np.asarray(point["confusion"][rater, truth])


def tap(point: Point, rater: int, truth: int, proportions: Array) -> Array:
    a, p = point["a"][truth % len(point["a"])], point["p"][truth % len(point["p"])]
    return np.asarray(a * one_hot(truth, p) + (1 - a) * p)


def rater_tap(point: Point, rater: int, truth: int, proportions: Array) -> Array:
    a, p = point["a"][rater], point["p"][rater]
    return np.asarray(a * one_hot(truth, p) + (1 - a) * p)


def mace(point: Point, rater: int, truth: int, proportions: Array) -> Array:
    theta, xi = point["theta"][rater], point["xi"][rater]
    return np.asarray(theta * one_hot(truth, xi) + (1 - theta) * xi)


def groupthink(point: Point, rater: int, truth: int, proportions: Array) -> Array:
    a = np.ravel(point["a"])[rater % np.size(point["a"])]
    return np.asarray(a * one_hot(truth, proportions) + (1 - a) * proportions)


def one_hot(truth: int, like: Array) -> Array:
    return np.asarray(np.arange(len(like)) == truth, float)


UNIFORM = np.full(3, 1 / 3)
# Priors of Dawid-Skene in the R package rater, with which the reference posteriors were sampled.
AS_IN_RATER = rb.DawidSkene(
    prior_prevalence=rb.Dirichlet(3.0), prior_confusion=rb.DiagonalDirichlet(8, 0.6)
)
ROWS = np.full((3, 3), 1.6) + 3.2 * np.eye(3)

PLAIN: dict[str, tuple[CategoryModel, RatingProbabilities, Prior]] = {
    "dawid-skene": (
        AS_IN_RATER,
        dawid_skene,
        lambda x: (
            dirichlet(3 * np.ones(3)).logpdf(x["prevalence"])
            + sum(dirichlet(ROWS[h]).logpdf(row[h]) for row in x["confusion"] for h in range(3))
        ),
    ),
    "tap": (
        rb.TAP(prior_a=rb.Beta(2, 3), prior_p=rb.Dirichlet((1, 2, 3))),
        tap,
        lambda x: beta(2, 3).logpdf(x["a"]).sum() + dirichlet([1, 2, 3]).logpdf(x["p"][0]),
    ),
    "tap by category": (
        rb.TAP(accuracy="by_category", guessing="by_category", prior_a=rb.Beta(2, 3)),
        tap,
        lambda x: beta(2, 3).logpdf(x["a"]).sum(),
    ),
    "rater-tap": (
        rb.RaterTAP(prevalence="item", prior_t=rb.Dirichlet((1, 1, 2)), prior_a=rb.Beta(2, 3)),
        rater_tap,
        lambda x: beta(2, 3).logpdf(x["a"]).sum(),
    ),
    "rater-tap, shared": (
        rb.RaterTAP(prior_t=rb.Dirichlet((1, 1, 2))),
        rater_tap,
        lambda x: dirichlet([1, 1, 2]).logpdf(x["prevalence"][0]),
    ),
    "mace": (
        rb.MACE(prevalence="uniform"),
        mace,
        lambda x: (
            beta(0.5, 0.5).logpdf(x["theta"]).sum()
            + sum(dirichlet(10 * np.ones(3)).logpdf(xi) for xi in x["xi"])
        ),
    ),
    "mace, estimated": (
        rb.MACE(prior_prevalence=rb.Dirichlet(4.0)),
        mace,
        lambda x: (
            beta(0.5, 0.5).logpdf(x["theta"]).sum()
            + sum(dirichlet(10 * np.ones(3)).logpdf(xi) for xi in x["xi"])
            + dirichlet(4 * np.ones(3)).logpdf(x["prevalence"][0])
        ),
    ),
    "groupthink": (
        rb.Groupthink(prior_a=rb.Beta(2, 3)),
        groupthink,
        lambda x: float(beta(2, 3).logpdf(x["a"])),
    ),
    "rater-groupthink": (
        rb.RaterGroupthink(prevalence="shared", prior_a=rb.Beta(2, 3)),
        groupthink,
        lambda x: beta(2, 3).logpdf(x["a"]).sum(),
    ),
}
PREVALENCE = {"rater-tap": np.array([0.25, 0.25, 0.5]), "mace": UNIFORM}
every_plain_model = pytest.mark.parametrize("name", PLAIN)


@pytest.fixture
def ratings() -> rb.Ratings:
    """Three categories; some items have identical ratings, a known category or a replicate."""
    rng = np.random.default_rng(5)
    item, rater = np.repeat(np.arange(12), 3), np.tile([0, 1, 2, 1, 2, 3], 6)
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rng.integers(0, 3, 36)})
    frame.loc[frame["item"] == 11, "rater"] = [0, 0, 3]
    frame.loc[frame["item"].isin([3, 5]), "rating"] = [1, 1, 2, 1, 1, 2]
    frame["gold"] = frame["item"].map({0: 2, 7: 0})
    return rb.Ratings.from_frame(frame, gold="gold", categories=range(3), replicates="keep")


@every_plain_model
def test_stan_density_equals_the_plain_formula(name: str, ratings: rb.Ratings) -> None:
    model, probabilities, log_prior = PLAIN[name]
    one, other = random_points(model, ratings)

    found = log_density(model, ratings, one) - log_density(model, ratings, other)

    prevalence = PREVALENCE.get(name)
    expected = [
        plain_log_likelihood(ratings, point, probabilities, prevalence) + log_prior(point)
        for point in (one, other)
    ]
    assert found == pytest.approx(expected[0] - expected[1], abs=1e-9)


@pytest.mark.slow
@pytest.mark.parametrize(
    "nodes", [3, *(pytest.param(n, marks=pytest.mark.proof) for n in (8, 12, 15, 20)), 24, 28]
)  # which fill registers, or do not
def test_gradient_of_latent_tap_equals_finite_differences(nodes: int, ratings: rb.Ratings) -> None:
    years = pd.DataFrame({"rater": [0, 1, 2, 3], "years": [1.0, -0.5, 0.2, 2.0]})
    covariates = rb.Covariates.from_frame(years)

    check_gradient(rb.LatentTAP(covariates=covariates, nodes=nodes), ratings)


@pytest.mark.slow
@pytest.mark.parametrize("place", [-2000.0, 1e308])
def test_latent_tap_takes_a_known_category_of_probability_0_for_impossible(
    place: float, ratings: rb.Ratings
) -> None:
    model = rb.LatentTAP()
    point, _ = random_points(model, ratings)
    free = [p.unconstrain(np.asarray(point[p.name])).ravel() for p in model.parameters()]
    at = np.concatenate(free)
    at[0] = place  # of the first category, or all others, in the prevalence

    table = log_densities(
        stan.folder() / model.program(model.problem(ratings)),
        model.stan_data(ratings),
        unconstrained_params={"params_r": at[None]},
    )

    assert not table["lp__"].iloc[0] > -math.inf


def test_latent_tap_integrates_out_item_difficulty() -> None:
    frame = pd.DataFrame(
        {"item": [0, 0, 0, 1, 1, 1], "rater": [0, 1, 2] * 2, "rating": [0, 0, 1, 1, 1, 1]}
    )
    ratings = rb.Ratings.from_frame(frame)
    covariates = rb.Covariates(("years",), (0, 1, 2), ((1.0,), (0.0,), (-1.0,)))
    model = rb.LatentTAP(covariates=covariates)
    problem = model.problem(ratings)
    point = model.draw_parameters(ratings, np.random.default_rng(1))

    found = model.log_likelihood(point, problem)

    odds = point["alpha"] + point["eta"][0] * np.array([1.0, 0.0, -1.0])

    def given(z: float, rated: list[int]) -> float:
        accuracy = expit(odds - point["sd_delta"][0] * z)
        total = sum(
            point["prevalence"][truth]
            * math.prod(
                accuracy[j] * (k == truth) + (1 - accuracy[j]) * point["p"][j, k]
                for j, k in enumerate(rated)
            )
            for truth in range(2)
        )
        return float(norm.pdf(z) * total)

    exact = sum(math.log(quad(given, -9, 9, args=(x,))[0]) for x in ([0, 0, 1], [1, 1, 1]))
    assert found == pytest.approx(exact, abs=1e-4)


def test_latent_tap_has_the_documented_priors(ratings: rb.Ratings) -> None:
    model = rb.LatentTAP()
    problem = model.problem(ratings)
    one, other = random_points(model, ratings)

    found = log_density(model, ratings, one) - log_density(model, ratings, other)

    centring = model.start(problem).centring
    assert isinstance(centring, KnowledgeCentring)

    def expected(x: Point) -> float:
        # The program samples other numbers than have priors: this is the log Jacobian.
        positive = np.log([x["sd_alpha"], x["sd_delta"][0], x["concentration"]])
        stretch = positive.sum() + centring.log_slope(x)
        stretch += sum(np.log(x[name]).sum() for name in ("prevalence", "mean_p", "p"))
        return float(
            model.log_likelihood(x, problem)
            + dirichlet(np.ones(3)).logpdf(x["prevalence"])
            + norm(0, 1.5).logpdf(x["mean_alpha"])
            + halfnorm(scale=1).logpdf(x["sd_alpha"])
            + norm(x["mean_alpha"], x["sd_alpha"]).logpdf(x["alpha"]).sum()
            + stretch
            + halfnorm(scale=1).logpdf(x["sd_delta"][0])
            + dirichlet(2 * np.ones(3)).logpdf(x["mean_p"])
            + halfnorm(scale=10).logpdf(x["concentration"])
            + sum(dirichlet(1 + x["concentration"] * x["mean_p"]).logpdf(p) for p in x["p"])
        )

    assert found == pytest.approx(expected(one) - expected(other), abs=1e-8)


@pytest.mark.parametrize(
    ("raters", "largest", "model"),
    [
        *product([70], [3.0, 200.0, 500.0], [rb.LatentTAP(), rb.LatentTAP(difficulty=False)]),
        # Few ratings are multiplied: nodes fill registers.
        *((13, 3.0, rb.LatentTAP(nodes=nodes)) for nodes in (4, 7, 12, 16, 20, 24, 28)),
    ],
)
def test_density_of_latent_tap_holds_for_many_ratings_and_extreme_accuracies(
    raters: int, largest: float, model: rb.LatentTAP
) -> None:
    rng = np.random.default_rng(4)
    item, rater = np.indices((4, raters)).reshape(2, -1)
    rating = rng.integers(0, 3, len(item))
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
    frame = pd.concat([frame, frame[:9], frame[:2]], ignore_index=True)  # two and three times
    frame["gold"] = frame["item"].map({1: 2})
    ratings = rb.Ratings.from_frame(frame, gold="gold", replicates="keep", scale="nominal")
    problem: Any = model.problem(ratings)
    one = {**model.draw_parameters(ratings, rng), "sd_alpha": np.array(100.0)}
    one, other = (one | {"alpha": rng.uniform(-largest, largest, raters)} for _ in range(2))

    found = log_density(model, ratings, one) - log_density(model, ratings, other)

    def expected(x: Point) -> float:
        node = problem.nodes.node * x.get("sd_delta", 0.0)
        odds = x["alpha"][ratings.rater] - node[:, None]  # by node and rating
        guess = log_expit(-odds) + np.log(x["p"][ratings.rater, ratings.category])
        known = np.logaddexp(log_expit(odds), guess)
        states = np.log(problem.nodes.weight)[:, None] + np.log(x["prevalence"])
        total = norm(x["mean_alpha"], x["sd_alpha"]).logpdf(x["alpha"]).sum()
        for item in range(ratings.n_items):
            own, truth = ratings.item == item, range(3) if item != 1 else [2]
            joint = [
                states[:, k]
                + np.where((ratings.category == k)[own], known[:, own], guess[:, own]).sum(axis=1)
                for k in truth
            ]
            total += logsumexp(joint)
        return float(total)

    assert found == pytest.approx(expected(one) - expected(other), rel=1e-9, abs=1e-8)


def test_error_of_the_quadrature_over_difficulties_is_known() -> None:
    rng = np.random.default_rng(1)
    ratings = rb.Ratings.from_wide((rng.random((60, 20)) < 0.7).astype(int), scale="nominal")
    model, finer = rb.LatentTAP(nodes=5), rb.LatentTAP(nodes=400)
    coarse, fine = (each.problem(ratings) for each in (model, finer))
    point = model.start(fine).point | {"sd_delta": np.array([3.0])}
    draws = {name: np.broadcast_to(x, (1, 2, *np.shape(x))).copy() for name, x in point.items()}
    posterior = Posterior(model.labelled(draws, coarse), ratings, coarse)

    nodes, error = model.integration_error(posterior)

    expected = abs(model.log_likelihood(point, coarse) - model.log_likelihood(point, fine))
    assert nodes == 5
    assert expected > 1
    assert error == pytest.approx(expected, rel=0.02)


def test_quadrature_over_difficulty_is_accurate_for_caries(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("caries"))
    model, finer = rb.LatentTAP(), rb.LatentTAP(nodes=400)
    point = model.em(ratings).parameters
    mode = {str(name): values.values for name, values in point.items()}

    error = model.log_likelihood(mode, model.problem(ratings)) - finer.log_likelihood(
        mode, finer.problem(ratings)
    )

    assert abs(error) < 1e-3


def test_effect_of_a_covariate_is_recovered() -> None:
    rng = np.random.default_rng(2)
    years = np.linspace(-2, 2, 20)
    covariates = rb.Covariates(("years",), tuple(range(20)), tuple((x,) for x in years))
    model = rb.LatentTAP(covariates=covariates, difficulty=False)
    truth = {"eta": [1.0], "mean_alpha": 0.5, "sd_alpha": 0.3, "prevalence": [0.5, 0.5]}
    ratings = model.simulate(complete(150, 20), rng, parameters=truth)

    eta = model.em(ratings).quantities["eta"]

    # Standard error about 1 / sqrt(sum of squares of the years / (sd of accuracies)^2) = 0.06.
    assert eta.sel(covariate="years").item() == pytest.approx(1.0, abs=0.3)


def test_raters_without_covariates_are_named() -> None:
    covariates = rb.Covariates(("years",), ("x",), ((1.0,),))
    frame = pd.DataFrame({"item": [1, 1, 2], "rater": ["x", "y", "y"], "rating": [0, 1, 1]})

    with pytest.raises(rb.RatingsError, match="each rater must have covariates; found none for 'y"):
        rb.LatentTAP(covariates=covariates).em(rb.Ratings.from_frame(frame))


# Published and independently computed posteriors.

LONG = pytest.mark.posteriors


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "model", "mean", "sd"),
    [
        ("dawid_skene_1979", AS_IN_RATER, -224.84, 4.66),
        pytest.param("ptsd", rb.RaterTAP(prevalence="item"), -2416.64, 3.3, marks=LONG),
        pytest.param("bluebirds", rb.RaterTAP(prevalence="item"), -1944.11, 6.4, marks=LONG),
        pytest.param("bluebirds", rb.MACE(prevalence="uniform"), -2009.36, 10.1, marks=LONG),
        pytest.param("snow2008_rte", rb.MACE(prevalence="uniform"), -3917.85, 11.4, marks=LONG),
        pytest.param("snow2008_rte", AS_IN_RATER, -4039.06, 16.1, marks=LONG),
        pytest.param("snow2008_temp", rb.MACE(prevalence="uniform"), -1376.21, 8.5, marks=LONG),
        pytest.param("snow2008_temp", AS_IN_RATER, -1445.68, 11.4, marks=LONG),
    ],
)
def test_posterior_of_log_likelihood_matches_the_reference(
    name: str, model: CategoryModel, mean: float, sd: float
) -> None:
    fit = fitted(name, model)

    row = fit.summary().loc["log_likelihood"].astype(float).to_dict()

    # The reference was sampled, too; its Monte Carlo error is about as large as ours.
    assert row["mean"] == pytest.approx(mean, abs=6 * row["mcse"])
    assert row["sd"] == pytest.approx(sd, rel=0.06)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "model", "agreement"),
    [
        pytest.param("bluebirds", rb.RaterTAP(prevalence="item"), 0.898, marks=LONG),
        pytest.param("bluebirds", rb.MACE(prevalence="uniform"), 0.861, marks=LONG),
        pytest.param("snow2008_rte", rb.MACE(prevalence="uniform"), 0.92625, marks=LONG),
        pytest.param("snow2008_rte", AS_IN_RATER, 0.9225, marks=LONG),
        pytest.param("snow2008_temp", rb.MACE(prevalence="uniform"), 0.94156, marks=LONG),
        pytest.param("snow2008_temp", AS_IN_RATER, 0.94372, marks=LONG),
    ],
)
def test_agreement_with_gold_matches_the_reference(
    name: str, model: CategoryModel, agreement: float, dataset: Load
) -> None:
    fit = fitted(name, model)

    gold = dataset(name).groupby("item")["gold"].first()
    right = fit.items()["category"].reindex(gold.index) == gold

    # The category of a borderline item may change with the seed.
    assert right.mean() == pytest.approx(agreement, abs=1.01 / len(gold))


def test_posterior_of_dawid_and_skenes_patients_matches_the_reference() -> None:
    fit = fitted("dawid_skene_1979", AS_IN_RATER)

    table = fit.summary(names=["prevalence"])

    assert table["mean"].tolist() == pytest.approx([0.3745, 0.4086, 0.1424, 0.0745], abs=0.005)
    assert table["sd"].tolist() == pytest.approx([0.062, 0.065, 0.046, 0.035], abs=0.005)
    assert fit.diagnostics().problems == []


@pytest.mark.slow
@LONG
def test_accuracies_of_ptsd_raters_match_the_reference() -> None:
    fit = fitted("ptsd", rb.RaterTAP(prevalence="item"))

    a = fit.raters()["a"].reindex([f"Rater_{j}" for j in range(1, 11)])

    reference = [0.3197, 0.5092, 0.7768, 0.4232, 0.3796, 0.6698, 0.4304, 0.8814, 0.5949, 0.8580]
    assert a.tolist() == pytest.approx(reference, abs=0.005)


@pytest.mark.slow
def test_sensitivities_of_dentists_match_the_reference(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("caries"))
    fit = rb.DawidSkene(prior_prevalence=rb.Dirichlet(2.0)).fit(ratings, seed=1)

    prevalence = fit.summary().loc["prevalence[1]"]
    confusion = fit.quantities["confusion"].mean(("chain", "draw"))

    # Our prior of the confusion matrices differs from the reference's, but 3869 items outweigh it.
    assert prevalence["mean"] == pytest.approx(0.1959, abs=0.004)
    assert prevalence["sd"] == pytest.approx(0.0093, abs=0.001)
    assert confusion.values[:, 1, 1] == pytest.approx([0.405, 0.714, 0.599, 0.490, 0.915], abs=0.01)
    assert confusion.values[:, 0, 0] == pytest.approx([0.989, 0.898, 0.986, 0.968, 0.694], abs=0.01)


@pytest.mark.posteriors
@pytest.mark.parametrize(
    "name",
    ["snow2008_rte", "snow2008_temp", "bluebirds", "caries", "ptsd", "wine", "dawid_skene_1979"],
)
@pytest.mark.parametrize(
    "model",
    [model() for model in rb.MODELS if issubclass(model, CategoryModel)],
    ids=lambda x: x.name(),
)
def test_default_settings_converge_without_divergences(model: CategoryModel, name: str) -> None:
    if name == "wine" and model == rb.DawidSkene():
        model = AS_IN_RATER  # under the default priors the fit warns, as the documentation says

    found = fitted(name, model).diagnostics()

    assert found.divergences == 0
    assert not found.problems, str(found)


# Groupthink.


@pytest.mark.slow
def test_groupthink_follows_the_formula_and_not_the_misprinted_program() -> None:
    """The published program swaps the proportions of wrong ratings, which is an erratum.

    With 300 items x 10 raters and t = a = p = 0.7 its E[a] is near 0.035; that of the model as
    described is near 0.003.
    """
    design, truth = complete(300, 10), {"prevalence": [0.3, 0.7], "a": [0.7], "p": [[0.3, 0.7]]}
    ratings = rb.TAP().simulate(design, np.random.default_rng(1), parameters=truth)

    found = rb.Groupthink().fit(ratings, seed=1, draws=400).quantities["a"].mean().item()

    assert found == pytest.approx(mean_accuracy(ratings, swapped=False), abs=0.0004)
    assert found == pytest.approx(0.003, abs=0.001)
    assert mean_accuracy(ratings, swapped=True) == pytest.approx(0.035, abs=0.015)


def mean_accuracy(ratings: rb.Ratings, *, swapped: bool) -> float:
    """E[a] of the groupthink model by a grid over a and the prevalence, with uniform priors."""
    ones = ratings.counts[:, 1].astype(float)
    zeros = ratings.counts[:, 0].astype(float)
    proportion = ones / (ones + zeros)
    wrong = 1 - proportion if swapped else proportion
    a = np.concatenate([np.linspace(1e-7, 0.02, 75), np.linspace(0.0204, 0.2, 50)])[:, None]
    true_1 = xlogy(ones, a + (1 - a) * proportion) + xlogy(zeros, (1 - a) * (1 - wrong))
    true_0 = xlogy(zeros, a + (1 - a) * (1 - proportion)) + xlogy(ones, (1 - a) * wrong)
    t = np.linspace(0.01, 0.99, 50)[:, None, None]
    log_density = np.logaddexp(np.log(t) + true_1, np.log1p(-t) + true_0).sum(axis=-1)
    by_a = logsumexp(log_density, axis=0)
    density = np.exp(by_a - by_a.max())
    return float(np.trapezoid(density * a[:, 0], a[:, 0]) / np.trapezoid(density, a[:, 0]))


# Label switching.


class OneSwitchedChain:
    """Starts all chains at one draw of a fit, the second with its true categories switched."""

    def __init__(self, fit: rb.Fit) -> None:
        self.draw = fit.posterior.isel(chain=0, draw=-1)

    def create_inits(self, *, seed: int, chains: int) -> list[dict[str, Any]]:
        swapped = self.draw.isel(true_category=[1, 0])
        starts = [swapped if chain == 1 else self.draw for chain in range(chains)]
        return [{str(name): x.values for name, x in start.items()} for start in starts]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_chains_with_switched_labels_are_relabelled_with_a_warning(dataset: Load) -> None:
    ratings = nominal(dataset("bluebirds"))
    start = OneSwitchedChain(rb.DawidSkene().fit(ratings, seed=1, chains=1, draws=10))
    # Flat priors allow both labellings; with 39 raters of 108 items a chain keeps its first one.
    flat = rb.DawidSkene(prior_prevalence=rb.Dirichlet(1.0), prior_confusion=rb.Dirichlet(1.0))

    with pytest.warns(
        rb.ConvergenceWarning, match=r"true categories had switched \(counted from 0: 1\)"
    ):
        fit = flat.fit(ratings, seed=2, warm_start=start, chains=2, warmup=200, draws=200)

    assert fit.diagnostics().relabelled == (1,)
    # R-hat exceeds 2 if labels differ between chains.
    assert fit.diagnostics().r_hat < 1.2


@pytest.mark.slow
def test_default_priors_prevent_label_switching(dataset: Load) -> None:
    fit = rb.DawidSkene().fit(nominal(dataset("bluebirds")), seed=3)

    assert fit.diagnostics().relabelled == ()
    assert fit.diagnostics().problems == []


# Simulation, gold and priors.


@pytest.mark.slow
def test_accuracies_of_nine_raters_are_recovered() -> None:
    accuracies = np.linspace(0.1, 0.9, 9)
    truth = {"a": accuracies, "p": np.tile([0.5, 0.5], (9, 1))}
    ratings = rb.RaterTAP(prevalence="item").simulate(
        complete(600, 9), np.random.default_rng(4), parameters=truth
    )

    estimate = rb.RaterTAP(prevalence="item").em(ratings).quantities["a"].values
    fit = rb.RaterTAP(prevalence="item").fit(ratings, seed=1, chains=2)

    # sd of an accuracy from 600 ratings: about sqrt((1 - a^2) / 600) = 0.04 at most.
    assert estimate == pytest.approx(accuracies, abs=0.13)
    a = fit.quantities["a"]
    score = (a.mean(("chain", "draw")) - accuracies) / a.std(("chain", "draw"))
    assert np.abs(score.values).max() < 3.5


def test_simulated_ratings_keep_design_and_categories() -> None:
    frame = complete(8, 3).assign(rating=["no", "yes"] * 12)
    design = rb.Ratings.from_frame(frame, categories=["no", "yes", "unsure"])

    ratings = rb.DawidSkene().simulate(design, np.random.default_rng(1))

    assert ratings.categories.tolist() == ["no", "yes", "unsure"]
    assert (ratings.item == design.item).all()
    assert (ratings.rater == design.rater).all()


def test_unknown_parameters_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="TAP has no theta; its parameters are prevalence"):
        rb.TAP().simulate(complete(4, 2), np.random.default_rng(1), parameters={"theta": [0.5]})


@pytest.mark.slow
def test_gold_categories_are_certain_and_identify_the_expert() -> None:
    truth = {"a": [0.9, 0.2, 0.2], "p": np.tile([0.5, 0.5], (3, 1))}
    rng = np.random.default_rng(7)
    ratings = rb.RaterTAP(prevalence="item").simulate(complete(40, 3), rng, parameters=truth)
    frame = ratings.to_frame()
    expert = frame.query("rater == 0").set_index("item")["rating"]
    with_gold = rb.Ratings.from_frame(frame.assign(gold=frame["item"].map(expert)), gold="gold")

    items = rb.DawidSkene().em(with_gold).items()
    fit = rb.DawidSkene().fit(with_gold, seed=1)

    assert (items["category"] == expert).all()
    assert items["probability"].tolist() == [1.0] * 40
    assert fit.raters()["accuracy"].idxmax() == 0
    assert fit.items()["entropy"].max() == 0


@pytest.mark.parametrize(("location", "sd"), [(0.8, 0.3), (0.5, 100), (5, 0.1), (-3, 0.2)])
def test_prevalence_by_item_enters_through_its_prior_mean(location: float, sd: float) -> None:
    prior = rb.RestrictedNormal(location, sd)
    mean = truncnorm.mean((0 - location) / sd, (1 - location) / sd, location, sd)

    frame = complete(2, 2).assign(rating=[0, 1, 1, 0])
    model = rb.RaterTAP(prevalence="item", prior_t=prior)
    problem = model.problem(rb.Ratings.from_frame(frame))

    assert prevalence_at({}, problem) == pytest.approx([1 - mean, mean])


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (
            lambda: rb.RaterTAP(prevalence="none"),  # type: ignore[arg-type]
            "prevalence must be 'item' or 'shared'",
        ),
        (
            lambda: rb.MACE(prevalence="shared"),  # type: ignore[arg-type]
            "must be 'uniform' or 'estimated', not 'shared'",
        ),
        (
            lambda: rb.TAP(accuracy="own"),  # type: ignore[arg-type]
            "accuracy must be 'shared' or 'by_category', not 'own'",
        ),
        (lambda: rb.LatentTAP(nodes=2), "nodes must be 3 or more, not 2"),
        (lambda: rb.Dirichlet(0.0), "must be finite and above 0"),
        (lambda: rb.Dirichlet((1, 2)).of(3), "has 2 numbers for 3 categories"),
        (lambda: rb.Beta(0, 1), "must be finite and above 0"),
        (lambda: rb.DiagonalDirichlet(accuracy=1), "accuracy must lie strictly between 0 and 1"),
        (lambda: rb.RestrictedNormal(0.5, 0.1).mean(3), "is a prior for 2 categories, not 3"),
    ],
)
def test_invalid_hyperparameters_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@functools.cache
def fitted(name: str, model: CategoryModel) -> rb.Fit:
    """Fit with default settings, shared by all tests."""
    return model.fit(nominal(load_or_skip(name)), seed=1)


def nominal(frame: pd.DataFrame) -> rb.Ratings:
    return rb.Ratings.from_frame(frame, scale="nominal", replicates="keep")


def complete(items: int, raters: int) -> pd.DataFrame:
    pairs = pd.MultiIndex.from_product([range(items), range(raters)], names=["item", "rater"])
    return pairs.to_frame(index=False)


def random_points(model: CategoryModel, ratings: rb.Ratings) -> tuple[Point, Point]:
    rng = np.random.default_rng(11)
    one, other = (dict(model.draw_parameters(ratings, rng)) for _ in range(2))
    return one, other


def plain_log_likelihood(
    ratings: rb.Ratings, point: Point, probabilities: RatingProbabilities, prevalence: Array | None
) -> float:
    """Log-likelihood in plain loops over items and ratings."""
    if prevalence is None:
        prevalence = np.ravel(point["prevalence"])
    assert ratings.gold_category is not None
    total = 0.0
    for item in range(ratings.n_items):
        rows = np.flatnonzero(ratings.item == item)
        proportions = np.bincount(ratings.category[rows], minlength=3) / len(rows)
        by_truth = prevalence.copy()
        for truth in range(3):
            for row in rows:
                probability = probabilities(point, int(ratings.rater[row]), truth, proportions)
                by_truth[truth] *= probability[ratings.category[row]]
        gold = ratings.gold_category[item]
        total += math.log(by_truth.sum() if gold < 0 else by_truth[gold])
    return total


def log_density(model: CategoryModel, ratings: rb.Ratings, point: Point) -> float:
    """Log density of the Stan program, without the Jacobian of its transforms."""
    program = stan.load(model.program(model.problem(ratings)))
    problem = model.problem(ratings)
    centring = model.start(problem).centring
    values = {
        name: np.asarray(x).tolist() for name, x in model.for_program(point, centring).items()
    }
    data = stan_data(problem, centring)
    table = program.log_prob(values, data, jacobian=False, sig_figs=17)
    return float(table["lp__"].iloc[0])


def check_gradient(model: CategoryModel, ratings: rb.Ratings) -> None:
    program = stan.folder() / model.program(model.problem(ratings))
    point, _ = random_points(model, ratings)
    free = [p.unconstrain(np.asarray(point[p.name])).ravel() for p in model.parameters()]
    at = np.concatenate(free)
    points = np.vstack([at, at + four_point_moves(len(at))])

    table = log_densities(
        program, model.stan_data(ratings), unconstrained_params={"params_r": points}
    )

    expected = four_point_slopes(table["lp__"].to_numpy()[1:])
    assert table.iloc[0, 1:].to_numpy(float) == pytest.approx(expected, rel=1e-5, abs=1e-5)
