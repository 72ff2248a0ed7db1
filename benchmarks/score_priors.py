"""Coverage and bias of LogitICC and OrdinalICC under their default priors, by design and ICC.

    python -m benchmarks.score_priors [--wide] [replications] [ICC ...]

These posteriors take a sampler, so that there are fewer cells than for GaussianICC (`priors.py`).
With ``--wide`` the designs have 10 to 1,000 items and 3 to 50 raters.
"""

from __future__ import annotations

import itertools
import sys
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes.simulate import crossed

MODELS = {2: rb.LogitICC(), 4: rb.OrdinalICC()}  # by number of categories
DESIGNS = ((30, 3), (100, 3), (30, 5), (30, 10))  # items, raters
WIDE = ((10, 3), (10, 10), (10, 50), (30, 50), (300, 10), (1000, 3), (1000, 50))
ICCS = (0.1, 0.3, 0.5, 0.7, 0.9)
SD_RATER = (0.3, 1.0)  # log odds
RESIDUAL = np.pi**2 / 3
REPLICATIONS = 10
MARGINS = ("raters", "items", "icc", "sd_rater")


def study(
    replications: int,
    *,
    seed: int,
    iccs: Sequence[float] = ICCS,
    designs: Sequence[tuple[int, int]] = DESIGNS,
) -> pd.DataFrame:
    """A row for each model, design, true latent ICC, severity and replication."""
    rows = []
    cells = itertools.product(MODELS, designs, iccs, SD_RATER, range(replications))
    for categories, (items, raters), icc, sd_rater, replication in cells:
        tenths = int(10 * icc), int(10 * sd_rater)
        rng = np.random.default_rng([seed, categories, items, raters, *tenths, replication])
        cell: dict[str, Any] = {"items": items, "raters": raters, "icc": icc, "sd_rater": sd_rater}
        model = MODELS[categories]
        ratings = simulated(model, categories, rng=rng, **cell)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.ConvergenceWarning)
            # By one run: these draws are few, so that some would be drawn again.
            fit = model.fit(
                ratings, seed=replication, chains=2, draws=500, progress=False, sampler="nuts"
            )
        lower, median, upper = fit.quantities["icc"].quantile([0.05, 0.5, 0.95]).values
        found = {"bias": median - icc, "covered": lower <= icc <= upper, "width": upper - lower}
        rows.append({"model": type(model).__name__, **cell, **found})
    return pd.DataFrame(rows)


def wide_study(replications: int, iccs: Sequence[float] = ICCS) -> pd.DataFrame:
    """The same for many designs, a replication at a time; the table so far is printed."""
    found = pd.DataFrame()
    for number in range(replications):
        for design in WIDE:
            rows = study(1, seed=77 + number, iccs=iccs, designs=[design])
            found = pd.concat([found, rows], ignore_index=True)
            overall = found.groupby("model")[["covered", "bias"]].mean().round(3)
            print(f"{number}: {design}\n{overall.to_string()}", file=sys.stderr, flush=True)
    return found


def by_cell(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage, bias of the median and width, by model, design and ICC."""
    cells = table.groupby(["model", "items", "raters", "icc"])[["covered", "bias", "width"]]
    return cells.mean().round(3)


def simulated(
    model: Any,
    categories: int,
    *,
    items: int,
    raters: int,
    icc: float,
    sd_rater: float,
    rng: np.random.Generator,
) -> rb.Ratings:
    """Complete ratings in categories that are about equally frequent, not all of them equal."""
    sd_item = np.sqrt(icc / (1 - icc) * (sd_rater**2 + RESIDUAL))
    total = np.sqrt(sd_item**2 + sd_rater**2 + RESIDUAL)
    cut = total * np.linspace(-0.7, 0.7, categories - 1) if categories > 2 else np.zeros(1)
    truth: dict[str, Any] = {"sd_item": sd_item, "sd_rater": sd_rater, "mean": -cut[0]}
    if categories > 2:
        truth["step"] = np.diff(cut)
    while True:
        try:
            ratings: rb.Ratings = model.simulate(
                crossed(items, raters), rng, categories=range(categories), parameters=truth
            )
        except rb.RatingsError:  # all are equal
            continue
        return ratings


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage, bias of the median and width, by model and each margin of the grid."""
    parts = [
        table.groupby(["model", margin])[["covered", "bias", "width"]].mean() for margin in MARGINS
    ]
    return pd.concat(parts, keys=MARGINS, names=["margin"]).round(3)


if __name__ == "__main__":
    arguments = [each for each in sys.argv[1:] if each != "--wide"]
    replications = int(arguments[0]) if arguments else REPLICATIONS
    iccs = [float(icc) for icc in arguments[1:]] or ICCS
    if "--wide" in sys.argv:
        found = wide_study(replications, iccs)
        print(by_cell(found).to_string())
    else:
        found = study(replications, seed=77, iccs=iccs)
    print(summary(found).to_string())
    print(found.groupby("model")[["covered", "bias", "width"]].mean().round(3).to_string())
