"""How a table is read: its columns, which are guessed and can be changed, and options."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, fields
from typing import Any

import pandas as pd

from reliabayes.app.given import Given
from reliabayes.choices import Decimal, Missing, Replicates, Scale, Shape, Twins
from reliabayes.ratings import Ratings
from reliabayes.ratings.frames import ALIASES
from reliabayes.ratings.reading import read_ratings
from reliabayes.ratings.table_shape import guessed_shape, item_column
from reliabayes.ratings.text_values import text_values

ROLES = ("item", "rater", "rating")
# Names of columns that few tables have; only these are taken for them.
OPTIONAL: Mapping[str, tuple[str, ...]] = {
    "pool": ("pool", "group", "vendor", "team"),
    "gold": ("gold", "truth", "known", "correct"),
}


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
    scale, decimal, replicates, missing, twins
        As for `read_ratings`.
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
            return read_ratings(file, encoding=given.encoding, **self._arguments())

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
        defaults = {each.name: each.default for each in fields(self)} | {"facets": None}
        changed = {
            name: value
            for name, value in self._arguments().items()
            if value != defaults[name] or (name == "shape" and value == "wide")
        }
        if given.encoding != "utf-8":
            changed["encoding"] = given.encoding
        file = repr(f"ratings{given.suffix}")
        if not changed:
            return f"rb.read_ratings({file})"
        options = "".join(f"    {name}={value!r},\n" for name, value in changed.items())
        return f"rb.read_ratings(\n    {file},\n{options})"

    def _arguments(self) -> dict[str, Any]:
        chosen = asdict(self) | {"facets": list(self.facets) or None}
        if self.shape == "wide":  # which has no columns of these
            for name in ("rater", "rating", "pool", "facets", "replicates", "missing"):
                del chosen[name]
        return chosen


def guessed_reading(given: Given) -> Reading:
    """Guess which columns a table has.

    By names if these are known, otherwise by values: of the columns left, most distinct values are
    those of items, and numbers are ratings.

    Parameters
    ----------
    given : Given
        The table.

    Returns
    -------
    Reading

    Raises
    ------
    RatingsError
        The table cannot be read at all.
    """
    rows = given.first_rows.loc[:, ~given.first_rows.columns.duplicated()].rename(columns=str)
    if given.is_text:
        rows = pd.DataFrame({name: text_values(rows[name])[0] for name in rows})
    roles = {role: role for role in ROLES} | dict.fromkeys(OPTIONAL)
    if len(rows.columns) and guessed_shape(given.columns, roles, lambda: rows) == "wide":
        gold = _named(given.columns, OPTIONAL["gold"])
        return Reading(item=str(item_column(rows, "item")), shape="wide", gold=gold)
    return Reading(**_by_role(rows))


def _by_role(rows: pd.DataFrame) -> dict[str, Any]:
    columns = list(rows.columns)
    found = {role: _named(columns, (role, *ALIASES[role])) for role in ROLES}
    found |= {role: _named(columns, names) for role, names in OPTIONAL.items()}
    left = [name for name in columns if name not in found.values()]
    for role in ("rating", "item", "rater"):
        if found[role] is None and left:
            best = max(left, key=lambda name: _suits(rows[name], role))
            found[role] = best
            left.remove(best)
    return {role: name or role for role, name in found.items() if name or role in ROLES}


def _suits(values: Any, role: str) -> tuple[bool, int]:
    """How well values suit a role: ratings are numbers, and few; ids are many."""
    distinct = values.astype(str).nunique()
    if role == "rating":
        return pd.api.types.is_numeric_dtype(values) and not values.is_unique, -distinct
    return True, distinct


def _named(columns: Sequence[str], names: Sequence[str]) -> str | None:
    """The first column with one of these names, alone or with ``_id`` at its end."""
    for name in names:
        for column in columns:
            if column.strip().lower() in (name, f"{name}_id", f"{name} id", f"{name}s"):
                return column
    return None
