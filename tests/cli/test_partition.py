"""The command that writes a table in parts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.app import app

JUDGES = str(datasets.about("shrout_fleiss_1979").path())


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["partition", *map(str, arguments)])


def test_a_table_becomes_a_folder_of_parts(tmp_path: Path) -> None:
    result = run(JUDGES, tmp_path / "parts", "--partitions", 3)

    size = "24 ratings of 6 items by 4 raters, numeric 1..10"
    assert result.stdout.startswith(f"RatingsDataset({size}, in ")
    assert rb.scan_ratings(tmp_path / "parts").to_ratings() == rb.read_ratings(JUDGES)


def test_options_are_those_of_the_function(tmp_path: Path) -> None:
    path = tmp_path / "ratings.csv"
    path.write_text("ad;who;day;grade\na;x;1;no\na;x;2;yes\nb;x;1;\na;y;1;yes\nb;y;2;no\n")
    columns = {"item": "ad", "rater": "who", "rating": "grade"}

    options = [text for role, name in columns.items() for text in (f"--{role}", name)]
    result = run(
        *(path, tmp_path / "parts", *options, "--facet", "occasion=day", "--missing", "drop"),
        *("--scale", "ordered", "--categories", "no,yes"),
    )

    assert result.exit_code == 0, result.output
    expected = rb.read_ratings(
        path,
        item="ad",
        rater="who",
        rating="grade",
        facets={"occasion": "day"},
        missing="drop",
        scale="ordered",
        categories=["no", "yes"],
    )
    assert rb.scan_ratings(tmp_path / "parts").to_ratings() == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nothing.csv"], "there is no such file"),
        ([JUDGES, "--rater", "raters"], "Did you mean --rater 'rater'?"),
    ],
)
def test_bad_input_ends_with_status_2(arguments: list[str], message: str, tmp_path: Path) -> None:
    result = run(*arguments[:1], tmp_path / "parts", *arguments[1:])

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
