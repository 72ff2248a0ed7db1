"""Crowds hardly better than chance, of which the prior decides what is true: it is said."""

from __future__ import annotations

import numpy as np
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes.html_report.answers import answer
from reliabayes.results.near_chance import near_chance
from tests.crowds.camps import CAMPS, crowd, fitted, ordinary

SEEDS = [1, *(pytest.param(seed, marks=pytest.mark.proof) for seed in range(2, 21))]


def quantities(right: list[float]) -> xr.Dataset:
    """Those of raters who are right with such probabilities, whatever the true category."""
    confusion = np.array([[[p, 1 - p], [1 - p, p]] for p in right])
    dims = ("rater", "true_category", "category")
    return xr.Dataset({"confusion": (dims, confusion)})


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_camps_of_equal_size_are_no_reason_to_trust_labels(seed: int) -> None:
    fit = fitted(crowd(seed, CAMPS))

    said = answer(fit, details=False)

    assert said.headline == (
        "Do not trust these labels yet: raters are near chance, and the prior decides"
    )
    assert "Known answers (gold) of a random part of the items" in said.limits[0]
    assert "that raters are right more often than by chance is prior" in " ".join(str(fit).split())


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_ordinary_crowds_raise_no_alarm(seed: int) -> None:
    assert not fitted(ordinary(seed)).near_chance


@pytest.mark.parametrize(
    ("right", "is_said"), [(0.55, True), (0.58, True), (0.65, False), (0.9, False)]
)
def test_raters_near_chance_are_told_by_their_mean_accuracy(right: float, is_said: bool) -> None:
    ratings = crowd(1, (0.8,) * 3, 20)

    said = near_chance(quantities([right - 0.1, right, right + 0.1]), ratings)

    assert bool(said) == is_said
    assert f"right with probability {right:.2f}; by chance it would be 0.50" in said or not is_said


def test_known_answers_of_both_categories_settle_which_is_which() -> None:
    table = crowd(1, (0.8,) * 3, 20).to_frame()
    gold = rb.Ratings.from_frame(table.assign(gold=table["item"] % 2), gold="gold", scale="nominal")

    assert not near_chance(quantities([0.5, 0.5, 0.5]), gold)
