"""The search for a maximum ends at one, be it at 0 or elsewhere, and says so if there is none."""

from __future__ import annotations

import numpy as np
import pytest

from reliabayes.arrays import Array
from reliabayes.inference.maximum import Maximum, maximise


def search(density: object, start: list[float], **options: object) -> Maximum:
    given: dict[str, object] = {"max_iterations": 50, "tolerance": 1e-8}
    given |= {"may_be_zero": np.zeros(len(start), bool)} | options
    return maximise(density, np.array(start, float), **given)  # type: ignore[arg-type]


def test_a_curved_ridge_is_followed_to_its_end() -> None:
    def banana(x: Array) -> float:
        return float(-100 * (x[1] - x[0] ** 2) ** 2 - (1 - x[0]) ** 2)

    found = search(banana, [-1.2, 1.0])

    assert found.converged
    assert found.at.tolist() == pytest.approx([1.0, 1.0], abs=1e-4)
    assert np.diff(found.path).min() >= 0


def test_variance_of_less_than_none_is_exactly_0() -> None:
    found = search(lambda x: float(-((x[0] ** 2 + 0.5) ** 2)), [1.0], may_be_zero=np.array([True]))

    assert found.converged
    assert found.at.tolist() == [0.0]


def test_a_saddle_is_left() -> None:
    found = search(lambda x: float(-((x[0] ** 2 - 1) ** 2) - x[1] ** 2), [0.0, 0.5])

    assert found.converged
    assert np.abs(found.at).tolist() == pytest.approx([1.0, 0.0], abs=1e-5)


def test_a_level_ridge_is_no_maximum() -> None:
    found = search(lambda x: float(-((x[0] - 2) ** 2)), [0.0, 0.5])

    assert (found.converged, found.is_flat) == (False, True)


def test_a_search_without_enough_steps_has_not_converged() -> None:
    found = search(lambda x: float(-np.cosh(x[0] - 30)), [0.0], max_iterations=3)

    assert (found.converged, found.is_flat, len(found.path)) == (False, False, 4)
