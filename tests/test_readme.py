"""The README shows what a user gets."""

from __future__ import annotations

from typer.testing import CliRunner

from reliabayes.cli import app
from tests.conftest import ROOT


def test_readme_shows_the_demo() -> None:
    block = (ROOT / "README.md").read_text().partition("```text\n")[2].partition("```")[0]

    shown = CliRunner().invoke(app, ["demo"]).stdout

    figures = [line.split()[:6] for line in block.split("\n\n")[0].splitlines()]
    assert figures == [line.split()[:6] for line in shown.splitlines()[7:14]]
    assert " ".join(block.split("\n\n")[1].split()) == " ".join(shown.splitlines()[-1].split())
