"""Workbooks: the cells of a sheet as they are, and what has no single meaning in them."""

from __future__ import annotations

import re
import warnings
import zipfile
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import IO, Any

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.column_reading import EXACT_FLOATS
from reliabayes.ratings.table_size import SizeLimit
from reliabayes.wording import listed

LIMIT = SizeLimit(
    cells=50_000_000,  # a full sheet of 48 columns, in some 4 GB
    columns=16_384,  # that a sheet can have
    unpacked=5_000_000_000,  # the same cells, with the markup around values
    remedy="Export the table as CSV with one rating per row.",
)
MERGED = re.compile(rb'<(?:\w+:)?mergeCell\s[^>]*?ref="([A-Z]+)([0-9]+):([A-Z]+)([0-9]+)"')
CHUNK = 2**20  # bytes
CUT = 10**15  # from here on numbers of a workbook lose digits
DATES = (date, time, timedelta)  # a datetime is a date
SAVE = "Open the workbook in a spreadsheet program and save it, or replace formulas by values."


@dataclass(frozen=True)
class Broken:
    """A cell whose value is not known: its address, and the error, or None for no result."""

    address: str
    error: str | None


@dataclass(frozen=True)
class Merged:
    """A range of merged cells: letters of its first and last column, numbers of its rows."""

    first: str
    top: int
    last: str
    bottom: int

    def __str__(self) -> str:
        return f"{self.first}{self.top}:{self.last}{self.bottom}"


@dataclass(frozen=True)
class Sheet:
    """The table of a sheet.

    Attributes
    ----------
    columns : mapping from str to list
        The cells below each name: text, int, float, bool, date, time, `Broken`, or None.
    letters : mapping from str to str
        The letter of each column.
    rows : list of int
        The number of each row in the sheet.
    """

    columns: Mapping[str, list[Any]]
    letters: Mapping[str, str]
    rows: list[int]

    def require(self, ids: Sequence[str], values: Sequence[str]) -> None:
        """Refuse columns with cells that cannot be read.

        Parameters
        ----------
        ids : sequence of str
            Columns that may hold dates.
        values : sequence of str
            Columns of ratings or gold, which may not.

        Raises
        ------
        RatingsError
            If there are such cells. It names their addresses.
        """
        faults = [fault for name in (*ids, *values) for fault in self._broken(name)]
        faults += [fault for name in ids for fault in self._cut_numbers(name)]
        faults += [fault for name in values for fault in self._dates(name)]
        if faults:
            raise RatingsError(faults)

    def stacked(self, names: Sequence[str], *, are_texts: bool = False) -> pd.Series[Any]:
        """Return the cells of columns, one column after the other.

        Parameters
        ----------
        names : sequence of str
            The columns.
        are_texts : bool, default False
            Whether all cells are taken for texts.

        Returns
        -------
        Series
            Numbers or bools if all cells are, else of type str: numbers, bools and dates are then
            spelled as the sheet shows them.
        """
        cells = [cell for name in names for cell in self.columns[name]]
        known = [None if isinstance(cell, Broken) else cell for cell in cells]
        return _texts(known) if are_texts else _column(known)

    def frame(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Return columns with the numbers of the sheet's rows as index.

        Parameters
        ----------
        names : sequence of str, optional
            The columns; by default all.

        Returns
        -------
        DataFrame
            Each column as `stacked` gives it; cells that cannot be read are missing.
        """
        chosen = self.columns if names is None else names
        return pd.DataFrame({name: self.stacked([name]) for name in chosen}).set_axis(self.rows)

    def _broken(self, name: str) -> Iterator[Fault]:
        broken = [cell for cell in self.columns[name] if isinstance(cell, Broken)]
        if errors := [cell for cell in broken if cell.error is not None]:
            found = f"{listed(sorted({str(cell.error) for cell in errors}))} in {_where(errors)}"
            remedy = "Correct these cells, or clear them if there is no value."
            yield Fault(name, "cells must not hold errors", found.replace("'", ""), remedy)
        if unknown := [cell for cell in broken if cell.error is None]:
            found = f"none in {_where(unknown)}"
            yield Fault(name, "the workbook must hold the results of its formulas", found, SAVE)

    def _cut_numbers(self, name: str) -> Iterator[Fault]:
        if at := self._at(name, lambda cell: type(cell) in (int, float) and abs(cell) >= CUT):
            rule = "ids of 16 or more digits must be texts, because workbooks keep 15 digits"
            remedy = "Import the original file with this column as text, or read that file."
            yield Fault(name, rule, f"{at[0].error} in {_where(at)}", remedy)

    def _dates(self, name: str) -> Iterator[Fault]:
        if at := self._at(name, lambda cell: isinstance(cell, DATES)):
            remedy = "Format these cells as text or number, and enter the ratings again."
            found = f"{at[0].error} in {_where(at)}"
            yield Fault(name, "values must not be dates or times", found, remedy)

    def _at(self, name: str, is_wrong: Callable[[Any], bool]) -> list[Broken]:
        return [
            Broken(f"{self.letters[name]}{row}", spelled(cell))
            for row, cell in zip(self.rows, self.columns[name], strict=True)
            if is_wrong(cell)
        ]


@dataclass(frozen=True)
class Grid:
    """The cells of a sheet, before it is known which row names the columns.

    Attributes
    ----------
    lines : list of pairs of int and mapping
        Number of each row with cells, and these by the position of their column.
    merged : list of tuples
        Ranges of merged cells.
    """

    lines: list[tuple[int, dict[int, Any]]]
    merged: list[Merged]


def read_sheet(file: Path | IO[bytes], limit: SizeLimit = LIMIT, name: str | None = None) -> Sheet:
    """Read a sheet of a workbook; its first row with a value names the columns.

    Parameters
    ----------
    file : Path or binary file
        The workbook.
    limit : SizeLimit, default `LIMIT`
        How large its sheets may be, which is checked before memory is taken.
    name : str, optional
        Name of the sheet. By default the first that shows.

    Returns
    -------
    Sheet

    Raises
    ------
    RatingsError
        If the file is no workbook or too large, the sheet is empty, names of columns are repeated,
        cells are merged, or stand beside the table.
    ImportError
        If openpyxl is not installed.
    """
    grid = read_grid(file, limit, name)
    if not grid.lines:
        raise _no_table("an empty sheet")
    return _table(grid.lines, grid.merged)


def read_grid(
    file: Path | IO[bytes], limit: SizeLimit | None = LIMIT, name: str | None = None
) -> Grid:
    """Read the cells of a sheet, whatever they are.

    Parameters
    ----------
    file : Path or binary file
        The workbook.
    limit : SizeLimit or None, default `LIMIT`
        How large its sheets may be, which is checked before memory is taken; None if it was.
    name : str, optional
        Name of the sheet. By default the first that shows.

    Returns
    -------
    Grid

    Raises
    ------
    RatingsError
        If the file is no workbook or too large, or there is no such sheet.
    ImportError
        If openpyxl is not installed.
    """
    from openpyxl import load_workbook  # type: ignore[import-untyped]

    if limit is not None:
        limit.check_workbook(file)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # about what is no value, such as formats
        book = load_workbook(file, read_only=True, data_only=True)
        try:
            sheet = _chosen(book, name)
            lines = _lines(sheet)
            merged = _merged(file, sheet._worksheet_path)
        finally:
            book.close()
        is_doubtful = any(cell is ... for _, cells in lines for cell in cells.values())
        formulas = _formulas(file, name) if is_doubtful else set()
    filled = [(row, _filled(cells, row, formulas)) for row, cells in lines]
    return Grid([(row, cells) for row, cells in filled if cells], merged)


def shown_sheets(file: Path | IO[bytes]) -> list[str]:
    """Return the names of the sheets of a workbook that show.

    Parameters
    ----------
    file : Path or binary file
        The workbook, whose size was checked.

    Returns
    -------
    list of str
    """
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=True)
    try:
        return [each.title for each in book.worksheets if each.sheet_state == "visible"]
    finally:
        book.close()


def fault_of_merged(inside: Sequence[Merged]) -> Fault:
    """Return the fault of merged cells in a table."""
    rule, remedy = "cells of the table must not be merged", "Unmerge them and fill each cell."
    return Fault("sheet", rule, listed([*map(str, inside)]).replace("'", ""), remedy)


def column_letter(at: int) -> str:
    """Return the letters of a column, from 0: A, B, and so on."""
    from openpyxl.utils import get_column_letter  # type: ignore[import-untyped]

    letters: str = get_column_letter(at + 1)
    return letters


def _chosen(book: Any, name: str | None) -> Any:
    """The sheet of a name, or the first that shows; one of a chart is none."""
    shown = [each for each in book.worksheets if each.sheet_state == "visible"]
    if name is not None:
        for sheet in book.worksheets:
            if sheet.title == name:
                return sheet
        remedy = f"The sheets are {listed([each.title for each in shown], 20)}."
        raise RatingsError([Fault("sheet", "it must name a sheet", repr(name), remedy)])
    if not shown:
        raise _no_table("only charts or hidden sheets")
    return shown[0]


def _no_table(found: str) -> RatingsError:
    rule = "its first sheet that is not hidden must hold a header and ratings"
    return RatingsError([Fault("sheet", rule, found, "Move the table there.")])


def _lines(sheet: Any) -> list[tuple[int, dict[int, Any]]]:
    """Numbers of rows and their cells by column; those without a value are ``...``."""
    from openpyxl.cell.read_only import EMPTY_CELL  # type: ignore[import-untyped]

    sheet.reset_dimensions()  # which a file may state as it likes
    return [
        (number, {at: _value(cell) for at, cell in enumerate(cells) if cell is not EMPTY_CELL})
        for number, cells in enumerate(sheet.iter_rows(), 1)
        if cells
    ]


def _value(cell: Any) -> Any:
    """The value of a cell; ``...`` if it has none, but may be a formula."""
    if cell.data_type == "e":
        return Broken(cell.coordinate, str(cell.value))
    if cell.value is None:
        return ... if cell.data_type == "n" else ""
    return cell.value


def _formulas(file: Path | IO[bytes], name: str | None) -> set[tuple[int, int]]:
    """Rows and columns of formulas."""
    from openpyxl import load_workbook

    book = load_workbook(file, read_only=True, data_only=False)
    try:
        sheet = _chosen(book, name)
        sheet.reset_dimensions()
        return {
            (cell.row, cell.column - 1)
            for cells in sheet.iter_rows()
            for cell in cells
            if cell.data_type == "f"
        }
    finally:
        book.close()


def _filled(
    cells: Mapping[int, Any],
    row: int,
    formulas: set[tuple[int, int]],
) -> dict[int, Any]:
    """Cells that hold something; formulas without a result are broken."""
    return {
        at: Broken(f"{column_letter(at)}{row}", None) if value is ... else value
        for at, value in cells.items()
        if value != "" and (value is not ... or (row, at) in formulas)
    }


def _merged(file: Path | IO[bytes], path: str) -> list[Merged]:
    """Ranges of merged cells."""
    found: list[Merged] = []
    with zipfile.ZipFile(file) as archive, archive.open(path) as xml:
        rest = b""
        while chunk := xml.read(CHUNK):
            text = rest + chunk
            for match in MERGED.finditer(text):
                first, top, last, bottom = (each.decode() for each in match.groups())
                found.append(Merged(first, int(top), last, int(bottom)))
            rest = text[text.rfind(b"<") :]
    return found


def _table(
    lines: Sequence[tuple[int, Mapping[int, Any]]],
    merged: Sequence[Merged],
) -> Sheet:
    (top, header), *rows = lines
    first, last = min(min(cells) for _, cells in lines), max(header)
    letters = [column_letter(at) for at in range(first, last + 1)]
    names = [_name(header.get(at), at - first) for at in range(first, last + 1)]
    faults = [*_repeated(names, letters, top)]
    if beside := [(row, max(cells)) for row, cells in rows if max(cells) > last]:
        rule = "each cell must stand below the name of its column"
        found = f"{column_letter(beside[0][1])}{beside[0][0]} beside the table"
        faults.append(Fault("sheet", rule, found, "Name its column, or delete the cell."))
    if inside := [each for each in merged if each.first in letters and each.bottom >= top]:
        faults.append(fault_of_merged(inside))
    if faults:
        raise RatingsError(faults)
    columns = {name: [cells.get(at) for _, cells in rows] for at, name in enumerate(names, first)}
    return Sheet(columns, dict(zip(names, letters, strict=True)), [row for row, _ in rows])


def _name(cell: Any, at: int) -> str:
    """The name of a column; as pandas names those of text files if there is none."""
    return f"Unnamed: {at}" if cell is None else spelled(cell)


def _repeated(names: Sequence[str], letters: Sequence[str], row: int) -> Iterator[Fault]:
    for name, number in Counter(names).items():
        if number > 1:
            at = [f"{letters[k]}{row}" for k, other in enumerate(names) if other == name]
            found = f"{name!r} in {', '.join(at)}"
            remedy = "Rename or drop the others."
            yield Fault("columns", "their names must be unique", found, remedy)


def _column(cells: Sequence[Any]) -> pd.Series[Any]:
    kinds = {type(cell) for cell in cells}
    if kinds in ({bool}, {int}):
        return pd.Series(cells)
    kinds.discard(type(None))
    if not kinds:
        return pd.Series(None, index=range(len(cells)), dtype="str")
    if kinds == {bool}:
        return pd.Series(cells, dtype=object)
    if kinds <= {int, float}:
        largest = max((abs(cell) for cell in cells if isinstance(cell, int)), default=0)
        return pd.Series(cells, dtype="float64" if largest < EXACT_FLOATS else object)
    return _texts(cells)


def _texts(cells: Sequence[Any]) -> pd.Series[Any]:
    return pd.Series([None if cell is None else spelled(cell) for cell in cells], dtype="str")


def spelled(cell: Any) -> str:
    """Return the text of a cell as the sheet shows it.

    Parameters
    ----------
    cell : Any
        Its value.

    Returns
    -------
    str
    """
    if isinstance(cell, Broken):
        return cell.error or cell.address
    if isinstance(cell, bool):
        return str(cell).upper()
    if isinstance(cell, float):
        return repr(int(cell) if cell.is_integer() and abs(cell) < EXACT_FLOATS else cell)
    if isinstance(cell, datetime):
        return cell.isoformat(sep=" ").removesuffix(" 00:00:00")
    return str(cell)


def _where(cells: Sequence[Broken]) -> str:
    shown = ", ".join(cell.address for cell in cells[:5])
    return shown + (f" and {len(cells) - 5} more" if len(cells) > 5 else "")
