"""The density by sums over items, of one part and of several, against dense matrices."""

from __future__ import annotations

import math
import pickle
from functools import reduce
from operator import add

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from reliabayes.arrays import Array
from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.normal_effects import NormalEffects
from reliabayes.likelihoods.item_effects import FEW_SHARED, ItemEffects
from reliabayes.likelihoods.item_levels import ItemLevels
from reliabayes.likelihoods.item_moments import ItemMoments
from tests.facets.test_effects import crossed, rated
from tests.facets.test_normal_effects import (
    covariance,
    everywhere,
    ratings_of,
    variances,
    with_holes,
)


def sums(effects: Effects, values: Array, parts: int = 1) -> ItemMoments:
    """Sums over the items, added up over so many parts."""
    sizes = {name: int(codes.max()) + 1 for name, codes in effects.facets.items()}
    item = effects.facets["item"]
    part = item * parts // sizes["item"]
    own = []
    for number in range(parts):
        rows = part == number
        codes = {name: codes[rows] for name, codes in effects.facets.items()}
        codes["item"] = codes["item"] - codes["item"].min()
        own.append(ItemMoments.of(effects.design, codes, sizes, values[rows], 2.0))
    return pickle.loads(pickle.dumps(reduce(add, own)))  # type: ignore[no-any-return]


def density(name: str, mean: float, sd: float, parts: int) -> tuple[ItemEffects, Effects, Array]:
    effects, values = ratings_of(name)
    return (
        ItemEffects.of(ItemLevels(sums(effects, values, parts)), effects, mean, sd),
        effects,
        values,
    )


@everywhere
@pytest.mark.parametrize("parts", [1, 3])
def test_density_and_mean_equal_those_of_a_dense_normal(name: str, parts: int) -> None:
    found, effects, values = density(name, 2.5, 0.7, parts)
    variance = variances(effects)
    dense = covariance(effects, variance)

    at = found.at(variance)

    expected = multivariate_normal(np.full(len(values), 2.5), dense + 0.7**2).logpdf(values)
    assert at.log_density == pytest.approx(expected, rel=1e-10, abs=1e-10)
    weight = np.linalg.solve(dense, np.ones(len(values)))
    precision = weight.sum() + 0.7**-2
    expected_mean = (weight @ values + 2.5 * 0.7**-2) / precision
    assert (at.mean, at.sd_mean) == pytest.approx((expected_mean, precision**-0.5))


@everywhere
def test_density_under_a_flat_prior_equals_the_other_algorithm(name: str) -> None:
    found, effects, values = density(name, 3.0, math.inf, 2)
    variance = variances(effects) ** 3

    expected = NormalEffects.of(effects, values).log_density(variance, 3.0, math.inf)

    assert found.at(variance).log_density == pytest.approx(expected, rel=1e-9)


@everywhere
def test_sources_are_those_that_ratings_in_memory_tell_apart(name: str) -> None:
    effects, values = ratings_of(name)
    levels = ItemLevels(sums(effects, values, 2))

    assert levels.effects(()).names == effects.names
    sizes = {source.facets: size for source, size in levels.sizes.items()}
    assert sizes == {facets: size for facets, (_, size) in effects.cells.items()}
    assert (levels.mean_squares(levels.effects(())) is None) == (not effects.is_balanced)


def test_points_where_rounding_decides_have_no_density_and_leave_others_alone() -> None:
    found, effects, _ = density("holes", 2.5, 0.7, 1)
    points = np.array([variances(effects, seed) for seed in range(3)])
    points[1, :-1] = 1e300
    expected = [found.at(point).log_density for point in points[[0, 2]]]

    several = found.at_many(points).log_density

    assert several[1] == -math.inf
    assert several[[0, 2]] == pytest.approx(expected, rel=1e-12)


def test_density_of_many_raters_equals_the_other_algorithm() -> None:
    frame = with_holes(crossed(item=30, rater=70), 0.06)
    ratings = rated(frame)
    effects = Effects.of(ratings, MeasurementDesign.parse("item x rater"))
    found = ItemEffects.of(ItemLevels(sums(effects, ratings.values, 2)), effects, 1.0, 0.5)
    assert len(found.source) > FEW_SHARED
    points = np.array([variances(effects, seed) for seed in range(3)])
    points[1, :-1] = 1e300

    several = found.at_many(points).log_density

    other = NormalEffects.of(effects, ratings.values)
    expected = [other.log_density(point, 1.0, 0.5) for point in points[[0, 2]]]
    assert several[[0, 2]] == pytest.approx(expected, rel=1e-10)
    assert several[1] == -math.inf


@pytest.mark.slow
@pytest.mark.parametrize("name", ["holes", "objects nested"])
def test_shared_effects_are_drawn_from_their_distribution_given_the_ratings(name: str) -> None:
    found, effects, values = density(name, 2.5, 0.7, 2)
    variance, rng = variances(effects), np.random.default_rng(4)

    drawn = np.array(
        [
            [*np.concatenate(of), mean]
            for of, mean in (found.draw(variance, rng) for _ in range(1000))
        ]
    )

    # Effects and mean are jointly normal with the ratings.
    shared = [k for k, source in enumerate(effects.sources[:-1]) if "item" not in source.facets]
    columns = [np.eye(effects.sizes[k])[effects.level[k]] for k in shared]
    design = np.hstack([*columns, np.ones((len(values), 1))])
    prior = np.append(np.repeat(variance[shared], [effects.sizes[k] for k in shared]), 0.7**2)
    gain = (design * prior).T @ np.linalg.inv(covariance(effects, variance) + 0.7**2)
    expected = gain @ (values - 2.5)
    expected[-1] += 2.5
    left = np.diag(prior) - gain @ (design * prior)
    sd = np.sqrt(np.diag(left))
    assert np.abs((drawn.mean(axis=0) - expected) / sd).max() < 4.5 / np.sqrt(1000)
    assert np.abs(np.cov(drawn.T) - left).max() < 0.16 * float((sd**2).max())
