"""The options that repair a table, and the command that writes it as it was understood."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from typer.testing import CliRunner

import reliabayes as rb
from reliabayes.cli.app import app

MESSY = Path(__file__).parents[1] / "data" / "messy"


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments])


def test_a_table_is_written_as_it_was_understood_with_a_log(tmp_path: Path) -> None:
    out, log = tmp_path / "clean.csv", tmp_path / "log.txt"

    result = run("tidy", str(MESSY / "means.csv"), "--out", str(out), "--log", str(log))

    assert result.exit_code == 0, result.output
    clean = rb.read_ratings(MESSY / "clean_scores.csv")
    assert rb.read_ratings(out) == clean
    assert "Leaves out the column 'Mean', a figure of the others." in log.read_text()


def test_an_error_says_first_which_options_would_read_the_table() -> None:
    path = str(MESSY / "totals_and_duplicates.csv")

    refused = run("describe", path)
    done = run("describe", path, "--tidy", "--duplicates", "drop_exact")

    message = " ".join(refused.stderr.split())
    assert refused.exit_code == 2
    assert message.startswith(
        'reliabayes: --tidy, --duplicates "drop_exact" would read this table: it leaves out 1 row '
        "of totals or means (line 53) and leaves out 15 rows that repeat another in all cells"
    )
    assert done.exit_code == 0
    assert "Leaves out 1 row of totals or means (line 53)." in done.stderr


def test_columns_are_guessed_and_the_guess_is_said_once() -> None:
    result = run("describe", str(MESSY / "mturk.csv"))

    assert result.exit_code == 0
    guess = "Takes column HITId as item, WorkerId as rater and Answer.animal as rating."
    assert result.stderr.count(guess) == 1


def test_options_of_rows_take_numbers() -> None:
    path = str(MESSY / "total_unlike_the_others.csv")

    assert run("describe", path, "--drop-rows", "10").exit_code == 0
    assert "must be numbers separated by commas" in " ".join(
        run("describe", path, "--drop-rows", "ten").output.split()
    )


def test_values_to_read_as_no_rating_are_named_where_they_occur(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item,rater,rating\na,x,1\na,y,2\nb,x,2\nb,y,-\nc,x,1\nc,y,-\n")

    result = run("describe", str(path), "--na", "N/A", "--na", "-", "--scale", "ordered")

    assert result.exit_code == 0, result.output
    assert "Reads '-' as no rating in 2 cells." in result.stderr
    assert "N/A" not in result.stderr


def test_cells_that_were_left_out_before_are_not_counted(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text("item,x,y,note\na,1,2,-\nb,2,-,-\nc,-,1,-\nd,2,1,-\n")
    left_out = ["--drop-columns", "note", "--drop-rows", "3"]

    result = run(
        *("describe", str(path), "--shape", "wide", "--item", "item", "--na", "-"), *left_out
    )

    assert result.exit_code == 0, result.output
    assert "Reads '-' as no rating in 1 cell." in result.stderr
