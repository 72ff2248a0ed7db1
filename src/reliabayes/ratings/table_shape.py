"""The shape of a table in a file: one rating per row, or a column per rater."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.choices import Shape
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.facets import ROLES, argument
from reliabayes.ratings.frames import ALIASES
from reliabayes.ratings.shape_checks import ID_NAMES
from reliabayes.wording import listed, shown

MOST_RATERS = 1000  # columns of a table that is taken for wide without being asked
MOST_CATEGORIES = 20  # that columns of texts may have together to look like ratings


def guessed_shape(
    columns: Sequence[Any], roles: Mapping[str, Any], sample: Callable[[], pd.DataFrame]
) -> Shape:
    """Whether a table is obviously wide.

    It is if no column has the name of raters, ratings or pools, one holds the items, and all others
    have values of the same kind.

    Parameters
    ----------
    columns : sequence
        Names of the columns.
    roles : mapping from str to str or None
        Names of the columns of item, rater, rating, pool and gold that were asked for.
    sample : callable
        Returns the first rows; called if the names leave it open.

    Returns
    -------
    {"long", "wide"}
    """
    names = {str(name).strip().lower() for name in columns}
    others = {name for role in ("rater", "rating") for name in (role, *ALIASES[role])}
    was_named = (roles["rater"], roles["rating"]) != ("rater", "rating")
    was_named |= any(roles.get(role) is not None for role in ("pool", "group", "block"))
    was_named |= any(role not in ROLES for role in roles)  # facets
    if was_named or names & others or not len(names) == len(columns) <= MOST_RATERS:
        return "long"
    rows = sample()
    item = item_column(rows, roles["item"])
    raters = rater_columns(list(rows.columns), item, roles["gold"])
    is_wide = item is not None and len(raters) >= 2 and are_alike(rows[raters])
    return "wide" if is_wide else "long"


def item_column(rows: pd.DataFrame, named: str | None) -> Any | None:
    """The column of the items of a wide table.

    Parameters
    ----------
    rows : DataFrame
        Rows of the table.
    named : str or None
        The name that was asked for.

    Returns
    -------
    Any or None
        The column of that name; or else the first, if its name is one of ids, or if it holds texts
        that are all different and in no other column; or else None.
    """
    if named in rows.columns:
        return named
    first = rows.columns[0]
    texts = rows[first].astype(object)
    is_id = str(first).strip().lower() in (*ID_NAMES, "")
    if not is_id and texts.is_unique and pd.to_numeric(texts, errors="coerce").isna().all():
        is_id = not rows.drop(columns=first).isin(list(texts)).any(axis=None)
    return first if is_id and len(rows) else None


def rater_columns(columns: Sequence[Any], item: Any, gold: Any) -> list[Any]:
    """The columns of a wide table that hold ratings: all but those of items and gold."""
    return [name for name in columns if name not in (item, gold)]


def refuse_long_options(roles: Mapping[str, Any], columns: Sequence[Any]) -> None:
    """Refuse columns of raters, ratings, pools, groups, blocks or facets in a wide table.

    Parameters
    ----------
    roles : mapping from str to str or None
        Names of the columns of item, rater, rating, pool and gold that were asked for.
    columns : sequence
        Names of all columns.

    Raises
    ------
    RatingsError
        If there is one.
    """
    defaults = {"rater": "rater", "rating": "rating", "pool": None, "group": None, "block": None}
    defaults |= {name: None for name in roles if name not in ROLES}
    faults = [
        Fault(
            place=argument(role),
            rule="a wide table has a column for each rater, and none for this",
            found=shown(roles[role]),
            remedy='Leave it out, or pass shape="long" if each row holds one rating.',
        )
        for role, default in defaults.items()
        if roles[role] != default
    ]
    if roles["gold"] is not None and roles["gold"] not in columns:
        rule, remedy = "it must name a column", f"The table has {listed(columns, 20)}."
        faults.append(Fault("gold", rule, shown(roles["gold"]), remedy))
    if faults:
        raise RatingsError(faults)


def note_on_shape(raters: Sequence[Any]) -> str:
    """What was guessed about a wide table, in a sentence."""
    return (
        f"The table is read as wide, with a column for each of {len(raters)} raters: "
        f'{listed(raters)}; shape="long" reads one rating per row.'
    )


def are_alike(cells: pd.DataFrame) -> bool:
    """Whether columns hold numbers of about one range, or the same few texts."""
    values = [cells[name].dropna() for name in cells.columns]
    values = [column for column in values if len(column)]
    if len(values) < 2:
        return False
    if all(pd.api.types.is_numeric_dtype(column) for column in values):
        lows, highs = [x.min() for x in values], [x.max() for x in values]
        return bool(max(highs) - min(lows) <= 3 * max(np.subtract(highs, lows)))
    if any(pd.api.types.is_numeric_dtype(column) for column in values):
        return False
    texts = [set(column.astype(str).str.strip().str.casefold()) for column in values]
    most = set.union(*texts)
    return len(most) <= MOST_CATEGORIES and all(
        any(one & other for other in texts if other is not one) for one in texts
    )
