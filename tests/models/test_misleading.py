"""Items that mislead: ratings that follow a category other than the true one."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.categories.problem import log_weight
from reliabayes.inference import stan
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanPart, stan_data
from reliabayes.models.category_model import CategoryModel
from tests.models.test_annotation import check_gradient, random_points
from tests.models.vendor_accuracy import VendorAccuracy
from tests.monte_carlo import standard_error

PRIOR = rb.Beta(1, 19)
MODELS: tuple[CategoryModel, ...] = (
    rb.DawidSkene(prior_misleading=PRIOR),
    rb.MACE(prior_misleading=PRIOR),
    rb.MACE(prevalence="uniform", prior_misleading=PRIOR),
    rb.TAP(prior_misleading=PRIOR),
    rb.RaterTAP(prevalence="item", prior_misleading=PRIOR),
    rb.Groupthink(prior_misleading=PRIOR),
    rb.RaterGroupthink(prior_misleading=PRIOR),
    rb.HierarchicalDawidSkene(prior_misleading=PRIOR),
    rb.LatentTAP(prior_misleading=PRIOR),
)
every_model = pytest.mark.parametrize("model", MODELS, ids=lambda model: model.name())


def rated(
    *, items: int = 40, raters: int = 6, known: float = 0.5, misleading: float = 0.2, seed: int = 1
) -> rb.Ratings:
    """Ratings in three categories, right in three of four cases, of items that may mislead."""
    rng = np.random.default_rng(seed)
    followed, other = rng.integers(0, 3, (2, items))
    truth = np.where(rng.random(items) < misleading, other, followed)
    item = np.repeat(np.arange(items), raters)
    is_right = rng.random(len(item)) < 0.75
    rating = np.where(
        is_right, followed[item], (followed[item] + rng.integers(1, 3, len(item))) % 3
    )
    frame = pd.DataFrame(
        {"item": item, "rater": np.tile(np.arange(raters), items), "rating": rating}
    )
    frame["gold"] = np.where(item < known * items, truth[item].astype(float), np.nan)
    return rb.Ratings.from_frame(
        frame, gold="gold" if known else None, scale="nominal", categories=range(3)
    )


@every_model
def test_likelihood_sums_over_states_and_true_categories(model: CategoryModel) -> None:
    ratings = rated(items=6, raters=3)
    problem = model.problem(ratings)
    point, _ = random_points(model, ratings)

    found = model.log_likelihood(point, problem)

    assert found == pytest.approx(plain_log_likelihood(model, ratings, point), abs=1e-10)


@every_model
def test_stan_density_has_this_likelihood_and_the_prior(model: CategoryModel) -> None:
    ratings = rated(items=6, raters=3)
    without = dataclasses.replace(model, prior_misleading=None)
    one, other = random_points(model, ratings)

    centring = without.start(without.problem(ratings)).centring
    found = [log_density(model, ratings, point, centring) for point in (one, other)]

    expected = []
    for point in (one, other):
        rest = {name: x for name, x in point.items() if name != "misleading"}
        prior = stats.beta(1, 19).logpdf(float(point["misleading"][0]))
        likelihoods = (
            plain_log_likelihood(model, ratings, point),
            without.log_likelihood(rest, without.problem(ratings)),
        )
        known = log_density(without, ratings, rest, centring)
        expected.append(known - likelihoods[1] + likelihoods[0] + prior)
    assert found[0] - found[1] == pytest.approx(expected[0] - expected[1], abs=1e-8)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model",
    [
        MODELS[0],
        *(pytest.param(model, marks=pytest.mark.proof) for model in MODELS[1:-2]),
        MODELS[-1],
    ],
    ids=lambda model: model.name(),
)
def test_gradient_equals_finite_differences(model: CategoryModel) -> None:
    check_gradient(model, rated(items=6, raters=3))


@every_model
def test_em_climbs_the_posterior(model: CategoryModel) -> None:
    estimate = model.em(rated(), priors=True, max_iterations=300, tolerance=1e-6)

    assert np.diff(estimate.path).min() >= -1e-8
    assert 0.01 < float(estimate.quantities["misleading"]) < 0.95


def test_em_estimates_the_proportion_that_known_answers_show() -> None:
    # With 30 raters the category that ratings follow is certain, so that counting gives the mode.
    ratings = rated(items=300, raters=30, known=1.0)
    table = pd.crosstab(ratings.item, ratings.category).to_numpy()
    gold = ratings.gold_category
    assert gold is not None
    followed = table.argmax(axis=1)

    estimate = rb.DawidSkene(prior_misleading=rb.Beta(1, 1)).em(ratings, priors=True)

    prevalence = estimate.quantities["prevalence"].to_numpy()
    grid = np.linspace(0.001, 0.999, 999)
    same = (1 - grid[:, None]) + grid[:, None] * prevalence
    counts = np.bincount(gold[followed == gold], minlength=3)
    n_other = int((followed != gold).sum())
    density = (np.log(same) * counts).sum(axis=1) + n_other * np.log(grid)
    density += np.log(grid) + np.log1p(-grid)  # of Beta(1, 1) on the unconstrained scale
    assert float(estimate.quantities["misleading"]) == pytest.approx(
        grid[density.argmax()], abs=0.002
    )


@pytest.mark.slow
@pytest.mark.parametrize("sampler", ["gibbs", pytest.param("nuts", marks=pytest.mark.proof)])
def test_without_known_answers_it_has_its_prior(sampler: Any) -> None:
    model = rb.MACE(prior_misleading=PRIOR)

    fit = model.fit(rated(known=0.0), seed=1, chains=2, sampler=sampler)

    draws = fit.quantities["misleading"]
    assert float(draws.mean()) == pytest.approx(0.05, abs=4 * standard_error(draws.to_numpy()))
    assert "known answers (gold) can tell" in fit.summary().attrs["caution"]
    probability = fit.category_probabilities().to_numpy()
    plain = rb.MACE().fit(rated(known=0.0), seed=1, chains=2, sampler=sampler)
    followed = plain.category_probabilities().to_numpy()
    prevalence = plain.quantities["prevalence"].mean(("chain", "draw")).to_numpy()
    expected = 0.95 * followed + 0.05 * prevalence
    assert np.abs(probability - expected).max() < 0.05
    assert probability.max() < 0.985 < followed.max()


def test_prior_is_shown_only_where_items_may_mislead() -> None:
    ratings = rated()

    assert "misleading" not in rb.MACE().priors(ratings)
    assert rb.MACE(prior_misleading=PRIOR).priors(ratings)["misleading"] == PRIOR


def test_model_without_the_parameter_refuses_the_prior() -> None:
    with pytest.raises(TypeError, match="VendorAccuracy takes no prior_misleading"):
        VendorAccuracy(prior_misleading=PRIOR)


@pytest.mark.proof
@pytest.mark.parametrize(
    "model",
    [
        rb.DawidSkene(prior_misleading=PRIOR),
        rb.MACE(prior_misleading=PRIOR),
        rb.HierarchicalDawidSkene(prior_misleading=PRIOR),
    ],
    ids=lambda model: model.name(),
)
def test_both_samplers_agree_where_answers_are_known(model: CategoryModel) -> None:
    ratings = rated()

    gibbs, nuts = (
        model.fit(ratings, seed=1, sampler=each).quantities[
            ["misleading", "accuracy", "prevalence"]
        ]
        for each in ("gibbs", "nuts")
    )

    for name in gibbs:
        errors = np.hypot(*(standard_errors_of(fit[name]) for fit in (gibbs, nuts)))
        apart = (gibbs[name] - nuts[name]).mean(("chain", "draw")).to_numpy()
        assert np.abs(apart / errors).max() < 4


@pytest.mark.slow
def test_known_answers_are_labels_and_others_are_mixed_with_the_prevalence() -> None:
    ratings = rated()
    model = rb.DawidSkene(prior_misleading=PRIOR)

    items = model.fit(ratings, seed=1, chains=2, draws=200).items()

    known = ratings.gold_category
    assert known is not None
    assert (items["probability"][known >= 0] == 1).all()
    assert (items["category"][known >= 0] == known[known >= 0]).all()
    assert items["probability"][known < 0].max() < 0.97


@pytest.mark.slow
def test_accuracy_is_that_of_the_true_category() -> None:
    # Raters who always agree are right unless an item misleads.
    frame = rated(items=400, raters=5, known=1.0, misleading=0.3).to_frame()
    frame["rating"] = frame.groupby("item")["rating"].transform(lambda x: x.mode()[0])
    ratings = rb.Ratings.from_frame(frame, gold="gold", scale="nominal", categories=range(3))
    share = float((frame["rating"] == frame["gold"]).mean())

    fit = rb.DawidSkene(prior_misleading=PRIOR).fit(ratings, seed=1, chains=2, draws=300)

    lower, upper = fit.quantities["accuracy"].isel(rater=0).quantile([0.02, 0.98])
    assert float(lower) < share < float(upper)
    correct = fit.correct_share(draws=100)
    assert float(correct.mean()) == pytest.approx(share, abs=1e-9)


@pytest.mark.slow
def test_more_labels_do_not_help_beyond_items_that_mislead() -> None:
    ratings = rated(items=150, raters=8, known=1.0, misleading=0.45)

    fit = rb.MACE(prior_misleading=PRIOR).fit(ratings, seed=1, chains=2, draws=100)

    assert np.isinf(fit.raters_needed(accuracy=0.95)).all()
    assert np.isfinite(fit.raters_needed(accuracy=0.6)).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # short chains
def test_fit_is_saved_and_loaded(tmp_path: Any) -> None:
    fit = rb.TAP(prior_misleading=PRIOR).fit(rated(), seed=1, chains=2, draws=20)

    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")

    assert loaded.model == fit.model
    assert loaded.summary().equals(fit.summary())


@pytest.mark.calibration
@pytest.mark.parametrize("sampler", ["gibbs", "nuts"])
def test_posterior_is_calibrated_where_answers_are_known(sampler: Any) -> None:
    def draw(rng: np.random.Generator) -> tuple[dict[str, Any], rb.Ratings]:
        share, prevalence = rng.beta(1, 4), rng.dirichlet(np.ones(3))
        theta, xi = rng.beta(2, 1, 4), rng.dirichlet(np.full(3, 10.0), 4)
        followed, other = rng.choice(3, (2, 25), p=prevalence)
        truth = np.where(rng.random(25) < share, other, followed)
        item, rater = (x.ravel() for x in np.indices((25, 4)))
        guess = (rng.random(100)[:, None] > xi[rater].cumsum(axis=1)[:, :2]).sum(axis=1)
        rating = np.where(rng.random(100) < theta[rater], followed[item], guess)
        frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating})
        frame["gold"] = np.where(item < 15, truth[item].astype(float), np.nan)
        ratings = rb.Ratings.from_frame(frame, gold="gold", scale="nominal", categories=range(3))
        return {"misleading": share, "prevalence": prevalence, "theta": theta}, ratings

    model = rb.MACE(prior_misleading=rb.Beta(1, 4), prior_theta=rb.Beta(2, 1))

    found = calibrate_by_hand(model, draw, 300, sampler=sampler)

    assert found > 0.01


def calibrate_by_hand(model: CategoryModel, draw: Any, number: int, **options: Any) -> float:
    """Smallest corrected p-value that ranks of true values are uniform."""
    ranks = []
    for seed in range(number):
        rng = np.random.default_rng(seed)
        true, ratings = draw(rng)
        fit = model.fit(ratings, seed=seed, chains=2, draws=500, **options)
        row = []
        for name, value in true.items():
            draws = fit.quantities[name].to_numpy().reshape(1000, -1)[7::15]
            row.append((draws < np.ravel(value)).sum(axis=0) + rng.random(draws.shape[1]))
        ranks.append(np.concatenate(row) / (len(draws) + 1))
    p_values = [stats.kstest(column, "uniform").pvalue for column in np.transpose(ranks)]
    return float(min(1.0, min(p_values) * len(p_values)))


def plain_log_likelihood(model: CategoryModel, ratings: rb.Ratings, point: Point) -> float:
    """Log-likelihood in loops over items, states, and true categories."""
    problem = model.problem(ratings)
    share = float(point["misleading"][0])
    weight, table = (
        np.exp(log_weight(point, problem)),
        np.exp(model.family.response.table(point, problem)),
    )
    prevalence = np.bincount(problem.category_of_state, weight)
    assert ratings.gold_category is not None
    total = 0.0
    for item in range(ratings.n_items):
        cells = problem.cells.of_rating[ratings.item == item]
        gold, probability = ratings.gold_category[item], 0.0
        for state, follows in enumerate(problem.category_of_state):
            joint = weight[state] * math.prod(table[state, cells])
            for truth in range(3) if gold < 0 else [gold]:
                given = (1 - share) * (follows == truth) + share * prevalence[truth]
                probability += joint * given
        total += math.log(probability)
    return total


def log_density(
    model: CategoryModel, ratings: rb.Ratings, point: Point, centring: StanPart | None
) -> float:
    """Log density of the Stan program, without the Jacobian of its transforms."""
    problem = model.problem(ratings)
    values = {
        name: np.asarray(x).tolist() for name, x in model.for_program(point, centring).items()
    }
    data = stan_data(problem, centring)
    table = stan.load(model.program(problem)).log_prob(values, data, jacobian=False, sig_figs=17)
    return float(table["lp__"].iloc[0])


def standard_errors_of(draws: Any) -> Array:
    """Monte Carlo standard error of each mean."""
    flat = draws.to_numpy().reshape(*draws.shape[:2], -1)
    return np.array([standard_error(flat[..., i]) for i in range(flat.shape[-1])]).reshape(
        draws.shape[2:]
    )
