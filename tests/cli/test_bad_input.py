"""What ends the command line: a message and an exit status, never a traceback."""

from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from rich.console import Console
from typer.testing import CliRunner

from reliabayes import datasets
from reliabayes.cli import main
from reliabayes.cli.app import app

JUDGES = str(datasets.about("shrout_fleiss_1979").path())


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments])


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["describe", JUDGES, "--encoding", "base64"], "not a text encoding"),
        (["describe", JUDGES, "--encoding", "no\0"], "null character"),
        (["describe", JUDGES, "--rating", ""], "must have the columns that were named"),
        (["describe", JUDGES, "--delimiter", '"'], "it must be one character, and no quote"),
        (["describe", "loop.csv"], "a link to 'loop.csv', which leads to no file"),
        (["agree", JUDGES, "--json", "loop.csv"], "leads back to itself"),
        (
            ["agree", "loop.csv", "--json", "out.json"],
            "a link to 'loop.csv', which leads to no file",
        ),
        (["fit", JUDGES, "--model", "gaussian-icc", "--chains", "1000000"], "from 1 to 1000"),
        (["describe", "x\0.csv"], "null"),
    ],
)
def test_bad_input_is_refused_with_a_message(
    arguments: list[str], message: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("loop.csv").symlink_to("loop.csv")

    result = run(*arguments)

    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())
    assert isinstance(result.exception, SystemExit)


def test_an_error_that_nobody_foresaw_is_a_message(monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise KeyError("x")

    monkeypatch.setattr("reliabayes.read_ratings", fail)

    result = run("describe", JUDGES)

    assert result.exit_code == 1
    assert "this should not happen, please report it: KeyError: 'x'" in result.output


def test_what_users_wrote_does_nothing_to_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    table = tmp_path / "r.csv"
    red = "\x1b[31mred\x07"
    table.write_text(f"item,rater,rating\na,x,{red}\na,y,no\nb,x,no\nb,y,{red}\nc,x,maybe\n")
    screen = io.StringIO()
    terminal = Console(file=screen, force_terminal=True, width=80)
    monkeypatch.setattr("reliabayes.cli.output.stdout", terminal)

    result = run("describe", str(table))
    bad = run("describe", str(table), "--rating", red)

    shown = screen.getvalue()
    assert result.exit_code == 0
    assert r"\x1b[31mred" in shown
    assert "\x1b[31m" not in shown + bad.output
    assert "\x07" not in shown + bad.output


@pytest.mark.slow
def test_a_message_has_an_end(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    table.write_text("item,rater,rating\n" + "".join(f"{'a' * 50_000}{at},x,\n" for at in range(9)))

    result = run("describe", str(table), "--item", "b" * 50_000)

    assert result.exit_code == 2
    assert len(result.output) < 20_000


def test_an_interrupt_while_the_program_is_loaded_is_quiet(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Loading(ModuleType):
        def __getattr__(self, name: str) -> object:
            raise KeyboardInterrupt

    monkeypatch.setattr(signal, "signal", lambda *_: None)
    monkeypatch.setitem(sys.modules, "reliabayes.cli.app", Loading("app"))

    with pytest.raises(SystemExit) as ended:
        main()

    assert ended.value.code == 130
    assert capsys.readouterr().err == "reliabayes: interrupted.\n"
