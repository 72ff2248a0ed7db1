"""The probability that a planned study has a narrow posterior."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes import design

pytestmark = pytest.mark.slow

TRUTH = {"mean": 3.0, "sd_item": 1.0, "sd_rater": 0.1, "sd_residual": 1.0}


def twenty_raters(items: int) -> pd.DataFrame:
    return rb.simulate.crossed(items, raters=20)


def test_widths_are_those_of_the_mean_of_normal_ratings() -> None:
    """Of 100 items by 20 raters, with 1 / 100 + 0.1^2 / 20 + 1 / 2000 as variance of the mean."""
    expected = 2 * 1.645 * np.sqrt(1 / 100 + 0.1**2 / 20 + 1 / 2000)

    narrow, wide = (
        design.assurance(
            rb.GaussianICC(),
            twenty_raters,
            "mean",
            width=factor * expected,
            items=100,
            replicates=5,
            seed=1,
            parameters=TRUTH,
        )
        for factor in (0.7, 1.3)
    )

    assert narrow.share == 0
    assert float(wide) == 1
    assert wide.widths == pytest.approx(np.full(5, expected), rel=0.25)
    # As if there were one study more of each kind: 1 of 7
    assert wide.error == pytest.approx(np.sqrt(1 / 7 * 6 / 7 / 5))


def test_raters_of_a_study_are_drawn_from_those_of_the_pilot() -> None:
    """All raters of the pilot are nearly always right, so that the prevalence is as in truth."""
    truth = np.repeat([0, 1, 1], 20)
    frame = twenty_raters(60)
    frame["rating"] = np.repeat(truth, 20)
    pilot = rb.DawidSkene().fit(rb.Ratings.from_frame(frame, scale="nominal"), seed=1)

    found = design.assurance(
        pilot,
        lambda items: rb.simulate.crossed(items, raters=4),
        "prevalence[1]",
        width=0.35,
        items=60,
        replicates=5,
        seed=1,
    )

    # Without errors of raters it would be that of Beta(41, 21) for two thirds of 60 items: 0.195.
    assert (found.widths > 0.12).all()
    assert found.share == 1


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"quantity": "kappa"}, "quantity must be one of 'icc', .*, not 'kappa'"),
        ({"width": 0.0}, "width must be above 0; found 0.0"),
        ({"items": 1}, "items must be a whole number from 2, not 1"),
        ({"parameters": None}, "prior_mean must be set"),
    ],
)
def test_studies_that_cannot_be_simulated_are_refused(
    change: dict[str, object], message: str
) -> None:
    options = {"quantity": "icc", "width": 0.3, "items": 20, "seed": 1, "parameters": TRUTH}

    with pytest.raises(ValueError, match=message):
        design.assurance(rb.GaussianICC(), twenty_raters, **(options | change))  # type: ignore[arg-type]
