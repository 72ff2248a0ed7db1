"""Argilla: records as ``to_list(flatten=True)``, ``to_json`` or a table has them."""

from __future__ import annotations

import warnings
from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from typing import Any, Unpack

import numpy as np

from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import (
    Export,
    Options,
    chosen_question,
    item_fields,
    single,
)
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool

TOOL = "Argilla"
RESPONSES, SUGGESTION = ".responses", ".suggestion"
NO_STATUS = (
    "{name}: this form of export has no status of responses, so that drafts and discarded ones "
    "count as ratings. Export with dataset.records.to_list(flatten=True) to tell them apart."
)


def argilla(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read records of Argilla.

    Submitted responses are ratings by users, in the pool ``human``, and suggestions those by their
    agents, in the pool ``llm``.

    Parameters
    ----------
    path : str or path
        JSON, JSON lines or Parquet of ``dataset.records.to_list(flatten=True)``; or of
        ``dataset.records.to_json``, which has lost the status of responses.
    question : str, optional
        Needed if there are several.
    group, block : str, optional
        Fields or metadata of a record that say what it belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of the records, whose `left_out` counts drafts, discarded responses, and suggestions without
        an agent.

    Warns
    -----
    UserWarning
        If drafts cannot be told from submitted responses.

    Raises
    ------
    RatingsError
        If it is no such file, or several questions are to choose from.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        records = source.all_records()
        known = dict.fromkeys(name for record in records for name in _questions(record))
        asked = chosen_question(source, question, list(known))
        has_status = True
        for source.at, record in enumerate(records, start=1):
            is_nested = isinstance(record.get("responses"), dict)
            about = {**(record.get("fields") or {}), **(record.get("metadata") or {})}
            data = about if is_nested else record
            cells = {"item": record.get("id", source.at)}
            cells |= item_fields({"group": group, "block": block}, data, source)
            answers = _of_nested(record, asked) if is_nested else _of_flat(record, asked)
            for rater, value, status in answers:
                has_status &= status is not None
                answer, reason = single(value)
                if status not in (None, "submitted"):
                    export.left_out[str(status)] += 1
                elif reason or rater is None:
                    export.left_out[reason or "no user"] += 1
                else:
                    export.add(**cells, rater=rater, rating=answer, pool="human")
            value, agent = _suggestion(record, asked, is_nested)
            answer, reason = single(value)
            if reason == "several choices" or (not reason and not agent):
                export.left_out[reason or "suggestion without agent"] += 1
            elif not reason:
                export.add(**cells, rater=agent, rating=answer, pool="llm")
    ratings = export.ratings(**options)
    if not has_status:
        warnings.warn(NO_STATUS.format(name=source.name), UserWarning, stacklevel=2)
    return ratings


def _is_record(record: Record) -> bool:
    """Whether a record is one of Argilla."""
    is_nested = isinstance(record.get("responses"), dict) and "fields" in record
    return is_nested or _is_header(record)


def _is_header(names: Collection[str]) -> bool:
    """Whether columns are those of records of Argilla."""
    return any(f"{name}.users" in names for name in names if str(name).endswith(RESPONSES))


def _questions(record: Record) -> Iterator[str]:
    if isinstance(record.get("responses"), dict):
        yield from record["responses"]
        yield from record.get("suggestions") or ()
        return
    for name in record:
        for end in (RESPONSES, SUGGESTION):
            if name.endswith(end):
                yield name.removesuffix(end)


def _of_flat(record: Record, question: str) -> Iterator[tuple[Any, Any, Any]]:
    values = _listed(record.get(f"{question}{RESPONSES}"))
    if not values:
        return
    users = _listed(record[f"{question}{RESPONSES}.users"])
    statuses = _listed(record.get(f"{question}{RESPONSES}.status")) or [None] * len(values)
    yield from zip(users, values, statuses, strict=True)


def _of_nested(record: Record, question: str) -> Iterator[tuple[Any, Any, Any]]:
    for response in record["responses"].get(question) or ():
        yield response["user_id"], response["value"], response.get("status")


def _suggestion(record: Record, question: str, is_nested: bool) -> tuple[Any, Any]:
    if is_nested:
        found: Mapping[str, Any] = (record.get("suggestions") or {}).get(question) or {}
        return found.get("value"), found.get("agent")
    name = f"{question}{SUGGESTION}"
    return record.get(name), record.get(f"{name}.agent")


def _listed(values: Any) -> list[Any]:
    """Values of a list; Parquet has arrays."""
    return values.tolist() if isinstance(values, np.ndarray) else list(values or ())


ARGILLA = Tool(name="argilla", title=TOOL, read=argilla, is_record=_is_record, is_header=_is_header)
