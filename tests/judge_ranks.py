"""How sure ranks of systems are of the first one, and how often they are right.

`python -m tests.judge_ranks 100 20x10 20x100` simulates 100 studies each of 20 systems on 10 and on
100 prompts. It prints, for rates on the same prompts and for partially pooled ones, the mean
probability of the system that is called first, how often it is, and the mean log score of the
probability of the true first system, beside that of equal probabilities. A third number, as in
20x100x2, is the standard deviation of the log odds of prompts.
"""

from __future__ import annotations

import sys
import warnings
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit

import reliabayes as rb
from reliabayes.families.judges.pairing import paired_rates
from tests.judge_answers import MISREADS, OWN, RIGHT, SLIP, flipped

LEVEL, SPREAD = 1.0, 0.5  # log odds of a good answer, and their sd between systems
HARD = 1.0  # sd of log odds between prompts
TIED = 1e-9  # below which rates are equal
LEAST_LABELLED, LABELLED = 5, 3  # prompts that people label: so many, or one of so many


class Study(NamedTuple):
    """Answers of systems to the same prompts, by two judges of a family and three people."""

    ratings: rb.Ratings
    first: int  # position of the best system

    @classmethod
    def simulated(cls, systems: int, prompts: int, seed: int, hard: float = HARD) -> Study:
        rng = np.random.default_rng([systems, prompts, seed])
        level = rng.normal(LEVEL, SPREAD, systems)
        log_odds = level[:, None] + rng.normal(0, hard, prompts)
        good = (rng.random(log_odds.shape) < expit(log_odds)).ravel()
        system, prompt = (at.ravel() for at in np.indices(log_odds.shape))
        read = flipped(good, MISREADS["shared"][0], rng)
        is_labelled = prompt < max(LEAST_LABELLED, prompts // LABELLED)
        tables = []

        def add(rater: str, pool: str, rating: np.ndarray, seen: np.ndarray) -> None:
            own = {"system": [f"system {at:02}" for at in system[seen]], "prompt": prompt[seen]}
            tables.append(pd.DataFrame({**own, "rater": rater, "pool": pool, "rating": rating * 1}))

        for number in (1, 2):
            said = read ^ (rng.random(len(read)) < OWN + SLIP)
            add(f"judge {number}", "llm", said, np.ones(len(read), bool))
        for number, (right, wrong) in enumerate(RIGHT):
            said = flipped(good[is_labelled], (1 - right, 1 - wrong), rng)
            add(f"person {number}", "human", said, is_labelled)
        table = pd.concat(tables, ignore_index=True)
        table["item"] = table["system"] + "/" + table["prompt"].map(str)
        ratings = rb.Ratings.from_frame(
            table, pool="pool", group="system", block="prompt", scale="nominal", categories=[0, 1]
        )
        return cls(ratings, int(level.argmax()))


def pr_first(study: Study, seed: int) -> dict[str, np.ndarray]:
    """Probability of each system to be first, by rates on the same prompts and by pooled ones."""
    family = {"judge 1": "one", "judge 2": "one"}
    fit = rb.JudgePanel(human="human", family=family).fit(
        study.ratings, seed=seed, chains=2, draws=500, parallel_chains=1, progress=False
    )
    rng = np.random.default_rng(seed)
    values = {
        "on the same prompts": paired_rates(fit.panel.posterior, 1, "people", rng),
        "pooled": fit.panel.rate_draws().values[:, :, 1],
    }
    found = {}
    for name, x in values.items():
        first = (x + TIED * rng.random(x.shape)).argmax(axis=1)
        found[name] = np.bincount(first, minlength=x.shape[1]) / len(x)
    return found


def scored(systems: int, prompts: int, seeds: range, hard: float = HARD) -> pd.DataFrame:
    """A row for each study and kind of rates: what is said of the first system, and the score."""
    rows = []
    for seed in seeds:
        study = Study.simulated(systems, prompts, seed, hard)
        with warnings.catch_warnings(action="ignore"):
            found = pr_first(study, seed + 1)
        for name, pr in found.items():
            said, right = pr.max(), float(pr.argmax() == study.first)
            score = np.log(
                (1000 * pr[study.first] + 1 / systems) / 1001
            )  # finite if no draw has it
            rows.append({"rates": name, "said": said, "right": right, "log score": score})
    return pd.DataFrame(rows)


def main() -> None:
    """Simulate studies, and print what is said of the first system."""
    for design in sys.argv[2:]:
        systems, prompts, *hard = map(int, design.split("x"))
        found = scored(systems, prompts, range(int(sys.argv[1])), *hard).groupby("rates")
        print(f"{design}: equal probabilities score {np.log(1 / systems):.2f}")
        print(found.mean().assign(se=found["log score"].sem()).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
