"""crowd-kit: tables with the columns task, worker and label."""

from __future__ import annotations

from collections.abc import Collection
from os import PathLike
from typing import Unpack

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, group_columns, keep_rows
from reliabayes.ratings.readers.source import Source
from reliabayes.ratings.readers.tool import Tool


def crowdkit(
    path: str | PathLike[str] | Source,
    *,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read a table of crowd-kit, with the columns task, worker and label.

    Parameters
    ----------
    path : str or path
        CSV, TSV, JSON lines or Parquet. Older tables have ``performer`` in place of ``worker``.
    group, block : str, optional
        Columns that say what a task belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of tasks, whose `left_out` counts rows without a label.

    Raises
    ------
    RatingsError
        If a column is missing.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as("crowd-kit"):
        table = source.table()
        worker = table["performer" if "worker" not in table and "performer" in table else "worker"]
        columns = {"item": table["task"], "rater": worker, "rating": table["label"]}
        columns |= group_columns(source, table, group, block, "")
        conditions = {
            "no task": table["task"].isna(),
            "no worker": worker.isna(),
            "no label": table["label"].isna(),
        }
        keep_rows(export, columns, conditions)
    return export.ratings(**options)


def _is_header(names: Collection[str]) -> bool:
    return {"task", "label"} <= set(names) and bool({"worker", "performer"} & set(names))


CROWDKIT = Tool(
    name="crowdkit",
    title="crowd-kit",
    read=crowdkit,
    takes=frozenset({"group", "block"}),
    is_header=_is_header,
)
