"""Default priors cover without bias, over the designs of docs/priors.md."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from benchmarks import facet_priors, pool_priors, prevalence_priors, score_priors
from benchmarks.priors import CANDIDATES, CELL, DEFAULT, Sums, posteriors, study

CHOSEN = {DEFAULT: CANDIDATES[DEFAULT]}


@pytest.mark.slow
def test_grid_of_the_study_gives_the_posterior_of_the_package() -> None:
    rng = np.random.default_rng(3)
    item, rater = 0.7 * rng.standard_normal((30, 1)), 0.4 * rng.standard_normal((1, 3))
    wide = item + rater + 0.6 * rng.standard_normal((30, 3))
    deviation = wide - wide.mean()
    items, raters = deviation.mean(axis=1), deviation.mean(axis=0)
    between_items, between_raters = 3 * items @ items, 30 * raters @ raters
    residual = float((deviation**2).sum() - between_items - between_raters)
    sums = Sums(30, 3, between_items, between_raters, residual)

    (mean, median, lower, upper) = posteriors(sums, CHOSEN)[DEFAULT]
    fit = rb.GaussianICC().fit(rb.Ratings.from_wide(wide), seed=1)

    row = fit.summary().loc["icc"]
    # Monte Carlo error of 4,000 draws, and the spacing of the grid
    assert [mean, median] == pytest.approx([row["mean"], row["median"]], abs=0.015)
    assert [lower, upper] == pytest.approx([row["lower_90"], row["upper_90"]], abs=0.03)


@pytest.mark.calibration
def test_default_covers_with_little_bias_in_every_kind_of_design() -> None:
    table = pd.DataFrame(study(40, CHOSEN, seed=2))

    for margin in CELL:
        by_level = table.groupby(margin)[["covered", "median"]].mean()
        # 40 data sets in each of 60 cells or more: a standard error of 0.6 points
        assert by_level["covered"].between(0.87, 0.96).all(), by_level
        assert (by_level["median"].abs() < 0.03).all(), by_level


def test_priors_of_the_study_of_facets_are_those_of_the_package() -> None:
    cells = pd.MultiIndex.from_product([range(4), range(3), range(2)]).to_frame(index=False)
    table = cells.set_axis(["item", "rater", "occasion"], axis=1)
    table["rating"] = np.random.default_rng(1).standard_normal(len(table))
    ratings = rb.Ratings.from_frame(table, facets=["occasion"])
    model = rb.GStudy(design="item x rater x occasion")

    found = [prior.stan for prior in model.priors(ratings)["sd"].values()]

    sd = np.array([ratings.values.std()])
    chosen = facet_priors.CANDIDATES[facet_priors.DEFAULT]
    assert np.array(found) == pytest.approx(facet_priors.priors_of(chosen, sd)[0], rel=0.05)


@pytest.mark.calibration
def test_default_prior_of_facets_covers_reliability_and_errors() -> None:
    table = facet_priors.study(10, [facet_priors.DEFAULT], seed=2)

    for margin in facet_priors.CELL:
        covered = table.groupby(["quantity", margin])["covered"].mean()
        # 200 data sets of each or more: a standard error of 2 points
        assert covered.between(0.83, 0.97).all(), covered


@pytest.mark.calibration
def test_defaults_of_models_of_scores_cover_latent_iccs() -> None:
    table = score_priors.study(10, seed=2)

    by_icc = table.astype({"covered": float}).groupby(["model", "icc"])[["covered", "bias"]].mean()
    # 80 data sets of each: a standard error of 3.4 points
    assert by_icc["covered"].between(0.8, 1).all(), by_icc
    assert (by_icc["bias"].abs() < 0.06).all(), by_icc


@pytest.mark.calibration
def test_default_prior_of_correlations_between_pools_covers() -> None:
    table = pool_priors.study("GaussianXCC", 40, seed=2, lkjs=(1.0,))

    covered = table.astype({"covered": float}).groupby(["quantity", "items", "rho"])["covered"]
    # 40 data sets of each: a standard error of 4.7 points
    assert covered.mean().between(0.75, 1).all(), covered.mean()
    assert 0.84 < covered.mean().mean() < 0.96, covered.mean()


@pytest.mark.calibration
def test_default_prior_of_prevalence_covers_many_categories_of_skewed_frequencies() -> None:
    found = prevalence_priors.study(20, 6, concentrations=(1.0,)).mean(numeric_only=True)

    # 20 categories in 6 data sets: a standard error of 2.7 points, or more as they depend
    assert 0.8 < found["coverage"] < 0.98
    assert found["right"] > 0.97
