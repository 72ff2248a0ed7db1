"""Simulated panels: a few people rate a part of the answers, and judges that err together all.

`python -m tests.judge_panels` prints, for twenty panels, how many labels are called trusted and how
many of these are right; and how many of the raters' 90% intervals hold their accuracy.
"""

from __future__ import annotations

import warnings
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes.html_report.answers import answer

N_ANSWERS, N_BY_PEOPLE = 500, 100
GOOD = 0.7  # proportion of the answers that are good
MISREAD = {True: 0.05, False: 0.45}  # how often judges take good and bad answers for the other
OWN, SLIP = 0.06, 0.04  # errors of one judge in all runs, and of one run
PERSON = 0.96  # proportion of the ratings by people that are right


class Panel(NamedTuple):
    """Ratings of answers as good (1) or bad (0), and the truth."""

    table: pd.DataFrame
    is_good: pd.Series[bool]

    def ratings(self, **options: Any) -> rb.Ratings:
        return rb.Ratings.from_frame(
            self.table, item="answer", rating="pass", facets=["run"], **options
        )


def judge_accuracy() -> float:
    """Probability that a run of a judge is right."""
    accuracy = 0.0
    for is_good, share in ((True, GOOD), (False, 1 - GOOD)):
        reads = 1 - MISREAD[is_good]
        keeps = reads * (1 - OWN) + (1 - reads) * OWN
        accuracy += share * (keeps * (1 - SLIP) + (1 - keeps) * SLIP)
    return accuracy


def panel(seed: int, *, shared: bool = True, people: int = 3, runs: int = 3) -> Panel:
    """Two judges who misread the same answers, or each others, and people who see a fifth."""
    rng = np.random.default_rng(seed)
    good = rng.random(N_ANSWERS) < GOOD
    part = np.sort(rng.choice(N_ANSWERS, N_BY_PEOPLE, replace=False))

    def with_errors(given: np.ndarray, share: np.ndarray | float) -> np.ndarray:
        return np.asarray(given ^ (rng.random(len(given)) < share))

    misread = np.where(good, MISREAD[True], MISREAD[False])
    family = with_errors(good, misread)
    columns = [
        (part, f"person {number + 1}", "people", 1, with_errors(good[part], 1 - PERSON))
        for number in range(people)
    ]
    for number in range(2):
        own = with_errors(family if shared else with_errors(good, misread), OWN)
        name = f"judge {number + 1}"
        columns += [
            (np.arange(N_ANSWERS), name, "judges", run + 1, with_errors(own, SLIP))
            for run in range(runs)
        ]
    table = pd.concat(
        pd.DataFrame({"answer": at, "rater": rater, "pool": pool, "run": run, "pass": given * 1})
        for at, rater, pool, run, given in columns
    )
    return Panel(table, pd.Series(good))


def main() -> None:
    """Print what is claimed of twenty panels of each kind."""
    for shared in (True, False):
        for seed in range(20):
            found = panel(seed, shared=shared)
            with warnings.catch_warnings(action="ignore"):
                model = rb.recommend(found.ratings()).model
                fit = model.fit(found.ratings(), seed=seed, progress=False)
            items = fit.items()
            sure = items[items["probability"] >= 0.95]
            right = (sure["category"] == found.is_good.loc[sure.index]).mean()
            print(f"shared={shared} {seed:2}: {len(sure)} at 95%, {right:.2f} right;", end=" ")
            table = fit.raters()
            truth = np.where(table.index.str.startswith("judge"), judge_accuracy(), PERSON)
            holds = (table["lower_90"] <= truth) & (truth <= table["upper_90"])
            print(f"{holds.sum()} of 5 raters' intervals hold; {answer(fit).headline}")


if __name__ == "__main__":
    main()
