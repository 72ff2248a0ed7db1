"""From a column of the user's table to arrays: ids become 0-based codes, numbers become float64."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, TypeAlias

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.wording import shown

Scale: TypeAlias = Literal["nominal", "ordered", "numeric"]
Codes: TypeAlias = npt.NDArray[np.int32]
Floats: TypeAlias = npt.NDArray[np.float64]
Rows: TypeAlias = npt.NDArray[np.intp]
Mask: TypeAlias = npt.NDArray[np.bool_]

NUMBER_KINDS = frozenset({"integer", "floating", "mixed-integer-float", "decimal"})


@dataclass(frozen=True)
class Labels:
    """A column of ids, each row a code into them.

    Attributes
    ----------
    name : str
        The column's name in the user's table.
    codes : int32 array (N,)
        Position in `ids`; -1 where the value is missing.
    ids : Index
        The distinct values: sorted, or in the order the user declared.
    declared : {"nominal", "ordered"} or None
        The scale that a categorical column declares by its type.
    """

    name: str
    codes: Codes
    ids: pd.Index[Any]
    declared: Scale | None = None

    @cached_property
    def missing(self) -> Mask:
        return self.codes < 0

    @property
    def is_readable(self) -> Mask:
        """Which rows have a value to judge; another check tells why others have none."""
        return ~self.missing

    @cached_property
    def kind(self) -> str:
        """What the ids are, in pandas' words: "string", "integer", "boolean", "mixed", ..."""
        return pd.api.types.infer_dtype(self.ids, skipna=True)

    @cached_property
    def numbers(self) -> Floats:
        """The ids read as numbers, NaN where an id is no number."""
        return as_numbers(self.ids)

    def at(self, rows: Rows) -> tuple[str, ...]:
        return tuple(shown(self.ids[code]) for code in self.codes[rows].tolist())

    def take(self, rows: Rows) -> Labels:
        return replace(self, codes=self.codes[rows])

    def among(self, ids: pd.Index[Any]) -> Labels:
        """Return the column coded into `ids`; what is not among them becomes missing."""
        return replace(self, codes=_lookup(ids.get_indexer(self.ids), self.codes), ids=ids)

    @cached_property
    def used(self) -> Labels:
        """The column without the ids that no row has."""
        seen = np.bincount(self.codes + 1, minlength=len(self.ids) + 1)[1:] > 0
        if seen.all():
            return self
        return replace(self, codes=_lookup(np.cumsum(seen) - 1, self.codes), ids=self.ids[seen])


@dataclass(frozen=True)
class Numbers:
    """A column of numbers.

    Attributes
    ----------
    name : str
        The column's name in the user's table.
    floats : float64 array (N,)
        The numbers; NaN where missing, or where `source` holds no number.
    source : Labels or None
        The labels that were read as numbers, where the user's column did not hold numbers.
    """

    name: str
    floats: Floats
    source: Labels | None = None

    @cached_property
    def missing(self) -> Mask:
        return np.isnan(self.floats) if self.source is None else self.source.missing

    @property
    def is_readable(self) -> Mask:
        """Which rows have a value to judge; another check tells why others have none."""
        return np.isfinite(self.floats)

    def at(self, rows: Rows) -> tuple[str, ...]:
        if self.source is not None:
            return self.source.at(rows)
        return tuple(shown(value) for value in self.floats[rows].tolist())

    def take(self, rows: Rows) -> Numbers:
        source = None if self.source is None else self.source.take(rows)
        return replace(self, floats=self.floats[rows], source=source)

    def labels(self) -> Labels:
        """Return the column as ids; whole numbers become int."""
        codes, values = pd.factorize(self.floats, sort=True)
        return Labels(self.name, codes.astype(np.int32), number_ids(values))


Column: TypeAlias = Labels | Numbers


def read_labels(series: nw.Series[Any], name: str) -> Labels:
    """Read a column of ids, sorted where they can be."""
    return _sorted(_coded(series, name))


def read_values(series: nw.Series[Any], name: str) -> Column:
    """Read a column of ratings or of gold: numbers as numbers, all else as labels."""
    if series.dtype.is_numeric():
        return Numbers(name, series.cast(nw.Float64).to_numpy().astype(np.float64, copy=False))
    labels = _coded(series, name)
    if labels.declared is not None:
        return labels
    return _sorted(labels) if labels.kind not in NUMBER_KINDS else Numbers(name, _read(labels))


def on_scale(column: Column, scale: Scale | None) -> tuple[Column, Scale]:
    """Return the column as its scale has it, and the scale, inferred where None is given.

    Labels that mostly read as numbers are taken for numbers, with the labels as their source: it is
    for the checks to say that the user must choose.
    """
    if scale is None:
        scale = _inferred(column)
    if scale == "numeric" and isinstance(column, Labels):
        return Numbers(column.name, _read(column), source=column), scale
    if scale != "numeric" and isinstance(column, Numbers):
        return column.labels(), scale
    return column, scale


def fault_in(
    column: Column, mask: Mask, rule: str, found: str, remedy: str, *, show_values: bool = True
) -> Fault:
    """Return a column's fault in the rows of `mask`, with what stands there."""
    values_at = column.at if show_values else None
    return Fault.in_rows(column.name, rule, found, remedy, mask=mask, values_at=values_at)


def as_ids(values: Any) -> pd.Index[Any]:
    """Return ids as an Index of plain int64, float64, bool, text or object, whatever held them."""
    index: pd.Index[Any] = pd.Index(values, name=None, tupleize_cols=False)
    is_plain = isinstance(index.dtype, np.dtype) and index.dtype.itemsize == 8
    if is_plain or index.dtype == "str" or index.dtype == bool:
        return index
    plain: pd.Index[Any] = pd.Index(index.tolist(), tupleize_cols=False)
    return plain


def as_numbers(ids: pd.Index[Any]) -> Floats:
    """Return ids read as numbers, NaN where one is none."""
    numbers = pd.to_numeric(pd.Series(ids, dtype=object), errors="coerce")
    return numbers.to_numpy(np.float64, na_value=np.nan)


def number_ids(values: Floats) -> pd.Index[Any]:
    """Return numbers as ids, as int64 if all are whole."""
    are_whole = bool((np.floor(values) == values).all() and (np.abs(values) < 2**53).all())
    return pd.Index(values.astype(np.int64) if are_whole else values)


def _inferred(column: Column) -> Scale:
    if isinstance(column, Numbers):
        return "numeric"
    if column.declared is not None:
        return column.declared
    if column.kind != "string":
        return "nominal"
    n_numbers = np.count_nonzero(~np.isnan(_read(column)))
    return "numeric" if n_numbers > len(column.codes) / 2 else "nominal"


def _coded(series: nw.Series[Any], name: str) -> Labels:
    try:
        if series.implementation.is_pandas():
            return _coded_pandas(series.to_native(), name)
        return _coded_arrow(series, name)
    except TypeError as error:
        rule = "each value must be a single text, number, bool or category"
        found = f"values of type {series.dtype}"
        remedy = "Take out of each value the one thing that counts."
        raise RatingsError([Fault(name, rule, found, remedy)]) from error


def _coded_pandas(series: pd.Series[Any], name: str) -> Labels:
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return _factorized(series, name)
    declared: Scale = "ordered" if series.dtype.ordered else "nominal"
    codes = np.asarray(series.cat.codes, np.int32)
    return Labels(name, codes, as_ids(series.cat.categories), declared)


def _coded_arrow(series: nw.Series[Any], name: str) -> Labels:
    dtype = series.dtype
    if dtype.is_nested():
        raise TypeError(dtype)
    if dtype.is_float() or (dtype.is_integer() and series.null_count() == 0):
        return _factorized(series.to_numpy(), name)
    if isinstance(dtype, nw.Enum):
        return _matched(series.cast(nw.String), dtype.categories, name, "ordered")
    if isinstance(dtype, nw.Categorical):
        texts = series.cast(nw.String)
        return _matched(texts, sorted(_distinct(texts)), name, "nominal")
    return _matched(series, _distinct(series), name)


def _factorized(values: Any, name: str) -> Labels:
    codes, ids = pd.factorize(values)
    return Labels(name, codes.astype(np.int32), as_ids(ids))


def _distinct(series: nw.Series[Any]) -> list[Any]:
    return series.unique().drop_nulls().to_list()


def _matched(
    series: nw.Series[Any], ids: Sequence[Any], name: str, declared: Scale | None = None
) -> Labels:
    """Code by a join in the frame's own engine, so that no row becomes a Python object."""
    codes = series.replace_strict(ids, range(len(ids)), return_dtype=nw.Int32).fill_null(-1)
    return Labels(name, codes.to_numpy().astype(np.int32, copy=False), as_ids(ids), declared)


def _sorted(labels: Labels) -> Labels:
    """Return the labels with sorted ids, or as they are where ids cannot be compared."""
    try:
        order = np.asarray(labels.ids.argsort())
    except TypeError:
        return labels
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return replace(labels, codes=_lookup(rank, labels.codes), ids=labels.ids[order])


def _lookup(new_code: npt.NDArray[Any], codes: Codes) -> Codes:
    """Map codes through a table; -1 stays -1."""
    return np.append(new_code, -1).astype(np.int32)[codes]


def _read(labels: Labels) -> Floats:
    return np.append(labels.numbers, np.nan)[labels.codes]
