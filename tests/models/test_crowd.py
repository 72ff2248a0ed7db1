"""Ordinal and logit ICC of crowds, whose effects of items are sampled, too."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit, ndtr
from scipy.stats import halfnorm, norm
from scipy.stats import t as student_t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.ordered import family
from reliabayes.families.ordered.centring import CoreCentring
from reliabayes.families.ordered.crowd import CrowdCentring, SampledEffects, sampled
from reliabayes.families.ordered.one_population import IntegratedEffects, integrated
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.problem import stan_data
from reliabayes.likelihoods.crossed_categories import CrossedCategories
from reliabayes.likelihoods.ordinal import Link
from reliabayes.likelihoods.quadrature import Nodes
from tests.by_program import draws_by_program
from tests.monte_carlo import standard_error

CDF = {"logit": expit, "probit": ndtr}


@pytest.mark.parametrize(
    ("items", "raters", "each", "is_sampled"),
    [
        (1000, 100, 10, True),
        (1000, 99, 11, False),
        (99, 110, 102, False),
        (900, 100, 11, False),  # too few ratings
        (2000, 130, 6, False),  # of which raters have 92 each, and items few
        (2000, 300, 6, True),
        (4000, 300, 3, False),
    ],
)
def test_effects_are_sampled_where_ratings_are_many(
    items: int, raters: int, each: int, is_sampled: bool
) -> None:
    rng = np.random.default_rng(1)
    table = rb.simulate.incomplete(items, raters, each, rng)
    rating = rng.integers(3, size=len(table))
    ratings = rb.Ratings.from_frame(table.assign(rating=rating), scale="ordered")

    problem = rb.OrdinalICC().problem(ratings)

    assert isinstance(problem.treatment, SampledEffects) == is_sampled


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """All problems are those of crowds, however small."""
    monkeypatch.setattr(family, "is_crowd", lambda problem: True)


def ratings_of(
    items: int, raters: int, each: int, categories: int = 4, *, shift: float = 0.0
) -> rb.Ratings:
    """Each item by some raters; the larger the shift, the more ratings are of one category."""
    rng = np.random.default_rng(items)
    design = rb.simulate.incomplete(items, raters, each, rng)
    cut = np.linspace(-1.5, 1.5, categories - 1) if categories > 2 else np.array([0.3])
    truth = {"sd_item": 1.0, "sd_rater": 0.7, "mean": -cut[0] - shift, "step": np.diff(cut)}
    return rb.OrdinalICC().simulate(design, rng, parameters=truth, categories=range(categories))


def problem_of(model: rb.OrdinalICC, ratings: rb.Ratings) -> OrderedProblem:
    """That of a crowd, however small."""
    return sampled(model.problem(ratings))


# The density.


def log_density(model: rb.OrdinalICC, ratings: rb.Ratings, point: dict[str, Any]) -> float:
    """Log density of ratings, effects and levels, with the priors, written out plainly."""
    step, mean = np.asarray(point["step"]), float(point["mean"])
    cut = np.concatenate([[0.0], np.cumsum(step)]) - mean
    effect, rater = np.asarray(point["effect"]), np.asarray(point["level"]) - mean
    location = effect[ratings.item] + rater[ratings.rater]
    ends = np.concatenate([[-np.inf], cut, [np.inf]])
    upper, lower = location - ends[ratings.category], location - ends[ratings.category + 1]
    cdf = CDF[model.link]
    tails = np.where(lower > 0, cdf(-lower) - cdf(-upper), cdf(upper) - cdf(lower))
    sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
    return float(
        np.log(tails).sum()
        + norm.logpdf(effect, 0, sd_item).sum()
        + norm.logpdf(rater, 0, sd_rater).sum()
        + norm.logpdf(cut, model.prior_cut.mean, model.prior_cut.sd).sum()
        + halfnorm.logpdf(sd_item, scale=4)
        + student_t.logpdf(sd_rater, 3)
    )


def log_slope(data: dict[str, Any], point: dict[str, Any]) -> float:
    """Log of the derivatives of parameters by what the program samples, but for a constant."""
    found = np.log(point["step"]).sum()
    for name, of, scale in zip(
        ("sd_item", "sd_rater"), ("effect", "level"), data["spread_scale"], strict=True
    ):
        sd, precision = float(point[name]), np.asarray(data[f"{of}_precision"])
        found += np.log1p(-np.exp(-sd / scale))  # of a softplus
        found += 0.5 * np.log(sd**2 / (1 + sd**2 * precision)).sum()
    return float(found)


@pytest.mark.parametrize("categories", [2, 5])
@pytest.mark.parametrize("link", ["logit", "probit"])
def test_program_has_the_density_of_plain_formulas(link: Link, categories: int) -> None:
    model, ratings = rb.OrdinalICC(link=link), ratings_of(30, 20, 6, categories)
    problem = problem_of(model, ratings)
    start = model.start(problem)
    data, rng = stan_data(problem, start.centring), np.random.default_rng(2)

    points = rng.normal(0, 0.4, (6, start.size))
    found, _ = log_gradients(model.program(problem), data, points)

    plain = []
    for each in points:
        point = start.constrain(split(start.mode, each))
        plain.append(log_density(model, ratings, point) + log_slope(data, point))
    assert np.diff(found) == pytest.approx(np.diff(plain), abs=1e-8)


@pytest.mark.parametrize("sd", [0.5, 20.0, 60.0])  # log odds as far as 1.5, 60 and 180
def test_density_counts_replicates_at_any_log_odds(sd: float) -> None:
    table = ratings_of(30, 20, 6).to_frame()
    again = pd.concat([table, table.iloc[::3], table.iloc[::6]])
    ratings = rb.Ratings.from_frame(again, scale="ordered", replicates="keep")
    model, rng = rb.OrdinalICC(), np.random.default_rng(4)
    problem = problem_of(model, ratings)
    start = model.start(problem)
    assert isinstance(start.centring, CrowdCentring)
    data = stan_data(problem, start.centring)

    found, plain = [], []
    for _ in range(3):
        mean, step = rng.normal(), rng.uniform(0.5, 2, 2)
        level, effect = mean + sd * rng.uniform(-1.5, 1.5, 20), sd * rng.uniform(-1.5, 1.5, 30)
        point = {"sd_item": 1.1 * sd, "sd_rater": sd, "mean": mean, "step": step}
        point |= {"level": level, "effect": effect}
        sampled = np.concatenate([*start.centring.for_program(point).values()])
        found.append(log_gradients(model.program(problem), data, sampled[None])[0][0])
        plain.append(log_density(model, ratings, point) + log_slope(data, point))

    assert np.diff(found) == pytest.approx(np.diff(plain), rel=1e-9, abs=1e-7)


def split(mode: Any, values: Array) -> dict[str, Array]:
    """Values (P,) by the names of the sampled parameters."""
    ends = np.cumsum([np.size(x) for x in mode.values()])[:-1]
    return dict(zip(mode, np.split(values, ends), strict=True))


@pytest.mark.parametrize(("link", "far"), [("logit", 1.0), ("logit", 40.0), ("probit", 1.0)])
def test_gradient_is_that_of_finite_differences(link: Link, far: float) -> None:
    model, ratings = rb.OrdinalICC(link=link), ratings_of(30, 20, 6)
    problem = problem_of(model, ratings)
    start = model.start(problem)
    data, rng = stan_data(problem, start.centring), np.random.default_rng(2)
    at = rng.normal(0, 0.5, start.size)
    at[:2] *= far  # sds, and effects with them
    moves = 1e-5 * np.eye(start.size)

    _, gradient = log_gradients(model.program(problem), data, at[None])
    after, before = (
        log_gradients(model.program(problem), data, at + sign * moves)[0] for sign in (1, -1)
    )

    scale = np.abs(gradient).max()
    np.testing.assert_allclose(gradient[0], (after - before) / 2e-5, atol=1e-6 * scale, rtol=1e-5)


@pytest.mark.slow
@pytest.mark.parametrize("link", ["logit", "probit"])
@pytest.mark.parametrize("shift", [0.0, 4.0])
def test_log_likelihood_is_that_of_a_fine_quadrature(link: Link, shift: float) -> None:
    ratings, model = ratings_of(40, 20, 6, shift=shift), rb.OrdinalICC(link=link)
    problem = problem_of(model, ratings)
    start = model.start(problem)

    run = draws_by_program(model, problem, start, chains=1, draws=20, seed=1)

    points = [{name: x[0, draw] for name, x in run.parameters.items()} for draw in range(20)]
    fine = replace(integrated(problem), nodes=Nodes.of(801, 9.0))
    exact = [model.log_likelihood(point, fine) for point in points]
    np.testing.assert_allclose(run.parameters["log_likelihood"][0], exact, atol=2e-5)
    by_few_nodes = [model.log_likelihood(point, problem) for point in points]
    np.testing.assert_allclose(by_few_nodes, exact, atol=2e-3)


# Starting points.


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_start_is_a_mode_of_all_effects_at_sds_near_the_truth(link: Link) -> None:
    model, ratings = rb.OrdinalICC(link=link), ratings_of(300, 120, 12)
    problem = problem_of(model, ratings)
    start = model.start(problem)
    data = stan_data(problem, start.centring)

    # The mode of cut points and effects: core scores of sds have no part in it.
    _, gradient = log_gradients(model.program(problem), data, np.zeros((1, start.size)))
    scores = gradient[0, len(start.mode["core"]) :]
    assert np.abs(scores).max() < 0.02
    unit = 1.0 if link == "logit" else np.sqrt(3) / np.pi
    assert start.point["sd_item"] == pytest.approx(1.0 * unit, rel=0.15)
    assert start.point["sd_rater"] == pytest.approx(0.7 * unit, rel=0.2)


def test_category_without_ratings_has_a_place() -> None:
    table = ratings_of(60, 30, 8).to_frame()
    given = rb.Ratings.from_frame(
        table.assign(rating=2 * table["rating"]), scale="ordered", categories=range(8)
    )

    point = rb.OrdinalICC().start(problem_of(rb.OrdinalICC(), given)).point

    assert len(point["step"]) == 6
    assert np.min(point["step"]) > 0.001
    assert np.max(point["step"]) < 10  # two prior sds


@pytest.mark.parametrize("link", ["logit", "probit"])
def test_slopes_of_crossed_categories_are_those_of_finite_differences(link: Link) -> None:
    ratings = ratings_of(20, 9, 4)
    problem = problem_of(rb.OrdinalICC(link=link), ratings)
    crossed = CrossedCategories.of(problem.mixture.counts, 9, link)
    cut, rng = np.array([-1.0, 0.2, 1.5]), np.random.default_rng(3)
    location = 2 * rng.normal(size=len(crossed.item))

    def log_probability(moved: Array) -> Array:
        ends = np.concatenate([[-np.inf], cut, [np.inf]])
        upper, lower = moved - ends[crossed.category], moved - ends[crossed.category + 1]
        return np.asarray(
            np.log(
                np.where(
                    lower > 0,
                    CDF[link](-lower) - CDF[link](-upper),
                    CDF[link](upper) - CDF[link](lower),
                )
            )
        )

    found = crossed.rated(location, cut)

    step = 1e-3
    before, here, after = (log_probability(location + x) for x in (-step, 0, step))
    np.testing.assert_allclose(found.slope, (after - before) / (2 * step), atol=1e-5)
    bend = (after + before - 2 * here) / step**2
    np.testing.assert_allclose(found.information, -bend, atol=1e-4)


@pytest.mark.parametrize("categories", [2, 4])
def test_parameters_become_scores_and_come_back(categories: int) -> None:
    model, rng = rb.OrdinalICC(), np.random.default_rng(1)
    start = model.start(problem_of(model, ratings_of(30, 20, 6, categories)))
    assert isinstance(start.centring, CrowdCentring)
    sampled = {name: rng.normal(0, 0.7, np.shape(x)) for name, x in start.mode.items()}

    point = start.centring.restored(sampled)
    if categories == 2:
        del point["step"]  # which an earlier fit does not have
    back = start.centring.for_program(point)

    for name, values in sampled.items():
        np.testing.assert_allclose(back[name], values, atol=1e-9)


def test_cold_start_is_dispersed_in_the_same_units() -> None:
    model = rb.OrdinalICC()
    problem = problem_of(model, ratings_of(30, 20, 6))
    start = model.start(problem)

    cold = model.cold_start(problem, start.centring)

    assert cold.centring is start.centring
    assert cold.geometry is None  # the sampler finds it
    apart = [np.asarray(x["level"]) for x in cold.create_inits(seed=1, chains=2)]
    assert np.abs(apart[0] - apart[1]).max() > 0.1


# Fits.


@pytest.fixture(scope="module")
def both() -> tuple[rb.Fit, rb.Fit]:
    """Fits of a crowd with effects of items sampled, and integrated out."""
    ratings, model = ratings_of(200, 60, 8), rb.OrdinalICC()
    options: dict[str, Any] = {"seed": 2, "progress": False}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(family, "is_crowd", lambda problem: True)
        fit = model.fit(ratings, **options)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(family, "is_crowd", lambda problem: False)
        return fit, model.fit(ratings, **options)


@pytest.mark.slow
def test_posterior_is_that_with_effects_integrated_out(both: tuple[rb.Fit, rb.Fit]) -> None:
    ours, theirs = both

    assert isinstance(ours.centring, CrowdCentring)
    assert isinstance(theirs.centring, CoreCentring)
    names = [str(name) for name in ours.quantities if name != "bits_per_rating"]
    assert z_scores(*both, names).std() < 1.6
    assert np.abs(z_scores(*both, names)).max() < 4
    levels = z_scores(*both, ["level"])
    assert levels.std() < 1.35
    assert np.abs(levels).max() < 5


def z_scores(one: rb.Fit, other: rb.Fit, names: list[str]) -> Array:
    """Differences of means and of mean squares around them, in Monte Carlo errors."""
    found = []
    for name in names:
        draws = ({**fit.posterior, **fit.quantities}[name].values for fit in (one, other))
        ours, theirs = (x.reshape(*x.shape[:2], -1) for x in draws)
        for k in range(ours.shape[2]):
            pair, centre = (ours[..., k], theirs[..., k]), ours[..., k].mean()
            for power in (1, 2):
                moments = [(x - centre) ** power for x in pair]
                error = np.linalg.norm([standard_error(x) for x in moments])
                found.append((moments[0].mean() - moments[1].mean()) / error)
    return np.array(found)


@pytest.mark.slow
def test_effects_of_items_are_those_of_a_fit_that_integrates_them_out(
    both: tuple[rb.Fit, rb.Fit],
) -> None:
    ours, theirs = (fit.items() for fit in both)

    assert ours.index.equals(theirs.index)
    assert np.abs(ours["mean"] - theirs["mean"]).max() < 0.12  # by 4,000 draws each, of sd 0.6
    assert np.abs(ours["sd"] / theirs["sd"] - 1).max() < 0.1
    assert both[0].diagnostics().nodes == 0


@pytest.mark.slow
@pytest.mark.usefixtures("always")
def test_fit_comes_back_from_its_file(both: tuple[rb.Fit, rb.Fit], tmp_path: Path) -> None:
    both[0].save(tmp_path / "crowd.nc")

    back = rb.Fit.load(tmp_path / "crowd.nc")

    pd.testing.assert_frame_equal(back.items(), both[0].items())
    pd.testing.assert_frame_equal(back.summary(), both[0].summary())


@pytest.mark.usefixtures("always")
@pytest.mark.slow
@pytest.mark.parametrize("at", [pytest.param(0, marks=pytest.mark.proof), 1])
def test_earlier_fit_is_a_start(both: tuple[rb.Fit, rb.Fit], at: int) -> None:
    earlier = both[at]  # of which the second has no effects of items

    fit = rb.OrdinalICC().fit(
        earlier.ratings, warm_start=earlier, seed=1, draws=200, progress=False
    )

    assert float(fit.diagnostics().r_hat) < 1.05


def test_problem_of_a_fit_that_integrated_effects_out_still_does() -> None:
    model, ratings = rb.OrdinalICC(), ratings_of(30, 20, 6)
    centring = model.start(model.problem(ratings)).centring

    settled = model.settled(problem_of(model, ratings), centring)

    assert isinstance(settled.treatment, IntegratedEffects)


@pytest.mark.usefixtures("always")
def test_nodes_are_those_that_were_asked_for() -> None:
    problem = rb.OrdinalICC(nodes=31).problem(ratings_of(30, 20, 6))

    assert isinstance(problem.treatment, IntegratedEffects)
