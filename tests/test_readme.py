"""The README shows what a user gets."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from reliabayes.cli import app
from tests.conftest import ROOT


def test_readme_shows_the_demo() -> None:
    block = (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]

    shown = CliRunner().invoke(app, ["demo"]).stdout

    promised, found = (
        {row[0]: row[1:4] for row in map(str.split, text.splitlines()) if len(row) == 9}
        for text in (block, shown)
    )
    assert promised.keys() == found.keys()
    for quantity in list(promised)[1:]:  # draws differ between versions of NumPy, by rounding
        expected = pytest.approx([float(x) for x in promised[quantity]], rel=0.05)
        assert [float(x) for x in found[quantity]] == expected
