"""Checks of the shape of a wide table, or of counts: what its rows and columns are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.columns import Labels
from reliabayes.ratings.frames import ALIASES
from reliabayes.wording import listed, shown

# Names of columns that hold ids of items, not the ratings of a rater.
ID_NAMES = frozenset({"id", "index", "unnamed: 0", "item", *ALIASES["item"]})
ID_NAMES |= {f"{name}_id" for name in ID_NAMES}
SIMPLE = {"string", "integer", "floating"}  # kinds of columns that can be compared
FEWEST_NUMBERED_ROWS = 10  # by chance fewer rows may have the ratings 1, 2, 3, ...


def refuse_long(columns: Sequence[Any]) -> None:
    """Refuse a table whose columns have the names of a long one.

    Parameters
    ----------
    columns : sequence
        Names of the columns.

    Raises
    ------
    RatingsError
        It is so.
    """
    names = {str(name).strip().lower() for name in columns}
    if all(names & {role, *ALIASES[role]} for role in ("rater", "rating")):
        rule = "a wide table must have one column per rater, and no others but item and gold"
        remedy = "If each row holds one rating, use Ratings.from_frame."
        raise RatingsError([Fault("columns", rule, listed(columns, 20), remedy)])


def refuse_levels(frame: nw.DataFrame[Any], item: str | None) -> None:
    """Refuse several levels of names, of which it is open what they mean.

    Parameters
    ----------
    frame : narwhals DataFrame
        A wide table, or counts.
    item : str or None
        Name of the column of item ids; None for the index.

    Raises
    ------
    RatingsError
        Columns have several levels of names, or the index that is to name the items has.
    """
    native: Any = frame.to_native()
    if not isinstance(native, pd.DataFrame):
        return
    faults = []
    if (number := native.columns.nlevels) > 1:
        rule, found = "each column must have one name", f"{number} levels of names"
        remedy = (
            "Select the columns of the ratings, for example with frame['rating'], or drop a level "
            'with frame.droplevel(0, axis="columns").'
        )
        faults.append(Fault("columns", rule, found, remedy))
    if item is None and (number := native.index.nlevels) > 1:
        rule, found = "an index of items must have one level", f"{number} levels"
        remedy = "Call .reset_index(), join the columns that name an item, and pass item=..."
        faults.append(Fault("index", rule, found, remedy))
    if faults:
        raise RatingsError(faults)


def refuse_ids(cells: pd.DataFrame) -> None:
    """Refuse a column of item ids, which would count as a rater.

    Parameters
    ----------
    cells : DataFrame
        A column for each rater.

    Raises
    ------
    RatingsError
        It is so.
    """
    names = [name for name in cells.columns if str(name).strip().lower() in ID_NAMES]
    why, remedy = "is the name of a column of ids", "Pass item={!r}, or rename it if it is a rater."
    if not names and len(cells) >= FEWEST_NUMBERED_ROWS:
        names = [name for name in cells.columns if _numbers_the_rows(cells[name])]
        why, remedy = "numbers the rows", "Drop it, or pass item=... if it holds the items."
        if not names and _names_the_rows(cells):
            names = [cells.columns[0]]
            why = "has a value of its own in each row, unlike the others"
            remedy = "Pass item={!r} if it holds the items, and item=... anyway if it is a rater."
    if names:
        rule = "each column must be a rater"
        remedy = remedy.format(names[0])
        raise RatingsError([Fault("columns", rule, f"{shown(names[0])}, which {why}", remedy)])


def _numbers_the_rows(cells: pd.Series[Any]) -> bool:
    if not pd.api.types.is_numeric_dtype(cells):
        return False
    from_zero = cells.to_numpy(np.float64, na_value=np.nan) - np.arange(len(cells))
    return bool((from_zero == 0).all() or (from_zero == 1).all())


def _names_the_rows(cells: pd.DataFrame) -> bool:
    """Whether the first column never repeats a value, and the others do, but none of its values."""
    names, ratings = cells.iloc[:, 0], cells.iloc[:, 1:]
    kinds = {pd.api.types.infer_dtype(column) for _, column in cells.items()}
    if not kinds <= SIMPLE or names.isna().any() or not names.is_unique:
        return False
    different = max((column.nunique() for _, column in ratings.items()), default=len(cells))
    if 2 * different > len(cells):
        return False
    if kinds & {"string"}:
        return not any(names.isin(column).any() for _, column in ratings.items())
    return bool(
        (names % 1 == 0).all()
        and (names.min() > ratings.max().max() or names.max() < ratings.min().min())
    )


def refuse_contingency(items: Labels, cells: pd.DataFrame) -> None:
    """Refuse a table of two raters' categories, whose rows are no items.

    Parameters
    ----------
    items : Labels
        Item of each row.
    cells : DataFrame
        A column for each category.

    Raises
    ------
    RatingsError
        It is so.
    """
    shared = set(items.ids) & set(cells.columns)
    is_square = len(shared) == len(items.ids) == len(items.codes) == cells.shape[1]
    if not is_square and sum(isinstance(name, str) for name in shared) < 2:
        return
    is_numbered = isinstance(cells.index, pd.RangeIndex)
    sums = cells.apply(pd.to_numeric, errors="coerce").sum(axis=1)
    if is_numbered and (sums == sums.iloc[0]).all():
        return
    found = "rows and columns of the same names"
    missing = "" if is_square else " and categories=[...], all that there are"
    remedy = (
        "If they are the categories of two raters, use Ratings.from_table with this table"
        f"{missing}. If rows are items, pass categories=... ."
    )
    raise RatingsError([Fault("counts", "rows must be items", found, remedy)])


def refuse_repeated_items(items: Labels) -> None:
    """Refuse rows of the same item, or of none.

    Parameters
    ----------
    items : Labels
        Item of each row.

    Raises
    ------
    RatingsError
        It is so.
    """
    is_repeated = pd.Series(items.codes).duplicated(keep=False).to_numpy()
    is_invalid = is_repeated | items.missing
    if is_invalid.any():
        fault = Fault.in_rows(
            items.name,
            "each row must be a different item, with an id",
            "{n} with a missing or repeated id",
            "Merge or rename these rows; if raters rated items repeatedly, use Ratings.from_frame.",
            mask=is_invalid,
            values_at=items.at,
        )
        raise RatingsError([fault])
