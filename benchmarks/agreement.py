"""Classical coefficients and their intervals: against peers, by size, and in a simulated study.

    python -m benchmarks.agreement [peers] [xrr] [growth] [study]

What is compared alternates in one session, so that the machine's other load falls on all alike;
README.md holds the figures.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.agreement_growth import growth
from benchmarks.agreement_timing import spent
from benchmarks.agreement_xrr import xrr
from reliabayes.simulate import COEFFICIENTS, reliability_study

WANTED = tuple(np.linspace(0.05, 0.95, 10).round(2))  # agreements
STUDIES: Mapping[str, Mapping[str, Any]] = {  # each of 10,000 matrices of 100 items
    "3 categories, 2 of 6 raters": {"matrices": 1000},
    "5 categories, all of 6 raters": {
        "matrices": 1000,
        "categories": [5],
        "ratings_per_item": [6],
    },
    "3 and 5 categories, 2, 4, 8, 12 and 20 of 20 raters": {
        "matrices": 100,
        "categories": [3, 5],
        "raters": [20],
        "ratings_per_item": [2, 4, 8, 12, 20],
    },
}


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"peers": peers, "xrr": xrr, "growth": growth, "study": study}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print how long coefficients and their intervals take, and with the packages of others."""
    from benchmarks.agreement_peers import compare

    compare()


def study() -> None:
    """Print seconds of studies of 10,000 matrices, all coefficients of each, in two processes."""
    reliability_study(matrices=2, n_jobs=2, progress=False)  # loads what loads once
    print(f"\n10,000 matrices, {len(COEFFICIENTS)} coefficients, 2 processes; promised: 120 s")
    for name, design in STUDIES.items():
        clock, _, table = spent(
            partial(reliability_study, agreement=WANTED, n_jobs=2, progress=False, **design)
        )
        print(f"{name:52}{len(table):7,} matrices{clock:8.1f} s", flush=True)


if __name__ == "__main__":
    main()
