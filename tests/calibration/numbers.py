"""Models of numbers, and draws of their parameters and ratings."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reliabayes import GaussianICC, HalfNormal, HalfStudentT, Normal, Ratings
from reliabayes.arrays import Array
from tests.calibration.ranks import Parameters

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


def gaussian(
    design: pd.DataFrame, rng: np.random.Generator, severity: float = 1.0
) -> tuple[Parameters, Ratings]:
    truth = gaussian_prior_draw(rng)
    rated = {**truth, "sd_rater": severity * truth["sd_rater"]}
    return truth, Ratings.from_frame(design.assign(rating=gaussian_ratings(rated, design, rng)))


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


def pooled_design(items: int, pools: int) -> pd.DataFrame:
    """Three raters in each pool, of whom two rate most items; only one pool rates items 0 and 1."""
    design = complete_design(items, 3 * pools).assign(pool=lambda x: x["rater"] // 3)
    design = design.query("(item + rater) % 3 != 0 or item % 5 == 0")
    return design.query("not (item == 0 and pool > 0) and not (item == 1 and pool == 0)")
