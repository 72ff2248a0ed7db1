"""What is known of a tool: its name, its reader, and how to tell its files."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass
from typing import Any

from reliabayes.choices import Format
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.source import Record, Source


def _never(_: Any) -> bool:
    return False


@dataclass(frozen=True, kw_only=True)
class Tool:
    """A tool whose files can be read.

    Attributes
    ----------
    name : str
        The value of ``format``.
    title : str
        Its name in messages.
    read : callable
        Its reader.
    takes : frozenset of str
        Those of the options question, rater, group and block that the reader has.
    is_record : callable
        Whether the first record of JSON, or of JSON lines, is of the tool.
    is_header : callable
        Whether the columns of a table are of the tool.
    is_archive : callable
        Whether a zip file is of the tool.
    """

    name: Format
    title: str
    read: Callable[..., Ratings]
    takes: frozenset[str] = frozenset({"question", "group", "block"})
    is_record: Callable[[Record], bool] = _never
    is_header: Callable[[Collection[str]], bool] = _never
    is_archive: Callable[[Source], bool] = _never
