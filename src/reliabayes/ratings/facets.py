"""Facets: columns, besides item and rater, that describe how a rating came about."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, TypeAlias, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.wording import joined, listed, shown

Value = TypeVar("Value", bound="npt.NDArray[Any] | pd.Index[Any]")
Facets: TypeAlias = Sequence[str] | Mapping[str, str]

ROLES = ("item", "rater", "rating", "pool", "gold", "group", "block")
RESERVED = (*ROLES, "replicate", "residual")


class ByFacet(Mapping[str, Value]):
    """A value for each facet, in the order of the facets; neither it nor its arrays change.

    Parameters
    ----------
    values : mapping from str to array or Index
        The values by the names of the facets.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Mapping[str, Value]) -> None:
        self._values = dict(values)
        for value in self._values.values():
            if isinstance(value, np.ndarray):
                value.setflags(write=False)

    def __getitem__(self, name: str) -> Value:
        return self._values[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._values)

    def __len__(self) -> int:
        return len(self._values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ByFacet):
            return NotImplemented
        return list(self) == list(other) and all(
            np.array_equal(value, other[name]) for name, value in self.items()
        )

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return repr(self._values)


NO_FACETS: ByFacet[Any] = ByFacet({})


def facet_columns(facets: Any) -> dict[str, Any]:
    """Return the column of each facet.

    Parameters
    ----------
    facets : sequence of str, mapping from str to str, or None
        Columns; or columns by the names that the facets are to have. `facet_faults` finds none.

    Returns
    -------
    dict from str to Any
        Columns by the names of the facets.
    """
    if facets is None:
        return {}
    pairs = facets.items() if isinstance(facets, Mapping) else ((name, name) for name in facets)
    return {str(name): column for name, column in pairs}  # NumPy has texts of its own


def facet_faults(facets: Any) -> Iterator[Fault]:
    """Yield the faults of what should say which columns are facets.

    Parameters
    ----------
    facets : Any
        As of `Ratings.from_frame`.
    """
    if facets is None:
        return
    rule, remedy = "it must list columns", "Pass facets=['occasion'], for example."
    if isinstance(facets, (str, bytes)) or not isinstance(facets, Collection):
        if isinstance(facets, str):
            remedy = f"Pass facets=[{facets!r}]."
        yield Fault("facets", rule, shown(facets), remedy)
        return
    if isinstance(facets, (set, frozenset)):
        rule += " in their order, and a set has none"
        yield Fault("facets", rule, f"a set of {len(facets)}", remedy)
        return
    pairs = dict(facets).items() if isinstance(facets, Mapping) else [(x, x) for x in facets]
    for name, column in pairs:
        if not is_column_name(column) or column is None:
            rule, remedy = "it must list names of columns", "Name one column each."
            yield Fault("facets", rule, shown(column), remedy)
        elif not isinstance(name, str) or not name.strip():
            rule, remedy = (
                "the name of a facet must be a text",
                f"Pass facets={{'name': {column!r}}}.",
            )
            yield Fault("facets", rule, shown(name), remedy)
        elif name in RESERVED:
            rule = f"a facet must not be called {', '.join(RESERVED[:-1])} or {RESERVED[-1]}"
            remedy = f"Pass facets={{'another name': {column!r}}}."
            yield Fault("facets", rule, shown(name), remedy)
    names = [name for name, _ in pairs if isinstance(name, str)]
    if twice := [name for name, times in Counter(names).items() if times > 1]:
        rule, remedy = "each must have a name of its own", "Name each column once."
        yield Fault("facets", rule, f"{listed(twice)} more than once", remedy)


def is_column_name(name: Any) -> bool:
    """Whether this can name a column; pandas has names that are numbers or tuples, too."""
    if isinstance(name, (float, bytes)):
        return False
    try:
        hash(name)
        return bool(name == name)  # missing values do not equal themselves
    except TypeError:
        return False


def argument(role: str) -> str:
    """Return the argument that names the column of a role or a facet."""
    return role if role in ROLES else "facets"


def arguments(columns: Mapping[str, Any], named: Mapping[str, Any] | None = None) -> str:
    """Return columns as a call would name them.

    Parameters
    ----------
    columns : mapping from str to Any
        Columns by role, and by the names of facets.
    named : mapping from str to Any, optional
        The columns that the user named; facets called like those are called like the new ones.

    Returns
    -------
    str
        Such as ``item='ad', facets=['day', 'prompt']``.
    """
    parts = [f"{role}={name!r}" for role, name in columns.items() if role in ROLES]
    facets = {name: column for name, column in columns.items() if name not in ROLES}
    if facets:
        known = columns if named is None else named
        are_listed = all(name == known[name] for name in facets)
        parts.append(f"facets={list(facets.values()) if are_listed else facets!r}")
    return ", ".join(parts)


def facets_in_words(facets: Mapping[str, pd.Index[Any]]) -> str:
    """Return facets, if any, with numbers of levels, such as ``, facets day (2) and form (3)``."""
    if not facets:
        return ""
    names = joined([f"{name} ({len(ids)})" for name, ids in facets.items()])
    return f", facet{'s' * (len(facets) > 1)} {names}"
