"""Where to sum the effects of the columns out, and where to sample them: both, on a grid of designs.

Each line is one design, fitted by both programs in turn: summed out, then sampled. Speed is the
smallest bulk ESS per second of processor time, which other load on the machine hardly touches. The
last column is what the switch of the package chooses, with a mark where the other is more than half
as fast again.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import NamedTuple

import pandas as pd

import reliabayes as rb
from benchmarks.simulated import simulate
from reliabayes.likelihoods.gaussian_one_pool import CrossedDesign
from reliabayes.models import gaussian_icc

WARMUP, DRAWS = 200, 300
CHOOSES_TO_SUM_OUT = gaussian_icc._summed_out
TOLERATED = 1.5


class Shape(NamedTuple):
    """Items, raters, and how many ratings an item has: ``least`` to ``per_item``."""

    items: int
    raters: int
    per_item: int
    least: int


class Speed(NamedTuple):
    """Posterior means with their Monte Carlo errors, and processor seconds of the whole fit."""

    summary: pd.DataFrame
    seconds: float

    @property
    def ess(self) -> pd.Series[float]:
        """Bulk ESS per second, by quantity."""
        return self.summary["ess_bulk"] / self.seconds


GRID = [
    *[Shape(n // 5, 20, 5, 5) for n in (1_000, 10_000, 1_000_000)],
    *[Shape(n // 5, 50, 5, 5) for n in (1_000, 10_000, 100_000, 1_000_000)],
    *[Shape(n // 5, 100, 5, 5) for n in (1_000, 10_000, 100_000, 1_000_000)],
    *[Shape(n // 5, 200, 5, 5) for n in (1_000, 10_000, 100_000, 1_000_000)],
    *[Shape(n // 5, 400, 5, 5) for n in (10_000, 100_000)],
    Shape(3_000, 100, 3, 3),
    Shape(33_000, 200, 3, 3),
    Shape(5_000, 100, 20, 20),
    Shape(5_000, 200, 20, 20),
    *[Shape(items, 50, 20, 3) for items in (1_000, 10_000, 100_000)],
    *[Shape(items, 100, 20, 3) for items in (1_000, 10_000, 100_000)],
    *[Shape(items, 200, 20, 3) for items in (1_000, 10_000, 100_000)],
    *[Shape(items, 100, 90, 3) for items in (1_000, 10_000)],
    Shape(2_000, 200, 150, 3),
    *[Shape(items, 50, 50, 50) for items in (50, 200, 2_000)],
    *[Shape(items, 100, 100, 100) for items in (100, 1_000)],
    *[Shape(items, 200, 200, 200) for items in (200, 1_000)],
    Shape(400, 400, 400, 400),
]


def main() -> None:
    """Print ratios of speed, summed out over sampled, and how well the posteriors agree."""
    warnings.simplefilter("ignore", rb.ConvergenceWarning)
    simulated = simulate(200, 20, 5)
    measure(rb.Ratings.from_frame(simulated), lambda design: True)  # loads what loads once
    head = ["few", "cells", "patterns", "s out", "s in", "min ESS out", "in"]
    head += ["min ESS/s", "icc ESS/s", "max |z|", "chosen"]
    print(" ".join(f"{word:>11}" for word in head))
    for shape in GRID:
        frame = simulate(shape.items, shape.raters, shape.per_item, least=shape.least)
        print(" ".join(f"{cell:>11}" for cell in compare(rb.Ratings.from_frame(frame))), flush=True)


def compare(ratings: rb.Ratings) -> list[str]:
    """One line of the table."""
    _, _, design = gaussian_icc._design(ratings)
    out = measure(ratings, lambda design: True)
    sampled = measure(ratings, lambda design: False)
    ratio = out.ess.min() / sampled.ess.min()
    chosen = CHOOSES_TO_SUM_OUT(design)
    loss = 1 / ratio if chosen else ratio
    return [
        f"{len(design.column_total)}",
        f"{design.counts.nnz}",
        f"{len(design.patterns[0])}",
        f"{out.seconds:.2f}",
        f"{sampled.seconds:.2f}",
        f"{out.summary['ess_bulk'].min():.0f}",
        f"{sampled.summary['ess_bulk'].min():.0f}",
        f"{ratio:.2f}",
        f"{out.ess['icc'] / sampled.ess['icc']:.2f}",
        f"{disagreement(out.summary, sampled.summary):.1f}",
        ("out" if chosen else "in") + ("!" if loss > TOLERATED else ""),
    ]


def measure(ratings: rb.Ratings, choose: Callable[[CrossedDesign], bool]) -> Speed:
    """Fit by the program chosen."""
    setattr(gaussian_icc, "_summed_out", choose)  # noqa: B010 (a function is no variable to mypy)
    start = processor_seconds()
    fit = rb.GaussianICC().fit(ratings, seed=1, warmup=WARMUP, draws=DRAWS, progress=False)
    return Speed(fit.summary(), processor_seconds() - start)


def processor_seconds() -> float:
    """Time spent by this process and the chains it started."""
    return sum(os.times()[:4])


def disagreement(one: pd.DataFrame, other: pd.DataFrame) -> float:
    """Largest difference of posterior means, in Monte Carlo standard errors."""
    error = (one["mcse"] ** 2 + other["mcse"] ** 2) ** 0.5
    return float(((one["mean"] - other["mean"]).abs() / error).max())


if __name__ == "__main__":
    main()
