"""Simulated answers of two systems, judged by people and by judges that err together."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
import pandas as pd

import reliabayes as rb

Kind = Literal["shared", "self-preferring", "useless", "independent"]

SYSTEMS = ("v3", "v4")
TRUE_RATES = 0.75, 0.65
RIGHT = (0.92, 0.93), (0.90, 0.90), (0.88, 0.87)  # people on good and on bad answers
MISREADS = {  # how often the family takes good and bad answers of each system for the other
    "shared": ((0.05, 0.45), (0.05, 0.45)),
    "self-preferring": ((0.03, 0.70), (0.12, 0.20)),
    "useless": ((0.5, 0.5), (0.5, 0.5)),
    "independent": ((0.05, 0.45), (0.05, 0.45)),
}
OWN, SLIP = 0.06, 0.04  # errors of one judge in all runs, and of one run


class Answers(NamedTuple):
    """Ratings of answers as good (1) or bad (0), and what is good in fact."""

    table: pd.DataFrame
    is_good: pd.Series[bool]

    @property
    def ratings(self) -> rb.Ratings:
        return rb.Ratings.from_frame(self.table, pool="pool", facets=["run"], group="system")


def answers(
    seed: int,
    kind: Kind = "shared",
    *,
    by_system: int = 250,
    labelled: int = 50,
    people: int = 3,
    judges: int = 3,
    runs: int = 2,
    where_judges_disagree: bool = False,
) -> Answers:
    """A panel: people see a part of each system's answers, judges see all, several times."""
    rng = np.random.default_rng(seed)
    tables, goods = [], []
    for system, rate, misread in zip(SYSTEMS, TRUE_RATES, MISREADS[kind], strict=True):
        good = rng.random(by_system) < rate
        ids = np.array([f"{system}-{number:03}" for number in range(by_system)])
        family = flipped(good, misread, rng)
        said = []
        for judge in range(judges):
            reads = flipped(good, misread, rng) if kind == "independent" else family
            own = reads ^ (rng.random(by_system) < OWN)
            for run in range(runs):
                answer = own ^ (rng.random(by_system) < SLIP)
                said.append(answer)
                tables.append(part(ids, f"judge {judge + 1}", "llm", run + 1, system, answer))
        order = rng.permutation(by_system)
        if where_judges_disagree:
            apart = np.ptp(np.array(said, int), axis=0)
            order = order[np.argsort(-apart[order], kind="stable")]
        seen = np.sort(order[:labelled])
        for person in range(people):
            right, wrong = RIGHT[person % len(RIGHT)]
            rating = flipped(good[seen], (1 - right, 1 - wrong), rng)
            tables.append(part(ids[seen], f"person {person + 1}", "human", 1, system, rating))
        goods.append(pd.Series(good, ids))
    return Answers(pd.concat(tables, ignore_index=True), pd.concat(goods))


def flipped(good: np.ndarray, share: tuple[float, float], rng: np.random.Generator) -> np.ndarray:
    """What is taken for good, if such shares of good and of bad answers are taken for the other."""
    return np.asarray(good ^ (rng.random(len(good)) < np.where(good, *share)))


def part(
    item: np.ndarray, rater: str, pool: str, run: int, system: str, rating: np.ndarray
) -> pd.DataFrame:
    own = {"rater": rater, "pool": pool, "run": run, "system": system, "rating": rating * 1}
    return pd.DataFrame({"item": item, **own})
