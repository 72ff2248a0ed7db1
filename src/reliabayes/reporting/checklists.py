"""Points of guidelines for reporting, and who can answer them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import pandas as pd

from reliabayes.reporting.references import reference


class Point(NamedTuple):
    """A point of a guideline, paraphrased.

    Attributes
    ----------
    section : str
        Section of the paper or of the guideline.
    report : str
        What to report.
    answer : str
        What of a result answers it: "design", "analysis", "estimate" or, where only that does, a
        kind of estimate, as of `Meaning`; empty if nothing does.
    rest : bool
        Whether something is left to the author although a result answers it.
    """

    section: str
    report: str
    answer: str = ""
    rest: bool = False


GRRAS = (
    Point("title and abstract", "that reliability or agreement was investigated, and of what kind"),
    Point("introduction", "name and description of the instrument"),
    Point("introduction", "population of the subjects or objects"),
    Point("introduction", "population of the raters"),
    Point("introduction", "what is known already, and why the study was made"),
    Point(
        "methods",
        "planned numbers of raters, subjects and replicates, and how they were chosen",
        "design",
        rest=True,
    ),
    Point("methods", "how subjects and raters were sampled"),
    Point("methods", "how ratings were made: intervals of time, information available, blinding"),
    Point("methods", "whether ratings were made independently of each other"),
    Point("methods", "the statistical analysis", "analysis"),
    Point("results", "actual numbers of raters, subjects and replicates", "design"),
    Point("results", "characteristics of raters and subjects, such as training and experience"),
    Point("results", "estimates of reliability or agreement with their uncertainty", "estimate"),
    Point("discussion", "what the results mean in practice"),
    Point("supplement", "detailed results, such as the ratings themselves"),
)
COSMIN = (
    Point("design", "whether those who were measured stayed the same between the measurements"),
    Point("design", "whether the interval between the measurements was appropriate"),
    Point("design", "whether conditions were similar but for the source of variation in question"),
    Point("design", "whether measurements were taken without knowledge of the others"),
    Point("design", "whether scores were assigned without knowledge of the others"),
    Point("design", "other flaws of the design or the analysis", "design", rest=True),
    Point("reliability", "of scores, an ICC with its model or formula", "icc"),
    Point("reliability", "of ordered categories, a weighted kappa", "weighted kappa"),
    Point("reliability", "of other categories, a kappa of each", "kappa", rest=True),
    Point(
        "measurement error",
        "of scores, the standard error of measurement, the smallest detectable change, limits of "
        "agreement or a coefficient of variation",
        "error",
    ),
    Point("measurement error", "of categories, specific agreement on each", "specific agreement"),
)
GUIDELINES: Mapping[str, tuple[Sequence[Point], str]] = {
    "GRRAS": (GRRAS, "kottner2011"),
    "COSMIN": (COSMIN, "mokkink2020"),
}


def checklist(name: str, answers: Mapping[str, str]) -> pd.DataFrame:
    """Tabulate the points of a guideline with what answers them; see `MethodsSentence.guideline`.

    Parameters
    ----------
    name : str
        Name of the guideline.
    answers : mapping of str to str
        What a result says of its design, its analysis and its estimate, the last by its kind, too.

    Returns
    -------
    DataFrame
    """
    if name.upper() not in GUIDELINES:
        raise ValueError(f"name must be one of {', '.join(GUIDELINES)}, not {name!r}.")
    points, source = GUIDELINES[name.upper()]
    rows = [_row(point, answers.get(point.answer, "")) for point in points]
    table = pd.DataFrame(rows, columns=["section", "report", "by", "answer"])
    table.index = pd.RangeIndex(1, len(points) + 1, name="point")
    table.attrs["source"] = str(reference(source))
    return table


def _row(point: Point, answer: str) -> tuple[str, ...]:
    by = ("both" if point.rest else "ratings") if answer else "author"
    return point.section, point.report, by, answer
