"""Posteriors by Gibbs sampling of models of categories are calibrated."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest

import reliabayes as rb
from reliabayes import Ratings
from reliabayes.families.categories import parts
from tests.calibration.categories import ANNOTATION, annotated, few_raters
from tests.calibration.numbers import complete_design
from tests.calibration.ranks import FALSE_ALARMS, Calibration, calibrate
from tests.partitions.in_memory import in_parts

pytestmark = pytest.mark.calibration


def test_posteriors_of_a_crowd_by_gibbs_sampling_are_calibrated() -> None:
    model = rb.HierarchicalDawidSkene()
    design = complete_design(110, 110).query("(item + 7 * rater) % 110 < 3")
    assert design["rater"].nunique() >= 100  # from which on slices are rare

    found = calibrate(model, partial(annotated, model, 2, design), n=200, seed=19, sampler="gibbs")

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


BY_GIBBS = (  # models of ANNOTATION that Gibbs sampling suits
    "dawid-skene",
    "hierarchical-dawid-skene",
    "mace",
    "mace, uniform",
    "tap",
    "rater-tap",
    "rater-tap, by item",
    "groupthink, earlier",
    "rater-groupthink, earlier",
)


def calibrate_gibbs(name: str, n: int) -> Calibration:
    model, n_categories = ANNOTATION[name]
    simulate = partial(annotated, model, n_categories, few_raters())
    return calibrate(model, simulate, n, seed=11, sampler="gibbs")


@pytest.mark.parametrize("name", BY_GIBBS)
def test_posteriors_by_gibbs_sampling_are_calibrated(name: str) -> None:
    found = calibrate_gibbs(name, n=250)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)


@dataclass(frozen=True, kw_only=True)
class InParts:
    """A model whose fits are of ratings in parts, too many for memory."""

    model: Any

    def __getattr__(self, name: str) -> Any:
        return getattr(self.model, name)

    def fit(self, ratings: Ratings, **options: Any) -> rb.Fit:
        found: rb.Fit = self.model.fit(in_parts(ratings, 3), **options)
        return found


@pytest.mark.parametrize("name", ["dawid-skene", "mace", "tap", "rater-tap"])
def test_posteriors_of_parts_are_calibrated(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parts, "MOST_COUNTS", 0)
    model, n_categories = ANNOTATION[name]
    design = complete_design(60, 8).query("item % 2 == rater % 2")
    simulate = partial(annotated, model, n_categories, design)

    found = calibrate(InParts(model=model), simulate, n=150, seed=13)  # type: ignore[arg-type]

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
