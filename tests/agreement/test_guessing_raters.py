"""Kappas of raters who know the true category or guess, from the expected table of two raters."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from math import lcm

import numpy as np
import pytest

import reliabayes as rb

TRUE = [Fraction(1, 5), Fraction(1, 2), Fraction(3, 10)]
EVEN = [Fraction(1, 3)] * 3
LEANING = [Fraction(3, 5), Fraction(1, 5), Fraction(1, 5)]
HALF, MOST = Fraction(1, 2), Fraction(4, 5)


def expected_ratings(
    one: tuple[Fraction, Sequence[Fraction]], other: tuple[Fraction, Sequence[Fraction]]
) -> rb.Ratings:
    """As many items as make the proportions of all pairs of ratings exact."""
    table = [[Fraction(0)] * 3 for _ in TRUE]
    for truth, t in enumerate(TRUE):
        (first, second) = (
            [a * (k == truth) + (1 - a) * p[k] for k in range(3)] for a, p in (one, other)
        )
        for k in range(3):
            for m in range(3):
                table[k][m] += t * first[k] * second[m]
    items = lcm(*(cell.denominator for row in table for cell in row))
    pairs = [(k, m) for k in range(3) for m in range(3)]
    counts = [int(table[k][m] * items) for k, m in pairs]
    return rb.Ratings.from_wide(np.repeat(pairs, counts, axis=0), scale="nominal")


def test_kappas_are_the_squared_accuracy_where_guesses_are_as_frequent_as_the_truth() -> None:
    ratings = expected_ratings((MOST, TRUE), (MOST, TRUE))

    for kappa in (rb.agreement.fleiss_kappa, rb.agreement.cohen_kappa):
        assert kappa(ratings).value == pytest.approx(0.8**2, abs=1e-12)


def test_brennan_and_prediger_is_the_squared_accuracy_where_guesses_are_uniform() -> None:
    ratings = expected_ratings((MOST, EVEN), (MOST, EVEN))

    assert rb.agreement.brennan_prediger(ratings).value == pytest.approx(0.8**2, abs=1e-12)


def test_cohens_kappa_of_any_two_guessing_raters() -> None:
    ratings = expected_ratings((HALF, LEANING), (MOST, EVEN))
    (c_one, c_other) = (
        [a * t + (1 - a) * g for t, g in zip(TRUE, p, strict=True)]
        for a, p in ((HALF, LEANING), (MOST, EVEN))
    )
    mixed = sum(x * y for x, y in zip(c_one, c_other, strict=True))
    expected = HALF * MOST * (1 - sum(t**2 for t in TRUE)) / (1 - mixed)

    found = rb.agreement.cohen_kappa(ratings).value

    assert found == pytest.approx(float(expected), abs=1e-12)


def test_fleiss_kappa_of_biased_guesses_is_not_the_squared_accuracy() -> None:
    ratings = expected_ratings((MOST, LEANING), (MOST, LEANING))
    c = [MOST * t + (1 - MOST) * g for t, g in zip(TRUE, LEANING, strict=True)]
    factor = (1 - sum(t**2 for t in TRUE)) / (1 - sum(x**2 for x in c))

    found = rb.agreement.fleiss_kappa(ratings).value

    assert found == pytest.approx(float(MOST**2 * factor), abs=1e-12)
    assert abs(found - 0.64) > 0.01
