"""What models say of ratings at given parameters."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from scipy.special import expit
from scipy.stats import multivariate_normal, norm

import reliabayes as rb
from reliabayes.arrays import Array, Codes
from reliabayes.families.normal import crossed
from reliabayes.results.point_estimate import PointEstimate
from tests.models.test_models import suitable_ratings

Load = Callable[[str], pd.DataFrame]

OF_NUMBERS = {"mean": 1.2, "sd_item": 0.9, "sd_rater": 0.4, "sd_residual": 0.6}


def incidence(codes: Codes) -> Array:
    return np.asarray(codes[:, None] == np.unique(codes), float)


def scores(pools: int = 1) -> rb.Ratings:
    """Numbers by four raters of six items, some of them missing."""
    rng = np.random.default_rng(4)
    item, rater = (codes.ravel() for codes in np.mgrid[:6, :4])
    rating = rng.normal(0, 1, 6)[item] + rng.normal(1, 0.5, 4)[rater] + rng.normal(0, 0.5, 24)
    frame = pd.DataFrame(
        {"item": item, "rater": rater, "rating": rating, "pool": rater % pools}
    ).drop([3, 11])
    return rb.Ratings.from_frame(frame, pool="pool" if pools > 1 else None)


def votes() -> rb.Ratings:
    """Votes by five raters on eight items."""
    rng = np.random.default_rng(5)
    score = rng.normal(0, 1.5, (8, 1)) + rng.normal(0, 0.7, 5)
    return rb.Ratings.from_wide(rng.random((8, 5)) < expit(score))


# At the parameters of an estimate, everything is as in the estimate.


@pytest.mark.parametrize(
    "model", [rb.TAP(), rb.DawidSkene(), rb.MACE(), rb.Groupthink()], ids=lambda x: x.name()
)
def test_at_the_parameters_of_an_estimate_are_its_results(model: Any) -> None:
    estimate = model.em(suitable_ratings(model))

    found = model.at(estimate.ratings, estimate.parameters)

    assert found.log_likelihood == pytest.approx(estimate.log_likelihood, rel=1e-12)
    xr.testing.assert_allclose(found.quantities, estimate.quantities)
    pd.testing.assert_frame_equal(found.items(), estimate.items())
    pd.testing.assert_frame_equal(found.raters(), estimate.raters())
    assert (found.path, found.converged) == ((), True)
    assert "at given parameters" in repr(found)


def test_published_estimates_of_ptsd_raters_give_the_published_bits(dataset: Load) -> None:
    ratings = rb.Ratings.from_frame(dataset("ptsd"), scale="nominal")
    raters = [f"Rater_{number}" for number in range(1, 11)]
    a = [0.3214, 0.5058, 0.7750, 0.4266, 0.3748, 0.6668, 0.4321, 0.8956, 0.6018, 0.8788]
    p = np.array([0.9898, 0.3286, 0.6625, 0.9643, 0.8279, 0.6895, 0.9264, 0.7708, 0.9029, 1.0])
    given = {
        "prevalence": [1 - 0.6378, 0.6378],
        "a": xr.DataArray(a, {"rater": raters}, ["rater"]),
        "p": xr.DataArray(np.stack([1 - p, p], 1), {"rater": raters}, ["rater", "category"]),
    }

    found = rb.RaterTAP().at(ratings, given)

    # Digits of parameters after the fourth change the likelihood by less than 0.01 nats.
    assert found.log_likelihood == pytest.approx(-2384.5785, abs=0.01)
    assert found.bits_per_rating == pytest.approx(0.57337, abs=1e-5)


# Densities and expected effects against those of a multivariate normal distribution.


def normal_reference(
    ratings: rb.Ratings, mean: Array, covariance: Array, shared: Array
) -> tuple[float, Array]:
    """Log density, and expected effects that have these covariances with the ratings."""
    density = multivariate_normal(mean, covariance).logpdf(ratings.values)
    return float(density), shared @ np.linalg.solve(covariance, ratings.values - mean)


@pytest.mark.parametrize("sd_rater", [0.4, 0.0])
@pytest.mark.parametrize("kind", ["few raters", "many raters", "study"])
def test_gaussian_density_and_effects_are_those_of_a_normal_distribution(
    sd_rater: float, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ratings, given = scores(), OF_NUMBERS | {"sd_rater": sd_rater}
    mean, *sds = given.values()
    items, raters = incidence(ratings.item), incidence(ratings.rater)
    covariance = sds[0] ** 2 * items @ items.T + sds[1] ** 2 * raters @ raters.T
    covariance += sds[2] ** 2 * np.eye(len(ratings))
    shared = np.vstack([sds[0] ** 2 * items.T, sds[1] ** 2 * raters.T])
    density, effects = normal_reference(ratings, np.full(22, mean), covariance, shared)

    if kind == "many raters":
        monkeypatch.setattr(crossed, "integrates_out", lambda design: False)
    if kind == "study":
        found: PointEstimate = rb.GStudy().at(ratings, {"mean": mean, "sd": sds})
    else:
        found = rb.GaussianICC().at(ratings, given)

    assert found.log_likelihood == pytest.approx(density, abs=1e-7)
    assert found.bits_per_rating == pytest.approx(-density / 22 / np.log(2))
    assert found.items()["mean"].tolist() == pytest.approx(effects[:6].tolist(), abs=1e-7)
    assert found.raters()["mean"].tolist() == pytest.approx(effects[6:].tolist(), abs=1e-7)


def test_density_and_effects_of_pools_are_those_of_a_normal_distribution() -> None:
    ratings, rho = scores(pools=2), 0.6
    factor = np.array([[1, 0], [rho, np.sqrt(1 - rho**2)]])
    given = {
        "mean": [1.0, 1.5], "sd_item": [0.9, 0.7], "sd_rater": [0.3, 0.5], "sd_residual": [0.6],
        "factor_item": factor,
    }  # fmt: skip
    pool = np.arange(4) % 2
    of_rating = pool[ratings.rater]
    root = np.array([0.9, 0.7])[:, None] * factor
    between = root @ root.T
    same_item = ratings.item[:, None] == ratings.item
    covariance = same_item * between[of_rating[:, None], of_rating] + 0.36 * np.eye(22)
    raters = incidence(ratings.rater)
    sd_rater = np.array([0.3, 0.5])[pool]
    covariance += raters @ np.diag(sd_rater**2) @ raters.T
    cells = [(i, g) for i in range(6) for g in range(2)]
    of_items = [(ratings.item == i) * between[g, of_rating] for i, g in cells]
    shared = np.vstack([*of_items, *(sd_rater[:, None] ** 2 * raters.T)])
    mean = np.array([1.0, 1.5])[of_rating]
    density, effects = normal_reference(ratings, mean, covariance, shared)

    found = rb.GaussianXCC().at(ratings, given)

    assert found.log_likelihood == pytest.approx(density, abs=1e-7)
    assert found.items()["mean"].tolist() == pytest.approx(effects[:12].tolist(), abs=1e-7)
    assert found.raters()["mean"].tolist() == pytest.approx(effects[12:].tolist(), abs=1e-7)


def test_votes_have_the_probabilities_and_effects_of_sums_over_a_fine_grid() -> None:
    ratings = votes()
    level = np.array([-0.5, 0.2, 0.0, 0.9, -1.1])
    given = {"mean": 0.1, "sd_item": 1.3, "sd_rater": 0.8, "level": level}
    effect = np.linspace(-12, 12, 4001)
    weight = norm.pdf(effect, scale=1.3) * (effect[1] - effect[0])
    p = expit(effect[:, None] + level)
    table = np.reshape(ratings.category, (8, 5))  # complete, item by item
    joint = np.where(table[:, None], p, 1 - p).prod(axis=2) * weight

    found = rb.LogitICC().at(ratings, given)

    assert found.log_likelihood == pytest.approx(float(np.log(joint.sum(axis=1)).sum()), abs=1e-6)
    expected = joint @ effect / joint.sum(axis=1)
    assert found.items()["mean"].tolist() == pytest.approx(expected.tolist(), abs=1e-6)
    assert found.raters()["mean"].tolist() == pytest.approx((level - 0.1).tolist())
    with pytest.raises(AttributeError, match="LogitICC has no true categories"):
        found.category_probabilities()


@pytest.mark.parametrize("pools", [2, 3])
def test_pools_that_agree_completely_are_as_one_population(pools: int) -> None:
    frame = votes().to_frame()
    frame["pool"] = frame["rater"] % pools
    ratings = rb.Ratings.from_frame(frame, pool="pool")
    level = np.array([-0.5, 0.2, 0.0, 0.9, -1.1])
    one = rb.LogitICC().at(votes(), {"mean": 0, "sd_item": 1.3, "sd_rater": 1, "level": level})
    factor = np.zeros((pools, pools))
    factor[:, 0] = 1
    same = {"mean": 0, "sd_item": 1.3, "sd_rater": 1, "level": level, "factor_item": factor}

    found = rb.LogitXCC(nodes=None if pools == 2 else 25).at(ratings, same)

    assert found.log_likelihood == pytest.approx(one.log_likelihood, abs=1e-4)
    of_pools = found.items()["mean"].unstack("pool")
    tolerance = 1e-4 if pools == 2 else 0.15  # modes instead of means
    for pool in range(pools):
        assert of_pools[pool].tolist() == pytest.approx(one.items()["mean"].tolist(), abs=tolerance)


# Parameters are taken by the user's ids.


def test_raters_are_found_by_their_ids_in_ratings_of_some_of_them() -> None:
    frame = votes().to_frame().assign(rater=lambda x: x["rater"].map("rater {}".format))
    ratings = rb.Ratings.from_frame(frame)
    some = ratings.subset(raters=["rater 4", "rater 1", "rater 2"])
    level = xr.DataArray(
        [0.9, -0.5, 0.2, 0.0, -1.1],
        {"rater": [f"rater {number}" for number in (3, 0, 1, 2, 4)]},
        ["rater"],
    )
    given = {"mean": 0.1, "sd_item": 1.3, "sd_rater": 0.8}

    found = rb.LogitICC().at(some, given | {"level": level})

    by_hand = rb.LogitICC().at(some, given | {"level": [0.2, 0.0, -1.1]})
    assert found.log_likelihood == by_hand.log_likelihood
    xr.testing.assert_identical(found.parameters, by_hand.parameters)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"level": None}, "parameters: LogitICC also needs level by rater. Pass all"),
        ({"slope": 1.0}, "parameters: LogitICC has no slope; its parameters are sd_item,"),
        ({"level": [0, 1]}, r"level by rater, must have shape \(5,\); found \(2,\)"),
        ({"sd_item": -1.0}, "sd_item must be finite and not below 0; found -1"),
        ({"mean": np.nan}, "mean must be finite; found nan"),
        ({"mean": "high"}, r"mean must be numbers of shape \(\); found 'high'"),
        (
            {"level": xr.DataArray([0, 1], {"rater": [0, 1]}, ["rater"])},
            "level must have a value for each rater of the ratings; found none for 2, 3 and 4",
        ),
        (
            {"level": xr.DataArray(np.ones(5), dims=["item"])},
            r"level must have the dimensions \('rater',\); found \('item',\)",
        ),
    ],
)
def test_unsuitable_parameters_are_refused(changes: dict[str, Any], message: str) -> None:
    given = {"mean": 0.1, "sd_item": 1.3, "sd_rater": 0.8, "level": np.zeros(5)} | changes

    with pytest.raises(ValueError, match=message):
        rb.LogitICC().at(votes(), {name: x for name, x in given.items() if x is not None})


@pytest.mark.parametrize(
    ("prevalence", "message"),
    [([0.5, 0.4], "prevalence must be probabilities that sum to 1"), ([1.5, -0.5], "found")],
)
def test_probabilities_must_sum_to_1(prevalence: list[float], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        rb.TAP().at(votes(), {"prevalence": prevalence, "a": 0.5, "p": [0.5, 0.5]})


def test_factor_of_a_correlation_has_rows_of_length_1() -> None:
    given: dict[str, Any] = {"mean": 0, "sd_item": 1, "sd_rater": 1, "sd_residual": 1}

    with pytest.raises(ValueError, match="lower triangular, rows of length 1"):
        rb.GaussianXCC().at(scores(pools=2), given | {"factor_item": [[1, 0], [0.6, 0.6]]})
