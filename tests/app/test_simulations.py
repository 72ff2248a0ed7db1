"""Simulations of the app: what goes in comes out again, and designs are as they are asked for."""

from __future__ import annotations

import math
import re
import sys
from typing import Any

import numpy as np
import pytest

from reliabayes.app import simulations
from reliabayes.app.simulations import MatrixDesign, OwnResult, TAPDesign
from reliabayes.simulate import (
    COEFFICIENTS,
    AgreementRegression,
    agreement_regression,
    reliability_study,
)


def test_a_matrix_has_the_wanted_size_and_response_distribution() -> None:
    design = MatrixDesign(
        items=500, raters=8, ratings_per_item=6, categories=4, distribution="0, 1; 1 2"
    )

    ratings = simulations.matrix(design)

    assert (ratings.n_items, ratings.n_raters, len(ratings)) == (500, 8, 3000)
    proportions = np.bincount(ratings.category, minlength=4) / 3000
    # Agreement on 60% of the items makes 500 of them worth little more than 500 responses
    assert proportions == pytest.approx([0, 0.25, 0.25, 0.5], abs=4 * 0.5 / math.sqrt(500))


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ({"ratings_per_item": 7}, "ratings_per_item must lie between 2 and 6; found 7"),
        ({"distribution": "much, little"}, "must be numbers .* one for each of the 3 categories"),
        ({"distribution": "1, 2"}, r"distribution must be 3 finite weights .* found \(1.0, 2.0\)"),
        ({"distribution": "1, -2, 3"}, "distribution must be 3 finite weights of 0 or more"),
        ({"distribution": "0, 0, 0"}, "distribution must be 3 finite weights"),
        ({"distribution": "1, inf, 1"}, "distribution must be 3 finite weights"),
    ],
)
def test_what_is_out_of_range_is_refused(wrong: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulations.study_picture(MatrixDesign(**wrong), "ICC(1,1)", "linear")


@pytest.fixture(scope="module")
def regression() -> AgreementRegression:
    """ICC(1,1) of 2 of 6 raters on their agreement: 1.5 times it minus .5."""
    study = reliability_study(
        coefficients={"ICC(1,1)": COEFFICIENTS["ICC(1,1)"]}, matrices=20, seed=1
    )
    return agreement_regression(study, "ICC(1,1)", "linear")


def test_ones_own_coefficient_has_its_agreement_and_the_reverse(
    regression: AgreementRegression,
) -> None:
    own = OwnResult(coefficient=0.4, agreement=0.8)

    first, second = simulations.correspondences(regression, own)

    # Standard errors of a mean of 180 matrices with a residual sd of .05
    found = re.findall(r"\d+%|\d\.\d+", first)
    assert found[0] == "0.40"
    assert abs(int(found[1].rstrip("%")) - 60) <= 1
    found = re.findall(r"\d+%|\d\.\d+", second)
    assert found[0] == "80%"
    assert float(found[1]) == pytest.approx(0.7, abs=0.03)
    assert simulations.correspondences(regression, OwnResult()) == []


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (
            OwnResult(coefficient=-0.9),
            r"ICC\(1,1\) of -0\.90 is beyond .* agree on 2\d% to 9\d%",
        ),
        (OwnResult(agreement=0.05), r"Agreement on 5% of items is beyond .* 2\d% to 9\d%"),
    ],
)
def test_what_no_matrix_reaches_is_said(
    own: OwnResult, message: str, regression: AgreementRegression
) -> None:
    [sentence] = simulations.correspondences(regression, own)

    assert re.search(message, sentence)


@pytest.mark.parametrize(
    ("own", "message"),
    [
        (OwnResult(coefficient=1.2), "Your coefficient must be at most 1; found 1.2"),
        (OwnResult(agreement=80), "Your agreement must lie between 0 and 1; found 80"),
    ],
)
def test_impossible_results_are_refused(own: OwnResult, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        simulations.study_picture(MatrixDesign(), "ICC(1,1)", "linear", own)


def test_coefficients_of_a_matrix_say_how_far_raters_agree() -> None:
    shown = simulations.matrix_coefficients(MatrixDesign(agreement=1.0, items=30))

    assert " is 1.00 (90% interval" in shown


def test_the_regression_on_agreement_states_its_finding() -> None:
    own = OwnResult(coefficient=0.5)

    shown = simulations.study_picture(MatrixDesign(items=50), "ICC(1,1)", "linear", own, matrices=5)

    assert "A straight line in agreement explains" in shown
    assert "ICC(1,1) of 0.50 corresponds to agreement on" in shown
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
