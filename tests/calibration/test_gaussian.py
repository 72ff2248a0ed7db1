"""Posteriors of one pool of numbers are calibrated, and the check detects a wrong model."""

from __future__ import annotations

from functools import partial

import pytest

from tests.calibration.numbers import DESIGNS, GAUSSIAN, gaussian
from tests.calibration.ranks import FALSE_ALARMS, calibrate

pytestmark = pytest.mark.calibration


@pytest.mark.parametrize(("sampler", "n"), [("gibbs", 150), ("independence", 500)])
@pytest.mark.parametrize("design", DESIGNS)
def test_posteriors_without_stan_are_calibrated(design: str, sampler: str, n: int) -> None:
    found = calibrate(GAUSSIAN, partial(gaussian, DESIGNS[design]), n, seed=4, sampler=sampler)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


def test_check_flags_ratings_from_another_model() -> None:
    doubled_severity = partial(gaussian, DESIGNS["swapped"], severity=2.0)

    found = calibrate(GAUSSIAN, doubled_severity, n=30, seed=2)

    assert found.p_value < FALSE_ALARMS, str(found)


@pytest.mark.parametrize("design", DESIGNS)
def test_posteriors_by_nuts_are_calibrated(design: str) -> None:
    found = calibrate(GAUSSIAN, partial(gaussian, DESIGNS[design]), n=500, seed=3, sampler="nuts")

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
