"""What ``tidy=True`` costs: processor time of reading a CSV file with and without it.

``python -m benchmarks.tidying --ratings 1e6`` writes a table of so many ratings, reads it both
ways in turn, and prints the shortest time of each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pandas as pd

import reliabayes as rb

RATERS, PER_ITEM = 1000, 10


def write(path: Path, n_ratings: int) -> None:
    """Write grades from 1 to 5 of items by ten raters each."""
    rng = np.random.default_rng(1)
    item = np.repeat(np.arange(n_ratings // PER_ITEM), PER_ITEM)
    rater = (7 * item + np.tile(np.arange(PER_ITEM), n_ratings // PER_ITEM)) % RATERS
    columns = {"item": item, "rater": rater, "rating": rng.integers(1, 6, len(item))}
    frame = pd.DataFrame(columns)
    frame["rater"] = "r" + frame["rater"].astype(str)
    frame.to_csv(path, index=False)


def measured(path: Path, *, tidy: bool) -> float:
    """Seconds of a processor that reading takes."""
    start = time.process_time()
    rb.read_ratings(path, tidy=tidy)
    return time.process_time() - start


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--ratings", type=float, default=1e6)
    parser.add_argument("--repeats", type=int, default=3)
    given = parser.parse_args()
    with TemporaryDirectory() as folder:
        path = Path(folder, "ratings.csv")
        write(path, int(given.ratings))
        times = [
            [measured(path, tidy=tidy) for tidy in (False, True)] for _ in range(given.repeats)
        ]
    plain, tidied = np.min(times, axis=0)
    print(f"plain {plain:.2f} s, tidy {tidied:.2f} s, ratio {tidied / plain:.2f}")


if __name__ == "__main__":
    main()
