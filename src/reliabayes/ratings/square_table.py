"""Square tables of counts: how often two raters gave each pair of categories to an item."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import scipy.sparse as sp

from reliabayes.choices import Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import check_arguments
from reliabayes.ratings.checks import check
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.ratings.column_reading import as_ids
from reliabayes.ratings.columns import Labels, number_ids
from reliabayes.ratings.facets import ROLES, argument
from reliabayes.ratings.few_categories import require_few_categories
from reliabayes.ratings.frames import as_eager
from reliabayes.ratings.pandas_frames import as_frame, as_pandas
from reliabayes.ratings.selection import are_selected
from reliabayes.ratings.shape_checks import refuse_levels
from reliabayes.ratings.shapes import MOST_RATINGS, count_values
from reliabayes.ratings.table import Table
from reliabayes.ratings.text_values import text_values
from reliabayes.wording import listed, shown

RATERS = ("first", "second")  # names of raters that have none
N_CELLS = 5  # that a message lists
SUMS = frozenset({"all", "sum", "total", "totals"})  # names of a row of sums


def table_from_square(
    frame: Any,
    *,
    categories: Iterable[Any] | None,
    raters: Iterable[Any] | None,
    scale: Scale,
) -> Table:
    """Return the checked table of ratings that a square table of counts is of.

    Parameters
    ----------
    frame : data frame or array, shape (K, K)
        The user's table.
    categories : iterable or None
        All categories; None for those of the table.
    raters : iterable or None
        Ids of the two raters; None for the names of the frame's index and columns.
    scale : {"nominal", "ordered", "numeric"}
        How the categories relate.

    Returns
    -------
    Table
        Two rows per item counted, without faults.

    Raises
    ------
    RatingsError
        If the table breaks a rule.
    """
    check_arguments({}, scale=scale, categories=categories)
    given = None if categories is None else list(categories)
    cells = _with_names(frame, given)
    names = _rater_names(cells, raters)
    counts = _square(cells, given)
    ids = as_ids(list(counts.index))
    cell = np.repeat(np.arange(counts.size), _whole_counts(counts).ravel())
    codes = np.column_stack(np.divmod(cell, len(ids))).astype(np.int32).ravel()
    n_items = len(cell)
    rating = Labels("rating", codes, ids, "ordered" if scale == "ordered" else "nominal")
    table = Table.of(
        Labels("item", np.repeat(np.arange(n_items, dtype=np.int32), 2), pd.RangeIndex(n_items)),
        Labels("rater", np.tile(np.arange(2, dtype=np.int32), n_items), names),
        rating,
        scale=scale,
        categories=pd.Index(rating.numbers) if scale == "numeric" else ids,
    )
    check(table)
    return table


def table_of_two_raters(ratings: CodedRatings, one: Any, other: Any) -> pd.DataFrame:
    """Return how often two raters gave each pair of categories to the same item.

    Parameters
    ----------
    ratings : CodedRatings
        By known raters.
    one, other : any
        Their ids; None if the other rater, or that there are two, says who it is.

    Returns
    -------
    DataFrame of int, shape (K, K)
        Categories of the first rater in the rows.

    Raises
    ------
    RatingsError
        As for `Ratings.table`.
    """
    ratings.require_known_raters("table")
    require_few_categories(ratings, "the table takes at most {most} categories")
    one, other = _two_raters(ratings, one, other)
    counts = _categories_by_item(ratings, one).T @ _categories_by_item(ratings, other)
    rows, columns = (ratings.categories.rename(rater) for rater in (one, other))
    return pd.DataFrame(counts.toarray(), index=rows, columns=columns)


def square_from_texts(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the square table of a file, whose first column holds the categories of its rows.

    Parameters
    ----------
    frame : DataFrame
        The columns of the file.

    Returns
    -------
    DataFrame
        Indexed by the first column; names that are whole numbers are of type int.
    """
    rest = frame.iloc[:, 1:]
    rows, columns = _names(frame.iloc[:, 0]), _names(rest.columns)
    return rest.set_axis(rows).set_axis(columns, axis="columns")


def refuse_columns(columns: Mapping[str, Any]) -> None:
    """Refuse the names of columns, of which a square table has none.

    Parameters
    ----------
    columns : mapping from str to str or None
        Names of the columns of item, rater, rating, pool, gold, group, block and facets.

    Raises
    ------
    RatingsError
        A name was given.
    """
    rule = "a table of two raters' categories has counts, and no such column"
    remedy = 'Leave it out, or pass shape="long" if each row holds one rating.'
    faults = [
        Fault(argument(role), rule, shown(name), remedy)
        for role, name in columns.items()
        if name is not None and name != (role if role in ROLES[:3] else None)
    ]
    if faults:
        raise RatingsError(faults)


def _two_raters(ratings: CodedRatings, one: Any, other: Any) -> tuple[Any, Any]:
    if one is not None and other is not None:
        return one, other
    if ratings.n_raters != 2:
        rule, remedy = "it must name two raters", f"The raters are {listed(ratings.raters)}."
        raise RatingsError([Fault("table", rule, f"{shown(one)}, {shown(other)}", remedy)])
    first, second = ratings.raters
    if other is None:
        return (first, second) if one in (None, first) else (one, first)
    return (first if other == second else second), other


def _categories_by_item(ratings: CodedRatings, rater: Any) -> sp.csr_array:
    """Sparse matrix (I, K) of how often a rater put each item into each category."""
    is_theirs = are_selected("rater", [rater], ratings.raters)[ratings.rater]
    cells = ratings.item[is_theirs], ratings.category[is_theirs]
    ones = np.ones(len(cells[0]), np.int64)
    return sp.csr_array((ones, cells), shape=(ratings.n_items, len(ratings.categories)))


def _names(texts: Iterable[Any]) -> pd.Index[Any]:
    values = np.asarray(text_values(pd.Series([str(text) for text in texts], dtype="str"))[0])
    return number_ids(values.astype(float)) if values.dtype.kind in "fi" else as_ids(values)


def _with_names(frame: Any, given: Sequence[Any] | None) -> pd.DataFrame:
    """The cells, with the categories as index and as columns."""
    if isinstance(frame, np.ndarray):
        cells = as_frame(frame, None)
        if len(cells) != cells.shape[1]:
            rule, remedy = "it must have a row and a column per category", "Add rows of zeros."
            raise RatingsError([Fault("table", rule, f"the shape {frame.shape}", remedy)])
        if given is not None and len(given) == len(cells) == cells.shape[1]:
            return cells.set_axis(list(given)).set_axis(list(given), axis="columns")
        if given is not None:
            rule = "an array must have a row and a column per category"
            found = f"the shape {frame.shape} and {len(given)} categories"
            remedy = "List the categories in the order of the rows."
            raise RatingsError([Fault("categories", rule, found, remedy)])
        return cells
    eager = as_eager(frame)
    refuse_levels(eager, None)
    cells = as_pandas(eager)
    if cells.shape[1] == len(cells) + 1:
        first = cells.iloc[:, 0]
        if set(first) == set(cells.columns[1:]):
            return cells.iloc[:, 1:].set_axis(pd.Index(first.tolist(), tupleize_cols=False))
    return cells


def _rater_names(cells: pd.DataFrame, raters: Iterable[Any] | None) -> pd.Index[Any]:
    named = (cells.index.name, cells.columns.name)
    default = named if None not in named and named[0] != named[1] else RATERS
    found = list(default if raters is None else raters)
    if len(found) != 2 or found[0] == found[1]:
        rule, remedy = "it must name two raters, that of the rows first", 'Pass ["Ann", "Bob"].'
        raise RatingsError([Fault("raters", rule, listed(found), remedy)])
    return as_ids(found)


def _square(cells: pd.DataFrame, given: Sequence[Any] | None) -> pd.DataFrame:
    """The cells with the same categories in rows and columns, in the same order."""
    faults = [
        Fault("table", f"each {word} must have a category of its own", f"{listed(twice)} twice", to)
        for word, names in (("row", cells.index), ("column", cells.columns))
        if len(twice := names[names.duplicated()])
        for to in ["Merge or rename them."]
    ]
    if faults:
        raise RatingsError(faults)
    if not faults and _has_sums(cells):
        rule, found = "rows and columns must be categories", f"sums in {shown(cells.index[-1])}"
        raise RatingsError([Fault("table", rule, found, "Drop them: table.iloc[:-1, :-1].")])
    rows, columns = list(cells.index), list(cells.columns)
    known = rows if given is None else list(given)
    unknown = [name for name in dict.fromkeys([*rows, *columns]) if name not in known]
    if given is not None and unknown:
        rule, found = "it must list all categories of the table", f"no {listed(unknown)}"
        remedy = "Add them in their order, or correct the names of rows and columns."
        raise RatingsError([Fault("categories", rule, found, remedy)])
    if given is None and (unknown or len(columns) < len(rows)):
        raise RatingsError([_fault_of_names(cells)])
    return cells.reindex(index=known, columns=known, fill_value=0)


def _has_sums(cells: pd.DataFrame) -> bool:
    """Whether the last row and the last column are sums of the others, by their name."""
    last = (cells.index[-1], cells.columns[-1]) if cells.size else (None, None)
    return last[0] == last[1] and str(last[0]).strip().lower() in SUMS


def _fault_of_names(cells: pd.DataFrame) -> Fault:
    rule = "rows and columns must be the same categories"
    if isinstance(cells.index, pd.RangeIndex) and len(cells) == cells.shape[1]:
        found = f"columns {listed(cells.columns)} and rows without names"
        remedy = "Pass table.to_numpy() with categories=[...] in the order of the rows."
        return Fault("table", rule, found, remedy)
    in_rows = [name for name in cells.index if name not in cells.columns]
    in_columns = [name for name in cells.columns if name not in cells.index]
    parts = [("rows", in_rows), ("columns", in_columns)]
    found = " and ".join(f"{listed(names)} in {word} only" for word, names in parts if names)
    remedy = "Pass categories=[...] with all categories; those that a rater did not use count 0."
    return Fault("table", rule, found, remedy)


def _whole_counts(cells: pd.DataFrame) -> npt.NDArray[np.intp]:
    """(K, K) counts, or an error that names the cells which are none."""
    objects = [cells.iloc[:, place] for place in range(cells.shape[1])]
    values, is_count = map(np.column_stack, zip(*map(count_values, objects), strict=True))
    if not is_count.all():
        places = np.argwhere(~is_count)
        shown_cells = [
            f"{shown(objects[column].tolist()[row])} in row {shown(cells.index[row])}, column "
            f"{shown(cells.columns[column])}"
            for row, column in places[:N_CELLS]
        ]
        more = len(places) - N_CELLS
        found = "; ".join(shown_cells) + (f"; and {more} more" if more > 0 else "")
        remedy = "Correct them, with 0 for none; multiply proportions by the number of items."
        rule = "cells must be numbers of items: whole, and 0 or more"
        raise RatingsError([Fault("table", rule, found, remedy)])
    if 2 * (total := values.sum()) > MOST_RATINGS:
        rule = f"counts must sum to {MOST_RATINGS // 2:,} or less"
        raise RatingsError([Fault("table", rule, f"a sum of {total:,.0f}", "Check the counts.")])
    return values.astype(np.intp)
