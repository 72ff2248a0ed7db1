"""How many cells a table has, counted before anything is built from it."""

from __future__ import annotations

import csv
import json
import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from string import ascii_uppercase
from typing import IO
from xml.parsers import expat

from reliabayes.errors import Fault, RatingsError

LETTERS = re.compile("[^0-9]+")  # of a reference such as AB12
LAST_ROW = 1_048_576  # that a sheet can have
LINE = r"[^\r\n]*(?:\r\n?|\n)|[^\r\n]+"
WORKBOOK = "xl/workbook.xml"
# A sheet of ratings packs to about a twentieth of its size, and never to a hundredth.
MOST_PACKED = 100
ALWAYS_UNPACKED = 10_000_000  # bytes that do no harm, however densely they are packed
APART = "Delete cells that stand apart from the table, in all sheets."
READ_AT_ONCE = 1 << 16  # bytes of a part of a workbook
# What a damaged archive, or one with a password or an unknown way of packing, makes zipfile raise.
UNREADABLE = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)


@dataclass(frozen=True)
class SizeLimit:
    """How large a table may be.

    Attributes
    ----------
    cells : int
        Rows times columns, empty cells included.
    columns : int
        Columns.
    unpacked : int
        Bytes of a workbook when it is unpacked.
    remedy : str
        What to do with a larger table, as a sentence.
    """

    cells: int
    columns: int
    unpacked: int
    remedy: str

    def check_text(self, text: str, delimiter: str) -> None:
        """Refuse delimited text that would become too many cells.

        Parameters
        ----------
        text : str
            The text.
        delimiter : str
            The character between fields.

        Raises
        ------
        RatingsError
            It has too many columns or cells.
        """
        try:
            header = next(csv.reader(self._header_lines(text, delimiter), delimiter=delimiter), [])
        except csv.Error:  # which reading reports in words of its own
            return
        n_ends = text.count("\n") + text.count("\r") - text.count("\r\n")
        self._check_cells(n_ends + 1, len(header))

    def check_records(self, lines: Iterable[bytes]) -> None:
        """Refuse JSON lines whose objects have too many keys altogether.

        Parameters
        ----------
        lines : iterable of bytes
            Lines with an object each. The count ends at a line that is no JSON, which reading
            reports in words of its own.

        Raises
        ------
        RatingsError
            They have too many columns or cells.
        """
        keys: set[str] = set()
        for n_rows, line in enumerate(filter(bytes.strip, lines), 1):
            try:
                record = json.loads(line)
            except (ValueError, RecursionError):
                return
            keys |= record.keys() if isinstance(record, dict) else set()
            self._check_cells(n_rows, len(keys))

    def check_workbook(self, content: Path | IO[bytes]) -> None:
        """Refuse a workbook of which a sheet would become too many cells.

        Rows count if they have cells. Any part may be a sheet, because the workbook names the file
        of each.

        Parameters
        ----------
        content : Path or binary file
            The workbook.

        Raises
        ------
        RatingsError
            It is no workbook, is too large when it is unpacked, or has too many columns or cells.
        """
        try:
            with zipfile.ZipFile(content) as archive:
                parts = archive.infolist()
                self._check_unpacked(parts)
                if WORKBOOK not in (part.filename.lower() for part in parts):
                    raise zipfile.BadZipFile(f"it has no {WORKBOOK}")
                for part in parts:
                    with archive.open(part) as opened:
                        self._check_sheet(opened)
        except UNREADABLE as error:
            rule, remedy = "it must be a spreadsheet", "Export it again, or correct its suffix."
            place = content.name if isinstance(content, Path) else "table"
            raise RatingsError([Fault(place, rule, str(error), remedy)]) from error

    def _header_lines(self, text: str, delimiter: str) -> Iterator[str]:
        """Lines of which csv takes as many as the header has, since quotes may hold line breaks."""
        n_delimiters = 0
        for line in re.finditer(LINE, text):
            n_delimiters += text.count(delimiter, *line.span())
            self._check_cells(1, n_delimiters + 1)
            yield line[0]

    def _check_unpacked(self, parts: Iterable[zipfile.ZipInfo]) -> None:
        size = sum(part.file_size for part in parts)
        packed = sum(part.compress_size for part in parts)
        if size > self.unpacked or size > max(ALWAYS_UNPACKED, MOST_PACKED * packed):
            rule = f"a spreadsheet must have at most {self.unpacked / 1e6:,.0f} MB when unpacked"
            rule += f", and at most {MOST_PACKED} times its packed size"
            found = f"{size / 1e6:,.0f} MB in {packed / 1e6:,.1f} MB"
            raise RatingsError([Fault("table", rule, found, self.remedy)])

    def _check_sheet(self, sheet: IO[bytes]) -> None:
        of_sheets = replace(self, remedy=f"{APART} {self.remedy}")
        extent = _Extent()
        parser = expat.ParserCreate()
        parser.StartElementHandler = extent.take
        parser.StartDoctypeDeclHandler = _refuse_document_type
        while piece := sheet.read(READ_AT_ONCE):
            try:
                parser.Parse(piece)
            except expat.ExpatError:  # a picture; reading reports a damaged sheet
                return
            of_sheets._check_cells(extent.n_rows, extent.n_columns)
            if extent.last_row > LAST_ROW:
                rule, found = f"a sheet ends with row {LAST_ROW:,}", f"row {extent.last_row:,}"
                raise RatingsError([Fault("table", rule, found, APART)])

    def _check_cells(self, n_rows: int, n_columns: int) -> None:
        if n_columns > self.columns:
            rule, found = f"a table must have at most {self.columns:,} columns", f"{n_columns:,}"
        elif n_rows * n_columns > self.cells:
            rule = f"a table must have at most {self.cells:,} cells"
            found = f"{n_rows:,} rows of {n_columns:,} column{'s' * (n_columns != 1)}"
        else:
            return
        raise RatingsError([Fault("table", rule, found, self.remedy)])


@dataclass
class _Extent:
    """Rows with cells and columns of a sheet, of which the file has only some cells."""

    n_rows: int = 0
    n_columns: int = 0
    last_row: int = 0
    _column: int = field(default=0, init=False)
    _has_cells: bool = field(default=False, init=False)

    def take(self, name: str, attributes: Mapping[str, str]) -> None:
        """Take the start of an element: a row or cell follows the one before or says where it is.

        Parameters
        ----------
        name : str
            Name of the element.
        attributes : mapping of str to str
            Its attributes.
        """
        kind = name.rpartition(":")[2] if ":" in name else name
        if kind == "row":
            self.last_row = max(_row_number(attributes.get("r", "")), self.last_row + 1)
            self._column, self._has_cells = 0, False
        elif kind == "c" or "r" in attributes:  # openpyxl takes whatever is in a row for a cell
            letters = LETTERS.match(attributes.get("r", ""))
            self._column = _column_number(letters[0]) if letters else self._column + 1
            self.n_columns = max(self.n_columns, self._column)
            self.n_rows += not self._has_cells
            self._has_cells = True


def _column_number(letters: str) -> int:
    """Number of a column, such as 28 for ``AB``; what is no column counts as one."""
    number = 0
    for letter in letters[:6].upper():
        number = number * len(ascii_uppercase) + ascii_uppercase.find(letter) + 1
    return max(number, 1)


def _row_number(text: str) -> int:
    """Number of a row, in any way that Python reads numbers; what is no row counts as one."""
    try:
        return int(float(text))
    except (ValueError, OverflowError):
        return 1


def _refuse_document_type(*_: object) -> None:
    rule, remedy = "a spreadsheet must not define entities", "Export it again."
    raise RatingsError([Fault("table", rule, "a document type", remedy)])
