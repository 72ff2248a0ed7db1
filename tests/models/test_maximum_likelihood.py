"""Maximum likelihood and REML of models with normal effects, against other software and theory."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.optimize import minimize
from scipy.special import expit, logsumexp
from scipy.stats import multivariate_normal, norm

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.inference import correlation
from reliabayes.results.point_estimate import PointEstimate
from tests.models.test_at import incidence, scores
from tests.partitions.in_memory import in_parts

Load = Callable[[str], pd.DataFrame]

# Davies (1947), Table 6.3 and 6.4: yields of dyestuff by batch; in lme4 Dyestuff and Dyestuff2.
DYESTUFF = """
1545 1440 1440 1520 1580  1540 1555 1490 1560 1495  1595 1550 1605 1510 1560
1445 1440 1595 1465 1545  1595 1630 1515 1635 1625  1520 1455 1450 1480 1445
"""
DYESTUFF_2 = """
7.298 3.846 2.434 9.566 7.990  5.220 6.556 0.608 11.788 -0.892  0.110 10.386 13.434 5.510 8.166
2.212 4.852 7.092 9.288 4.980  0.282 9.014 4.458 9.446 7.198    1.722 4.782 8.106 0.758 3.758
"""
# Davies & Goldsmith (1972): diameters of growth inhibition by penicillin, by plate and sample.
PENICILLIN = """
27 23 26 23 23 21  27 23 26 23 23 21  25 21 25 24 24 20  26 23 25 23 23 20  25 22 26 22 23 20
24 22 25 23 22 19  24 20 23 21 22 19  26 22 26 24 24 21  24 21 24 22 22 20  24 21 24 23 22 19
26 23 26 24 24 21  25 22 26 24 24 20  26 24 26 24 25 22  26 23 26 23 23 20  26 23 25 24 24 22
25 22 25 23 23 20  25 21 24 23 23 20  25 22 24 23 23 19  24 21 23 21 21 19  26 23 26 24 24 21
25 21 24 22 22 18  25 22 25 22 22 20  24 21 24 22 24 19  24 21 24 22 21 18
"""


def yields(table: str) -> rb.Ratings:
    """Yields by batch, as ratings by five raters whose effects no model here has."""
    return rb.Ratings.from_wide(np.array(table.split(), float).reshape(6, 5))


one_way = rb.GStudy(drop=("rater",))


# Published estimates.


@pytest.mark.parametrize(
    ("reml", "batch", "residual", "deviance"),
    [(True, 42.0006, 49.5101, 319.6543), (False, 37.2603, 49.5101, 327.3271)],
)
def test_estimates_of_dyestuff_are_those_of_lme4(
    reml: bool, batch: float, residual: float, deviance: float
) -> None:
    found = one_way.em(yields(DYESTUFF), reml=reml)

    # Bates, Fitting linear mixed-effects models, chapter 1.
    assert found.parameters["sd"].values.tolist() == pytest.approx([batch, residual], abs=1e-4)
    assert -2 * found.path[-1] == pytest.approx(deviance, abs=1e-4)
    assert float(found.parameters["mean"]) == pytest.approx(1527.5)
    assert found.converged


def test_estimates_of_penicillin_are_those_of_lme4() -> None:
    table = np.array(PENICILLIN.split(), float).reshape(24, 6)

    found = rb.GaussianICC().em(rb.Ratings.from_wide(table), reml=True)

    # Bates, Mächler, Bolker & Walker: lmer(diameter ~ 1 + (1 | plate) + (1 | sample), Penicillin)
    expected = {"mean": 22.9722, "sd_item": 0.8467, "sd_rater": 1.9316, "sd_residual": 0.5499}
    at = {name: float(found.parameters[name]) for name in expected}
    assert at == pytest.approx(expected, abs=5e-5)
    assert -2 * found.path[-1] == pytest.approx(330.8606, abs=1e-4)


def test_source_without_variance_has_a_standard_deviation_of_0() -> None:
    found = one_way.em(yields(DYESTUFF_2))

    # lme4: batch 0, residual 3.6532 and deviance 162.873, with a note on a singular fit.
    batch, residual = found.parameters["sd"].values
    assert batch == 0
    assert residual == pytest.approx(3.6532, abs=1e-4)
    assert -2 * found.log_likelihood == pytest.approx(162.873, abs=1e-3)
    assert found.converged
    assert found.items()["mean"].abs().max() < 1e-9


@pytest.mark.proof
def test_estimates_of_insteval_are_those_of_lme4(dataset: Load) -> None:
    frame = dataset("insteval").rename(columns={"lecturer": "item", "student": "rater"})
    ratings = rb.Ratings.from_frame(frame, replicates="keep")

    found = rb.GaussianICC().em(ratings, reml=True).parameters

    expected = {"mean": 3.25416, "sd_item": 0.52320, "sd_rater": 0.32591, "sd_residual": 1.17779}
    assert {name: float(found[name]) for name in expected} == pytest.approx(expected, abs=1e-5)


def test_reml_of_a_balanced_design_is_its_analysis_of_variance(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("shrout_fleiss_1979"))
    items, raters, residual = 11.24167, 32.48611, 1.01944  # published mean squares

    of_icc, of_study = (model.em(ratings, reml=True) for model in (rb.GaussianICC(), rb.GStudy()))

    sds = np.sqrt([(items - residual) / 4, (raters - residual) / 6, residual])
    assert of_study.parameters["sd"].values.tolist() == pytest.approx(sds.tolist(), abs=1e-5)
    assert [float(of_icc.parameters[f"sd_{name}"]) for name in ("item", "rater", "residual")] == (
        pytest.approx(sds.tolist(), abs=1e-5)
    )
    # Shrout & Fleiss (1979), Table 4: ICC(2, 1) is .29, ICC(3, 1) .71
    assert float(of_icc.quantities["icc"]) == pytest.approx(0.2898, abs=1e-4)
    assert float(of_icc.quantities["icc_consistency"]) == pytest.approx(0.7148, abs=1e-4)


# Independent computation.


def test_reml_of_ratings_with_gaps_is_that_of_the_classical_study() -> None:
    ratings = scores()

    found = rb.GaussianICC().em(ratings, reml=True).parameters

    classical = rb.agreement.g_study(ratings, method="reml").components["variance"]
    variances = [float(found[f"sd_{name}"]) ** 2 for name in ("item", "rater", "residual")]
    assert variances == pytest.approx(classical.tolist(), rel=1e-4)


def density_of_pools(ratings: rb.Ratings, x: Array) -> float:
    """Log density of two pools at means, log sds and the free correlation."""
    mean, sd_item, sd_rater = x[:2], np.exp(x[2:4]), np.exp(x[4:6])
    pool = np.arange(ratings.n_raters) % 2
    of_rating = pool[ratings.rater]
    root = sd_item[:, None] * correlation.factor(x[7:], 2)
    raters = incidence(ratings.rater)
    covariance = (ratings.item[:, None] == ratings.item) * (root @ root.T)[
        of_rating[:, None], of_rating
    ]
    covariance = covariance + raters @ np.diag(sd_rater[pool] ** 2) @ raters.T
    covariance += math.exp(2 * x[6]) * np.eye(len(ratings))
    density = multivariate_normal(mean[of_rating], covariance).logpdf(ratings.values)
    return float(density)


@pytest.mark.slow
def test_estimates_of_pools_maximise_the_density_of_a_normal_distribution() -> None:
    ratings = scores(pools=2)

    found = rb.GaussianXCC().em(ratings)

    start = [0.0, 1.0, 0.0, 0.0, -1.0, -1.0, -1.0, 0.3]

    def negative(x: Array) -> float:
        return -density_of_pools(ratings, x)

    best = minimize(negative, start, method="BFGS")
    at = found.parameters
    assert found.log_likelihood == pytest.approx(-best.fun, abs=1e-4)
    assert at["mean"].values.tolist() == pytest.approx(best.x[:2].tolist(), abs=1e-3)
    sds = [*at["sd_item"].values, *at["sd_rater"].values, *at["sd_residual"].values]
    assert sds == pytest.approx(np.exp(best.x[2:7]).tolist(), rel=2e-3)
    assert float(at["factor_item"][1, 0]) == pytest.approx(math.tanh(best.x[7]), abs=2e-3)


# Properties.


@pytest.mark.parametrize("model", [rb.GaussianICC(), rb.GStudy()], ids=lambda x: x.name())
def test_posterior_modes_are_where_chains_start(model: Any) -> None:
    ratings = scores()
    problem = model.problem(ratings)

    found = model.em(ratings, priors=True)

    # The start is known to a hundredth of a standard deviation, of about 1 of the logarithms.
    start = model.starts(problem)[0].point
    for name in start:
        np.testing.assert_allclose(found.parameters[name], start[name], rtol=0.02)


@pytest.mark.parametrize(
    "model", [rb.GaussianICC(), rb.GStudy(), rb.GaussianXCC()], ids=lambda x: x.name()
)
def test_ratings_in_parts_have_the_same_estimates(model: Any) -> None:
    ratings = scores(pools=2)

    whole, parts = (model.em(each) for each in (ratings, in_parts(ratings, 2)))

    xr.testing.assert_allclose(parts.parameters, whole.parameters, rtol=1e-4)
    assert parts.log_likelihood == pytest.approx(whole.log_likelihood, abs=1e-6)
    of_raters = parts.raters()["mean"].tolist()
    assert of_raters == pytest.approx(whole.raters()["mean"].tolist(), abs=1e-4)


def test_table_of_items_in_parts_is_that_in_memory(tmp_path: Path) -> None:
    ratings = scores()
    whole, parts = (rb.GaussianICC().em(each) for each in (ratings, in_parts(ratings, 2)))

    parts.write_items(tmp_path / "out")

    table = pd.concat(map(pd.read_parquet, sorted((tmp_path / "out").iterdir())))
    assert table["mean"].tolist() == pytest.approx(whole.items()["mean"].tolist(), abs=1e-4)


def test_unit_of_the_ratings_is_that_of_the_estimates() -> None:
    ratings = scores()
    frame = ratings.to_frame()
    large = rb.Ratings.from_frame(frame.assign(rating=1e6 * frame["rating"] + 1e8))

    small, found = (rb.GaussianICC().em(each) for each in (ratings, large))

    for name in ("sd_item", "sd_rater", "sd_residual"):
        assert float(found.parameters[name]) == pytest.approx(
            1e6 * float(small.parameters[name]), rel=1e-4
        )


def test_bits_and_summary_are_those_of_a_point_estimate() -> None:
    found: PointEstimate = rb.GaussianICC().em(scores())

    assert found.bits_per_rating == pytest.approx(-found.log_likelihood / 22 / math.log(2))
    assert list(found.summary().index[:3]) == ["icc", "icc_consistency", "labeler_icc"]
    assert list(found.items()) == list(found.raters()) == ["ratings", "mean"]
    assert "converged after" in repr(found)


# Categories: likelihoods without closed form, against sums over dense grids.


def two_raters(categories: int) -> tuple[rb.Ratings, Array]:
    """Ratings of sixty items by two raters, and the table of their categories."""
    rng = np.random.default_rng(3)
    score = rng.normal(0, 1.5, (60, 1)) + np.array([-0.6, 0.6]) + rng.logistic(size=(60, 2))
    cut = np.array([-0.3, 1.2])[: categories - 1]
    table = (score[..., None] > cut).sum(axis=2)
    return rb.Ratings.from_wide(table, scale="ordered", categories=range(categories)), table


def exact_log_likelihood(table: Array, x: Array) -> float:
    """Of complete ratings by two raters: effects of items and of raters on dense grids."""
    (node, weight), (one, of_one) = (
        (grid, norm.pdf(grid) * (grid[1] - grid[0]))
        for grid in (np.linspace(-6, 6, 41), np.linspace(-5, 5, 51))
    )
    cut = x[2] + np.append(0.0, np.exp(x[3:]).cumsum())
    score = x[0] * node[:, None, None] + x[1] * one[:, None]
    below = expit(np.concatenate([[-np.inf], cut, [np.inf]]) - score)
    p = np.diff(below)  # by item, rater and category
    total = np.zeros((51, 51))
    for (first, second), number in zip(*np.unique(table, axis=0, return_counts=True), strict=True):
        total += number * np.log((weight * p[..., first].T) @ p[..., second])
    return float(logsumexp(total + np.log(of_one)[:, None] + np.log(of_one)))


@pytest.mark.slow
@pytest.mark.parametrize("model", [rb.LogitICC(), rb.OrdinalICC()], ids=lambda x: x.name())
def test_estimates_of_categories_maximise_the_exact_likelihood(model: Any) -> None:
    categories = 2 if isinstance(model, rb.LogitICC) else 3
    ratings, table = two_raters(categories)

    found = model.em(ratings)

    start = [1.0, 0.5, 0.0, 0.0][: categories + 1]

    def negative(x: Array) -> float:
        return -exact_log_likelihood(table, x)

    best = minimize(negative, start, method="BFGS")
    at = found.parameters
    estimates = [float(at["sd_item"]), float(at["sd_rater"]), -float(at["mean"])]
    if categories == 3:
        estimates.append(float(np.log(at["step"][0])))
    # Only raters, with sixty ratings each, are integrated out by Laplace's approximation.
    assert estimates == pytest.approx([*np.abs(best.x[:2]), *best.x[2:]], abs=0.02)
    assert found.path[-1] == pytest.approx(-best.fun, abs=0.02)
    assert found.converged


def test_likelihood_of_a_graded_study_is_that_of_laplace() -> None:
    ratings, table = two_raters(3)
    sd, cut = np.array([1.4, 0.7]), np.array([-0.4, 1.1])
    item, rater = (codes.ravel() for codes in np.mgrid[:60, :2])
    design = np.hstack([sd[0] * incidence(item), sd[1] * incidence(rater)])
    ends = np.concatenate([[-np.inf], cut, [np.inf]])

    def negative(effect: Array) -> float:
        score = (design @ effect)[:, None]
        p = np.diff(expit(ends - score))[np.arange(120), table.ravel()]
        return float(0.5 * effect @ effect - np.log(p).sum())

    mode = minimize(negative, [0.0] * 62, method="BFGS", options={"gtol": 1e-6})
    score = design @ mode.x
    upper, lower = (expit(ends - score[:, None])[np.arange(120), table.ravel() + k] for k in (1, 0))
    information = upper * (1 - upper) + lower * (1 - lower)  # of logistic ratings, the observed
    hessian = np.eye(62) + design.T @ (information[:, None] * design)
    expected = -mode.fun - 0.5 * np.linalg.slogdet(hessian)[1]

    found = rb.GStudy(family="ordinal").at(ratings, {"cut": cut, "sd": sd})

    assert found.log_likelihood == pytest.approx(expected, abs=1e-6)
    effects = np.repeat(sd, [60, 2]) * mode.x
    assert found.items()["mean"].tolist() == pytest.approx(effects[:60].tolist(), abs=1e-4)
    assert found.raters()["mean"].tolist() == pytest.approx(effects[60:].tolist(), abs=1e-4)


@pytest.mark.slow
def test_estimates_of_a_graded_study_are_at_the_maximum_of_its_likelihood() -> None:
    ratings, _ = two_raters(3)
    model = rb.GStudy(family="ordinal")

    found = model.em(ratings)

    at = {name: x.values for name, x in found.parameters.items()}
    assert found.log_likelihood == pytest.approx(found.path[-1])
    for name, value in at.items():
        for k in range(len(value)):
            for move in (-0.02, 0.02):
                moved = np.where(np.arange(len(value)) == k, value + move, value)
                assert model.at(ratings, at | {name: moved}).log_likelihood < found.log_likelihood
    assert list(found.quantities)[:3] == ["g", "phi", "phi_observed"]
    assert found.quantities.sizes["estimated"] == 2


@pytest.mark.slow
def test_raters_that_do_not_differ_have_a_standard_deviation_of_0() -> None:
    rng = np.random.default_rng(8)
    score = rng.normal(0, 1.5, (60, 1))
    table = rng.random((60, 4)) < expit(score)
    balanced = np.vstack([np.roll(table, k, axis=1) for k in range(4)])  # raters are alike

    found = rb.LogitICC().em(rb.Ratings.from_wide(balanced))

    assert float(found.parameters["sd_rater"]) == 0
    assert found.raters()["mean"].tolist() == [0, 0, 0, 0]


@pytest.mark.slow
def test_pools_of_one_population_have_its_estimates() -> None:
    ratings, _ = two_raters(2)
    frame = pd.concat([ratings.to_frame().assign(pool=pool) for pool in "ab"])
    frame["rater"] = frame["rater"].astype(str) + frame["pool"]
    twice = rb.Ratings.from_frame(frame, pool="pool", scale="ordered")

    found = rb.LogitXCC().em(twice).parameters

    # Both pools have the same ratings: items differ in one way, and estimates are equal.
    assert float(found["factor_item"][1, 0]) == pytest.approx(1.0, abs=1e-3)
    for name in ("sd_item", "sd_rater", "mean"):
        one, other = found[name].values
        assert one == pytest.approx(other, abs=1e-3)


def test_restricted_likelihood_is_for_numbers() -> None:
    with pytest.raises(ValueError, match="reml=True must not be passed for LogitICC"):
        rb.LogitICC().em(two_raters(2)[0], reml=True)


# What the ratings do not tell, and wrong arguments.


@pytest.mark.slow
def test_what_ratings_do_not_tell_is_warned_of() -> None:
    one_rater_of_a_pool = scores(pools=3)

    with pytest.warns(rb.ConvergenceWarning, match="do not tell all parameters"):
        found = rb.GaussianXCC().em(one_rater_of_a_pool, reml=True)

    assert not found.converged


def test_search_that_is_cut_short_is_warned_of() -> None:
    with pytest.warns(rb.ConvergenceWarning, match="not converged after 1 iterations"):
        found = rb.GaussianICC().em(scores(), max_iterations=1)

    assert not found.converged


def test_restricted_likelihood_has_no_priors() -> None:
    with pytest.raises(ValueError, match="reml=True must not be passed with priors=True"):
        rb.GaussianICC().em(scores(), reml=True, priors=True)
