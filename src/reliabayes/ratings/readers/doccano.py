"""Doccano: a zip of JSON lines by user, or JSON lines of one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from os import PathLike
from pathlib import PurePosixPath
from typing import Any, Unpack

from reliabayes.ratings.file_formats import JSON_SUFFIXES
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.export import Export, Options, item_fields, single
from reliabayes.ratings.readers.source import Record, Source
from reliabayes.ratings.readers.tool import Tool

TOOL = "doccano"
LABELS = ("label", "labels")


def doccano(
    path: str | PathLike[str] | Source,
    *,
    rater: str | None = None,
    group: str | None = None,
    block: str | None = None,
    **options: Unpack[Options],
) -> Ratings:
    """Read labels of doccano.

    Parameters
    ----------
    path : str or path
        The zip file of a project, with a file for each user; or the file of one user.
    rater : str, optional
        Who labelled, if the file is that of one user.
    group, block : str, optional
        Fields of an example that say what it belongs to, and what groups share.
    **options
        ``scale``, ``categories``, ``twins`` and ``replicates``, as for `Ratings.from_frame`.

    Returns
    -------
    Ratings
        Of the examples, whose `left_out` counts those without a label, or with several.

    Raises
    ------
    RatingsError
        If it is no such file, or does not say who labelled.
    """
    source = Source.of(path)
    export = Export(source)
    with source.read_as(TOOL):
        for person, record in _examples(source, rater):
            labels = next((record[name] for name in LABELS if name in record), None)
            if labels is None:
                raise KeyError("label")
            if any(isinstance(each, (list, dict)) for each in labels):
                rule, found = "a label must be of the whole text", "labels of spans"
                remedy = "Export a project of text or image classification."
                raise source.fault(f"entry {source.at}: {rule}", found, remedy)
            value, reason = single(labels)
            if reason:
                export.left_out["no label" if reason.startswith("no answer") else reason] += 1
                continue
            cells = item_fields({"group": group, "block": block}, record, source)
            item = record.get("id", source.at)
            export.add(item=item, rater=person, rating=value, **cells)
    return export.ratings(**options)


def _is_record(record: Record) -> bool:
    """Whether a record is an example of doccano: its labels are a list of texts."""
    labels = next((record[name] for name in LABELS if name in record), None)
    is_listed = isinstance(labels, list) and all(isinstance(label, str) for label in labels)
    known = {"id", "text", "data", "filename", "meta", "Comments", *LABELS}
    return is_listed and "text" in record and ("Comments" in record or set(record) <= known)


def _is_archive(source: Source) -> bool:
    """Whether an archive is one of a file for each user."""
    names = source.members
    return bool(names) and all(PurePosixPath(name).suffix in JSON_SUFFIXES for name in names)


def _examples(source: Source, rater: str | None) -> Iterator[tuple[Any, Record]]:
    if source.path.suffix.lower() == ".zip":
        for name in source.members:
            lines = source.member(name).decode("utf-8-sig").splitlines()
            for source.at, line in enumerate(lines, start=1):
                if line.strip():
                    yield PurePosixPath(name).stem, json.loads(line)
        return
    for record in source.records():
        person = record.get("username") or record.get("annotator") or rater
        if person is None:
            raise source.no_rater("username", TOOL)
        yield person, record


DOCCANO = Tool(
    name="doccano",
    title=TOOL,
    read=doccano,
    takes=frozenset({"rater", "group", "block"}),
    is_record=_is_record,
    is_archive=_is_archive,
)
