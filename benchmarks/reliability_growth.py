"""Time and memory of LogitICC, LogitXCC and GaussianXCC, by items, raters and ratings per item."""

from __future__ import annotations

from typing import NamedTuple

import pandas as pd

from benchmarks.growth import measured
from benchmarks.pooled import Pool, binary, continuous


class Size(NamedTuple):
    """Items, raters per pool, and ratings per item and pool."""

    items: int
    raters: int
    per_item: int

    def frame(self, model: str) -> pd.DataFrame:
        """Simulate ratings for a model, by two pools if it compares pools."""
        pool = Pool(self.raters, self.per_item)
        pools = [pool, pool] if model.endswith("XCC") else [pool]
        if model.startswith("Gaussian"):
            return continuous(self.items, *pools)
        return binary(self.items, *pools)


SIZES = {
    "LogitICC": (
        *(Size(items, 50, 5) for items in (200, 2_000, 20_000)),
        *(Size(2_000, raters, 5) for raters in (10, 250, 1_000)),
        *(Size(10_000 // n, 50, n) for n in (2, 20, 50)),
    ),
    "LogitXCC": (
        *(Size(items, 20, 5) for items in (100, 500, 2_000)),
        *(Size(500, raters, 5) for raters in (5, 100, 250)),
        *(Size(2_500 // n, 20, n) for n in (2, 10, 20)),
    ),
    "GaussianXCC": (
        *(Size(items, 20, 5) for items in (100, 1_000, 10_000, 100_000, 1_000_000)),
        *(Size(10_000, raters, 5) for raters in (5, 50, 100)),
        *(Size(50_000 // n, 20, n) for n in (2, 10, 20)),
    ),
}


def growth() -> None:
    """Print seconds, leapfrog steps per iteration, ESS and peak memory of each size."""
    for model, sizes in SIZES.items():
        print(f"\n{model}")
        print("  ratings  raters per item   fit s  steps  CPU ms/step  ESS icc  min ESS  peak GB")
        for size in sizes:
            found = measured(model, size.frame(model))
            print(
                "{ratings:9,}{raters:8}{per_item:9}{fit_s:8.2f}{steps:7.1f}{step_ms:13.3f}"
                "{ess_icc:9.0f}{ess_min:9.0f}{peak_gb:9.2f}".format(**size._asdict(), **found),
                flush=True,
            )
