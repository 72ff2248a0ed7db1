"""JSON lines as a table: one object a line, whose numbers stay exact."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.column_reading import EXACT_FLOATS
from reliabayes.wording import shown

KINDS = {list: "a list", str: "a text", bool: "a bool", type(None): "null"} | dict.fromkeys(
    (int, float), "a number"
)


def read_json_lines(lines: Iterable[str], place: str) -> pd.DataFrame:
    """Read one object a line; empty lines are skipped.

    Parameters
    ----------
    lines : iterable of str
        The lines.
    place : str
        Name of the file, for messages.

    Returns
    -------
    DataFrame
        One row per object, with a column per key. Whole numbers are exact whatever their size.

    Raises
    ------
    RatingsError
        If a line is not an object, an object has a key twice, or there is none.
    """
    columns: dict[str, list[Any]] = {}
    n_rows = 0
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        for key, value in _object(line, number, place).items():
            column = columns.setdefault(key, [])
            column.extend([None] * (n_rows - len(column)))
            column.append(value)
        n_rows += 1
    if not columns:
        raise _no_object(place, "no keys and values")
    for column in columns.values():
        column.extend([None] * (n_rows - len(column)))
    return pd.DataFrame({key: _column(values) for key, values in columns.items()})


def _object(line: str, number: int, place: str) -> dict[str, Any]:
    try:
        found = json.loads(line, object_pairs_hook=_without_repeated_keys)
    except _RepeatedKeyError as error:
        rule, remedy = "an object must have each key once", "Rename or remove one of them."
        raise RatingsError([Fault(place, rule, f"{error} in line {number}", remedy)]) from None
    except (ValueError, RecursionError) as error:
        raise _no_object(place, f"line {number}: {error}") from error
    if not isinstance(found, dict):
        raise _no_object(place, f"{KINDS[type(found)]} in line {number}")
    return found


def _no_object(place: str, found: str) -> RatingsError:
    remedy = "Export it again, or correct its suffix."
    return RatingsError([Fault(place, "each line must be one JSON object", found, remedy)])


class _RepeatedKeyError(ValueError):
    """An object has a key twice, and all values but the last would be lost."""


def _without_repeated_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) < len(pairs):
        keys = [key for key, _ in pairs]
        repeated = next(key for key in keys if keys.count(key) > 1)
        raise _RepeatedKeyError(f"{shown(repeated)} more than once")
    return found


def _column(values: list[Any]) -> pd.Series[Any]:
    """The values as pandas infers their type, unless it would make floats of whole numbers."""
    whole = [value for value in values if type(value) is int]
    n_missing = values.count(None)
    are_whole = len(whole) + n_missing == len(values)
    would_be_floats = n_missing > 0 if are_whole else any(abs(x) >= EXACT_FLOATS for x in whole)
    return pd.Series(values, dtype=object if whole and would_be_floats else None)
