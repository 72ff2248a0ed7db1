"""A short tier of the random bad input that ``make fuzz`` tries at length."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import reliabayes as rb
from tests import fuzz


@pytest.mark.parametrize("door", fuzz.DOORS, ids=lambda door: door.__name__)
def test_bad_input_is_answered_or_refused(door: Callable[[Any, fuzz.Outcomes], None]) -> None:
    outcomes = fuzz.fuzz(door, 20, seed=1)

    assert outcomes.wrong == []
    assert outcomes.counts.total() >= 10


def stray() -> None:
    raise KeyError("a")


@pytest.mark.parametrize(
    ("run", "found"),
    [
        (lambda: None, None),
        (lambda: rb.Ratings.from_wide(np.empty((0, 0))), None),
        (lambda: time.sleep(30), "hang: ended after 0 s"),
        (stray, "stray KeyError: 'a'"),
    ],
)
def test_what_goes_wrong_is_found(
    run: Callable[[], object], found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", 0.3)
    outcomes = fuzz.Outcomes()

    outcomes.of("door", "example", run)

    assert outcomes.wrong == ([] if found is None else [f"door: {found}\n    'example'"])
