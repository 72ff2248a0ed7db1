"""Checks of the arguments of the ways in, before any table is looked at."""

from __future__ import annotations

import sys
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, get_args

from narwhals.exceptions import NarwhalsError

from reliabayes.choices import Decimal, Duplicates, Missing, Replicates, Scale, Shape, Twins
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.facets import facet_faults, is_column_name
from reliabayes.wording import listed, shown

NEEDED = ("item", "rater", "rating")  # columns of a long table


def check_arguments(
    roles: Mapping[str, Any],
    *,
    scale: Any,
    categories: Any,
    replicates: Any = "error",
    missing: Any = "error",
    twins: Any = "error",
    duplicates: Any = "error",
    facets: Any = None,
    needed: Collection[str] = (),
) -> None:
    """Refuse arguments that mean nothing.

    Parameters
    ----------
    roles : mapping from str to Any
        Names of columns by role.
    scale, categories, replicates, missing, twins, facets : Any
        As of `Ratings.from_frame`.
    duplicates : Any
        As of `read_ratings`.
    needed : collection of str
        Roles that must have a column.

    Raises
    ------
    RatingsError
        Lists all of them.
    """
    choices = {
        "scale": (scale, (None, *get_args(Scale))),
        "replicates": (replicates, get_args(Replicates)),
        "missing": (missing, get_args(Missing)),
        "twins": (twins, get_args(Twins)),
        "duplicates": (duplicates, get_args(Duplicates)),
    }
    faults = _choice_faults(choices)
    faults += [
        Fault(role, "it must be the name of a column", shown(name), "Name one column.")
        for role, name in roles.items()
        if (name is None and role in needed) or not is_column_name(name)
    ]
    faults += [*_category_faults(categories), *facet_faults(facets)]
    if faults:
        raise RatingsError(faults)


@contextmanager
def value_errors_as_faults() -> Iterator[None]:
    """Turn errors of libraries about single values into a fault.

    Raises
    ------
    RatingsError
        A number is too large for any type, or a text or object cannot be a label.
    """
    try:
        yield
    except Exception as error:
        if not is_about_values(error):
            raise
        rule = "each value must be a text, a number that a float can hold, a bool or a category"
        remedy = "Replace values of other kinds, for example with .astype(str)."
        raise RatingsError([Fault("table", rule, f"this: {error}", remedy)]) from error


def is_about_values(error: Exception) -> bool:
    """Whether a library says with this error that it cannot take some values, or their type.

    Parameters
    ----------
    error : Exception
        What pandas, polars, pyarrow or narwhals raised.

    Returns
    -------
    bool
    """
    if isinstance(error, RatingsError):
        return False
    if isinstance(error, (OverflowError, TypeError, ValueError, NotImplementedError)):
        return True
    polars = sys.modules.get("polars")
    others = () if polars is None else (polars.exceptions.PolarsError,)
    return isinstance(error, (NarwhalsError, *others))


def _choice_faults(choices: Mapping[str, tuple[Any, Collection[Any]]]) -> list[Fault]:
    """A fault for each argument that is none of those allowed."""
    return [
        Fault(name, f"it must be one of {listed(allowed)}", shown(value), "Pass one of them.")
        for name, (value, allowed) in choices.items()
        if not isinstance(value, (str, type(None))) or value not in allowed
    ]


def _category_faults(categories: Any) -> Iterator[Fault]:
    if categories is None:
        return
    rule, remedy = "it must list the categories", 'Pass a list such as ["no", "yes"].'
    if isinstance(categories, (str, bytes)) or not isinstance(categories, Iterable):
        yield Fault("categories", rule, shown(categories), remedy)
    elif isinstance(categories, (set, frozenset)):
        rule += " in their order, and a set has none"
        yield Fault("categories", rule, f"a set of {len(categories)}", remedy)


def check_file_options(delimiter: Any, encoding: Any, decimal: Any, shape: Any) -> None:
    """Refuse a delimiter or an encoding that no text can have, and words that mean nothing.

    Parameters
    ----------
    delimiter, encoding, decimal, shape : Any
        As of `read_ratings`.

    Raises
    ------
    RatingsError
        Lists all of them, if need be.
    """
    choices = {"decimal": (decimal, get_args(Decimal)), "shape": (shape, get_args(Shape))}
    faults = _choice_faults({name: pair for name, pair in choices.items() if pair[0] is not None})
    is_character = isinstance(delimiter, str) and len(delimiter) == 1 and delimiter not in '"\r\n\0'
    if delimiter is not None and not is_character:
        rule = "it must be one character, and no quote or line end"
        faults.append(
            Fault("delimiter", rule, shown(delimiter), 'Pass delimiter=";", for example.')
        )
    if reason := why_no_encoding(encoding):
        rule, remedy = "it must name an encoding of text", 'Pass encoding="latin-1", for example.'
        faults.append(Fault("encoding", rule, f"{shown(encoding)} ({reason})", remedy))
    if faults:
        raise RatingsError(faults)


def why_no_encoding(name: Any) -> str:
    """Why this is not the name of an encoding of text.

    Parameters
    ----------
    name : Any
        What should be one.

    Returns
    -------
    str
        The reason; empty if it is one.
    """
    if not isinstance(name, str):
        return f"a {type(name).__name__}"
    try:
        "a".encode(name)
    except (LookupError, ValueError) as error:  # no such encoding, or not one of text
        return str(error)
    return ""
