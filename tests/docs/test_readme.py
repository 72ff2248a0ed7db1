"""The README shows the output of the demo."""

from __future__ import annotations

import math

import pytest
from typer.testing import CliRunner

from reliabayes.cli import app
from tests.conftest import ROOT


def test_readme_shows_the_demo() -> None:
    block = (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]

    printed = CliRunner().invoke(app, ["demo"]).stdout

    shown, found = (
        {row[0]: row[1:7] for row in map(str.split, text.splitlines()) if len(row) == 9}
        for text in (block, printed)
    )
    assert shown.keys() == found.keys()
    for quantity in list(shown)[1:]:  # draws differ between versions of NumPy, by rounding
        *expected, _, _, n_effective = map(float, shown[quantity])
        monte_carlo = expected[1] / math.sqrt(n_effective)
        mean_sd_median = [float(x) for x in found[quantity][:3]]
        assert mean_sd_median == pytest.approx(expected, abs=8 * monte_carlo)
