"""What the tab Judges computes, in the process of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from reliabayes.app.faults import with_controls
from reliabayes.app.given import Given
from reliabayes.app.memory import limited_memory
from reliabayes.app.tables import MOST_MEMORY
from reliabayes.app.tasks import SEED
from reliabayes.html_report.blocks import Text
from reliabayes.html_report.fragment import answer_fragment, blocks_fragment
from reliabayes.html_report.judge_page import first_sections, judge_page, study_fit
from reliabayes.judge_study import JudgeStudy
from reliabayes.ratings import Ratings, read_judged
from reliabayes.ratings.judged_files import pools_of_people

NAMES = ("judges", "people")  # of the files, in messages


@dataclass(frozen=True)
class Judged:
    """The answers to both questions.

    Attributes
    ----------
    html : str
        The answers, and what they are based on.
    page : bytes
        The report.
    """

    html: str
    page: bytes


def judged(answers: Given, labels: Given | None, chosen: Mapping[str, Any]) -> Judged:
    """Which system is better, and which judge may stand in for a person.

    Parameters
    ----------
    answers : Given
        What judges said.
    labels : Given or None
        Labels of people, unless they are in the same file.
    chosen : mapping from str to Any
        The value of the form: ``good``, as of `JudgeStudy.answers`, and arguments of `read_judged`.

    Returns
    -------
    Judged

    Raises
    ------
    ValueError
        A file breaks a rule, or it is not known which category is good; in the words of the page.
    """
    options = dict(chosen)
    good = options.pop("good").strip() or None
    try:
        return _judged(answers, labels, good, options)
    except ValueError as error:
        raise ValueError(with_controls(str(error))) from error


def _judged(
    answers: Given, labels: Given | None, good: str | None, options: dict[str, Any]
) -> Judged:
    with limited_memory(MOST_MEMORY):
        ratings = _read(answers, labels, options)
    study = JudgeStudy(ratings, human=pools_of_people(ratings), fit={"seed": SEED})
    found = study.conclusions(good=good)
    notes = [Text(with_controls(note)) for note in ratings.notes]
    first = first_sections(study, found)
    blocks = [block for section in first for block in section.blocks]
    html = answer_fragment(study_fit(study, found)) + blocks_fragment([*notes, *blocks])
    return Judged(html, judge_page(study, found, first))


def _read(answers: Given, labels: Given | None, options: dict[str, Any]) -> Ratings:
    with answers.on_disk(NAMES[0]) as judged_file:
        if labels is None:
            return read_judged(judged_file, tidy=True, **options)
        with labels.on_disk(NAMES[1]) as sheet:
            return read_judged(judged_file, sheet, tidy=True, **options)
