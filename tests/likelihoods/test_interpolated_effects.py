"""The interpolated density of normal effects, against the exact one."""

from __future__ import annotations

import math

import numpy as np
import pytest

from reliabayes.facets import Effects, MeasurementDesign
from reliabayes.facets.effect_sums import EffectSums
from reliabayes.facets.normal_effects import NormalEffects
from reliabayes.facets.squared_totals import SquaredTotals
from reliabayes.likelihoods import interpolated_effects
from reliabayes.likelihoods.interpolated_effects import InterpolatedEffects, is_worth_it
from reliabayes.likelihoods.marginal_effects import MarginalEffects
from tests.facets.test_effects import crossed, rated
from tests.facets.test_normal_effects import with_holes

VARIANCE = np.array([1.0, 0.3, 0.2, 0.4, 0.1, 0.05, 0.6])  # of sources, in the order of names


@pytest.fixture
def sums() -> EffectSums:
    frame = with_holes(crossed(item=150, rater=4, day=3), 0.9)
    ratings = rated(frame, ["day"])
    effects = Effects.of(ratings, MeasurementDesign.parse("item x rater x day"))
    rng = np.random.default_rng(5)
    noise = math.sqrt(VARIANCE[-1]) * rng.standard_normal(len(frame))
    drawn = [
        math.sqrt(variance) * rng.standard_normal(size)[level]
        for variance, size, level in zip(VARIANCE[:-1], effects.sizes, effects.level, strict=True)
    ]
    return EffectSums.of(effects, sum(drawn, noise))


def interpolated(sums: EffectSums, monkeypatch: pytest.MonkeyPatch) -> InterpolatedEffects | None:
    monkeypatch.setattr(interpolated_effects, "WIDTH", 2.0)
    return InterpolatedEffects.of(MarginalEffects.of(sums, 0.2, 1.3), squares_of(sums))


def squares_of(sums: EffectSums) -> SquaredTotals:
    return SquaredTotals.of(sums, np.ones(len(sums.source), bool))


def test_density_equals_the_other_algorithm(
    sums: EffectSums, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = interpolated(sums, monkeypatch)
    assert found is not None
    exact = MarginalEffects.of(sums, 0.2, 1.3)
    assert sorted(found.box.sources) == [0, 3, 4]  # items and their interactions
    rng = np.random.default_rng(6)
    for _ in range(5):
        variance = found.box.variance * rng.uniform(0.93, 1.07, len(VARIANCE))
        expected = NormalEffects(sums).log_density(variance, 0.2, 1.3)
        at = found.at(variance)
        assert at != exact.at(variance)
        assert at.log_density == pytest.approx(expected, abs=1e-3)
        assert at[1:] == pytest.approx(exact.at(variance)[1:], rel=1e-4)


def test_density_is_exact_outside_the_box(
    sums: EffectSums, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = interpolated(sums, monkeypatch)
    assert found is not None
    variance = found.box.variance * np.array([100.0, 1, 1, 1, 1, 1, 1])
    assert found.at(variance) == MarginalEffects.of(sums, 0.2, 1.3).at(variance)


@pytest.mark.parametrize("sd_mean", [1.3, math.inf])
def test_densities_of_many_points_are_those_of_each(
    sums: EffectSums, sd_mean: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpolated_effects, "WIDTH", 2.0)
    found = InterpolatedEffects.of(MarginalEffects.of(sums, 0.2, sd_mean), squares_of(sums))
    assert found is not None
    factor = np.array([[1.0] * 7, [1.05] * 7, [100.0, *[1.0] * 6]])

    many = found.at_many(found.box.variance * factor)

    exact = MarginalEffects.of(sums, 0.2, sd_mean)
    expected = [exact.at(each) for each in found.box.variance * factor]
    assert many.log_density == pytest.approx([e.log_density for e in expected], abs=1e-3)
    assert many.mean == pytest.approx([e.mean for e in expected], rel=1e-4)
    assert many.sd_mean == pytest.approx([e.sd_mean for e in expected], rel=1e-4)


def test_nothing_is_interpolated_where_the_exact_density_is_quick(sums: EffectSums) -> None:
    assert not is_worth_it(MarginalEffects.of(sums, 0.2, 1.3))


@pytest.mark.slow
def test_nothing_is_interpolated_if_the_error_is_too_large(
    sums: EffectSums, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(interpolated_effects, "TOLERANCE", 1e-12)
    assert interpolated(sums, monkeypatch) is None
