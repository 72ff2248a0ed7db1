"""The named columns of the user's data frame, and the faults of its structure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from typing import Any

import narwhals as nw
import numpy as np
from narwhals.exceptions import DuplicateError

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.facets import ROLES, argument, arguments
from reliabayes.wording import did_you_mean, listed

# Names of the roles in other fields, used only to suggest columns in messages.
ALIASES: Mapping[str, tuple[str, ...]] = {
    "item": ("subject", "task", "unit", "example", "question", "document", "target", "ad"),
    "rater": (
        "who",
        "worker",
        "annotator",
        "coder",
        "judge",
        "labeler",
        "labeller",
        "user",
        "model",
    ),
    "rating": ("score", "label", "response", "answer", "value", "vote", "category"),
}


def named_columns(frame: Any, roles: Mapping[str, str | None]) -> dict[str, nw.Series[Any]]:
    """Return the columns of a data frame by their roles.

    Parameters
    ----------
    frame : data frame, N rows
        The user's table.
    roles : mapping from str to str or None
        Names of the columns by role; None for a role that the table does not have.

    Returns
    -------
    dict from str to narwhals Series
        The column of each role that is not None.

    Raises
    ------
    RatingsError
        If it is not a table in memory, or columns are missing or ambiguous; lists all faults.
    """
    columns, faults = columns_and_faults(frame, roles)
    if faults:
        raise RatingsError(faults)
    return columns


def columns_and_faults(
    frame: Any, roles: Mapping[str, str | None]
) -> tuple[dict[str, nw.Series[Any]], list[Fault]]:
    """Return the columns that a data frame has, and the faults of those that it has not.

    Parameters
    ----------
    frame : data frame, N rows
        The user's table.
    roles : mapping from str to str or None
        Names of the columns by role; None for a role that the table does not have.

    Returns
    -------
    columns : dict from str to narwhals Series
        The column of each role that is there.
    faults : list of Fault
        Empty if all are there.

    Raises
    ------
    RatingsError
        If it is not a table in memory.
    """
    eager = as_eager(frame)
    named = {role: name for role, name in roles.items() if name is not None}
    faults = role_faults(list(eager.columns), named)
    missing = [role for role, name in named.items() if not _is_name(name, eager.columns)]
    if missing:
        faults.append(_missing_columns(eager, named, missing))
    there = {role: name for role, name in named.items() if role not in missing}
    return {role: eager.get_column(name) for role, name in there.items()}, faults


def _is_name(name: Any, columns: Sequence[Any]) -> bool:
    """Whether a column has this name; False is not the name of column 0, though they are equal."""
    if isinstance(name, bool):
        return any(name is column for column in columns)
    return name in columns


def as_eager(frame: Any) -> nw.DataFrame[Any]:
    """Wrap a data frame with narwhals.

    Parameters
    ----------
    frame : data frame
        The user's table.

    Returns
    -------
    narwhals DataFrame
        The same table.

    Raises
    ------
    RatingsError
        If it is not a table in memory, or if columns share a name.
    """
    rule = "it must be a table in memory, for example from pandas, polars or pyarrow"
    native = as_narwhals(frame)
    if isinstance(native, nw.DataFrame):
        return native
    if isinstance(native, nw.LazyFrame):
        remedy = "Call .collect() on it first."
        raise RatingsError([Fault("frame", rule, "a lazy frame", remedy)])
    remedy = (
        "Pass an items x raters array to Ratings.from_wide."
        if getattr(frame, "ndim", None) == 2
        else "Build a table with one rating per row, for example with pandas.DataFrame(...)."
    )
    raise RatingsError([Fault("frame", rule, f"a {type(frame).__name__}", remedy)])


def as_narwhals(frame: Any) -> Any:
    """Wrap a data frame with narwhals, whether or not it is in memory.

    Parameters
    ----------
    frame : Any
        What should be a data frame.

    Returns
    -------
    narwhals DataFrame or LazyFrame
        The same table; whatever else it is, unchanged.

    Raises
    ------
    RatingsError
        If columns share a name.
    """
    try:
        return nw.from_native(frame, pass_through=True)
    except DuplicateError:
        names = getattr(frame, "column_names", None) or frame.columns
        raise RatingsError(repeated_name_faults(list(names))) from None


def role_faults(columns: Sequence[str], named: Mapping[str, str]) -> list[Fault]:
    """Return the faults of column names: one column in two roles, or two columns of one name.

    Parameters
    ----------
    columns : sequence of str
        The names of the table's columns.
    named : mapping from str to str
        The name of the column of each role.

    Returns
    -------
    list of Fault
        Empty if all is well.
    """
    uses = Counter(named.values())
    twice = [
        Fault(
            place=" and ".join(
                {argument(role): 0 for role, other in named.items() if other == name}
            ),
            rule="each role must have a column of its own",
            found=f"{name!r} named for {uses[name]} roles",
            remedy=f"Name another column; the table has {listed(columns, 20)}.",
        )
        for name in uses
        if uses[name] > 1
    ]
    return twice + repeated_name_faults([name for name in columns if name in uses])


def refuse_comment(line: str, header: Sequence[str], names: Collection[str]) -> None:
    """Refuse a comment above the header of a text file.

    Parameters
    ----------
    line : str
        The first line that is not empty.
    header : sequence of str
        Its fields.
    names : collection of str
        Columns that a user has named. A line that has one of them is a header.

    Raises
    ------
    RatingsError
        If the line is a comment.
    """
    if header[0].lstrip().startswith("#") and not set(names) & set(header):
        rule, remedy = "the first line must name the columns", "Remove the lines above the header."
        raise RatingsError([Fault("header", rule, f"the comment {line.strip()!r}", remedy)])


def repeated_name_faults(columns: Sequence[Any]) -> list[Fault]:
    """Return a fault if columns share a name.

    Parameters
    ----------
    columns : sequence
        The names of the columns.

    Returns
    -------
    list of Fault
        One fault, or none.
    """
    repeated = [name for name, n in Counter(columns).items() if n > 1]
    if not repeated:
        return []
    found = f"{listed(repeated)} more than once"
    return [Fault("columns", "their names must be unique", found, "Rename or drop the others.")]


def _missing_columns(
    frame: nw.DataFrame[Any], named: Mapping[str, str], missing: Sequence[str]
) -> Fault:
    absent = arguments({role: named[role] for role in missing})
    return Fault(
        place="columns",
        rule=f"the table must have the columns that were named ({absent})",
        found=f"only {listed(frame.columns, 20)}",
        remedy=_columns_remedy(frame, named, missing),
    )


def _columns_remedy(
    frame: nw.DataFrame[Any], named: Mapping[str, str], missing: Sequence[str]
) -> str:
    index_names = set(getattr(getattr(frame.to_native(), "index", None), "names", ()))
    if index_names.issuperset(named[role] for role in missing):
        return "These names are in the index; call .reset_index() first."
    free = [name for name in frame.columns if name not in named.values()]
    guesses = {role: did_you_mean(named[role], free, ALIASES.get(role, ())) for role in missing}
    likely = {role: guess for role, guess in guesses.items() if guess is not None}
    may_be_wide = {"rater", "rating"} <= set(missing) and "rating" not in likely
    if may_be_wide and (raters := _columns_of_one_range(frame, free)):
        return (
            f"The columns {listed(raters)} hold numbers in about the same range. If the table is "
            'wide, with one column per rater, use Ratings.from_wide, or shape="wide" for a file.'
        )
    others = [role for role in missing if role not in likely]
    facets = {role: name for role, name in named.items() if role not in (*ROLES, *others)}
    are_guessed = not facets.keys().isdisjoint(likely)
    guessed = arguments((facets if are_guessed else {}) | likely, named)
    unknown = ", ".join({f"{argument(role)}=...": 0 for role in others})
    if not guessed:
        which = "columns they are" if len(missing) > 1 else "column it is"
        return f"Say which {which}: {unknown}"
    return f"Did you mean {guessed}?" + (
        f" Say also which are the others: {unknown}" if unknown else ""
    )


def _columns_of_one_range(frame: nw.DataFrame[Any], names: Sequence[str]) -> list[str]:
    """Return the numeric columns if there are several with about the same range."""
    schema = frame.schema  # made anew by each access
    numeric = [name for name in names if schema[name].is_numeric()]
    columns = [frame.get_column(name).drop_nulls().to_numpy() for name in numeric]
    known = [column for column in columns if np.isfinite(column).any()]
    if len(known) < 2:
        return []
    lows = [np.nanmin(column) for column in known]
    highs = [np.nanmax(column) for column in known]
    widest = max(np.subtract(highs, lows))
    return numeric if max(highs) - min(lows) <= 3 * widest else []
