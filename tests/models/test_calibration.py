"""Posteriors are calibrated under their own priors, and the check detects a wrong model."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import reliabayes as rb
from reliabayes import (
    GaussianICC,
    GaussianXCC,
    HalfNormal,
    HalfStudentT,
    Normal,
    Ratings,
)
from reliabayes.arrays import Array
from reliabayes.inference import correlation
from reliabayes.inference.problem import Problem
from reliabayes.models import gaussian_xcc
from reliabayes.models.bases import crowd_model, gaussian_crossed, items_in_parts
from reliabayes.models.bases.hidden_state import HiddenStateModel
from tests.models.calibration import Calibration, Parameters, calibrate
from tests.partitions.in_memory import in_parts

FALSE_ALARMS = 1e-4  # upper bound for each test, under a new seed

GAUSSIAN = GaussianICC(
    prior_mean=Normal(1, 2),
    prior_sd_item=HalfNormal(1),
    prior_sd_rater=HalfStudentT(4, 0.7),
    prior_sd_residual=HalfNormal(1.5),
)


def gaussian_prior_draw(rng: np.random.Generator) -> Parameters:
    return {
        "mean": rng.normal(1, 2),
        "sd_item": abs(rng.normal(0, 1)),
        "sd_rater": abs(0.7 * rng.standard_t(4)),
        "sd_residual": abs(rng.normal(0, 1.5)),
    }


def gaussian_ratings(truth: Parameters, design: pd.DataFrame, rng: np.random.Generator) -> Array:
    item = truth["sd_item"] * rng.standard_normal(design["item"].max() + 1)
    rater = truth["sd_rater"] * rng.standard_normal(design["rater"].max() + 1)
    residual = truth["sd_residual"] * rng.standard_normal(len(design))
    return np.asarray(truth["mean"] + item[design["item"]] + rater[design["rater"]] + residual)


def gaussian(
    design: pd.DataFrame, rng: np.random.Generator, severity: float = 1.0
) -> tuple[Parameters, Ratings]:
    truth = gaussian_prior_draw(rng)
    rated = {**truth, "sd_rater": severity * truth["sd_rater"]}
    return truth, Ratings.from_frame(design.assign(rating=gaussian_ratings(rated, design, rng)))


def complete_design(items: int, raters: int) -> pd.DataFrame:
    pairs = pd.MultiIndex.from_product([range(items), range(raters)], names=["item", "rater"])
    return pairs.to_frame(index=False)


def unbalanced_design() -> pd.DataFrame:
    return complete_design(12, 5).query("(item * rater + rater) % 3 != 2 and item + rater > 0")


DESIGNS = {
    "balanced": complete_design(6, 4),
    "incomplete": unbalanced_design(),
    "swapped": complete_design(4, 9),
}

Choose = Callable[[str], None]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Force a Stan program, independently of the design."""

    def chosen(program: str) -> None:
        monkeypatch.setattr(
            gaussian_crossed, "integrates_out", lambda design: program == "gaussian_icc"
        )

    return chosen


def calibrate_gaussian(design: str, n: int, seed: int) -> Calibration:
    return calibrate(GAUSSIAN, partial(gaussian, DESIGNS[design]), n, seed=seed)


@pytest.mark.calibration
@pytest.mark.parametrize("design", DESIGNS)
def test_gaussian_posteriors_by_gibbs_sampling_are_calibrated(design: str) -> None:
    simulate = partial(gaussian, DESIGNS[design])

    found = calibrate(GAUSSIAN, simulate, n=500, seed=4, sampler="gibbs")

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


@pytest.mark.calibration
def test_check_flags_ratings_from_another_model() -> None:
    doubled_severity = partial(gaussian, DESIGNS["swapped"], severity=2.0)

    found = calibrate(GAUSSIAN, doubled_severity, n=30, seed=2)

    assert found.p_value < FALSE_ALARMS, str(found)


@pytest.mark.calibration
@pytest.mark.parametrize("program", ["gaussian_icc", "gaussian_icc_crowd"])
@pytest.mark.parametrize("design", DESIGNS)
def test_gaussian_posteriors_are_calibrated_over_many_data_sets(
    design: str, program: str, choose: Choose
) -> None:
    choose(program)

    found = calibrate_gaussian(design, n=500, seed=3)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


FACETS = complete_design(6, 3).merge(pd.DataFrame({"day": range(2)}), how="cross")
G_STUDIES = {
    "crossed": ("item x rater x day", FACETS),
    "nested": ("item x (rater:day)", FACETS),
    "replicates": ("item x rater", FACETS),
    "empty cells": ("item x rater x day", FACETS.query("(item + rater + day) % 4 > 0")),
    "crowd": ("item x rater", complete_design(40, 20).query("(3 * item + rater) % 5 == 0")),
}


def calibrate_g_study(name: str, n: int, seed: int) -> Calibration:
    design, table = G_STUDIES[name]
    model = rb.GStudy(design=design, prior_mean=Normal(1, 2), prior_sd=HalfStudentT(4, 0.7))

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        truth = model.draw_parameters(table, rng)
        return truth, model.simulate(table, rng, parameters=truth)

    return calibrate(model, simulated, n, seed=seed)


@pytest.mark.calibration
@pytest.mark.parametrize("name", G_STUDIES)
def test_g_studies_are_calibrated_over_many_data_sets(name: str) -> None:
    found = calibrate_g_study(name, n=1000, seed=7)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def calibrate_graded_g_study(name: str, family: Any, n: int, seed: int) -> Calibration:
    design, table = G_STUDIES[name]
    prior = HalfStudentT(4, 0.7)
    model: Any = rb.GStudy(design=design, family=family, prior_mean=Normal(0.5, 1), prior_sd=prior)
    categories = range(2 if family == "logit" else 4)

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        while True:
            truth = model.draw_parameters(table, rng, categories=categories)
            try:
                ratings = model.simulate(table, rng, parameters=truth, categories=categories)
            except rb.RatingsError:  # all ratings are the same
                continue
            sd = np.append(truth["sd"], math.pi / math.sqrt(3))
            return {"sd": sd, "cut": truth["cut"]}, ratings

    return calibrate(model, simulated, n, seed=seed)


@pytest.mark.calibration
@pytest.mark.parametrize("family", ["logit", "ordinal"])
@pytest.mark.parametrize("name", G_STUDIES)
def test_g_studies_of_categories_are_calibrated(name: str, family: str) -> None:
    found = calibrate_graded_g_study(name, family, n=200, seed=8)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


XCC = {
    "shared": GaussianXCC(**vars(GAUSSIAN)),
    "per_pool": GaussianXCC(residual="per_pool", **vars(GAUSSIAN)),
    "lkj 3": GaussianXCC(prior_lkj=3, **vars(GAUSSIAN)),
}


def pooled_design(items: int, pools: int) -> pd.DataFrame:
    """Three raters in each pool, of whom two rate most items; only one pool rates items 0 and 1."""
    design = complete_design(items, 3 * pools).assign(pool=lambda x: x["rater"] // 3)
    design = design.query("(item + rater) % 3 != 0 or item % 5 == 0")
    return design.query("not (item == 0 and pool > 0) and not (item == 1 and pool == 0)")


def pooled_prior_draw(model: GaussianXCC, pools: int, rng: np.random.Generator) -> Parameters:
    draws = pd.DataFrame([gaussian_prior_draw(rng) for _ in range(pools)])
    truth = {str(name): column.to_numpy() for name, column in draws.items()}
    residuals = 1 if model.residual == "shared" else pools
    return {
        **truth,
        "sd_residual": truth["sd_residual"][:residuals],
        "factor_item": correlation.draw(pools, model.prior_lkj, rng),
    }


def pooled_ratings(truth: Parameters, design: pd.DataFrame, rng: np.random.Generator) -> Ratings:
    item, rater, pool = (design[name].to_numpy() for name in ("item", "rater", "pool"))
    pools = len(truth["mean"])
    effects = rng.standard_normal((item.max() + 1, pools)) @ truth["factor_item"].T
    rating = truth["mean"][pool] + truth["sd_item"][pool] * effects[item, pool]
    rating += truth["sd_rater"][pool] * rng.standard_normal(rater.max() + 1)[rater]
    rating += np.resize(truth["sd_residual"], pools)[pool] * rng.standard_normal(len(design))
    return Ratings.from_frame(design.assign(rating=rating), pool="pool")


def pooled(
    model: GaussianXCC, design: pd.DataFrame, rng: np.random.Generator
) -> tuple[Parameters, Ratings]:
    truth = pooled_prior_draw(model, design["pool"].nunique(), rng)
    return truth, pooled_ratings(truth, design, rng)


@pytest.mark.calibration
@pytest.mark.parametrize("pools", [2, 3])
@pytest.mark.parametrize("name", XCC)
def test_pooled_posteriors_are_calibrated_over_many_data_sets(name: str, pools: int) -> None:
    simulate = partial(pooled, XCC[name], pooled_design(12, pools))

    found = calibrate(XCC[name], simulate, n=200, seed=7)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def sparse_pools(items: int, raters: int) -> pd.DataFrame:
    """Each item has three of the raters, who take turns; every second one is in the second pool."""
    item, turn = np.indices((items, 3)).reshape(2, -1)
    rater = (3 * item + turn + item // raters) % raters
    return pd.DataFrame({"item": item, "rater": rater, "pool": rater % 2})


@pytest.mark.calibration
@pytest.mark.parametrize("name", XCC)
def test_pooled_posteriors_of_crowds_are_calibrated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_xcc, "integrates_out", lambda design: False)
    simulate = partial(pooled, XCC[name], sparse_pools(120, 40))

    found = calibrate(XCC[name], simulate, n=200, seed=9)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


@pytest.mark.calibration
@pytest.mark.parametrize("rho", [0.0, 0.5, 0.9, 0.98])
def test_intervals_of_the_correlation_have_nominal_coverage(rho: float) -> None:
    model, design, n = XCC["shared"], pooled_design(150, 2), 100
    factor = correlation.factor(np.arctanh([rho]), 2)
    sds = {"sd_item": np.array([1.0, 1.5]), "sd_rater": np.array([0.4, 0.3])}
    truth = {**sds, "sd_residual": np.array([0.6]), "mean": np.array([1.0, 2.0])}
    covered = []

    for seed in range(n):
        rng = np.random.default_rng([8, seed])
        ratings = pooled_ratings({**truth, "factor_item": factor}, design, rng)
        row = model.fit(ratings, chains=2, seed=seed).summary().loc["normalized_xcc[0, 1]"]
        covered.append(bool(row["lower_90"] <= rho <= row["upper_90"]))

    print(f"rho {rho}: {sum(covered)} of {n} 90% intervals cover it")
    assert binomtest(sum(covered), n, 0.9).pvalue > FALSE_ALARMS


SDS: dict[str, Any] = {"prior_sd_item": HalfNormal(1.5), "prior_sd_rater": HalfNormal(1)}

ANNOTATION: dict[str, tuple[HiddenStateModel, int]] = {
    "tap": (rb.TAP(), 2),
    "tap, by category": (rb.TAP(accuracy="by_category", guessing="by_category"), 2),
    "rater-tap": (rb.RaterTAP(), 3),
    "rater-tap, by item": (rb.RaterTAP(prevalence="item"), 2),
    "dawid-skene": (rb.DawidSkene(), 3),
    "hierarchical-dawid-skene": (rb.HierarchicalDawidSkene(), 2),
    "mace": (rb.MACE(), 2),
    "mace, uniform": (rb.MACE(prevalence="uniform"), 3),
    "latent-tap": (rb.LatentTAP(), 2),
    "latent-tap, equally difficult": (rb.LatentTAP(difficulty=False), 2),
    "logit-icc": (rb.LogitICC(prior_mean=Normal(0, 1), **SDS), 2),
    "logit-icc, probit": (rb.LogitICC(link="probit", prior_mean=Normal(0, 1), **SDS), 2),
    "ordinal-icc": (rb.OrdinalICC(prior_cut=Normal(0, 1.5), **SDS), 3),
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), **SDS), 2),
    "ordinal-xcc": (rb.OrdinalXCC(prior_cut=Normal(0, 1.5), **SDS), 3),
}


def polled(ratings: Ratings) -> Array:
    """Proportions of votes in an earlier poll."""
    return np.tile([[0.9, 0.1], [0.6, 0.4], [0.3, 0.7]], (20, 1))[: ratings.n_items]


class Polled(rb.Groupthink):
    """Groupthink whose raters follow an earlier poll instead of their own vote proportions."""

    def program(self, problem: Problem) -> str:
        return "groupthink"


class RaterPolled(rb.RaterGroupthink):
    """As `Polled`, with an accuracy for each rater."""

    def program(self, problem: Problem) -> str:
        return "rater_groupthink"


@pytest.fixture(autouse=True)
def earlier_poll(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let the groupthink models follow the earlier poll."""
    monkeypatch.setattr("reliabayes.models.bases.following.vote_proportions", polled)


ANNOTATION |= {
    "groupthink": (Polled(), 2),
    "rater-groupthink": (RaterPolled(), 2),
    "groupthink, earlier": (rb.Groupthink(shares="earlier"), 2),
    "rater-groupthink, earlier": (rb.RaterGroupthink(shares="earlier"), 3),
}


def few_raters() -> pd.DataFrame:
    """Three of four raters for each of 20 items; most models ignore the pools."""
    design = complete_design(20, 4).query("item % 4 != rater")
    return design.assign(pool=design["rater"] // 2)


def annotated(
    model: HiddenStateModel, n_categories: int, design: pd.DataFrame, rng: np.random.Generator
) -> tuple[Parameters, Ratings]:
    """Simulated ratings, redrawn if all of them are equal."""
    categories = range(n_categories)
    while True:
        truth = model.draw_parameters(design, rng, categories=categories)
        try:
            return truth, model.simulate(design, rng, categories=categories, parameters=truth)
        except rb.RatingsError:
            continue


@pytest.mark.calibration
@pytest.mark.parametrize("name", ANNOTATION)
def test_annotation_posteriors_are_calibrated_over_many_data_sets(name: str) -> None:
    model, n_categories = ANNOTATION[name]

    found = calibrate(model, partial(annotated, model, n_categories, few_raters()), n=200, seed=5)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def crowd_of_25() -> pd.DataFrame:
    """Six of 25 raters for each of 100 items."""
    return complete_design(100, 25).query("(item + 7 * rater) % 25 < 6")


@pytest.mark.calibration
@pytest.mark.parametrize(
    ("name", "n_categories", "design"),
    [
        ("logit-icc", 2, complete_design(100, 6)),
        ("ordinal-icc", 3, complete_design(100, 6)),
        ("latent-tap", 3, crowd_of_25()),
    ],
)
def test_posteriors_by_fixed_trajectories_are_calibrated(
    name: str, n_categories: int, design: pd.DataFrame
) -> None:
    model, _ = ANNOTATION[name]
    are_normal = []

    def simulated(rng: np.random.Generator) -> tuple[Parameters, Ratings]:
        truth, ratings = annotated(model, n_categories, design, rng)
        are_normal.append(model.starts(model.problem(ratings))[0].mean is not None)
        return truth, ratings

    found = calibrate(model, simulated, n=200, seed=17)

    print(found, np.mean(are_normal))
    assert np.mean(are_normal) > 0.3
    assert found.p_value > FALSE_ALARMS, str(found)


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["ordinal-icc", "logit-icc", "logit-icc, probit"])
def test_posteriors_of_crowds_are_calibrated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(crowd_model, "is_crowd", lambda problem: True)
    model, n_categories = ANNOTATION[name]
    design = complete_design(60, 40).query("(7 * item + 11 * rater) % 40 < 8")

    found = calibrate(model, partial(annotated, model, n_categories, design), n=200, seed=18)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


@pytest.mark.calibration
def test_posteriors_of_a_crowd_by_gibbs_sampling_are_calibrated() -> None:
    model = rb.HierarchicalDawidSkene()
    design = complete_design(110, 110).query("(item + 7 * rater) % 110 < 3")
    assert design["rater"].nunique() >= 100  # from which on slices are rare

    found = calibrate(model, partial(annotated, model, 2, design), n=200, seed=19, sampler="gibbs")

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


BY_GIBBS = (  # models of ANNOTATION that Gibbs sampling suits
    "dawid-skene",
    "hierarchical-dawid-skene",
    "mace",
    "mace, uniform",
    "tap",
    "rater-tap",
    "rater-tap, by item",
    "groupthink, earlier",
    "rater-groupthink, earlier",
)


def calibrate_gibbs(name: str, n: int) -> Calibration:
    model, n_categories = ANNOTATION[name]
    simulate = partial(annotated, model, n_categories, few_raters())
    return calibrate(model, simulate, n, seed=11, sampler="gibbs")


@pytest.mark.calibration
@pytest.mark.parametrize("name", BY_GIBBS)
def test_posteriors_by_gibbs_sampling_are_calibrated(name: str) -> None:
    found = calibrate_gibbs(name, n=1000)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


# More than a quarter of the correlations under this prior exceed 0.98 in absolute value.
NEAR_ONE: dict[str, tuple[HiddenStateModel, int]] = {
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), prior_lkj=0.3, **SDS), 2),
    "ordinal-xcc": (rb.OrdinalXCC(prior_cut=Normal(0, 1.5), prior_lkj=0.3, **SDS), 3),
}


@pytest.mark.calibration
@pytest.mark.parametrize("name", NEAR_ONE)
def test_posteriors_of_correlations_near_one_are_calibrated(name: str) -> None:
    model, n_categories = NEAR_ONE[name]

    simulate = partial(annotated, model, n_categories, pooled_design(20, 2))
    found = calibrate(model, simulate, n=100, seed=9)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


# Few raters with so many ratings that a short run comes first: model, categories, and design.
BY_A_SHORT_RUN: dict[str, tuple[HiddenStateModel, int, pd.DataFrame]] = {
    "latent-tap": (rb.LatentTAP(), 3, complete_design(40, 6)),
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), **SDS), 2, pooled_design(200, 2)),
    "ordinal-icc": (rb.OrdinalICC(prior_cut=Normal(0, 1.5), **SDS), 4, complete_design(100, 4)),
}


@pytest.mark.calibration
@pytest.mark.parametrize("name", BY_A_SHORT_RUN)
def test_posteriors_of_few_raters_are_calibrated_after_a_short_run(name: str) -> None:
    model, n_categories, design = BY_A_SHORT_RUN[name]

    found = calibrate(model, partial(annotated, model, n_categories, design), n=200, seed=10)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


@dataclass(frozen=True, kw_only=True)
class InParts:
    """A model whose fits are of ratings in parts, too many for memory."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def fit(self, ratings: Ratings, **options: Any) -> rb.Fit:
        found: rb.Fit = self.model.fit(in_parts(ratings, 3), **options)
        return found


@pytest.mark.calibration
@pytest.mark.parametrize("name", ["dawid-skene", "mace", "tap", "rater-tap"])
def test_posteriors_of_items_in_parts_are_calibrated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(items_in_parts, "MOST_COUNTS", 0)
    model, n_categories = ANNOTATION[name]
    design = complete_design(60, 8).query("item % 2 == rater % 2")
    simulate = partial(annotated, model, n_categories, design)

    found = calibrate(InParts(model=model), simulate, n=200, seed=13)  # type: ignore[arg-type]

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
