"""A page about the texts that the package implements: a row for each thing that they describe."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby

from .files import ROOT

FOLDER = ROOT / "docs" / "texts"
ORDER = ("icc_xcc", "agreement", "k_rater", "tap", "irrsim")
STATES: Mapping[str, str] = {
    "here": "here",
    "in part": "in part",
    "not here": "not here",
    "differs": "differs on purpose",
}
OPENING = """\
# The texts, line by line

The package starts from five texts. This page has a row for each thing that they describe: what it
is, where it is here, the number of the text and ours. Numbers of ours that a text's data suffice
for are computed by the tests, and those of fits by the notebook that is named. Where a text is
wrong, the [errata](errata.md) say so; where its data are not public, the row says so.
"""


@dataclass(frozen=True, kw_only=True)
class Row:
    """A thing that a text describes.

    Attributes
    ----------
    section : str
        Where in the text.
    what : str
        What it is.
    state : str
        One of `STATES`.
    where : str
        Markdown: where it is here, or why it is not.
    text, ours : str
        The number of the text, and ours; empty if it has none.
    code : str
        Expression that gives ``ours``.
    """

    section: str
    what: str
    state: str
    where: str
    text: str = ""
    ours: str = ""
    code: str = ""


@dataclass(frozen=True, kw_only=True)
class Text:
    """A text, and the code that its rows share."""

    title: str
    rows: tuple[Row, ...]
    link: str = ""
    setup: str = ""


def pages() -> Iterator[tuple[str, str]]:
    """Path and text of the page."""
    texts = [read(name) for name in ORDER]
    count = Counter(row.state for text in texts for row in text.rows)
    summary = (
        f"Of {count.total()} things, {count['here']} are here, {count['in part']} are in part, "
        f"{count['differs']} differ on purpose, and {count['not here']} are not here.\n"
    )
    yield "texts.md", "\n".join([OPENING, summary, *map(_section, texts)])


@cache
def read(name: str) -> Text:
    """Read the rows of a text."""
    content = tomllib.loads((FOLDER / f"{name}.toml").read_text())
    return Text(rows=tuple(Row(**row) for row in content.pop("row")), **content)


def _section(text: Text) -> str:
    title = f"[{text.title}]({text.link})" if text.link else text.title
    lines = [f"## {title}", "", "| what | here | text | ours |", "|---|---|---|---|"]
    for section, rows in groupby(text.rows, key=lambda row: row.section):
        lines.append(f"| **{section}** | | | |")
        lines += [f"| {row.what} | {_where(row)} | {row.text} | {row.ours} |" for row in rows]
    return "\n".join([*lines, ""])


def _where(row: Row) -> str:
    return row.where if row.state == "here" else f"*{STATES[row.state]}:* {row.where}"
