"""How a table is read: its columns, which are guessed and can be changed, and options."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields, replace
from typing import Any

import pandas as pd

from reliabayes.app.given import N_SHOWN_ROWS, Given, check_names, short_cell
from reliabayes.choices import Decimal, Missing, Replicates, Scale, Shape, Twins
from reliabayes.ratings import Ratings
from reliabayes.ratings.excel import spelled
from reliabayes.ratings.raw_reading import Outline, outline
from reliabayes.ratings.raw_table import RawTable, is_missing
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.readers.guessing import read_export
from reliabayes.ratings.reading import read_ratings
from reliabayes.ratings.role_names import name_suits
from reliabayes.ratings.table_shape import item_column

ROLES = ("item", "rater", "rating")
OPTIONAL = ("pool", "gold")  # columns that few tables have


@dataclass(frozen=True)
class Reading:
    """Columns and options of a table, named as in `read_ratings`.

    Attributes
    ----------
    item, rater, rating : str
        Names of columns; of a wide table only the first counts.
    pool, gold : str, optional
        Names of columns that a table may have.
    facets : tuple of str
        Names of further columns that describe a rating.
    shape : {"long", "wide"}
        Whether a row holds one rating, or a column those of a rater.
    scale, decimal, replicates, missing, twins, guess
        As for `read_ratings`.
    is_guessed_shape : bool, default False
        Whether the shape is left to `read_ratings`, which may ask about it.
    accepted : mapping from str to Any
        Further arguments of `read_ratings`, those of boxes that were ticked.
    """

    item: str = "item"
    rater: str = "rater"
    rating: str = "rating"
    pool: str | None = None
    gold: str | None = None
    facets: tuple[str, ...] = field(default=())
    shape: Shape = "long"
    scale: Scale | None = None
    decimal: Decimal | None = None
    replicates: Replicates = "error"
    missing: Missing = "error"
    twins: Twins = "error"
    guess: bool = False
    is_guessed_shape: bool = False
    accepted: Mapping[str, Any] = field(default_factory=dict)

    def ratings(self, given: Given) -> Ratings:
        """Read a table.

        Parameters
        ----------
        given : Given
            The table.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            The table breaks a rule. The message lists all faults.
        """
        with given.on_disk() as file:
            return read_ratings(file, **({"encoding": given.encoding} | self.arguments))

    def code(self, given: Given) -> str:
        """Python that reads the table from a file.

        Parameters
        ----------
        given : Given
            The table.

        Returns
        -------
        str
            A call of `read_ratings` with the options that differ from their defaults.
        """
        defaults = {each.name: each.default for each in fields(ReadOptions)}
        changed = {
            name: value
            for name, value in self.arguments.items()
            if value != defaults[name] and (name != "shape" or value == "wide")
        }
        if given.encoding != "utf-8":
            changed.setdefault("encoding", given.encoding)
        file = repr(f"ratings{given.suffix}")
        if not changed:
            return f"rb.read_ratings({file})"
        options = "".join(f"    {name}={value!r},\n" for name, value in changed.items())
        return f"rb.read_ratings(\n    {file},\n{options})"

    def kept(self, head: Head) -> Reading:
        """What stays chosen when the same table is read with other repairs.

        Parameters
        ----------
        head : Head
            The table with these repairs.

        Returns
        -------
        Reading
            This one, if the table still has its columns; otherwise what is guessed of it.
        """
        named = {self.item, self.rater, self.rating} - {*ROLES} | {*self.facets}
        named |= {name for name in (self.pool, self.gold) if name is not None}
        return self if named <= {*head.columns} else head.guess

    @property
    def arguments(self) -> dict[str, Any]:
        """The arguments of `read_ratings`."""
        chosen = asdict(self) | {"facets": list(self.facets) or None, "tidy": True}
        if self.shape == "wide":  # which has no columns of these
            for name in ("rater", "rating", "pool", "facets", "replicates", "missing"):
                del chosen[name]
        if self.is_guessed_shape:
            del chosen["shape"]
        del chosen["is_guessed_shape"], chosen["accepted"]
        return {**chosen, **self.accepted}


@dataclass(frozen=True, eq=False)
class Head:
    """The beginning of a table.

    Attributes
    ----------
    first_rows : DataFrame
        Its first rows as texts, below its header; empty of an export.
    guess : Reading
        How it is probably read.
    """

    first_rows: pd.DataFrame
    guess: Reading

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.first_rows.columns]


def guessed_reading(given: Given, accepted: Mapping[str, Any] | None = None) -> Reading:
    """Guess which columns a table has, as `read_ratings` does.

    Parameters
    ----------
    given : Given
        The table.
    accepted : mapping from str to Any, optional
        Arguments of `read_ratings` that were chosen.

    Returns
    -------
    Reading
        With the default names, if no columns can be those of items, raters and ratings.

    Raises
    ------
    RatingsError
        The table cannot be read at all.
    """
    return head_of(given, accepted or {}).guess


def head_of(given: Given, accepted: Mapping[str, Any]) -> Head:
    """Find the columns of a table and what they mean.

    Parameters
    ----------
    given : Given
        The table.
    accepted : mapping from str to Any
        Arguments of `read_ratings` that were chosen.

    Returns
    -------
    Head

    Raises
    ------
    RatingsError
        The table cannot be read at all.
    """
    defaults = {"encoding": given.encoding, "tidy": True, "guess": True}
    arguments: dict[str, Any] = {**defaults, **accepted}
    options = ReadOptions(**arguments)
    with given.on_disk() as file:
        if read_export(file, options) is not None:
            return Head(pd.DataFrame(), Reading(accepted=accepted))
        found = outline(file, options)
    check_names(found.table.names)
    return Head(_shown(found.table), _reading(found, accepted))


def _shown(table: RawTable) -> pd.DataFrame:
    rows = table.cells.head(N_SHOWN_ROWS).astype(object)
    shown = rows.map(lambda cell: "" if is_missing(cell) else short_cell(spelled(cell)))
    return shown.set_axis(list(map(str, table.names)), axis="columns")


def _reading(found: Outline, accepted: Mapping[str, Any]) -> Reading:
    """The reading that an outline suggests; what is in question is left open."""
    if found.guess is None and found.shape == "wide":
        names = found.table.names
        gold = next((name for name in names if name_suits(name, "gold") == 2), None)
        item = item_column(found.table.cells, "item")
        wide = Reading(shape="wide", gold=gold, is_guessed_shape=True, accepted=accepted)
        return wide if item is None else replace(wide, item=str(item))
    if found.guess is None:
        return Reading(accepted=accepted)
    guess, question = dict(found.guess.arguments), found.guess.question
    is_open = question is not None or not {*guess} <= {*ROLES, *OPTIONAL}
    shape: Shape = guess.get("shape", "long")
    if is_open:
        asked = {*(question.arguments if question is not None else guess)}
        guess = {} if shape == "wide" else {name: guess[name] for name in {*guess} - asked}
        guess = {name: value for name, value in guess.items() if name in (*ROLES, *OPTIONAL)}
    return Reading(**guess, shape=shape, is_guessed_shape=is_open, guess=is_open, accepted=accepted)
