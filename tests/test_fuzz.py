"""A short tier of the random bad input that ``make fuzz`` tries at length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from tests import fuzz

LONG = 120.0  # seconds that nothing here takes, however busy the machine


@pytest.mark.slow
@pytest.mark.parametrize("door", fuzz.DOORS, ids=lambda door: door.__name__)
def test_bad_input_is_answered_or_refused(
    door: Callable[[Any, fuzz.Outcomes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", LONG)
    monkeypatch.setattr(fuzz, "HOPELESS", 5 * LONG)

    outcomes = fuzz.fuzz(door, 20, seed=1)

    assert outcomes.wrong == []
    assert outcomes.counts.total() >= 10


def stray() -> None:
    raise KeyError("a")


@pytest.mark.parametrize(
    ("run", "limit", "found"),
    [
        (lambda: None, LONG, None),
        (lambda: rb.Ratings.from_wide(np.empty((0, 0))), LONG, None),
        (lambda: time.sleep(LONG), 0.1, "hang: ended after 0 s"),
        (stray, LONG, "stray KeyError: 'a'"),
    ],
)
def test_what_goes_wrong_is_found(
    run: Callable[[], object], limit: float, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", limit)
    outcomes = fuzz.Outcomes()

    outcomes.of("door", "example", run)

    assert outcomes.wrong == ([] if found is None else [f"door: {found}\n    'example'"])
