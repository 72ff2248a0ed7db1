"""Coverage and width of intervals of judge panels, over simulated ones whose truth is known.

`python -m tests.judge_coverage panels.csv 40` simulates 40 panels of each kind, as far as the file
does not have them, and appends what it finds. Then it prints, of all panels of the file, how many
95% intervals of the first system's rate, and of the difference of both, hold the true one, with
their mean widths: of true categories and of ratings by people, with judges and by people alone; and
how wide intervals with judges may be. Names of kinds after the number choose among these.
"""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any, NamedTuple, get_args

import numpy as np
import pandas as pd

import reliabayes as rb
from tests.judge_answers import RIGHT, SYSTEMS, TRUE_RATES, Answers, Kind, answers

OPTIONS: dict[str, Any] = {"chains": 2, "draws": 500, "parallel_chains": 1, "progress": False}
PEOPLE = tuple(f"person {number + 1}" for number in range(3))
KINDS: dict[str, dict[str, Any]] = {
    **{kind: {"kind": kind} for kind in get_args(Kind)},
    "shared, people where judges disagree": {"kind": "shared", "where_judges_disagree": True},
}
WIDER = 1.05  # than people's labels allow, at most
KEYS = ["kind", "seed"]


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


def intervals(ratings: rb.Ratings, human: Any, seed: int) -> dict[str, Interval]:
    """Intervals of the first system's rate, and of its difference from the second."""
    with warnings.catch_warnings(action="ignore"):
        fit = rb.JudgePanel(human=human).fit(ratings, seed=seed, **OPTIONS)
    result: dict[str, Interval] = {}
    for of in ("truth", "people"):
        true = [rate_by_people(x) if of == "people" else x for x in TRUE_RATES]
        draws = fit.panel.rate_draws(of).sel(category=1).values
        result[of] = Interval.of(draws[:, 0], true[0])
        difference = draws[:, 0] - draws[:, 1]
        result[f"{of}, difference"] = Interval.of(difference, true[0] - true[1])
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


def panel(kind: str, seed: int) -> pd.DataFrame:
    """A row for each quantity of a panel: whether intervals hold it, their widths, and a limit."""
    found = answers(seed, **KINDS[kind])
    ratings = found.ratings
    with_judges = intervals(ratings, "human", seed + 1)
    alone = intervals(ratings.subset(raters=PEOPLE), PEOPLE, seed + 1)
    return pd.DataFrame(
        {
            "kind": kind,
            "seed": seed,
            "of": list(with_judges),
            "coverage": [each.holds for each in with_judges.values()],
            "width": [each.width for each in with_judges.values()],
            "people_coverage": [each.holds for each in alone.values()],
            "people_width": [each.width for each in alone.values()],
            "allowed": [WIDER * reduction(found) * each.width for each in alone.values()],
        }
    )


def summary(rows: pd.DataFrame) -> pd.DataFrame:
    """Coverage and mean widths over the panels of each kind."""
    by = rows.astype({"coverage": float, "people_coverage": float}).groupby(
        ["kind", "of"], sort=False
    )
    return by.mean().drop(columns="seed").assign(panels=by.size())


def main() -> None:
    """Simulate panels, and print what all of them say."""
    file, panels, kinds = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:] or list(KINDS)
    done = set(pd.read_csv(file)[KEYS].itertuples(index=False, name=None)) if file.exists() else ()
    for seed in range(panels):
        for kind in kinds:
            if (kind, seed) not in done:
                panel(kind, seed).to_csv(file, mode="a", header=not file.exists(), index=False)
    print(summary(pd.read_csv(file)).round(3).to_string())


if __name__ == "__main__":
    main()
