"""The arguments of `read_ratings`, as one object."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from reliabayes.choices import (
    Decimal,
    Duplicates,
    Format,
    Missing,
    Replicates,
    Scale,
    Shape,
    Twins,
)
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import NEEDED, check_arguments, check_file_options
from reliabayes.ratings.facets import ROLES, Facets, facet_columns
from reliabayes.wording import shown

FLAGS = ("tidy", "guess", "percent")
DEFAULT_COLUMNS: Mapping[str, str] = {role: role for role in NEEDED}


@dataclass(frozen=True, kw_only=True)
class ReadOptions:
    """How a file is read; each attribute but the last is an argument of `read_ratings`.

    Attributes
    ----------
    only_rater : str, optional
        Of one of several files that are read as one table: who rated, if no column says so. Its
        raters need not be comparable, and arguments apply as far as they suit the file.
    """

    item: str = "item"
    rater: str = "rater"
    rating: str = "rating"
    pool: str | None = None
    gold: str | None = None
    facets: Facets | None = None
    group: str | None = None
    block: str | None = None
    format: Format | None = None
    question: str | None = None
    separator: str | None = None
    scale: Scale | None = None
    categories: Any = None
    replicates: Replicates = "error"
    missing: Missing = "error"
    twins: Twins = "error"
    duplicates: Duplicates = "error"
    shape: Shape | None = None
    delimiter: str | None = None
    decimal: Decimal | None = None
    encoding: str = "utf-8"
    tidy: bool = False
    guess: bool = False
    sheet: str | None = None
    header: int | Sequence[int] | None = None
    drop_rows: Sequence[int] | None = None
    drop_columns: Sequence[str] | None = None
    na: Sequence[Any] | None = None
    percent: bool = False
    only_rater: str | None = None

    @property
    def is_part(self) -> bool:
        """Whether the file is one of several that are read as one table."""
        return self.only_rater is not None

    def check(self) -> None:
        """Refuse arguments that mean nothing.

        Raises
        ------
        RatingsError
            Lists them.
        """
        check_file_options(self.delimiter, self.encoding, self.decimal, self.shape)
        check_arguments(
            self.roles,
            scale=self.scale,
            categories=self.categories,
            replicates=self.replicates,
            missing=self.missing,
            twins=self.twins,
            duplicates=self.duplicates,
            facets=self.facets,
            needed=NEEDED,
        )
        if faults := [*self._faults()]:
            raise RatingsError(faults)

    def _faults(self) -> list[Fault]:
        faults = [
            Fault(name, "it must be True or False", shown(value), "Pass True.")
            for name in FLAGS
            if not isinstance(value := getattr(self, name), bool)
        ]
        if not isinstance(self.sheet, (str, type(None))):
            rule, remedy = "it must be the name of a sheet", 'Pass sheet="ratings", for example.'
            faults.append(Fault("sheet", rule, shown(self.sheet), remedy))
        for name in ("header", "drop_rows"):
            value = getattr(self, name)
            numbers = [value] if name == "header" and _is_whole(value) else value
            is_list = isinstance(numbers, (list, tuple, range)) and all(map(_is_whole, numbers))
            if numbers is not None and not (is_list and (len(numbers) or name == "drop_rows")):
                rule, remedy = "it must be numbers of lines or rows", f"Pass {name}=[2]."
                faults.append(Fault(name, rule, shown(value), remedy))
        for name in ("drop_columns", "na"):
            value = getattr(self, name)
            if value is not None and not isinstance(value, (list, tuple)):
                rule, remedy = "it must be a list", f'Pass {name}=["..."], for example.'
                faults.append(Fault(name, rule, shown(value), remedy))
        return faults

    @property
    def roles(self) -> dict[str, Any]:
        """Names of columns by role."""
        return {role: getattr(self, role) for role in ROLES}

    @cached_property
    def columns(self) -> dict[str, Any]:
        """Names of columns by role, and by the names of facets."""
        return {**self.roles, **facet_columns(self.facets)}

    @property
    def named(self) -> dict[str, str]:
        """The columns that must be there if each row holds one rating."""
        return {role: name for role, name in self.columns.items() if name is not None}

    @property
    def are_labels(self) -> bool:
        """Whether ratings were declared to be categories, so that no text is a number."""
        return self.scale in ("nominal", "ordered") or self.categories is not None


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
