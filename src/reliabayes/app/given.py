"""A table that was pasted or dropped: its columns, its first rows, and single lines of it."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from pathlib import Path, PurePath
from tempfile import TemporaryDirectory

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.file_formats import (
    EXCEL_SUFFIX,
    JSON_SUFFIXES,
    TEXT_SUFFIXES,
    read_records,
    without_mark,
)
from reliabayes.ratings.reading import DELIMITERS, N_SAMPLED
from reliabayes.ratings.table_size import SizeLimit
from reliabayes.wording import listed

FORMATS = (*TEXT_SUFFIXES, *JSON_SUFFIXES, EXCEL_SUFFIX)  # that the page takes
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
    def on_disk(self) -> Iterator[Path]:
        """The table as a file, for as long as it is read.

        Yields
        ------
        Path
            A file ``table`` with the suffix of the format.

        Raises
        ------
        RatingsError
            It has another format, or is larger than `LIMIT` and `MOST_BYTES` allow.
        """
        self._check()
        with TemporaryDirectory(prefix="reliabayes-app-") as folder:
            file = Path(folder, f"table{self.suffix}")
            file.write_bytes(self.content)
            yield file

    @cached_property
    def first_rows(self) -> pd.DataFrame:
        """The first rows, as texts if it is delimited text.

        Raises
        ------
        RatingsError
            It cannot be read.
        """
        if self.is_text:
            self._check()
            return self._first_of_text()
        first = self._records.head(N_SAMPLED)
        _check_names(first.columns)
        return first

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.first_rows.columns]

    @property
    def shown_rows(self) -> pd.DataFrame:
        """The first few rows as texts, short enough to be shown."""
        rows = self.first_rows.head(N_SHOWN_ROWS).astype(object)
        shown = rows.where(rows.notna(), "").astype(str).map(_short)
        return shown.set_axis(self.columns, axis="columns")

    def lines(self, numbers: Sequence[int], unit: str) -> list[tuple[int, str]]:
        """Lines of the table, by the numbers that messages give them.

        Parameters
        ----------
        numbers : sequence of int
            Lines of a text from 1, rows of a spreadsheet as it numbers them, or records from 0.
        unit : str
            What is counted: ``"line"`` or ``"row"``.

        Returns
        -------
        list of pairs of int and str
            Number and content, without those that the table does not have.
        """
        if self.is_text and unit == "line":
            texts = self._text.splitlines()
            return [(at, _short(texts[at - 1])) for at in numbers if 1 <= at <= len(texts)]
        rows = self._records if not self.is_text else self.first_rows
        places = rows.index.get_indexer(pd.Index(numbers)).tolist()
        return [
            (at, _short(", ".join(map(str, rows.iloc[place].tolist()))))
            for at, place in zip(numbers, places, strict=True)
            if place >= 0
        ]

    @property
    def _text(self) -> str:
        return self.content.decode(without_mark(self.encoding), errors="replace")

    @cached_property
    def _records(self) -> pd.DataFrame:
        with self.on_disk() as file:
            return read_records(file, self.suffix)

    def _first_of_text(self) -> pd.DataFrame:
        lines = [*islice((line for line in io.StringIO(self._text) if line.strip()), N_SAMPLED)]
        if not lines:
            rule, remedy = "it must hold a header and ratings", "Paste it with its header."
            raise RatingsError([Fault("table", rule, "an empty table", remedy)])
        try:
            rows = [*csv.reader(lines, delimiter=self._delimiter(lines[0]))]
        except csv.Error as error:
            rule, remedy = "its first lines must be readable", "Check how it was exported."
            raise RatingsError([Fault("table", rule, str(error), remedy)]) from error
        _check_names(rows[0])
        width = len(rows[0])
        cells = [(row + [""] * width)[:width] for row in rows[1:]]
        return pd.DataFrame(cells, columns=rows[0], dtype=object).replace("", None)

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


def _check_names(columns: Iterable[object]) -> None:
    """Refuse columns whose names no menu can show."""
    if any(len(str(name)) > LONGEST for name in columns):
        rule = f"the name of a column must have at most {LONGEST} characters"
        remedy = "Begin the table with a line that names its columns."
        raise RatingsError([Fault("header", rule, "a longer one", remedy)])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]} ..."
