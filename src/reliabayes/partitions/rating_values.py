"""What is stored of ratings and of known true values: positions among few values, or float32."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.choices import Scale
from reliabayes.errors import Fault
from reliabayes.partitions.runs import MOST_VALUES
from reliabayes.partitions.unions import Union, row_numbers
from reliabayes.ratings import design_checks as design
from reliabayes.ratings.checks import value_faults
from reliabayes.ratings.coding import coded_fields
from reliabayes.ratings.column_reading import read_values
from reliabayes.ratings.columns import Column, Labels, number_ids
from reliabayes.ratings.table import Table
from reliabayes.ratings.text_values import text_values

MOST_CATEGORIES = 127  # distinct numbers that are taken for the categories of a scale
LARGEST = float(np.finfo(np.float32).max)
ROUNDING = 2.0**-24  # error of a float32, relative to the number
NEGLIGIBLE = 1e-5  # error relative to the range of all numbers


@dataclass(frozen=True)
class CodedValues:
    """What becomes of ratings and of known true values.

    Attributes
    ----------
    fields : dict
        Fields of the manifest.
    stored : dict from str to list of arrays
        For ratings and for gold, by run, what becomes of each of its distinct values.
    dtypes : dict from str to str
        Types of both.
    faults : tuple of Fault
        What is wrong with them. If anything is, the other attributes mean nothing.
    """

    fields: dict[str, Any]
    stored: dict[str, list[npt.NDArray[Any]]]
    dtypes: dict[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()


def coded_values(
    unions: Mapping[str, Union],
    columns: Mapping[str, str],
    options: Mapping[str, Any],
    is_text: bool,
) -> CodedValues:
    """Return what becomes of ratings and gold.

    Parameters
    ----------
    unions : mapping from str to Union
        Their distinct values, by role.
    columns : mapping from str to str
        Columns of the source by role.
    options : mapping from str to Any
        Scale and categories, as of `Ratings.from_frame`.
    is_text : bool
        Whether all values were texts of a file, some of which may be numbers.

    Returns
    -------
    CodedValues
    """
    read = _columns(
        {role: unions[role] for role in ("rating", "gold") if role in unions}, columns, is_text
    )
    rating, gold = read["rating"], read.get("gold")
    number = len(rating.missing)
    if not number:
        return _nothing(unions)
    counts = unions["rating"].counts
    table = _table(rating, None, counts, options)
    with_gold = table if gold is None else _table(rating, gold, counts, options)
    faults = [unions["rating"].in_source(fault) for fault in _faults(table, counts)]
    if gold is not None:
        faults += [
            _gold_in_source(fault, number, unions["gold"])
            for fault in value_faults(with_gold)
            if fault.place == columns["gold"]
        ]
    if not faults:
        faults += _storage_faults(table, unions["rating"])
    if faults:
        return replace(_nothing(unions), faults=tuple(faults))
    return _coded(unions, coded_fields(with_gold), options["categories"] is not None)


def _coded(unions: Mapping[str, Union], coded: Mapping[str, Any], are_given: bool) -> CodedValues:
    rating, categories, values = coded["rating"], coded["given_categories"], None
    number = len(unions["rating"].counts)
    is_numeric = coded["scale"] == "numeric"
    dtype = "float32"
    if is_numeric:
        limits = [float(rating.min()), float(rating.max())]
        if not _is_continuous(rating, unions["rating"]):
            values = np.unique(rating) if categories is None else categories.to_numpy(np.float64)
            rating = np.searchsorted(values, rating)
            if categories is None and len(values) <= MOST_CATEGORIES:
                categories = number_ids(values)
    if not is_numeric or values is not None:
        dtype = "int8" if len(categories if values is None else values) <= 2**7 else "int16"
    stored = {"rating": unions["rating"].by_run(rating[:number].astype(dtype))}
    dtypes = {"rating": dtype}
    if "gold" in unions:
        dtypes["gold"] = "float64" if is_numeric else "int32"
        stored["gold"] = unions["gold"].by_run(coded["gold"][number:].astype(dtypes["gold"]))
    fields = {
        "scale": coded["scale"],
        "scale_is_guess": coded["scale_is_guess"],
        "categories": None if categories is None else categories.tolist(),
        "values": None if values is None else values.tolist(),
        "categories_are_given": are_given,
        "limits": limits if is_numeric else None,
        "has_gold": "gold" in unions,
    }
    return CodedValues(fields, stored, dtypes)


def _nothing(unions: Mapping[str, Union]) -> CodedValues:
    """What takes the place of values that cannot be coded, so that the design can be checked."""
    roles = [role for role in ("rating", "gold") if role in unions]
    stored = {role: [at.astype(np.int32) for at in unions[role].places] for role in roles}
    return CodedValues({"scale": "nominal"}, stored)


def _columns(
    unions: Mapping[str, Union], columns: Mapping[str, str], is_text: bool
) -> dict[str, Column]:
    """The distinct values of both as columns."""
    found: dict[str, Column] = {}
    sign: Any = None
    are_labels = False  # gold, if the ratings before it are
    for role, union in unions.items():
        values: Any = union.values
        if is_text:
            texts = pd.Series(values, dtype="str")
            values, sign = text_values(texts, sign, are_labels=are_labels)
            are_labels = isinstance(values, pd.Series)
        series = pd.Series(values, dtype=None if len(union.values) else object)
        column = read_values(nw.from_native(series, series_only=True), columns[role])
        found[role] = union.kept(column)
    return found


def _table(rating: Column, gold: Column | None, counts: Any, options: Mapping[str, Any]) -> Table:
    """A table with the distinct ratings, and below them the distinct golds of another item each."""
    number = len(rating.missing)
    scale = options["scale"] or _inferred(rating, counts)
    if gold is not None:
        n_gold = len(gold.missing)
        rating = rating.take(np.minimum(np.arange(number + n_gold), number - 1))
        gold = _below(gold, number)
    ids = row_numbers(len(rating.missing))
    table = Table.of(ids, ids, rating, gold=gold, scale=scale, categories=options["categories"])
    return replace(table, asked=options["scale"])


def _inferred(rating: Column, counts: Any) -> Scale | None:
    """Numeric for texts that are numbers in more than half of the rows, as in memory."""
    if not isinstance(rating, Labels) or rating.declared is not None or rating.kind != "string":
        return None
    return "numeric" if counts[~np.isnan(rating.floats)].sum() > counts.sum() / 2 else "nominal"


def _below(column: Column, number: int) -> Column:
    """The column below so many rows without a value."""
    if isinstance(column, Labels):
        return replace(column, codes=np.append(np.full(number, -1, np.int32), column.codes))
    return replace(column, floats=np.append(np.full(number, np.nan), column.floats))


def _faults(table: Table, counts: Any) -> Iterator[Fault]:
    for fault in value_faults(table):
        if fault.place in (table.rating.name, "categories"):
            yield fault
    for fault in design.equal_ratings(table):
        value = table.rating.at(np.zeros(1, np.intp))[0]
        yield replace(fault, found=f"{value} in all {counts.sum()} rows")


def _gold_in_source(fault: Fault, number: int, union: Union) -> Fault:
    if fault.mask is None:
        return fault
    rows = tuple(row - number for row in fault.rows)
    return union.in_source(replace(fault, mask=fault.mask[number:], rows=rows))


def _storage_faults(table: Table, union: Union) -> Iterator[Fault]:
    """Yield the faults of values that parts do not hold."""
    rating = table.rating
    if isinstance(rating, Labels):
        if len(rating.ids) > MOST_VALUES:
            rule = f"parts hold at most {MOST_VALUES:,} categories"
            remedy = 'Pass scale="numeric" if they are numbers, or merge categories.'
            yield Fault(rating.name, rule, f"{len(rating.ids):,}", remedy)
    elif _is_continuous(rating.floats, union):
        low, high = rating.floats.min(), rating.floats.max()
        largest = max(abs(low), abs(high))
        found = f"{low:g}..{high:g}"
        if largest > LARGEST:
            rule = f"numbers of a continuous scale must lie within {-LARGEST:.3g} and {LARGEST:.3g}"
            yield Fault(rating.name, rule, found, "Rescale the ratings.")
        elif largest * ROUNDING > NEGLIGIBLE * (high - low):
            rule = "the range of numbers of a continuous scale must be at least 0.6% of the largest"
            yield Fault(rating.name, rule, found, "Subtract their mean, for example.")


def _is_continuous(numbers: Array, union: Union) -> bool:
    return not union.are_all or len(np.unique(numbers)) > MOST_VALUES
