"""The command that serves the app."""

from __future__ import annotations

import pytest
from typer.testing import CliRunner

from reliabayes.cli import app_command
from reliabayes.cli.app import app


def test_without_the_extra_the_command_says_how_to_install_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(app_command, "find_spec", lambda name: None)

    result = CliRunner().invoke(app, ["app"])

    assert result.exit_code == 1
    assert "pip install 'reliabayes[app]'" in " ".join(result.stderr.split())


def test_an_address_that_is_not_of_this_computer_is_a_message() -> None:
    pytest.importorskip("marimo")
    result = CliRunner().invoke(app, ["app", "--host", "192.0.2.1", "--no-browser"])

    assert result.exit_code == 1
    assert "192.0.2.1: cannot listen there" in result.stderr
    assert "Traceback" not in result.stderr
