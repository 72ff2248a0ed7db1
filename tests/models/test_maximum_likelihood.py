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
from scipy.stats import multivariate_normal

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


@pytest.mark.slow
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


def test_estimates_of_pools_maximise_the_density_of_a_normal_distribution() -> None:
    ratings = scores(pools=2)

    found = rb.GaussianXCC().em(ratings)

    start = np.array([0.0, 1.0, 0, 0, -1, -1, -1, 0.3])
    best = minimize(lambda x: -density_of_pools(ratings, x), start, method="BFGS")
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
    start = model.start(problem).point
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


# What the ratings do not tell, and wrong arguments.


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
