"""Checked tables from the three shapes of data: long, wide (items x raters), and counts."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Array, Mask
from reliabayes.choices import Missing, Replicates, Scale, Twins
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import NEEDED, check_arguments
from reliabayes.ratings.checks import check
from reliabayes.ratings.column_faults import read_columns
from reliabayes.ratings.column_reading import (
    as_ids,
    is_beyond_floats,
    read_labels,
    read_values,
)
from reliabayes.ratings.columns import Column, Labels
from reliabayes.ratings.facets import Facets, facet_columns
from reliabayes.ratings.frames import as_eager, named_columns
from reliabayes.ratings.pandas_frames import as_frame, as_pandas
from reliabayes.ratings.shape_checks import (
    refuse_contingency,
    refuse_ids,
    refuse_levels,
    refuse_long,
    refuse_repeated_items,
)
from reliabayes.ratings.table import Table
from reliabayes.ratings.twins import joined_twins
from reliabayes.wording import listed, shown

MOST_RATINGS = 10**8  # that counts may sum to, in memory one row each

Pools: TypeAlias = Mapping[Any, Hashable]


def table_from_long(
    frame: Any,
    roles: Mapping[str, str | None],
    *,
    scale: Scale | None,
    categories: Iterable[Any] | None,
    replicates: Replicates,
    missing: Missing,
    twins: Twins,
    facets: Facets | None,
    for_agreement: bool = True,
) -> Table:
    """Return the checked table of a frame with one rating per row.

    Parameters
    ----------
    frame : data frame, N rows
        The user's table.
    roles : mapping from str to str or None
        Names of the columns of item, rater, rating, pool, gold, group and block.
    scale : {"nominal", "ordered", "numeric"} or None
        How the values of a rating relate; None to infer it.
    categories : iterable or None
        All values that a rating can have; None for those that occur.
    replicates : {"error", "keep"}
        Whether a rater may rate an item more than once.
    missing : {"error", "drop"}
        Whether rows without a rating are left out.
    twins : {"error", "join"}
        Whether values that differ only in how they are written are joined.
    facets : sequence of str, mapping from str to str, or None
        Names of the columns of facets, or those columns by the names of the facets.
    for_agreement : bool, default True
        Whether there must be two raters and two items.

    Returns
    -------
    Table
        At most N rows without faults.

    Raises
    ------
    RatingsError
        If the table breaks a rule.
    """
    check_arguments(
        roles,
        scale=scale,
        categories=categories,
        replicates=replicates,
        missing=missing,
        twins=twins,
        facets=facets,
        needed=NEEDED,
    )
    options = {"scale": scale, "categories": categories}
    columns = read_columns(frame, roles, facet_columns(facets), options)
    table = Table.of(**columns, scale=scale, categories=categories, replicates=replicates)
    table = joined_twins(table) if twins == "join" else table
    if missing == "drop" and table.rating.missing.any():
        rated = _checked_rated(table, lambda place: place, for_agreement=for_agreement)
        return replace(rated, n_missing=len(table) - len(rated))
    check(table, for_agreement=for_agreement)
    return table


def table_from_wide(
    frame: Any,
    *,
    item: str | None,
    pool: Pools | None,
    gold: str | None,
    scale: Scale | None,
    categories: Iterable[Any] | None,
    twins: Twins,
    for_agreement: bool = True,
) -> Table:
    """Return the checked table of a frame with a row per item and a column per rater.

    Parameters
    ----------
    frame : data frame or array, shape (items, raters)
        The user's table.
    item : str or None
        Name of the column of item ids; None for the index or the row number.
    pool : mapping from rater to pool or None
        The pool of each rater, if there are any.
    gold : str or None
        Name of the column of known true values, if there is one.
    scale : {"nominal", "ordered", "numeric"} or None
        How the values of a rating relate; None to infer it.
    categories : iterable or None
        All values that a rating can have; None for those that occur.
    twins : {"error", "join"}
        Whether values that differ only in how they are written are joined.
    for_agreement : bool, default True
        As for `table_from_long`.

    Returns
    -------
    Table
        One row per filled cell, without faults.

    Raises
    ------
    RatingsError
        If the table breaks a rule.
    """
    check_arguments({"item": item, "gold": gold}, scale=scale, categories=categories, twins=twins)
    items, golds, cells = _split(frame, item, gold)
    refuse_long(list(cells.columns))
    if item is None:
        refuse_ids(cells)
    n_items, n_raters = cells.shape
    row, rater = np.tile(np.arange(n_items), n_raters), np.repeat(np.arange(n_raters), n_items)
    rating = read_values(_series(_stacked(cells)), "rating")
    table = Table.of(
        items.take(row),
        _labels(cells.columns, "rater").take(rater),
        rating,
        pool=None if pool is None else _pool_of(list(cells.columns), pool).take(rater),
        gold=None if golds is None else golds.take(row),
        scale=scale,
        categories=categories,
    )
    table = joined_twins(table) if twins == "join" else table
    return _checked_rated(table, lambda place: int(row[place]), for_agreement=for_agreement)


def table_from_counts(
    frame: Any, *, item: str | None, scale: Scale, categories: Iterable[Any] | None
) -> Table:
    """Return the checked table of counts, with a row per item and a column per category.

    Parameters
    ----------
    frame : data frame or array, shape (items, categories)
        The user's table.
    item : str or None
        Name of the column of item ids; None for the index or the row number.
    scale : {"nominal", "ordered", "numeric"}
        How the categories relate.
    categories : iterable or None
        Names of the columns of counts; None for all columns.

    Returns
    -------
    Table
        One row per rating counted, by anonymous raters, without faults.

    Raises
    ------
    RatingsError
        If the table breaks a rule.
    """
    check_arguments({"item": item}, scale=scale, categories=categories)
    given = None if categories is None else list(categories)
    items, _, cells = _split(frame, item, None, given)
    names = list(cells.columns) if given is None else given
    if given is None:
        refuse_contingency(items, cells)
    counts = _whole_counts(cells, names)
    n_items, n_categories = counts.shape
    times = counts.astype(np.intp)  # which has 32 bits in a browser
    per_item = times.sum(axis=1)
    row = np.repeat(np.arange(n_items), per_item)
    category = np.repeat(np.tile(np.arange(n_categories), n_items), times.ravel())
    number_in_item = np.arange(len(row)) - np.repeat(np.cumsum(per_item) - per_item, per_item)
    ids = as_ids(names)
    declared: Scale = "ordered" if scale == "ordered" else "nominal"
    rating = Labels("rating", category.astype(np.int32), ids, declared)
    table = Table.of(
        items.take(row),
        Labels("rater", number_in_item.astype(np.int32), pd.Index(range(per_item.max(initial=0)))),
        rating,
        scale=scale,
        categories=pd.Index(rating.numbers) if scale == "numeric" else ids,
        anonymous_raters=True,
    )
    check(table)
    return table


def _checked_rated(table: Table, row_of: Callable[[int], int], *, for_agreement: bool) -> Table:
    """The rows that have a rating, checked; faults are in the rows of the user's table."""
    is_rated = np.flatnonzero(~table.rating.missing)
    rated = table.take(is_rated)
    try:
        check(rated, for_agreement=for_agreement)
    except RatingsError as error:
        raise error.relocated(lambda place: row_of(int(is_rated[place])), "row") from None
    return rated


def _split(
    frame: Any, item: str | None, gold: str | None, names: Sequence[Any] | None = None
) -> tuple[Labels, Column | None, pd.DataFrame]:
    """Return the item of each row, its gold if there is any, and the cells."""
    if isinstance(frame, np.ndarray):
        frame = as_frame(frame, names)
    eager = as_eager(frame)
    refuse_levels(eager, item)
    columns = named_columns(eager, {"item": item, "gold": gold})
    if item is None and not isinstance(frame, pd.DataFrame):
        rule = "it must name the column of item ids, because only pandas frames have an index"
        remedy = f"Pass one of {listed(eager.columns, 20)}."
        raise RatingsError([Fault("item", rule, "None", remedy)])
    named = [name for name in (item, gold) if name is not None]
    cells = as_pandas(eager).drop(columns=named).dropna(axis="columns", how="all")
    if cells.empty:
        rule = "the table must have rows, and columns with values besides item and gold"
        found = f"{cells.shape[0]} rows and {cells.shape[1]} such columns"
        raise RatingsError([Fault("table", rule, found, "Pass a table with filled cells.")])
    items = columns["item"] if item is not None else _series(pd.Series(cells.index))
    labels = read_labels(items, "item" if item is None else item)
    refuse_repeated_items(labels)
    golds = None if gold is None else read_values(columns["gold"], gold)
    return labels, golds, cells


def _stacked(cells: pd.DataFrame) -> pd.Series[Any]:
    """Return the cells column after column, categorical if all columns have the same categories."""
    columns = [cells[name] for name in cells.columns]
    if len(set(cells.dtypes)) > 1 and any(is_beyond_floats(_series(each)) for each in columns):
        columns = [each.astype(object) for each in columns]  # or pandas makes floats of them
    return pd.concat(columns, ignore_index=True)


def _series(values: pd.Series[Any]) -> nw.Series[Any]:
    return nw.from_native(values, series_only=True)


def _labels(values: Any, name: str) -> Labels:
    return read_labels(_series(pd.Series(values)), name)


def _pool_of(raters: Sequence[Any], pool: Pools) -> Labels:
    pools = dict(pool)
    absent = [rater for rater in raters if rater not in pools]
    unknown = [rater for rater in pools if rater not in set(raters)]
    found = [f"no pool for {listed(absent)}"] if absent else []
    found += [f"a pool for {listed(unknown)}, who rated nothing"] if unknown else []
    if found:
        rule = "it must give the pool of each rater, by the names of the raters' columns"
        remedy = "List each rater who gave ratings once."
        raise RatingsError([Fault("pool", rule, " and ".join(found), remedy)])
    return _labels([pools[rater] for rater in raters], "pool")


def _whole_counts(cells: pd.DataFrame, names: Sequence[Any]) -> npt.NDArray[np.int64]:
    absent = [name for name in names if name not in cells.columns]
    if absent:
        rule = "each category must be a column of counts"
        remedy = f"The columns are {listed(cells.columns, 20)}."
        raise RatingsError([Fault("categories", rule, f"no column {listed(absent)}", remedy)])
    faults = [fault for name in names for fault in _count_faults(cells[name])]
    if faults:
        raise RatingsError(faults)
    columns = [cells[name].to_numpy(np.float64) for name in names]  # some names are no labels
    counts = np.stack(columns, axis=1) if columns else np.empty((len(cells), 0))
    if (total := counts.sum()) > MOST_RATINGS:
        rule, remedy = f"counts must sum to {MOST_RATINGS:,} or less", "Check the columns."
        raise RatingsError([Fault("counts", rule, f"a sum of {total:,.0f}", remedy)])
    return counts.astype(np.int64)


def count_values(cells: pd.Series[Any]) -> tuple[Array, Mask]:
    """Return cells as numbers, and which of them are counts.

    Parameters
    ----------
    cells : Series
        Cells of any type.

    Returns
    -------
    values : array of float, shape (N,)
        The numbers; nan for what is none.
    is_count : array of bool, shape (N,)
        Whether they are whole, and 0 or more.
    """
    numbers = pd.to_numeric(cells, errors="coerce")
    if numbers.dtype.kind == "c":  # which a conversion would cut
        numbers = pd.Series(np.nan, cells.index)
    values = numbers.to_numpy(np.float64, na_value=np.nan)
    return values, np.isfinite(values) & (values >= 0) & (np.floor(values) == values)


def _count_faults(counts: pd.Series[Any]) -> list[Fault]:
    _, is_count = count_values(counts)
    if is_count.all():
        return []
    return [
        Fault.in_rows(
            str(counts.name),
            "counts must be whole numbers, 0 or more",
            "{n} invalid",
            "Correct them, with 0 for none; if the cells are ratings, use Ratings.from_wide.",
            mask=~is_count,
            values_at=lambda rows: tuple(shown(value) for value in counts.iloc[rows].tolist()),
        )
    ]
