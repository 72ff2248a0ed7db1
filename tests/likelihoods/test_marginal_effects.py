"""The fast density of normal effects, against the one with a dense matrix for each design."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
from scipy.stats import multivariate_normal

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.normal_effects import NormalEffects
from reliabayes.inference.time_limit import within_timeout
from reliabayes.likelihoods import marginal_effects
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from tests.facets.test_effects import crossed, rated
from tests.facets.test_normal_effects import (
    covariance,
    everywhere,
    ratings_of,
    variances,
    with_holes,
)


def marginal(name: str, mean: float, sd: float) -> tuple[MarginalEffects, Effects, Array]:
    effects, values = ratings_of(name)
    return MarginalEffects.of(EffectSums.of(effects, values), mean, sd), effects, values


@everywhere
def test_density_and_mean_equal_those_of_a_dense_normal(name: str) -> None:
    found, effects, values = marginal(name, 2.5, 0.7)
    variance = variances(effects)
    dense = covariance(effects, variance)

    at = found.at(variance)

    with_mean = dense + 0.7**2
    expected = multivariate_normal(np.full(len(values), 2.5), with_mean).logpdf(values)
    assert at.log_density == pytest.approx(expected, rel=1e-10, abs=1e-10)
    weight = np.linalg.solve(dense, np.ones(len(values)))
    precision = weight.sum() + 0.7**-2
    expected_mean = (weight @ values + 2.5 * 0.7**-2) / precision
    assert (at.mean, at.sd_mean) == pytest.approx((expected_mean, precision**-0.5))


@everywhere
@pytest.mark.parametrize("sd", [math.inf, 1.3])
def test_density_equals_the_other_algorithm(name: str, sd: float) -> None:
    found, effects, values = marginal(name, 3.0, sd)
    other = NormalEffects.of(effects, values)
    for seed in range(3):
        variance = variances(effects, seed) ** 3
        expected = other.log_density(variance, 3.0, sd)
        assert found.at(variance).log_density == pytest.approx(expected, rel=1e-9)


def study(items: int, raters: int, days: int) -> EffectSums:
    frame = with_holes(crossed(item=items, rater=raters, day=days), 0.9)
    ratings = rated(frame, ["day"])
    effects = Effects.of(ratings, MeasurementDesign.parse("item x rater x day"))
    return EffectSums.of(effects, ratings.values)


def test_effects_of_items_are_blocks_where_items_are_many() -> None:
    sums = study(80, 3, 2)
    found = MarginalEffects.of(sums, 0.0, 1.0)
    assert found.rest.first == 3  # item x rater
    assert len(found.blocks.members) == 80 + 80 * 2  # items, and items on days
    variance = np.array([1.0, 0.5, 0.3, 0.2, 0.4, 0.1, 0.6])
    expected = NormalEffects(sums).log_density(variance, 0.0, 1.0)
    assert found.at(variance).log_density == pytest.approx(expected, rel=1e-10)


def test_time_is_looked_at_while_sums_and_densities_are_computed() -> None:
    sums = study(8, 3, 2)
    found = MarginalEffects.of(sums, 0.0, 1.0)
    steps: list[Callable[[], object]] = [
        lambda: MarginalEffects.of(sums, 0.0, 1.0),
        lambda: found.at(np.ones(7)),
    ]

    @within_timeout
    def fitted(step: Callable[[], object], *, timeout: float) -> object:
        return step()

    for step in steps:
        assert fitted(step, timeout=60)
        with pytest.raises(rb.SamplingError, match="longer than its timeout"):
            fitted(step, timeout=1e-9)


@pytest.mark.parametrize("limit", ["MAX_PAIRS", "MAX_CROSSED", "MAX_REST"])
def test_what_does_not_fit_into_memory_is_refused(
    limit: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(marginal_effects, limit, 1)
    with pytest.raises(rb.RatingsError, match="must fit into memory"):
        MarginalEffects.of(study(80, 3, 2), 0.0, 1.0)
