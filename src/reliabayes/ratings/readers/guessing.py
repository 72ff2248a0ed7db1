"""Which tool a file is of, found from its content."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, get_args

from reliabayes.choices import Format
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.checks import OF_AGREEMENT
from reliabayes.ratings.coding import coded_table
from reliabayes.ratings.file_formats import (
    JSON_SUFFIXES,
    OPENERS,
    PARQUET_SUFFIXES,
    SUFFIXES,
    TEXT_SUFFIXES,
)
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.read_options import DEFAULT_COLUMNS, ReadOptions
from reliabayes.ratings.readers.argilla import ARGILLA
from reliabayes.ratings.readers.crowdkit import CROWDKIT
from reliabayes.ratings.readers.deepeval import DEEPEVAL
from reliabayes.ratings.readers.doccano import DOCCANO
from reliabayes.ratings.readers.hf_annotators import HF_ANNOTATORS
from reliabayes.ratings.readers.inspect import INSPECT, LOG, logs_in
from reliabayes.ratings.readers.label_studio import LABEL_STUDIO
from reliabayes.ratings.readers.langfuse import LANGFUSE
from reliabayes.ratings.readers.mturk import MTURK
from reliabayes.ratings.readers.prodigy import PRODIGY
from reliabayes.ratings.readers.promptfoo import PROMPTFOO
from reliabayes.ratings.readers.source import MOST_OF_TABLE, Source
from reliabayes.ratings.readers.toloka import TOLOKA
from reliabayes.ratings.readers.tool import Tool
from reliabayes.wording import listed

# In this order: what is more special comes first.
TOOLS = (
    INSPECT, PROMPTFOO, DEEPEVAL, LABEL_STUDIO, ARGILLA, PRODIGY, LANGFUSE, MTURK, TOLOKA,
    HF_ANNOTATORS, DOCCANO, CROWDKIT,
)  # fmt: skip
# Arguments that say how a table is written.
OF_TABLES = (
    "shape", "delimiter", "decimal", "sheet", "header", "drop_rows", "drop_columns", "na",
)  # fmt: skip
ONLY_TOOLS = (".json", ".zip")  # what no table is
TABLES = (*TEXT_SUFFIXES, *JSON_SUFFIXES, *PARQUET_SUFFIXES)


def read_export(path: Path, options: ReadOptions) -> Ratings | None:
    """Read an export of a tool for an analysis, which needs two raters; None if it is a table.

    Parameters
    ----------
    path : Path
        The file.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Ratings or None

    Raises
    ------
    RatingsError
        If an argument does not apply, or the file cannot be read or compared.
    """
    asked = options.format
    arguments = {**options.roles, "facets": options.facets or None}
    arguments |= {name: getattr(options, name) for name in ("question", "separator", *OF_TABLES)}
    tool = _tool_of(path, asked, arguments, options.encoding)
    given = {name: x for name, x in arguments.items() if x not in (None, DEFAULT_COLUMNS.get(name))}
    if tool is None:
        if "question" in given and not options.is_part:
            rule, remedy = (
                "only exports of tools have questions",
                "Leave it out, or pass format=...",
            )
            raise RatingsError([Fault("question", rule, repr(given["question"]), remedy)])
        return None
    if options.is_part:
        given = {name: value for name, value in given.items() if name in tool.takes}
    if refused := [name for name in given if name not in tool.takes]:
        rule = f"it does not apply to an export of {tool.title}, whose fields are known"
        remedy = 'Leave it out, or pass format="table" to read the file as a table.'
        raise RatingsError([Fault(name, rule, repr(given[name]), remedy) for name in refused])
    source = path if path.is_dir() and tool is INSPECT else Source(path, options.encoding)
    of_all = {name: getattr(options, name) for name in ("scale", "categories", "twins")}
    ratings = tool.read(source, **given, **of_all)
    table = coded_table(ratings)
    faults = [fault for find in OF_AGREEMENT for fault in find(table)]
    if faults and not options.is_part:
        raise RatingsError(faults)
    if asked is not None:
        return ratings
    note = f'The file is read as an export of {tool.title}; format="table" reads it as a table.'
    return replace(ratings, notes=(note, *ratings.notes))


def _tool_of(
    path: Path, asked: Format | None, columns: Mapping[str, Any], encoding: str
) -> Tool | None:
    """The tool that a file is of; None for a table, as is one with all columns that are named."""
    if asked is not None:
        if asked not in get_args(Format):
            rule, remedy = f"it must be one of {listed(get_args(Format), 20)}", "Pass one of them."
            raise RatingsError([Fault("format", rule, repr(asked), remedy)])
        return next((tool for tool in TOOLS if tool.name == asked), None)
    if path.is_dir() and logs_in(path):
        return INSPECT
    if not path.is_file():
        return None
    kind = _kind(path)
    if kind == LOG:
        return INSPECT
    if kind in ONLY_TOOLS:
        source = Source(path, encoding)
        found = _of_archive(source) if kind == ".zip" else _of_records(source)
        return _known(found, source)
    if kind not in TABLES or any(columns[role] != role for role in ("item", "rating")):
        return None
    most = path.stat().st_size if kind in PARQUET_SUFFIXES else MOST_OF_TABLE
    source = Source(path, encoding, most)
    try:
        found = _of_table(source, columns)
    except RatingsError:  # reading the table says what is wrong with it
        return None
    is_for_table = columns["rater"] != "rater" and found is not None and "rater" not in found.takes
    return None if is_for_table else found


def _kind(path: Path) -> str:
    """The suffix that says what a file may be, without that of a compression."""
    suffixes = [suffix.lower() for suffix in path.suffixes]
    if not suffixes:
        return ""
    inner = suffixes[-2] if suffixes[-1] in OPENERS and len(suffixes) > 1 else suffixes[-1]
    if suffixes[-1] == ".zip" and inner not in (*SUFFIXES, ".json"):
        return ".zip"
    return inner


def _of_table(source: Source, columns: Mapping[str, Any]) -> Tool | None:
    if {columns[role] for role in ("item", "rater", "rating")} <= set(source.header):
        return None
    if source.is_records:
        return _of_records(source)
    return next((tool for tool in TOOLS if tool.is_header(source.header)), None)


def _of_records(source: Source) -> Tool | None:
    return next((tool for tool in TOOLS if tool.is_record(source.first)), None)


def _of_archive(source: Source) -> Tool | None:
    return next((tool for tool in TOOLS if tool.is_archive(source)), None)


def _known(tool: Tool | None, source: Source) -> Tool:
    if tool is not None:
        return tool
    is_archive = source.path.suffix.lower() == ".zip" and source.suffix != ".json"
    content = source.members if is_archive else list(source.first)
    rule = f"it must be of a tool that is known ({', '.join(tool.title for tool in TOOLS)})"
    what = "members" if is_archive else "fields"
    remedy = "Pass format=... if it is; write a table as CSV, or with one object a line as .jsonl."
    raise source.fault(rule, f"the {what} {listed(content, 10)}", remedy)
