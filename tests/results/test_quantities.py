"""Quantities follow the textbook formulas for numbers, arrays and labelled draws."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr
from hypothesis import given
from hypothesis import strategies as st

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.results.quantities import (
    accuracy,
    bits_per_rating,
    entropy,
    family_variance,
    icc,
    icc_consistency,
    icc_k,
    informativeness,
    labeler_icc,
    normalized_xcc,
    random_share,
    raters_needed,
    unnormalized_xcc,
)

proportions = st.floats(1e-6, 1 - 1e-6)
sds = st.floats(1e-3, 1e3)
sizes = st.integers(2, 6)
seeds = st.integers(0, 2**16)


def test_icc_of_shrout_and_fleiss_matches_published_values() -> None:
    targets, judges, error = 11.24167, 32.48611, 1.01944  # mean squares of Table 3
    variances = [(targets - error) / 4, (judges - error) / 6, error]

    single = icc(*np.sqrt(variances))

    assert single == pytest.approx(0.2898, abs=5e-5)
    assert icc_k(single, k=4) == pytest.approx(0.6201, abs=5e-5)
    assert icc_consistency(*np.sqrt(variances[::2])) == pytest.approx(0.7148, abs=5e-5)


@given(item=sds, rater=sds, residual=sds)
def test_proportions_of_variance_sum_to_one(item: float, rater: float, residual: float) -> None:
    proportions = [icc(*order) for order in ((item, rater, residual), (residual, rater, item))]

    total = sum(proportions) + labeler_icc(item, rater, residual)

    assert total == pytest.approx(1)


@given(slope=st.floats(-3, 3), sd=sds, own=sds)
def test_family_variance_is_what_is_left_after_regression_on_people(
    slope: float, sd: float, own: float
) -> None:
    of_family = math.hypot(slope * sd, own)

    found = family_variance(of_family, slope * sd / of_family)

    assert found == pytest.approx(own**2, rel=1e-6, abs=1e-12 * of_family**2)


@pytest.mark.proof
@pytest.mark.parametrize(
    ("model", "own", "options"),
    [
        (rb.GaussianXCC(), {"sd_residual": [0.7]}, {}),
        (rb.OrdinalXCC(), {"step": np.full((2, 2), 2.0)}, {"categories": range(4)}),
    ],
)
def test_family_variance_of_fits_to_simulated_pools_is_the_true_one(
    model: rb.RatingModel, own: dict[str, Any], options: dict[str, Any]
) -> None:
    rows = [(item, f"{p} {at}", p) for item in range(300) for p in "ab" for at in range(3)]
    design = pd.DataFrame(rows, columns=["item", "rater", "pool"])
    effects = {"sd_item": [2.0, 1.8], "factor_item": [[1, 0], [0.8, 0.6]], "sd_rater": [0.3, 0.3]}
    parameters = {"mean": [0.0, 0.0], **effects, **own}
    ratings = model.simulate(design, np.random.default_rng(1), parameters=parameters, **options)

    found = model.fit(ratings, seed=1, progress=False).quantities

    correlation = found["normalized_xcc"].sel(pair="a, b")
    draws = family_variance(found["sd_item"].sel(pool="b"), correlation)
    assert float(draws.mean()) == pytest.approx((1.8 * 0.6) ** 2, abs=3 * float(draws.std()))


@given(correlation=st.floats(-1, 1), one=proportions, other=proportions)
def test_normalized_xcc_inverts_unnormalized_xcc(
    correlation: float, one: float, other: float
) -> None:
    attenuated = unnormalized_xcc(correlation, one, other)

    assert normalized_xcc(attenuated, one, other) == pytest.approx(correlation)
    assert abs(attenuated) <= max(one, other)


# Spearman-Brown on WordSim-353, published for 1, 2, 3, 5, 10 and 13 raters.
@pytest.mark.parametrize(
    ("k", "expected"),
    [(1, 0.5905), (2, 0.7425), (3, 0.8122), (5, 0.8782), (10, 0.9351), (13, 0.9494)],
)
def test_reliability_of_means_matches_published_values(k: int, expected: float) -> None:
    assert icc_k(0.5905, k) == pytest.approx(expected, abs=1e-4)


@given(single=proportions, target=proportions)
def test_raters_needed_is_the_smallest_number_that_reaches_the_target(
    single: float, target: float
) -> None:
    k = float(raters_needed(single, target))

    reached, with_one_less = icc_k(single, k), icc_k(single, max(k - 1, 1))
    assert k == int(k)
    assert reached >= target * (1 - 1e-9)
    assert k == 1 or with_one_less < target * (1 + 1e-9)


def test_raters_needed_is_infinite_at_an_icc_of_zero() -> None:
    assert raters_needed(0.0, 0.8) == math.inf


def test_labelled_draws_keep_their_labels() -> None:
    sd = xr.DataArray(np.ones((2, 3)), dims=("chain", "draw"), coords={"chain": [0, 1]})

    result = icc(sd, sd, sd)

    assert result.dims == ("chain", "draw")
    assert result.values == pytest.approx(np.full((2, 3), 1 / 3))


@pytest.mark.parametrize("k", [0, -1, math.nan])
def test_fewer_than_one_rating_is_refused(k: float) -> None:
    with pytest.raises(ValueError, match="k must be at least 1, not"):
        icc_k(0.5, k)


@pytest.mark.parametrize("reliability", [0, 1, 80])
def test_impossible_reliability_is_refused(reliability: float) -> None:
    with pytest.raises(ValueError, match="reliability must lie strictly between 0 and 1"):
        raters_needed(0.5, reliability)


@given(size=sizes, seed=seeds)
def test_informativeness_is_mutual_information(size: int, seed: int) -> None:
    prevalence, confusion = distributions(size, seed)
    joint = prevalence[:, None] * confusion

    bits = informativeness(prevalence, confusion)

    marginals = entropy(joint.sum(axis=0)) + entropy(joint.sum(axis=1))
    assert bits == pytest.approx(marginals - entropy(joint.ravel()), abs=1e-12)


@given(size=sizes, seed=seeds)
def test_informativeness_ignores_the_names_of_rated_categories(size: int, seed: int) -> None:
    prevalence, confusion = distributions(size, seed)

    renamed = informativeness(prevalence, confusion[:, ::-1])

    assert renamed == pytest.approx(float(informativeness(prevalence, confusion)), abs=1e-12)


@given(size=sizes, seed=seeds)
def test_ratings_independent_of_the_truth_have_no_information(size: int, seed: int) -> None:
    prevalence, confusion = distributions(size, seed)
    alike = np.tile(confusion[0], (size, 1))

    assert informativeness(prevalence, alike) == pytest.approx(0, abs=1e-12)
    assert random_share(alike) == pytest.approx(1)


@pytest.mark.parametrize("size", [2, 3, 8])
def test_perfect_ratings_have_all_information(size: int) -> None:
    even, identity = np.full(size, 1 / size), np.eye(size)

    assert informativeness(even, identity) == pytest.approx(math.log2(size))
    assert entropy(even) == pytest.approx(math.log2(size))
    assert accuracy(even, identity) == pytest.approx(1)
    assert random_share(identity) == 0


def test_categories_that_never_occur_change_nothing() -> None:
    prevalence, confusion = np.array([0.4, 0.6]), np.array([[0.9, 0.1], [0.3, 0.7]])
    wide, padded = np.array([0.4, 0.6, 0.0]), np.eye(3)
    padded[:2, :2] = confusion

    assert informativeness(wide, padded) == informativeness(prevalence, confusion)
    assert accuracy(wide, padded) == accuracy(prevalence, confusion)
    assert entropy(wide) == entropy(prevalence)


@given(size=sizes, seed=seeds, known=proportions)
def test_random_share_is_the_proportion_of_guesses(size: int, seed: int, known: float) -> None:
    guess, _ = distributions(size, seed)
    prevalence = guess[::-1]
    confusion = known * np.eye(size) + (1 - known) * guess

    assert random_share(confusion) == pytest.approx(1 - known)
    assert accuracy(prevalence, confusion) == pytest.approx(
        known + (1 - known) * float(prevalence @ guess)
    )


# Published for t-a-p with these t, a and p: entropy of a rating given the true category.
@pytest.mark.parametrize(
    ("t", "a", "p", "bits"),
    [(0.5, 0.7, 0.5, 0.60984), (0.7, 0.7, 0.7, 0.52797), (0.5, 0.5, 0.5, 0.81128)],
)
def test_conditional_entropy_of_ratings_matches_published_values(
    t: float, a: float, p: float, bits: float
) -> None:
    prevalence = np.array([1 - t, t])
    confusion = a * np.eye(2) + (1 - a) * np.array([1 - p, p])

    by_truth = entropy(confusion)
    of_rating = entropy(prevalence @ confusion)

    assert prevalence @ by_truth == pytest.approx(bits, abs=5e-6)
    assert of_rating - informativeness(prevalence, confusion) == pytest.approx(bits, abs=5e-6)


def test_fair_coins_cost_one_bit_per_toss() -> None:
    log_likelihood = xr.DataArray(np.full((2, 3), 10 * math.log(0.5)), dims=("chain", "draw"))

    bits = bits_per_rating(log_likelihood, 10)

    assert bits.dims == ("chain", "draw")
    assert bits.values == pytest.approx(np.ones((2, 3)))


def test_quantities_are_computed_draw_by_draw() -> None:
    pairs = [distributions(3, seed) for seed in range(6)]
    prevalence = np.array([pair[0] for pair in pairs]).reshape(2, 3, 3)
    confusion = np.array([pair[1] for pair in pairs]).reshape(2, 3, 3, 3)

    for quantity in (accuracy, informativeness):
        each = [float(quantity(*pair)) for pair in pairs]
        assert quantity(prevalence, confusion).ravel() == pytest.approx(np.array(each))
    each = [float(random_share(pair[1])) for pair in pairs]
    assert random_share(confusion).ravel() == pytest.approx(np.array(each))


def distributions(size: int, seed: int) -> tuple[Array, Array]:
    """A prevalence (K,) and a confusion matrix (K, K)."""
    rng = np.random.default_rng(seed)
    return rng.dirichlet(np.ones(size)), rng.dirichlet(np.ones(size), size)
