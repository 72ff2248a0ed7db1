"""Lists of annotators beside lists of labels, as in datasets of Hugging Face and LeWiDi."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from os import PathLike
from typing import Any, Unpack

import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import (
    Export,
    Options,
    chosen_question,
    group_columns,
    keep_rows,
)
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool
from reliabayes.wording import listed

# Names of a list of annotators, and of the list of their labels beside it.
ANNOTATORS = ("annotators", "annotator_ids", "worker_ids", "workers", "raters")
LABELS = ("annotations", "labels", "annotator_labels", "answers", "ratings", "label")


def hf_annotators(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read items with a list of annotators beside the list of their labels.

    Datasets of Hugging Face and of LeWiDi have this form. Lists may be texts with commas.

    Parameters
    ----------
    path : str or path
        JSON of objects by item or in a list, JSON lines, CSV or Parquet.
    question : str, optional
        The list of labels; needed if there are several.
    group, block : str, optional
        Fields that say what an item belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Whose `left_out` counts annotators without a label.

    Raises
    ------
    RatingsError
        If it is no such file, or lists differ in length.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as("items with annotators"):
        table, items = _listing(source)
        who = next((name for name in ANNOTATORS if name in table), None)
        if who is None:
            raise KeyError("annotators")
        known = [name for name in LABELS if name in table]
        asked = chosen_question(source, question, known or [str(question or LABELS[0])])
        raters, labels = _lists(table[who]), _lists(table[asked])
        sizes = raters.map(len).to_numpy()
        if (differs := sizes != labels.map(len).to_numpy()).any():
            rule = f"an item must have as many {asked} as {who}"
            found = f"{int(differs.sum())} items with more or fewer"
            remedy = "Correct these items, or leave them out."
            ids = listed(items[differs].tolist())
            raise RatingsError([Fault(asked, rule, f"{found} ({ids})", remedy)])
        of_rating = np.repeat(np.arange(len(table)), sizes)
        columns: dict[str, pd.Series[Any]] = {
            "item": items.iloc[of_rating].reset_index(drop=True),
            "rater": pd.Series([each for row in raters for each in row], dtype=object),
            "rating": pd.Series([each for row in labels for each in row]),
        }
        for role, column in group_columns(source, table, group, block, "").items():
            columns[role] = column.iloc[of_rating].reset_index(drop=True)
        keep_rows(export, columns, {"no label": columns["rating"].isna()})
    return export.ratings(**options)


def _listing(source: Source) -> tuple[pd.DataFrame, pd.Series[Any]]:
    """Items as a table, and their ids."""
    if source.is_records and all(isinstance(value, dict) for value in source.first.values()):
        by_id = {key: value for record in source.records() for key, value in record.items()}
        return pd.DataFrame(list(by_id.values())), pd.Series([*by_id])
    table = source.table()
    name = next((each for each in ("id", "item", "uid", "example_id") if each in table), None)
    unique = name is not None and table[name].notna().all() and table[name].is_unique
    return table, table[name] if unique else pd.Series(range(1, len(table) + 1))


def _lists(cells: pd.Series[Any]) -> pd.Series[Any]:
    """Lists, also those that are texts with commas, or text of a list."""
    if pd.api.types.infer_dtype(cells, skipna=True) == "string":
        texts = cells.fillna("").str.strip().str.removeprefix("[").str.removesuffix("]")
        parts = texts.str.split(r"\s*,\s*|\s+(?=['\"])", regex=True)
        return parts.map(lambda row: [each.strip("'\" ") for each in row if each])
    return cells.map(_as_list)


def _as_list(cell: Any) -> Sequence[Any]:
    if isinstance(cell, np.ndarray):
        listed_values: Sequence[Any] = cell.tolist()
        return listed_values
    return cell if isinstance(cell, list) else []


def _is_header(names: Collection[str]) -> bool:
    return bool(set(ANNOTATORS) & set(names)) and bool(set(LABELS) & set(names))


def _is_record(record: Record) -> bool:
    if record and all(isinstance(value, dict) for value in record.values()):
        record = next(iter(record.values()))
    return _is_header(record)


HF_ANNOTATORS = Tool(
    name="hf_annotators",
    title="Hugging Face with lists of annotators",
    read=hf_annotators,
    is_record=_is_record,
    is_header=_is_header,
)
