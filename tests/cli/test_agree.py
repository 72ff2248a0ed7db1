"""The commands agree and simulate: their output, their files, and their exit status."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli.app import app
from reliabayes.guidelines import GUIDELINES
from tests.faults import files_of_at_most

JUDGES = str(datasets.about("shrout_fleiss_1979").path())
PATIENTS = str(datasets.about("dawid_skene_1979").path())
AGREE = ("agree", JUDGES, "--method", "analytic")
PERCENTILE = ("agree", JUDGES, "--method", "percentile")
SIMULATE = ("simulate", "--agreement", "0.6")
ICCS = ["ICC(1,1)", "ICC(1,k)", "ICC(2,1)", "ICC(2,k)", "ICC(3,1)", "ICC(3,k)"]
OF_GRADES = [
    "percent agreement",
    "Fleiss' kappa (linear)",
    "Fleiss' kappa (quadratic)",
    "Gwet's AC2 (quadratic)",
    "alpha (ordinal)",
    "Conger's kappa (linear)",
    "Conger's kappa (quadratic)",
]
COEFFICIENTS = ["alpha (interval)", *ICCS, *OF_GRADES]


def run(*arguments: str) -> Any:
    return CliRunner().invoke(app, [*arguments])


@pytest.fixture
def moods(tmp_path: Path) -> str:
    """Path of a table of ratings that are ordered words."""
    path = tmp_path / "moods.csv"
    path.write_text("item,rater,rating\n1,a,low\n1,b,mid\n2,a,high\n2,b,high\n3,a,low\n3,b,low\n")
    return str(path)


def test_agree_prints_a_row_for_each_coefficient_and_nothing_else() -> None:
    result = run(*AGREE)

    header, *rows = result.stdout.splitlines()
    assert header.split() == ["coefficient", "value", "se", "2.5%", "97.5%", "over", "method"]
    assert [row.rsplit(maxsplit=6)[0].strip() for row in rows] == COEFFICIENTS
    assert rows[3].split()[1] == "0.2898"  # Shrout & Fleiss (1979), Table 4: .29
    assert result.exit_code == 0


@pytest.mark.slow
def test_methods_print_a_sentence_for_the_paper_and_its_references() -> None:
    printed = run("agree", JUDGES, "--methods").stdout
    written = json.loads(run("agree", JUDGES, "--methods", "--json", "-").stdout)["methods"]

    _, sentence, bibtex = printed.split("\n\n", 2)
    assert sentence.startswith("Inter-rater reliability was ICC(2,1) = .29, 95% CI [.02, .76], 6 ")
    assert re.findall(r"^@\w+{(\w+),$", bibtex, re.M) == ["shrout1979", "mcgraw1996", "reliabayes"]
    assert written == {"sentence": sentence, "bibtex": bibtex.rstrip("\n")}


def test_agree_prints_to_standard_error_what_was_read() -> None:
    result = run(*AGREE)

    assert result.stderr == (
        "reliabayes: --scale is not given; the ratings are read as numeric 1..10 (--scale nominal "
        "for categories and --scale ordered for grades).\n"
        "reliabayes: Ratings(24 ratings of 6 items by 4 raters, numeric 1..10)\n"
    )


def test_agree_reads_a_square_table_of_counts(tmp_path: Path) -> None:
    path = tmp_path / "table.csv"
    path.write_text(",no,yes\nno,20,5\nyes,10,15\n")

    result = run("agree", str(path), "--shape", "table", "--method", "analytic", "--json", "-")

    assert json.loads(result.stdout)["coefficients"]["Cohen's kappa"]["value"] == pytest.approx(0.4)


@pytest.mark.slow
def test_agree_reports_both_views_of_grades_and_one_of_categories(tmp_path: Path) -> None:
    rows = [(1, 1, 2), (2, 2, 3), (5, 4, 5), (3, 3, 4), (1, 2, 1)]
    columns: dict[str, Any] = {
        "grades": rows,
        "answers": [[int(x > 2) for x in row] for row in rows],
    }
    found = {}
    for name, cells in columns.items():
        table = tmp_path / f"{name}.csv"
        pd.DataFrame(cells, columns=["ann", "ben", "cyd"]).rename_axis("item").to_csv(table)
        found[name] = run("agree", str(table)).stdout

    assert "alpha (ordinal)" in found["grades"]
    assert "ICC(2,1)" in found["grades"]
    assert "alpha (nominal)" in found["answers"]
    assert "ICC" not in found["answers"]


def test_a_guideline_adds_words_and_its_caution() -> None:
    result = run(*AGREE, "--guideline", "koo-li")

    header, *rows = result.stdout.splitlines()
    assert header.split()[-1] == "word"
    assert rows[6].split() == ["ICC(3,k)", *rows[6].split()[1:7], "excellent"]
    assert f"reliabayes: {GUIDELINES['koo_li'].caution}\n" in result.stderr


@pytest.mark.slow
def test_the_same_seed_draws_the_same_samples() -> None:
    one, same, other = (
        run(*PERCENTILE, "--bootstrap", "50", "--seed", seed).stdout for seed in "112"
    )

    assert one == same
    assert one != other


@pytest.mark.slow
def test_json_holds_the_coefficients_of_the_table(tmp_path: Path) -> None:
    out = tmp_path / "out.json"

    result = run(*AGREE, "--prob", "0.9", "--guideline", "koo_li", "--json", str(out))

    report = json.loads(out.read_text())
    ratings = rb.Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    row = ratings.agreement(method="analytic", prob=0.9, guideline="koo_li").loc["ICC(2,1)"]
    assert result.stdout.startswith("coefficient")
    assert report["data"]["items"] == 6
    assert report["sampling"] == {
        "over": None,
        "method": "analytic",
        "replicates": 2000,
        "prob": 0.9,
        "seed": 0,
    }
    assert (report["guideline"], report["caution"]) == ("Koo & Li", GUIDELINES["koo_li"].caution)
    assert report["coefficients"]["ICC(2,1)"] == {
        "value": row["value"],
        "standard_error": row["standard_error"],
        "lower": row["lower_90"],
        "upper": row["upper_90"],
        "over": "items",
        "method": "analytic",
        "word": "poor",
    }


def test_only_json_goes_to_standard_output_if_it_is_requested() -> None:
    result = run(*AGREE, "--json", "-")

    assert list(json.loads(result.stdout)["coefficients"]) == COEFFICIENTS


def test_json_has_null_for_what_is_not_a_number(tmp_path: Path) -> None:
    table = tmp_path / "pools.csv"
    table.write_text(
        "item,rater,rating,team\n1,a,x,s\n1,b,y,s\n1,c,x,t\n1,d,x,t\n2,a,y,s\n2,b,x,s\n2,c,y,t\n2,d,x,t\n"
    )

    result = run("agree", str(table), "--pool", "team", "--method", "analytic", "--json", "-")

    report = json.loads(result.stdout, parse_constant=pytest.fail)
    assert report["coefficients"]["normalized kappa_x"]["value"] is None
    assert "reliabayes: warning: normalized kappa_x is undefined" in result.stderr


def test_categories_give_the_order_of_words(moods: str) -> None:
    result = run("agree", moods, "--scale", "ordered", "--categories", "low,mid, high")

    assert result.exit_code == 0
    assert "Cohen's kappa (quadratic)  0.8000" in result.stdout  # by hand: 1 - (1/4/3) / (5/12)


def test_words_without_an_order_are_refused_with_the_option_to_use(moods: str) -> None:
    result = run("agree", moods, "--scale", "ordered")

    assert result.exit_code == 2
    assert "Pass --categories C,C,..., lowest first" in result.stderr


def test_numeric_categories_are_read_as_numbers(tmp_path: Path) -> None:
    run(*SIMULATE, "--out", str(tmp_path / "r.csv"))

    result = run(
        "describe", str(tmp_path / "r.csv"), "--scale", "nominal", "--categories", "4,3,2,1"
    )

    assert "4, 3, 2, 1" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["agree", "absent.csv"], "absent.csv: there is no such file"),
        ([*AGREE, "--guideline", "koo-lee"], "not 'koo-lee'. Did you mean koo-li?"),
        ([*AGREE, "--rater", "judge"], "(rater='judge'); found only 'item', 'rater', 'rating'"),
        ([*AGREE, "--pool", "team"], "(pool='team'); found only"),
        ([*AGREE, "--bootstrap", "1"], "Invalid value for '--bootstrap'"),
        ([*AGREE, "--prob", "0"], "must lie strictly between 0 and 1, not 0"),
        ([*AGREE, "--over", "raters"], 'method "analytic" supports over="items" only'),
        ([*AGREE, "--over", "rater"], "'rater' is not one of 'items', 'raters', 'both'"),
        ([*AGREE, "--categories", "1,2"], "ratings must be among the categories 1, 2"),
        ([*AGREE, "--json", "/absent/out.json"], "cannot write /absent/out.json"),
        ([*AGREE, "--json", JUDGES], "must not overwrite the ratings"),
        (["agree", PATIENTS, "--scale", "nominal"], 'pass --replicates "keep"'),
        (["simulate"], "Missing option '--agreement'"),
        (["simulate", "--agreement", "1.5"], "must lie between 0 and 1; found 1.5"),
        ([*SIMULATE, "--raters", "1"], "raters must be 2 or more; found 1"),
        ([*SIMULATE, "--distribution", "a,b,c"], "must be numbers separated by commas"),
        ([*SIMULATE, "--distribution", "1,2"], "must be 3 finite weights of 0 or more"),
        ([*SIMULATE, "--match", "near"], "'near' is not"),
        ([*SIMULATE, "--out", "/absent/out.csv"], "cannot write /absent/out.csv"),
    ],
)
def test_bad_input_is_refused(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 300)  # read once from the environment

    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


def test_a_single_rater_is_refused(tmp_path: Path) -> None:
    (tmp_path / "r.csv").write_text("item,rater,rating\n1,a,1\n2,a,2\n")

    result = run("agree", str(tmp_path / "r.csv"))

    assert result.exit_code == 2
    assert "there must be at least two raters; found only 'a'" in result.stderr


@pytest.mark.slow
def test_a_single_pool_causes_a_warning_and_the_rest_is_printed(tmp_path: Path) -> None:
    table = datasets.load("shrout_fleiss_1979").assign(team="all")
    table.to_csv(tmp_path / "r.csv", index=False)

    result = run("agree", str(tmp_path / "r.csv"), *AGREE[2:], "--pool", "team")

    assert result.exit_code == 0
    assert result.stdout == run(*AGREE).stdout
    assert "warning: kappa_x, normalized kappa_x: left out." in result.stderr


def test_simulate_writes_the_table_that_the_library_simulates() -> None:
    options = ("--raters", "5", "--ratings-per-item", "3", "--categories", "4", "--items", "50")

    result = run(*SIMULATE, *options, "--distribution", "4,3,2,1", "--seed", "7")

    expected = rb.simulate.rating_matrix(
        agreement=0.6,
        rng=np.random.default_rng(7),
        items=50,
        raters=5,
        ratings_per_item=3,
        categories=4,
        distribution=[4, 3, 2, 1],
    ).to_frame()
    assert result.stdout == expected.astype(int).to_csv(index=False)
    assert result.stderr.startswith(
        "reliabayes: seed 7\nreliabayes: Ratings(150 ratings of 50 items"
    )
    assert result.exit_code == 0


def test_match_makes_the_observed_agreement_exact(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    run(*SIMULATE, "--match", "observed", "--items", "50", "--out", str(table))

    result = run("agree", str(table), "--scale", "nominal")

    assert re.search(r"^percent agreement +0\.6000", result.stdout, re.MULTILINE)


def test_simulate_writes_a_file_and_prints_nothing(tmp_path: Path) -> None:
    result = run(*SIMULATE, "--out", str(tmp_path / "r.csv"))

    assert result.stdout == ""
    assert len(pd.read_csv(tmp_path / "r.csv")) == 200
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


@pytest.mark.parametrize(("command", "option"), [(AGREE, "--json"), (SIMULATE, "--out")])
def test_a_full_disk_keeps_the_old_file(
    command: tuple[str, ...], option: str, tmp_path: Path
) -> None:
    target = tmp_path / "out"
    target.write_text("old")

    with files_of_at_most(500):
        result = run(*command, option, str(target))

    assert result.exit_code == 1
    assert "[Errno 27] File too large: the file needs" in result.stderr
    assert [path.read_text() for path in tmp_path.iterdir()] == ["old"]


def test_ratings_are_sets_of_labels_if_a_separator_is_named(tmp_path: Path) -> None:
    """NLTK 3.10.4 AnnotationTask: alphas of two coders of eleven items."""
    one = ["1;2", "1;2", "1", "3", "3", "4", "2", "1;2", "1;2", "1", "1"]
    other = ["1", "2;1", "1", "3", "1;3", "4", "4", "1", "1;2;3", "1", "1"]
    path = tmp_path / "tags.csv"
    pd.DataFrame({"item": range(11), "one": one, "other": other}).to_csv(path, index=False)

    result = run("agree", str(path), "--separator", ";", "--json", "-")

    found = json.loads(result.stdout)["coefficients"]
    assert found["alpha (masi)"]["value"] == pytest.approx(0.5403556771545828)
    assert found["alpha (jaccard)"]["value"] == pytest.approx(0.6015625)
    assert found["percent agreement"]["value"] == pytest.approx(6 / 11)
