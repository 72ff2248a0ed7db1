"""Work in threads."""

from __future__ import annotations

import pytest

import reliabayes as rb
from reliabayes.inference.threads import of_parts
from reliabayes.inference.time_limit import check_time, within_timeout


def test_results_have_the_order_of_the_parts() -> None:
    assert of_parts(lambda part: part**2, range(50)) == [part**2 for part in range(50)]


def test_parts_end_when_the_time_of_the_fit_is_over() -> None:
    @within_timeout
    def fit(*, timeout: float) -> list[None]:
        return of_parts(lambda part: check_time(), range(4))

    assert fit(timeout=60) == [None] * 4
    with pytest.raises(rb.SamplingError, match="took longer than its timeout"):
        fit(timeout=1e-9)


def test_a_failure_of_a_part_is_raised() -> None:
    def fails(part: int) -> None:
        raise ValueError(f"part {part}")

    with pytest.raises(ValueError, match="part 0"):
        of_parts(fails, range(3))
