"""A table that was pasted or dropped: its columns, its first rows, and single lines of it."""

from __future__ import annotations

import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.encodings import found_encoding
from reliabayes.ratings.excel import read_grid, spelled
from reliabayes.ratings.file_formats import (
    EXCEL_SUFFIX,
    JSON_SUFFIXES,
    TEXT_SUFFIXES,
    read_records,
    without_mark,
)
from reliabayes.ratings.reading import DELIMITERS
from reliabayes.ratings.table_size import SizeLimit
from reliabayes.wording import listed

EXPORT_SUFFIXES = (".json", ".eval", ".zip")  # of what only tools write
FORMATS = (*TEXT_SUFFIXES, *JSON_SUFFIXES, EXCEL_SUFFIX, *EXPORT_SUFFIXES)  # that the page takes
MOST_BYTES = 50_000_000  # of a table, about two million ratings
ON_THE_COMMAND_LINE = "Use `reliabayes report` on the command line, which takes larger tables."
LIMIT = SizeLimit(
    cells=10_000_000,  # about two million ratings with five columns
    columns=2_000,
    unpacked=5 * MOST_BYTES,  # with the markup around values
    remedy=ON_THE_COMMAND_LINE,
)
N_SHOWN_ROWS = 6
LONGEST = 300  # characters of a line that is shown, and of the name of a column


@dataclass(frozen=True)
class Given:
    """A table as it was given.

    Attributes
    ----------
    suffix : str
        Format of the table, one of `FORMATS`.
    content : bytes
        The table.
    encoding : str, default "utf-8"
        Encoding of a text.
    """

    suffix: str
    content: bytes
    encoding: str = "utf-8"

    @classmethod
    def pasted(cls, text: str) -> Given:
        """A pasted table: JSON lines if it begins with a brace, otherwise delimited text.

        Parameters
        ----------
        text : str
            The text.

        Returns
        -------
        Given
        """
        suffix = JSON_SUFFIXES[0] if text.lstrip().startswith("{") else TEXT_SUFFIXES[0]
        return cls(suffix, text.encode("utf-8", errors="replace"))

    @classmethod
    def dropped(cls, name: str, content: bytes, encoding: str = "utf-8") -> Given:
        """A file, of whose name only the end counts.

        Parameters
        ----------
        name : str
            Its name.
        content : bytes
            What it holds.
        encoding : str, default "utf-8"
            Encoding of a text.

        Returns
        -------
        Given
        """
        return cls(PurePath(name).suffix.lower(), content, encoding)

    @property
    def is_text(self) -> bool:
        """Whether it is delimited text."""
        return self.suffix in TEXT_SUFFIXES

    @contextmanager
    def on_disk(self, name: str = "table") -> Iterator[Path]:
        """The table as a file, for as long as it is read.

        Parameters
        ----------
        name : str, default "table"
            Name of the file, which messages may have.

        Yields
        ------
        Path
            A file of this name with the suffix of the format.

        Raises
        ------
        RatingsError
            It has another format, or is larger than `LIMIT` and `MOST_BYTES` allow.
        """
        self._check()
        with TemporaryDirectory(prefix="reliabayes-app-") as folder:
            file = Path(folder, f"{name}{self.suffix}")
            file.write_bytes(self.content)
            yield file

    @property
    def is_export(self) -> bool:
        """Whether only the readers of tools' files can read it, by its suffix."""
        return self.suffix in EXPORT_SUFFIXES

    def lines(
        self, numbers: Sequence[int], unit: str, sheet: str | None = None
    ) -> list[tuple[int, str]]:
        """Lines of the table, by the numbers that messages give them.

        Parameters
        ----------
        numbers : sequence of int
            Lines of a text from 1, rows of a spreadsheet as it numbers them, or records from 0.
        unit : str
            What is counted: ``"line"`` or ``"row"``.
        sheet : str, optional
            Name of the sheet of a workbook.

        Returns
        -------
        list of pairs of int and str
            Number and content, without those that the table does not have.
        """
        if self.is_text and unit == "line":
            texts = self._text.splitlines()
            return [(at, short_cell(texts[at - 1])) for at in numbers if 1 <= at <= len(texts)]
        if not numbers or self.is_export:
            return []
        if self.suffix == EXCEL_SUFFIX:
            return self._lines_of_sheet(numbers, sheet)
        if self.is_text:
            return []
        rows = self._records
        places = rows.index.get_indexer(pd.Index(numbers)).tolist()
        return [
            (at, short_cell(", ".join(map(str, rows.iloc[place].tolist()))))
            for at, place in zip(numbers, places, strict=True)
            if place >= 0
        ]

    @property
    def _text(self) -> str:
        is_known = self.encoding != "utf-8"  # which nobody chose
        encoding = self.encoding if is_known else found_encoding(self.content)
        return self.content.decode(without_mark(encoding), errors="replace")

    def _lines_of_sheet(self, numbers: Sequence[int], sheet: str | None) -> list[tuple[int, str]]:
        rows = dict(read_grid(io.BytesIO(self.content), None, sheet).lines)
        return [
            (at, short_cell(", ".join(map(spelled, rows[at].values()))))
            for at in numbers
            if at in rows
        ]

    @cached_property
    def _records(self) -> pd.DataFrame:
        with self.on_disk() as file:
            return read_records(file, self.suffix)

    def _check(self) -> None:
        if self.suffix not in FORMATS:
            rule = f"the name of a file must end in {listed(FORMATS, 10)}"
            remedy = "Export it as CSV, or paste it."
            raise RatingsError([Fault("file", rule, repr(self.suffix), remedy)])
        if len(self.content) > MOST_BYTES:
            rule = f"a table must have at most {MOST_BYTES // 10**6} MB"
            found = f"{len(self.content) / 1e6:,.0f} MB"
            raise RatingsError([Fault("table", rule, found, ON_THE_COMMAND_LINE)])
        if self.suffix == EXCEL_SUFFIX:
            LIMIT.check_workbook(io.BytesIO(self.content))
        elif self.suffix in JSON_SUFFIXES:
            LIMIT.check_records(io.BytesIO(self.content))
        else:
            text = re.sub(r"\A(?:[^\S\n]*\n)+", "", self._text)
            header = re.match(r"[^\r\n]*", text)
            LIMIT.check_text(text, self._delimiter(header[0] if header else ""))

    def _delimiter(self, header: str) -> str:
        return "\t" if self.suffix == ".tsv" else max(DELIMITERS, key=header.count)


def check_names(columns: Iterable[object]) -> None:
    """Refuse columns whose names no menu can show.

    Parameters
    ----------
    columns : iterable
        The names.

    Raises
    ------
    RatingsError
        One is too long.
    """
    if any(len(str(name)) > LONGEST for name in columns):
        rule = f"the name of a column must have at most {LONGEST} characters"
        remedy = "Begin the table with a line that names its columns."
        raise RatingsError([Fault("header", rule, "a longer one", remedy)])


def short_cell(text: str) -> str:
    """A text that can be shown in a line.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
    """
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
