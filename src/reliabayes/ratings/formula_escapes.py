"""Tables as CSV that no spreadsheet computes, and the ids of such a file as they were.

A spreadsheet takes a cell for a formula if it begins with one of a few characters. As OWASP
advises, an apostrophe is written before texts that do, and before those that begin with apostrophes
and then one of them, so that removing one apostrophe gives every text back. Numbers are written as
they are.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.ratings.columns import NUMBER

STARTS = "=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20"  # the last are the first four in full width
NEEDS_ESCAPE = re.compile(f"'*[{STARTS}]")
IS_ESCAPED = re.compile(f"'+[{STARTS}]")
IS_FORMULA = re.compile(f"(?!(?:{NUMBER})\\Z)[{STARTS}]")
WHY = "without the apostrophe that keeps spreadsheets from computing"
NUMBERS = (int, float, np.number, Decimal)


def csv_text(table: pd.DataFrame, *, index: bool = True) -> str:
    """Return a table as CSV, none of whose cells starts a formula.

    Parameters
    ----------
    table : DataFrame
        The table.
    index : bool, default True
        Whether its index is written.

    Returns
    -------
    str
    """
    levels = table.index.to_frame(index=False) if index else pd.DataFrame(index=range(len(table)))
    names = [*(table.index.names if index else ()), *table.columns]
    cells = pd.concat([levels, table.reset_index(drop=True)], axis=1)
    written = pd.DataFrame({at: _escaped(cells.iloc[:, at]) for at in range(len(names))})
    header = [_escaped_text("" if name is None else name) for name in names]
    text = written.to_csv(index=False, header=header)
    if "\r" in text:  # Python before 3.13 does not quote it, and readers take it for a line end
        return written.to_csv(index=False, header=header, quoting=csv.QUOTE_NONNUMERIC)
    return text


def without_escapes(frame: pd.DataFrame) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the columns of a text file as they were before texts were escaped.

    Nothing is removed if a text begins like a formula without an escape, since then the file was
    written without escapes; nor if two texts would become one.

    Parameters
    ----------
    frame : DataFrame, N rows
        Columns of numbers, of texts, or categorical ones of either.

    Returns
    -------
    frame : DataFrame, N rows
        The columns; those without escapes are the same.
    notes : tuple of str
        One note on each column that had escapes.
    """
    texts = {name: _texts(frame[name]) for name in frame}
    every = {text for of_column in texts.values() for text in of_column}
    if any(IS_FORMULA.match(text) for text in every):
        return frame, ()
    plain = {text: text[1:] for text in every if IS_ESCAPED.match(text)}
    if not plain or len({plain.get(text, text) for text in every}) < len(every):
        return frame, ()
    found, notes = frame.copy(deep=False), []
    for name, of_column in texts.items():
        if escaped := [text for text in of_column if text in plain]:
            found[name] = _renamed(frame[name], plain)
            more = f" and {len(escaped) - 1} more" if len(escaped) > 1 else ""
            first = f"{escaped[0]!r} as {plain[escaped[0]]!r}"
            notes.append(f"Column {name}: took {first}{more}, {WHY}.")
    return found, tuple(notes)


def _texts(column: pd.Series[Any]) -> list[str]:
    """The distinct texts of a column."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.cat.categories.to_series()
    if pd.api.types.is_numeric_dtype(column.dtype):
        return []
    return [text for text in column.unique() if isinstance(text, str)]


def _renamed(column: pd.Series[Any], plain: Mapping[str, str]) -> pd.Series[Any]:
    if isinstance(column.dtype, pd.CategoricalDtype):
        return column.cat.rename_categories(lambda text: plain.get(text, text))
    return column.map(lambda text: plain.get(text, text), na_action="ignore")


def _escaped(column: pd.Series[Any]) -> pd.Series[Any]:
    if pd.api.types.is_numeric_dtype(column.dtype):
        return column
    return column.astype(object).map(_escaped_text, na_action="ignore")


def _escaped_text(value: Any) -> Any:
    if isinstance(value, NUMBERS):
        return value
    text = str(value)
    return f"'{text}" if NEEDS_ESCAPE.match(text) else value
