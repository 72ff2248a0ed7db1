"""Frames and arrays of any kind as frames of pandas, cell for cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import narwhals as nw
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.column_reading import as_floats, is_beyond_floats


def as_frame(array: npt.NDArray[Any], names: Sequence[Any] | None) -> pd.DataFrame:
    """Return an array as a frame, or raise an error if it is not one of rows and columns.

    Parameters
    ----------
    array : array
        The user's table.
    names : sequence or None
        Names of its columns.

    Returns
    -------
    DataFrame

    Raises
    ------
    RatingsError
        It has not two dimensions, or not as many columns as there are names.
    """
    if array.ndim == 2 and (names is None or len(names) == array.shape[1]):
        return pd.DataFrame(array, columns=None if names is None else list(names))
    rule, found = "it must have two dimensions", f"the shape {array.shape}"
    if names is not None:
        rule += " and a column per category"
        found += f" and {len(names)} categories"
    raise RatingsError([Fault("array", rule, found, "Reshape it to items x columns.")])


def as_pandas(frame: nw.DataFrame[Any]) -> pd.DataFrame:
    """Return a frame of any kind as one of pandas.

    Parameters
    ----------
    frame : narwhals DataFrame
        The user's table.

    Returns
    -------
    DataFrame
    """
    native = frame.to_native()
    if isinstance(native, pd.DataFrame):
        return native
    return pd.DataFrame({name: _pandas_column(frame.get_column(name)) for name in frame.columns})


def _pandas_column(series: nw.Series[Any]) -> Any:
    if is_beyond_floats(series):
        return pd.Series(series.to_list(), dtype=object)
    if series.dtype.is_numeric():
        return as_floats(series)
    if isinstance(series.dtype, nw.Enum):
        return pd.Categorical(series.to_list(), series.dtype.categories, ordered=True)
    return series.to_list()
