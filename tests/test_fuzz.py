"""A short tier of the random bad input that ``make fuzz`` tries at length."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from tests import fuzz


@pytest.mark.parametrize("door", fuzz.DOORS, ids=lambda door: door.__name__)
def test_bad_input_is_answered_or_refused(door: Callable[[Any, fuzz.Outcomes], None]) -> None:
    outcomes = fuzz.fuzz(door, 20, seed=1)

    assert outcomes.wrong == []
    assert outcomes.counts.total() >= 10
