"""Prodigy: JSON lines of ``db-out``."""

from __future__ import annotations

from os import PathLike
from typing import Any

from typing_extensions import Unpack

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

TOOL = "Prodigy"


def prodigy(
    path: str | PathLike[str] | Source,
    *,
    rater: str | None = None,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read annotations of Prodigy.

    Where a task has options, the rating is the one that was accepted; otherwise it is the answer,
    accept or reject. Of several answers by a person the last counts, as for Prodigy.

    Parameters
    ----------
    path : str or path
        JSON lines of ``prodigy db-out``.
    rater : str, optional
        Who annotated, if the file does not say so.
    question : str, optional
        The label that was accepted or rejected; needed if there are several.
    group, block : str, optional
        Fields of a task's ``meta`` that say what it belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of the inputs, whose `left_out` counts what was ignored, rejected, without a choice or with
        several, and answers that were given again.

    Raises
    ------
    RatingsError
        If it is no such file, or does not say who annotated.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        records = source.all_records()
        question = _question(source, records, question)
        last: dict[Any, tuple[Any, ...]] = {}
        for source.at, record in enumerate(records, start=1):
            if question is not None and record.get("label") != question:
                export.left_out["another label"] += 1
                continue
            value, reason = _answer(record)
            if reason:
                export.left_out[reason] += 1
                continue
            person = record.get("_annotator_id") or record.get("_session_id") or rater
            if person is None:
                raise source.no_rater("_annotator_id", TOOL)
            data = {**record, **(record.get("meta") or {})}
            cells = item_fields({"group": group, "block": block}, data, source)
            key = record["_input_hash"], person
            when = (record.get("_timestamp") or 0, source.at)
            if key in last:
                export.left_out["answered again (the last counts)"] += 1
            if key not in last or last[key][0] < when:
                last[key] = when, value, cells
    for (item, person), (_, value, cells) in last.items():
        export.add(item=item, rater=person, rating=value, **cells)
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is an annotation of Prodigy."""
    return "_input_hash" in record and "answer" in record


def _question(source: Source, records: list[Record], question: str | None) -> str | None:
    """The label that is accepted or rejected; None where tasks have options."""
    if any("options" in record for record in records):
        return None
    labels = dict.fromkeys(record["label"] for record in records if "label" in record)
    return chosen_question(source, question, list(labels)) if labels else None


def _answer(record: Record) -> tuple[Any, str]:
    answer = record["answer"]
    if answer == "ignore":
        return None, "ignored"
    if "options" not in record:
        return answer, ""
    if answer != "accept":
        return None, "rejected"
    value, reason = single(record.get("accept"))
    return value, "no choice" if reason.startswith("no answer") else reason


PRODIGY = Tool(
    name="prodigy",
    title=TOOL,
    read=prodigy,
    takes=frozenset({"rater", "question", "group", "block"}),
    is_record=_is_record,
)
