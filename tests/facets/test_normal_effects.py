"""The likelihood of normal effects, against dense matrices and finite differences."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
import pytest
from scipy.stats import multivariate_normal

import reliabayes as rb
from reliabayes.arrays import Array
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.effect_blocks import EffectBlocks
from reliabayes.facets.normal_effects import NormalEffects
from tests.designs import slopes
from tests.facets.test_effects import crossed, rated


def with_holes(frame: pd.DataFrame, share: float = 0.6) -> pd.DataFrame:
    return frame.sample(frac=share, random_state=4)


DESIGNS = {
    "crossed": (crossed(item=5, rater=3, day=2), "item x rater x day"),
    "replicated": (crossed(3, item=4, rater=3, day=2), "item x rater x day"),
    "nested": (crossed(item=5, rater=2, day=3), "item x (rater:day)"),
    "objects nested": (crossed(item=3, rater=3, day=3), "(item:day) x rater"),
    "holes": (with_holes(crossed(2, item=6, rater=4, day=3)), "item x rater x day"),
    "holes, nested": (with_holes(crossed(2, item=6, rater=2, day=3)), "item x (rater:day)"),
    "two facets": (with_holes(crossed(item=9, rater=5)), "item x rater"),
    "one facet": (with_holes(crossed(item=9, rater=5)), "item"),
}
everywhere = pytest.mark.parametrize("name", DESIGNS)


def ratings_of(name: str) -> tuple[Effects, Array]:
    frame, design = DESIGNS[name]
    ratings = rated(frame, ["day"] if "day" in frame else [])
    return Effects.of(ratings, MeasurementDesign.parse(design)), ratings.values + 3


def variances(effects: Effects, seed: int = 2) -> Array:
    return np.random.default_rng(seed).uniform(0.2, 2, len(effects.sources))


def covariance(effects: Effects, variance: Array) -> Array:
    found = variance[-1] * np.eye(len(effects.level[0]))
    for level, each in zip(effects.level, variance[:-1], strict=True):
        found += each * (level[:, None] == level)
    return np.asarray(found)


@everywhere
def test_density_equals_that_of_a_dense_normal(name: str) -> None:
    effects, values = ratings_of(name)
    variance = variances(effects)
    dense = covariance(effects, variance)

    found = NormalEffects.of(effects, values).log_density(variance, mean=1.0, sd=1.5)

    own = multivariate_normal(np.full(len(values), 1.0), dense + 1.5**2).logpdf(values)
    assert found == pytest.approx(own, rel=1e-8, abs=1e-8)


@everywhere
def test_flat_prior_of_the_mean_gives_the_restricted_likelihood(name: str) -> None:
    effects, values = ratings_of(name)
    variance = variances(effects)
    inverse = np.linalg.inv(covariance(effects, variance))
    mean = (inverse @ values).sum() / inverse.sum()

    found = NormalEffects.of(effects, values).at(variance)

    at_best = multivariate_normal(np.full(len(values), mean), np.linalg.inv(inverse))
    restricted = at_best.logpdf(values) + 0.5 * math.log(2 * math.pi / inverse.sum())
    assert found.log_density == pytest.approx(restricted, rel=1e-8, abs=1e-8)
    assert found.effects[-1] + values.mean() == pytest.approx(mean)


@everywhere
@pytest.mark.parametrize("sd", [1.5, math.inf])
def test_gradient_equals_finite_differences(name: str, sd: float) -> None:
    effects, values = ratings_of(name)
    model, variance = NormalEffects.of(effects, values), variances(effects)

    found = model.at(variance, 1.0, sd).gradient

    own = slopes(lambda at: model.log_density(at, 1.0, sd), variance)
    np.testing.assert_allclose(found, own, rtol=1e-7, atol=1e-8)


@everywhere
def test_average_information_equals_a_dense_computation(name: str) -> None:
    effects, values = ratings_of(name)
    variance = variances(effects)
    inverse = np.linalg.inv(covariance(effects, variance))
    of_mean = inverse.sum(axis=0)
    projection = inverse - np.outer(of_mean, of_mean) / inverse.sum()
    parts = [covariance(effects, part) for part in np.eye(len(variance))]
    score = projection @ values
    pushed = np.stack([part @ score for part in parts])

    found = NormalEffects.of(effects, values).at(variance).information

    np.testing.assert_allclose(found, 0.5 * pushed @ projection @ pushed.T, rtol=1e-8, atol=1e-10)


@everywhere
@pytest.mark.parametrize("small", [0.0, 1e-14, 1e-9, 1e-7, 1e-5])
def test_variances_may_be_zero(name: str, small: float) -> None:
    effects, values = ratings_of(name)
    model = NormalEffects.of(effects, values)
    for chosen in range(len(effects.sources) - 1):
        variance = variances(effects)
        variance[chosen] = small
        dense = covariance(effects, variance)
        inverse = np.linalg.inv(dense + 1.5**2)
        level = effects.level[chosen]
        score = np.bincount(level, inverse @ (values - 1))
        trace = (inverse * (level[:, None] == level)).sum()

        found = model.at(variance, 1.0, 1.5)

        own = multivariate_normal(np.full(len(values), 1.0), dense + 1.5**2).logpdf(values)
        assert found.log_density == pytest.approx(own, rel=1e-8)
        assert found.gradient[chosen] == pytest.approx(0.5 * (score @ score - trace), rel=1e-7)


@everywhere
def test_it_does_not_matter_which_effects_are_eliminated(name: str) -> None:
    effects, values = ratings_of(name)
    variance = variances(effects)
    expected = NormalEffects.of(effects, values).at(variance)

    for source in range(len(effects.sources) - 1):
        model = NormalEffects.of(effects, values)
        model.__dict__["blocks"] = EffectBlocks.by(model.sums, source)
        found = model.at(variance)

        assert found.log_density == pytest.approx(expected.log_density)
        np.testing.assert_allclose(found.gradient, expected.gradient, atol=1e-9)
        np.testing.assert_allclose(found.effects, expected.effects, atol=1e-9)


def test_effects_of_many_items_are_eliminated() -> None:
    frame = crossed(item=40, rater=4, day=2)
    effects = Effects.of(rated(frame, ["day"]), MeasurementDesign.parse("item x rater x day"))

    blocks = NormalEffects.of(effects, np.arange(80.0 * 4)).blocks

    # One effect of an item, four of it with raters, two of it with days.
    np.testing.assert_array_equal(blocks.sizes, np.full(40, 7))
    assert len(blocks.rest) == 4 + 2 + 8 + 1


def test_ratings_far_from_zero_have_the_same_density() -> None:
    effects, values = ratings_of("holes")
    variance = variances(effects)

    near, far = (NormalEffects.of(effects, values + shift) for shift in (0.0, 1e6))

    assert far.log_density(variance) == pytest.approx(near.log_density(variance), rel=1e-8)


def test_designs_beyond_memory_are_refused() -> None:
    n = 6000
    code = np.arange(n)
    frame = pd.DataFrame({"item": np.tile(code, 2), "rater": np.append(code, np.roll(code, 1))})
    ratings = rb.Ratings.from_frame(frame.assign(rating=np.sin(np.arange(2.0 * n))))

    effects = Effects.of(ratings, MeasurementDesign.parse("item x rater"))

    with pytest.raises(rb.RatingsError, match=r"must fit into memory; found 12,000 levels"):
        NormalEffects.of(effects, ratings.values).log_density(np.ones(3))
