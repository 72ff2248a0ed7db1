"""LogitICC and OrdinalICC: densities, quadrature over item effects, and posteriors."""

from __future__ import annotations

import contextlib
import functools
import itertools
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any, Literal

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.integrate import quad
from scipy.special import expit, log_expit, ndtr
from scipy.stats import halfnorm, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.ordered.moments import moment_estimates
from reliabayes.inference import stan
from reliabayes.inference.em import Point
from reliabayes.inference.problem import stan_data
from reliabayes.likelihoods.ordinal import Link, Observed
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.ordered_model import OrderedModel
from reliabayes.results.posterior import Posterior
from reliabayes.results.settings import Settings
from tests.conftest import load_or_skip
from tests.designs import gradients
from tests.models.score_programs import sampled_at
from tests.models.test_alarms import study
from tests.monte_carlo import standard_errors

MODELS: dict[str, tuple[OrderedModel, int]] = {
    "logit": (rb.LogitICC(), 2),
    "probit": (rb.LogitICC(link="probit"), 2),
    "ordinal": (rb.OrdinalICC(), 4),
    "ordinal probit": (rb.OrdinalICC(link="probit"), 3),
    "ordinal, 2 categories": (rb.OrdinalICC(), 2),
}
every_model = pytest.mark.parametrize("name", MODELS)
ICCS = ("icc", "labeler_icc", "icc_observed", "labeler_icc_observed")


# Densities.


@pytest.mark.slow
@every_model
@settings(max_examples=2)
@given(seed=st.integers(0, 2**16))
def test_density_integrates_out_item_effects(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, point = small(name, seed)

    found = evaluate(model, ratings, point)

    assert found == pytest.approx(by_quadrature(model, ratings, point), rel=1e-9, abs=1e-6)


@every_model
@settings(max_examples=1)
@given(seed=st.integers(0, 2**16))
def test_gradient_equals_finite_differences(name: str, seed: int) -> None:
    model, _ = MODELS[name]
    ratings, _ = small(name, seed)

    found, expected = gradients(replace(model, nodes=101), ratings, seed)

    assert found == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_category_of_zero_width_does_not_change_the_density() -> None:
    two, point = small("ordinal, 2 categories", 3)
    frame = two.to_frame()
    more = rb.Ratings.from_frame(frame, scale="ordered", categories=[0, 0.5, 1], replicates="keep")

    as_two = evaluate(rb.OrdinalICC(), two, point)
    as_three = evaluate(rb.OrdinalICC(), more, {**point, "step": np.array([1e-9])})

    log_prior_of_cut = -0.5 * ((1e-9 - float(point["mean"])) / 5) ** 2
    assert as_three - log_prior_of_cut == pytest.approx(as_two, abs=1e-6)


@every_model
def test_likelihood_in_numpy_integrates_out_item_effects(name: str) -> None:
    model, _ = MODELS[name]
    ratings, point = small(name, 5)
    problem = replace(model, nodes=201).problem(ratings)

    in_numpy = model.log_likelihood(point, problem)

    assert in_numpy == pytest.approx(by_quadrature(model, ratings, point, priors=False), abs=1e-6)


# Quadrature.


@pytest.mark.parametrize("sd", [0.2, 1.0, 4.0])
@pytest.mark.parametrize("per_item", [2, 5, 40])
def test_default_quadrature_over_item_effects_is_accurate(sd: float, per_item: int) -> None:
    design = pd.DataFrame(
        [(i, j) for i in range(60) for j in range(per_item)], columns=["item", "rater"]
    )
    parameters = {"mean": 0.3, "sd_item": sd, "sd_rater": 0.5}
    model = rb.LogitICC()
    ratings = model.simulate(design, np.random.default_rng(1), parameters=parameters)
    point = {**moment_estimates(model.problem(ratings)), "sd_item": np.array(sd)}
    problem, finer = (each.problem(ratings) for each in (model, replace(model, nodes=1001)))

    error = model.log_likelihood(point, problem) - model.log_likelihood(point, finer)

    assert abs(error) < 1e-3
    assert problem.nodes.number < 300


def test_few_busy_raters_do_not_decide_how_much_raters_seem_to_differ() -> None:
    rng = np.random.default_rng(5)
    effect, raters = rng.normal(0, 1, 300), [(1.5, 300), (1.2, 300), (1.3, 250), *[(0.0, 12)] * 40]
    rows = [
        (item, rater, int(rng.random() < expit(effect[item] + lean)))
        for rater, (lean, number) in enumerate(raters)
        for item in rng.choice(300, number, replace=False)
    ]
    table = pd.DataFrame(rows, columns=["item", "rater", "rating"])

    problem = rb.LogitICC().problem(rb.Ratings.from_frame(table, scale="ordered"))

    found = moment_estimates(problem)
    assert 0.7 < found["sd_item"] < 1.4
    assert found["sd_rater"] < 1.4
    assert problem.nodes.number < 40  # with 82 each evaluation of the density takes twice as long


@pytest.mark.parametrize("model", [rb.LogitICC(), rb.LatentTAP()], ids=lambda x: x.name())
def test_many_raters_whose_differences_are_well_known_allow_longer_steps(model: Any) -> None:
    def acceptance(raters: int) -> Any:
        number = np.arange(80)
        table = pd.DataFrame(
            {"item": number // 4, "rater": number % raters, "rating": number % 3 % 2}
        )
        scale: Literal["nominal", "ordered"] = (
            "nominal" if isinstance(model, rb.LatentTAP) else "ordered"
        )
        ratings = rb.Ratings.from_frame(table, scale=scale)
        return model.start(model.problem(ratings)).target_acceptance

    assert acceptance(20) <= 0.8 < 0.95 <= acceptance(19)


def test_observed_icc_of_any_sd_takes_few_nodes() -> None:
    sd_item, sd_rater = np.array([1.0, 1000.0]), np.array([0.5, 0.1])

    found = Observed.of(sd_item, sd_rater, np.zeros((2, 1)), "logit")

    # Items so far apart are rated 0 or 1 by all raters, half of them each.
    assert found.icc[1] == pytest.approx(1, abs=0.02)
    assert found.proportion[1] == pytest.approx([0.5, 0.5], abs=0.01)
    assert found.expected.shape[-1] < 400


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_moments_are_as_exact_where_nearly_all_ratings_are_of_the_last_category(link: Link) -> None:
    sds = (np.array([0.007, 0.9]), np.array([0.386, 0.6]))
    cut = np.array([[12.8, 13.2], [4.0, 6.0]])

    first, last = (Observed.of(*sds, cuts, link) for cuts in (cut, -cut[:, ::-1]))

    for name in ("icc", "labeler_icc", "variance"):
        np.testing.assert_allclose(getattr(last, name), getattr(first, name), rtol=1e-12)
        assert (getattr(last, name) > 0).all()
    np.testing.assert_allclose(last.proportion, first.proportion[:, ::-1], rtol=1e-12)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")  # short chains
@pytest.mark.parametrize(
    ("name", "items", "times"),
    [
        ("ordinal probit", 10, 3),
        pytest.param("ordinal probit", 50, 2, marks=pytest.mark.proof),
        pytest.param("logit", 10, 3, marks=pytest.mark.proof),
        pytest.param("logit", 50, 2, marks=pytest.mark.proof),
    ],
)
def test_default_quadrature_is_accurate_for_few_items(name: str, items: int, times: int) -> None:
    model, n_categories = MODELS[name]
    cells = [(item, rater) for item in range(items) for rater in range(times)]
    design = pd.DataFrame(cells, columns=["item", "rater"])
    parameters: dict[str, Any] = {"mean": 0.3, "sd_item": 1.0, "sd_rater": 0.7}
    if not model.family.is_binary:
        parameters["step"] = [0.8] * (n_categories - 2)

    rng = np.random.default_rng(1)
    ratings = model.simulate(design, rng, categories=range(n_categories), parameters=parameters)

    fit = model.fit(ratings, seed=1, chains=2, draws=500)

    # The error varies between draws by orders of magnitude, so take the median of the draws with
    # the largest sds. For the hardest of these ratings about 2 or 3 of the 20 draws exceed the
    # limit; the median exceeds it only if 10 do.
    by_sd = np.argsort(fit.posterior["sd_item"].values, axis=None)[-100::5]
    single_draws = (
        fit.posterior.isel(chain=[chain], draw=[draw])
        for chain, draw in zip(*np.unravel_index(by_sd, (2, 500)), strict=True)
    )
    problem = model.problem(ratings)
    errors = [
        model.integration_error(Posterior(draw, ratings, problem))[1] for draw in single_draws
    ]
    assert np.median(errors) < 1e-3


def test_initial_sd_of_items_is_accurate_for_very_different_raters() -> None:
    design = pd.DataFrame([(i, j) for i in range(4000) for j in (0, 1)], columns=["item", "rater"])
    model = rb.LogitICC()
    parameters = {"mean": 0.0, "sd_item": 1.5, "sd_rater": 1.5, "level": [-1.5, 1.5]}
    ratings = model.simulate(design, np.random.default_rng(1), parameters=parameters)

    guess = moment_estimates(model.problem(ratings))

    assert float(guess["sd_item"]) == pytest.approx(1.5, rel=0.2)


@pytest.mark.slow
def test_chains_mix_where_no_rating_is_in_the_lowest_category() -> None:
    # Only the prior says where the first cut point is, and all levels count from there.
    ratings = study(rb.OrdinalICC(), (10, 3), seed=33)
    assert 0 not in ratings.category

    found = rb.OrdinalICC().fit(ratings, seed=1).diagnostics()

    assert found.divergences <= 4
    assert found.ess_bulk > 600


@pytest.mark.slow
def test_warning_about_too_few_nodes_recommends_a_number() -> None:
    ratings = rb.Ratings.from_frame(load_or_skip("bluebirds")[["item", "rater", "rating"]])

    with pytest.warns(rb.ConvergenceWarning, match=r"nodes=\d+"):
        fit = rb.LogitICC(nodes=9).fit(ratings, seed=1, chains=2, draws=200)

    assert fit.diagnostics().integration_error > 1e-3


@every_model
def test_observed_icc_equals_the_correlation_of_simulated_ratings(name: str) -> None:
    model, n_categories = MODELS[name]
    design = pd.DataFrame({"item": np.repeat(np.arange(9), 2), "rater": [0, 1] * 9})
    given_: dict[str, Any] = {"mean": 0.4, "sd_item": 1.5, "sd_rater": 0.8}
    if not model.family.is_binary:
        given_["step"] = [0.8] * (n_categories - 2)
    rng = np.random.default_rng(2)
    template = model.simulate(design, rng, categories=range(n_categories), parameters=given_)
    one_draw = {name: np.asarray(x, float)[None, None] for name, x in given_.items()}
    one_draw["level"] = np.zeros((1, 1, 2))

    problem = model.problem(template)
    posterior = Posterior(model.labelled(one_draw, problem), template, problem)
    found = model.quantities(posterior).squeeze()

    item, rater = (sd * rng.standard_normal((2, 400_000)) for sd in (1.5, 0.8))
    cut = np.append(0.0, np.cumsum(given_.get("step", []))) - 0.4

    def rated(item: Array, rater: Array) -> Array:
        noise = (
            rng.logistic(size=item.shape) if model.link == "logit" else rng.normal(size=item.shape)
        )
        return np.asarray((item + rater + noise > cut[:, None]).sum(axis=0))

    first = rated(item[0], rater[0])
    same_item, same_rater = rated(item[0], rater[1]), rated(item[1], rater[0])
    assert np.corrcoef(first, same_item)[0, 1] == pytest.approx(
        float(found["icc_observed"]), abs=0.008
    )
    severity = float(found["labeler_icc_observed"])
    assert np.corrcoef(first, same_rater)[0, 1] == pytest.approx(severity, abs=0.008)
    proportions = np.bincount(first, minlength=n_categories) / len(first)
    assert np.atleast_1d(found["rate"])[-1] == pytest.approx(proportions[-1], abs=0.004)
    residual = math.pi**2 / 3 if model.link == "logit" else 1.0
    assert float(found["icc"]) == pytest.approx(1.5**2 / (1.5**2 + 0.8**2 + residual))


def test_icc_k_equals_the_correlation_of_simulated_mean_ratings() -> None:
    model, rng = rb.LogitICC(), np.random.default_rng(3)
    pairs = pd.MultiIndex.from_product([range(9), range(2)], names=["item", "rater"])
    given_ = {"mean": 0.4, "sd_item": 1.5, "sd_rater": 0.8}
    template = model.simulate(pairs.to_frame(index=False), rng, parameters=given_)
    draws = {name: np.full((1, 4), value) for name, value in given_.items()}
    levels = np.zeros((1, 4, 2))
    posterior = model.labelled({**draws, "level": levels}, model.problem(template))
    fit_settings = Settings.checked(chains=1, warmup=0, draws=4, seed=1)

    icc_3 = rb.Fit(model, template, posterior, xr.Dataset(), fit_settings).icc_k(3)

    score = 0.4 + 1.5 * rng.standard_normal(100_000) + 0.8 * rng.standard_normal((6, 100_000))
    means = (score + rng.logistic(size=score.shape) > 0).reshape(2, 3, -1).mean(axis=1)
    error = 1 / math.sqrt(100_000)
    assert float(icc_3.mean()) == pytest.approx(np.corrcoef(*means)[0, 1], abs=4 * error)


# Posteriors.


@pytest.mark.posteriors
def test_posterior_for_bluebirds_matches_the_reference() -> None:
    fit = bluebirds()

    table = fit.summary()
    reference: dict[str, dict[str, float]] = {
        "sd_item": {"mean": 1.089, "sd": 0.091},
        "sd_rater": {"mean": 1.325, "sd": 0.160},
        "icc": {"mean": 0.1906, "sd": 0.028, "lower_90": 0.148, "upper_90": 0.240},
        "labeler_icc": {"mean": 0.281, "sd": 0.048},
        "mean": {"mean": -0.666},
    }
    for name, figures in reference.items():
        for column, figure in figures.items():
            # The reference was sampled, too; its Monte Carlo error is about as large as ours.
            error = 0.0005 + 6 * standard_errors(fit, column)[name]
            assert table.loc[name, column] == pytest.approx(figure, abs=error), (name, column)
    found = fit.diagnostics()
    assert found.problems == []
    assert found.integration_error < 1e-3


@pytest.mark.posteriors
def test_posterior_for_bluebirds_under_wider_priors_matches_the_reference() -> None:
    table = bluebirds(2.5).summary()

    found = table.loc[["sd_item", "sd_rater", "icc", "labeler_icc"], "mean"]
    assert found.tolist() == pytest.approx([1.098, 1.357, 0.1906, 0.290], abs=0.015)


@pytest.mark.posteriors
def test_item_scores_and_rater_severities_correlate_with_mean_ratings() -> None:
    fit = bluebirds()

    items, raters = fit.items(), fit.raters()

    frame = fit.ratings.to_frame()
    for table, by in ((items, "item"), (raters, "rater")):
        mean_ratings = frame.groupby(by)["rating"].mean()
        assert np.corrcoef(table["mean"], mean_ratings.reindex(table.index))[0, 1] > 0.95
        assert (table["lower_90"] < table["median"]).all()
        assert list(table.columns[:3]) == ["ratings", "mean", "sd"]
    assert items["mean"].mean() == pytest.approx(0, abs=0.2)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_true_model_passes_its_check_and_is_preferred_to_a_wrong_model() -> None:
    pairs = pd.MultiIndex.from_product([range(100), range(6)], names=["item", "rater"])
    parameters = {"mean": 0.0, "sd_item": 1.5, "sd_rater": 1.0}
    right, wrong = (
        rb.LogitICC(prior_sd_item=rb.HalfNormal(2.5), prior_sd_rater=rb.HalfNormal(scale))
        for scale in (1.0, 1e-3)
    )
    ratings = right.simulate(
        pairs.to_frame(index=False), np.random.default_rng(1), parameters=parameters
    )
    of_right, of_wrong = (
        model.fit(ratings, seed=1, chains=2, draws=500) for model in (right, wrong)
    )

    compared = rb.compare({"severity": of_right, "none": of_wrong})

    # Exact p-values are at least 0.23, and below 0.01: six Monte Carlo errors away from 0.05.
    assert (of_right.check().p_values > 0.05).all()
    assert of_wrong.check().p_values["raters"] < 0.05
    assert compared.index[0] == "severity"


def test_error_of_the_quadrature_is_known_where_only_sds_between_the_ends_have_one() -> None:
    # At a small sd nothing makes up for the prior, at a large one the nodes reach the item.
    wide = np.zeros((40, 60))
    wide[:, :6] = 1
    wide[0] = 1
    model, level = rb.LogitICC(), np.full(60, -2.2)
    problem = model.problem(rb.Ratings.from_wide(wide, scale="nominal"))
    short = replace(problem, nodes=Nodes.of(problem.nodes.number))
    draws = [at_levels(level, sd) for sd in np.linspace(0.01, 1.2, 101)]
    stacked = {name: np.stack([draw[name] for draw in draws]) for name in draws[0]}
    posterior: Any = SimpleNamespace(stacked=lambda: stacked, problem=short)

    _, error = model.integration_error(posterior)

    ends = [
        abs(model.log_likelihood(draws[at], short) - model.log_likelihood(draws[at], problem))
        for at in (1, 50, 99)
    ]
    assert error == pytest.approx(ends[1], abs=1e-3)
    assert max(ends[0], ends[2]) < 1e-3 < ends[1]


@pytest.mark.slow
@pytest.mark.parametrize("sd", [0.2, 0.5, 1.0])
def test_nodes_reach_an_item_far_from_all_others_whatever_the_sd_of_items(sd: float) -> None:
    wide = np.zeros((40, 60))
    wide[:, :6] = 1
    wide[0] = 1
    ratings, level = rb.Ratings.from_wide(wide, scale="nominal"), np.array([-2.2, -1.0] * 30)

    found = rb.LogitICC().log_likelihood(at_levels(level, sd), rb.LogitICC().problem(ratings))

    # Quadrature to 1e-3 is the promise.
    assert found == pytest.approx(by_peaks(ratings, level, sd), abs=1e-3)


@pytest.mark.parametrize("sd", [0.2, 0.5, 1.0])
@pytest.mark.parametrize(
    ("model", "step"),
    [(rb.LogitICC(), []), (rb.OrdinalICC(), [2.0]), (rb.LogitXCC(), [])],
    ids=["logit", "ordinal", "two pools"],
)
def test_nodes_reach_an_item_that_severe_raters_find_good(
    model: Any, step: list[float], sd: float
) -> None:
    # Lenient raters rate all items but the first, severe ones only some, and the first.
    rng, pools = np.random.default_rng(1), 2 if isinstance(model, rb.LogitXCC) else 1
    level = np.tile(np.repeat([1.4, -4.6], 16), pools)
    item, rater = np.nonzero((level > 0) != np.isin(np.arange(25), [0, *range(9, 25)])[:, None])
    above = level[rater, None] + rng.logistic(size=(len(item), 1)) > [0, *step]
    rating = np.where(item == 0, 1 + len(step), above.sum(axis=1))
    table = pd.DataFrame({"item": item, "rater": rater, "rating": rating, "pool": rater // 32})
    ratings = rb.Ratings.from_frame(table, scale="ordered", pool="pool" if pools > 1 else None)
    problem = model.problem(ratings)

    found = model.log_likelihood(at_levels(level, sd, step, pools), problem)

    # Scores of pools are independent here, so that each pool has its own integral.
    assert found == pytest.approx(by_peaks(ratings, level, sd, step), abs=1e-3)


def test_priors_of_a_model_are_shown_as_they_are_written() -> None:
    ratings = rb.Ratings.from_wide(np.array([[0, 1], [1, 1], [0, 0]]), scale="nominal")

    priors = rb.LogitICC(prior_sd_item=rb.HalfNormal(1.5)).priors(ratings)

    assert priors == {
        "sd_item": rb.HalfNormal(1.5),
        "sd_rater": rb.HalfStudentT(3, 1.0),
        "mean": rb.Normal(0.0, 2.5),
    }


# Degenerate ratings.


def separated() -> pd.DataFrame:
    """Perfectly separated items, and a rater who always gives 0."""
    frame = pd.DataFrame([(i, j) for i in range(12) for j in range(4)], columns=["item", "rater"])
    return frame.assign(rating=((frame["item"] % 2 == 0) & (frame["rater"] != 3)).astype(int))


DEGENERATE: dict[str, Callable[[], pd.DataFrame]] = {
    "separated": separated,
    "two raters": lambda: separated().query("rater < 2"),
    "one rating per item": lambda: separated().query("item // 3 == rater or item == 0"),
    "two items": lambda: pd.DataFrame(
        {"item": [0, 1] * 30, "rater": np.repeat(range(30), 2), "rating": [0, 1, 1] * 20}
    ),
}


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
@pytest.mark.parametrize("name", DEGENERATE)
@pytest.mark.parametrize("model", [rb.LogitICC(), rb.OrdinalICC()], ids=["logit", "ordinal"])
def test_degenerate_ratings_give_finite_posteriors(model: OrderedModel, name: str) -> None:
    ratings = rb.Ratings.from_frame(DEGENERATE[name]())

    fit = model.fit(ratings, seed=1, chains=2, warmup=100, draws=50)

    assert all(np.isfinite(x).all() for x in fit.quantities.values())
    assert all(((x >= 0) & (x <= 1)).all() for x in (fit.quantities[icc] for icc in ICCS))
    assert fit.items().notna().all(axis=None)


def test_numbers_of_categories_other_than_two_are_refused() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2], "rater": [1, 2, 1], "rating": [1, 2, 3]})

    with pytest.raises(rb.RatingsError, match="two categories"):
        rb.LogitICC().fit(rb.Ratings.from_frame(frame))


def test_unordered_categories_are_refused() -> None:
    frame = pd.DataFrame({"item": [1, 1, 2], "rater": [1, 2, 1], "rating": ["a", "b", "c"]})

    with pytest.raises(rb.RatingsError, match='scale="ordered"'):
        rb.OrdinalICC().fit(rb.Ratings.from_frame(frame))


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: rb.LogitICC(link="cloglog"), "link"),  # type: ignore[arg-type]
        (lambda: rb.OrdinalICC(nodes=2), "nodes"),
    ],
)
def test_invalid_hyperparameters_are_refused(make: Callable[[], Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        make()


@functools.cache
def bluebirds(scale: float = 1.0) -> rb.Fit:
    """Fit of the model of the reference, shared by all tests."""
    frame = load_or_skip("bluebirds")[["item", "rater", "rating"]]
    prior = rb.HalfNormal(scale)
    model = rb.LogitICC(prior_sd_item=prior, prior_sd_rater=prior)
    return model.fit(rb.Ratings.from_frame(frame), seed=1, chains=2)


def small(name: str, seed: int) -> tuple[rb.Ratings, Point]:
    """A small design with replicates, and the true parameters."""
    model, n_categories = MODELS[name]
    rng = np.random.default_rng(seed)
    design = pd.DataFrame({"item": np.append(range(5), rng.integers(0, 5, 12))})
    design["rater"] = np.append(range(3), rng.integers(0, 3, 14))
    template = rb.Ratings.from_frame(
        design.assign(rating=np.arange(17) % n_categories),
        categories=range(n_categories),
        replicates="keep",
    )
    given_: dict[str, Any] = {"mean": rng.normal()}
    given_ |= {name: rng.uniform(0.2, 2) for name in ("sd_item", "sd_rater")}
    if not model.family.is_binary:
        given_["step"] = rng.uniform(0.2, 1.5, n_categories - 2)
    given_["level"] = given_["mean"] + given_["sd_rater"] * rng.normal(size=3)
    while True:  # redraw if all ratings are equal
        with contextlib.suppress(rb.RatingsError):
            ratings = model.simulate(template, rng, parameters=given_)
            return ratings, {name: np.asarray(x) for name, x in given_.items()}


def by_quadrature(
    model: OrderedModel, ratings: rb.Ratings, point: Point, priors: bool = True
) -> float:
    """Log density by adaptive integration for each item; the priors omit constants."""
    cdf: Callable[[Any], Any] = expit if model.link == "logit" else ndtr
    mean, sd_item, sd_rater = (float(point[name]) for name in ("mean", "sd_item", "sd_rater"))
    step: Array = point.get("step", np.empty(0))
    cut = np.concatenate([[-np.inf, 0.0], np.cumsum(step), [np.inf]])
    total = 0.0
    for item in range(ratings.n_items):
        rows = np.flatnonzero(ratings.item == item)
        level, category = point["level"][ratings.rater[rows]], ratings.category[rows]

        def joint(u: float, level: Any = level, category: Any = category) -> float:
            probability = cdf(level + u - cut[category]) - cdf(level + u - cut[category + 1])
            return float(np.prod(probability)) * math.exp(-0.5 * (u / sd_item) ** 2)

        integral = quad(joint, -9 * sd_item, 9 * sd_item, epsabs=0, epsrel=1e-11, limit=200)
        total += math.log(integral[0] / (sd_item * math.sqrt(2 * math.pi)))
    if not priors:
        return total
    location = 2.5 if isinstance(model, rb.LogitICC) else 5
    return float(
        total
        - 0.5 * np.sum(((cut[1:-1] - mean) / location) ** 2)
        + halfnorm(scale=4).logpdf(sd_item)
        + math.log(2)
        + t(3).logpdf(sd_rater)
        - 0.5 * np.sum(((point["level"] - mean) / sd_rater) ** 2)
        - len(point["level"]) * math.log(sd_rater)
    )


def at_levels(level: Array, sd: float, step: Sequence[float] = (), pools: int = 1) -> Point:
    """A point with these levels of raters, and pools, if several, that are independent."""
    of_pool = {
        "mean": np.array(level.mean()),
        "sd_item": np.array(sd),
        "sd_rater": np.array(1.0),
        "step": np.array(step),
    }
    if pools == 1:
        return {**of_pool, "level": level}
    each = {name: np.array([value] * pools) for name, value in of_pool.items()}
    return {**each, "level": level, "factor_item": np.eye(pools)}


def by_peaks(ratings: rb.Ratings, level: Array, sd: float, step: Sequence[float] = ()) -> float:
    """Log-likelihood by integration around the peak of each item, pool by pool."""
    pool = np.zeros(ratings.n_raters) if ratings.rater_pool is None else ratings.rater_pool
    edge = np.concatenate([[-np.inf, 0.0], np.cumsum(step), [np.inf]])
    total, grid = 0.0, np.linspace(-60, 60, 2401)
    for item, part in itertools.product(range(ratings.n_items), np.unique(pool)):
        rows = np.flatnonzero((ratings.item == item) & (pool[ratings.rater] == part))
        category, own = ratings.category[rows], level[ratings.rater[rows]]
        from_lower, from_upper = own - edge[category], own - edge[category + 1]

        def log_density(z: Any, lower: Any = from_lower, upper: Any = from_upper) -> Any:
            effect = np.expand_dims(sd * z, -1)
            ends = log_expit(lower + effect) + log_expit(-upper - effect)
            return (ends + np.log1p(-np.exp(upper - lower))).sum(axis=-1) - z**2 / 2

        heights = log_density(grid)
        peak, top = grid[heights.argmax()], heights.max()
        area = quad(
            lambda z, of=log_density, top=top: math.exp(of(z) - top),
            *(peak - 10, peak + 10),
            points=[peak],
            limit=200,
        )
        total += float(top) + math.log(area[0] / math.sqrt(2 * math.pi))
    return total


def evaluate(model: OrderedModel, ratings: rb.Ratings, point: Mapping[str, Any]) -> float:
    """Log density of the Stan program, without the Jacobian of its transforms."""
    fine = replace(model, nodes=201)
    program = stan.load(model.program(fine.problem(ratings)))
    data = stan_data(fine.problem(ratings), model.start(model.problem(ratings)).centring)
    scores, log_slope = sampled_at(data, point)
    found = program.log_prob(scores, data, jacobian=False, sig_figs=17)
    return float(found["lp__"].iloc[0]) - log_slope


@pytest.mark.parametrize(
    "make",
    [
        lambda flat: rb.LogitICC(prior_mean=flat),
        lambda flat: rb.OrdinalXCC(prior_cut=flat),
        lambda flat: rb.LatentTAP(prior_eta=flat),
    ],
    ids=["logit", "ordinal", "latent t-a-p"],
)
def test_flat_prior_is_refused_where_the_posterior_would_be_improper(make: Any) -> None:
    with pytest.raises(ValueError, match="must have a finite sd, because the model needs a proper"):
        make(rb.Normal(0, math.inf))
