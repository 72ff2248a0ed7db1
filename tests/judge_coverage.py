"""Coverage and width of intervals of judge panels, over simulated ones whose truth is known.

`python -m tests.judge_coverage 40` prints for 40 panels of each kind how many 95% intervals of the
first system's rate, and of the difference of both, hold the true one, with their mean widths: of
true categories, of ratings by people, and of people alone; and how wide they may be.
"""

from __future__ import annotations

import sys
import warnings
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

import reliabayes as rb
from tests.judge_answers import RIGHT, SYSTEMS, TRUE_RATES, Answers, Kind, answers

OPTIONS: dict[str, Any] = {"chains": 2, "draws": 500, "parallel_chains": 1, "progress": False}
PEOPLE = tuple(f"person {number + 1}" for number in range(3))


class Interval(NamedTuple):
    """Whether an interval holds the true value, and its width."""

    holds: bool
    width: float

    @classmethod
    def of(cls, draws: np.ndarray, true: float) -> Interval:
        lower, upper = np.quantile(draws, [0.025, 0.975])
        return cls(bool(lower <= true <= upper), float(upper - lower))


def rate_by_people(rate: float) -> float:
    """Expected share of an item's ratings by people that call it good."""
    right, wrong = np.mean(RIGHT, axis=0)
    return float(rate * right + (1 - rate) * (1 - wrong))


def intervals(found: Answers, seed: int) -> dict[str, Interval]:
    """Intervals of the first system's rate, and of its difference from the second."""
    ratings = found.ratings
    result: dict[str, Interval] = {}
    people = ratings.subset(raters=PEOPLE)
    for name, data, human in (("", ratings, "human"), ("people alone: ", people, PEOPLE)):
        with warnings.catch_warnings(action="ignore"):
            fit = rb.JudgePanel(human=human).fit(data, seed=seed, **OPTIONS)
        for of in ("truth", "people"):
            true = [rate_by_people(x) if of == "people" else x for x in TRUE_RATES]
            draws = fit.panel.rate_draws(of).sel(category=1).values
            result[f"{name}{of}"] = Interval.of(draws[:, 0], true[0])
            difference = draws[:, 0] - draws[:, 1]
            result[f"{name}{of}, difference"] = Interval.of(difference, true[0] - true[1])
    return result


def reduction(found: Answers) -> float:
    """Width that judges may leave, relative to people alone: sqrt(1 - r^2 (1 - n / N))."""
    table = found.table[found.table["system"] == SYSTEMS[0]]
    by_item = table.pivot_table(index="item", columns="pool", values="rating")
    labelled = by_item.dropna()
    person = table[table["rater"] == PEOPLE[0]].set_index("item")["rating"]
    r = np.corrcoef(labelled["llm"], person.loc[labelled.index])[0, 1]
    r = 0.0 if np.isnan(r) else r
    return float(np.sqrt(1 - r**2 * (1 - len(labelled) / len(by_item))))


def study(kind: Kind, panels: int, first: int = 0) -> pd.DataFrame:
    """Coverage and mean width of each interval over panels of a kind."""
    rows = []
    for seed in range(first, first + panels):
        found = answers(seed, kind)
        rows.append(intervals(found, seed + 1) | {"allowed": Interval(True, reduction(found))})
    names = rows[0]
    return pd.DataFrame(
        {
            "coverage": [np.mean([row[name].holds for row in rows]) for name in names],
            "width": [np.mean([row[name].width for row in rows]) for name in names],
        },
        index=pd.Index(names, name=f"{kind}, {panels} panels"),
    )


def main() -> None:
    """Print the study."""
    panels = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    kinds: tuple[Kind, ...] = get_args(Kind)
    for kind in [each for each in kinds if each in (sys.argv[2:] or kinds)]:
        print(study(kind, panels).round(3).to_string(), flush=True)


if __name__ == "__main__":
    main()
