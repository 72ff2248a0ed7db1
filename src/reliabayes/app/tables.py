"""Reading a table in the process of a session, so that no table harms other sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any, TypeVar

from reliabayes.app.choices import QUESTIONS, ModelChoice, Question, model_choices
from reliabayes.app.faults import ShownFault, shown_faults
from reliabayes.app.given import ON_THE_COMMAND_LINE, Given
from reliabayes.app.memory import limited_memory
from reliabayes.app.proposals import SAFE, Proposal, arguments_of, of_fault, safe
from reliabayes.app.reading import Head, Reading, head_of
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.ratings.raw_reading import repaired
from reliabayes.ratings.read_options import ReadOptions

MOST_MEMORY = 3_000_000_000  # bytes; a table of 50 MB takes half of it
Found = TypeVar("Found")
# Arguments of boxes, whose effects are not among those of the box of safe repairs.
OF_VALUES = ("percent", "na", "scale", "decimal", "duplicates", "drop_rows", "twins")
DEFAULTS: Mapping[str, Any] = {each.name: each.default for each in fields(ReadOptions)}


@dataclass(frozen=True)
class Table:
    """A table that was read.

    Attributes
    ----------
    ratings : Ratings
        Its ratings.
    choices : mapping of str to tuple of ModelChoice
        Models by the question that they answer.
    proposals : tuple of Proposal, default ()
        Repairs that were applied.
    """

    ratings: Ratings
    choices: Mapping[Question, tuple[ModelChoice, ...]]
    proposals: tuple[Proposal, ...] = ()


@dataclass(frozen=True)
class Unread:
    """A table that cannot be used as it is.

    Attributes
    ----------
    faults : tuple of ShownFault
        What must be changed in the table, or by the controls of the page.
    proposals : tuple of Proposal
        What the page can repair.
    """

    faults: tuple[ShownFault, ...]
    proposals: tuple[Proposal, ...] = ()


def head(given: Given, accepted: tuple[Proposal, ...] = ()) -> Head | Unread:
    """Columns and first rows of a table, or why it cannot be read at all.

    Parameters
    ----------
    given : Given
        The table.
    accepted : tuple of Proposal, default ()
        Boxes that were ticked.

    Returns
    -------
    Head or Unread
    """
    arguments = arguments_of(accepted)
    return _or_unread(
        lambda: head_of(given, arguments), given, Reading(accepted=arguments), accepted
    )


def table(given: Given, reading: Reading, accepted: tuple[Proposal, ...] = ()) -> Table | Unread:
    """The ratings of a table with the models that suit them, or what is wrong with it.

    Parameters
    ----------
    given : Given
        The table.
    reading : Reading
        How it is read.
    accepted : tuple of Proposal, default ()
        Boxes that were ticked.

    Returns
    -------
    Table or Unread
    """

    def found() -> Table:
        ratings = reading.ratings(given)
        return Table(
            ratings,
            {question: model_choices(ratings, question) for question in QUESTIONS},
            tuple(_proposals((), given, reading, accepted)),
        )

    return _or_unread(found, given, reading, accepted)


def _or_unread(
    found: Callable[[], Found], given: Given, reading: Reading, accepted: tuple[Proposal, ...]
) -> Found | Unread:
    try:
        with limited_memory(MOST_MEMORY):
            try:
                return found()
            except RatingsError as error:
                return _unread(error, given, reading, accepted)
    except MemoryError:
        rule = f"reading it must take at most {MOST_MEMORY // 10**9} GB of memory"
        fault = Fault("table", rule, "that it takes more", ON_THE_COMMAND_LINE)
        return Unread((ShownFault(str(fault), fault.unit, ()),))
    except (ValueError, ImportError) as error:
        return Unread((ShownFault(str(error), "row", ()),))


def _unread(
    error: RatingsError, given: Given, reading: Reading, accepted: tuple[Proposal, ...]
) -> Unread:
    sheet = reading.arguments.get("sheet")
    try:
        proposals = tuple(_proposals(error.faults, given, reading, accepted))
    except RatingsError:  # it is too large, or no table at all
        return Unread(tuple(shown_faults(error, given, sheet)))
    others = [fault for fault in error.faults if not fault.arguments]
    if not others:
        return Unread((), proposals)
    return Unread(tuple(shown_faults(RatingsError(others), given, sheet)), proposals)


def _proposals(
    faults: Sequence[Fault], given: Given, reading: Reading, accepted: tuple[Proposal, ...]
) -> Iterator[Proposal]:
    """The boxes of a table: safe repairs, what was ticked, and what would fix the faults."""
    arguments = {"encoding": given.encoding} | reading.arguments
    options, sheet = ReadOptions(**arguments), arguments.get("sheet")
    with given.on_disk() as file:
        alone = {name: DEFAULTS[name] for name in OF_VALUES if name in reading.accepted}
        tidied = replace(options, **alone, tidy=True)
        applied = () if given.is_export else repaired(file, tidied).applied
        yield from safe(applied, given, sheet, is_ticked=options.tidy)
        yield from (replace(each, is_ticked=True) for each in accepted if each.label != SAFE)
        for fault in faults:
            if fault.arguments:
                yield from of_fault(fault, given, file, sheet)
