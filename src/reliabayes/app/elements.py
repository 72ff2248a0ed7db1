"""Elements of the page: forms and dropdowns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import marimo as mo

from reliabayes.app.choices import ModelChoice
from reliabayes.app.faults import CONTROLS
from reliabayes.app.given import FORMATS, MOST_BYTES, Given
from reliabayes.app.jobs import Job
from reliabayes.app.judging import Judged
from reliabayes.app.panels import message
from reliabayes.app.proposals import Proposal
from reliabayes.app.reading import Reading
from reliabayes.app.tasks import Answered
from reliabayes.guidelines import GUIDELINES
from reliabayes.ratings.table_files import WORKBOOK, table_content

QUESTIONS = {  # of the tabs
    "Your ratings": "Paste or drop your ratings",
    "Reliability": "How reliable are the ratings, and how many are enough?",
    "Agreement": "How far do raters agree?",
    "Who is right": "Which category is right, and which raters know it?",
    "Groups": "Do pools of raters agree?",
    "Judges": "Is a system better, and may an LLM judge stand in for a person?",
    "Simulate": "What do estimates say where the truth is known?",
    "Report": "One page to keep or to mail",
}
TABS = (*QUESTIONS,)
BUTTONS = (
    "Fit",
    "Compute",
    "Answer both questions",
    "Make the report",
    "Simulate a matrix",
    "Simulate all agreements",
    "Simulate and estimate",
)
PARTS = ["Answer", "Raters", "Items", "All quantities", "Diagnostics"]
DROP = f"Or drop a file: {', '.join(FORMATS)}"
JUDGE_FILES = (
    "What judges said: a log of Inspect, an export of promptfoo or DeepEval, or a table",
    "Labels of people: a table with the columns item, rater and rating, or a column per person",
)
FIRST = "Paste or drop a table on the first tab."
PLACEHOLDER = "item,rater,rating\n1,Ann,4\n1,Bob,5\n2,Ann,2\n..."
EXAMPLE = """\
target\tJ1\tJ2\tJ3\tJ4
1\t9\t2\t5\t8
2\t6\t1\t3\t2
3\t8\t4\t6\t8
4\t7\t1\t2\t6
5\t10\t5\t6\t9
6\t6\t2\t4\t7
"""  # Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420
GUESSED = "guessed"
GUESSABLE = ("scale", "decimal")
BY_SCALE = "that suits the scale"
NO_COLUMN = "none"
USUAL_COLUMNS = {"group": ("group", "system", "version"), "block": ("block", "prompt")}


def control(name: str, value: str | None = None, *, is_guessable: bool = False) -> mo.ui.dropdown:
    """A dropdown of an argument of `read_ratings`, with its first value or none.

    Parameters
    ----------
    name : str
        The argument, one of `CONTROLS`.
    value : str, optional
        Its value; None if it is guessed.
    is_guessable : bool, default False
        Whether it may be guessed.

    Returns
    -------
    dropdown
    """
    label, values = CONTROLS[name]
    options: dict[str, str | None] = {GUESSED: None} if is_guessable else {}
    options |= {text: each for each, text in values.items()}
    chosen = next(text for text, each in options.items() if each == value)
    return mo.ui.dropdown(options, value=chosen, label=label, allow_select_none=False)


def given(pasted: mo.ui.text_area, dropped: mo.ui.file, encoding: mo.ui.dropdown) -> Given | None:
    """The table that was dropped or else pasted, if there is one.

    Parameters
    ----------
    pasted : text area
        The field for a table.
    dropped : file
        The area for files.
    encoding : dropdown
        Encoding of a file.

    Returns
    -------
    Given or None
    """
    if dropped.value:
        content = dropped.contents() or b""
        return Given.dropped(dropped.name() or "", content, encoding.value or "utf-8")
    return Given.pasted(pasted.value) if pasted.value.strip() else None


def column_form(columns: Sequence[str], guess: Reading) -> mo.ui.dictionary:
    """Dropdowns of the columns of a table and of how it is read.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns.
    guess : Reading
        What is chosen at first.

    Returns
    -------
    dictionary of elements
    """
    names = list(dict.fromkeys(columns))
    form: dict[str, Any] = {"shape": control("shape", guess.shape)}
    facets = [name for name in guess.facets if name in names]
    for role in ("item", "rater", "rating", "pool", "gold"):
        value = getattr(guess, role)
        options: dict[str, str | None] = {NO_COLUMN: None} if role in ("pool", "gold") else {}
        options |= {_option(name): name for name in names}
        shown = next((text for text, name in options.items() if name == value), None)
        form[role] = mo.ui.dropdown(options, value=shown, label=CONTROLS[role][0])
    form["facets"] = mo.ui.multiselect(names, value=facets, label=CONTROLS["facets"][0])
    form |= {name: control(name, getattr(guess, name), is_guessable=True) for name in GUESSABLE}
    form |= {name: control(name, getattr(guess, name)) for name in ("replicates", "twins")}
    return mo.ui.dictionary(form)


def _option(name: str) -> str:
    """A column as an option; no text of a column is taken for that of no column."""
    return f"“{name}”" if name in ("", NO_COLUMN, GUESSED) else name


def arranged(form: mo.ui.dictionary) -> mo.Html:
    """The form of the columns: those that its layout has, and last what is seldom needed.

    Parameters
    ----------
    form : dictionary of elements
        Result of `column_form`.

    Returns
    -------
    Html
    """
    is_wide = form.value["shape"] == "wide"
    columns = ("item",) if is_wide else ("item", "rater", "rating", "pool")
    seldom = ("twins", "decimal") if is_wide else ("replicates", "twins", "decimal")
    more: list[object] = [form[name] for name in seldom]
    more += [] if is_wide else [form["facets"]]
    first = [form[name] for name in ("shape", *columns, "gold", "scale")]
    return mo.hstack([*first, *more], justify="start", wrap=True, gap=1)


def reading_of(chosen: Mapping[str, Any], guess: Reading) -> Reading:
    """What a form says.

    Parameters
    ----------
    chosen : mapping of str to Any
        Value of the form of `column_form`.
    guess : Reading
        What was guessed, with the repairs that were accepted.

    Returns
    -------
    Reading
    """
    given = dict(chosen) | {"facets": tuple(chosen["facets"])}
    for role in ("item", "rater", "rating"):
        given[role] = given[role] or role
    is_guess = guess.is_guessed_shape and given["shape"] == guess.shape
    return Reading(**given, guess=guess.guess, is_guessed_shape=is_guess, accepted=guess.accepted)


def repair_boxes(proposals: Sequence[Proposal], on_change: Callable[[Any], None]) -> mo.ui.array:
    """A box for each repair.

    Parameters
    ----------
    proposals : sequence of Proposal
        The repairs.
    on_change : callable
        Takes whether each box is ticked.

    Returns
    -------
    array of elements
    """
    boxes = [mo.ui.checkbox(each.is_ticked, label=each.label) for each in proposals]
    return mo.ui.array(boxes, on_change=on_change)


def file_area(label: str) -> mo.ui.file:
    """An area for a file of one of the formats.

    Parameters
    ----------
    label : str
        What the file has.

    Returns
    -------
    file
    """
    return mo.ui.file(kind="area", filetypes=list(FORMATS), max_size=MOST_BYTES, label=label)


def in_area(area: mo.ui.file) -> Given | None:
    """The file in an area, if there is one.

    Parameters
    ----------
    area : file
        The area.

    Returns
    -------
    Given or None
    """
    if not area.value:
        return None
    return Given.dropped(area.name() or "", area.contents() or b"")


def judge_form(columns: Sequence[str]) -> mo.ui.dictionary:
    """How the files of judges and people are read.

    Parameters
    ----------
    columns : sequence of str
        Names of the columns of what judges said; none of a tool's file, which names its systems.

    Returns
    -------
    dictionary of elements
    """
    names = list(dict.fromkeys(columns))
    form: dict[str, Any] = {}
    for role, usual in USUAL_COLUMNS.items():
        options: dict[str, str | None] = {NO_COLUMN: None} | {_option(name): name for name in names}
        shown = next((text for text, name in options.items() if str(name).lower() in usual), None)
        form[role] = mo.ui.dropdown(options, value=shown or NO_COLUMN, label=CONTROLS[role][0])
    form["twins"] = control("twins", "error")
    form["good"] = mo.ui.text(label=CONTROLS["good"][0], placeholder="guessed")
    return mo.ui.dictionary(form)


def model_dropdown(choices: Sequence[ModelChoice]) -> mo.ui.dropdown:
    """A dropdown of models, the recommended one chosen.

    Parameters
    ----------
    choices : sequence of ModelChoice
        The models.

    Returns
    -------
    dropdown
    """
    names = [choice.name for choice in choices] or [NO_COLUMN]
    return mo.ui.dropdown(names, value=names[0], label="Model", allow_select_none=False)


def guideline() -> mo.ui.dropdown:
    """A dropdown of the guidelines whose words describe coefficients.

    Returns
    -------
    dropdown
    """
    options: dict[str, str | None] = {BY_SCALE: None}
    options |= {name: name for name in GUIDELINES}
    return mo.ui.dropdown(
        options, value=BY_SCALE, label="Words by the guideline", allow_select_none=False
    )


def chosen(choices: Sequence[ModelChoice], name: str | None) -> ModelChoice:
    """The choice of a name; the first if there is none of that name.

    Parameters
    ----------
    choices : sequence of ModelChoice
        At least one.
    name : str or None
        Name of a model.

    Returns
    -------
    ModelChoice
    """
    return next((choice for choice in choices if choice.name == name), choices[0])


def unseen(element: object) -> mo.Html:
    """An element that works without being seen.

    Parameters
    ----------
    element : element
        Such as a clock.

    Returns
    -------
    Html
    """
    return mo.Html(f'<div class="unseen" aria-hidden="true">{mo.as_html(element).text}</div>')


def table_downloads(answered: Answered, part: str) -> mo.Html | None:
    """Buttons that download the table of raters or items as CSV and as a workbook.

    Parameters
    ----------
    answered : Answered
        The fit.
    part : str
        The part of the answer that is shown.

    Returns
    -------
    Html or None
        None if the part is no such table.
    """
    if part not in ("Raters", "Items"):
        return None
    found = answered.report_fit.items if part == "Items" else answered.fit.raters()
    names = [f"{part.lower()}{suffix}" for suffix in (".csv", WORKBOOK)]
    buttons = [
        mo.download(table_content(found, Path(name)), filename=name, label=f"Download {name}")
        for name in names
    ]
    return mo.hstack(buttons, justify="start", wrap=True)


def report_download(job: Job) -> mo.Html:
    """A button that downloads a report, or why there is none.

    Parameters
    ----------
    job : Job
        The job that made it.

    Returns
    -------
    Html
    """
    if job.failure:
        return mo.Html(message(job.failure, caution=True))
    page = job.result.page if isinstance(job.result, Judged) else job.result
    return mo.download(
        page, filename="report.html", mimetype="text/html", label="Download report.html"
    )
