"""Prodigy: JSON lines of ``db-out``."""

from __future__ import annotations

from os import PathLike
from typing import Any, NamedTuple, Unpack

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
    named = {"group": group, "block": block}
    names = {role: name for role, name in named.items() if name is not None}
    with source.read_as(TOOL):
        answers = [_answer_of(record, source, rater, names) for record in source.records()]
        asked = _question(source, answers, question)
        last: dict[Any, tuple[Any, ...]] = {}
        for answer in answers:
            if asked is not None and answer.label != asked:
                export.left_out["another label"] += 1
            elif answer.reason:
                export.left_out[answer.reason] += 1
            else:
                if answer.key in last:
                    export.left_out["answered again (the last counts)"] += 1
                if answer.key not in last or last[answer.key][0] <= answer.time:
                    last[answer.key] = answer.time, answer.value, answer.fields
    for (item, person), (_, value, cells) in last.items():
        export.add(item=item, rater=person, rating=value, **cells)
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is an annotation of Prodigy."""
    return "_input_hash" in record and "answer" in record


class _Answer(NamedTuple):
    key: tuple[Any, Any]  # input and person
    label: Any
    value: Any
    reason: str  # why there is no value
    time: float
    fields: dict[str, Any]
    has_options: bool


def _answer_of(record: Record, source: Source, rater: str | None, names: dict[str, str]) -> _Answer:
    value, reason = _value(record)
    person = record.get("_annotator_id") or record.get("_session_id") or rater
    if person is None and not reason:
        raise source.no_rater("_annotator_id", TOOL)
    fields = item_fields(names, {**record, **(record.get("meta") or {})}, source) if names else {}
    key, time = (record["_input_hash"], person), float(record.get("_timestamp") or 0)
    label = record.get("label")
    return _Answer(key, label, value, reason, time, fields, "options" in record)


def _question(source: Source, answers: list[_Answer], question: str | None) -> str | None:
    """The label that is accepted or rejected; None where tasks have options."""
    if any(answer.has_options for answer in answers):
        return None
    labels = dict.fromkeys(answer.label for answer in answers if answer.label is not None)
    return chosen_question(source, question, list(labels)) if labels else None


def _value(record: Record) -> tuple[Any, str]:
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
