"""The columns of a text file or a sheet: texts that are numbers become numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

import pandas as pd

from reliabayes.choices import Decimal, Shape
from reliabayes.ratings.formula_escapes import without_escapes
from reliabayes.ratings.table_shape import item_column, rater_columns
from reliabayes.ratings.text_values import text_ids, text_values

DECIMAL_NOTE = 'The ratings are read with decimal commas; decimal="." reads them as texts.'


class Columns(Protocol):
    """Where columns come from: a text file, or a sheet."""

    def require(self, ids: Sequence[str], values: Sequence[str]) -> None:
        """Refuse columns that cannot be read."""

    def stacked(self, names: Sequence[str], *, are_texts: bool = False) -> pd.Series[Any]:
        """The columns below each other: of type str if they have texts, or are to be texts."""


@dataclass(frozen=True)
class Texts:
    """The columns of a text file."""

    texts: pd.DataFrame

    def require(self, ids: Sequence[str], values: Sequence[str]) -> None:
        """All texts can be read."""

    def stacked(self, names: Sequence[str], *, are_texts: bool = False) -> pd.Series[Any]:
        """The columns below each other, which are texts."""
        return pd.concat([self.texts[name] for name in names], ignore_index=True)


def read_cells(
    whole: pd.DataFrame,
    source: Columns,
    shape: Shape,
    roles: Mapping[str, Any],
    decimal: Decimal | None,
) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Read the columns of a table whose texts may be numbers.

    Parameters
    ----------
    whole : DataFrame
        All columns, to find which are those of items and ratings.
    source : Columns
        The same columns, of which only those that are needed are read.
    shape : {"long", "wide"}
        Whether a row holds one rating, or a column those of a rater.
    roles : mapping from str to str or None
        Names of columns by role or name of facet.
    decimal : {".", ","} or None
        What comes before the decimals of texts that are numbers; None to guess it.

    Returns
    -------
    frame : DataFrame
        The columns that are needed.
    notes : tuple of str
        How they were read.

    Raises
    ------
    RatingsError
        If one of them cannot be read.
    """
    columns = list(whole.columns)
    named = {role: name for role, name in roles.items() if name in columns}
    if shape == "long":
        values = [named[role] for role in ("rating",) if role in named]
        ids = [name for role, name in named.items() if role not in ("rating", "gold")]
    else:
        item = item_column(whole, roles["item"])
        values = rater_columns(columns, item, roles["gold"])
        ids = [] if item is None else [item]
    golds = [named["gold"]] if "gold" in named else []
    source.require(ids, [*values, *golds])
    read, sign = _values(source.stacked(values or columns[:1]), decimal)
    size = len(whole)
    found: dict[str, Any] = {name: _ids(source.stacked([name])) for name in ids}
    for place, name in enumerate(values):
        part = read[place * size : (place + 1) * size]
        found[name] = part.to_numpy() if isinstance(part, pd.Series) else part
    for name in golds:
        are_labels = isinstance(read, pd.Series) and read.dtype == "str"
        cells = source.stacked([name], are_texts=are_labels)
        found[name] = _values(cells, sign, are_labels)[0]
    frame, notes = without_escapes(pd.DataFrame(found))
    is_guess = decimal is None and sign == "," and bool(values)
    return frame, ((DECIMAL_NOTE, *notes) if is_guess else notes)


def _ids(cells: pd.Series[Any]) -> Any:
    return text_ids(cells) if cells.dtype == "str" else cells


def _values(
    cells: pd.Series[Any], decimal: Decimal | None, are_labels: bool = False
) -> tuple[Any, Decimal | None]:
    if cells.dtype != "str":
        return cells, decimal
    return text_values(cells, decimal, are_labels=are_labels)
