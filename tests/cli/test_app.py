"""The command that serves the app."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
from urllib.request import Request, urlopen

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


@pytest.mark.slow
def test_the_page_is_served_on_this_computer_until_an_interrupt() -> None:
    main = "from reliabayes.cli import main; main()"
    command = [sys.executable, "-c", main, "app", "--no-browser", "--port", "0"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr is not None
        said = process.stderr.readline()
        address = re.search(r"http://127\.0\.0\.1:\d+", said)
        assert address, said
        with urlopen(Request(address[0])) as page:
            text = page.read().decode()
        process.send_signal(signal.SIGINT)
        code = process.wait(30)

    assert "marimo" in text
    assert os.getcwd() not in text
    assert code == 130
