"""Classical coefficients and intervals: other packages, growth with size, and a simulation study.

    python -m benchmarks.agreement [peers] [xrr] [growth] [study]

The candidates take turns within one session, so that other load on the machine affects all of them
equally. README.md has the results.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np

from benchmarks.agreement_growth import growth
from benchmarks.agreement_timing import time_call
from benchmarks.agreement_xrr import xrr
from reliabayes.simulate import COEFFICIENTS, reliability_study

AGREEMENTS = tuple(np.linspace(0.05, 0.95, 10).round(2))
STUDIES: Mapping[str, Mapping[str, Any]] = {  # each has 10,000 matrices of 100 items
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
    """Run the parts named on the command line, or all of them."""
    parts = {"peers": peers, "xrr": xrr, "growth": growth, "study": study}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print seconds of coefficients and their intervals, here and in other packages."""
    from benchmarks.agreement_peers import compare

    compare()


def study() -> None:
    """Print seconds of studies of 10,000 matrices with all coefficients, in two processes."""
    reliability_study(matrices=2, n_jobs=2, progress=False)  # warm-up: imports and caches
    print(f"\n10,000 matrices, {len(COEFFICIENTS)} coefficients, 2 processes; target: 120 s")
    for name, design in STUDIES.items():
        wall, _, table = time_call(
            partial(reliability_study, agreement=AGREEMENTS, n_jobs=2, progress=False, **design)
        )
        print(f"{name:52}{len(table):7,} matrices{wall:8.1f} s", flush=True)


if __name__ == "__main__":
    main()
