"""Reliability of means of ordered ratings, as numbers of their categories."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.facets import Decision, MeasurementDesign
from reliabayes.likelihoods.observed_means import ObservedMeans
from reliabayes.likelihoods.ordinal import RESIDUAL, Observed
from reliabayes.results.quantities import icc_k

CUT = np.array([[-1.5, 0.3, 1.0]])
OBJECTS = 200_000


def means(design: str, sds: dict[str, float], fixed: tuple[str, ...] = ()) -> ObservedMeans:
    """With sds by source, and a logistic residual, at one draw."""
    measurement = MeasurementDesign.parse(design)
    sources = tuple(measurement.sources())
    variance = np.array([[sds.get(source.name, 0.0) ** 2 for source in sources]])
    variance[:, -1] += RESIDUAL["logit"]
    return ObservedMeans.of(Decision(measurement, sources, variance, {}, frozenset(fixed)), CUT)


def test_with_raters_only_it_is_the_spearman_brown_formula() -> None:
    sds = {"item": 1.5, "rater": 0.8}
    single: Any = Observed.of(np.array([1.5]), np.array([0.8]), CUT, "logit").icc

    found = means("item x rater", sds)

    for number in (1, 2, 7):
        expected = icc_k(single, number)
        assert found.phi({"rater": number}) == pytest.approx(expected, abs=1e-6)


@pytest.mark.slow
def test_means_over_crossed_facets_have_the_reliability_of_simulated_ones() -> None:
    sds = {"item": 1.2, "item x rater": 0.9, "item x day": 0.7}
    found = means("item x rater x day", sds)

    first, second = (simulated(sds, seed) for seed in (1, 2))

    # Effects of items alone are the same in both; the standard error of a correlation is 0.002.
    correlation = np.corrcoef(first.mean(axis=(1, 2)), second.mean(axis=(1, 2)))[0, 1]
    assert found.phi({"rater": 3, "day": 2})[0] == pytest.approx(correlation, abs=0.008)
    differences = np.abs(first[:, 0, 0] - first[:, 1, 1])
    assert found.difference[0] == pytest.approx(differences.mean(), abs=0.01)


def simulated(sds: dict[str, float], seed: int, raters: int = 3, days: int = 2) -> Array:
    """Ratings of the same objects by other raters on other days for each seed."""
    rng, items = np.random.default_rng(seed), np.random.default_rng(0)
    score = sds["item"] * items.standard_normal((OBJECTS, 1, 1))
    score = score + sds["item x rater"] * rng.standard_normal((OBJECTS, raters, 1))
    score = score + sds["item x day"] * rng.standard_normal((OBJECTS, 1, days))
    score = score + rng.logistic(size=score.shape)
    return np.asarray((score[..., None] > CUT[0]).sum(axis=-1), float)


def test_nested_raters_differ_between_days() -> None:
    sds = {"item": 1.2, "item x rater:day": 0.9}

    found = means("item x (rater:day)", sds)

    # All six raters are different ones, and nothing else is of the day.
    expected = icc_k(found.phi({}), 6)
    assert found.phi({"rater": 3, "day": 2}) == pytest.approx(expected, abs=1e-6)


def test_fixed_facets_belong_to_the_signal() -> None:
    sds = {"item": 1.2, "item x day": 0.9, "day": 2.0}
    joint = means("item x rater", {"item": float(np.hypot(1.2, 0.9))})

    found = means("item x rater x day", sds, fixed=("day",))

    assert found.phi({"rater": 4}) == pytest.approx(joint.phi({"rater": 4}), abs=1e-6)
