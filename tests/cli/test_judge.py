"""The command judge: verdicts, exit statuses, and what it says in uncomfortable cases."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pandas as pd
import pytest
from typer.testing import CliRunner

from reliabayes.cli.app import app
from tests.judge_answers import answers

pytestmark = pytest.mark.slow

SUPPORTED, CONTRADICTED = "rate[v3] > 0.2 with 0.9", "rate[v3] < 0.2 with 0.9"
UNDECIDED = "rate[v3] - rate[v4] > 0.02 with 0.999"


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["judge", *map(str, arguments)])


@pytest.fixture
def files(tmp_path: Path) -> list[object]:
    """Arguments: what judges said of two systems' answers, and a label sheet of three people."""
    table = answers(1, by_system=40, labelled=20, judges=2, runs=1).table
    judges = table[table["pool"] == "llm"].drop(columns=["pool", "run"])
    people = table.loc[table["pool"] == "human", ["item", "rater", "rating"]]
    judges.to_csv(tmp_path / "verdicts.csv", index=False)
    people.to_csv(tmp_path / "labels.csv", index=False)
    return [tmp_path / "verdicts.csv", "--human", tmp_path / "labels.csv", "--group", "system"]


def test_without_a_requirement_two_sentences_say_what_can_be_answered(files: list[object]) -> None:
    result = run(*files)

    assert result.exit_code == 0
    first, second = result.stdout.splitlines()
    assert first.startswith("These files can answer whether a system is better: the rates of ")
    assert second.startswith("They can answer whether a judge may stand in for a person: ")
    assert "Families of judges" in result.stderr


def test_verdicts_are_printed_and_written_and_the_worst_is_the_status(
    files: list[object], tmp_path: Path
) -> None:
    requirements = [
        word for text in (SUPPORTED, CONTRADICTED, UNDECIDED) for word in ("--require", text)
    ]
    xml, markdown = tmp_path / "judge.xml", tmp_path / "summary.md"

    page = tmp_path / "judge.html"
    outputs = ["--junit-xml", xml, "--summary", markdown, "--report", page, "--methods"]

    result = run(*files, *requirements, *outputs)

    assert result.exit_code == 3
    html = page.read_text()
    assert '<h1 id="headline">It is undecided whether v' in html
    assert all(
        text.replace(">", "&gt;").replace("<", "&lt;") in html for text in requirements[1::2]
    )
    lines, _, for_papers = result.stdout.partition("\n\n")
    assert for_papers.startswith("The proportion of ratings by people was rate[v3, ")
    assert "@article{dawid1979," in for_papers
    assert [line.split(": ")[1].split(",")[0] for line in lines.splitlines()] == [
        "supported",
        "contradicted",
        "undecided",
    ]
    suite = ElementTree.parse(xml).getroot()
    assert (suite.get("tests"), suite.get("failures"), suite.get("skipped")) == ("3", "1", "1")
    assert f"| `{CONTRADICTED}` | contradicted | 0.000 |" in markdown.read_text()


@pytest.mark.parametrize(
    ("requirement", "options", "status"),
    [
        pytest.param(SUPPORTED, [], 0, marks=pytest.mark.proof),
        (UNDECIDED, [], 4),
        (UNDECIDED, ["--undecided", "pass"], 0),
    ],
)
def test_a_pipeline_passes_fails_or_waits_by_the_exit_status(
    files: list[object], requirement: str, options: list[str], status: int
) -> None:
    assert run(*files, "--require", requirement, *options).exit_code == status


def test_settings_may_stand_in_pyproject(
    files: list[object], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[tool.reliabayes.judge]\nfiles = ["verdicts.csv"]\nhuman = "labels.csv"\n'
        f'group = "system"\nrequire = ["{CONTRADICTED}"]\n'
    )
    monkeypatch.chdir(tmp_path)

    assert run().exit_code == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--require", "rate"], "a requirement must be written as"),
        (["--group", "model"], "group: a file must have the column 'model'; found verdicts.csv: "),
        (["--item", "answer"], "item: a file must have the column 'answer'"),
        (["--require", SUPPORTED, "--require", "rate"], "a requirement must be written as"),
        (["--human", "nothing.csv"], "there is no file nothing.csv"),
    ],
)
def test_bad_input_is_told_apart(files: list[object], arguments: list[str], message: str) -> None:
    result = run(*files, *arguments)

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


def test_a_sheet_that_is_given_twice_counts_once(files: list[object]) -> None:
    result = run(*files, "--human", files[2])

    assert "labels.csv is left out: it is the same as" in result.stderr.replace("\n", "")


def test_labels_of_unknown_answers_are_refused(files: list[object]) -> None:
    sheet = Path(str(files[2]))
    pd.read_csv(sheet).replace({"item": {"v3-001": "elsewhere"}}).assign(
        item=lambda table: table["item"].where(table.index > 0, "elsewhere")
    ).to_csv(sheet, index=False)

    result = run(*files)

    assert result.exit_code == 2
    assert "items on a label sheet must be among those that judges answered" in " ".join(
        result.stderr.split()
    )


def test_faults_name_the_file_and_the_options_that_the_command_has(files: list[object]) -> None:
    sheet = Path(str(files[2]))
    labels = pd.read_csv(sheet).replace({"rating": {0: "schlecht", 1: "gut"}})
    labels.loc[::3, "rating"] = labels.loc[::3, "rating"].str.upper() + " "
    labels.to_csv(sheet, index=False, sep=";")

    result = run(*files)
    joined = run(*files, "--twins", "join")

    assert result.exit_code == 2
    assert "labels.csv, rating: values must not differ only in spaces" in result.stderr
    assert 'Pass --twins "join" to join them' in result.stderr
    assert joined.exit_code == 2
    assert "by people, and 0, 1 by judges. Write them alike" in " ".join(joined.stderr.split())


def test_a_sheet_in_another_encoding_without_raters_is_read_as_other_tables_are(
    files: list[object], tmp_path: Path
) -> None:
    labels = pd.read_csv(Path(str(files[2]))).query("rater == 'person 1'")
    labels = labels[["item", "rating"]].assign(note="\u00fcber")
    labels.to_csv(tmp_path / "Ann.csv", index=False, sep=";", encoding="cp1252")
    arguments = [files[0], "--human", tmp_path / "Ann.csv", "--group", "system"]

    refused, read = run(*arguments), run(*arguments, "--tidy")

    assert refused.exit_code == 2
    assert "--tidy would read this table" in refused.stderr
    assert read.exit_code == 0
    assert "and there is 1" in read.stdout
    assert "--trust person if the person is always right" in " ".join(read.stderr.split())


def test_labels_by_people_that_are_taken_for_those_of_judges_are_asked_for(
    files: list[object],
) -> None:
    judges, _, people, *options = files

    result = run(judges, people, *options)

    assert "No rater is a person" in result.stderr
    for said in (result.stderr, result.stdout):
        assert "Pass --human FILE for labels by people, or --gold COLUMN for" in " ".join(
            said.split()
        )


def test_with_a_report_both_answers_are_printed(files: list[object], tmp_path: Path) -> None:
    sheet = Path(str(files[2]))
    pd.read_csv(sheet).query("rater == 'person 1'").to_csv(sheet, index=False)

    result = run(*files, "--report", tmp_path / "judge.html")

    assert "people rate" in result.stdout
    assert "(90% interval" in result.stdout
