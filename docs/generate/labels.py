"""A page of what labels of public crowds are worth, from what `benchmarks.labels` has measured."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pandas as pd

from .files import ROOT

RESULTS = ROOT / "benchmarks" / "labels.csv"
PEER = "crowd-kit "  # the names of whose aggregators begin with this
OPENING = """\
# Labels of ten crowds

How often the labels of votes and models are those of experts, and what the probabilities stated
with them are worth, on ten public sets. `python -m benchmarks.labels` measures this again. [Known
answers](known_answers.md) says how the defaults were chosen, and why stated probabilities are too
high where raters err together.

- *Right* is the proportion of items whose most probable category is the experts'. An item with a
  tie of m categories is right with probability 1/m if one of them is.
- The *log score* is the mean of $-\\log p(\\text{expert's category})$, no p being taken as less
  than 10^-6; the *calibration error* is the mean distance of stated probabilities from the
  proportion right, in ten bins. Of both, less is better.
- *At .95 and more* are the items stated to be that likely: the mean stated probability, the
  proportion right, and their share of all items.
- *Raters covered* is the proportion of raters with at least 20 ratings of items with a known
  category whose 90% interval of `accuracy` contains the proportion of these that are right; *share
  covered*, whether the 90% interval of `correct_share()` contains that of all ratings, of several
  draws of known categories in how many.
- Seconds are of a processor, with crowd-kit imported before.

*Votes* state the proportion of votes for a category, with the weights of
[`rb.majority_vote`][reliabayes.majority_vote]. *Recommended* is what the model that `rb.recommend`
names holds by itself. *Stated honestly* is what fits of it say by default, with constants that
`python -m benchmarks.statement` finds on the sets of other families (entailment and events are
one), so that no set is stated by its own answers. Rows
with *gold of 50* are given the category of 50 items, drawn at random ten times, and scored on the
others; no other row is given any. Of crowd-kit there are six aggregators of 1.4.2 with default
settings.
"""
PER_SET = {  # columns of the table of a set, and their digits
    "right": 3,
    "log_score": 3,
    "calibration_error": 3,
    "settled_stated": 3,
    "settled_right": 3,
    "settled": 2,
    "raters_covered": 2,
    "correct_covered": 0,
    "seconds": 1,
}
HEADINGS = (
    "right",
    "log score",
    "calibration error",
    "at .95 and more: stated",
    "right",
    "share of items",
    "raters covered",
    "share covered",
    "seconds",
)


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the page."""
    found = pd.read_csv(RESULTS)
    sections = [_of_set(str(title), rows) for title, rows in found.groupby("set", sort=False)]
    yield "labels.md", "\n".join([OPENING, summary(found), *sections])


def summary(found: pd.DataFrame) -> str:
    """Mean over sets of each method; items at 0.95 and more, and raters, are pooled."""
    peers = found[found["method"].str.startswith(PEER)].groupby("set")["right"].max()
    lines = [
        "## All sets",
        "",
        "Means over the sets that a method ran on; items at .95 and more, and raters, are pooled.",
        "*Against the best of crowd-kit* is the difference of *right* from the best of the six on",
        "the same set, on average and at worst.",
        "",
        _row("method", "sets", "against the best of crowd-kit: mean", "worst", *HEADINGS[1:]),
        _row(*["---"] * (len(HEADINGS) + 3)),
    ]
    for method, rows in found.groupby("method", sort=False):
        behind = rows["right"].to_numpy() - peers[rows["set"]].to_numpy()
        n_settled = rows["items"] * rows["settled"]
        figures = {
            "log_score": rows["log_score"].mean(),
            "calibration_error": rows["calibration_error"].mean(),
            "settled_stated": _pooled(rows["settled_stated"], n_settled),
            "settled_right": _pooled(rows["settled_right"], n_settled),
            "settled": n_settled.sum() / rows["items"].sum(),
            "raters_covered": _pooled(rows["raters_covered"], rows["raters"]),
        }
        has_share = rows["correct_covered"].notna().any()
        covered = f"{rows['correct_covered'].sum():.2g} of {len(rows)}" if has_share else ""
        lines.append(
            _row(
                method,
                len(rows),
                f"{behind.mean():+.3f}",
                f"{behind.min():+.3f}",
                *(_number(value, PER_SET[name]) for name, value in figures.items()),
                covered,
                _number(rows["seconds"].mean(), 1),
            )
        )
    return "\n".join([*lines, ""])


def _of_set(title: str, rows: pd.DataFrame) -> str:
    lines = [f"## {title.capitalize()}", "", _row("method", "items", *HEADINGS)]
    lines.append(_row(*["---"] * (len(HEADINGS) + 2)))
    for _, row in rows.iterrows():
        figures = {name: _number(row[name], digits) for name, digits in PER_SET.items()}
        share = row["correct_covered"]
        figures["correct_covered"] = {0.0: "no", 1.0: "yes"}.get(share, _percentage(share))
        lines.append(_row(row["method"], f"{row['items']:.0f}", *figures.values()))
    return "\n".join([*lines, ""])


def _pooled(values: pd.Series[float], weights: pd.Series[float]) -> float:
    known = values.notna()
    total = weights[known].sum()
    return float((values * weights)[known].sum() / total) if total else np.nan


def _percentage(value: float) -> str:
    return "" if np.isnan(value) else f"{value:.0%}"


def _number(value: float, digits: int) -> str:
    return "" if np.isnan(value) else f"{value:.{digits}f}"


def _row(*cells: object) -> str:
    return f"| {' | '.join(map(str, cells))} |"
