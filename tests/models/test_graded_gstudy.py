"""GStudy of ratings in categories: its density, its posteriors, and what it refuses."""

from __future__ import annotations

import copy
import dataclasses
import functools
import math
import pickle
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit, logsumexp
from scipy.stats import halfnorm, norm, t

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.families.normal import dependent_effects, graded_problem
from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data
from reliabayes.likelihoods.graded_items import GradedItems
from reliabayes.likelihoods.item_blocks import ItemBlocks
from tests.designs import four_point_slopes

FAMILIES = ("logit", "ordinal")
DESIGN = "item x rater x day"
SCORES = ("spread", "step", "core_score", "own_score")  # in the order of the program

pytestmark = pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")


def rated(family: str, items: int = 6, raters: int = 3, days: int = 2, seed: int = 1) -> rb.Ratings:
    """Ratings 0 and 1, or 0 to 3, of which one is missing."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        list(product(range(items), range(raters), range(days))), columns=["item", "rater", "day"]
    )
    score = rng.normal(0, 1.5, items)[table["item"]] + rng.normal(0, 0.8, raters)[table["rater"]]
    score = score + rng.normal(0, 0.7, (items, days))[table["item"], table["day"]]
    cut = [0.2] if family == "logit" else [-1.5, 0.2, 1.4]
    table["rating"] = np.sum([score + rng.logistic(size=len(table)) > each for each in cut], axis=0)
    return rb.Ratings.from_frame(table.drop(index=4), facets=["day"], scale="ordered")


@functools.cache
def fitted(family: str) -> rb.Fit:
    """Short fit."""
    options: dict[str, Any] = {"chains": 2, "warmup": 100, "draws": 50, "seed": 1}
    model = rb.GStudy(design=DESIGN, family=family)  # type: ignore[arg-type]
    return model.fit(rated(family), progress=False, **options)


# The density.


@pytest.mark.slow
@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("most_core", [0, 10, 60])
def test_density_equals_that_of_all_effects(
    family: Any, most_core: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(graded_problem, "MOST_CORE", most_core)
    prior = rb.HalfNormal(1.5) if most_core else rb.HalfStudentT(4, 0.7)
    model = rb.GStudy(design=DESIGN, family=family, prior_sd=prior, prior_mean=rb.Normal(0.5, 2.0))
    problem: Any = model.problem(rated(family, items=4, raters=2))
    start = model.starts(problem)[0]
    sizes = [np.size(start.mode[name]) for name in SCORES]
    rng = np.random.default_rng(2)
    points = rng.normal(0, 0.7, (2, sum(sizes)))

    def of(point: Array) -> float:
        return joint_density(problem, start.centring, *split(point, sizes))

    found = [
        evaluate(problem, start, dict(zip(SCORES, split(point, sizes), strict=True)))
        for point in points
    ]

    # Stan leaves constants out.
    values = [value for value, _ in found]
    assert np.diff(values) == pytest.approx(np.diff([of(x) for x in points]), rel=1e-8, abs=1e-8)
    direction = rng.normal(size=sum(sizes))
    along = [of(points[0] + move * direction) for move in (1e-3, -1e-3, 2e-3, -2e-3)]
    (slope,) = four_point_slopes(along, 1e-3)
    assert found[0][1] @ direction == pytest.approx(slope, rel=1e-7, abs=1e-6)


def split(point: Array, sizes: list[int]) -> list[Array]:
    return np.split(point, np.cumsum(sizes)[:-1])


def joint_density(
    problem: Any, centring: Any, log_sd: Array, log_step: Array, core_score: Array, score: Array
) -> float:
    """Log density of ratings and effects at scores, of which effects are linear functions."""
    sd, g, source = np.exp(log_sd), problem.n_core, problem.source

    def effects(both: Array) -> Array:
        core = centring.core(both[: g + 1], sd[source[:g]])
        others = centring.others(both[None, g + 1 :], sd[None, source[g:]], core[None])
        return np.append(core, others)

    both = np.append(core_score, score)
    at = effects(both)
    jacobian = np.array([effects(both + move) - at for move in np.eye(len(both))])
    from_first = np.append(0, np.cumsum(np.exp(log_step)))
    cut = from_first - from_first[problem.reference] - at[g]
    effect = np.delete(at, g)
    location = np.zeros(len(problem.rating))
    order = list(dict.fromkeys(source))
    for k in order:
        location += effect[source == k][problem.effects.level[k]]
    ends = np.concatenate([[-np.inf], cut, [np.inf]])
    category = problem.rating
    likely = expit(location - ends[category]) - expit(location - ends[category + 1])
    mean, sd_cut = problem.priors["cut"]
    priors = [
        halfnorm(scale=scale).logpdf(each) if math.isinf(df) else t(df, scale=scale).logpdf(each)
        for each, (df, scale) in zip(sd, problem.priors["sd"], strict=True)
    ]
    return float(
        np.log(likely).sum()
        + norm(0, sd[source]).logpdf(effect).sum()
        + norm(mean, sd_cut).logpdf(cut).sum()
        + sum(priors)
        + np.linalg.slogdet(jacobian)[1]
        + log_sd.sum()
        + log_step.sum()
    )


def evaluate(problem: Any, start: Any, free: dict[str, Array]) -> tuple[float, Array]:
    """Log density and gradient of the program on its unconstrained scale."""
    data = stan_data(problem, start.centring)
    program = stan.load("gstudy_graded")
    value, *gradient = program.log_prob(start.constrain(free), data=data, sig_figs=17).iloc[0]
    return float(value), np.array(gradient)


@pytest.mark.slow
def test_chains_start_at_standard_deviations_that_few_ratings_do_not_shrink() -> None:
    truth = {"cut": [0.3], "sd": [1.5, 0.8, 0.5, 0.9, 0.6, 0.3]}
    cells = pd.DataFrame(
        list(product(range(400), range(10), range(4))), columns=["item", "rater", "day"]
    )
    model = rb.GStudy(design=DESIGN, family="logit")
    table = cells.sample(frac=0.15, random_state=6)  # six binary ratings of an item
    ratings = model.simulate(table, np.random.default_rng(6), parameters=truth)

    found = np.exp(model.starts(model.problem(ratings))[0].mode["spread"])

    # Curvature and slopes at the mode of the effects alone give 0.9.
    assert found[0] == pytest.approx(1.5, rel=0.2)


def test_effects_of_an_item_are_scaled_together(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graded_problem, "MOST_CORE", 5)
    model = rb.GStudy(design=DESIGN, family="logit")
    problem: Any = model.problem(rated("logit", items=4))
    centring: Any = model.starts(problem)[0].centring
    own = problem.source[problem.n_core :]
    sd = np.linspace(0.5, 1.5, len(problem.effects.sizes))[own]
    scores = np.eye(len(sd) + 1, len(sd), -1)  # none, and one of each effect

    same = np.ones((len(scores), 1))
    effects = centring.others(scores, same * sd, same * centring.core_mean)

    factor = effects[1:] - effects[0]
    precision = np.linalg.inv(factor.T @ factor)
    information = precision - np.diag(sd**-2)
    by_source = dict(enumerate(problem.effects.names[:-1]))
    items = np.flatnonzero(own == 0)
    assert by_source[0] == "item"
    for item, place in enumerate(items):
        for name in ("item x rater", "item x day"):
            source = problem.effects.names.index(name)
            level = np.unique(problem.effects.level[source][problem.effects.level[0] == item])
            parts = np.flatnonzero(own == source)[level]
            # All ratings of an interaction are of its item, and each of the item is in one.
            assert information[place, parts] == pytest.approx(information[parts, parts])
            assert information[parts, parts].sum() == pytest.approx(information[place, place])
        assert information[place, np.delete(items, item)] == pytest.approx(0, abs=1e-9)


def test_effects_are_scaled_one_by_one_where_too_many_depend_on_each_other(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    effects: Any = rb.GStudy(design=DESIGN).study.effects(rated("logit", items=4))
    sources = range(len(effects.sizes))

    together = dependent_effects.blocks_of(effects, sources)
    monkeypatch.setattr(dependent_effects, "MOST_WORK", 0)
    alone = dependent_effects.blocks_of(effects, sources)

    size = sum(effects.sizes)
    for found in (together, alone):
        assert sorted(found.order) == list(range(size))
        assert (np.diff(found.block) >= 0).all()
    # Of each item its own effect, three with raters and two with days; raters with their days.
    assert np.bincount(together.block).tolist() == [6] * 4 + [3] * 3 + [1] * 2
    assert len(np.unique(alone.block)) == size


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("factor", [1.0, 4.0])
def test_items_are_marginalised_as_by_fine_quadrature(family: str, factor: float) -> None:
    ratings = rated(family, items=3)
    model = rb.GStudy(design="item x rater", family=family)  # type: ignore[arg-type]
    problem: Any = model.problem(ratings)
    rng = np.random.default_rng(3)
    others = factor * rng.normal(0, 0.5, len(ratings))
    sd = factor * np.array([1.3, 0.5, 0.8, np.pi / np.sqrt(3)])
    cut = factor * np.sort(rng.normal(0, 1, problem.n_categories - 1))
    blocks = ItemBlocks.of(problem.effects, ratings.item)
    assert [problem.effects.names[k] for k in blocks.own] == ["item", "item x rater"]

    items = GradedItems.of(problem.effects, blocks, problem.rating)
    (found,) = items.log_probability(others[None], sd[None], cut[None])

    # Given the item's effect, ratings by different raters are independent.
    node = np.linspace(-8, 8, 161)
    weight = np.exp(-0.5 * node**2) * (node[1] - node[0]) / math.sqrt(2 * math.pi)
    ends = np.concatenate([[-np.inf], cut, [np.inf]])
    expected = np.empty(3)
    for item in range(3):
        of_raters = np.zeros(len(node))
        for rater in np.unique(ratings.rater[ratings.item == item]):
            rows = (ratings.item == item) & (ratings.rater == rater)
            location = sd[0] * node[:, None, None] + sd[2] * node[:, None] + others[rows]
            upper, lower = (ends[problem.rating[rows] + k] for k in (0, 1))
            likely = np.prod(expit(location - upper) - expit(location - lower), axis=2)
            of_raters += np.log(likely @ weight)
        expected[item] = logsumexp(of_raters, b=weight)
    assert found == pytest.approx(expected, abs=0.03 * factor)


# Posteriors.


@pytest.mark.posteriors
@pytest.mark.parametrize(
    ("family", "other"), [("logit", rb.LogitICC()), ("ordinal", rb.OrdinalICC())]
)
def test_two_facets_are_the_model_of_items_and_raters(family: Any, other: Any) -> None:
    ratings = rated(family, items=40, raters=6, days=1 + (family == "logit"), seed=4)
    table = ratings.to_frame().drop_duplicates(["item", "rater"])
    ratings = rb.Ratings.from_frame(table, scale="ordered", categories=ratings.categories)
    options: dict[str, Any] = {"draws": 4000, "seed": 2, "progress": False}

    ours = rb.GStudy(family=family).fit(ratings, **options).quantities
    theirs = other.fit(ratings, **options).quantities

    pairs = [("phi", "icc"), ("g", "icc_consistency"), ("phi_observed", "icc_observed")]
    pairs += [("mean", "mean")] if family == "logit" else [("cut", "cut")]
    for one, two in [*pairs, ("rate", "rate")]:
        draws, expected = ours[one].values, theirs[two].values
        sd = expected.std(axis=(0, 1))
        assert np.abs(draws.mean(axis=(0, 1)) - expected.mean(axis=(0, 1))) / sd == pytest.approx(
            np.zeros_like(sd), abs=0.08
        )
        assert draws.std(axis=(0, 1)) == pytest.approx(sd, rel=0.08)


# Results.


@pytest.mark.slow
@pytest.mark.parametrize("family", [pytest.param("logit", marks=pytest.mark.proof), "ordinal"])
def test_results_have_the_ids_of_users(family: str, tmp_path: Path) -> None:
    fit = fitted(family)

    assert list(fit.quantities) == [x for x in fit.model.reports if x in fit.quantities]
    assert fit.quantities["proportion"].sum("source").values == pytest.approx(np.ones((2, 50)))
    assert fit.quantities["sd"].sizes["estimated"] == fit.quantities.sizes["source"] - 1
    assert fit.items().index.to_list() == list(range(6))
    assert fit.raters().index.to_list() == [0, 1, 2]
    assert fit.levels("day").index.to_list() == [0, 1]
    assert np.isfinite(fit.log_likelihood().values).all()
    assert fit.check().p_values.between(0, 1).all()
    assert (fit.d_study({"rater": [1, 4]}).table()["median"].diff().iloc[1:] > 0).all()
    fit.save(tmp_path / "fit.nc")
    loaded = rb.Fit.load(tmp_path / "fit.nc")
    assert loaded.model == fit.model
    xr.testing.assert_identical(loaded.quantities, fit.quantities)
    pd.testing.assert_frame_equal(loaded.raters(), fit.raters())


@pytest.mark.slow
def test_without_an_effect_of_items_nothing_is_reliable() -> None:
    options: dict[str, Any] = {"chains": 2, "warmup": 50, "draws": 50, "seed": 1}
    model = rb.GStudy(design="item x rater", drop=("item",), family="logit")

    found = model.fit(rated("logit"), progress=False, **options).quantities

    assert (found["phi"] == 0).all()
    assert (found["phi_observed"] < 1e-20).all()


def test_replicates_keep_the_raters() -> None:
    ratings = rated("ordinal", items=200)
    model = rb.GStudy(design=DESIGN, family="ordinal")
    sd = [0.1, 3.0, 0.1, 0.1, 0.1, 0.1]
    drawn = model.simulate(
        ratings, np.random.default_rng(5), parameters={"cut": [-2, 0, 2], "sd": sd}
    )

    by_rater = pd.Series(drawn.rating).groupby(drawn.rater).mean()

    assert drawn.categories.to_list() == [0, 1, 2, 3]
    assert drawn.facets.keys() == {"day"}
    assert by_rater.max() - by_rater.min() > 0.5


# The model.


def test_family_stays_with_the_model() -> None:
    model = rb.GStudy(design=DESIGN, family="logit", fixed=("day",))

    of_numbers = rb.GStudy(design=DESIGN)
    assert (model.continuous, of_numbers.continuous, rb.GStudy.continuous) == (False, True, True)
    assert ("rate" in model.reports, "rate" in of_numbers.reports) == (True, False)
    assert model.name() == "gstudy"
    for same in (pickle.loads(pickle.dumps(model)), copy.copy(model), dataclasses.replace(model)):
        assert (same, same.continuous, same.reports) == (model, False, model.reports)


def test_unknown_family_is_refused() -> None:
    with pytest.raises(ValueError, match="family must be one of gaussian, logit, ordinal, not 'x'"):
        rb.GStudy(family="x")  # type: ignore[arg-type]


def test_more_than_two_categories_need_the_ordinal_family() -> None:
    with pytest.raises(rb.RatingsError, match='Pass family="ordinal"'):
        rb.GStudy(design=DESIGN, family="logit").problem(rated("ordinal"))


def test_categories_without_an_order_are_refused() -> None:
    table = rated("ordinal").to_frame()
    ratings = rb.Ratings.from_frame(table, facets=["day"], scale="nominal")

    with pytest.raises(rb.RatingsError, match="without an order"):
        rb.GStudy(design=DESIGN, family="ordinal").problem(ratings)


def test_priors_are_those_of_the_models_of_items_and_raters() -> None:
    priors = rb.GStudy(family="logit").priors(rated("logit"))

    assert priors["mean"] == rb.LogitICC().prior_mean
    assert priors["sd"]["item"] == rb.LogitICC().prior_sd_item
    assert priors["sd"]["rater"] == rb.LogitICC().prior_sd_rater
    assert rb.GStudy(family="ordinal").priors(rated("ordinal"))["mean"] == rb.Normal(0.0, 5.0)
