"""The command line: what it prints to which stream, what it writes, and its exit status."""

from __future__ import annotations

import io
import json
import math
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any
from unittest.mock import Mock
from uuid import uuid4

import pandas as pd
import psutil
import pytest
import typer
from rich.console import Console
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes import datasets
from reliabayes.cli import main, overview_commands
from reliabayes.cli.app import app
from reliabayes.cli.fit_results import print_posterior
from reliabayes.cli.output import while_computing
from reliabayes.cli.ratings_file import RatingsFile, TableOptions
from tests.faults import files_of_at_most, on_small_disk
from tests.html_report.test_report import CHECKS, DRAWN, make_quick, pools
from tests.ratings.readers import files

pytestmark = pytest.mark.slow

SCRIPT = Path(sys.executable).with_name("reliabayes")
JUDGES = str(datasets.about("shrout_fleiss_1979").path())
PATIENTS = str(datasets.about("dawid_skene_1979").path())
FIT = ["fit", JUDGES, "--model", "gaussian-icc", "--draws", "500", "--seed", "1"]
ENDLESS = ["fit", JUDGES, "--model", "gaussian-icc", "--draws", "100000000", "--chains", "2"]
PATIENT_OPTIONS = ("--scale", "nominal", "--replicates", "keep")
EM = ("fit", PATIENTS, *PATIENT_OPTIONS, "--model", "dawid-skene", "--method", "em")
QUANTITIES = ["icc", "icc_consistency", "labeler_icc", "sd_item", "sd_rater", "sd_residual", "mean"]

MESSY = """ad,who,score
a,x,1
b,x,inf
b,y,
b,y,4
,y,4
"""


class OtherICC(rb.GaussianICC):
    """A model that is not part of the package."""

    summary = "ICC of another kind"

    def program(self, data: object) -> str:
        return "gaussian_icc"


def run(*arguments: str) -> Any:
    """Run in this process, which is fast, but without the streams of a shell."""
    return CliRunner().invoke(app, [*arguments])


@cache
def fitted() -> Any:
    """What a fit prints, for all tests that only read it."""
    return run(*FIT)


@pytest.fixture
def with_streams(monkeypatch: pytest.MonkeyPatch) -> Callable[..., object]:
    """Run the whole program in this process with other streams; returns its status."""

    def run_main(*arguments: str, **streams: Any) -> object:
        monkeypatch.setattr(signal, "signal", lambda *_: None)
        monkeypatch.setattr(sys, "argv", ["reliabayes", *arguments])
        for name, stream in streams.items():
            monkeypatch.setattr(sys, name, stream)
        with pytest.raises(SystemExit) as ended:
            main()
        return ended.value.code

    return run_main


def shell(command: str) -> subprocess.CompletedProcess[str]:
    """Run in a shell with ``reliabayes`` on its path; a failure within a pipe counts as one."""
    path = f"{SCRIPT.parent}{os.pathsep}{os.environ['PATH']}"
    return subprocess.run(
        ["bash", "-o", "pipefail", "-c", command],
        env=os.environ | {"PATH": path},
        capture_output=True,
        text=True,
        timeout=120,
    )


def marked(mark: str, name: str = "") -> list[psutil.Process]:
    """Return running processes with a mark in their environment and a name in their program."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error):
            if process.environ().get("MARK") == mark and name in process.exe():
                found.append(process)
    return found


@pytest.fixture
def mark() -> Iterator[str]:
    """Mark for the environment of a process, to find and end the processes it leaves behind."""
    mark = uuid4().hex
    yield mark
    for process in marked(mark):
        process.kill()


def interrupted(folder: Path, mark: str, send: Callable[[int], None]) -> tuple[int, str]:
    """Interrupt an endless fit while it samples; return its status and its output."""
    outputs = ["--json", f"{folder}/out.json", "--save", f"{folder}/out.nc"]
    process = subprocess.Popen(
        [SCRIPT, *ENDLESS, *outputs],
        env=os.environ | {"MARK": mark, "TMPDIR": str(folder)},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    deadline = time.monotonic() + 120
    while not marked(mark, "reliabayes-stan") and time.monotonic() < deadline:
        time.sleep(0.1)
    send(process.pid)
    output, _ = process.communicate(timeout=120)
    return process.returncode, output


def test_fit_prints_only_the_posterior_to_standard_output() -> None:
    result = fitted()

    table, finding = result.stdout.split("\n\n")
    header, *rows = table.splitlines()
    columns = ["quantity", "mean", "sd", "median", "5%", "95%", "ess_bulk", "ess_tail", "r_hat"]
    assert header.split() == columns
    assert [row.split()[0] for row in rows] == QUANTITIES
    verdict, *figures, note = finding.splitlines()
    assert re.match(
        r"(Probably|Yes|Not yet).*: 4 ratings an item give a reliability of 0\.", verdict
    )
    assert re.match(r"  0\.\d\d \(.* to .*\) reliability with 4 ratings an item", figures[0])
    assert (len(figures), note) == (4, "Ranges are 90% intervals.")
    assert "4 chains of 500 draws by NUTS, seed 1: largest R-hat 1.0" in result.stderr
    assert result.exit_code == 0


def test_a_terminal_shows_what_is_computed_and_then_forgets_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    terminal, log = (
        Console(file=io.StringIO(), force_terminal=x, highlight=False) for x in (True, False)
    )
    for console in (terminal, log):
        monkeypatch.setattr("reliabayes.cli.output.stderr", console)
        with while_computing("the report"):
            pass

    assert isinstance(terminal.file, io.StringIO)
    assert terminal.file.getvalue() == "reliabayes: computing the report ...\r\x1b[2K\r"
    assert isinstance(log.file, io.StringIO)
    assert log.file.getvalue() == ""


def test_a_narrow_terminal_shows_whole_names_and_the_interval(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    written = io.StringIO()
    terminal = Console(file=written, width=80, force_terminal=True, markup=False)
    monkeypatch.setattr("reliabayes.cli.output.stdout", terminal)
    fit = pools()

    print_posterior(fit, 0.9)

    lines = re.sub(r"\x1b\[[0-9;]*m", "", written.getvalue()).splitlines()
    assert lines[0].split() == ["quantity", "median", "5%", "95%", "r_hat"]
    assert [line.rsplit(maxsplit=4)[0] for line in lines[1:]] == list(fit.summary().index)
    assert max(map(len, lines)) <= 80


def test_output_to_a_pipe_is_plain_text() -> None:
    result = fitted()

    assert result.stdout.isascii()
    assert "\x1b" not in result.stdout
    assert [line for line in result.stdout.splitlines() if line != line.rstrip()] == []


def test_output_to_a_pipe_is_never_wrapped(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = fitted().stdout
    monkeypatch.setenv("COLUMNS", "30")

    result = run(*FIT)

    assert result.stdout == whole  # also as the same seed gives the same draws


def test_a_terminal_of_80_columns_shows_the_table_without_wrapping(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    plain, _ = fitted().stdout.split("\n\n")
    terminal = Console(force_terminal=True, width=80, no_color=True, highlight=False)
    monkeypatch.setattr("reliabayes.cli.output.stdout", terminal)

    shown = re.sub(r"\x1b\[\d*m", "", run(*FIT).stdout).splitlines()

    assert [line.rstrip() for line in shown][: len(QUANTITIES) + 1] == plain.splitlines()
    assert max(map(len, shown)) <= 80


def test_the_interval_has_the_requested_probability() -> None:
    result = run(*FIT, "--prob", "0.5", "--json", "-")

    icc = json.loads(result.stdout)["quantities"]["icc"]
    assert icc["prob"] == 0.5
    assert 0.15 < icc["lower"] < icc["median"] < icc["upper"] < 0.5


def test_json_holds_the_summary_of_the_fit(tmp_path: Path) -> None:
    result = run(*FIT, "--json", str(tmp_path / "out.json"), "--save", str(tmp_path / "out.nc"))

    report = json.loads((tmp_path / "out.json").read_text())
    fit = rb.Fit.load(tmp_path / "out.nc")
    icc = fit.summary().loc["icc"]
    assert result.exit_code == 0
    keys = ["model", "version", "data", "method", "quantities", "caution", "diagnostics"]
    assert list(report) == keys
    assert report["caution"] == fit.summary().attrs["caution"]
    assert list(report["quantities"]) == QUANTITIES
    assert report["quantities"]["icc"] == {
        "mean": icc["mean"],
        "sd": icc["sd"],
        "median": icc["median"],
        "lower": icc["lower_90"],
        "upper": icc["upper_90"],
        "prob": 0.9,
        "ess_bulk": icc["ess_bulk"],
        "ess_tail": icc["ess_tail"],
        "r_hat": icc["r_hat"],
    }
    assert report["data"]["items"] == 6
    assert report["diagnostics"]["divergences"] == 0
    assert report["diagnostics"]["settings"]["seed"] == 1
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out.json", "out.nc"]


def test_tables_of_items_and_raters_go_to_files(tmp_path: Path) -> None:
    items, raters = tmp_path / "items.csv", tmp_path / "raters.csv"

    result = run(*EM, "--items", str(items), "--raters", str(raters))

    assert result.exit_code == 0
    assert items.read_text().splitlines()[0] == "item,ratings,category,probability,entropy"
    assert len(items.read_text().splitlines()) == 46
    columns = "rater,ratings,accuracy,informativeness,random_share,information_lost,"
    assert raters.read_text().startswith(columns)


def test_em_prints_the_published_estimate_and_its_convergence() -> None:
    result = run(*EM)

    assert re.search(r"^prevalence\[2\] +0.4220$", result.stdout, re.MULTILINE)
    assert re.search(r"^log_likelihood +-192.8909$", result.stdout, re.MULTILINE)
    assert "PointEstimate(DawidSkene, converged after" in result.stderr


def test_json_holds_the_point_estimate_of_em() -> None:
    report = json.loads(run(*EM, "--json", "-").stdout)

    assert report["method"] == "em"
    assert report["quantities"]["prevalence[1]"]["estimate"] == pytest.approx(0.3996, abs=5e-5)
    assert report["diagnostics"]["converged"] is True


@pytest.mark.parametrize(
    ("cells", "message"),
    [
        (
            "a,x,1 a,y,2 b,x,5 b,y,5",
            "the 3 whole numbers are probably grades (--scale nominal for categories and --scale "
            "numeric for amounts).",
        ),
        (
            "a,x,1 a,y,1 b,x,0 b,y,1",
            "0 and 1 are probably categories (--scale ordered for grades and --scale numeric for "
            "amounts).",
        ),
        ("a,x,1.5 a,y,2 b,x,5 b,y,5", "the ratings are read as numeric 1.5..5."),
        ("a,x,no a,y,no b,x,yes b,y,no", "the ratings are read as nominal in 2 categories."),
    ],
)
def test_the_scale_is_said_where_it_was_guessed(tmp_path: Path, cells: str, message: str) -> None:
    table = tmp_path / "r.csv"
    table.write_text("\n".join(["item,rater,rating", *cells.split()]))

    guessed, given = (run("describe", str(table), *more) for more in ([], ["--scale", "nominal"]))

    assert guessed.stderr.splitlines() == [f"reliabayes: --scale is not given; {message}"]
    assert given.stderr == ""


def test_without_a_model_fit_takes_the_recommended_one_and_says_why() -> None:
    named, chosen = fitted(), run(*FIT[:2], *FIT[4:])

    (line,) = (line for line in chosen.stderr.splitlines() if "recommended" in line)
    assert chosen.stdout == named.stdout
    assert line == (
        "reliabayes: --model is not given; recommended and used: gaussian-icc (the ratings are "
        "numbers). Alternatives: ordinal-icc (if the numbers are grades; --scale ordered)."
    )
    assert "recommended" not in named.stderr
    assert "If they are grades" not in chosen.stderr  # which the line says


def test_without_models_report_takes_the_recommended_one_and_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tmp_path / "page.html"

    make_quick(monkeypatch, *DRAWN, *CHECKS)

    result = run("report", JUDGES, "--draws", "50", "--seed", "1", "--out", str(page))

    assert result.exit_code == 0
    assert "--models is not given; recommended and used: gaussian-icc" in result.stderr
    assert "--models gaussian-icc" in page.read_text()


def test_report_writes_the_tables_of_its_model(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rb, "report", lambda *_, **__: None)
    items, raters = tmp_path / "items.csv", tmp_path / "raters.csv"
    model = ("--models", "gaussian-icc", "--draws", "50", "--seed", "1")
    tables = ("--items", str(items), "--raters", str(raters))

    result = run("report", JUDGES, *model, *tables, "--out", str(tmp_path / "page.html"))

    assert result.exit_code == 0
    assert items.read_text().startswith("item,ratings,mean,")
    assert raters.read_text().startswith("rater,ratings,mean,")
    assert f"wrote {items}" in result.stderr.replace("\n", "")


def test_report_writes_no_tables_of_several_models(tmp_path: Path) -> None:
    models = ("--models", "gaussian-icc,logit-icc", "--items", str(tmp_path / "items.csv"))

    result = run("report", JUDGES, *models, "--out", str(tmp_path / "page.html"))

    assert result.exit_code == 2
    assert "--items writes estimates of one model" in " ".join(
        re.sub("│", "", result.stderr).split()
    )


def test_a_command_reads_an_export_and_says_what_it_left_out(tmp_path: Path) -> None:
    rows = [
        "h1,w1,Approved,a,v1",
        "h1,w2,Approved,b,v1",
        "h2,w1,Rejected,a,v2",
        "h2,w2,Approved,b,v2",
    ]
    table = tmp_path / "batch.csv"
    header = "HITId,WorkerId,AssignmentStatus,Answer.label,Input.system"
    table.write_text("\n".join([header, *rows]))

    result = run("describe", str(table), "--group", "system")

    assert result.exit_code == 0
    assert "read as an export of Mechanical Turk; --format table" in result.stderr
    assert "Left out: 1 rejected." in result.stderr
    assert re.search(r"groups +2\n", result.stdout)


def test_a_command_reads_all_logs_of_a_folder(tmp_path: Path) -> None:
    for name in ("a.eval", "b.eval"):  # copies of one log
        files.inspect(tmp_path / name)

    result = run("describe", str(tmp_path), "--scale", "nominal")

    assert result.exit_code == 0
    assert "read as an export of Inspect" in result.stderr
    assert re.search(r"ratings +5\n", result.stdout)


def test_a_command_names_the_questions_of_an_export(tmp_path: Path) -> None:
    table = tmp_path / "batch.csv"
    header = "HITId,WorkerId,AssignmentStatus,Answer.label,Answer.mood"
    table.write_text(f"{header}\nh1,w1,Approved,a,x\nh1,w2,Approved,b,y\n")

    result = run("describe", str(table))

    assert result.exit_code == 2
    assert "Pass --question 'label' or --question 'mood'." in result.stderr


def test_without_models_compare_takes_those_that_suit_the_ratings(tmp_path: Path) -> None:
    table = tmp_path / "labels.csv"
    cells = [
        (item, rater, "ny"[(item + rater * item % 3) % 2])
        for item in range(9)
        for rater in range(3)
    ]
    rows = [f"{item},{rater},{rating}" for item, rater, rating in cells]
    table.write_text("\n".join(["item,rater,rating", *rows]))

    result = run("compare", str(table), "--draws", "50", "--chains", "1", "--seed", "1")

    assert "recommended and used: dawid-skene, logit-icc, latent-tap" in result.stderr
    assert {"dawid-skene", "logit-icc", "latent-tap"} <= set(result.stdout.split())


def test_gold_is_read_from_a_column(tmp_path: Path) -> None:
    (tmp_path / "labels.csv").write_text(
        "item,rater,rating,truth\n1,a,x,x\n1,b,y,x\n2,a,y,\n2,b,x,\n3,a,x,\n3,b,x,\n"
    )
    fit = ("fit", str(tmp_path / "labels.csv"), "--model", "dawid-skene", "--method", "em")

    result = run(*fit, "--gold", "truth", "--items", str(tmp_path / "items.csv"))

    assert result.exit_code == 0
    assert "1,2,x,1.0,0.0" in (tmp_path / "items.csv").read_text()


def test_all_commands_read_tables_with_the_same_options(tmp_path: Path) -> None:
    table = pd.read_csv(JUDGES).assign(truth=lambda x: x["rating"].where(x["item"] < 3, None))
    table.loc[table["item"] < 3, "truth"] = 9
    table.to_csv(tmp_path / "scores.csv", index=False)
    commands: Any = typer.main.get_command(app)
    readers = {name: commands.commands[name] for name in ("fit", "compare", "report", "agree")}
    readers["describe"] = commands.commands["describe"]
    judge = commands.commands["judge"]

    described, agreed = (
        run(name, str(tmp_path / "scores.csv"), "--gold", "truth") for name in ("describe", "agree")
    )

    of_tables = {field.name for field in fields(TableOptions)}
    of_files = of_tables | {field.name for field in fields(RatingsFile)} - {"file", "table"}
    missing = {
        name: options - {str(parameter.name) for parameter in command.params}
        for options, commands in ((of_files, readers), (of_tables, {"judge": judge}))
        for name, command in commands.items()
    }
    assert not any(missing.values()), missing
    assert re.search(r"items with a known answer +2\n", described.stdout)
    assert "make no use of --gold" in agreed.stderr


def test_gold_that_a_model_makes_no_use_of_is_said(tmp_path: Path) -> None:
    table = pd.read_csv(JUDGES).assign(truth=8.5)
    table.to_csv(tmp_path / "scores.csv", index=False)

    result = run("fit", str(tmp_path / "scores.csv"), "--gold", "truth", *FIT[2:4], "--draws", "50")

    assert "gaussian-icc has no true categories; it makes no use of --gold." in result.stderr


def test_compare_puts_the_best_predicting_model_first() -> None:
    models = ("--models", "tap,dawid-skene", "--seed", "1", "--draws", "100", "--chains", "2")

    result = run("compare", PATIENTS, *PATIENT_OPTIONS, *models)

    header, first, second = result.stdout.splitlines()
    assert header.split()[:3] == ["model", "bits_per_rating", "se"]
    assert (first.split()[0], second.split()[0]) == ("dawid-skene", "tap")
    assert "fitting dawid-skene" in result.stderr


def test_models_of_numbers_are_compared(tmp_path: Path) -> None:
    table = datasets.load("shrout_fleiss_1979")
    first_two = table["rater"].isin(table["rater"].unique()[:2])
    table.assign(team=first_two).to_csv(tmp_path / "scores.csv", index=False)
    models = ("--models", "gaussian-icc,gaussian-xcc")
    sampling = ("--seed", "1", "--draws", "50", "--chains", "1")

    result = run("compare", str(tmp_path / "scores.csv"), "--pool", "team", *models, *sampling)

    assert result.exit_code == 0
    assert result.stdout.split()[0] == "model"
    assert {"gaussian-icc", "gaussian-xcc"} <= set(result.stdout.split())


def test_json_goes_to_standard_output_alone() -> None:
    result = run(*FIT, "--json", "-")

    assert json.loads(result.stdout)["model"] == "gaussian-icc"


def test_json_has_no_literal_that_is_not_json(monkeypatch: pytest.MonkeyPatch) -> None:
    summary = rb.Fit.summary
    monkeypatch.setattr(
        rb.Fit, "summary", lambda fit, prob: summary(fit, prob).assign(r_hat=math.nan, sd=math.inf)
    )

    result = run(*FIT, "--json", "-")

    icc = json.loads(result.stdout, parse_constant=pytest.fail)["quantities"]["icc"]
    assert icc["r_hat"] is None
    assert icc["sd"] is None


def test_numbers_that_may_be_grades_are_noted_with_the_option_for_them() -> None:
    result = fitted()

    note = "If they are grades rather than amounts, --scale ordered and a model of ordered"
    assert f"reliabayes: The ratings are 10 whole numbers. {note}" in " ".join(
        result.stderr.split()
    )


def test_poor_draws_are_warned_of_on_standard_error() -> None:
    result = run(*FIT[:4], "--draws", "20", "--seed", "1")

    assert (
        "reliabayes: warning: GaussianICC: the draws may not represent the posterior"
        in result.stderr
    )
    assert result.exit_code == 0


def test_columns_may_be_named(tmp_path: Path) -> None:
    table = datasets.load("shrout_fleiss_1979").assign(team="all")
    table.columns = ["ad", "who", "score", "team"]
    table.to_csv(tmp_path / "r.tsv", sep="\t", index=False)
    names = ["--item", "ad", "--rater", "who", "--rating", "score", "--pool", "team"]

    result = run("fit", str(tmp_path / "r.tsv"), *FIT[2:], *names)

    assert result.stdout == fitted().stdout


def test_pools_are_a_column(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    cells = [(item, rater, item % 4 + rater * item % 3) for item in range(9) for rater in range(6)]
    rows = [f"{item},{rater},{rating},{'ab'[rater > 2]}" for item, rater, rating in cells]
    table.write_text("\n".join(["item,rater,rating,team", *rows]))
    quick = ("--seed", "1", "--draws", "50", "--warmup", "50", "--chains", "1")
    fit = ("fit", str(table), "--model", "gaussian-xcc", *quick)

    result = run(*fit, "--pool", "team", "--items", str(tmp_path / "items.csv"))
    without = run(*fit)

    assert re.search(r"^unnormalized_xcc\[a, b\] +-?0\.\d", result.stdout, re.MULTILINE)
    assert (tmp_path / "items.csv").read_text().startswith("item,pool,ratings,mean,sd,")
    assert without.exit_code == 2
    assert "found no pools. Pass --pool ... with the column" in without.stderr


def test_missing_ratings_are_left_out_on_request_and_counted(tmp_path: Path) -> None:
    table = tmp_path / "ads.csv"
    table.write_text("item,rater,rating\na,x,1.5\na,y,\nb,x,2\nb,y,3\nc,x,\nc,y,2\n")

    refused, read = (run("describe", str(table), *more) for more in ([], ["--missing", "drop"]))

    assert refused.exit_code == 2
    assert '--missing "drop"' in refused.output
    assert read.exit_code == 0
    assert "Left out 2 of 6 rows: no rating." in read.stderr


@pytest.mark.parametrize("command", ["describe", "agree"])
def test_wide_tables_with_twins_and_decimal_commas_are_read_by_all_commands(
    tmp_path: Path, command: str
) -> None:
    words, numbers = tmp_path / "words.csv", tmp_path / "numbers.csv"
    words.write_text("id,ann,bob\n1,yes,YES\n2,no,no\n3,yes,no\n4,no,no\n")
    numbers.write_text("id;ann;bob\n1;1,5;2\n2;2,5;2,5\n3;4;3,5\n")

    refused = run(command, str(words))
    joined, read = run(command, str(words), "--twins", "join"), run(command, str(numbers))

    assert refused.exit_code == 2
    assert 'Pass --twins "join"' in refused.output
    assert (joined.exit_code, read.exit_code) == (0, 0)
    assert "Column rating: took 'YES' as 'yes'." in joined.stderr
    assert "read as wide, with a column for each of 2 raters: 'ann', 'bob'" in read.stderr
    assert "--decimal . reads them as texts" in read.stderr


def test_describe_prints_size_and_design() -> None:
    result = run("describe", PATIENTS, "--replicates", "keep", "--scale", "nominal")

    lines = [re.split(r"\s{2,}", line) for line in result.stdout.splitlines()]
    assert ["ratings", "315"] in lines
    assert ["replicates", "90"] in lines
    assert ["categories", "1, 2, 3, 4"] in lines


def test_models_are_those_in_the_models_tuple(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rb, "MODELS", (*rb.MODELS, OtherICC))

    listed = run("models").stdout
    report = json.loads(
        run(*FIT[:2], "--model", "other-icc", "--draws", "50", "--json", "-").stdout
    )

    assert re.search(r"^gaussian-icc\n +ICC of ratings on a continuous scale", listed, re.MULTILINE)
    assert re.search(r"^other-icc\n +ICC of another kind\n +icc, icc_cons", listed, re.MULTILINE)
    assert max(map(len, listed.splitlines())) <= 80
    assert report["model"] == "other-icc"


def test_demo_ends_with_a_posterior_and_a_sentence_about_it() -> None:
    result = run("demo")

    *_, table, words = result.stdout.strip().split("\n\n")
    icc = re.search(r"^icc +(0\.\d+)", table, re.MULTILINE)
    assert icc is not None
    # By a grid (benchmarks/priors.py); 4 Monte Carlo errors at ESS 1200
    assert float(icc[1]) == pytest.approx(0.352, abs=0.02)
    assert re.match(r"Not yet: 4 ratings an item give a reliability of 0\.6\d", words)
    assert result.exit_code == 0


def test_version_is_that_of_the_package() -> None:
    result = run("--version")

    assert re.fullmatch(r"reliabayes \d+\.\d+\.\d+\n", result.stdout)


def test_all_faults_of_a_table_are_listed_with_options_as_remedies(tmp_path: Path) -> None:
    table = tmp_path / "r.csv"
    table.write_text(MESSY)
    names = ["--item", "ad", "--rater", "who", "--rating", "score"]

    result = run("fit", str(table), "--model", "gaussian-icc", *names)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert "the ratings have 4 faults:\n- ad: no value may be missing" in result.stderr
    assert "infinite (line 3: inf)" in result.stderr
    assert 'pass --replicates "keep"' in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", JUDGES, "--model", ""], "name a model: gaussian-icc"),
        (["fit", JUDGES, "--model", "gausian"], "it must be one of gaussian-icc, "),
        ([*FIT, "--rater", "judge"], "(rater='judge'); found only 'item', 'rater', 'rating'"),
        (["describe", "absent.csv"], "absent.csv: there is no such file"),
        (["describe", "/"], "it is a folder"),
        (["describe", JUDGES, "--scale", "odd"], "'odd' is not one of 'nominal', 'ordered'"),
        (["describe", JUDGES, "--delimiter", ",,"], "must be one character, not ',,'"),
        (["describe", JUDGES, "--encoding", "odd"], "unknown encoding: odd"),
        (["describe", PATIENTS], "a rater must rate an item once"),
        ([*FIT, "--prob", "1"], "must lie strictly between 0 and 1, not 1"),
        ([*FIT, "--draws", "0"], "Invalid value for '--draws'"),
        ([*FIT, "--chains", "many"], "Invalid value for '--chains'"),
        ([*FIT, "--seed", "-1"], "Invalid value for '--seed'"),
        ([*FIT, "--json", "/absent/out.json"], "cannot write /absent/out.json: No such file or"),
        ([*FIT, "--save", "/"], "/ must be a file"),
        ([*FIT, "--save", "-"], "--save must name a file"),
        ([*FIT, "--json", "/dev/null"], "/dev/null must be a file"),
        ([*FIT, "--json", "out", "--save", "./out"], "must name two files"),
        ([*FIT, "--json", JUDGES], "must not overwrite the ratings"),
        ([*FIT, "--items", "-"], "--items must name a file"),
        ([*EM, "--save", "out.nc"], "--save writes draws, and --method em has none"),
        (["compare", JUDGES, "--models", "tap"], "must name two or more models"),
        (["compare", JUDGES], "gaussian-icc suits these ratings, and no alternative to it"),
        (["compare", JUDGES, "--models", "tap,gaussian-icc"], "gaussian-icc models numbers and"),
        (["fits"], "No such command 'fits'"),
        ([*FIT, "--colour"], "No such option: --colour"),
    ],
)
def test_bad_input_is_refused_before_sampling(
    arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 300)  # read once from the environment
    monkeypatch.setattr("reliabayes.inference.stan.sample", pytest.fail)

    result = run(*arguments)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("model", "message"),
    [
        ("gaussian-icc", "ratings must be numbers here"),
        ("judge-panel", "it must be clear which raters are people"),
    ],
)
def test_ratings_that_do_not_suit_the_model_are_bad_input(
    model: str, message: str, tmp_path: Path
) -> None:
    table = tmp_path / "r.csv"
    table.write_text("item,rater,rating\na,x,yes\na,y,no\nb,x,no\nb,y,no\n")

    result = run("fit", str(table), "--model", model)

    assert result.exit_code == 2
    assert message in result.stderr


def test_a_fit_that_fails_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RELIABAYES_PROGRAMS", str(tmp_path / "absent"))

    result = run(*FIT, "--json", str(tmp_path / "out.json"))

    assert result.exit_code == 1
    assert result.stdout == ""
    assert "reliabayes: The compiled Stan program 'gaussian_icc' is not in" in result.stderr
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_loses_neither_the_posterior_nor_the_outputs_that_fit(tmp_path: Path) -> None:
    saved, raters = tmp_path / "fit.nc", tmp_path / "raters.csv"
    saved.write_text("old")

    with files_of_at_most(200_000):
        result = run(*FIT, "--save", str(saved), "--raters", str(raters))

    assert result.exit_code == 1
    table, _ = result.stdout.split("\n\n")
    assert [row.split()[0] for row in table.splitlines()[1:]] == QUANTITIES
    assert f"could not write --save {saved}: [Errno 27] File too large" in result.stderr
    assert saved.read_text() == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["fit.nc", "raters.csv"]
    assert raters.read_text().startswith("rater,ratings,mean")


def test_a_disk_that_is_really_full_loses_neither(tmp_path: Path) -> None:
    def fit(disk: Path) -> tuple[int, str, str, dict[str, bytes]]:
        outputs = [f"--{name}={disk}/{name}" for name in ("save", "json", "raters")]
        (disk / "save").write_text("old")
        result = run(*FIT, *outputs)
        written = {path.name: path.read_bytes() for path in disk.iterdir()}
        return result.exit_code, result.stdout, result.stderr, written

    status, printed, said, found = on_small_disk(100_000, fit)

    assert status == 1
    assert [row.split()[0] for row in printed.splitlines()[1:8]] == QUANTITIES
    assert re.search(r"could not write --save .* No space left on device", said)
    assert set(found) == {"save", "json", "raters"}
    assert found["save"] == b"old"
    assert json.loads(found["json"])["model"] == "gaussian-icc"
    assert found["raters"].startswith(b"rater,ratings,mean")


def test_a_page_that_cannot_be_written_leaves_its_posteriors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run_full(*_: object, **__: object) -> None:
        raise OSError("no space left on device")

    monkeypatch.setattr(rb, "report", run_full)

    page = f"{tmp_path}/page.html"
    result = run("report", JUDGES, "--models", "gaussian-icc", "--draws", "50", "--out", page)

    assert result.exit_code == 1
    assert "no space left on device" in result.stderr
    assert [row.split()[0] for row in result.stdout.splitlines()[1:]] == QUANTITIES


def test_outputs_follow_links(tmp_path: Path) -> None:
    target = tmp_path / "out.json"
    link = tmp_path / "link.json"
    link.symlink_to(target)

    run(*FIT, "--json", str(link))

    assert link.is_symlink()
    assert json.loads(target.read_text())["model"] == "gaussian-icc"


def test_ratings_come_from_a_pipe_and_a_closed_one_causes_no_error() -> None:
    result = shell(f"cat {JUDGES} | reliabayes describe - --scale numeric | true")

    assert result.stderr == ""


def test_a_pipe_that_closes_within_the_output_is_no_error_to_report(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(overview_commands, "print_text", Mock(side_effect=BrokenPipeError))

    result = run("models")

    assert (result.exit_code, result.output) == (1, "")


def test_ratings_come_from_standard_input() -> None:
    piped = CliRunner().invoke(app, ["describe", "-"], input=Path(JUDGES).read_bytes())

    assert piped.exit_code == 0
    assert piped.stdout == run("describe", JUDGES).stdout


def test_standard_output_that_is_full_does_not_keep_files_from_being_written(
    tmp_path: Path, with_streams: Callable[..., object]
) -> None:
    command = ["agree", JUDGES, "--bootstrap", "2", "--json", f"{tmp_path}/a.json"]
    said = io.StringIO()

    with open("/dev/full", "w") as full:
        status = with_streams(*command, stdout=full, stderr=said)

    assert status == 1
    assert "could not write the results: [Errno 28] No space left on device" in said.getvalue()
    assert "icc" in (tmp_path / "a.json").read_text().lower()


@pytest.mark.parametrize("closed", [pytest.param(">&-", marks=pytest.mark.proof), "<&- >&- 2>&-"])
def test_closed_streams_do_not_keep_files_from_being_written(tmp_path: Path, closed: str) -> None:
    result = shell(f"reliabayes agree {JUDGES} --bootstrap 2 --json {tmp_path}/a.json {closed}")

    assert result.returncode == 0
    assert "Traceback" not in result.stderr
    assert json.loads((tmp_path / "a.json").read_text())["data"]["ratings"] == 24


def test_a_closed_standard_input_is_an_empty_table(with_streams: Callable[..., object]) -> None:
    said = io.StringIO()

    status = with_streams("describe", "-", stdin=None, stderr=said)

    sys.stdin.close()
    assert status == 2
    assert said.getvalue().startswith("reliabayes: standard input")
    assert "it must hold a header and ratings; found an empty file" in said.getvalue()


def test_signs_that_the_terminal_has_no_code_for_are_escapes(
    tmp_path: Path, with_streams: Callable[..., object]
) -> None:
    table = tmp_path / "r.csv"
    table.write_text("item,rater,rating\na,x,\u00e9\na,y,no\nb,x,no\nb,y,\u00e9\n")
    printed = io.BytesIO()

    terminal = io.TextIOWrapper(printed, encoding="ascii")
    status = with_streams("describe", str(table), "--scale", "nominal", stdout=terminal)

    terminal.flush()
    assert status == 0
    assert rb"'\xe9'" in printed.getvalue()


@pytest.mark.parametrize(
    "send",
    [
        pytest.param(lambda pid: os.kill(pid, signal.SIGTERM), id="term"),
        # As a terminal sends it, to the chains, too.
        pytest.param(
            lambda pid: os.killpg(pid, signal.SIGINT), marks=pytest.mark.proof, id="interrupt"
        ),
    ],
)
def test_a_signal_ends_the_chains_and_leaves_no_file(
    tmp_path: Path, mark: str, send: Callable[[int], None]
) -> None:
    status, output = interrupted(tmp_path, mark, send)

    assert status == 130
    assert "reliabayes: interrupted." in output
    assert "Traceback" not in output
    assert marked(mark) == []
    assert list(tmp_path.iterdir()) == []


def test_tables_of_items_and_raters_start_no_formula(tmp_path: Path) -> None:
    rows = [f"=i{item},@r{rater},{(item + rater) % 2}" for item in range(4) for rater in range(3)]
    (tmp_path / "r.csv").write_text("\n".join(["item,rater,rating", *rows]))
    items, raters = tmp_path / "items.csv", tmp_path / "raters.csv"
    command = ["fit", str(tmp_path / "r.csv"), "--model", "dawid-skene", "--method", "em"]

    run(*command, "--scale", "nominal", "--items", str(items), "--raters", str(raters))

    assert [line[:5] for line in items.read_text().splitlines()[1:]] == [
        f"'=i{item}," for item in range(4)
    ]
    assert [line[:5] for line in raters.read_text().splitlines()[1:]] == [
        f"'@r{rater}," for rater in range(3)
    ]
