"""Labels in files: tools import them, readers read them back, and no spreadsheet computes them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, read_ratings, readers
from reliabayes.results.label_files import write_labels
from tests.ratings.readers import files

LABELS = pd.DataFrame(
    {"category": ["good", "=1+1", "bad"], "probability": [0.9, 0.8, 0.75]},
    index=pd.Index([1, 2, 3], name="item"),
)
AUTHOR = "reliabayes DawidSkene"


def write(path: Path, format: Any = None, labels: pd.DataFrame = LABELS, **options: Any) -> Path:
    arguments: dict[str, Any] = {"source": None, "question": None} | options
    write_labels(labels, path, format=format, model="DawidSkene", **arguments)
    return path


def labels_of(ratings: Ratings) -> dict[Any, Any]:
    frame = ratings.to_frame()
    of_model = frame[frame["rater"] == AUTHOR]
    return dict(zip(of_model["item"], of_model["rating"], strict=True))


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_labels_are_read_back_by_the_reader_of_the_tool(tool: str, tmp_path: Path) -> None:
    path = write(tmp_path / "labels.json", tool)

    found = labels_of(getattr(readers, tool)(path))

    assert {int(item): label for item, label in found.items()} == LABELS["category"].to_dict()


@pytest.mark.parametrize("tool", ["label_studio", "argilla"])
def test_labels_are_added_to_the_export_that_was_read(tool: str, tmp_path: Path) -> None:
    source = files.export(tool, tmp_path)
    before = getattr(readers, tool)(source)
    labels = LABELS.set_axis(before.items)

    path = write(tmp_path / "labels.json", tool, labels, source=source)

    after = getattr(readers, tool)(path)
    assert after.subset(raters=before.raters).to_frame()["rating"].tolist() == (
        before.to_frame()["rating"].tolist()
    )
    assert labels_of(after) == labels["category"].to_dict()


def test_a_prediction_has_its_probability_and_replaces_that_of_an_earlier_fit(
    tmp_path: Path,
) -> None:
    source = files.label_studio(tmp_path / "r.json")
    first = write(tmp_path / "first.json", "label_studio", source=source)

    again = write(tmp_path / "again.json", "label_studio", LABELS.head(1), source=first)

    [task] = json.loads(again.read_text())
    [prediction] = task["predictions"]
    assert (task["id"], prediction["score"], prediction["model_version"]) == (1, 0.9, AUTHOR)
    assert prediction["result"][0]["value"] == {"choices": ["good"]}
    assert task["data"] == {"text": "Text 1", "system": "v1"}


def test_stars_are_written_as_numbers(tmp_path: Path) -> None:
    source = files.label_studio(tmp_path / "r.json")
    tasks = json.loads(source.read_text())
    for task in tasks:
        for annotation in task["annotations"]:
            star = files.choice("good") | {"type": "rating", "value": {"rating": 3}}
            annotation["result"] = [star]
    labels = LABELS.assign(category=[1.0, 2.0, 5.0])

    path = write(tmp_path / "l.json", "label_studio", labels, source=files.written(source, tasks))

    assert labels_of(readers.label_studio(path)) == {1: 1, 2: 2, 3: 5}


@pytest.mark.parametrize("suffix", [".csv", ".xlsx"])
def test_tables_are_read_back_beside_the_ratings(suffix: str, tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    path = tmp_path / f"labels{suffix}"
    write(path)
    ids = pd.read_csv(path) if suffix == ".csv" else pd.read_excel(path)

    own = [(item, who, label) for item, who, label in files.ROWS]
    table = pd.concat([pd.DataFrame(own, columns=["item", "rater", "rating"]), ids])
    table["rating"] = table["rating"].str.removeprefix("'")

    assert labels_of(Ratings.from_frame(table)) == LABELS["category"].to_dict()
    assert ids["probability"].tolist() == [0.9, 0.8, 0.75]


def test_no_spreadsheet_computes_a_label(tmp_path: Path) -> None:
    openpyxl = pytest.importorskip("openpyxl")
    write(tmp_path / "l.csv")
    write(tmp_path / "l.xlsx")

    cell = openpyxl.load_workbook(tmp_path / "l.xlsx").active["C3"]

    assert ",'=1+1," in (tmp_path / "l.csv").read_text()
    assert (cell.value, cell.data_type, cell.quotePrefix) == ("=1+1", "s", True)


def test_a_workbook_of_labels_is_a_table_of_ratings(tmp_path: Path) -> None:
    pytest.importorskip("openpyxl")
    two = pd.concat([LABELS, LABELS])
    write(tmp_path / "l.xlsx", labels=two.set_axis([1, 2, 3, 1, 2, 4]))

    with pytest.raises(RatingsError, match=f"at least two raters; found only '{AUTHOR}'"):
        read_ratings(tmp_path / "l.xlsx", replicates="keep")


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("l.json", {}, "format: it must be one of label_studio, argilla, csv, xlsx; found 'json'"),
        ("l.csv", {"format": "cvs"}, "format: it must be one of .* found 'cvs'"),
    ],
)
def test_unknown_formats_are_refused(
    name: str, options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=message):
        write(tmp_path / name, **options)

    assert list(tmp_path.iterdir()) == []


def test_another_question_of_the_source_is_refused(tmp_path: Path) -> None:
    source = files.label_studio(tmp_path / "r.json")

    with pytest.raises(RatingsError, match=r"question: .* Did you mean 'quality'\?"):
        write(tmp_path / "l.json", "label_studio", source=source, question="qualty")
