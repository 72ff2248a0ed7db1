"""Reading single columns of the user's table, from any kind of data frame."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.choices import Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import is_about_values
from reliabayes.ratings.columns import Column, Labels, Numbers

EXACT_FLOATS = 2**53  # from here on floats skip whole numbers
TEXT_TYPES = frozenset({"string", "large_string", "string_view", "None"})  # of pyarrow
NUMBER_KINDS = frozenset({"integer", "floating", "mixed-integer-float", "decimal"})


def read_labels(series: nw.Series[Any], name: str) -> Labels:
    """Read a column of ids.

    Parameters
    ----------
    series : narwhals Series, N rows
        The column.
    name : str
        Its name, for messages.

    Returns
    -------
    Labels
        The column, with its ids sorted if they can be sorted.
    """
    return _sorted(_coded(series, name))


def read_values(series: nw.Series[Any], name: str) -> Column:
    """Read a column of ratings or of gold.

    Parameters
    ----------
    series : narwhals Series, N rows
        The column.
    name : str
        Its name, for messages.

    Returns
    -------
    Numbers or Labels
        Numbers if all values are, else labels; also whole numbers of 2^53 and more, which floats
        would merge.
    """
    if _is_complex(series):
        rule, remedy = "values must be real numbers", "Take the part that is meant, such as .real."
        raise RatingsError([Fault(name, rule, "complex numbers", remedy)])
    series = _decoded(series)
    if series.dtype.is_numeric() and not is_beyond_floats(series):
        return Numbers(name, as_floats(series))
    labels = _coded(series, name)
    if labels.declared is not None:
        return labels
    is_number = labels.kind in NUMBER_KINDS and not any(map(_is_beyond_float, labels.ids))
    return Numbers(name, labels.floats) if is_number else _sorted(labels)


def _is_complex(series: nw.Series[Any]) -> bool:
    native = series.to_native()
    kind = getattr(getattr(native, "dtype", None), "kind", "")
    return kind == "c" or (
        kind == "O"
        and pd.api.types.infer_dtype(native, skipna=True) in ("complex", "mixed")
        and bool(pd.Series(native).map(type).isin([complex, np.complex128]).any())
    )


def as_floats(series: nw.Series[Any]) -> Array:
    """Return a column of numbers as floats.

    Parameters
    ----------
    series : narwhals Series, N rows
        The column.

    Returns
    -------
    array, shape (N,)
    """
    if isinstance(series.dtype, nw.Decimal):  # which Arrow does not round to the nearest float
        series = series.cast(nw.String)
    return series.cast(nw.Float64).to_numpy().astype(np.float64, copy=False)


def is_beyond_floats(series: nw.Series[Any]) -> bool:
    """Return whether a column holds whole numbers that floats would merge.

    Parameters
    ----------
    series : narwhals Series, N rows
        The column.

    Returns
    -------
    bool
    """
    if not series.dtype.is_integer() or series.len() == series.null_count():
        return False
    return _is_beyond_float(series.min()) or _is_beyond_float(series.max())


def _is_beyond_float(value: Any) -> bool:
    return isinstance(value, (int, np.integer)) and abs(int(value)) >= EXACT_FLOATS


def as_ids(values: Any) -> pd.Index[Any]:
    """Return ids as a plain Index, whatever container and type the user had.

    Parameters
    ----------
    values : array-like, shape (n,)
        The ids.

    Returns
    -------
    Index, shape (n,)
        Of type int64, float64, bool, str or object.
    """
    index: pd.Index[Any] = pd.Index(values, name=None, tupleize_cols=False)
    is_plain = isinstance(index.dtype, np.dtype) and index.dtype.itemsize == 8
    if is_plain or index.dtype == "str" or index.dtype == bool:
        return index
    plain: pd.Index[Any] = pd.Index(index.tolist(), tupleize_cols=False)
    return plain


def _coded(series: nw.Series[Any], name: str) -> Labels:
    try:
        if series.implementation.is_pandas():
            return _coded_pandas(series.to_native(), name)
        return _coded_arrow(_decoded(series), name)
    except Exception as error:
        if not is_about_values(error):
            raise
        rule = "each value must be a single text, number, bool or category"
        found = f"values of type {series.dtype}"
        remedy = "Replace each value by one of these."
        raise RatingsError([Fault(name, rule, found, remedy)]) from error


def _coded_pandas(series: pd.Series[Any], name: str) -> Labels:
    if not isinstance(series.dtype, pd.CategoricalDtype):
        return _factorized(series, name)
    declared: Scale = "ordered" if series.dtype.ordered else "nominal"
    codes = np.asarray(series.cat.codes, np.int32)
    return Labels(name, codes, as_ids(series.cat.categories), declared)


def _decoded(series: nw.Series[Any]) -> nw.Series[Any]:
    """The values of a dictionary of pyarrow that holds no texts; narwhals makes texts of them.

    Also texts of pyarrow that its functions do not know.
    """
    native: Any = series.to_native()
    if str(getattr(native, "type", None)) == "string_view":
        return nw.from_native(native.cast("large_string"), series_only=True)
    kind = getattr(getattr(native, "type", None), "value_type", None)
    if not isinstance(series.dtype, nw.Categorical) or str(kind) in TEXT_TYPES:
        return series
    return nw.from_native(native.cast(kind), series_only=True)


def _coded_arrow(series: nw.Series[Any], name: str) -> Labels:
    dtype = series.dtype
    if dtype.is_nested():
        raise TypeError(dtype)
    is_wide = isinstance(dtype, (nw.Int128, nw.UInt128))  # which NumPy does not have
    if dtype.is_float() or (dtype.is_integer() and not is_wide and series.null_count() == 0):
        return _factorized(series.to_numpy(), name)
    if isinstance(dtype, nw.Enum):
        return _matched(series.cast(nw.String), dtype.categories, name, "ordered")
    if isinstance(dtype, nw.Categorical):
        texts = series.cast(nw.String)
        return _matched(texts, sorted(_distinct(texts)), name, "nominal")
    return _matched(series, _distinct(series), name)


def _factorized(values: Any, name: str) -> Labels:
    if values.dtype.kind == "c":
        raise TypeError("complex numbers")
    if values.dtype == object and pd.api.types.infer_dtype(values, skipna=True).startswith("mixed"):
        _refuse_bools_among_numbers(values, name)
    codes, ids = pd.factorize(values)
    return Labels(name, codes.astype(np.int32), as_ids(ids))


def _refuse_bools_among_numbers(values: Any, name: str) -> None:
    """Refuse what would be merged: True equals 1, and False equals 0."""
    types = pd.Series(values).map(type)
    is_bool = types.isin([bool, np.bool_]).to_numpy()
    if is_bool.any() and types[~is_bool].isin([int, float]).any():
        rule = "all values must have the same type, because True equals 1"
        remedy = "Convert the column, for example with .astype(str)."
        fault = Fault.in_rows(name, rule, "{n} of type bool among numbers", remedy, mask=is_bool)
        raise RatingsError([fault])


def _distinct(series: nw.Series[Any]) -> list[Any]:
    return series.unique().drop_nulls().to_list()


def _matched(
    series: nw.Series[Any], ids: Sequence[Any], name: str, declared: Scale | None = None
) -> Labels:
    """Code in the frame's own engine, so that no row becomes a Python object."""
    codes = series.replace_strict(ids, range(len(ids)), return_dtype=nw.Int32).fill_null(-1)
    return Labels(name, codes.to_numpy().astype(np.int32, copy=False), as_ids(ids), declared)


def _sorted(labels: Labels) -> Labels:
    """Return the labels with sorted ids, or unchanged if ids cannot be compared."""
    try:
        order = np.asarray(labels.ids.argsort())
    except TypeError:
        return labels
    rank = np.empty(len(order), np.int32)
    rank[order] = np.arange(len(order), dtype=np.int32)
    return labels.recoded(rank, labels.ids[order])
