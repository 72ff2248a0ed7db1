"""The README shows what the demo and the page on judges print."""

from __future__ import annotations

import math
import re

import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.app import app
from tests.conftest import ROOT
from tests.monte_carlo import standard_errors


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::reliabayes.ConvergenceWarning")
def test_readme_shows_the_demo() -> None:
    block = (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]

    printed = CliRunner().invoke(app, ["demo"]).stdout

    shown, found = (
        {row[0]: row[1:4] for row in map(str.split, text.splitlines()) if is_of_table(row)}
        for text in (block, printed)
    )
    header, *quantities = shown
    assert shown.keys() == found.keys()
    assert shown[header] == found[header] == ["mean", "sd", "median"]
    # Rounding changes the draws between builds, so the README's and these are independent samples
    # from the same posterior. Estimated standard errors are at least two thirds of the true ones,
    # so six estimated standard errors of the difference are at least four true ones.
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    fit = rb.GaussianICC().fit(ratings, seed=1)
    for place, column in enumerate(shown[header]):
        error = standard_errors(fit, column)
        for quantity in quantities:
            expected, now = shown[quantity][place], found[quantity][place]
            tolerance = 6 * math.sqrt(2) * error[quantity] + last_digit(expected)
            assert float(now) == pytest.approx(float(expected), abs=tolerance), (quantity, column)


def is_of_table(words: list[str]) -> bool:
    """Whether a line has a name and eight numbers, or their headers."""
    return len(words) == 9 and not words[0].endswith("%")


def last_digit(printed: str) -> float:
    """One unit in the last digit of a printed number."""
    return float(10.0 ** -len(printed.partition(".")[2]))


def test_sentences_on_judges_are_those_of_their_page() -> None:
    sentences = re.findall(r"^> (It is undecided .+)$", (ROOT / "README.md").read_text(), re.M)

    page = (ROOT / "docs" / "judges.md").read_text().splitlines()
    assert len(sentences) == 2
    assert set(sentences) <= set(page)
