"""Whole fits of simulated and real ratings by few raters, or of which there are many.

python -m benchmarks.designs
"""

from __future__ import annotations

from typing import Any

import numpy as np

import reliabayes as rb
from benchmarks.annotation_crowds import fitted, measured
from benchmarks.simulated import simulate_pools

# Model, seconds that a fit may take on two idle processors, items, raters of each pool and ratings
# of an item by each, and pools.
DESIGNS: tuple[tuple[Any, int, tuple[int, int, int], int], ...] = (
    (rb.LogitICC(), 15, (10_000, 50, 10), 1),
    (rb.OrdinalICC(), 15, (10_000, 50, 10), 1),
    (rb.OrdinalXCC(), 5, (600, 12, 3), 2),
    (rb.LogitXCC(), 10, (100, 12, 5), 3),
    (rb.OrdinalXCC(), 10, (100, 12, 5), 3),
)
XCC = 0.7  # of pools
REAL: tuple[tuple[str, dict[str, Any], Any, int], ...] = (
    ("hs_brexit", {"rating": "hate_speech", "pool": "pool"}, rb.LogitXCC(), 5),
    ("snow2008_rte", {"scale": "nominal"}, rb.LogitICC(), 12),
    ("snow2008_rte", {"scale": "ordered"}, rb.OrdinalICC(), 12),
    ("snow2008_rte", {"scale": "nominal"}, rb.LatentTAP(), 20),
)


def main() -> None:
    """Print a row for each design and for each real set."""
    print(f"{'':40}  ratings  raters  target       s   CPU s  R-hat  bulk ESS")
    for model, seconds, size, pools in DESIGNS:
        name = f"{type(model).__name__}, {pools} pools" if pools > 1 else type(model).__name__
        report(name, model, simulated(model, size, pools), seconds)
    for name, options, model, seconds in REAL:
        path = rb.datasets.folder() / f"{name}.csv"
        ratings = rb.read_ratings(path, **options)
        report(f"{type(model).__name__}, {name}", model, ratings, seconds)


def report(name: str, model: Any, ratings: rb.Ratings, seconds: int) -> None:
    """Fit, and print a row."""
    _, figures = measured(fitted, model, ratings)
    print(f"{name:40}{len(ratings):9,}{ratings.n_raters:8}{seconds:8}{figures}", flush=True)


def simulated(model: Any, size: tuple[int, int, int], pools: int) -> rb.Ratings:
    """Ratings by pools of so many raters each, from the model, with sds of 1 and these xCCs."""
    items, raters, each = size
    design = simulate_pools(items, raters, [each] * pools)
    design = design[["item", "rater", "pool"][: 2 + (pools > 1)]]
    categories = range(2 if "logit" in model.name() else 5)
    rng = np.random.default_rng(1)
    sd: Any = np.ones(pools) if pools > 1 else 1.0
    truth = {"sd_item": sd, "sd_rater": sd}
    if pools > 1:
        truth["factor_item"] = np.linalg.cholesky(XCC + (1 - XCC) * np.eye(pools))
    ratings: rb.Ratings = model.simulate(design, rng, parameters=truth, categories=categories)
    return ratings


if __name__ == "__main__":
    main()
