"""Simulations of the app: what goes in comes out again, and designs are as they are asked for."""

from __future__ import annotations

import sys

import pytest

from reliabayes.app import simulations
from reliabayes.app.simulations import MatrixDesign, TAPDesign


def test_a_matrix_has_the_wanted_size_and_missing_proportion() -> None:
    design = MatrixDesign(items=50, raters=8, categories=4, missing=0.25)

    ratings = simulations.matrix(design)

    assert (ratings.n_items, len(ratings)) == (50, 300)
    assert set(ratings.categories) <= {1, 2, 3, 4}


def test_however_much_is_missing_an_item_has_two_ratings() -> None:
    assert MatrixDesign(raters=4, missing=0.9).ratings_per_item == 2


def test_coefficients_of_a_matrix_say_how_far_raters_agree() -> None:
    shown = simulations.matrix_coefficients(MatrixDesign(agreement=1.0, items=30))

    assert " is 1.00 (90% interval" in shown


@pytest.mark.slow
def test_the_regression_on_agreement_states_its_finding() -> None:
    shown = simulations.study_picture(MatrixDesign(items=50), "ICC(1,1)", "linear", matrices=5)

    assert "A straight line in agreement explains" in shown
    assert "45 simulated matrices" in shown


@pytest.mark.slow
def test_parameters_of_raters_who_know_or_guess_come_back() -> None:
    truth = TAPDesign(t=0.4, a=0.7, p=0.3, items=1000, raters=6)

    found = simulations.tap_recovery(truth)

    assert list(found.index) == ["t", "a", "p"]
    assert found["true"].tolist() == [0.4, 0.7, 0.3]
    # Three posterior standard deviations, of which the interval of 90% has 3.29.
    margin = 3 * (found["upper_90"] - found["lower_90"]) / 3.29
    assert ((found["median"] - found["true"]).abs() < margin).all()
    assert ((found["EM"] - found["true"]).abs() < margin).all()


def test_without_stan_parameters_come_back_by_em_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "emscripten")

    found = simulations.tap_recovery(TAPDesign())

    assert list(found) == ["true", "EM"]
    assert found["EM"].between(0, 1).all()
