"""The README shows what a user gets."""

from __future__ import annotations

import math
from typing import Any

import arviz as az
import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli import app
from tests.conftest import ROOT


def test_readme_shows_the_demo() -> None:
    block = (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]

    shown = CliRunner().invoke(app, ["demo"]).stdout

    promised, found = (
        {row[0]: row[1:4] for row in map(str.split, text.splitlines()) if len(row) == 9}
        for text in (block, shown)
    )
    header, *quantities = promised
    assert promised.keys() == found.keys()
    assert promised[header] == found[header] == ["mean", "sd", "median"]
    # Draws differ between builds by rounding, so the README's and these are two independent
    # samples of one posterior: each number is known up to its Monte Carlo standard error. ArviZ
    # estimates that of a standard deviation from fourth moments, up to a third too low where tails
    # are heavy: six standard errors of the difference are at least four.
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    draws = rb.GaussianICC().fit(ratings, seed=1).quantities
    for place, method in enumerate(promised[header]):
        mcse: Any = az.mcse(draws, method=method)  # type: ignore[no-untyped-call]
        for quantity in quantities:
            error = math.sqrt(2) * float(mcse[quantity])
            printed, now = promised[quantity][place], found[quantity][place]
            tolerance = 6 * error + last_digit(printed)  # half of one by rounding each
            assert float(now) == pytest.approx(float(printed), abs=tolerance), (quantity, method)


def last_digit(printed: str) -> float:
    """One unit of the last digit of a number in print."""
    return float(10.0 ** -len(printed.partition(".")[2]))
