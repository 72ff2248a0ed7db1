"""The report of a study of judges, whose first two sentences answer its questions."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from reliabayes.families.judges.conclusions import Conclusions
from reliabayes.families.judges.requirements import Verdict
from reliabayes.files import write_whole
from reliabayes.html_report.answers.judges import judges_answer
from reliabayes.html_report.blocks import Section
from reliabayes.html_report.fits import Options, ReportFit, report_fits
from reliabayes.html_report.page import BUDGET, rendered
from reliabayes.html_report.sections.diagnostics import diagnostics
from reliabayes.html_report.sections.judges import (
    cautions,
    determined,
    judges,
    people,
    requirements,
    systems,
)
from reliabayes.html_report.sections.method import method
from reliabayes.judge_study import JudgeStudy
from reliabayes.results.summaries import size_text

TITLE = "Is a system better, and may a judge stand in for a person?"


def judge_report(
    study: JudgeStudy,
    path: str | os.PathLike[str],
    *,
    require: Sequence[str] = (),
    good: Any = None,
    epsilon: float = 0.1,
    prob: float = 0.9,
    title: str = TITLE,
    source: Mapping[str, str] | None = None,
    command: str = "",
    date: str = "",
) -> None:
    """Write one HTML page about a study of judges.

    Below the two answers come what to know first, verdicts on requirements, rates of systems with
    and without judges and their differences, errors of judges, the agreement of people, and what
    the files can answer. The page is self-contained, and the same study gives the same page.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    path : str or path-like
        Path of the page. The file is written completely or not at all.
    require : sequence of str, optional
        Requirements, as of `JudgeStudy.supports`.
    good, epsilon, prob
        As of `JudgeStudy.answers`.
    title : str, optional
        Title above the answers.
    source : mapping of str to str, optional
        More facts about the data, such as names of files, by name.
    command : str, optional
        Command that makes the page; by default the page shows Python code.
    date : str, optional
        Date of the page; none by default.

    Raises
    ------
    ValueError
        It is not known which category is good, or a requirement cannot be read.
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    verdicts = [study.supports(text) for text in require]
    found = study.conclusions(good=good, epsilon=epsilon, prob=prob)
    first = first_sections(study, found)
    page = judge_page(
        study, found, first, verdicts, title=title, source=source, command=command, date=date
    )
    write_whole(path, page)


def first_sections(study: JudgeStudy, found: Conclusions) -> tuple[Section, Section, Section]:
    """Return what to know first, systems, and judges, which the app shows, too.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.

    Returns
    -------
    tuple of three Sections
    """
    return cautions(study), systems(study, found), judges(study, found)


def judge_page(
    study: JudgeStudy,
    found: Conclusions,
    first: tuple[Section, Section, Section],
    verdicts: Sequence[Verdict] = (),
    *,
    title: str = TITLE,
    source: Mapping[str, str] | None = None,
    command: str = "",
    date: str = "",
) -> bytes:
    """One HTML page about a study of judges.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.
    first : tuple of three Sections
        As of `first_sections`.
    verdicts : sequence of Verdict, optional
        Verdicts on requirements.
    title, source, command, date
        As of `judge_report`.

    Returns
    -------
    bytes
    """
    prob = found.prob
    lead = study_fit(study, found)
    sections = [
        first[0],
        requirements(verdicts),
        *first[1:],
        people(study, prob),
        determined(study, source or {}),
        diagnostics([lead]),
        method([lead], command or _code(study), prob),
    ]
    return rendered(
        title=title,
        date=date,
        size=size_text(study.ratings),
        percent=f"{100 * prob:g}",
        lead=lead,
        others=[],
        with_problems=[lead] if lead.problems else [],
        with_readings=[],
        compared=None,
        picture=None,
        sections=[section for section in sections if section.blocks],
    )


def study_fit(study: JudgeStudy, found: Conclusions) -> ReportFit:
    """The fit of a study, with the answers to its two questions.

    Parameters
    ----------
    study : JudgeStudy
        The study.
    found : Conclusions
        Its conclusions.

    Returns
    -------
    ReportFit
    """
    model = type(study.model).__name__
    [fit] = report_fits({model: study.fit}, Options(found.prob, 0.8, BUDGET))
    return replace(fit, given=judges_answer(study, found))


def _code(study: JudgeStudy) -> str:
    """Python code that fits the model again and writes the page."""
    given = [
        f"{name}={value!r}"
        for name, value in (("human", study.model.human), ("family", study.model.family))
        if value is not None
    ]
    arguments = ", ".join(["ratings", *given, f"fit={dict(study.arguments)!r}"])
    return "\n".join([
        "import reliabayes as rb", "", f"study = rb.JudgeStudy({arguments})",
        'study.report("report.html")',
    ])  # fmt: skip
