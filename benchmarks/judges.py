"""Seconds from files of judges and people to a verdict and a report, by the command line.

`python -m benchmarks.judges` runs all cases; names of cases choose among these.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from pathlib import Path
from subprocess import DEVNULL, run
from typing import NamedTuple

import numpy as np
import pandas as pd

from tests.judge_answers import RIGHT, SYSTEMS, flipped

MISREADS, OWN, SLIP = (0.08, 0.4), 0.06, 0.04  # shares of answers that judges take for others
DECIDED = (0, 3, 4)  # exit statuses of a verdict


class Case(NamedTuple):
    """Sizes of a study of two systems."""

    answers: int
    labelled: int
    people: int
    judges: int
    runs: int
    categories: int = 2


CASES = {
    "500 answers": Case(500, 100, 3, 2, 3),
    "1,000,000 judge labels": Case(100_000, 3_334, 3, 5, 2),
    "10 categories": Case(500, 100, 3, 2, 3, 10),
}


def simulated(case: Case, seed: int = 1) -> tuple[pd.DataFrame, pd.DataFrame]:
    """What judges said, and the label sheet of people."""
    rng = np.random.default_rng(seed)
    system = np.repeat(SYSTEMS, case.answers // 2)
    item = np.array([f"answer {number}" for number in range(case.answers)])
    last = case.categories - 1
    mean = np.where(system == SYSTEMS[0], 0.65, 0.75)
    truth = rng.binomial(last, rng.beta(2 * mean, 2 * (1 - mean)))

    def taken(given: np.ndarray, share: tuple[float, float]) -> np.ndarray:
        """Ratings, some of them taken for a neighbour; of two categories for the other."""
        if last == 1:
            return flipped(given == 1, share, rng).astype(int)
        moves = rng.choice([-1, 1], len(given)) * (rng.random(len(given)) < share[1])
        return np.asarray(np.clip(given + moves, 0, last))

    family = taken(truth, MISREADS)
    said, labels = [], []
    for judge in range(case.judges):
        own = taken(family, (OWN, OWN))
        for number in range(case.runs):
            columns = {"item": item, "system": system, "rater": f"judge {judge + 1}"}
            rating = taken(own, (SLIP, SLIP))
            said.append(pd.DataFrame({**columns, "run": number + 1, "rating": rating}))
    seen = rng.choice(case.answers, case.labelled, replace=False)
    for person in range(case.people):
        right, wrong = RIGHT[person % len(RIGHT)]
        rating = taken(truth[seen], (1 - right, 1 - wrong))
        columns = {"item": item[seen], "rater": f"person {person + 1}"}
        labels.append(pd.DataFrame({**columns, "rating": rating}))
    return pd.concat(said), pd.concat(labels)


def main() -> None:
    """Print the seconds of each case."""
    for name, case in CASES.items():
        if sys.argv[1:] and name not in sys.argv[1:]:
            continue
        with tempfile.TemporaryDirectory() as folder:
            for table, file in zip(simulated(case), ("said.csv", "labels.csv"), strict=True):
                table.to_csv(Path(folder, file), index=False)
            category = "" if case.categories == 2 else f", {case.categories - 1}"
            new, old = (f"rate[{system}{category}]" for system in reversed(SYSTEMS))
            words = "said.csv --human labels.csv --group system --facet run --report page.html"
            command = [str(Path(sys.executable).with_name("reliabayes")), "judge", *words.split()]
            wall, cpu = time.perf_counter(), sum(os.times()[:4])
            requirement = ["--require", f"{new} - {old} > -0.02 with 0.95"]
            done = run([*command, *requirement], cwd=folder, stdout=DEVNULL, check=False)
            seconds, used = time.perf_counter() - wall, sum(os.times()[:4]) - cpu
            assert done.returncode in DECIDED
        print(f"{name}: {seconds:.1f} s, {used:.1f} CPU s", flush=True)


if __name__ == "__main__":
    main()
