"""When GaussianICC should marginalise effects and when it should sample them, by design.

GaussianICC integrates the effects of the larger of items and raters out exactly. The effects of the
smaller of the two can be marginalised as well, or sampled. Each line is one design, fitted by both
programs in turn. Speed is the smallest bulk ESS per CPU second, on which other load on the machine
has little influence. The last column is the package's choice, with a mark where the other program
is more than 1.5 times as fast.
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
INTEGRATES_OUT = gaussian_icc._integrates_out
TOLERATED_LOSS = 1.5


class Shape(NamedTuple):
    """Items, raters, and ratings per item: from ``min_per_item`` to ``per_item``."""

    items: int
    raters: int
    per_item: int
    min_per_item: int


class Speed(NamedTuple):
    """Summary of a fit, and CPU seconds of the whole fit."""

    summary: pd.DataFrame
    seconds: float

    @property
    def ess(self) -> pd.Series[float]:
        """Bulk ESS per CPU second, by quantity."""
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
    """Print the speed of the marginalised program relative to the sampled one, by design."""
    warnings.simplefilter("ignore", rb.ConvergenceWarning)
    simulated = simulate(200, 20, 5)
    measure(rb.Ratings.from_frame(simulated), lambda design: True)  # warm-up: imports and caches
    head = ["effects", "cells", "patterns", "s marg.", "s sampled", "ESS marg.", "ESS sampled"]
    head += ["min ESS/s", "icc ESS/s", "max |z|", "chosen"]
    print(" ".join(f"{word:>11}" for word in head))
    for shape in GRID:
        frame = simulate(shape.items, shape.raters, shape.per_item, min_per_item=shape.min_per_item)
        print(" ".join(f"{cell:>11}" for cell in compare(rb.Ratings.from_frame(frame))), flush=True)


def compare(ratings: rb.Ratings) -> list[str]:
    """Fit one design by both programs: a line of the table."""
    design = rb.GaussianICC().problem(ratings).design
    marginalised = measure(ratings, lambda design: True)
    sampled = measure(ratings, lambda design: False)
    ratio = marginalised.ess.min() / sampled.ess.min()
    chosen = INTEGRATES_OUT(design)
    loss = 1 / ratio if chosen else ratio
    return [
        f"{len(design.column_total)}",
        f"{design.counts.nnz}",
        f"{len(design.patterns[0])}",
        f"{marginalised.seconds:.2f}",
        f"{sampled.seconds:.2f}",
        f"{marginalised.summary['ess_bulk'].min():.0f}",
        f"{sampled.summary['ess_bulk'].min():.0f}",
        f"{ratio:.2f}",
        f"{marginalised.ess['icc'] / sampled.ess['icc']:.2f}",
        f"{disagreement(marginalised.summary, sampled.summary):.1f}",
        ("marg." if chosen else "sampled") + ("!" if loss > TOLERATED_LOSS else ""),
    ]


def measure(ratings: rb.Ratings, choose: Callable[[CrossedDesign], bool]) -> Speed:
    """Fit by the program that ``choose`` selects."""
    setattr(gaussian_icc, "_integrates_out", choose)  # noqa: B010 (mypy rejects assignment to a function)
    start = cpu_seconds()
    fit = rb.GaussianICC().fit(ratings, seed=1, warmup=WARMUP, draws=DRAWS, progress=False)
    return Speed(fit.summary(), cpu_seconds() - start)


def cpu_seconds() -> float:
    """CPU seconds of this process and of the chains it started."""
    return sum(os.times()[:4])


def disagreement(one: pd.DataFrame, other: pd.DataFrame) -> float:
    """Largest difference of posterior means, in Monte Carlo standard errors."""
    error = (one["mcse"] ** 2 + other["mcse"] ** 2) ** 0.5
    return float(((one["mean"] - other["mean"]).abs() / error).max())


if __name__ == "__main__":
    main()
