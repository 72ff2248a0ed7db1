"""Answers that judges did not give, by group of items."""

from __future__ import annotations

import numpy as np
import pandas as pd

from reliabayes.families.judges.problem import PanelProblem
from reliabayes.ratings import Ratings

SURE = 0.95  # probability that a share of missing answers differs, from which on this is said
DRAWS = 4000  # of shares of missing answers


def missing_answers(ratings: Ratings, problem: PanelProblem) -> pd.DataFrame:
    """How many answers of each judge are missing in each group of items.

    A judge that was run on any item of all groups is expected to answer each item, as often as it
    usually does.

    Parameters
    ----------
    ratings : Ratings
        The answers.
    problem : PanelProblem
        What the model makes of them.

    Returns
    -------
    DataFrame
        A row for each judge and group: expected and missing answers, the share of these, and
        ``pr_differs``, the probability that the share is higher than in the other groups together,
        or that it is lower, whichever is larger, under uniform priors; nan for one group.
    """
    judges, groups = problem.coords["judge"], problem.coords["group"]
    runs = np.zeros((len(judges), ratings.n_items))
    judge = np.cumsum(~problem.roles.is_person) - 1
    rows = ~problem.roles.is_person[ratings.rater]
    np.add.at(runs, (judge[ratings.rater[rows]], ratings.item[rows]), 1)
    usual = np.array([np.bincount(row.astype(int))[1:].argmax() + 1 for row in runs])
    lacking = np.maximum(usual[:, None] - runs, 0)
    sizes = np.bincount(problem.group, minlength=len(groups))
    missing = np.array([np.bincount(problem.group, row, len(groups)) for row in lacking])
    missing = missing.reshape(len(judges), len(groups))
    expected = usual[:, None] * sizes
    table = pd.DataFrame(
        {
            "expected": expected.ravel().astype(int),
            "missing": missing.ravel().astype(int),
            "share": (missing / expected).ravel(),
            "pr_differs": _differs(missing, expected).ravel(),
        },
        index=pd.MultiIndex.from_product([judges, groups], names=["judge", "group"]),
    )
    return table


def warning_of_missing(table: pd.DataFrame) -> str:
    """That shares of missing answers differ between groups, if it is probable; else nothing."""
    sure = table[table["pr_differs"] > SURE]
    if sure.empty:
        return ""
    at = int(sure["share"].to_numpy().argmax())
    judge, group = sure.index[at]
    worst = sure.iloc[at]
    return (
        f"Missing answers differ between groups: {judge} left out {worst['share']:.0%} of its "
        f"answers on {group}. Rates are right only if what is missing does not depend on quality."
    )


def _differs(missing: np.ndarray, expected: np.ndarray) -> np.ndarray:
    if missing.shape[1] < 2:
        return np.full(missing.shape, np.nan)
    rng = np.random.default_rng(1)
    others = missing.sum(axis=1, keepdims=True) - missing
    rest = expected.sum(axis=1, keepdims=True) - expected

    def share(of: np.ndarray, among: np.ndarray) -> np.ndarray:
        return rng.beta(1 + of, 1 + among - of, (DRAWS, *of.shape))

    above = (share(missing, expected) > share(others, rest)).mean(axis=0)
    return np.where((missing == 0) & (others == 0), 0.0, np.maximum(above, 1 - above))
