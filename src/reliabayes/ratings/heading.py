"""Where the header of a raw table is, which may have two rows, and rows above and below it."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.value_repairs import AMOUNT
from reliabayes.wording import counted, listed

Row = Sequence[str]  # the text of each cell; empty if it has none
N_ABOVE = 30  # rows above a header, at most
IMPORT_ID = re.compile(r'\{"ImportId":')  # in the third row of a Qualtrics export


@dataclass(frozen=True)
class Heading:
    """The header of a table.

    Attributes
    ----------
    rows : tuple of int
        Positions of the one or two rows of the header.
    names : tuple of str
        Names of the columns; empty for those without.
    n_below : int
        Number of rows below the header that explain it.
    """

    rows: tuple[int, ...]
    names: tuple[str, ...]
    n_below: int = 0

    @property
    def first_record(self) -> int:
        """Position of the first row of the table."""
        return self.rows[-1] + 1 + self.n_below


def find_heading(
    rows: Sequence[Row], named: Collection[str], spans: Sequence[Mapping[int, int]]
) -> Heading:
    """Find the header among the first rows.

    It is the first row that has the columns which were named; or else the first that names all
    columns of the table; or else the first two that do so together.

    Parameters
    ----------
    rows : sequence of rows
        The first rows.
    named : collection of str
        Columns that were named.
    spans : sequence of mappings from int to int
        For each row the last column of each group of merged cells, by the first.

    Returns
    -------
    Heading
        The first row, if none looks like a header.
    """
    for at, row in enumerate(rows[: N_ABOVE + 1]):
        if named and set(named) <= set(row):
            return _with_rows_below(rows, (at,), tuple(row))
    width = _width(rows)
    for at, row in enumerate(rows[: N_ABOVE + 1]):
        if _is_header(row, width, rows[at + 1 :]) and len(_distinct(row)) == _n_filled(row):
            return _with_rows_below(rows, (at,), tuple(row))
        if at + 1 < len(rows):
            names = joined_names(row, rows[at + 1], spans[at] if at < len(spans) else {})
            if _are_header(row, rows[at + 1], names, width, rows[at + 2 :]):
                return _with_rows_below(rows, (at, at + 1), names)
    return Heading((0,), tuple(rows[0]))


def joined_names(top: Row, bottom: Row, spans: Mapping[int, int]) -> tuple[str, ...]:
    """Return the names of columns that a header of two rows has.

    Parameters
    ----------
    top, bottom : rows
        The two rows.
    spans : mapping from int to int
        The last column of each group of merged cells of the upper row, by the first.

    Returns
    -------
    tuple of str
        Names of the lower row, with that of the group before them where they would be repeated.
    """
    groups = _filled_right(top, bottom, spans)
    below = [text for text in bottom if text]
    if len(set(below)) == len(below):
        return tuple(low or high for low, high in zip(bottom, top, strict=True))
    pairs = zip(groups, bottom, strict=True)
    return tuple("_".join(filter(None, (high, low))) for high, low in pairs)


def _filled_right(top: Row, bottom: Row, spans: Mapping[int, int]) -> list[str]:
    found, last = [], ""
    for at, text in enumerate(top):
        if text:
            last, end = text, spans.get(at, at if spans else len(top))
        elif not bottom[at] or (last and at > end):
            last = ""
        found.append(text or last)
    return found


def _width(rows: Sequence[Row]) -> set[int]:
    """The columns of the table: those filled in at least half of the later rows."""
    later = [row for row in rows[len(rows) // 2 :] if _n_filled(row) > 1] or rows
    counts = [sum(bool(row[at]) for row in later) for at in range(len(rows[0]))]
    return {at for at, count in enumerate(counts) if 2 * count >= len(later)}


def _n_filled(row: Row) -> int:
    return sum(map(bool, row))


def _is_header(row: Row, width: set[int], below: Sequence[Row]) -> bool:
    """Whether a row names all columns but perhaps the first, and none by a number of the table."""
    filled = {at for at, text in enumerate(row) if text}
    first = min(width, default=0)
    covers = len(filled) > 1 and width - {first} <= filled
    return covers and _are_names(row, below) and not _recurs(row, below)


def _recurs(row: Row, below: Sequence[Row]) -> bool:
    """Whether a text stands in its column several times more, as those of ratings do.

    Rows that are the same in all cells are a header that is repeated.
    """
    others = [other for other in below if list(other) != list(row)]
    texts = [at for at, text in enumerate(row) if text and not re.fullmatch(NUMBER, text)]
    return any(sum(other[at] == row[at] for other in others) > 1 for at in texts)


def _are_header(top: Row, bottom: Row, names: Row, width: set[int], below: Sequence[Row]) -> bool:
    """Whether two rows name the columns together, and neither does alone."""
    groups = {at for at, text in enumerate(top) if text}
    return (
        bool(groups - {0})
        and _n_filled(bottom) > 1
        and len(_distinct(names)) == _n_filled(names)
        and not groups >= width
        and _is_header(names, width, [row for row in below if list(row) != list(bottom)])
        and (len(_distinct(bottom)) < _n_filled(bottom) or not _is_header(bottom, width, below))
        and _are_names(top, below)
    )


def _distinct(row: Row) -> set[str]:
    return {text for text in row if text}


def _are_names(row: Row, below: Sequence[Row]) -> bool:
    """Whether no text is a number, unless the numbers count raters: 1, 2, 3."""
    numbers = [text for text in row if re.fullmatch(NUMBER, text)]
    if any(AMOUNT.fullmatch(text) for text in row if text not in numbers):
        return False
    if not numbers:
        return bool(below)
    are_counted = all(text.isdigit() for text in numbers) and all(
        int(high) == int(low) + 1 for low, high in pairwise(numbers)
    )
    return are_counted and len(numbers) > 1 and len(numbers) < _n_filled(row) + (not row[0])


def _with_rows_below(rows: Sequence[Row], header: tuple[int, ...], names: Row) -> Heading:
    below = rows[header[-1] + 1 :]
    return Heading(header, tuple(names), _n_explaining(below))


def _n_explaining(below: Sequence[Row]) -> int:
    """Number of rows that explain the names: of Qualtrics, or units below columns of numbers."""
    for at, row in enumerate(below[:3]):
        if any(IMPORT_ID.match(text) for text in row):
            return at + 1
    if len(below) < 3:
        return 0
    row, others = below[0], below[1:]
    columns = range(len(row))
    are_numbers = {at for at in columns if _are_numbers([other[at] for other in others])}
    texts = {at for at in columns if row[at]}
    is_unit = not row[0] and bool(texts) and texts <= are_numbers
    return int(is_unit and not any(re.fullmatch(NUMBER, row[at]) for at in texts))


def _are_numbers(texts: Sequence[str]) -> bool:
    known = [text for text in texts if text]
    return bool(known) and all(re.fullmatch(NUMBER, text) for text in known)


def described(
    heading: Heading, places: Callable[[Sequence[int]], tuple[int, ...]]
) -> Iterator[tuple[str, str, tuple[int, ...]]]:
    """Yield kind, action and lines of what is done to reach the header.

    Parameters
    ----------
    heading : Heading
        The header.
    places : callable
        Lines of rows by their positions.
    """
    first, last = heading.rows[0], heading.rows[-1]
    if first:
        what = f"skips {counted(first, 'row')} above the header"
        yield "rows above the header", what, places(range(first))
    if len(heading.rows) == 2:
        what = f"joins the two rows of the header: {listed([*filter(None, heading.names)])}"
        yield "header of two rows", what, places(heading.rows)
    if heading.n_below:
        rows = range(last + 1, heading.first_record)
        what = f"skips {counted(len(rows), 'row')} below the header, which explain it"
        yield "rows below the header", what, places(rows)
