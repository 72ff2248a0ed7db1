"""Posteriors are calibrated where chains go on until draws are precise enough."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

from reliabayes import Ratings
from reliabayes.models import RatingModel
from reliabayes.sampling import loop
from tests.calibration.categories import ANNOTATION, annotated, few_raters
from tests.calibration.numbers import DESIGNS, GAUSSIAN, gaussian
from tests.calibration.ranks import FALSE_ALARMS, Parameters, calibrate

pytestmark = pytest.mark.calibration

Simulate = Callable[[np.random.Generator], tuple[Parameters, Ratings]]


def of_categories(name: str) -> tuple[RatingModel, Simulate]:
    model, n_categories = ANNOTATION[name]
    return model, partial(annotated, model, n_categories, few_raters())


CASES: dict[str, tuple[RatingModel, Simulate]] = {
    "gaussian-icc": (GAUSSIAN, partial(gaussian, DESIGNS["incomplete"])),
    **{name: of_categories(name) for name in ("dawid-skene", "mace", "logit-icc")},
}


@pytest.mark.parametrize("name", CASES)
def test_stopping_does_not_bias_posteriors(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    times: list[int] = []
    gone_on = loop.Chains.gone_on

    def noted(chains: loop.Chains, *arguments: Any) -> loop.Chains:
        times.append(arguments[0])
        return gone_on(chains, *arguments)

    monkeypatch.setattr(loop.Chains, "gone_on", noted)
    model, simulate = CASES[name]

    found = calibrate(model, simulate, n=200, seed=21, ess=300)

    print(found)
    assert len(times) >= 50  # fits that have looked at their draws more than once
    assert found.p_value > FALSE_ALARMS, str(found)
