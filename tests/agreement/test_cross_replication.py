"""kappa_x agrees with the models of two pools where both have the same estimand."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.inference import correlation
from reliabayes.models.ordered_model import OrderedModel
from reliabayes.results.posterior import Posterior

ITEMS, RATERS, SD_RATER = 6000, 150, 0.3  # number of raters per pool
MODELS: dict[str, tuple[OrderedModel, int]] = {
    "binary": (rb.LogitXCC(), 2),
    "ordered": (rb.OrdinalXCC(), 4),
}


@pytest.mark.parametrize("name", MODELS)
def test_kappa_x_estimates_the_observed_xcc_of_pools_with_equal_distributions(name: str) -> None:
    ratings = simulated(name, mean=(0.3, 0.3))
    expected = quantities(name, ratings, mean=(0.3, 0.3))

    found = rb.agreement.kappa_x(ratings, "squared")
    normalized = rb.agreement.normalized_kappa_x(ratings, "squared")

    assert found.value == pytest.approx(expected["unnormalized_xcc_observed"], abs=4 * error(found))
    assert normalized.value == pytest.approx(
        expected["normalized_xcc_observed"], abs=4 * error(normalized)
    )


@pytest.mark.parametrize("name", MODELS)
def test_kappa_x_is_lower_if_the_distributions_of_the_pools_differ(name: str) -> None:
    ratings = simulated(name, mean=(-0.9, 1.3))
    expected = quantities(name, ratings, mean=(-0.9, 1.3))
    one, other = (ratings.subset(pools=[pool]).values for pool in ratings.pools)
    mean_square = one.var() + other.var() + (one.mean() - other.mean()) ** 2

    found = rb.agreement.kappa_x(ratings, "squared")

    covariance = expected["unnormalized_xcc_observed"] * one.std() * other.std()
    assert found.value == pytest.approx(2 * covariance / mean_square, abs=4 * error(found))
    assert found.value < expected["unnormalized_xcc_observed"] - 4 * error(found)


@pytest.mark.parametrize("name", MODELS)
def test_alpha_estimates_the_observed_icc(name: str) -> None:
    ratings = simulated(name, mean=(0.3, 0.3))
    expected = quantities(name, ratings, mean=(0.3, 0.3))

    for place, pool in enumerate(ratings.pools):
        alpha = rb.agreement.krippendorff_alpha(ratings.subset(pools=[pool]), "interval")
        assert alpha.value == pytest.approx(expected["icc_observed"][place], abs=4 * error(alpha))


def error(coefficient: rb.agreement.Coefficient) -> float:
    """Standard error from items and from raters; a shift in severity moves rates by a quarter."""
    by_raters = SD_RATER / RATERS**0.5 / 4
    return float(np.hypot(coefficient.standard_error(method="analytic"), by_raters))


def parameters(name: str, mean: tuple[float, float]) -> dict[str, Any]:
    found = {
        "sd_item": np.array([2.0, 1.5]),
        "sd_rater": np.full(2, SD_RATER),
        "mean": np.array(mean),
        "factor_item": correlation.factor(np.arctanh([0.8]), 2),
    }
    return found if name == "binary" else {**found, "step": np.full((2, 2), 1.2)}


def simulated(name: str, mean: tuple[float, float]) -> rb.Ratings:
    """Three ratings of each item by each pool, from different raters for different items."""
    model, n_categories = MODELS[name]
    item, place = np.mgrid[:ITEMS, :6].reshape(2, -1)
    rater = 3 * ((item * 7 + item // 50) % (RATERS // 3)) + place % 3 + RATERS * (place // 3)
    design = pd.DataFrame({"item": item, "rater": rater, "pool": place // 3})
    rng = np.random.default_rng(1)
    given = parameters(name, mean)
    return model.simulate(design, rng, categories=range(n_categories), parameters=given)


def quantities(name: str, ratings: rb.Ratings, mean: tuple[float, float]) -> dict[str, Any]:
    """Quantities of the model at the parameters from which the ratings were simulated."""
    model, _ = MODELS[name]
    point = {**parameters(name, mean), "level": np.zeros(2 * RATERS), "log_likelihood": 0.0}
    one_draw = {key: np.asarray(x, float)[None, None] for key, x in point.items()}
    problem = model.problem(ratings)
    posterior = Posterior(model.labelled(one_draw, problem), ratings, problem)
    found = model.quantities(posterior).squeeze()
    return {str(key): values.values for key, values in found.items()}
