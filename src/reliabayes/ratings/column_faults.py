"""All faults of the columns of a table, also where some columns are absent or cannot be read."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.checks import value_faults
from reliabayes.ratings.column_reading import read_labels, read_values
from reliabayes.ratings.columns import Column, Labels
from reliabayes.ratings.frames import columns_and_faults
from reliabayes.ratings.table import Table

ABSENT = "\0absent"  # name of a column that stands for an absent one; no file has it


def read_columns(
    frame: Any, roles: Mapping[str, Any], facets: Mapping[str, Any], options: Mapping[str, Any]
) -> dict[str, Any]:
    """Read the columns of a long table.

    Parameters
    ----------
    frame : data frame, N rows
        The user's table.
    roles : mapping from str to str or None
        Names of the columns of item, rater, rating, pool and gold.
    facets : mapping from str to Any
        Names of the columns of facets.
    options : mapping from str to Any
        Scale and categories, to find what else is wrong if a column is absent.

    Returns
    -------
    dict
        The column of each role that is not None, and `facets`, the columns of the facets by name.

    Raises
    ------
    RatingsError
        If columns are absent or cannot be read. It lists the faults of all others too.
    """
    names = {**roles, **facets}
    columns, faults = columns_and_faults(frame, names)
    found: dict[str, Column] = {}
    for role, series in columns.items():
        try:
            found[role] = _read(role, series, names[role])
        except RatingsError as error:
            faults += error.faults
    if faults:
        raise RatingsError(faults + _faults_of_others(found, facets, options))
    return _with_facets(found, facets)


def _read(role: str, series: nw.Series[Any], name: str) -> Column:
    return read_values(series, name) if role in ("rating", "gold") else read_labels(series, name)


def _with_facets(found: Mapping[str, Any], facets: Collection[str]) -> dict[str, Any]:
    """The columns by role, those of facets together."""
    roles = {role: column for role, column in found.items() if role not in facets}
    return roles | {"facets": {name: found[name] for name in facets if name in found}}


def _faults_of_others(
    found: Mapping[str, Column], facets: Collection[str], options: Mapping[str, Any]
) -> list[Fault]:
    """Faults of the values of the columns that were read, with others in place of the absent."""
    if not found:
        return []
    number = len(next(iter(found.values())).missing)
    ids = Labels(ABSENT, np.arange(number, dtype=np.int32), pd.Index(range(number)))
    columns: dict[str, Any] = dict.fromkeys(("item", "rater", "rating"), ids)
    columns |= _with_facets(found, facets)
    if "rating" not in found:  # which gold must suit
        columns.pop("gold", None)
    faults = value_faults(Table.of(**columns, **options))
    return [fault for fault in faults if fault.place != ABSENT]
