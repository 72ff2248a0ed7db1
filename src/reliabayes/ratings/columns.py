"""Columns of the user's table as arrays: ids become 0-based codes, numbers become float64."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.choices import Scale
from reliabayes.errors import Fault
from reliabayes.wording import shown

# Numbers as files hold them; texts with a leading zero are ids or labels: 007 is not 7.
NUMBER = r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf"
Rows: TypeAlias = npt.NDArray[np.intp]


@dataclass(frozen=True)
class Labels:
    """A column of ids, stored as codes.

    Attributes
    ----------
    name : str
        The column's name in the user's table.
    codes : array of int32, shape (N,)
        Position of each row's value in `ids`; -1 where it is missing.
    ids : Index
        The distinct values, sorted or in the order that the user declared.
    declared : {"nominal", "ordered"} or None
        The scale that a categorical column declares by its type.
    """

    name: str
    codes: Codes
    ids: pd.Index[Any]
    declared: Scale | None = None

    @cached_property
    def missing(self) -> Mask:
        """Which rows (N,) have no value."""
        return self.codes < 0

    @property
    def is_readable(self) -> Mask:
        """Which rows (N,) have a value that can be checked."""
        return ~self.missing

    @cached_property
    def kind(self) -> str:
        """Type of the ids as pandas names it: "string", "integer", "boolean", "mixed", ..."""
        return pd.api.types.infer_dtype(self.ids, skipna=True)

    @cached_property
    def numbers(self) -> Array:
        """The ids read as numbers; NaN for ids that are not numeric."""
        return as_numbers(self.ids)

    @property
    def floats(self) -> Array:
        """The rows (N,) read as numbers; NaN where they are missing or not numeric."""
        return np.append(self.numbers, np.nan)[self.codes]

    def at(self, rows: Rows) -> tuple[str, ...]:
        """Return the values of some rows, as messages show them."""
        codes = self.codes[rows].tolist()
        return tuple(shown(None if code < 0 else self.ids[code]) for code in codes)

    def take(self, rows: Rows) -> Labels:
        """Return the column with only these rows."""
        return replace(self, codes=self.codes[rows])

    def among(self, ids: pd.Index[Any]) -> Labels:
        """Return the column coded by other ids; values that are not among them become missing."""
        return self.recoded(ids.get_indexer(self.ids), ids)

    def recoded(self, new_code: npt.NDArray[Any], ids: pd.Index[Any]) -> Labels:
        """Return the column with each code replaced by its new code, a position in other ids."""
        return replace(self, codes=np.append(new_code, -1).astype(np.int32)[self.codes], ids=ids)

    @cached_property
    def used(self) -> Labels:
        """The column without the ids that do not occur."""
        seen = np.bincount(self.codes + 1, minlength=len(self.ids) + 1)[1:] > 0
        if seen.all():
            return self
        return self.recoded(np.cumsum(seen) - 1, self.ids[seen])


@dataclass(frozen=True)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    name : str
        The column's name in the user's table.
    floats : array of float64, shape (N,)
        The numbers; NaN where they are missing, or where `source` is not numeric.
    source : Labels or None
        The labels that were read as numbers, if the user's column did not hold numbers.
    """

    name: str
    floats: Array
    source: Labels | None = None

    @cached_property
    def missing(self) -> Mask:
        """Which rows (N,) have no value."""
        return np.isnan(self.floats) if self.source is None else self.source.missing

    @property
    def is_readable(self) -> Mask:
        """Which rows (N,) have a value that can be checked."""
        return np.isfinite(self.floats)

    def at(self, rows: Rows) -> tuple[str, ...]:
        """Return the values of some rows, as messages show them."""
        if self.source is not None:
            return self.source.at(rows)
        return tuple(shown(value) for value in self.floats[rows].tolist())

    def take(self, rows: Rows) -> Numbers:
        """Return the column with only these rows."""
        source = None if self.source is None else self.source.take(rows)
        return replace(self, floats=self.floats[rows], source=source)

    def labels(self) -> Labels:
        """Return the column as ids; whole numbers become int."""
        codes, values = pd.factorize(self.floats, sort=True)
        return Labels(self.name, codes.astype(np.int32), number_ids(values))


Column: TypeAlias = Labels | Numbers


def on_scale(column: Column, scale: Scale | None) -> tuple[Column, Scale]:
    """Convert a column to a scale.

    Parameters
    ----------
    column : Labels or Numbers
        The column, N rows.
    scale : {"nominal", "ordered", "numeric"} or None
        The scale; None infers it. Labels that mostly read as numbers are inferred to be numeric and
        kept as the source of the numbers, so that a check can ask the user to choose.

    Returns
    -------
    column : Labels or Numbers
        Numbers if the scale is numeric, else labels.
    scale : {"nominal", "ordered", "numeric"}
        The scale, given or inferred.
    """
    if scale is None:
        scale = _inferred(column)
    if scale == "numeric" and isinstance(column, Labels):
        return Numbers(column.name, column.floats, source=column), scale
    if scale != "numeric" and isinstance(column, Numbers):
        return column.labels(), scale
    return column, scale


def fault_in(
    column: Column,
    mask: Mask,
    rule: str,
    found: str,
    remedy: str,
    *,
    show_values: bool = True,
    **arguments: Any,
) -> Fault:
    """Return a fault of some rows of a column.

    Parameters
    ----------
    column : Labels or Numbers
        The column, N rows.
    mask : array of bool, shape (N,)
        The rows that break the rule.
    rule : str
        What must hold.
    found : str
        What was found instead; ``{n}`` stands for the number of rows.
    remedy : str
        How to fix it.
    show_values : bool, default True
        Whether the message shows the values in these rows.
    **arguments : Any
        What to pass to `read_ratings` to apply the remedy.

    Returns
    -------
    Fault
        The fault, with its first rows.
    """
    values_at = column.at if show_values else None
    fault = Fault.in_rows(column.name, rule, found, remedy, mask=mask, values_at=values_at)
    return replace(fault, arguments=arguments)


def as_numbers(ids: pd.Index[Any]) -> Array:
    """Return ids read as numbers.

    Parameters
    ----------
    ids : Index, shape (n,)
        The ids.

    Returns
    -------
    array of float64, shape (n,)
        The numbers; NaN for ids that are not numeric.
    """
    numbers = pd.to_numeric(pd.Series(ids, dtype=object), errors="coerce")
    return numbers.to_numpy(np.float64, na_value=np.nan)


def number_ids(values: Array) -> pd.Index[Any]:
    """Return numbers as ids.

    Parameters
    ----------
    values : array of float64, shape (n,)
        The numbers.

    Returns
    -------
    Index, shape (n,)
        Of type int64 if all numbers are whole, else float64.
    """
    are_whole = bool((np.floor(values) == values).all() and (np.abs(values) < 2**53).all())
    return pd.Index(values.astype(np.int64) if are_whole else values)


def _inferred(column: Column) -> Scale:
    if isinstance(column, Numbers):
        return "numeric"
    if column.declared is not None:
        return column.declared
    if column.kind != "string":
        return "nominal"
    n_numbers = np.count_nonzero(~np.isnan(column.floats))
    return "numeric" if n_numbers > np.count_nonzero(~column.missing) / 2 else "nominal"
