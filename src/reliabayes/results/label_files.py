"""Labels in the forms that annotation tools import, as predictions with their probabilities."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, get_args

import pandas as pd

from reliabayes.choices import LabelFormat
from reliabayes.files import write_whole
from reliabayes.ratings.readers.argilla import RESPONSES, SUGGESTION
from reliabayes.ratings.readers.export import chosen_question
from reliabayes.ratings.readers.label_studio import questions_of
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.table_files import table_content

AUTHOR = "reliabayes"
NUMBERS = ("rating", "number")  # controls of Label Studio whose answers are numbers


def write_labels(
    labels: pd.DataFrame,
    path: str | os.PathLike[str],
    *,
    format: LabelFormat | None,
    model: str,
    source: str | os.PathLike[str] | None,
    question: str | None,
) -> None:
    """Write labels to a file; see `Fit.write_labels`.

    Parameters
    ----------
    labels : DataFrame, I rows
        Category and probability of each item, by the user's ids.
    path : str or path
        The file.
    format : {"label_studio", "argilla", "csv", "xlsx"}, optional
        By default what the name of the file ends in.
    model : str
        Name of the model.
    source : str or path, optional
        The export whose tasks are written.
    question : str, optional
        The question that the labels answer.
    """
    file, author = Path(path), f"{AUTHOR} {model}"
    chosen = format or file.suffix.lower().removeprefix(".")
    if chosen not in get_args(LabelFormat):
        raise ValueError(
            f"format: it must be one of {', '.join(get_args(LabelFormat))}; found {chosen!r}. "
            "Pass format='label_studio', for example."
        )
    if chosen in ("csv", "xlsx"):
        table = pd.DataFrame(
            {"item": labels.index, "rater": author, "rating": labels["category"].to_numpy()}
        ).assign(probability=labels["probability"].to_numpy())
        kind = Path(f"labels.{chosen}")
        write_whole(file, table_content(table, kind, index=False))
        return
    known = {
        str(item): (_plain(category), float(probability))
        for item, category, probability in zip(
            labels.index, labels["category"], labels["probability"], strict=True
        )
    }
    records = _tasks if chosen == "label_studio" else _records
    content = list(records(known, author, None if source is None else Source(source), question))
    write_whole(file, json.dumps(content, ensure_ascii=False, indent=1).encode())


Known = Mapping[str, tuple[Any, float]]  # category and probability by item


def _tasks(
    labels: Known, author: str, source: Source | None, question: str | None
) -> Iterator[dict[str, Any]]:
    """Tasks of Label Studio, each with a prediction."""
    if source is None:
        control = {"from_name": question or "label", "to_name": "text", "type": "choices"}
        tasks: Iterator[Record] = iter({"id": item, "data": {"item": item}} for item in labels)
    else:
        controls = questions_of(source)
        control = controls[chosen_question(source, question, list(controls))]
        tasks = source.records()
    for place, task in enumerate(tasks, start=1):
        if (label := labels.get(str(task.get("id", place)))) is None:
            continue
        others = [
            each
            for each in task.get("predictions") or ()
            if isinstance(each, dict) and each.get("model_version") != author
        ]
        yield {**task, "predictions": [*others, _prediction(label, author, control)]}


def _prediction(
    label: tuple[Any, float], author: str, control: Mapping[str, str]
) -> dict[str, Any]:
    category, probability = label
    kind = control["type"]
    value = {kind: category if kind in NUMBERS else [str(category)]}
    result = {**control, "id": "label", "value": value}
    return {"model_version": author, "score": probability, "result": [result]}


def _records(
    labels: Known, author: str, source: Source | None, question: str | None
) -> Iterator[dict[str, Any]]:
    """Records of Argilla, each with a suggestion; flat if those of the source are."""
    parts = ("fields", "metadata", "responses", "vectors", "suggestions")
    if source is None:
        empty: dict[str, Any] = {part: {} for part in parts}
        records: list[Record] = [{"id": item, **empty} for item in labels]
        name = question or "label"
    else:
        records = source.all_records()
        known = [*dict.fromkeys(each for record in records for each in _questions(record))]
        name = chosen_question(source, question, known)
    for place, record in enumerate(records, start=1):
        if (label := labels.get(str(record.get("id", place)))) is None:
            continue
        category, probability = label
        if isinstance(record.get("responses"), dict):
            suggestion = {"value": category, "score": probability, "agent": author}
            others = record.get("suggestions") or {}
            yield {**record, "suggestions": {**others, name: suggestion}}
        else:
            key = f"{name}{SUGGESTION}"
            yield {**record, key: category, f"{key}.score": probability, f"{key}.agent": author}


def _questions(record: Record) -> Iterator[str]:
    if isinstance(record.get("responses"), dict):
        yield from record["responses"]
    else:
        yield from (key.removesuffix(RESPONSES) for key in record if key.endswith(RESPONSES))


def _plain(category: Any) -> Any:
    """A category as JSON has it; a bool as text."""
    value = category.item() if hasattr(category, "item") else category
    if isinstance(value, bool):
        return str(value)
    is_whole = isinstance(value, float) and value.is_integer()
    return int(value) if is_whole else value
