"""Reading a table in the process of a session, so that no table harms other sessions."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias, TypeVar

import pandas as pd

from reliabayes.app.choices import QUESTIONS, ModelChoice, Question, model_choices
from reliabayes.app.faults import ShownFault, shown_faults
from reliabayes.app.given import ON_THE_COMMAND_LINE, Given
from reliabayes.app.memory import limited_memory
from reliabayes.app.reading import Reading, guessed_reading
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

MOST_MEMORY = 3_000_000_000  # bytes; a table of 50 MB takes half of it
Faults: TypeAlias = tuple[ShownFault, ...]
Found = TypeVar("Found")


@dataclass(frozen=True)
class Head:
    """The beginning of a table.

    Attributes
    ----------
    first_rows : DataFrame
        Its first rows.
    guess : Reading
        How it is probably read.
    """

    first_rows: pd.DataFrame
    guess: Reading

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return [str(name) for name in self.first_rows.columns]


@dataclass(frozen=True)
class Table:
    """A table that was read.

    Attributes
    ----------
    ratings : Ratings
        Its ratings.
    choices : mapping of str to tuple of ModelChoice
        Models by the question that they answer.
    """

    ratings: Ratings
    choices: Mapping[Question, tuple[ModelChoice, ...]]


def head(given: Given) -> Head | Faults:
    """Columns and first rows of a table, or why it cannot be read at all.

    Parameters
    ----------
    given : Given
        The table.

    Returns
    -------
    Head or tuple of ShownFault
    """

    def found() -> Head:
        return Head(given.shown_rows, guessed_reading(given))

    return _or_faults(found, given)


def table(given: Given, reading: Reading) -> Table | Faults:
    """The ratings of a table with the models that suit them, or what is wrong with it.

    Parameters
    ----------
    given : Given
        The table.
    reading : Reading
        How it is read.

    Returns
    -------
    Table or tuple of ShownFault
    """

    def found() -> Table:
        ratings = reading.ratings(given)
        return Table(
            ratings, {question: model_choices(ratings, question) for question in QUESTIONS}
        )

    return _or_faults(found, given)


def _or_faults(found: Callable[[], Found], given: Given) -> Found | Faults:
    try:
        with limited_memory(MOST_MEMORY):
            return found()
    except MemoryError:
        rule = f"reading it must take at most {MOST_MEMORY // 10**9} GB of memory"
        fault = Fault("table", rule, "that it takes more", ON_THE_COMMAND_LINE)
        return (ShownFault(str(fault), fault.unit, ()),)
    except RatingsError as error:
        return tuple(shown_faults(error, given))
    except (ValueError, ImportError) as error:
        return (ShownFault(str(error), "row", ()),)
