"""Which columns hold items, raters and ratings, by their names, types and numbers of values."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from operator import itemgetter
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.raw_table import RawTable
from reliabayes.ratings.role_names import (
    ABOUT_RESPONSES,
    RESPONDENTS,
    compact,
    is_summary,
    name_suits,
)
from reliabayes.ratings.table_shape import MOST_RATERS, are_alike
from reliabayes.ratings.value_repairs import AMOUNT, lenient_sample
from reliabayes.wording import joined

N_ROWS = 5000  # that are looked at
MANY = 20  # rows from which on a column whose values hardly repeat holds no ratings
FEW = 12  # values that categories or grades have at most
MOST_COLUMNS = 12  # of which all combinations are compared
BY_NAME = 6  # points for a name of the role; a name that has one in it gets half
CLOSE = 1.0  # points by which the best guess must be ahead


@dataclass(frozen=True)
class Guess:
    """How a table is probably read.

    Attributes
    ----------
    arguments : mapping from str to Any
        Arguments of `read_ratings`.
    question : Fault, optional
        What must be answered first, because two guesses are close.
    """

    arguments: Mapping[str, Any]
    question: Fault | None = None

    @property
    def sentence(self) -> str:
        """What is guessed, for a sentence that begins with "it"."""
        roles = [f"{name} as {role}" for role, name in self.arguments.items() if role in ROLES]
        dropped = self.arguments.get("drop_columns")
        parts = [f"takes column {joined(roles)}"] if roles else []
        if self.arguments.get("shape") == "wide":
            what = "item" if "rater" in self.arguments else "rater"
            parts.append(f"reads each other column as {'an' if what == 'item' else 'a'} {what}")
        if dropped:
            parts.append(f"leaves out the columns {joined([*dropped])}")
        return joined(parts)

    @property
    def note(self) -> str:
        """What was guessed, as a sentence."""
        return f"{self.sentence[:1].upper()}{self.sentence[1:]}."


IDS_AND_RATINGS = ("item", "rater", "rating")
ROLES = (*IDS_AND_RATINGS, "pool", "gold")


def guess_columns(table: RawTable, given: Mapping[str, str]) -> Guess | None:
    """Guess what the columns of a table mean.

    Parameters
    ----------
    table : RawTable
        N rows.
    given : mapping from str to str
        Columns that are known, by role.

    Returns
    -------
    Guess or None
        None if no columns can be those of items, raters and ratings.
    """
    if len(table.names) > MOST_RATERS:
        return None
    head = table.of(table.cells.iloc[:N_ROWS])
    columns = [_Column(name, head) for name in head.names]
    if not given and (form := _form(columns)):
        return form
    long, wide = _long(columns, given), None if given else _wide(columns)
    if wide is None or long is None:
        return wide or long
    # A long table has one column of raters and one of ratings; a wide one may have many of each.
    numbers = [sum(name_suits(c.name, role) > 0 for c in columns) for role in ("rater", "rating")]
    return wide if 0 in numbers or max(numbers) > 1 else long


@dataclass(frozen=True, eq=False)
class _Column:
    """What is known of a column of the first rows."""

    name: str
    table: RawTable

    @cached_property
    def coded(self) -> tuple[Any, list[str]]:
        codes, texts = self.table.coded(self.name)
        return codes, [*map(str, texts)]

    @property
    def codes(self) -> Any:
        return self.coded[0]

    @cached_property
    def n_filled(self) -> int:
        return int(np.count_nonzero(self.codes >= 0))

    @property
    def distinct(self) -> int:
        return len(self.coded[1])

    @cached_property
    def share(self) -> float:
        """Distinct values, relative to all."""
        return self.distinct / max(self.n_filled, 1)

    @cached_property
    def are_numbers(self) -> bool:
        texts = self.coded[1]
        return bool(texts) and all(re.fullmatch(NUMBER, text) for text in texts)

    @cached_property
    def are_amounts(self) -> bool:
        """Whether all are numbers, perhaps with units."""
        texts = self.coded[1]
        return bool(texts) and all(AMOUNT.fullmatch(text.strip()) for text in texts)

    @cached_property
    def are_measured(self) -> bool:
        """Whether these are numbers with decimals, or with units."""
        is_whole = all(re.fullmatch(r"[-+]?[0-9]+", text) for text in self.coded[1])
        return self.are_amounts and not is_whole

    @cached_property
    def length(self) -> float:
        """Mean number of characters."""
        return float(np.mean([*map(len, self.coded[1])] or [0]))

    def suits(self, role: str) -> float | None:
        """How many points it has for a role; None if it cannot have it."""
        if self.n_filled == 0 or self.distinct < 2 or is_summary(self.name):
            return None
        by_name = BY_NAME * name_suits(self.name, role) / 2
        if not by_name and any(name_suits(self.name, other) == 2 for other in IDS_AND_RATINGS):
            return None  # its name says that it is something else
        return by_name + values if (values := self._values_suit(role)) is not None else None

    def _values_suit(self, role: str) -> float | None:
        is_unique = self.share > 0.5 and self.n_filled >= (MANY if self.share < 1 else 6)
        if role == "rating":
            is_named_amount = self.are_measured and name_suits(self.name, "rating") == 2
            if (is_unique and not is_named_amount) or self.n_filled < len(self.table) / 2:
                return None
            if self.are_numbers:
                return 3.0 if self.distinct <= FEW else 1.5
            return 2.0 if self.distinct <= FEW else 1.0 if self.are_amounts else 0.0
        is_id = not self.are_measured and self.distinct < len(self.table)
        if not is_id or self.n_filled < 0.9 * len(self.table):
            return None
        if role == "item":
            return 2.0 * self.share + 0.01 * min(self.length, 20)
        return 1.0 * (1 - self.share) + 0.5 * (not self.are_numbers)


def _long(columns: Sequence[_Column], given: Mapping[str, str]) -> Guess | None:
    points = {
        role: {
            c: value
            for c in columns
            if (value := c.suits(role)) is not None
            and (c.name == given[role] if role in given else c.name not in given.values())
        }
        for role in IDS_AND_RATINGS
    }
    doubt = None
    if not points["rating"] and "rating" not in given:
        doubt = next((c for c in columns if name_suits(c.name, "rating")), None)
        points["rating"] = {} if doubt is None else {doubt: 0.0}
    for role in points:
        if role in given and not points[role]:
            points[role] = {c: 0.0 for c in columns if c.name == given[role]}
        ranks = sorted(points[role].items(), key=itemgetter(1), reverse=True)
        points[role] = dict(ranks[:MOST_COLUMNS])
    every = list(dict.fromkeys(c for each in points.values() for c in each))
    design = {
        (item.name, rater.name): _design(item, rater)
        for item, rater in permutations(every, 2)
        if item in points["item"] and rater in points["rater"]
    }
    ranked = sorted(
        (
            -(
                points["item"][i]
                + points["rater"][r]
                + points["rating"][y]
                + design[i.name, r.name]
            ),
            n,
            (i.name, r.name, y.name),
        )
        for n, (i, r, y) in enumerate(
            (i, r, y)
            for i in points["item"]
            for r in points["rater"]
            for y in points["rating"]
            if len({i.name, r.name, y.name}) == 3
        )
    )
    if not ranked:
        return None
    best: dict[str, str] = dict(zip(IDS_AND_RATINGS, ranked[0][2], strict=True))
    arguments: dict[str, Any] = {role: name for role, name in best.items() if role not in given}
    for role in ("pool", "gold"):
        found = [
            c.name for c in columns if name_suits(c.name, role) == 2 and c.name not in best.values()
        ]
        if found and role not in given and _is_constant_within(columns, found[0], best, role):
            arguments[role] = found[0]
    question = _question(ranked, best) if doubt is None else _doubt(doubt)
    return Guess(arguments, question)


def _doubt(column: _Column) -> Fault:
    """The question whether a column holds ratings whose values hardly repeat."""
    return Fault(
        "rating",
        "ratings must have values that repeat, or be named",
        f"{column.distinct} values in the {column.n_filled} rows of {column.name!r}",
        f"Pass rating={column.name!r} if these are the ratings.",
        arguments={"rating": column.name},
    )


def _is_constant_within(
    columns: Sequence[_Column], name: str, best: Mapping[str, str], role: str
) -> bool:
    """Whether a pool is one of each rater, or a gold one of each item."""
    of = {c.name: c for c in columns}
    ids = of[best["rater" if role == "pool" else "item"]].codes
    values = of[name].codes
    frame = pd.DataFrame({"id": ids, "value": values})[values >= 0]
    return len(frame) > 0 and len(frame.drop_duplicates()) == frame["id"].nunique()


def _question(
    ranked: Sequence[tuple[float, int, tuple[str, ...]]], best: Mapping[str, str]
) -> Fault | None:
    """A question if another guess is about as good."""
    for points, _, names in ranked[1:]:
        if points - ranked[0][0] >= CLOSE:
            return None
        other = dict(zip(best, names, strict=True))
        differs = [role for role in best if other[role] != best[role]]
        one, two = (
            ", ".join(f"{role}={each[role]!r}" for role in differs) for each in (best, other)
        )
        return Fault(
            " and ".join(differs),
            "it must be clear which columns these are",
            "two guesses that suit about as well",
            f"Pass {one}, or {two}.",
            arguments={role: best[role] for role in differs},
        )
    return None


def _design(item: _Column, rater: _Column) -> float:
    """Points for how items and raters are combined: each pair once, and several raters an item."""
    pair = item.codes.astype(np.int64) * (rater.distinct + 1) + rater.codes
    n_pairs = len(np.unique(pair))
    overlap = n_pairs > item.distinct and n_pairs > rater.distinct
    repeats = 1 - n_pairs / max(len(pair), 1)
    return 2.0 * overlap - 6.0 * repeats


def _wide(columns: Sequence[_Column]) -> Guess | None:
    """A table with a row per item, named in its first column, and alike columns of raters."""
    filled = [c for c in columns if c.n_filled and not is_summary(c.name)]
    if len(filled) < 3:
        return None
    first, *others = filled
    if first.distinct < len(first.table) or first.are_measured:
        return None
    frame = lenient_sample(first.table, [c.name for c in others])
    numeric = [c.name for c in others if not pd.api.types.is_numeric_dtype(frame[c.name])]
    if len(others) < 2 or (numeric and not all(c.share < 0.5 or c.distinct <= FEW for c in others)):
        return None
    if not are_alike(frame):
        return None
    return Guess({"item": first.name, "shape": "wide"})


def _form(columns: Sequence[_Column]) -> Guess | None:
    """Answers to a form, with a row per respondent: of Qualtrics, or of Google Forms."""
    about = [c.name for c in columns if compact(c.name) in ABOUT_RESPONSES]
    is_form = bool(about) and (len(about) >= 3 or compact(columns[0].name) in ABOUT_RESPONSES)
    if not is_form:
        return None
    of = {compact(c.name): c.name for c in columns if c.n_filled == c.distinct == len(c.table)}
    respondent = next((of[name] for name in RESPONDENTS if name in of), None)
    if respondent is None:
        respondent = next((c.name for c in columns if c.name == about[0] and c.share == 1), None)
    if respondent is None:
        return None
    rest = [c for c in columns if c.name not in about and c.name != respondent and c.n_filled]
    answers = _most_alike(rest)
    if len(answers) < 2:
        return None
    left = [c.name for c in columns if c.name not in answers and c.name != respondent]
    arguments = {"rater": respondent, "shape": "wide"} | ({"drop_columns": left} if left else {})
    return Guess(arguments)


def _most_alike(columns: Sequence[_Column]) -> list[str]:
    """The columns of numbers if several are; or else those with the most usual set of texts."""
    rated = [c.name for c in columns if c.are_numbers and c.distinct <= FEW]
    if len(rated) > 1:
        return rated
    groups: dict[int, set[str]] = {}
    texts = {c.name: set(c.coded[1]) for c in columns if c.distinct <= FEW and c.share < 1}
    for at, (name, own) in enumerate(texts.items()):
        groups[at] = {other for other, theirs in texts.items() if own & theirs} | {name}
    best = max(groups.values(), key=len, default=set())
    return [c.name for c in columns if c.name in best]
