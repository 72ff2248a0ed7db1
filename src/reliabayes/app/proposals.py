"""Repairs as the page proposes them: boxes to tick, each with the rows that it concerns."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from reliabayes.app.faults import short
from reliabayes.app.given import Given
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.excel import shown_sheets
from reliabayes.ratings.file_formats import EXCEL_SUFFIX
from reliabayes.ratings.repairs import Repair
from reliabayes.wording import listed

SAFE = "Repair what loses no rating and cannot change an answer"
# What a box does, by the argument of `read_ratings` that it stands for; without texts of a table,
# because labels are Markdown.
LABELS: Mapping[str, str] = {
    "duplicates": "Leave out rows that repeat another in all cells",
    "drop_rows": "Leave these rows out",
    "drop_columns": "Leave these columns out",
    "na": "Read these values as no rating",
    "percent": "Read percentages as numbers",
    "twins": "Join spellings of one value",
    "missing": "Leave out rows without a rating",
    "replicates": "Keep repeated ratings",
    "sheet": "Read this sheet",
    "header": "Take these rows as the header",
    "decimal": "Read the point as the decimal sign",
    "encoding": "Read the text in this encoding",
    "delimiter": "Split fields at this character",
    "question": "Read the answers to this question",
    "item": "Take this column as the item",
    "rater": "Take this column as the rater",
    "rating": "Take this column as the rating",
    "pool": "Take this column as the pool",
    "gold": "Take this column as the known answer",
}
# Of these the value is a text that the label does not say.
OF_THE_TABLE = ("encoding", "delimiter", "question", "item", "rater", "rating", "pool", "gold")
SCALES: Mapping[str, str] = {
    "nominal": "Read ratings as categories",
    "ordered": "Read ratings as grades",
    "numeric": "Read ratings as numbers",
}
BY_COLUMN = "Take each column as a rater of its own"
BY_PATTERN = "Read several columns as the ratings of one rater on several occasions"
OTHER = "Read the table this way"
N_LINES = 5  # that a box shows


@dataclass(frozen=True)
class Detail:
    """Why a repair is proposed, or what it does, with the rows concerned.

    Attributes
    ----------
    text : str
        A sentence.
    unit : str, default "row"
        What the numbers of lines count: ``"line"`` or ``"row"``.
    lines : tuple of pairs of int and str, default ()
        Number and content of the first of them.
    n_lines : int, default 0
        How many there are.
    note : str, default ""
        What `Ratings.notes` says of it.
    """

    text: str
    unit: str = "row"
    lines: tuple[tuple[int, str], ...] = ()
    n_lines: int = 0
    note: str = ""

    @property
    def n_more(self) -> int:
        """Number of rows that are not shown."""
        return max(self.n_lines - len(self.lines), 0) if self.lines else 0


@dataclass(frozen=True)
class Proposal:
    """A box of the page.

    Attributes
    ----------
    label : str
        What the box does, without texts of the table.
    arguments : mapping from str to Any
        The arguments of `read_ratings` that do it.
    details : tuple of Detail
        What is wrong and where.
    is_ticked : bool, default False
        Whether it is applied.
    group : str, default ""
        A name that boxes share of which one at most is ticked.
    """

    label: str
    arguments: Mapping[str, Any]
    details: tuple[Detail, ...] = field(default=())
    is_ticked: bool = False
    group: str = ""


def arguments_of(accepted: Iterable[Proposal]) -> dict[str, Any]:
    """The arguments of boxes that were ticked, or unticked if they were ticked at first.

    Parameters
    ----------
    accepted : iterable of Proposal
        The boxes.

    Returns
    -------
    dict from str to Any
        Lists of several boxes are joined; of other values the last counts.
    """
    return RatingsError(
        [Fault("", "", "", "", arguments=each.arguments) for each in accepted]
    ).arguments


def changed(
    accepted: tuple[Proposal, ...], shown: Iterable[Proposal], ticks: Iterable[bool]
) -> tuple[Proposal, ...]:
    """What is accepted after boxes were ticked or unticked.

    Parameters
    ----------
    accepted : tuple of Proposal
        What was accepted before.
    shown : iterable of Proposal
        All boxes.
    ticks : iterable of bool
        Whether each is ticked now.

    Returns
    -------
    tuple of Proposal
    """
    for proposal, is_ticked in zip(shown, ticks, strict=True):
        if is_ticked == proposal.is_ticked:
            continue
        names = {*proposal.arguments}
        if "tidy" in names:
            others = tuple(each for each in accepted if "tidy" not in each.arguments)
            accepted = others if is_ticked else (*others, Proposal(SAFE, {"tidy": False}))
        elif is_ticked:
            kept = (each for each in accepted if not proposal.group or each.group != proposal.group)
            accepted = (*kept, proposal)
        else:
            accepted = tuple(each for each in accepted if each.arguments != proposal.arguments)
    return accepted


def safe(
    applied: Iterable[Repair], given: Given, sheet: str | None, *, is_ticked: bool
) -> Iterator[Proposal]:
    """Yield the box of all safe repairs, if there are some.

    Parameters
    ----------
    applied : iterable of Repair
        What reading applied, or would apply.
    given : Given
        The table.
    sheet : str or None
        The sheet that is read.
    is_ticked : bool
        Whether they are applied.

    Yields
    ------
    Proposal
    """
    details = tuple(
        Detail(
            f"{short(_without_argument(repair))}.",
            repair.unit,
            tuple(given.lines(repair.lines[:N_LINES], repair.unit, sheet)),
            len(repair.lines),
            repair.note,
        )
        for repair in applied
        if repair.is_safe
    )
    if details:
        yield Proposal(SAFE, {"tidy": True}, details, is_ticked)


def of_fault(fault: Fault, given: Given, file: Path, sheet: str | None) -> Iterator[Proposal]:
    """Yield the boxes that would fix a fault.

    Parameters
    ----------
    fault : Fault
        A fault with arguments.
    given : Given
        The table.
    file : Path
        The table on disk.
    sheet : str or None
        The sheet that is read.

    Yields
    ------
    Proposal
        One, or one for each sheet.
    """
    lines = tuple(given.lines(fault.rows, fault.unit, sheet))
    detail = Detail(short(f"{fault.rule}; found {fault.found}"), fault.unit, lines, fault.n_rows)
    if "sheet" in fault.arguments and given.suffix == EXCEL_SUFFIX:
        for name in shown_sheets(file):
            detail = Detail(short(f"The sheet is “{name}”."))
            yield Proposal(LABELS["sheet"], {"sheet": name}, (detail,), group="sheet")
        return
    label = _label(fault.arguments)
    if label == BY_PATTERN:
        yield Proposal(label, fault.arguments, (_capital(detail),), group="columns")
        yield Proposal(BY_COLUMN, {"shape": "wide"}, group="columns")
        return
    values = _value(fault.arguments)
    yield Proposal(label, fault.arguments, (_capital(detail), *values))


def notes_of(proposals: Iterable[Proposal]) -> frozenset[str]:
    """The notes of ratings that boxes show.

    Parameters
    ----------
    proposals : iterable of Proposal
        The boxes.

    Returns
    -------
    frozenset of str
    """
    return frozenset(detail.note for each in proposals if each.is_ticked for detail in each.details)


def _label(arguments: Mapping[str, Any]) -> str:
    if len(arguments) != 1:
        return OTHER
    ((name, value),) = arguments.items()
    if name == "rater" and "{" in str(value):
        return BY_PATTERN
    if name == "scale":
        return SCALES[value]
    return LABELS.get(name, OTHER)


def _value(arguments: Mapping[str, Any]) -> Iterator[Detail]:
    """What a label does not say: the columns, values or characters of the table."""
    for name, value in arguments.items():
        if name in ("drop_columns", "na"):
            yield Detail(short(f"These are {listed(list(value), 20)}."))
        elif name in OF_THE_TABLE:
            column = "This" if len(arguments) == 1 else f"The column of the {name}"
            yield Detail(short(f"{column} is “{value}”."))


def _capital(detail: Detail) -> Detail:
    text = f"{detail.text[:1].upper()}{detail.text[1:]}."
    return Detail(text, detail.unit, detail.lines, detail.n_lines)


def _without_argument(repair: Repair) -> str:
    """What a repair does, without what is written for Python."""
    action = repair.action.partition(" (encoding=")[0]
    return f"{action[:1].upper()}{action[1:]}"
