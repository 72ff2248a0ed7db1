"""Commands that take a folder of ratings in parts as the file of ratings."""

from __future__ import annotations

import json
import re
import socket
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

import reliabayes as rb
from reliabayes.cli.app import app
from reliabayes.partitions.executors import WorkerError

FAST = ("--chains", "2", "--draws", "100", "--seed", "1")


def run(*arguments: object) -> Any:
    return CliRunner().invoke(app, [*map(str, arguments)])


def in_words(result: Any) -> str:
    """Messages as one line."""
    return " ".join(result.stderr.split())


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("typer.rich_utils.MAX_WIDTH", 400)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    """Labels and whole-number scores of 150 ads by some of six workers."""
    rng = np.random.default_rng(3)
    level = 5 * rng.standard_normal(6)
    rows = [
        (f"ad {n:03}", f"w{r}", "abc"[k if rng.random() < 0.8 else rng.integers(3)], 10 * k, r)
        for n, k in enumerate(rng.integers(3, size=150))
        for r in rng.choice(6, 4, replace=False)
    ]
    frame = pd.DataFrame(rows, columns=["ad", "who", "label", "score", "r"])
    noise = rng.standard_normal(len(frame))
    frame["score"] = np.rint(50 + frame["score"] + level[frame.pop("r")] + 4 * noise).astype(int)
    return frame


@pytest.fixture(scope="module")
def labels(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return parts(table, tmp_path_factory.mktemp("labels") / "parts", rating="label")


@pytest.fixture(scope="module")
def scores(table: pd.DataFrame, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scores") / "parts"
    return parts(table, folder, rating="score", scale="numeric")


def parts(table: pd.DataFrame, folder: Path, **options: Any) -> Path:
    rb.partition(table, folder, item="ad", rater="who", partitions=3, **options)
    return folder


def contents(folder: Path) -> pd.DataFrame:
    return pd.concat([pd.read_parquet(file) for file in sorted(folder.glob("*.parquet"))])


@pytest.mark.slow
def test_fit_prints_the_posterior_of_all_parts(scores: Path) -> None:
    result = run("fit", scores, "--model", "gaussian-icc", *FAST, "--jobs", 2)

    dataset = rb.scan_ratings(scores)
    fit = rb.GaussianICC().fit(dataset, chains=2, draws=100, seed=1, progress=False)
    assert result.exit_code == 0, result.output
    assert re.search(rf"icc +{fit.summary()['mean']['icc']:.2f}", result.stdout)
    assert "4 ratings an item give a reliability" in result.stdout


@pytest.mark.slow
def test_fit_writes_json_raters_items_and_a_report(scores: Path, tmp_path: Path) -> None:
    names = {"json": "out.json", "raters": "raters.csv", "items": "items", "report": "page.html"}
    outputs = [word for name, path in names.items() for word in (f"--{name}", tmp_path / path)]

    result = run("fit", scores, "--model", "gaussian-icc", *FAST, *outputs)

    assert result.exit_code == 0, result.output
    assert {path.name for path in tmp_path.iterdir()} == set(names.values())
    found = json.loads((tmp_path / "out.json").read_text())
    assert found["data"]["columns"] == {"item": "ad", "rater": "who", "rating": "score"}
    assert (found["data"]["ratings"], found["data"]["items"]) == (600, 150)
    assert len(pd.read_csv(tmp_path / "raters.csv")) == 6
    items = contents(tmp_path / "items")
    fit = rb.GaussianICC().fit(rb.scan_ratings(scores), chains=2, draws=100, seed=1)
    fit.write_items(tmp_path / "expected")
    pd.testing.assert_frame_equal(items, contents(tmp_path / "expected"))
    assert "Classical agreement" in (tmp_path / "page.html").read_text()


@pytest.mark.slow
def test_em_writes_the_tables_of_items_to_a_folder(labels: Path, tmp_path: Path) -> None:
    result = run(
        *("fit", labels, "--model", "dawid-skene", "--method", "em"),
        *("--items", tmp_path / "items", "--jobs", 2),
    )

    assert result.exit_code == 0, result.output
    dataset = rb.scan_ratings(labels)
    model = rb.DawidSkene(prior_misleading=rb.Beta(0.5, 9.5))  # as on the command line
    model.em(dataset).write_items(tmp_path / "expected")
    pd.testing.assert_frame_equal(contents(tmp_path / "items"), contents(tmp_path / "expected"))
    assert "converged" in result.stderr


@pytest.mark.slow
def test_without_a_model_fit_takes_one_that_suits_and_takes_parts(labels: Path) -> None:
    result = run("fit", labels, *FAST)

    assert result.exit_code == 0, result.output
    assert "recommended and used: dawid-skene (6 raters, whose errors may differ)" in in_words(
        result
    )
    assert "Trust" in result.stdout


@pytest.mark.slow
def test_agree_prints_the_coefficients_of_all_parts(labels: Path, tmp_path: Path) -> None:
    result = run("agree", labels, "--json", tmp_path / "out.json", "--jobs", 2)

    assert result.exit_code == 0, result.output
    expected = rb.scan_ratings(labels).agreement()
    found = json.loads((tmp_path / "out.json").read_text())["coefficients"]
    assert {name: row["value"] for name, row in found.items()} == expected["value"].to_dict()
    assert "RatingsDataset(600 ratings of 150 items by 6 raters" in in_words(result)


@pytest.mark.slow
def test_report_is_that_of_the_library(labels: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"

    result = run("report", labels, "--models", "dawid-skene,tap", *FAST, "--out", page)

    assert result.exit_code == 0, result.output
    text = page.read_text()
    assert f"reliabayes report {labels} --models dawid-skene,tap" in text
    assert "Models are not compared, which needs all ratings in memory" in text
    assert "sha256 of manifest.json" in text
    assert "item from ad, rater from who, rating from label" in text


def test_describe_reads_a_folder(labels: Path) -> None:
    result = run("describe", labels)

    assert re.search(r"parts +3\n", result.stdout)
    assert re.search(r"items +150\n", result.stdout)


@pytest.mark.slow
def test_a_guess_of_the_scale_is_said(table: pd.DataFrame, tmp_path: Path) -> None:
    table = table.assign(score=table["score"] % 2)
    folder = parts(table, tmp_path / "parts", rating="score")

    result = run("agree", folder)

    said = "The parts were written without --scale; 0 and 1 are probably categories"
    assert said in in_words(result)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["fit", "--item", "ad"], "--item cannot be given with a folder of parts"),
        (["agree", "--scale", "ordered", "--pool", "p"], "--pool and --scale cannot be given with"),
        (["report", "--facet", "day"], "--facet cannot be given with a folder of parts"),
        (["fit", "--model", "ordinal-icc"], "ordinal-icc needs all ratings in memory, but"),
        (["report", "--models", "tap,latent-tap"], "latent-tap needs all ratings in memory, but"),
        (
            ["fit", "--save", "fit.nc"],
            "--save keeps the ratings with the fit, and so needs all ratings in memory",
        ),
        (["fit", "--jobs", "0"], "it must be -1 for all processors, or 1 or more, not 0"),
        (["fit", "--cluster", "here"], "it must be an address such as tcp://host:8786, not 'here'"),
        (["fit", "--cluster", "tcp://h:1", "--jobs", "2"], "--jobs and --cluster exclude each"),
        (["compare"], "compare needs all ratings in memory, but"),
    ],
)
def test_what_a_folder_cannot_have_is_refused_before_sampling(
    labels: Path, arguments: list[str], message: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("reliabayes.inference.stan.sample", pytest.fail)
    command, *options = arguments

    result = run(command, labels, *options)

    assert result.exit_code == 2
    assert result.stdout == ""
    assert message in in_words(result)


def test_models_that_take_parts_are_named(labels: Path) -> None:
    result = run("fit", labels, "--model", "ordinal-icc")

    names = ", ".join(model.name() for model in rb.MODELS if model.takes_parts)
    assert names in in_words(result)


@pytest.mark.parametrize("command", ["fit", "report", "describe"])
def test_jobs_of_a_file_are_refused(table: pd.DataFrame, tmp_path: Path, command: str) -> None:
    table.to_csv(tmp_path / "ads.csv")

    result = run(command, tmp_path / "ads.csv", "--jobs", "2")

    assert result.exit_code == 2
    assert "--jobs is for a folder of ratings in parts" in in_words(result)


def test_a_cluster_is_for_a_folder(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_csv(tmp_path / "ads.csv")

    result = run("agree", tmp_path / "ads.csv", "--cluster", "tcp://localhost:8786")

    assert result.exit_code == 2
    assert "--cluster is for a folder of ratings in parts" in in_words(result)


def test_other_folders_are_refused_with_the_remedy(table: pd.DataFrame, tmp_path: Path) -> None:
    table.to_parquet(tmp_path / "ads.parquet")

    result = run("fit", tmp_path)

    assert result.exit_code == 2
    assert "it is a folder; name a file in it, or write" in in_words(result)
    assert f"reliabayes partition {tmp_path} FOLDER" in in_words(result)


def test_a_folder_that_is_not_complete_is_said_to_be_so(tmp_path: Path) -> None:
    (tmp_path / "parts" / ".unfinished").mkdir(parents=True)

    result = run("agree", tmp_path / "parts")

    assert result.exit_code == 2
    assert "run the same `reliabayes partition` again" in in_words(result)


@pytest.mark.parametrize("made", ["file", "folder"])
def test_tables_of_items_need_a_new_folder(labels: Path, tmp_path: Path, made: str) -> None:
    items = tmp_path / "items"
    if made == "folder":
        items.mkdir()
        (items / "part-00000.parquet").write_text("of another fit")
    else:
        items.write_text("of another fit")

    result = run("fit", labels, "--model", "tap", "--items", items)

    assert result.exit_code == 2
    assert "must be a new or empty folder" in in_words(result)
    assert result.stdout == ""


def test_processes_that_die_again_and_again_are_a_failure(
    labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def died(*_: object, **__: object) -> None:
        raise WorkerError("a process ended for the 4th time, at or after part-00001")

    monkeypatch.setattr("reliabayes.partitions.RatingsDataset.agreement", died)

    result = run("agree", labels)

    assert result.exit_code == 1
    assert (
        in_words(result) == "reliabayes: a process ended for the 4th time, at or after part-00001"
    )


def test_without_dask_the_option_names_the_extra(
    labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(__import__("sys").modules, "distributed", None)

    result = run("agree", labels, "--cluster", "tcp://localhost:8786")

    assert result.exit_code == 2
    assert "pip install 'reliabayes[large]'" in in_words(result)


@pytest.mark.slow
def test_a_scheduler_that_does_not_answer_is_named(
    labels: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("distributed")
    monkeypatch.setattr("reliabayes.cli.parts.PATIENCE", 1)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"tcp://127.0.0.1:{free.getsockname()[1]}"

    result = run("agree", labels, "--cluster", address)

    assert result.exit_code == 1
    assert f"no Dask scheduler answers at {address}" in in_words(result)


@pytest.fixture(scope="module")
def scheduler() -> Iterator[str]:
    distributed = pytest.importorskip("distributed")
    options: dict[str, Any] = {"processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(
        n_workers=1, threads_per_worker=2, protocol="tcp", **options
    ) as cluster:
        yield cluster.scheduler_address


@pytest.mark.slow
def test_a_cluster_computes_the_same(labels: Path, scheduler: str, tmp_path: Path) -> None:
    result = run(
        *("fit", labels, "--model", "dawid-skene", "--method", "em"),
        *("--items", tmp_path / "items", "--cluster", scheduler),
    )

    assert result.exit_code == 0, result.output
    expected = run("fit", labels, "--model", "dawid-skene", "--method", "em")
    assert result.stdout == expected.stdout
    assert len(contents(tmp_path / "items")) == 150


@pytest.mark.slow
def test_a_cluster_without_workers_is_named(labels: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    distributed = pytest.importorskip("distributed")
    monkeypatch.setattr("reliabayes.cli.parts.PATIENCE", 1)
    with distributed.LocalCluster(
        n_workers=0, processes=False, protocol="tcp", dashboard_address=":0"
    ) as cluster:
        address = cluster.scheduler_address
        result = run("agree", labels, "--cluster", address)

    assert result.exit_code == 1
    assert f"the Dask scheduler at {address} has no workers" in in_words(result)
