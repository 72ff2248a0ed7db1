"""Coverage and bias of correlations between pools under priors of the xCC models.

    python -m benchmarks.pool_priors [replications] [model ...]

Two pools of five raters rate all items.
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
from reliabayes.inference import correlation
from reliabayes.simulate import crossed

RATERS = 5  # in each of two pools
ITEMS, RHO, LKJ = (30, 200), (0.3, 0.8), (1.0, 2.0)
REPLICATIONS = 20
SDS = {"sd_item": np.full(2, 1.5), "sd_rater": np.full(2, 0.7)}
TRUTH: dict[str, dict[str, Any]] = {
    "GaussianXCC": {**SDS, "sd_residual": np.array([1.8]), "mean": np.zeros(2)},
    "LogitXCC": {**SDS, "mean": np.zeros(2)},
    "OrdinalXCC": {**SDS, "mean": np.full(2, 1.2), "step": np.full((2, 1), 2.4)},
}
CATEGORIES: dict[str, Any] = {"LogitXCC": range(2), "OrdinalXCC": range(3)}


def study(model: str, replications: int, *, seed: int, lkjs: Sequence[float] = LKJ) -> pd.DataFrame:
    """A row for each number of items, correlation, prior, replication and quantity."""
    rows: list[dict[str, Any]] = []
    for items, rho, replication in itertools.product(ITEMS, RHO, range(replications)):
        rng = np.random.default_rng([seed, items, int(100 * rho), replication])
        ratings = simulated(model, items, rho, rng)
        for lkj in lkjs:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", rb.ConvergenceWarning)
                fit = getattr(rb, model)(prior_lkj=lkj).fit(
                    ratings, seed=replication, chains=2, draws=500, progress=False
                )
            draws = fit.quantities
            for name, true in (("normalized_xcc", rho), ("icc", icc(model))):
                values = draws[name].isel({str(draws[name].dims[-1]): 0})
                lower, median, upper = values.quantile([0.05, 0.5, 0.95]).values
                found = {"covered": lower <= true <= upper, "bias": median - true}
                cell = {"items": items, "rho": rho, "lkj": lkj, "quantity": name}
                rows.append({"model": model, **cell, **found, "width": upper - lower})
    return pd.DataFrame(rows)


def simulated(model: str, items: int, rho: float, rng: np.random.Generator) -> rb.Ratings:
    """Ratings of all items by all raters of both pools."""
    factor = correlation.factor(np.arctanh([rho]), 2)
    chosen = {"categories": CATEGORIES[model]} if model in CATEGORIES else {}
    ratings: rb.Ratings = getattr(rb, model)().simulate(
        crossed(items, RATERS, pools=2),
        rng,
        parameters={**TRUTH[model], "factor_item": factor},
        **chosen,
    )
    return ratings


def icc(model: str) -> float:
    """Latent ICC of each pool."""
    residual = TRUTH[model]["sd_residual"][0] ** 2 if model == "GaussianXCC" else np.pi**2 / 3
    return float(1.5**2 / (1.5**2 + 0.7**2 + residual))


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage, bias of the median and width, by cell."""
    by = ["model", "quantity", "items", "rho", "lkj"]
    return table.groupby(by)[["covered", "bias", "width"]].mean().round(3)


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else REPLICATIONS
    for name in sys.argv[2:] or TRUTH:
        print(summary(study(name, replications, seed=1)).to_string(), flush=True)
