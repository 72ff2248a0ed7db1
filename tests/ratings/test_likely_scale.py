"""What numbers are taken for where no scale was given: categories, grades or amounts."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.ratings.likely_scale import likely_scale


def codes(raters: int = 4, right: float = 0.8, values: int = 6) -> np.ndarray[Any, Any]:
    """Codes of categories, whose errors may be any of the others."""
    rng = np.random.default_rng(1)
    truth = rng.integers(values, size=(100, 1))
    wrong = (truth + rng.integers(1, values, (100, raters))) % values
    return np.where(rng.random((100, raters)) < right, truth, wrong)


def grades(noise: float = 0.7, values: int = 5) -> np.ndarray[Any, Any]:
    """Grades from 1, whose errors are small."""
    rng = np.random.default_rng(1)
    score = rng.uniform(1, values, (100, 1)) + rng.normal(0, noise, (100, 4))
    return np.clip(np.rint(score), 1, values)


TABLES: dict[str, tuple[Any, str, str]] = {
    "two numbers": (codes(values=2), "nominal", "0 and 1 are probably categories"),
    "other two numbers": (codes(values=2) + 1, "nominal", "1 and 2 are probably categories"),
    "codes": (codes(), "nominal", "the 6 whole numbers are probably codes of categories"),
    "grades": (grades(), "ordered", "the 5 whole numbers are probably grades"),
    "noisy grades": (grades(noise=3), "ordered", "the 5 whole numbers are probably grades"),
    "points": (grades(values=10), "numeric", ""),
    "many": (grades(values=30), "numeric", ""),
    "halves": (grades() / 2, "numeric", ""),
}


@pytest.mark.parametrize(("table", "scale", "reason"), TABLES.values(), ids=list(TABLES))
def test_numbers_are_taken_for_what_they_probably_are(table: Any, scale: str, reason: str) -> None:
    found = likely_scale(rb.Ratings.from_wide(table))

    assert found.scale == scale
    assert found.reason.startswith(reason)
    assert bool(found.reason) == bool(reason)


@pytest.mark.parametrize("scale", ["nominal", "ordered", "numeric"])
def test_a_given_scale_is_not_doubted(scale: Any) -> None:
    assert likely_scale(rb.Ratings.from_wide(codes(), scale=scale)) == (scale, "")


def test_grades_of_patients_are_told_from_codes() -> None:
    published = rb.datasets.load("dawid_skene_1979")  # fitness for anaesthesia, from 1 to 4

    ratings = rb.Ratings.from_frame(published, replicates="keep")

    assert likely_scale(ratings).scale == "ordered"


@pytest.mark.parametrize(("answer", "scale"), [(5, "nominal"), (4.5, "ordered"), (9, "ordered")])
def test_few_numbers_with_known_answers_among_them_are_categories(
    answer: float, scale: str
) -> None:
    table = pd.DataFrame(grades(), columns=list("abcd"))
    table["gold"] = [answer] + [np.nan] * 99

    ratings = rb.Ratings.from_wide(table, gold="gold")

    assert likely_scale(ratings).scale == scale


def test_the_guess_is_described_and_kept_by_subsets() -> None:
    ratings = rb.Ratings.from_wide(codes(values=2))
    texts = rb.Ratings.from_wide(np.array([["a", "b"], ["b", "b"]]))
    given = rb.Ratings.from_wide(codes(values=2), scale="nominal")
    declared = rb.Ratings.from_frame(texts.to_frame())  # whose ratings are categorical

    assert ratings.describe()["scale guessed"] == "0 and 1 are probably categories"
    assert ratings.subset(raters=[0, 1]).describe()["scale guessed"].startswith("0 and 1")
    assert texts.describe()["scale guessed"] == "from the values"
    assert not {"scale guessed"} & {*given.describe().index, *declared.describe().index}
