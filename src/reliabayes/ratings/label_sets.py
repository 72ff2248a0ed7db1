"""Ratings that are sets of labels: each set becomes one text, its labels sorted and joined."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Set
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from reliabayes.choices import Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.frames import as_eager
from reliabayes.wording import shown

SEPARATOR = ";"  # of labels that come as lists
NO_LABEL = "(none)"  # stands for the empty set, because an empty text is a missing rating
NUMBERS = (int, float, np.integer, np.floating)
LISTS = (list, tuple, set, frozenset, np.ndarray)


def with_joined_sets(
    frame: Any, separator: str | None, names: Collection[str | None], *, are_left_out: bool = False
) -> tuple[Any, str | None]:
    """Replace sets of labels in a table by texts.

    Parameters
    ----------
    frame : data frame or array
        The user's table.
    separator : str or None
        What is between the labels in a text; None if only lists are sets.
    names : collection of str or None
        Names of the columns that may hold sets.
    are_left_out : bool, default False
        Whether all other columns may hold sets instead.

    Returns
    -------
    frame : data frame or array
        The table, unchanged if it holds no sets.
    separator : str or None
        What is between the labels in the texts; None if there are no sets.

    Raises
    ------
    RatingsError
        The separator is not a text, or a label in a list holds it.
    """
    if separator is not None and not (isinstance(separator, str) and separator):
        rule, remedy = "it must be the text between two labels", 'Pass a text such as ";".'
        raise RatingsError([Fault("separator", rule, shown(separator), remedy)])
    if isinstance(frame, np.ndarray) and frame.ndim == 2:
        frame = pd.DataFrame(frame) if separator or frame.dtype == object else frame
    if isinstance(frame, np.ndarray):
        return frame, separator
    try:
        eager = as_eager(frame)
    except RatingsError:  # which is raised again when columns are read
        return frame, separator
    columns = [
        eager.get_column(name)
        for name in eager.columns
        if (name in names) != are_left_out
        and (separator is not None or _holds_lists(eager.get_column(name)))
    ]
    if not columns:
        return frame, separator
    between = separator or SEPARATOR
    return _with_columns(eager, {each.name: _joined(each, between) for each in columns}), between


def options_of_sets(
    scale: Scale | None, categories: Iterable[Any] | None, separator: str | None
) -> dict[str, Any]:
    """Return the scale and the categories for ratings that may be sets.

    Parameters
    ----------
    scale : {"nominal", "ordered", "numeric"} or None
        What was asked for; None is nominal for sets.
    categories : iterable or None
        What the user declared; sets become texts.
    separator : str or None
        What is between the labels; None if ratings are no sets.

    Returns
    -------
    dict
        Both, by name.
    """
    if separator is None:
        return {"scale": scale, "categories": categories}
    if isinstance(categories, Iterable) and not isinstance(categories, (str, bytes, Set)):
        categories = [joined_labels(each, separator, "categories") for each in categories]
    return {"scale": scale or "nominal", "categories": categories}


def joined_labels(value: Any, separator: str, place: str) -> str:
    """Write a set of labels as a text.

    Parameters
    ----------
    value : list, set, text or number
        The labels; a number is a single one.
    separator : str
        What is between the labels of a text.
    place : str
        Where the value is, for messages.

    Returns
    -------
    str
        The distinct labels, sorted.

    Raises
    ------
    RatingsError
        A label of a list holds the separator.
    """
    if not isinstance(value, LISTS):
        return _text(label_set(_label(value), separator), separator)
    if not all(isinstance(each, (str, bool, *NUMBERS)) for each in value):
        rule = "each value must be a single text, number, bool or category, or a list of such"
        remedy = "Replace the others by one of these."
        raise RatingsError([Fault(place, rule, shown(value), remedy)])
    labels = {_label(each) for each in value} - {""}
    for label in labels:
        if separator in label:
            rule = f"no label may hold the separator {separator!r}"
            remedy = "Pass separator=... with a text that is in none of them."
            raise RatingsError([Fault(place, rule, shown(label), remedy)])
    return _text(labels, separator)


def label_set(text: str, separator: str) -> frozenset[str]:
    """Read a set of labels.

    Parameters
    ----------
    text : str
        The labels.
    separator : str
        What is between them.

    Returns
    -------
    frozenset of str
        The labels, without spaces around them.
    """
    if text == NO_LABEL:
        return frozenset()
    return frozenset(each.strip() for each in text.split(separator)) - {""}


def _text(labels: Collection[str], separator: str) -> str:
    return separator.join(sorted(labels)) if labels else NO_LABEL


def _label(value: Any) -> str:
    """A number as it would be written, and any other label without spaces around it."""
    is_whole = isinstance(value, (float, np.floating)) and float(value).is_integer()
    return str(int(value)) if is_whole else str(value).strip()


def _holds_lists(series: nw.Series[Any]) -> bool:
    if isinstance(series.dtype, (nw.List, nw.Array)):
        return True
    native = series.to_native()
    if getattr(getattr(native, "dtype", None), "kind", None) != "O":
        return False
    kind = pd.api.types.infer_dtype(native, skipna=True)
    return kind == "mixed" and bool(pd.Series(native).map(type).isin(LISTS).any())


def _joined(series: nw.Series[Any], separator: str) -> list[str | None]:
    """Lists are joined one by one, and each distinct text once."""
    join = partial(joined_labels, separator=separator, place=str(series.name))
    values = pd.Series(series.to_list(), dtype=object)
    is_list = values.map(type).isin(LISTS)
    values[is_list] = values[is_list].map(join)
    codes, distinct = pd.factorize(values)
    texts = [join(value) for value in distinct]
    found: list[str | None] = np.array([*texts, None], dtype=object)[codes].tolist()
    return found


def _with_columns(frame: nw.DataFrame[Any], texts: dict[Any, list[str | None]]) -> Any:
    native = frame.to_native()
    if isinstance(native, pd.DataFrame):
        columns = {name: pd.Series(each, native.index, object) for name, each in texts.items()}
        parts = [columns.get(name, native[name]) for name in native.columns]
        return pd.concat(parts, axis=1, keys=native.columns)
    backend = frame.implementation
    new = [nw.new_series(name, each, nw.String, backend=backend) for name, each in texts.items()]
    return frame.with_columns(*new).to_native()
