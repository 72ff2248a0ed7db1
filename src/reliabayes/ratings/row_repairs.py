"""Repairs of rows: those that hold no rating, such as totals and notes, and those that repeat."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Mask
from reliabayes.errors import Fault
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.repairs import Repair
from reliabayes.ratings.role_names import is_summary
from reliabayes.ratings.twins import written_alike
from reliabayes.ratings.value_repairs import figures
from reliabayes.wording import counted, listed

NO_FIGURES = "[^0-9]{1,30}"
STATISTICS = ("sum", "mean", "median", "std", "min", "max", "count")
MOST_LISTED = 1000  # lines that an argument of an error names


def rows_without_ratings(table: RawTable) -> Iterator[Repair]:
    """Yield repairs for rows that cannot be ratings, whatever the columns mean.

    Parameters
    ----------
    table : RawTable
        N rows.

    Yields
    ------
    Repair
        Of empty rows, of the header where it is repeated, and of notes in a single cell.
    """
    n_filled = table.cells.notna().to_numpy().sum(axis=1)
    is_header = np.zeros(len(table), np.bool_)
    for header in table.headers:
        if len(header) == len(table.names):
            is_header |= _is_equal(table, header)
    if (is_empty := n_filled == 0).any():
        yield _left_out(table, is_empty, "empty rows", "empty row")
    if is_header.any():
        yield _left_out(table, is_header, "repeated headers", "repetition", " of the header")
    is_note = (n_filled == 1) & ~is_header
    # A row that names an item which nobody rated has one cell too, in the first column.
    is_note &= _follows_all(n_filled > 1) | table.is_empty(table.names[0])
    if len(table.names) > 2 and is_note.any():
        yield _left_out(table, is_note, "notes", "row", " with a single cell")


def empty_columns(table: RawTable) -> Iterator[Repair]:
    """Yield the repair for columns without a name and without a value.

    Parameters
    ----------
    table : RawTable
        The table.

    Yields
    ------
    Repair
    """
    is_empty: list[bool] = table.cells.isna().all().tolist()
    unnamed = zip(table.names, is_empty, strict=True)
    if empty := [name for name, is_so in unnamed if is_so and _is_unnamed(name)]:
        action = f"leaves out {counted(len(empty), 'empty column')}"
        yield Repair("empty columns", action, lambda raw: raw.of(raw.cells.drop(columns=empty)))


def summary_rows(table: RawTable, ids: Sequence[str], values: Sequence[str]) -> Iterator[Repair]:
    """Yield repairs for rows of totals or means.

    Parameters
    ----------
    table : RawTable
        N rows.
    ids : sequence of str
        Columns of items and raters; of a wide table that of the items.
    values : sequence of str
        Columns of ratings.

    Yields
    ------
    Repair
        It is safe if the row cannot be a rating: a needed id is missing, or its numbers are a
        statistic of those above.
    """
    is_named = np.zeros(len(table), np.bool_)
    for name in ids:
        words = [text for text in table.matching(name, NO_FIGURES) if is_summary(text)]
        if words:
            is_named |= table.holds(name, words)
    if not is_named.any() or is_named.all():
        return
    lacks_id = np.zeros(len(table), np.bool_)
    for name in ids:
        lacks_id |= table.is_empty(name)
    is_sure = is_named & (lacks_id | _are_statistics(table, is_named, values))
    if is_sure.any():
        fault = _fault_of_summary(table, is_sure, ids)
        yield _left_out(
            table,
            is_sure,
            "summary rows",
            "row",
            " of totals or means",
            fault=fault,
            is_needed=True,
        )
    if (is_open := is_named & ~is_sure).any():
        fault = _fault_of_summary(table, is_open, ids)
        yield _left_out(
            table, is_open, "summary rows", "row", " of totals", fault=fault, is_safe=False
        )


def rows_without_ids(table: RawTable, ids: Sequence[str], rating: str) -> Iterator[Repair]:
    """Yield the repair for ratings of which the item or the rater is missing.

    A row that lacks its rating, too, is left out as one without a rating.

    Parameters
    ----------
    table : RawTable
        N rows, one rating each.
    ids : sequence of str
        Columns of items and raters.
    rating : str
        The column of ratings.

    Yields
    ------
    Repair
    """
    lacks_id = np.zeros(len(table), np.bool_)
    for name in ids:
        lacks_id |= table.is_empty(name)
    lacks_id &= ~table.is_empty(rating)
    number = int(lacks_id.sum())
    if not 0 < number <= min(MOST_LISTED, len(table) // 5):
        return
    lines = table.places(lacks_id)
    remedy = f"Fill it in, or pass drop_rows={[*lines]} to leave {_them(number)} out."
    rule = f"each row must have {' and '.join(ids)}"
    fault = _fault(table, ids[0], rule, f"{number} without", remedy, lines, drop_rows=[*lines])
    yield _left_out(
        table,
        lacks_id,
        "rows without ids",
        "row",
        " without an item or rater",
        fault=fault,
        is_safe=False,
    )


def unrated_rows(table: RawTable, rating: str) -> Iterator[Repair]:
    """Yield the repair for rows without a rating, as `missing="drop"` leaves them out.

    Parameters
    ----------
    table : RawTable
        N rows, one rating each.
    rating : str
        The column of ratings.

    Yields
    ------
    Repair
    """
    is_empty = table.is_empty(rating)
    if is_empty.any() and not is_empty.all():
        number = int(is_empty.sum())
        yield _left_out(
            table, is_empty, "rows without a rating", "row", " without a rating", n_unrated=number
        )


def exact_duplicates(
    table: RawTable, keys: Sequence[str], joined: str | None = None
) -> Iterator[Repair]:
    """Yield the repair for rows that repeat another in all cells.

    Parameters
    ----------
    table : RawTable
        N rows.
    keys : sequence of str
        The columns of ids, which must not be repeated.
    joined : str, optional
        The column of ratings, if texts that differ only in how they are written count as equal.

    Yields
    ------
    Repair
    """
    if not _repeats(table, keys, joined).any():
        return
    is_repeated = _repeats(table, table.names, joined)
    if not is_repeated.any():
        return
    number = int(is_repeated.sum())
    lines = table.places(is_repeated)
    verb = "repeats" if number == 1 else "repeat"
    fault = _fault(
        table,
        "rows",
        "each rating must stand in the table once",
        f"{number} that {verb} another row in all cells",
        f'Pass duplicates="drop_exact" to leave {_them(number)} out, or replicates="keep" if they '
        "are ratings of their own.",
        lines,
        duplicates="drop_exact",
    )
    yield _left_out(
        table,
        is_repeated,
        "exact duplicates",
        "row",
        f" that {verb} another in all cells",
        fault=fault,
        is_safe=False,
    )


def _repeats(table: RawTable, names: Sequence[str], joined: str | None) -> Mask:
    """Which rows (N,) are equal to an earlier one in some columns."""
    key = np.zeros(len(table), np.int64)
    for name in names:
        codes, texts = table.coded(name)
        if joined is not None:
            forms = written_alike(list(map(str, texts)), is_value=name == joined)
            codes = np.append(pd.factorize(np.array(forms, dtype=object))[0], -1)[codes]
        if key.max(initial=0) >= np.iinfo(np.int64).max // (len(texts) + 2):
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
        key = key * (len(texts) + 1) + codes + 1
    repeated: Mask = pd.Series(key).duplicated().to_numpy()
    return repeated


def _are_statistics(table: RawTable, rows: Mask, values: Sequence[str]) -> Mask:
    """Which of some rows (N,) hold a statistic of the other rows in all columns of numbers."""
    if len(values) < 2:  # by chance, a single rating may be the mean of the others
        return np.zeros(len(table), np.bool_)
    others, theirs = [], []
    for name in values:
        numbers = figures(table, name)
        others.append(np.where(rows, np.nan, numbers))
        theirs.append(np.where(rows, numbers, np.nan))
    frame = pd.DataFrame(dict(enumerate(others)))
    found_of = pd.DataFrame(dict(enumerate(theirs)))
    is_statistic = np.zeros(len(table), np.bool_)
    for statistic in STATISTICS:
        of_columns = frame.agg(statistic).to_numpy(float)
        is_near = np.isclose(found_of, of_columns, rtol=0, atol=_rounding(found_of))
        is_filled = found_of.notna().to_numpy()
        is_statistic |= (is_near | ~is_filled).all(axis=1) & (is_filled.sum(axis=1) > 1)
    return rows & is_statistic


def _rounding(numbers: pd.DataFrame) -> Any:
    """Half a unit of the last decimal with which numbers are written, as an array of each."""
    decimals = numbers.map(lambda x: len(f"{x:.6f}".rstrip("0").partition(".")[2]) if x == x else 6)
    return 0.5000001 * 10.0 ** -decimals.to_numpy(float)


def _is_equal(table: RawTable, row: Sequence[str]) -> Mask:
    """Which rows (N,) have the texts of a row in all cells."""
    equal = np.ones(len(table), np.bool_)
    for name, text in zip(table.names, row, strict=True):
        equal &= table.holds(name, [text]) if text else table.is_empty(name)
        if not equal.any():
            break
    return equal


def _is_unnamed(name: Any) -> bool:
    return isinstance(name, str) and name.startswith("Unnamed: ")


def _follows_all(rows: Mask) -> Mask:
    """Which rows (N,) come after the last of some rows."""
    last = int(np.flatnonzero(rows)[-1]) if rows.any() else -1
    return np.arange(len(rows)) > last


def _fault_of_summary(table: RawTable, rows: Mask, ids: Sequence[str]) -> Fault:
    lines = table.places(rows)
    names = {text for name in ids for text in table.keep(rows).texts([name]) if is_summary(text)}
    number = int(rows.sum())
    remedy = f"Pass drop_rows={[*lines]} to leave {_them(number)} out."
    rule, found = "each row must be a rating or an item", f"{number} called {listed(sorted(names))}"
    return _fault(table, ids[0], rule, found, remedy, lines, drop_rows=[*lines])


def _fault(
    table: RawTable,
    place: str,
    rule: str,
    found: str,
    remedy: str,
    lines: tuple[int, ...],
    **arguments: Any,
) -> Fault:
    return Fault(place, rule, found, remedy, lines[:5], (), len(lines), table.unit, None, arguments)


def _them(number: int) -> str:
    return "it" if number == 1 else "them"


def _left_out(
    table: RawTable, rows: Mask, kind: str, noun: str, which: str = "", **more: Any
) -> Repair:
    index = table.cells.index[rows]
    action = f"leaves out {counted(int(rows.sum()), noun)}{which}"
    lines = table.places(rows)

    def apply(raw: RawTable) -> RawTable:
        return raw.keep(~raw.cells.index.isin(index))

    return Repair(kind, action, apply, lines, table.unit, **more)
