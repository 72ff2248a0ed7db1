"""Toloka: the assignments of a pool as TSV."""

from __future__ import annotations

from collections.abc import Collection
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

INPUT, OUTPUT, GOLDEN = "INPUT:", "OUTPUT:", "GOLDEN:"
WORKER, STATUS, TASK = "ASSIGNMENT:worker_id", "ASSIGNMENT:status", "ASSIGNMENT:task_id"


def toloka(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read assignments of Toloka.

    Parameters
    ----------
    path : str or path
        The TSV of a pool.
    question : str, optional
        The name of the output; needed if there are several.
    group, block : str, optional
        Inputs that say what a task belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of tasks, which are the values of their one input, or their ids if there are several. Golden
        answers are gold. `left_out` counts rejected assignments and those without an answer.

    Raises
    ------
    RatingsError
        If it is no such file, or several outputs are to choose from.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as("Toloka"):
        table = source.table()
        known = [name.removeprefix(OUTPUT) for name in table.columns if name.startswith(OUTPUT)]
        asked = chosen_question(source, (question or "").removeprefix(OUTPUT) or None, known)
        value, worker = table[f"{OUTPUT}{asked}"], table[WORKER]
        item = _tasks(table)
        status = table[STATUS] if STATUS in table else pd.Series("", index=table.index)
        conditions = {
            "rejected": status == "REJECTED",
            "no task": item.isna(),
            "no worker": worker.isna(),
            "no answer": value.isna(),
        }
        columns = {"item": item, "rater": worker, "rating": value}
        columns |= group_columns(source, table, group, block, INPUT)
        if f"{GOLDEN}{asked}" in table and table[f"{GOLDEN}{asked}"].notna().any():
            columns["gold"] = table[f"{GOLDEN}{asked}"]
        keep_rows(export, columns, conditions)
    return export.ratings(**options)


def _tasks(table: pd.DataFrame) -> pd.Series[Any]:
    """The tasks of Toloka."""
    inputs = [name for name in table.columns if name.startswith(INPUT)]
    if len(inputs) != 1 and TASK in table:
        return table[TASK]
    if not inputs:
        raise KeyError("INPUT:...")
    if len(inputs) == 1:
        return table[inputs[0]]
    return table[inputs].fillna("").agg(" | ".join, axis=1)


def _is_header(names: Collection[str]) -> bool:
    return WORKER in names and any(str(name).startswith(OUTPUT) for name in names)


TOLOKA = Tool(name="toloka", title="Toloka", read=toloka, is_header=_is_header)
