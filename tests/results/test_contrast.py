"""Posterior differences between pools and between pairs of pools."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
import xarray as xr

import reliabayes as rb
from reliabayes.results.contrast import Contrast

PAIRS = ["control, expert", "control, treatment", "expert, treatment"]
POOLS = ["control", "expert", "treatment"]


@pytest.fixture
def quantities() -> xr.Dataset:
    rng = np.random.default_rng(1)

    def draws(dim: str) -> tuple[tuple[str, str, str], Any]:
        return ("chain", "draw", dim), rng.normal([0.1, 0.2, 0.3], 0.05, (2, 500, 3))

    return xr.Dataset(
        {
            "normalized_xcc": draws("pair"),
            "unnormalized_xcc": draws("pair"),
            "icc": draws("pool"),
            "sd_residual": (("chain", "draw"), rng.normal(size=(2, 500))),
        },
        coords={"pair": PAIRS, "pool": POOLS},
    )


def test_pools_of_a_pair_may_be_given_in_any_order(quantities: xr.Dataset) -> None:
    pairs = ("treatment", "expert"), ("control", "expert")

    contrast = Contrast.of(quantities, "xcc", *pairs, prob=0.8)

    xcc = quantities["normalized_xcc"].values
    found = contrast.draws["normalized_xcc"]
    assert (contrast.one, contrast.other) == ("expert, treatment", "control, expert")
    assert found.dims == ("chain", "draw")
    assert found.values == pytest.approx(xcc[..., 2] - xcc[..., 0])


def test_summary_has_the_probability_of_a_difference_above_zero(quantities: xr.Dataset) -> None:
    contrast = Contrast.of(quantities, "icc", "expert", "control", prob=0.8)

    table = contrast.summary()

    difference = quantities["icc"].values[..., 1] - quantities["icc"].values[..., 0]
    assert table.columns.tolist() == ["mean", "sd", "median", "lower_80", "upper_80", "pr_above_0"]
    assert table["pr_above_0"]["icc"] == (difference > 0).mean()
    assert table["mean"]["icc"] == pytest.approx(difference.mean())


def test_xcc_means_both_normalized_and_unnormalized_xcc(quantities: xr.Dataset) -> None:
    contrast = Contrast.of(quantities, "xcc", PAIRS[0], PAIRS[1], prob=0.9)

    assert contrast.summary().index.tolist() == ["normalized_xcc", "unnormalized_xcc"]
    assert "control, expert is lower than control, treatment with probability" in repr(contrast)
    assert max(map(len, repr(contrast).splitlines())) < 200
    assert contrast._repr_html_().startswith(f"<p>{contrast.sentences[0]}")


@pytest.mark.parametrize(
    ("name", "one", "other", "message"),
    [
        ("kappa", "expert", "control", r"not 'kappa'\. Available: .*icc, xcc\."),
        ("sd_residual", "expert", "control", "must be a quantity of pools or of pairs"),
        (
            "icc",
            "experts",
            "control",
            "'experts' is not a pool. Choose from: control; expert; treat",
        ),
        (
            "xcc",
            ("expert", "crowd"),
            PAIRS[0],
            r"is not a pair. Choose from: control, expert; control, treat",
        ),
        ("xcc", "expert", PAIRS[0], "'expert' is not a pair"),
    ],
)
def test_unknown_quantity_pool_or_pair_is_refused_with_the_choices(
    quantities: xr.Dataset, name: str, one: Any, other: Any, message: str
) -> None:
    with pytest.raises(ValueError, match=message):
        Contrast.of(quantities, name, one, other, prob=0.9)


@pytest.mark.slow
def test_contrast_of_a_model_without_pools_is_refused(of_judges: rb.Fit) -> None:
    with pytest.raises(ValueError, match=r"not 'icc'\. Available: none"):
        of_judges.contrast("icc", "a", "b")


@pytest.mark.slow
def test_contrast_of_a_fit_takes_the_users_ids() -> None:
    rng = np.random.default_rng(1)
    item, rater = (codes.ravel() for codes in np.mgrid[:30, :6])
    noise = np.where(rater < 3, 0.3, 1.5) * rng.normal(size=180)
    rating = rng.normal(size=30)[item] + noise
    frame = pd.DataFrame({"item": item, "rater": rater, "rating": rating, "pool": 1 + (rater > 2)})
    ratings = rb.Ratings.from_frame(frame, pool="pool")
    fit = rb.GaussianXCC(residual="per_pool").fit(ratings, seed=1, chains=2, draws=300)

    table = fit.contrast("icc", 1, 2).summary()

    assert table["pr_above_0"]["icc"] > 0.95
