"""Files as raw tables: their encoding, their sheet and their header."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.encodings import NAMES
from reliabayes.ratings.excel import (
    Grid,
    Merged,
    column_letter,
    fault_of_merged,
    read_grid,
    spelled,
)
from reliabayes.ratings.file_formats import other_formats_as_faults
from reliabayes.ratings.frames import repeated_name_faults
from reliabayes.ratings.heading import N_ABOVE, Heading, described, find_heading, joined_names
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.repairs import Repair, Repaired
from reliabayes.ratings.text_files import Layout, find_any_layout, lines_of, read_all_texts
from reliabayes.wording import counted, listed

N_HEAD = 2 * N_ABOVE + 40  # rows in which the header is looked for
Places = Callable[[Collection[int]], list[int]]


def open_text_table(file: Path, options: ReadOptions) -> Repaired:
    """Read a text file whose header may be anywhere.

    Parameters
    ----------
    file : Path
        The file.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Repaired
        Its table, whose header was found or named.

    Raises
    ------
    RatingsError
        If it is no table.
    """
    layout = find_any_layout(file, options.delimiter, options.encoding)
    cells = read_all_texts(layout)
    found = _with_heading(cells, lines_of(layout, 0), "line", options)
    if layout.encoding in (options.encoding, "utf-8"):
        return found
    return Repaired(found.table, (_of_encoding(layout), *found.applied), found.waiting)


def _of_encoding(layout: Layout) -> Repair:
    name = NAMES.get(layout.encoding, layout.encoding)
    action = f'reads the text as {name} (encoding="{layout.encoding}")'
    return Repair("encoding", action, lambda table: table)


def open_sheet(file: Path, options: ReadOptions) -> Repaired:
    """Read a sheet of a workbook whose header may be anywhere.

    Parameters
    ----------
    file : Path
        The workbook.
    options : ReadOptions
        How it is read.

    Returns
    -------
    Repaired
        Its table, whose header was found or named.

    Raises
    ------
    RatingsError
        If it is no workbook, or that sheet is no table.
    """
    with other_formats_as_faults(file, "a spreadsheet"):
        grid = read_grid(file, name=options.sheet)
    if not grid.lines:
        rule, remedy = "it must hold a header and ratings", 'Pass sheet="..." to name another.'
        raise RatingsError([Fault("sheet", rule, "an empty sheet", remedy)])
    first = min(min(cells) for _, cells in grid.lines)
    last = max(max(cells) for _, cells in grid.lines)
    table = np.full((len(grid.lines), last - first + 1), None, dtype=object)
    for row, (_, filled) in enumerate(grid.lines):
        for at, cell in filled.items():
            table[row, at - first] = cell
    cells = pd.DataFrame(table, [row for row, _ in grid.lines])
    letters = {at - first: column_letter(at) for at in range(first, last + 1)}
    found = _with_heading(cells, list, "row", options, letters, grid.merged)
    return _without_merged(found, grid, options)


def _with_heading(
    cells: pd.DataFrame,
    lines: Places,
    unit: str,
    options: ReadOptions,
    letters: Mapping[int, str] | None = None,
    merged: Sequence[Merged] = (),
) -> Repaired:
    """The table below the header."""
    head = cells.iloc[:N_HEAD]
    rows = [[_text(cell) for cell in row] for row in head.itertuples(index=False)]
    records = [lines([record])[0] for record in head.index] if letters else lines(range(len(head)))
    spans = [_spans(record, letters or {}, merged) for record in records]
    named = set(options.named.values()) if options.shape != "wide" else set()
    heading = (
        find_heading(rows, named, spans)
        if options.header is None
        else _named_heading(options.header, rows, records, spans, unit)
    )
    names = [name or f"Unnamed: {at}" for at, name in enumerate(heading.names)]
    if faults := repeated_name_faults(names):
        raise RatingsError(faults)
    body = cells.iloc[heading.first_record :].set_axis(names, axis="columns")
    named_letters = None if letters is None else dict(zip(names, letters.values(), strict=True))
    headers = tuple(rows[at] for at in heading.rows)
    table = RawTable(body, lines, unit, named_letters, headers)

    def places(positions: Sequence[int]) -> tuple[int, ...]:
        return tuple(records[at] for at in positions)

    done = [] if options.header is not None else [*described(heading, places)]
    applied = [Repair(kind, action, _same, rows, unit) for kind, action, rows in done]
    return Repaired(table, tuple(applied))


def _same(table: RawTable) -> RawTable:
    return table


def _text(cell: Any) -> str:
    if cell is None or (isinstance(cell, float) and cell != cell):
        return ""
    return cell.strip() if isinstance(cell, str) else spelled(cell)


def _spans(row: int, letters: Mapping[int, str], merged: Sequence[Merged]) -> dict[int, int]:
    at = {letter: place for place, letter in letters.items()}
    return {
        at[each.first]: at.get(each.last, max(letters))
        for each in merged
        if each.top <= row <= each.bottom and each.first in at
    }


def _named_heading(
    header: int | Sequence[int],
    rows: Sequence[Sequence[str]],
    records: Sequence[int],
    spans: Sequence[Mapping[int, int]],
    unit: str,
) -> Heading:
    numbers = [header] if isinstance(header, int) else sorted(header)
    if len(numbers) > 2 or not set(numbers) <= set(records):
        rule = f"it must be the number of one of the first {unit}s, or of two"
        remedy = f"The first {unit}s with fields are {listed(records[:10], 10)}."
        raise RatingsError([Fault("header", rule, listed(numbers), remedy)])
    at = tuple(records.index(number) for number in numbers)
    if len(at) == 1:
        return Heading(at, tuple(rows[at[0]]))
    return Heading(at, joined_names(rows[at[0]], rows[at[1]], spans[at[0]]))


def _without_merged(found: Repaired, grid: Grid, options: ReadOptions) -> Repaired:
    """Fill merged cells of ids that stand below each other; others are refused."""
    table = found.table
    rows = set(table.cells.index.tolist())
    letters = {letter: name for name, letter in (table.letters or {}).items()}
    inside = [
        each for each in grid.merged if each.first in letters and rows & {each.top, each.bottom}
    ]
    ids = {name for role, name in options.columns.items() if role not in ("rating", "gold")}
    ids.add(table.names[0])
    if unclear := [x for x in inside if x.first != x.last or letters[x.first] not in ids]:
        raise RatingsError([fault_of_merged(unclear)])
    if not inside:
        return found
    cells = table.cells.copy()
    for each in inside:
        column, among = (
            letters[each.first],
            (cells.index >= each.top) & (cells.index <= each.bottom),
        )
        if not np.any(among):
            continue
        values = cells[column].to_numpy(copy=True)
        values[among] = values[np.flatnonzero(among)[0]]
        cells[column] = pd.Series(values, cells.index, dtype=object)
    action = f"fills {counted(len(inside), 'range')} of merged cells: {listed([*map(str, inside)])}"
    action = action.replace("'", "")
    return Repaired(table.of(cells), (*found.applied, Repair("merged cells", action, _same)))
