"""How a table is read: its columns, which are guessed and can be changed, and options."""

from __future__ import annotations

from dataclasses import asdict, dataclass, field, fields
from typing import Any

from reliabayes.app.given import Given
from reliabayes.choices import Decimal, Missing, Replicates, Scale, Shape, Twins
from reliabayes.ratings import Ratings
from reliabayes.ratings.column_guess import guess_columns
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.reading import read_ratings
from reliabayes.ratings.role_names import name_suits
from reliabayes.ratings.table_shape import guessed_shape, item_column
from reliabayes.ratings.text_files import typed_sample

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
    """Guess which columns a table has, as `read_ratings` does.

    Parameters
    ----------
    given : Given
        The table.

    Returns
    -------
    Reading
        With the default names, if no columns can be those of items, raters and ratings.

    Raises
    ------
    RatingsError
        The table cannot be read at all.
    """
    rows = given.first_rows.loc[:, ~given.first_rows.columns.duplicated()].rename(columns=str)
    typed = typed_sample(rows) if given.is_text else rows
    roles = {role: role for role in ROLES} | dict.fromkeys(OPTIONAL)
    if len(typed.columns) and guessed_shape(given.columns, roles, lambda: typed) == "wide":
        gold = next((name for name in given.columns if name_suits(name, "gold") == 2), None)
        return Reading(item=str(item_column(typed, "item")), shape="wide", gold=gold)
    table = RawTable(rows.reset_index(drop=True), list)
    guess = guess_columns(table, {role: role for role in ROLES if role in rows})
    if guess is None or not {*guess.arguments} <= {*ROLES, *OPTIONAL, "shape"}:
        return Reading()
    if guess.arguments.get("shape") == "wide" and "rater" in guess.arguments:
        return Reading()
    return Reading(**guess.arguments)
