"""Posteriors of several pools of raters are calibrated."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest

import reliabayes as rb
from reliabayes import GaussianXCC, Normal, Ratings
from reliabayes.inference import correlation
from reliabayes.models import gaussian_xcc
from reliabayes.models.ordered_model import OrderedModel
from tests.calibration.categories import SDS, annotated
from tests.calibration.numbers import GAUSSIAN, gaussian_prior_draw, pooled_design
from tests.calibration.ranks import FALSE_ALARMS, Parameters, calibrate

pytestmark = pytest.mark.calibration

XCC = {
    "shared": GaussianXCC(**vars(GAUSSIAN)),
    "per_pool": GaussianXCC(residual="per_pool", **vars(GAUSSIAN)),
    "lkj 3": GaussianXCC(prior_lkj=3, **vars(GAUSSIAN)),
}


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


@pytest.mark.parametrize("name", XCC)
def test_pooled_posteriors_of_crowds_are_calibrated(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(gaussian_xcc, "integrates_out", lambda design: False)
    simulate = partial(pooled, XCC[name], sparse_pools(120, 40))

    found = calibrate(XCC[name], simulate, n=200, seed=9)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


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


# More than a quarter of the correlations under this prior exceed 0.98 in absolute value.
NEAR_ONE: dict[str, tuple[OrderedModel, int]] = {
    "logit-xcc": (rb.LogitXCC(prior_mean=Normal(0, 1), prior_lkj=0.3, **SDS), 2),
    "ordinal-xcc": (rb.OrdinalXCC(prior_cut=Normal(0, 1.5), prior_lkj=0.3, **SDS), 3),
}


@pytest.mark.parametrize("name", NEAR_ONE)
def test_posteriors_of_correlations_near_one_are_calibrated(name: str) -> None:
    model, n_categories = NEAR_ONE[name]

    simulate = partial(annotated, model, n_categories, pooled_design(20, 2))
    found = calibrate(model, simulate, n=100, seed=9)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
