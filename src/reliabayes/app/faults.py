"""What is wrong with a table, in the words of the package and with the names of the page."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from reliabayes.app.given import Given
from reliabayes.errors import RatingsError

LONGEST = 2_000  # characters of a fault

# What the page calls arguments of `read_ratings`, and their values.
CONTROLS: Mapping[str, tuple[str, Mapping[str, str]]] = {
    "shape": ("Layout", {"long": "one rating per row", "wide": "a column per rater"}),
    "scale": (
        "Kind of ratings",
        {"nominal": "categories", "ordered": "grades", "numeric": "amounts"},
    ),
    "missing": ("Rows without a rating", {"error": "refuse", "drop": "leave out"}),
    "replicates": ("Repeated ratings", {"error": "refuse", "keep": "keep"}),
    "twins": ("Spellings", {"error": "refuse", "join": "join"}),
    "decimal": ("Decimal sign", {".": "point", ",": "comma"}),
    "encoding": ("Encoding", {"utf-8": "UTF-8", "latin-1": "Latin-1", "utf-16": "UTF-16"}),
    "item": ("Item", {}),
    "rater": ("Rater", {}),
    "rating": ("Rating", {}),
    "pool": ("Pool", {}),
    "gold": ("Known answer", {}),
    "facets": ("Further columns", {}),
    "group": ("System", {}),
    "block": ("Prompt", {}),
    "good": ("Better rating", {}),
}


@dataclass(frozen=True)
class ShownFault:
    """A fault, with the lines of the table that it concerns.

    Attributes
    ----------
    text : str
        What must hold, what was found and what to do.
    unit : str
        What the numbers of lines count: ``"line"`` or ``"row"``.
    lines : tuple of pairs of int and str
        Number and content of the first lines; none if the fault is not one of single lines.
    """

    text: str
    unit: str
    lines: tuple[tuple[int, str], ...]


def shown_faults(error: RatingsError, given: Given, sheet: str | None = None) -> list[ShownFault]:
    """The faults of a table as the page shows them.

    Parameters
    ----------
    error : RatingsError
        What reading the table raised.
    given : Given
        The table.
    sheet : str, optional
        The sheet that is read.

    Returns
    -------
    list of ShownFault
    """
    return [
        ShownFault(
            short(str(replace(fault, remedy=with_controls(fault.remedy)))),
            fault.unit,
            tuple(given.lines(fault.rows, fault.unit, sheet)) if fault.rows else (),
        )
        for fault in error.faults
    ]


def with_controls(text: str) -> str:
    """Replace arguments in a text of the package by the controls of the page.

    Parameters
    ----------
    text : str
        Such as ``Pass replicates="keep".``

    Returns
    -------
    str
        Such as ``Choose “Repeated ratings: keep”.``
    """
    text = re.sub(r": frame\.dropna\(.*?\)", "", text)  # what only Python has
    argument = rf"\b([Pp]ass )?\b({'|'.join(CONTROLS)})=(?:[\"']([^\"']*)[\"']|\.\.\.|\[[^\]]*\])"
    return re.sub(argument, _control, text)


def short(text: str) -> str:
    """A text that can be read; values of a table may be as long as the table.

    Parameters
    ----------
    text : str
        Any text.

    Returns
    -------
    str
    """
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]} ... {text[-LONGEST // 2 :]}"


def _control(argument: re.Match[str]) -> str:
    label, values = CONTROLS[argument[2]]
    value = argument[3]
    verb = {"Pass ": "Choose ", "pass ": "choose "}.get(argument[1] or "", "")
    return f"{verb}“{label}{f': {values.get(value, value)}' if value else ''}”"
