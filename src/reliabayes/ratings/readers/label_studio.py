"""Label Studio: JSON of tasks, JSON_MIN and CSV."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator, Mapping
from os import PathLike
from typing import Any, NamedTuple, Unpack

import pandas as pd

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

TOOL = "Label Studio"
ABOUT_ANNOTATIONS = ("annotation_id", "annotator", "created_at", "updated_at", "lead_time", "id")
NO_ANSWER = "no answer to the question"
LOST = "This form of export has no gold, no predictions and no cancelled annotations."


def label_studio(
    path: str | PathLike[str] | Source,
    *,
    question: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read an export of Label Studio.

    In JSON, predictions are ratings by their model version, in the pool ``llm``, and annotations
    those by people, in the pool ``human``. An annotation that is ground truth is the gold of its
    task. JSON_MIN and CSV have neither gold nor predictions.

    Parameters
    ----------
    path : str or path
        The file: JSON, JSON_MIN or CSV.
    question : str, optional
        The ``from_name`` of the answers, or a column of CSV; needed if there are several.
    group, block : str, optional
        Fields of a task's data that say what it belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of the tasks, whose `left_out` counts what was cancelled, had no answer or several, or was
        by nobody.

    Raises
    ------
    RatingsError
        If it is no such file, or several questions are to choose from.
    """
    source = Source.of(path)
    with source.read_as(TOOL):
        if not source.is_records or _is_minimal(source.first):
            return _from_table(source, question, group, block).ratings(**options)
        export = _from_tasks(source, question, {"group": group, "block": block})
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is a task, or an annotation of JSON_MIN."""
    lists = [record.get(name) for name in ("annotations", "predictions")]
    entries = [entry for each in lists if isinstance(each, list) for entry in each]
    is_task = any(isinstance(each, list) for each in lists) and "data" in record
    with_results = [isinstance(entry, dict) and "result" in entry for entry in entries]
    return ((is_task or bool(entries)) and all(with_results)) or _is_minimal(record)


def _is_minimal(names: Collection[str]) -> bool:
    """Whether names are those of a record of JSON_MIN, or of columns of CSV."""
    return {"annotation_id", "annotator", "lead_time"} <= set(names)


def questions_of(source: Source) -> dict[str, dict[str, str]]:
    """Return the controls of the first answer to each question.

    Parameters
    ----------
    source : Source
        JSON of tasks.

    Returns
    -------
    dict from str to dict
        ``from_name``, ``to_name`` and ``type`` by question.
    """
    found: dict[str, dict[str, str]] = {}
    names = ("from_name", "to_name", "type")
    with source.read_as(TOOL):
        for task in source.records():
            for entry in [*(task.get("annotations") or ()), *(task.get("predictions") or ())]:
                for each in (entry.get("result") or ()) if isinstance(entry, dict) else ():
                    if "from_name" in each and each["from_name"] not in found:
                        found[each["from_name"]] = {name: str(each[name]) for name in names}
    return found


class _Answer(NamedTuple):
    """An annotation or a prediction, with the answer to each question."""

    item: Any
    rater: Any
    pool: str
    answers: Mapping[str, Any]
    fields: Mapping[str, Any]
    is_gold: bool = False


def _from_tasks(source: Source, question: str | None, names: Mapping[str, str | None]) -> Export:
    export = Export(source)
    answers = [answer for task in source.records() for answer in _answers_of(task, export, names)]
    known = dict.fromkeys(name for answer in answers for name in answer.answers)
    asked = chosen_question(source, question, list(known))
    for answer in answers:
        value, reason = single(answer.answers.get(asked))
        if answer.is_gold:
            if not reason:
                export.gold[answer.item] = value
            export.left_out["ground truth"] += 1
        elif reason == NO_ANSWER and answer.pool == "llm":
            export.left_out["prediction without answer"] += 1
        elif reason:
            export.left_out[reason] += 1
        elif answer.rater is None:
            by_whom = (
                "no annotator" if answer.pool == "human" else "prediction without model version"
            )
            export.left_out[by_whom] += 1
        else:
            cells = {"item": answer.item, "rater": answer.rater, "rating": value}
            export.add(**cells, pool=answer.pool, **answer.fields)
    return export


def _answers_of(task: Record, export: Export, names: Mapping[str, str | None]) -> Iterator[_Answer]:
    """The annotations and predictions of a task that were not cancelled."""
    item = task.get("id", export.source.at)
    fields = item_fields(names, task.get("data") or {}, export.source)
    if "annotations" not in task and "predictions" not in task:
        raise KeyError("annotations")
    for annotation in task.get("annotations") or ():
        if annotation.get("was_cancelled"):
            export.left_out["cancelled"] += 1
            continue
        rater = _person(annotation.get("completed_by"))
        values = _values(annotation["result"])
        yield _Answer(item, rater, "human", values, fields, bool(annotation.get("ground_truth")))
    for prediction in task.get("predictions") or ():
        if isinstance(prediction, dict):  # some exports hold ids only
            rater = prediction.get("model_version") or None
            yield _Answer(item, rater, "llm", _values(prediction["result"]), fields)


def _person(completed_by: Any) -> Any:
    if isinstance(completed_by, dict):
        return completed_by.get("email") or completed_by.get("id")
    return completed_by


def _values(result: Any) -> dict[str, Any]:
    """The answer to each question; a list of several where it was answered several times."""
    values: dict[str, Any] = {}
    for each in result or ():
        value = each.get("value") or {}
        if "from_name" not in each:
            continue
        kinds = ("choices", "rating", "number", "selected")
        found = next((value[kind] for kind in kinds if kind in value), None)
        if found is not None:
            name = each["from_name"]
            values[name] = [values[name], found] if name in values else found
    return values


def _from_table(
    source: Source, question: str | None, group: str | None, block: str | None
) -> Export:
    """Ratings of CSV or JSON_MIN, where a row is an annotation."""
    table = source.table()
    export = Export(source, notes=[LOST])
    item, rater = table["id"], table["annotator"]
    asked = chosen_question(source, question, _questions(table, question))
    codes, texts = pd.factorize(table[asked].map(_as_text, na_action="ignore"))
    read = [_cell(text) for text in texts] + [(None, NO_ANSWER)]
    reasons = pd.Series([read[code][1] for code in codes], index=table.index)
    reasons = reasons.mask((reasons == "") & rater.isna(), "no annotator")
    export.left_out.update(reasons[reasons != ""].tolist())
    is_kept = (reasons == "").to_numpy()
    export.columns = {
        "item": item[is_kept],
        "rater": rater[is_kept],
        "rating": pd.Series([read[code][0] for code in codes[is_kept]]),
    }
    for role, name in (("group", group), ("block", block)):
        if name is not None:
            item_fields({role: name}, dict.fromkeys(table.columns), source)
            export.columns[role] = table.loc[is_kept, name]
    return export


def _questions(table: pd.DataFrame, question: str | None) -> list[str]:
    """Columns that may be answers: those that differ between the annotations of a task."""
    others = [str(name) for name in table if name not in ABOUT_ANNOTATIONS]
    if question is not None:
        return others
    texts = table[others].map(_as_text, na_action="ignore")
    n_values = texts.groupby(table["id"]).nunique(dropna=True).max()
    return [name for name in others if n_values[name] > 1] or others


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else json.dumps(cell)


def _cell(text: str) -> tuple[Any, str]:
    """The value in a cell: a text, or JSON of an answer."""
    value: Any = text
    if text[:1] in ("[", "{"):
        try:
            value = json.loads(text)
        except ValueError:
            return text, ""
    if isinstance(value, dict):
        value = value.get("choices", value.get("rating", value.get("number", value)))
    if isinstance(value, list) and len(value) == 1 and isinstance(value[0], dict):
        value = value[0].get("rating", value[0].get("number"))
    return single(value)


LABEL_STUDIO = Tool(
    name="label_studio",
    title=TOOL,
    read=label_studio,
    is_record=_is_record,
    is_header=_is_minimal,
)
