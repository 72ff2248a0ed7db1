"""What a tool's file holds: a table of ratings, and what was left out of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypedDict

import numpy as np
import pandas as pd

from reliabayes.choices import Replicates, Scale, Twins
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import value_errors_as_faults
from reliabayes.ratings.coding import coded_fields
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.describing import left_out_in_words
from reliabayes.ratings.facets import Facets
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.source import EXPORT_AGAIN, Source
from reliabayes.ratings.shapes import table_from_long
from reliabayes.ratings.text_values import text_ids, text_values
from reliabayes.wording import did_you_mean, listed

MOST_ROWS_SHOWN = 20  # names of questions or fields in a message


class Options(TypedDict, total=False):
    """What all readers take.

    Attributes
    ----------
    scale : {"nominal", "ordered", "numeric"}
        As for `Ratings.from_frame`.
    categories : iterable
        As for `Ratings.from_frame`.
    twins : {"error", "join"}
        As for `Ratings.from_frame`.
    replicates : {"error", "keep"}
        Whether a rater may rate an item more than once; by default ``"keep"``.
    """

    scale: Scale | None
    categories: Iterable[Any] | None
    twins: Twins
    replicates: Replicates


@dataclass
class Export:
    """Ratings of a tool's file, entry by entry.

    Attributes
    ----------
    source : Source
        The file.
    columns : dict from str to list
        The columns item, rater and rating, and further ones, in the order of the file.
    left_out : Counter
        How many entries were left out, by reason.
    gold : dict
        Known true values by item.
    notes : list of str
        What was guessed.
    """

    source: Source
    columns: dict[str, Any] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)
    gold: dict[Any, Any] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)

    def add(self, **cells: Any) -> None:
        """Add a rating: its item, rater and rating, and whatever else the tool knows."""
        for name, value in cells.items():
            self.columns.setdefault(name, []).append(value)

    def ratings(self, **options: Any) -> Ratings:
        """Return the ratings, checked as those of any table, but for the numbers of raters.

        Parameters
        ----------
        **options
            As `Options`.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            If there are none, or a column breaks a rule.
        """
        if not len(self.columns.get("rating", ())):
            left_out = left_out_in_words(self.left_out)
            found = f"none ({left_out} left out)" if left_out else "none"
            remedy = "Check what was exported, or name another question=..."
            raise self.source.fault("it must hold ratings", found, remedy)
        try:
            frame = pd.DataFrame({name: _cells(name, x) for name, x in self.columns.items()})
            if self.gold:
                frame["gold"] = _golds(self.columns["item"], self.gold, frame["rating"])
        except TypeError as error:  # they cannot be compared
            rule = "ids and answers must be texts or numbers"
            raise self.source.fault(rule, str(error), EXPORT_AGAIN) from error
        others = {name: name for name in ("pool", "gold", "group", "block") if name in frame}
        roles = {"item": "item", "rater": "rater", "rating": "rating"} | dict.fromkeys(
            ("pool", "gold", "group", "block")
        )
        facets: Facets = [name for name in self.columns if name not in roles]
        given: dict[str, Any] = {"scale": None, "categories": None, "twins": "error"}
        given |= {"replicates": "keep"} | options
        if given["categories"] is None and "gold" in frame:
            given["categories"] = _with_golds(frame)
        try:
            with value_errors_as_faults():
                table = table_from_long(
                    frame, roles | others, missing="error", facets=facets, for_agreement=False,
                    **given,
                )  # fmt: skip
        except RatingsError as error:
            raise error.relocated(lambda row: row + 1, "rating") from None
        ratings = Ratings(**coded_fields(table))
        notes = (*self.notes, *ratings.notes, *_notes_on_design(ratings))
        return replace(ratings, left_out=dict(self.left_out), notes=notes)


def chosen_question(source: Source, question: str | None, known: Sequence[str]) -> str:
    """Return the question whose answers are read.

    Parameters
    ----------
    source : Source
        The file.
    question : str or None
        The one that was asked for.
    known : sequence of str
        Those of the file.

    Returns
    -------
    str

    Raises
    ------
    RatingsError
        If there is no such question, or several to choose from.
    """
    if question in known:
        return str(question)
    if question is None and len(known) == 1:
        return known[0]
    if not known:
        rule, remedy = "it must hold answers", "Check what was exported."
        raise source.fault(rule, "no question with single answers", remedy)
    named = " or ".join(f"question={name!r}" for name in known[:MOST_ROWS_SHOWN])
    if question is None:
        rule, found = "one question must be chosen", listed(known, MOST_ROWS_SHOWN)
        raise RatingsError([Fault("question", rule, found, f"Pass {named}.")])
    guess = did_you_mean(question, known)
    remedy = f"Pass {named}." if guess is None else f"Did you mean {guess!r}?"
    rule = f"the file must have it; it has {listed(known, MOST_ROWS_SHOWN)}"
    raise RatingsError([Fault("question", rule, repr(question), remedy)])


def item_fields(
    names: Mapping[str, str] | Mapping[str, str | None], data: Mapping[str, Any], source: Source
) -> dict[str, Any]:
    """Return the group and the block of an item, from fields of its data.

    Parameters
    ----------
    names : mapping from str to str or None
        Fields by role.
    data : mapping
        What the tool knows of the item.
    source : Source
        The file.

    Returns
    -------
    dict

    Raises
    ------
    RatingsError
        If the data have no such field.
    """
    found = {}
    for role, name in names.items():
        if name is None:
            continue
        if name not in data:
            guess = did_you_mean(name, data)
            remedy = f"The fields are {listed(list(data), MOST_ROWS_SHOWN)}."
            remedy = remedy if guess is None else f"Did you mean {guess!r}?"
            rule = f"entry {source.at or 1} must have this field"
            raise RatingsError([Fault(role, rule, f"no {name!r}", remedy)])
        found[role] = None if data[name] is None else str(data[name])
    return found


def single(value: Any) -> tuple[Any, str]:
    """Return the one value of an answer, or why there is none.

    Parameters
    ----------
    value : any
        A text, a number, or a list of these.

    Returns
    -------
    value : any
    reason : str
        Empty if there is a value.
    """
    if isinstance(value, (list, tuple)):
        if len(value) > 1:
            return None, "several choices"
        return single(value[0]) if value else (None, "no answer to the question")
    if value is None or value == "" or value != value:
        return None, "no answer to the question"
    if not isinstance(value, Hashable):
        raise TypeError("an answer must be a text or a number")
    return value, ""


def keep_rows(
    export: Export, columns: Mapping[str, pd.Series[Any]], conditions: Mapping[str, Any]
) -> None:
    """Add the rows of a table, but for those left out.

    Parameters
    ----------
    export : Export
        What is added to.
    columns : mapping from str to Series, N rows
        The columns of item, rater and rating, and further ones.
    conditions : mapping from str to array of bool, shape (N,)
        Reasons to leave rows out; the first that applies is counted.
    """
    reasons = pd.Series(np.select([*map(np.asarray, conditions.values())], [*conditions], ""))
    export.left_out.update(reasons[reasons != ""].tolist())
    is_kept = (reasons == "").to_numpy()
    export.columns = {name: column[is_kept] for name, column in columns.items()}


def group_columns(
    source: Source, table: pd.DataFrame, group: str | None, block: str | None, prefix: str
) -> dict[str, pd.Series[Any]]:
    """Return the columns of groups and blocks.

    Parameters
    ----------
    source : Source
        The file.
    table : DataFrame
        Its table.
    group, block : str or None
        Names of columns.
    prefix : str
        What the tool writes before names of inputs; they may be named without it.

    Returns
    -------
    dict from str to Series
    """
    found = {}
    for role, name in (("group", group), ("block", block)):
        if name is not None:
            column = f"{prefix}{name}" if f"{prefix}{name}" in table else name
            item_fields({role: column}, dict.fromkeys(table.columns), source)
            found[role] = table[column]
    return found


def _cells(name: str, values: Any) -> Any:
    """A column: ids of one type, and numbers where all texts of ratings are."""
    column = pd.Series(values).reset_index(drop=True)
    kind = pd.api.types.infer_dtype(column, skipna=True)
    if kind != "string":
        must_be_text = name != "rating" and (name != "item" or kind.startswith("mixed"))
        return _as_texts(column) if must_be_text else column
    if name == "item":
        return text_ids(column.astype("str"))
    is_rating = name == "rating" and column.drop_duplicates().str.fullmatch(NUMBER).all()
    return text_values(column.astype("str"), ".")[0] if is_rating else column


def _as_texts(column: pd.Series[Any]) -> pd.Series[Any]:
    codes, values = pd.factorize(column)
    texts = np.array([*map(str, values), None], object)
    return pd.Series(texts[codes])


def _golds(items: Any, gold: Mapping[Any, Any], ratings: pd.Series[Any]) -> pd.Series[Any]:
    """The gold of each rating's item, as numbers if the ratings are."""
    column = pd.Series(items).reset_index(drop=True).map(dict(gold))
    return pd.to_numeric(column) if pd.api.types.is_numeric_dtype(ratings) else column


def _with_golds(frame: pd.DataFrame) -> list[Any] | None:
    """All categories, if nobody gave one that is gold."""
    known, answers = frame["gold"].dropna(), frame["rating"]
    if pd.api.types.is_numeric_dtype(answers) or known.isin(answers).all():
        return None
    return sorted({*known, *answers.dropna()})


def _notes_on_design(ratings: Ratings) -> Iterator[str]:
    if repeats := len(ratings) - ratings.n_cells:
        text = f"{repeats:,} rating{'s' * (repeats > 1)} by a rater who had rated the item before"
        yield f"{text}: kept as replicates."
    if ratings.n_raters == 1:
        yield f"All ratings are by {ratings.raters[0]}, who can be compared with nobody."
