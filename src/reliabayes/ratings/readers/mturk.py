"""Amazon Mechanical Turk: the results of a batch as CSV."""

from __future__ import annotations

from os import PathLike
from typing import Any, Unpack

import pandas as pd

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import (
    Export,
    Options,
    chosen_question,
    group_columns,
    keep_rows,
)
from reliabayes.ratings.readers.source import Source
from reliabayes.ratings.readers.tool import Tool

ANSWER, INPUT = "Answer.", "Input."
SEVERAL = "\0several"  # stands for more than one choice


def mturk(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read the results of a batch of Amazon Mechanical Turk.

    Parameters
    ----------
    path : str or path
        The CSV of a batch.
    question : str, optional
        The name of the answer, such as ``sentiment.label``; needed if there are several.
    group, block : str, optional
        Columns, such as ``Input.system``, that say what a HIT belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of HITs, whose `left_out` counts rejected assignments and those without an answer.

    Raises
    ------
    RatingsError
        If it is no such file, or several answers are to choose from.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as("Mechanical Turk"):
        table = source.table()
        answers = _answers(table)
        asked = chosen_question(
            source, (question or "").removeprefix(ANSWER) or None, list(answers)
        )
        value = answers[asked]
        conditions = {
            "rejected": table["AssignmentStatus"] == "Rejected",
            "no worker": table["WorkerId"].isna(),
            "several choices": value == SEVERAL,
            "no answer": value.isna(),
        }
        columns = {"item": table["HITId"], "rater": table["WorkerId"], "rating": value}
        columns |= group_columns(source, table, group, block, INPUT)
        keep_rows(export, columns, conditions)
    return export.ratings(**options)


def _answers(table: pd.DataFrame) -> dict[str, pd.Series[Any]]:
    """The answers of Mechanical Turk by name; several columns of true and false are one answer."""
    names = [name for name in table.columns if name.startswith(ANSWER)]
    columns = {name.removeprefix(ANSWER): table[name] for name in names}
    by_question: dict[str, list[str]] = {}
    for name in columns:
        by_question.setdefault(name.rpartition(".")[0], []).append(name)
    for question, names in by_question.items():
        cells = pd.DataFrame({name: columns[name].str.lower() for name in names})
        if not question or len(names) < 2 or not cells.isin(["true", "false"]).all(axis=None):
            continue
        chosen = cells.to_numpy() == "true"
        labels = pd.Series([name.rpartition(".")[2] for name in names])
        value = labels.iloc[chosen.argmax(axis=1)].set_axis(table.index)
        value = value.mask(chosen.sum(axis=1) == 0).mask(chosen.sum(axis=1) > 1, SEVERAL)
        columns = {name: column for name, column in columns.items() if name not in names}
        columns[question] = value
    return columns


MTURK = Tool(
    name="mturk",
    title="Mechanical Turk",
    read=mturk,
    is_header=lambda names: {"HITId", "WorkerId", "AssignmentStatus"} <= set(names),
)
