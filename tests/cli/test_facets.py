"""The option --facet of the commands that read ratings."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes.cli.app import app
from reliabayes.cli.options import Facets
from reliabayes.cli.ratings_file import with_option_names
from reliabayes.cli.recommended import recommended_models
from reliabayes.cli.report_command import _command_line
from reliabayes.cli.sampling import Sampling
from reliabayes.errors import Fault, RatingsError
from tests.html_report.test_report import CHECKS, DRAWN, make_quick
from tests.judge_panels import panel

TABLE = """item,rater,rating,day,sheet
a,x,1,1,p
a,x,2,2,p
a,y,1,1,q
a,y,2,2,q
b,x,3,1,q
b,x,5,2,q
b,y,4,1,p
b,y,5,2,p
c,x,3,1,q
c,y,4,1,p
"""


@pytest.fixture
def table(tmp_path: Path) -> str:
    path = tmp_path / "tests.csv"
    path.write_text(TABLE)
    return str(path)


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments])


def test_columns_are_named_one_by_one(table: str) -> None:
    result = run("describe", table, "--facet", "day", "--facet", "form=sheet")

    assert result.exit_code == 0
    assert re.search(r"facets +day \(2 levels\), form \(2 levels\)\n", result.stdout)
    assert re.search(r"replicates +0\n", result.stdout)


def test_json_names_columns_and_levels(table: str) -> None:
    facets = ["--facet", "day", "--facet", "form=sheet"]
    result = run("agree", table, *facets, "--scale", "nominal", "--bootstrap", "2", "--json", "-")

    data = json.loads(result.stdout)["data"]

    assert data["columns"]["day"] == "day"
    assert data["columns"]["form"] == "sheet"
    assert data["facets"] == {"day": 2, "form": 2}


def test_agree_says_that_pairs_are_of_different_raters(table: str) -> None:
    facets = ["--facet", "day", "--facet", "form=sheet"]
    result = run("agree", table, *facets, "--scale", "nominal", "--json", "-")

    found = json.loads(result.stdout)

    assert "by different raters, whether or not day and form are the same" in found["pairs"]
    assert "percent agreement, within raters" in found["coefficients"]
    assert found["pairs"] in " ".join(result.stderr.split())


@pytest.mark.parametrize(
    ("options", "remedy"),
    [
        ([], "or --facet COLUMN with the columns in which they differ"),
        (["--facet", "days"], "Did you mean --facet day?"),
        (["--facet", "d=days", "--facet", "sheet"], "Did you mean --facet d=day --facet sheet?"),
        (["--facet", "number"], "Say which column it is: --facet COLUMN"),
        (["--facet", "rater"], "Pass --facet 'another name=rater'."),
        (["--facet", "d=day", "--facet", "d=sheet"], "found 'd' more than once"),
    ],
)
def test_remedies_name_the_option(table: str, options: list[str], remedy: str) -> None:
    result = run("describe", table, *options)

    assert result.exit_code == 2
    assert remedy in result.stderr


@pytest.mark.parametrize(
    ("remedy", "found"),
    [
        ("Did you mean facets=['d] \"x']?", "Did you mean --facet 'd] \"x'?"),
        ("Did you mean facets={'scale': 'day'}?", "Did you mean --facet scale=day?"),
        ("Did you mean item='facets=[x]'?", "Did you mean --item 'facets=[x]'?"),
        ("Pass drop=['item x day'].", "Pass --drop 'item x day'."),
    ],
)
def test_odd_names_of_columns_stay_what_they_are(remedy: str, found: str) -> None:
    error = RatingsError([Fault("columns", "a rule", "a fault", remedy)])

    assert with_option_names(error).faults[0].remedy == found


def test_the_command_of_a_report_repeats_the_option(table: str) -> None:
    report: Any = typer.main.get_command(app)
    given = ["--facet", "day", "--facet", "form=sheet", "--out", "page.html"]
    context = report.commands["report"].make_context("report", [table, *given])

    found = _command_line(context, Sampling(seed=1), [rb.TAP()])

    assert "--facet day --facet form=sheet" in found


def test_the_command_of_a_report_names_the_design_that_was_recommended(table: str) -> None:
    report: Any = typer.main.get_command(app)
    context = report.commands["report"].make_context("report", [table, "--facet", "day"])
    model = rb.GStudy(design="item x rater x day", drop=("rater x day",), family="ordinal")

    found = _command_line(context, Sampling(seed=1), [model])

    assert "--models gstudy" in found
    assert "--design 'item x rater x day' --drop 'rater x day'" in found
    assert "--family ordinal" in found


@pytest.mark.slow
def test_without_a_model_fit_takes_the_design_of_the_ratings(table: str) -> None:
    with open(table, "a") as file:
        file.write("c,x,2.5,2,q\nc,y,2,2,p\n")

    result = run("fit", table, "--facet", "day", "--seed", "1", "--draws", "50")

    assert result.exit_code == 0
    assert (
        "--model is not given; recommended and used: gstudy (the ratings are numbers, and their "
        'design is "item x rater x day"). Alternatives: gaussian-icc' in result.stderr
    )
    assert "variance[item x day]" in result.stdout


def test_compare_leaves_out_studies_of_grades_as_numbers() -> None:
    cells = np.indices((8, 3, 2)).reshape(3, -1)
    frame = pd.DataFrame(dict(zip(("item", "rater", "day"), cells, strict=True)))
    frame["rating"] = cells.sum(axis=0) % 5
    ratings = rb.Ratings.from_frame(frame, facets=["day"])

    found = recommended_models(ratings, "--models")

    assert found == [
        rb.GStudy(design="item x rater x day", family="ordinal"),
        rb.OrdinalICC(repeats="one_vote"),
    ]


@pytest.mark.parametrize(
    ("command", "message"),
    [
        (["fit", "--drop", "day"], "--drop leaves out sources of a --design; give one."),
        (
            ["fit", "--design", "item x day", "--model", "tap"],
            "--design is for --model gstudy, not tap.",
        ),
        (["fit", "--design", "item x"], "--design: 'item x' is no design"),
        (
            ["report", "--design", "item x rater", "--drop", "days"],
            "--drop: drop must name sources of 'item x rater'; found 'days'.",
        ),
        (
            ["report", "--design", "item x rater", "--models", "tap,mace"],
            "--design is for gstudy, which --models does not name.",
        ),
        (
            ["compare", "--family", "logit", "--models", "tap,mace"],
            "--family is for gstudy, which --models does not name.",
        ),
        (["compare", "--design", "item x rater"], "--models must name two or more models"),
    ],
)
def test_designs_that_cannot_be_used_are_refused(
    table: str, command: list[str], message: str
) -> None:
    result = run(command[0], table, "--facet", "day", *command[1:])

    assert result.exit_code == 2
    assert message in " ".join(result.stderr.replace("│", " ").split())


@pytest.mark.slow
def test_compare_takes_the_design_for_gstudy(table: str) -> None:
    models = ["--models", "gaussian-icc,gstudy", "--facet", "day", "--scale", "numeric"]
    design = ["--design", "item x rater x day", "--drop", "rater x day"]

    result = run("compare", table, *models, *design, "--chains", "1", "--draws", "50")

    assert result.exit_code == 0, result.stderr
    assert {"gaussian-icc", "gstudy"} <= set(result.stdout.split())


@pytest.mark.parametrize(
    ("models", "found"),
    [(None, ["GStudy"]), ("gaussian-icc,gstudy", ["GaussianICC", "GStudy"])],
)
def test_a_report_takes_the_design_for_gstudy(models: str | None, found: list[str]) -> None:
    named = Facets(design="item x day").among(models)

    assert [type(model).__name__ for model in named] == found
    assert named[-1] == rb.GStudy(design="item x day")


def test_family_is_for_studies_of_facets(table: str) -> None:
    result = run("fit", table, "--model", "tap", "--family", "logit")

    assert result.exit_code == 2
    assert "--family is for --model gstudy, not tap." in result.stderr


@pytest.mark.slow
def test_family_is_that_of_the_ratings(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    rows = [(i, r, (i + r) % 3 > 0) for i in range(12) for r in range(3)]
    path.write_text("item,rater,rating\n" + "".join(f"{i},{r},{int(y)}\n" for i, r, y in rows))
    quick = ["--chains", "2", "--draws", "50", "--warmup", "50", "--seed", "1", "--json", "-"]

    result = run("fit", str(path), "--family", "logit", *quick)

    found = json.loads(result.stdout)
    assert found["model"] == "gstudy"
    assert {"phi", "phi_observed", "rate"} <= found["quantities"].keys()


@pytest.mark.slow
def test_a_report_of_runs_says_that_judges_err_together(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_quick(monkeypatch, *DRAWN, *CHECKS)
    table, page = tmp_path / "panel.csv", tmp_path / "page.html"
    panel(1).table.to_csv(table, index=False)

    result = run(
        *("report", str(table), "--item", "answer", "--rating", "pass", "--facet", "run"),
        *("--draws", "50", "--chains", "2", "--out", str(page)),
    )

    assert result.exit_code == 0, result.stderr
    assert "several ratings of an item by one rater count as one vote" in " ".join(
        result.stderr.split()
    )
    html = page.read_text()
    assert "judge 1 and judge 2 make the same errors" in html
    assert (
        "1,300 ratings of 500 items by 5 raters (one by each rater of an item; 3,300 were" in html
    )
