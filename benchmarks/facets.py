"""Whole fits of G studies: complete designs of several sizes, and with empty cells.

python -m benchmarks.facets
"""

from __future__ import annotations

import time
from math import prod

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotation_crowds import fitted, timed

# Items, raters, occasions, and the share of the cells that is kept.
DESIGNS = (
    (60, 4, 2, 1.0),
    (200, 20, 5, 1.0),
    (60, 4, 2, 0.9),
    (200, 20, 5, 0.1),
)
SDS = {"item": 1.0, "rater": 0.5, "occasion": 0.3, "item x rater": 0.4}


def fits() -> None:
    """Print seconds, R-hat and ESS of fits with default settings."""
    print(f"{'':32}{'s':>8}{'CPU s':>8}{'R-hat':>8}{'bulk ESS':>10}{'in doubt':>10}")
    for items, raters, occasions, share in DESIGNS:
        rated = simulated(items, raters, occasions, share)
        model = rb.GStudy(design="item x rater x occasion")
        began = time.perf_counter()
        cpu, fit = timed(fitted, model, rated)
        wall = time.perf_counter() - began
        checks = fit.diagnostics()
        label = f"{len(rated):,} of {items} x {raters} x {occasions}"
        print(
            f"{label:32}{wall:8.1f}{cpu:8.1f}{checks.r_hat:8.3f}{checks.ess_bulk:10.0f}"
            f"{len(checks.problems):10}",
            flush=True,
        )


def simulated(items: int, raters: int, occasions: int, share: float) -> rb.Ratings:
    """Ratings of a part of the cells, chosen at random."""
    rng = np.random.default_rng(1)
    sizes = (items, raters, occasions)
    cells = np.indices(sizes).reshape(3, -1)
    table = pd.DataFrame(dict(zip(("item", "rater", "occasion"), cells, strict=True)))
    effects = {
        "item": rng.standard_normal(items)[cells[0]],
        "rater": rng.standard_normal(raters)[cells[1]],
        "occasion": rng.standard_normal(occasions)[cells[2]],
        "item x rater": rng.standard_normal(items * raters)[cells[0] * raters + cells[1]],
    }
    noise = rng.standard_normal(prod(sizes))
    table["rating"] = noise + sum(sd * effects[name] for name, sd in SDS.items())
    kept = table if share == 1 else table.sample(frac=share, random_state=1)
    return rb.Ratings.from_frame(kept, facets=["occasion"])


if __name__ == "__main__":
    fits()
