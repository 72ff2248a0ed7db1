"""Posteriors are right on average over their own priors, and the check of it can fail."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest

from reliabayes import GaussianICC, HalfNormal, HalfStudentT, Normal
from reliabayes.models import gaussian_icc
from tests.calibration import Array, Calibration, Parameters, calibrate

FALSE_ALARMS = 1e-4  # at most, of each test with a seed it has not seen

GAUSSIAN = GaussianICC(
    prior_mean=Normal(1, 2),
    prior_sd_item=HalfNormal(1),
    prior_sd_rater=HalfStudentT(4, 0.7),
    prior_sd_residual=HalfNormal(1.5),
)


def gaussian_prior_draw(rng: np.random.Generator) -> Parameters:
    return {
        "mean": rng.normal(1, 2),
        "sd_item": abs(rng.normal(0, 1)),
        "sd_rater": abs(0.7 * rng.standard_t(4)),
        "sd_residual": abs(rng.normal(0, 1.5)),
    }


def gaussian_ratings(truth: Parameters, design: pd.DataFrame, rng: np.random.Generator) -> Array:
    item = truth["sd_item"] * rng.standard_normal(design["item"].max() + 1)
    rater = truth["sd_rater"] * rng.standard_normal(design["rater"].max() + 1)
    residual = truth["sd_residual"] * rng.standard_normal(len(design))
    return np.asarray(truth["mean"] + item[design["item"]] + rater[design["rater"]] + residual)


def complete_design(items: int, raters: int) -> pd.DataFrame:
    pairs = pd.MultiIndex.from_product([range(items), range(raters)], names=["item", "rater"])
    return pairs.to_frame(index=False)


def unbalanced_design() -> pd.DataFrame:
    return complete_design(12, 5).query("(item * rater + rater) % 3 != 2 and item + rater > 0")


DESIGNS = {
    "balanced": complete_design(6, 4),
    "incomplete": unbalanced_design(),
    "swapped": complete_design(4, 9),
}

Choose = Callable[[str], None]


@pytest.fixture
def choose(monkeypatch: pytest.MonkeyPatch) -> Choose:
    """Choose the Stan program, whatever the design."""

    def chosen(program: str) -> None:
        monkeypatch.setattr(gaussian_icc, "_summed_out", lambda design: program == "gaussian_icc")

    return chosen


def calibrate_gaussian(design: str, n: int, seed: int) -> Calibration:
    return calibrate(GAUSSIAN, DESIGNS[design], gaussian_prior_draw, gaussian_ratings, n, seed=seed)


@pytest.mark.parametrize("program", ["gaussian_icc", "gaussian_icc_crowd"])
def test_gaussian_posteriors_are_calibrated(program: str, choose: Choose) -> None:
    choose(program)

    found = calibrate_gaussian("incomplete", n=40, seed=1)

    assert found.p_value > FALSE_ALARMS, str(found)


def test_check_flags_ratings_from_another_model() -> None:
    def twice_as_severe(truth: Parameters, design: pd.DataFrame, rng: np.random.Generator) -> Array:
        return gaussian_ratings({**truth, "sd_rater": 2 * truth["sd_rater"]}, design, rng)

    found = calibrate(
        GAUSSIAN, DESIGNS["swapped"], gaussian_prior_draw, twice_as_severe, n=40, seed=2
    )

    assert found.p_value < FALSE_ALARMS, str(found)


@pytest.mark.calibration
@pytest.mark.parametrize("program", ["gaussian_icc", "gaussian_icc_crowd"])
@pytest.mark.parametrize("design", DESIGNS)
def test_gaussian_posteriors_are_calibrated_over_many_data_sets(
    design: str, program: str, choose: Choose
) -> None:
    choose(program)

    found = calibrate_gaussian(design, n=500, seed=3)

    print(found)
    assert found.p_value > FALSE_ALARMS, str(found)
