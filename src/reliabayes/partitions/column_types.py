"""Types of columns that parts can be made of."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from reliabayes.errors import Fault, RatingsError

VALUES = ("rating", "gold")  # roles that may hold numbers


def type_faults(schema: Any, columns: Mapping[str, str], are_given: bool) -> Iterator[Fault]:
    """Yield the faults of the types of columns.

    Parameters
    ----------
    schema : pyarrow Schema
        Of a Parquet file.
    columns : mapping from str to str
        Columns by role or name of facet.
    are_given : bool
        Whether the user declared the categories of a rating.
    """
    for role, name in columns.items():
        kind = schema.field(name).type
        if role == "rating" and pa.types.is_dictionary(kind) and kind.ordered and not are_given:
            rule = "files do not keep all categories and their order"
            remedy = 'Pass scale="ordered" and categories=[...], lowest first.'
            yield Fault(name, rule, "an ordered categorical column", remedy)
        if not _is_suitable(role, kind):
            rule = "values must be texts, numbers or bools"
            if role == "item":
                rule = "ids of items must be texts or whole numbers"
            yield Fault(name, rule, f"the type {kind}", "Convert the column, for example to text.")


def plain(name: str, column: Any) -> Any:
    """Return a column as int64, float64, bool or large_string, whatever the source had.

    Parameters
    ----------
    name : str
        Name of the column, for messages.
    column : pyarrow Array
        The column.

    Returns
    -------
    pyarrow Array

    Raises
    ------
    RatingsError
        If a whole number is too large for int64.
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return plain(name, column.cast(kind.value_type))
    if pa.types.is_integer(kind):
        return _int64(name, column)
    if pa.types.is_decimal(kind):  # which Arrow does not round to the nearest float by itself
        return column.cast(pa.string()).cast(pa.float64())
    if pa.types.is_floating(kind):
        return column.cast(pa.float64())
    return column if pa.types.is_boolean(kind) else column.cast(pa.large_string())


def _int64(name: str, column: Any) -> Any:
    try:
        return column.cast(pa.int64())
    except pa.ArrowInvalid as error:
        rule = f"whole numbers in parts must lie within {-(2**63):,} and {2**63 - 1:,}"
        remedy = "Convert the column to text."
        raise RatingsError([Fault(name, rule, str(error), remedy)]) from error


def _is_suitable(role: str, kind: Any) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_suitable(role, kind.value_type)
    is_text = pa.types.is_string(kind) or pa.types.is_large_string(kind)
    if is_text or pa.types.is_string_view(kind) or pa.types.is_null(kind):
        return True
    if pa.types.is_integer(kind) or role == "item":
        return bool(pa.types.is_integer(kind))
    is_number = pa.types.is_floating(kind) or (pa.types.is_decimal(kind) and role in VALUES)
    return bool(is_number or pa.types.is_boolean(kind))
