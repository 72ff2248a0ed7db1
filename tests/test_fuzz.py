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
def test_bad_input_is_answered_or_refused(
    door: Callable[[Any, fuzz.Outcomes], None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", 120)  # what is slow is found by `make fuzz`, which runs alone
    monkeypatch.setattr(fuzz, "HOPELESS", 600)

    outcomes = fuzz.fuzz(door, 20, seed=1)

    assert outcomes.wrong == []
    assert outcomes.counts.total() >= 10


def stray() -> None:
    raise KeyError("a")


@pytest.mark.parametrize(
    ("run", "seconds", "found"),
    [
        (lambda: None, 120, None),
        (lambda: rb.Ratings.from_wide(np.empty((0, 0))), 120, None),
        (lambda: time.sleep(3600), 0.3, "hang: ended after 0 s"),
        (stray, 120, "stray KeyError: 'a'"),
    ],
)
def test_what_goes_wrong_is_found(
    run: Callable[[], object], seconds: float, found: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fuzz, "SLOW", seconds)
    outcomes = fuzz.Outcomes()

    outcomes.of("door", "example", run)

    assert outcomes.wrong == ([] if found is None else [f"door: {found}\n    'example'"])
