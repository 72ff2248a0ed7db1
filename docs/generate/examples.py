"""An example for each model, on ratings of the right kind."""

from __future__ import annotations

import reliabayes as rb

NUMBERS = """\
import reliabayes as rb

frame = rb.datasets.load("shrout_fleiss_1979")
ratings = rb.Ratings.from_frame(frame)
"""
NOMINAL = """\
import reliabayes as rb

frame = rb.datasets.load("dawid_skene_1979")
ratings = rb.Ratings.from_frame(frame, scale="nominal", replicates="keep")
"""
SIMULATED = """\
import numpy as np

import reliabayes as rb

rng = np.random.default_rng(1)
design = rb.simulate.crossed({design})
truth = {truth}
ratings = rb.{model}().simulate(design, rng, {categories}parameters=truth)
"""
JUDGED = """\
import numpy as np
import pandas as pd

import reliabayes as rb

rng = np.random.default_rng(1)
raters = {"Ann": "human", "Bob": "human", "gpt-a": "judges", "gpt-b": "judges"}
cells = pd.MultiIndex.from_product([range(100), raters], names=["item", "rater"])
design = cells.to_frame(index=False)
design["pool"] = design["rater"].map(raters)
ratings = rb.JudgePanel().simulate(design, rng)
"""
FITTED = """\
fit = rb.{model}().fit(ratings, seed=1)
print(fit.summary())"""

ONE_POOL = '{"sd_item": 1.5, "sd_rater": 0.5}'
TWO_POOLS = '{"sd_item": [1.5, 1.5], "sd_rater": [0.5, 0.5]}'
TWO_POOLS_OF_NUMBERS = '{"mean": 5, "sd_item": 1, "sd_rater": 0.5, "sd_residual": 1}'


def example(model: type[rb.RatingModel]) -> str:
    """Code that reads or simulates ratings, fits the model and prints the summary."""
    has_pools, is_ordinal = "normalized_xcc" in model.reports, "rate" in model.reports
    if model is rb.JudgePanel:
        data = JUDGED
    elif not (has_pools or is_ordinal):
        data = NUMBERS if model.continuous else NOMINAL
    else:
        truth = TWO_POOLS_OF_NUMBERS if model.continuous else TWO_POOLS if has_pools else ONE_POOL
        data = SIMULATED.format(
            model=model.__name__,
            design="30, 3, pools=2" if has_pools else "60, 5",
            truth=truth,
            categories="categories=(1, 2, 3), " if "cut" in model.reports else "",
        )
    return data + FITTED.format(model=model.__name__)


def plot(model: type[rb.RatingModel]) -> str:
    """Call that draws the main finding of a fit of the model."""
    of_quantity = {"normalized_xcc": "xcc", "icc": "icc", "confusion": "confusion"}
    found = next((name for key, name in of_quantity.items() if key in model.reports), "items")
    return f"rb.plots.{found}(fit)"
