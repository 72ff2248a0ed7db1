"""Langfuse: scores as CSV, JSON or JSON lines."""

from __future__ import annotations

from collections.abc import Collection
from os import PathLike
from typing import Unpack

import numpy as np
import pandas as pd

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, chosen_question, item_fields
from reliabayes.ratings.readers.source import Source
from reliabayes.ratings.readers.tool import Tool

TOOL = "Langfuse"
POOLS = {"ANNOTATION": "human", "EVAL": "llm"}
NO_RATINGS = ("TEXT", "CORRECTION")  # types of scores


def langfuse(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = "traceName",
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read scores of Langfuse.

    Annotations are ratings by people, in the pool ``human``, and evaluations those by
    ``EVAL:name``, in the pool ``llm``. Scores of other sources are in a pool of their own.

    Parameters
    ----------
    path : str or path
        The file: CSV, JSON or JSON lines.
    question : str, optional
        The name of the scores; needed if there are several.
    group, block : str, optional
        Columns that say what a trace belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of traces, or of observations if a rater scored several of a trace. `left_out` counts
        scores of other names, and those without a trace, an author or a value.

    Raises
    ------
    RatingsError
        If it is no such file, or several names are to choose from.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        table = source.table()
        is_score = ~table["dataType"].isin(NO_RATINGS)
        names = table["name"][is_score].dropna().unique().tolist()
        asked = chosen_question(source, question, names)
        of_source, author = table["source"], table["authorUserName"]
        rater = author.where(of_source == "ANNOTATION", of_source + ":" + table["name"])
        is_number = table["dataType"] == "NUMERIC"
        value = table["value"].where(is_number, table["stringValue"])
        reasons = pd.Series(
            np.select(
                [
                    table["name"] != asked,
                    ~is_score,
                    table["traceId"].isna(),
                    rater.isna(),
                    value.isna(),
                ],
                ["another score", "no rating", "no trace", "annotation without author", "no value"],
                "",
            )
        )
        export.left_out.update(reasons[reasons != ""].tolist())
        kept = table[(reasons == "").to_numpy()]
        rater, value = rater[kept.index], value[kept.index]
        export.columns = {
            "item": _items(kept, rater, export),
            "rater": rater,
            "rating": value.astype(float) if is_number[kept.index].all() else value,
            "pool": of_source[kept.index].map(lambda name: POOLS.get(name, str(name).lower())),
        }
        for role, name in (("group", group), ("block", block)):
            if name is not None:
                item_fields({role: name}, dict.fromkeys(table.columns), source)
                export.columns[role] = kept[name]
    return export.ratings(**options)


def _is_score(names: Collection[str]) -> bool:
    """Whether names are those of fields of a score, or of columns."""
    return {"traceId", "source", "dataType", "stringValue"} <= set(names)


def _items(kept: pd.DataFrame, rater: pd.Series[str], export: Export) -> pd.Series[str]:
    """Traces; observations if a rater scored several of a trace."""
    trace = kept["traceId"].astype(str)
    if "observationId" not in kept or kept["observationId"].isna().all():
        return trace
    several = kept["observationId"].groupby([trace, rater]).nunique(dropna=False)
    if several.max() < 2:
        return trace
    export.notes.append("Raters scored several observations of a trace: each is an item.")
    return trace.where(
        kept["observationId"].isna(), trace + "/" + kept["observationId"].astype(str)
    )


LANGFUSE = Tool(
    name="langfuse", title=TOOL, read=langfuse, is_record=_is_score, is_header=_is_score
)
