"""Tables as files that no spreadsheet computes: CSV, or a workbook with texts that stay texts."""

from __future__ import annotations

import io
import math
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.ratings.formula_escapes import NUMBERS, csv_text

WORKBOOK = ".xlsx"
MOST_ROWS, MOST_CHARACTERS = 1_048_576, 32_767  # of a sheet, of a cell


def table_content(table: pd.DataFrame, path: Path, *, index: bool = True) -> bytes:
    """Return a table as the content of a file.

    Parameters
    ----------
    table : DataFrame
        The table.
    path : Path
        The file. If its name ends in ``.xlsx`` the content is a workbook, otherwise CSV.
    index : bool, default True
        Whether the index is written.

    Returns
    -------
    bytes

    Raises
    ------
    ImportError
        If openpyxl, which writes workbooks, is not installed.
    ValueError
        If a workbook cannot hold the table.
    """
    if path.suffix.lower() == WORKBOOK:
        return _workbook(table.reset_index() if index else table)
    return csv_text(table, index=index).encode("utf-8", errors="backslashreplace")


def _workbook(table: pd.DataFrame) -> bytes:
    try:
        openpyxl = import_module("openpyxl")
    except ImportError as error:
        text = "writing .xlsx needs the package openpyxl; run pip install 'reliabayes[xlsx]'"
        raise ImportError(text) from error
    if len(table) >= MOST_ROWS:
        raise ValueError(f"a sheet holds {MOST_ROWS - 1:,} rows, and the table has {len(table):,}")
    book = openpyxl.Workbook(write_only=True)
    sheet = book.create_sheet("table")
    for row in _rows(table):
        sheet.append([_cell(sheet, value) for value in row])
    content = io.BytesIO()
    book.save(content)
    return content.getvalue()


def _rows(table: pd.DataFrame) -> Iterator[Any]:
    yield list(table.columns)
    yield from zip(*(table.iloc[:, at].tolist() for at in range(table.shape[1])), strict=True)


def _cell(sheet: Any, value: Any) -> Any:
    """A cell; a text is one even if it begins like a formula."""
    if value is None or (isinstance(value, float) and not math.isfinite(value)):
        return None
    if isinstance(value, (bool, np.bool_)):
        return bool(value)
    if isinstance(value, NUMBERS):
        return value
    cell = import_module("openpyxl.cell").WriteOnlyCell(sheet, "")
    illegal = import_module("openpyxl.cell.cell").ILLEGAL_CHARACTERS_RE
    text = illegal.sub("\N{REPLACEMENT CHARACTER}", str(value))
    if len(text) > MOST_CHARACTERS:
        raise ValueError(f"a cell holds {MOST_CHARACTERS:,} characters, and {text[:40]!r} has more")
    cell.value = text
    cell.data_type = "s"
    cell.quotePrefix = True  # so that it stays a text when it is edited
    return cell
