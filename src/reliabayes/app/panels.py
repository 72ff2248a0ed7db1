"""HTML of the page: what was read, what is wrong with it, answers, and the state of a job."""

from __future__ import annotations

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

import pandas as pd

from reliabayes.app.faults import ShownFault, with_controls
from reliabayes.app.jobs import Job
from reliabayes.app.proposals import Proposal
from reliabayes.app.tables import Unread
from reliabayes.app.tasks import Answered
from reliabayes.html_report.blocks import Code, Facts, Heading, Section, Text
from reliabayes.html_report.fits import ReportFit
from reliabayes.html_report.fragment import answer_fragment, blocks_fragment, fragment_style
from reliabayes.html_report.sections.data import facts
from reliabayes.html_report.sections.diagnostics import diagnostics
from reliabayes.html_report.sections.method import python_code
from reliabayes.html_report.sections.quantities import quantities
from reliabayes.html_report.sections.raters_and_items import items, raters
from reliabayes.html_report.tables import table
from reliabayes.html_report.templates import template
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale
from reliabayes.results.summaries import size_text
from reliabayes.wording import joined

HERE = Path(__file__).parent
FIT_FIRST = (
    "Fit a model on the tab Reliability, Who is right or Groups; the report will have its results."
)
NOTHING = "This model does not estimate these."
SECTIONS: Mapping[str, Callable[[Sequence[ReportFit]], Section]] = {
    "Raters": raters,
    "Items": items,
    "All quantities": quantities,
    "Diagnostics": diagnostics,
}
_drawing = threading.Lock()  # matplotlib draws for one session at a time


@contextmanager
def drawing() -> Iterator[None]:
    """Wait until no other session draws."""
    with _drawing:
        yield


def style() -> str:
    """Style sheet of the page, as an element."""
    own = (HERE / "notebook.css").read_text(encoding="utf-8")
    return f"<style>{fragment_style()}{own}</style>"


def heading(privacy: str) -> str:
    """The title of the page, and where ratings go.

    Parameters
    ----------
    privacy : str
        A sentence.

    Returns
    -------
    str
    """
    return _render("heading.html", privacy=privacy)


def question(text: str) -> str:
    """The heading of a tab.

    Parameters
    ----------
    text : str
        What it answers.

    Returns
    -------
    str
    """
    return _render("question.html", text=text)


def read_message(found: Ratings | None, *, is_open: bool = False) -> str:
    """Whether a table was read, for whoever looks or listens.

    Parameters
    ----------
    found : Ratings or None
        The ratings; None if there are faults.
    is_open : bool, default False
        Whether a box of the page would repair them.

    Returns
    -------
    str
    """
    return _render("read.html", size=None if found is None else size_text(found), is_open=is_open)


def first_rows(rows: pd.DataFrame) -> str:
    """The first rows of a table, as they were given.

    Parameters
    ----------
    rows : DataFrame
        Texts.

    Returns
    -------
    str
    """
    names = list(rows.columns)
    frame = rows.set_index(names[0]) if len(names) > 1 and len({*names}) == len(names) else rows
    return blocks_fragment([table("given", "The first rows", frame)])


def what_was_read(found: Ratings, repaired: Collection[str] = ()) -> str:
    """Size and design of ratings, and what was guessed about them.

    Parameters
    ----------
    found : Ratings
        The ratings.
    repaired : collection of str, default ()
        Notes on repairs, which boxes show.

    Returns
    -------
    str
    """
    notes = [with_controls(note) for note in found.notes if note not in repaired]
    if reason := likely_scale(found).reason:
        notes.append(f"{reason[0].upper()}{reason[1:]}; “Kind of ratings” says otherwise.")
    if found.n_missing:
        rows = f"{found.n_missing:,} row{'s' * (found.n_missing != 1)}"
        notes.append(f"Left out {rows}: no rating.")
    return blocks_fragment([*map(Text, notes), Facts([*facts(found)])])


def why_unusable(job: Job) -> str:
    """Why a table cannot be used; empty if it can.

    Parameters
    ----------
    job : Job
        Result of `tables.head` or `tables.table`.

    Returns
    -------
    str
    """
    if job.failure:
        return message(job.failure, caution=True)
    return faults(job.result.faults) if isinstance(job.result, Unread) else ""


def faults(found: Sequence[ShownFault]) -> str:
    """Faults of a table, each with the lines that it concerns.

    Parameters
    ----------
    found : sequence of ShownFault
        The faults.

    Returns
    -------
    str
        Empty if there are none.
    """
    return _render("faults.html", faults=found) if found else ""


def repair(proposal: Proposal) -> str:
    """What a box of the page is about, and the rows concerned.

    Parameters
    ----------
    proposal : Proposal
        The box.

    Returns
    -------
    str
    """
    return _render("repair.html", details=proposal.details)


def repair_list(proposals: Sequence[Proposal]) -> str:
    """All boxes, of a page that has no elements of its own.

    Parameters
    ----------
    proposals : sequence of Proposal
        The boxes.

    Returns
    -------
    str
        Empty if there are none.
    """
    if not proposals:
        return ""
    boxes = [{"proposal": each, "html": repair(each)} for each in proposals]
    return about_repairs(proposals) + _render("repair_boxes.html", boxes=boxes)


def about_repairs(proposals: Sequence[Proposal]) -> str:
    """The heading of the boxes.

    Parameters
    ----------
    proposals : sequence of Proposal
        The boxes, at least one.

    Returns
    -------
    str
    """
    n_open = sum(not each.is_ticked for each in proposals)
    return _render("repairs.html", n_open=n_open)


def progress(job: Job) -> str:
    """What a job is doing, and how much of it is done.

    Parameters
    ----------
    job : Job
        A job that runs.

    Returns
    -------
    str
    """
    is_sampling = 0 < job.done < 1
    return _render(
        "progress.html",
        text="sampling" if is_sampling else "computing the answer" if job.done else "preparing",
        percent=round(100 * job.done) if is_sampling else None,
    )


def message(text: str, *, caution: bool = False) -> str:
    """A paragraph.

    Parameters
    ----------
    text : str
        Its text.
    caution : bool, default False
        Whether it is highlighted.

    Returns
    -------
    str
    """
    return blocks_fragment([Text(text, caution)])


def part(answered: Answered, name: str, reliability: float) -> str:
    """The answer of a fit, or a section of its report.

    Parameters
    ----------
    answered : Answered
        The fit.
    name : str
        One of `SECTIONS`; anything else for the answer.
    reliability : float
        Target reliability of means of ratings.

    Returns
    -------
    str
    """
    with drawing():
        if name not in SECTIONS:
            return answer_fragment(answered.aiming_at(reliability))
        blocks = SECTIONS[name]([answered.report_fit]).blocks
        return blocks_fragment(blocks or [Text(NOTHING)])


def code(answers: Sequence[Answered], reading: str, reliability: float) -> str:
    """Python that repeats an analysis.

    Parameters
    ----------
    answers : sequence of Answered
        All fits.
    reading : str
        Code that reads the ratings.
    reliability : float
        Target reliability of means of ratings.

    Returns
    -------
    str
    """
    reads = f"ratings = {reading}"
    if not answers:
        return f"import reliabayes as rb\n\n{reads}\nprint(ratings.agreement())"
    options = f", reliability={reliability:g}" if reliability != 0.8 else ""
    return python_code([each.report_fit for each in answers], reads, options)


def result(job: Job | None) -> str:
    """HTML that a job made, or why it failed.

    Parameters
    ----------
    job : Job or None
        The job, if there was one.

    Returns
    -------
    str
    """
    if job is None:
        return ""
    return message(job.failure, caution=True) if job.failure else str(job.result)


def judged(job: Job) -> str:
    """The answers about systems and judges, or why there are none.

    Parameters
    ----------
    job : Job
        Result of `judging.judged`.

    Returns
    -------
    str
    """
    return message(job.failure, caution=True) if job.failure else str(job.result.html)


def about_judges() -> str:
    """What files the tab takes.

    Returns
    -------
    str
    """
    text = (
        "Two files are enough: what LLM judges said of the answers of your systems, and the labels "
        "that people gave to some of these answers. People may err, and judges of one family err "
        "together."
    )
    return blocks_fragment([Text(text)])


def about_matrices() -> str:
    """What the simulation of matrices is for."""
    text = (
        "How do coefficients depend on how often raters agree? In each matrix the raters of an "
        "item agree with the wanted probability, and else rate at random."
    )
    return blocks_fragment([Heading("Matrices of a wanted agreement", "matrices"), Text(text)])


def about_tap() -> str:
    """What the simulation of t-a-p ratings is for."""
    text = (
        "Raters know the true category of an item with probability a, and else guess 1 with "
        "probability p; t of the items are truly 1. Does the model find these numbers again?"
    )
    return blocks_fragment([Heading("Raters who know or guess (t-a-p)", "tap-data"), Text(text)])


def about_report(answers: Sequence[Answered]) -> str:
    """Which fits a report has, or what it needs.

    Parameters
    ----------
    answers : sequence of Answered
        All fits.

    Returns
    -------
    str
    """
    if not answers:
        return message(FIT_FIRST)
    names = joined([each.name for each in answers])
    text = f"The report is one HTML page with the results of {names}. It can be mailed."
    return blocks_fragment([Text(text)])


def code_block(code: str) -> str:
    """Python that repeats the analysis.

    Parameters
    ----------
    code : str
        The code.

    Returns
    -------
    str
    """
    heading = Heading("The same in Python", "python")
    return blocks_fragment([heading, Code(code)])


def _render(name: str, **content: object) -> str:
    html: str = template(name, HERE).render(**content)
    return html
