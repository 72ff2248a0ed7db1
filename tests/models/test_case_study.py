"""Case study: does a new rating tool bring generalists closer to experts?"""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb

POOLS = ("control", "expert", "treatment")  # the old tool, the reference, the new tool
RATERS, PER_AD = 12, 5  # raters in each pool, and raters of each ad in a pool


@pytest.mark.posteriors
def test_new_tool_brings_generalists_closer_to_experts_though_they_agree_less() -> None:
    ratings = experiment(ads=350, seed=1)

    fit = rb.LogitXCC().fit(ratings, seed=1)

    closer = fit.contrast("xcc", ("treatment", "expert"), ("control", "expert")).summary()
    reliable = fit.contrast("icc", "control", "treatment").summary().loc["icc"]
    rate = fit.contrast("rate", "control", "treatment").summary().loc["rate"]
    assert reliable["pr_above_0"] > 0.99
    assert rate["pr_above_0"] > 0.95
    normalized, unnormalized = closer.loc["normalized_xcc"], closer.loc["unnormalized_xcc"]
    assert normalized["pr_above_0"] > 0.99
    assert normalized["lower_90"] < 0.9 - 0.65 < normalized["upper_90"]
    assert 0 < unnormalized["mean"] < 0.5 * normalized["mean"]
    assert unnormalized["lower_90"] < single_score_difference() < unnormalized["upper_90"]
    found = fit.diagnostics()
    assert found.divergences == 0
    assert found.r_hat < 1.01


SD_ITEM = np.array([2.6, 2.4, 1.7])
SD_RATER = np.array([0.5, 0.4, 0.9])
MEAN = np.array([0.6, -0.6, -0.4])
CORRELATION = np.array([[1, 0.65, 0.6], [0.65, 1, 0.9], [0.6, 0.9, 1]])


def experiment(ads: int, seed: int) -> rb.Ratings:
    """Binary ratings of ads, each by several raters of each pool."""
    rng = np.random.default_rng(seed)
    design = pd.DataFrame(
        [
            (ad, f"{pool} {rater}", pool)
            for pool in POOLS
            for ad in range(ads)
            for rater in rng.choice(RATERS, PER_AD, replace=False)
        ],
        columns=["item", "rater", "pool"],
    )
    parameters = {
        "sd_item": SD_ITEM,
        "sd_rater": SD_RATER,
        "mean": MEAN,
        "factor_item": np.linalg.cholesky(CORRELATION),
    }
    return rb.LogitXCC().simulate(design, rng, parameters=parameters)


def single_score_difference() -> float:
    """True increase of the correlation of single latent scores with experts' under the new tool."""
    icc = SD_ITEM**2 / (SD_ITEM**2 + SD_RATER**2 + np.pi**2 / 3)
    control, expert, treatment = np.sqrt(icc)
    return float(expert * (CORRELATION[1, 2] * treatment - CORRELATION[0, 1] * control))
