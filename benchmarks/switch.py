"""When the Gaussian models should marginalise effects and when they should sample them, by design.

GaussianICC integrates all effects out, by independence sampling of the standard deviations, or
samples them all, by Gibbs sampling. GaussianXCC integrates those of the items out, and those of the
raters as well, or samples the latter by NUTS. Each line is one design, fitted both ways in turn.
Speed is the smallest bulk ESS per CPU second, on which other load on the machine has little
influence. The last column is the package's choice, with a mark where the other is more than 1.5
times as fast.
"""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import pandas as pd

import reliabayes as rb
from benchmarks.pooled import Pool, continuous, read
from benchmarks.simulated import simulate
from reliabayes.choices import Sampler
from reliabayes.families.normal import crossed
from reliabayes.models import gaussian_xcc

WARMUP, DRAWS = 200, 300
SAMPLERS: dict[str, tuple[Sampler, Sampler]] = {
    "GaussianICC": ("independence", "gibbs"),
    "GaussianXCC": ("nuts", "nuts"),
}
MODULES: dict[str, Any] = {"GaussianICC": crossed, "GaussianXCC": gaussian_xcc}
CHOICES = {name: module.integrates_out for name, module in MODULES.items()}
TOLERATED_LOSS = 1.5


class Shape(NamedTuple):
    """Items, raters, and ratings per item: from ``min_per_item`` to ``per_item``."""

    items: int
    raters: int
    per_item: int
    min_per_item: int

    def ratings(self) -> rb.Ratings:
        """Simulate ratings by one pool."""
        return read(
            simulate(self.items, self.raters, self.per_item, min_per_item=self.min_per_item)
        )


class PooledShape(NamedTuple):
    """Items, and by pool the raters and the ratings per item: ``min_per_item`` to ``per_item``."""

    items: int
    raters: int
    per_item: int
    min_per_item: int

    def ratings(self) -> rb.Ratings:
        """Simulate ratings by two pools."""
        pool = Pool(self.raters, self.per_item, self.min_per_item)
        return read(continuous(self.items, pool, pool))


class Speed(NamedTuple):
    """Summary of a fit, and CPU seconds of the whole fit."""

    summary: pd.DataFrame
    seconds: float

    @property
    def ess(self) -> pd.Series[float]:
        """Bulk ESS per CPU second, by quantity."""
        return self.summary["ess_bulk"] / self.seconds


GRID = [
    *[Shape(n // 5, raters, 5, 5) for raters in (50, 100, 200) for n in (1_000, 10_000, 100_000)],
    *[Shape(n // 5, 400, 5, 5) for n in (10_000, 100_000)],
    *[Shape(items, 100, 20, 3) for items in (1_000, 10_000)],
    *[Shape(items, 200, 20, 3) for items in (1_000, 10_000)],
    Shape(1_000, 100, 90, 3),
    Shape(2_000, 200, 150, 3),
    Shape(1_000, 150, 4, 4),
    Shape(1_000, 250, 4, 4),
    *[Shape(size, size, size, size) for size in (50, 100, 200, 400)],
]


POOLED = [
    *[PooledShape(n // 4, 25, 2, 2) for n in (1_000, 10_000, 100_000)],
    *[PooledShape(n // 4, 50, 2, 2) for n in (1_000, 10_000, 100_000)],
    *[PooledShape(n // 4, 100, 2, 2) for n in (1_000, 10_000, 100_000)],
    *[PooledShape(items, 50, 6, 1) for items in (300, 3_000)],
    PooledShape(2_000, 150, 3, 1),
]
GRIDS: dict[str, Any] = {"GaussianICC": GRID, "GaussianXCC": POOLED}


def main(models: list[str]) -> None:
    """Print the speed with marginalised effects relative to that with sampled ones, by design."""
    warnings.simplefilter("ignore", rb.ConvergenceWarning)
    ratings = read(simulate(200, 20, 5))
    measure("GaussianICC", ratings, lambda design: True, "independence")  # imports and caches
    head = ["effects", "cells", "patterns", "s marg.", "s sampled", "ESS marg.", "ESS sampled"]
    head += ["min ESS/s", "icc ESS/s", "max |z|", "chosen"]
    for model in models or GRIDS:
        print(f"{model}\n" + " ".join(f"{word:>11}" for word in head))
        for shape in GRIDS[model]:
            line = compare(model, shape.ratings())
            print(" ".join(f"{cell:>11}" for cell in line), flush=True)


def compare(model: str, ratings: rb.Ratings) -> list[str]:
    """Fit one design both ways: a line of the table."""
    design = getattr(rb, model)().problem(ratings).design
    of_marginal, of_all = SAMPLERS[model]
    marginalised = measure(model, ratings, lambda design: True, of_marginal)
    sampled = measure(model, ratings, lambda design: False, of_all)
    ratio = marginalised.ess.min() / sampled.ess.min()
    chosen = CHOICES[model](design)
    loss = 1 / ratio if chosen else ratio
    icc = marginalised.ess.filter(like="icc")
    return [
        f"{min(design.counts.shape) if model == 'GaussianICC' else design.counts.shape[1]}",
        f"{design.counts.nnz}",
        f"{len(design.patterns[0])}",
        f"{marginalised.seconds:.2f}",
        f"{sampled.seconds:.2f}",
        f"{marginalised.summary['ess_bulk'].min():.0f}",
        f"{sampled.summary['ess_bulk'].min():.0f}",
        f"{ratio:.2f}",
        f"{icc.iloc[0] / sampled.ess[icc.index[0]]:.2f}",
        f"{disagreement(marginalised.summary, sampled.summary):.1f}",
        ("marg." if chosen else "sampled") + ("!" if loss > TOLERATED_LOSS else ""),
    ]


def measure(
    model: str, ratings: rb.Ratings, choose: Callable[[Any], bool], sampler: Sampler
) -> Speed:
    """Fit with the sums that ``choose`` selects, by a sampler."""
    MODULES[model].integrates_out = choose
    start = cpu_seconds()
    sampling = {"seed": 1, "warmup": WARMUP, "draws": DRAWS, "progress": False}
    fit = getattr(rb, model)().fit(ratings, sampler=sampler, **sampling)
    return Speed(fit.summary(), cpu_seconds() - start)


def cpu_seconds() -> float:
    """CPU seconds of this process and of the chains it started."""
    return sum(os.times()[:4])


def disagreement(one: pd.DataFrame, other: pd.DataFrame) -> float:
    """Largest difference of posterior means, in Monte Carlo standard errors."""
    error = (one["mcse"] ** 2 + other["mcse"] ** 2) ** 0.5
    return float(((one["mean"] - other["mean"]).abs() / error).max())


if __name__ == "__main__":
    main(sys.argv[1:])
