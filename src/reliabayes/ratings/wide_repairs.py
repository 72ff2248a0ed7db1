"""Wide tables with columns of averages, with several columns a rater, or with a row per rater."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.repairs import Repair
from reliabayes.ratings.role_names import is_summary
from reliabayes.ratings.value_repairs import figures
from reliabayes.wording import listed

TWO_PARTS = re.compile(r"(.+?)[\s_.\-/|:]+([^\s_.\-/|:]+)")
FIELD = re.compile(r"{(\w+)}")
STATISTICS = ("mean", "sum", "median", "std", "min", "max", "count")


def average_columns(table: RawTable, raters: Sequence[str]) -> Iterator[Repair]:
    """Yield the repair for columns that hold averages of the raters' columns.

    Parameters
    ----------
    table : RawTable
        A wide table.
    raters : sequence of str
        Its columns but those of items and gold.

    Yields
    ------
    Repair
        It is safe if the numbers are a statistic of those in the other columns.
    """
    called = [name for name in raters if is_summary(name)]
    others = [name for name in raters if name not in called]
    if not called or len(others) < 2:
        return
    numbers = pd.DataFrame({other: figures(table, other) for other in others})
    of_rows = {name: numbers.agg(name, axis=1).to_numpy(float) for name in STATISTICS}
    for name in called:
        column = figures(table, name)
        is_sure = len(column) > 1 and any(_are_near(column, each) for each in of_rows.values())
        remedy = f"Pass drop_columns=[{name!r}] to leave it out."
        rule, found = (
            "each column must be a rater",
            f"{name!r}, which may be a figure of the others",
        )
        if is_sure:
            found = f"{name!r}, which is a figure of the others"
        fault = Fault("columns", rule, found, remedy, arguments={"drop_columns": [name]})
        yield Repair(
            "average column",
            f"leaves out the column {name!r}, a figure of the others",
            _without(name),
            fault=fault,
            is_safe=is_sure,
            is_needed=is_sure,
        )


def two_part_names(raters: Sequence[str]) -> Iterator[Repair]:
    """Yield the question what the names of columns mean that combine two lists.

    Parameters
    ----------
    raters : sequence of str
        The columns of ratings of a wide table.

    Yields
    ------
    Repair
        If each name is one of several beginnings with one of several ends: A_t1, A_t2, B_t1, B_t2.
    """
    parts = [TWO_PARTS.fullmatch(name) for name in raters]
    pairs = [part.groups() for part in parts if part is not None]
    begins, ends = ({pair[at] for pair in pairs} for at in (0, 1))
    is_crossed = len(begins) * len(ends) == len(set(pairs)) == len(raters)
    if not is_crossed or min(len(begins), len(ends)) < 2:
        return
    separator = raters[0][len(pairs[0][0]) : len(raters[0]) - len(pairs[0][1])]
    pattern = f"{{rater}}{separator}{{occasion}}"
    found = f"{listed(raters)}, of {listed(sorted(begins))} with {listed(sorted(ends))}"
    fault = Fault(
        "columns",
        "it must be clear whether each column is a rater",
        found,
        f'Pass rater={pattern!r} if several columns are of one rater, or shape="wide" if each is a '
        "rater of its own.",
        arguments={"rater": pattern},
    )
    yield Repair(
        "several columns a rater", "", lambda raw: raw, fault=fault, is_safe=False, is_needed=True
    )


def is_pattern(rater: Any) -> bool:
    """Whether the name of the raters' column is a pattern of columns, such as {rater}_{day}."""
    return isinstance(rater, str) and "{rater}" in rater


def long_by_pattern(table: RawTable, item: str, gold: str | None, pattern: str) -> RawTable:
    """Return a wide table with one rating per row, by a pattern of the names of its columns.

    Parameters
    ----------
    table : RawTable
        The wide table.
    item : str
        Column of items.
    gold : str or None
        Column of known true values.
    pattern : str
        Such as ``{rater}_{occasion}``: what the names of columns consist of.

    Returns
    -------
    RawTable
        Columns item, rater, rating, gold if there is one, and a column per further field.

    Raises
    ------
    RatingsError
        If a column does not fit the pattern.
    """
    fields = FIELD.findall(pattern)
    names = [name for name in table.names if name not in (item, gold)]
    expression = re.compile("".join(_expression(part) for part in re.split(r"({\w+})", pattern)))
    found = {name: expression.fullmatch(name) for name in names}
    if odd := [name for name, match in found.items() if match is None]:
        rule = f"the names of columns must be as the pattern {pattern!r} says"
        remedy = f"Pass another pattern, or drop_columns={odd!r} to leave them out."
        fault = Fault("rater", rule, listed(odd), remedy, arguments={"drop_columns": odd})
        raise RatingsError([fault])
    values = {name: match.groupdict() for name, match in found.items() if match is not None}
    labels = {each: {name: values[name][each] for name in names} for each in fields}
    return _melted(table, item, gold, names, labels)


def long_by_raters(table: RawTable, rater: str, gold: str | None) -> RawTable:
    """Return a table with a row per rater and a column per item with one rating per row.

    Parameters
    ----------
    table : RawTable
        The table.
    rater : str
        Column of raters.
    gold : str or None
        Not used by such tables.

    Returns
    -------
    RawTable
        Columns item, rater and rating.
    """
    names = [name for name in table.names if name not in (rater, gold)]
    return _melted(table, rater, None, names, {"item": {name: name for name in names}})


def _melted(
    table: RawTable,
    ids: str,
    gold: str | None,
    names: Sequence[str],
    labels: dict[str, dict[str, str]],
) -> RawTable:
    """One row per filled cell."""
    pieces = []
    row_role = "rater" if "item" in labels else "item"
    for name in names:
        cells = table.cells
        piece = {row_role: cells[ids], "rating": cells[name]}
        piece |= {
            role: pd.Series(of[name], cells.index, dtype=cells[ids].dtype)
            for role, of in labels.items()
        }
        if gold is not None:
            piece["gold"] = cells[gold]
        pieces.append(pd.DataFrame(piece)[~table.is_empty(name)])
    long = pd.concat(pieces).sort_index(kind="stable")
    letters = (
        None
        if table.letters is None
        else {
            name: table.letters[ids] if name in (row_role, "gold") else "" for name in long.columns
        }
    )
    return RawTable(long, table.lines, table.unit, letters)


def _expression(part: str) -> str:
    field = FIELD.fullmatch(part)
    return f"(?P<{field[1]}>.+)" if field else re.escape(part)


def _without(name: str) -> Any:
    return lambda table: table.of(table.cells.drop(columns=name))


def _are_near(column: Any, numbers: Any) -> bool:
    """Whether all known values are these numbers, as far as they are written."""
    is_known = ~np.isnan(column)
    texts = [f"{value:.6f}".rstrip("0").partition(".")[2] for value in column[is_known]]
    half = 0.5000001 * 10.0 ** -min(max(map(len, texts), default=0), 6)
    return bool(is_known.any() and np.allclose(column[is_known], numbers[is_known], 0, half))
