"""Readers: what is a rating in each tool's file, how files are recognised, and what is refused."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import zipfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, read_ratings, readers
from reliabayes.results import storage
from tests.ratings.readers import files

GRADES = {"good": "C", "bad": "I"}
PASSES = {"good": True, "bad": False}
SCORES = {"good": 0.9, "bad": 0.1}
VALUES: Mapping[str, Any] = {"inspect": GRADES, "promptfoo": PASSES, "deepeval": SCORES}


def by_pair(ratings: Ratings) -> dict[tuple[str, str], Any]:
    frame = ratings.to_frame()
    pairs = zip(frame["item"].map(str), frame["rater"], strict=True)
    return dict(zip(pairs, frame["rating"], strict=True))


@pytest.mark.parametrize("tool", files.WRITERS)
def test_an_export_is_recognised_and_read_rating_by_rating(tool: str, tmp_path: Path) -> None:
    path = files.export(tool, tmp_path)
    values = VALUES.get(tool, {"good": "good", "bad": "bad"})

    ratings = read_ratings(path)

    found = {
        (item[-1] if tool != "inspect" else item.split("/")[2], rater.split(" ")[0]): value
        for (item, rater), value in by_pair(ratings).items()
    }
    assert found == {(str(item), who): values[label] for item, who, label in files.ROWS}
    assert "export of" in ratings.notes[0]


@pytest.mark.parametrize("tool", files.WRITERS)
def test_the_format_can_be_named(tool: str, tmp_path: Path) -> None:
    path = files.export(tool, tmp_path)

    ratings = read_ratings(path, format=tool)  # type: ignore[arg-type]

    assert by_pair(ratings) == by_pair(getattr(readers, tool)(path))
    assert not any("export of" in note for note in ratings.notes)


def test_all_readers_are_tried() -> None:
    assert set(files.WRITERS) == set(readers.__all__)


@pytest.mark.parametrize("tool", files.WRITERS)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.98])
def test_a_truncated_export_is_refused_or_read_as_far_as_it_goes(
    tool: str, share: float, tmp_path: Path
) -> None:
    path = files.export(tool, tmp_path)
    whole = by_pair(getattr(readers, tool)(path))
    content = path.read_bytes()
    path.write_bytes(content[: int(share * len(content))])

    if path.suffix in (".csv", ".tsv", ".jsonl") and share > 0:  # may end within a line or cell
        with contextlib.suppress(RatingsError):
            found = by_pair(getattr(readers, tool)(path))
            assert len([pair for pair, value in found.items() if whole.get(pair) != value]) <= 1
    else:
        with pytest.raises(RatingsError, match=r"again|none"):
            getattr(readers, tool)(path)


@pytest.mark.parametrize("tool", sorted(set(files.WRITERS) - {"inspect", "doccano"}))
def test_a_foreign_file_is_refused_by_the_field_that_it_misses(tool: str, tmp_path: Path) -> None:
    path = files.written(tmp_path / "foreign.json", [{"name": "x", "list": [1]}])

    with pytest.raises(RatingsError) as error:
        getattr(readers, tool)(path)

    assert error.value.faults[0].remedy
    assert "field" in str(error.value) or "question" in str(error.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "an empty file"),
        ("[]", "the fields none"),
        ("[1, 2]", "each entry must be an object; found a int"),
        ('{"a": 1', "it must be whole JSON"),
        ('[{"name": "x"}]', "a tool that is known .* found the fields 'name'"),
        ("[" * 100_000, "it must be whole JSON"),
    ],
)
def test_json_of_no_tool_is_refused(content: str, message: str, tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(content)

    with pytest.raises(RatingsError, match=message):
        read_ratings(path)


@pytest.mark.parametrize("between", [" ", ",,", "]"])
def test_json_that_is_not_whole_is_refused(between: str, tmp_path: Path) -> None:
    path = files.label_studio(tmp_path / "r.json")
    path.write_text(path.read_text().replace("}, {", f"}}{between}{{"))

    with pytest.raises(RatingsError, match="it must be whole JSON"):
        readers.label_studio(path)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["r.eval", "r.zip", "r.csv.zip", "r.json.zip"])
def test_a_zip_bomb_is_refused(name: str, tmp_path: Path) -> None:
    member = "header.json" if name == "r.eval" else "ann.jsonl"
    path = files.bomb(tmp_path / name, member, 110_000_000)

    with pytest.raises(RatingsError, match="must not grow more than 300 times"):
        read_ratings(path)


@pytest.mark.slow
def test_a_bomb_of_gzip_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "r.json.gz"
    path.write_bytes(gzip.compress(bytes(110_000_000), 1))

    with pytest.raises(RatingsError, match="must not grow more than 100 times"):
        read_ratings(path)


@pytest.mark.parametrize("name", ["r.json", "r.eval", "r.zip", "r.csv", "r.jsonl"])
def test_a_file_of_two_gigabytes_is_refused(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    with path.open("wb") as file:
        os.truncate(file.fileno(), 2 * 10**9)

    with pytest.raises(RatingsError, match=r"at most 1,[09]\d\d,\d{3},\d{3} bytes"):
        read_ratings(path)


def test_a_table_with_the_columns_that_are_named_is_no_export(tmp_path: Path) -> None:
    path = files.crowdkit(tmp_path / "r.csv")

    named = read_ratings(path, item="task", rater="worker", rating="label")
    frame = named.to_frame().assign(task=1, worker=1, label=1)
    frame.to_csv(path, index=False)

    assert read_ratings(path).notes == named.notes == ()
    assert read_ratings(path) == named


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"pool": "x"}, "pool: it does not apply to an export of Label Studio"),
        ({"item": "task"}, "item: it does not apply to an export of Label Studio"),
        ({"rater": "me"}, "rater: it does not apply to an export of Label Studio"),
        ({"format": "labelstudio"}, "format: it must be one of 'table', 'argilla'"),
        ({"question": "qualty"}, "question: .* Did you mean 'quality'?"),
        ({"group": "sytem"}, "group: entry 1 must have this field; .* Did you mean 'system'?"),
    ],
)
def test_arguments_that_do_not_apply_are_refused(
    arguments: dict[str, Any], message: str, tmp_path: Path
) -> None:
    path = files.label_studio(tmp_path / "r.json")

    with pytest.raises(RatingsError, match=message):
        read_ratings(path, **arguments)


def test_a_table_has_no_questions(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text("item,rater,rating\n1,x,a\n1,y,b\n2,x,a\n")

    with pytest.raises(RatingsError, match="question: only exports of tools have questions"):
        read_ratings(path, question="quality")


def test_one_rater_can_be_read_but_not_compared(tmp_path: Path) -> None:
    path = files.label_studio(tmp_path / "r.json", completed_by=7)

    assert readers.label_studio(path).raters.tolist() == ["7"]
    with pytest.raises(RatingsError, match="at least two raters; found only '7'"):
        read_ratings(path)


@pytest.mark.parametrize("tool", ["label_studio", "prodigy", "mturk"])
def test_items_belong_to_what_a_field_of_their_data_says(tool: str, tmp_path: Path) -> None:
    ratings = read_ratings(files.export(tool, tmp_path), group="system")

    groups = ratings.to_frame().groupby("item")["group"].first()
    assert groups.to_dict() == {item: f"v{item % 2}" for item in files.LABELS}


def test_label_studio_exports_a_single_task_as_one_object(tmp_path: Path) -> None:
    path = files.label_studio(tmp_path / "r.json")

    ratings = readers.label_studio(files.written(path, json.loads(path.read_text())[0]))

    assert by_pair(ratings) == {("1", "ann"): "good", ("1", "bo"): "bad"}


@pytest.mark.parametrize("tool", ["argilla", "hf_annotators"])
def test_parquet_has_lists(tool: str, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    path = files.export(tool, tmp_path)
    text = path.read_text()
    records = json.loads(text) if path.suffix == ".json" else [*map(json.loads, text.splitlines())]
    pd.DataFrame(records).to_parquet(tmp_path / "r.parquet")

    assert by_pair(read_ratings(tmp_path / "r.parquet")) == by_pair(read_ratings(path))


def test_label_studio_separates_gold_predictions_and_what_was_cancelled(tmp_path: Path) -> None:
    path = files.label_studio(tmp_path / "r.json")
    tasks = json.loads(path.read_text())
    tasks[0]["annotations"][0]["ground_truth"] = True
    tasks[1]["annotations"][0]["was_cancelled"] = True
    tasks[1]["annotations"][1]["completed_by"] = None
    tasks[2]["annotations"][0]["result"] = []
    result = [files.choice("bad")]
    tasks[0]["predictions"] = [{"model_version": "m", "result": result}, {"result": result}]
    tasks[2]["predictions"] = [{"model_version": "m", "result": []}]

    ratings = readers.label_studio(files.written(path, tasks))

    assert by_pair(ratings) == {("1", "bo"): "bad", ("1", "m"): "bad"}
    assert ratings.to_frame().loc[0, "gold"] == "good"
    assert dict(ratings.left_out) == {
        "ground truth": 1,
        "cancelled": 1,
        "no annotator": 1,
        "no answer to the question": 1,
        "prediction without answer": 1,
        "prediction without model version": 1,
    }


@pytest.mark.parametrize("form", ["csv", "json"])
def test_label_studio_has_rows_with_answers_as_json(form: str, tmp_path: Path) -> None:
    cells = ['[{"rating": 4}]', '[{"rating": 2}]', "", '[{"rating": 4}]']
    several = ["a", '{"choices": ["a", "b"]}', "b", "b"]
    table = pd.DataFrame(
        {"id": [1, 1, 2, 2], "annotator": list("xyxy"), "annotation_id": range(4), "lead_time": 1}
        | {"stars": cells, "kind": several, "text": ["one", "one", "two", "two"]}
    )
    path = tmp_path / f"r.{form}"
    if form == "csv":
        table.to_csv(path, index=False)
    else:
        rows = table.to_dict("records")
        for row in rows:
            row["stars"] = json.loads(row["stars"]) if row["stars"] else None
            row["kind"] = json.loads(row["kind"]) if row["kind"].startswith("{") else row["kind"]
        files.written(path, rows)

    stars = readers.label_studio(path, question="stars", group="text")
    kinds = readers.label_studio(path, question="kind")

    assert by_pair(stars) == {("1", "x"): 4, ("1", "y"): 2, ("2", "y"): 4}
    assert stars.groups.tolist() == ["one", "two"]
    assert kinds.left_out == {"several choices": 1}
    with pytest.raises(RatingsError, match="Pass question='stars' or question='kind'"):
        readers.label_studio(path)


def test_inspect_keeps_epochs_and_runs_apart_and_a_log_scored_again_together(
    tmp_path: Path,
) -> None:
    first = files.log([files.sample(1, {"a": "C"}), files.sample(1, {"a": "I"}, epoch=2, uuid="v")])
    again = files.log([files.sample(1, {"b": "I"})])
    other = files.log([files.sample(1, {"a": "C"}, uuid="w")])
    paths = [
        files.written(tmp_path / f"{number}.json", each)
        for number, each in enumerate([first, again, other])
    ]

    ratings = readers.inspect(paths)

    assert by_pair(ratings) == {
        ("lab/v1/1/1", "a"): "C",
        ("lab/v1/1/1", "b"): "I",
        ("lab/v1/1/1/run 2", "a"): "C",
        ("lab/v1/1/2", "a"): "I",
    }
    assert ratings.blocks.tolist() == ["1"]


def test_inspect_reads_all_logs_of_a_folder(tmp_path: Path) -> None:
    for name in ("b.eval", "a.eval"):
        files.inspect(tmp_path / name)

    ratings = read_ratings(tmp_path)

    assert ratings == readers.inspect(tmp_path / "a.eval")
    assert ratings.left_out == {"the same in another log": len(files.ROWS)}


def test_inspect_takes_lists_only_where_all_judges_are_there(tmp_path: Path) -> None:
    samples = [
        files.sample(1, {"panel": ["C", "I"]}),
        files.sample(2, {"panel": ["C"]}),
        files.sample(3, {"panel": ["I", "I"]}),
        files.sample(4, {}),
    ]
    path = files.written(tmp_path / "log.json", files.log(samples))

    ratings = read_ratings(path)

    assert ratings.raters.tolist() == ["panel 1", "panel 2"]
    assert dict(ratings.left_out) == {"panel without all judges": 1, "sample without scores": 1}


def test_inspect_reads_the_keys_of_scores_as_questions(tmp_path: Path) -> None:
    scores: list[Any] = [
        {"a": {"kind": 4, "safe": True}, "b": {"kind": 2.5}},
        {"a": {"kind": float("nan")}},
    ]
    samples = [files.sample(number, each) for number, each in enumerate(scores, start=1)]
    path = files.written(tmp_path / "log.json", files.log(samples))

    ratings = readers.inspect(path, question="kind")

    assert list(by_pair(ratings).values()) == [4, 2.5]
    assert dict(ratings.left_out) == {"of another question (safe)": 1, "a unscored": 1}
    assert len(readers.inspect(path, question="a.kind")) == 1
    with pytest.raises(RatingsError, match="Pass question='kind' or question='safe'"):
        readers.inspect(path)


def test_inspect_refuses_to_mix_grades_and_numbers(tmp_path: Path) -> None:
    samples = [files.sample(1, {"a": "C", "b": 0.5}), files.sample(2, {"a": "I", "b": 0.9})]
    path = files.written(tmp_path / "log.json", files.log(samples))

    with pytest.raises(RatingsError, match=r"texts by a and numbers by b\. .* question='a'"):
        readers.inspect(path)

    assert len(readers.inspect(path, question="b")) == 2


def test_inspect_names_the_package_that_unpacks_newer_logs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = files.inspect(tmp_path / "log.eval")
    content = bytearray(path.read_bytes())
    with zipfile.ZipFile(path) as archive:
        infos = archive.infolist()
    for start in [content.find(b"PK\1\2")]:
        for _ in infos:  # the method of each member, in the directory
            content[start + 10 : start + 12] = (93).to_bytes(2, "little")
            start = content.find(b"PK\1\2", start + 4)
    path.write_bytes(content)
    monkeypatch.delattr(zipfile, "ZIP_ZSTANDARD", raising=False)
    monkeypatch.setitem(__import__("sys").modules, "zstandard", None)

    with pytest.raises(RatingsError, match=r"Zstandard, .* pip install 'reliabayes\[zstd\]'"):
        readers.inspect(path)


def test_promptfoo_repeats_of_a_test_are_answers_to_the_same_block(tmp_path: Path) -> None:
    path = files.promptfoo(tmp_path / "r.json")
    found = json.loads(path.read_text())
    results = found["results"]["results"]
    results[2]["testCase"] = results[0]["testCase"]
    verdicts = results[1]["gradingResult"]["componentResults"]
    verdicts[0]["metadata"] = {"graderError": True}
    verdicts[1]["assertion"] = {"type": "contains", "value": "x"}

    ratings = readers.promptfoo(files.written(path, found))

    assert (ratings.n_items, ratings.blocks.tolist()) == (2, ["1"])
    assert dict(ratings.left_out) == {"judge failed": 1, "contains is no judge": 1}


def test_mechanical_turk_has_a_column_for_each_choice_of_a_question(tmp_path: Path) -> None:
    table = pd.DataFrame({"HITId": [1, 1, 2, 2], "WorkerId": list("xyxy")})
    table["AssignmentStatus"] = ["Approved", "Rejected", "Submitted", "Approved"]
    table["Answer.mood.glad"] = ["true", "true", "false", "true"]
    table["Answer.mood.sad"] = ["false", "false", "true", "true"]
    table.to_csv(tmp_path / "r.csv", index=False)

    ratings = readers.mturk(tmp_path / "r.csv")

    assert by_pair(ratings) == {("1", "x"): "glad", ("2", "x"): "sad"}
    assert dict(ratings.left_out) == {"rejected": 1, "several choices": 1}


def test_toloka_has_golden_answers(tmp_path: Path) -> None:
    ratings = readers.toloka(files.toloka(tmp_path / "r.tsv"))

    assert ratings.to_frame().groupby("item")["gold"].first().to_dict()[1] == "good"


@pytest.mark.parametrize("lists", ["[1, 0]", "1,0", "['1' '0']"])
def test_lists_of_annotators_may_be_texts(lists: str, tmp_path: Path) -> None:
    table = {"id": [7, 8], "annotators": ["x,y", "x, y"], "labels": [lists, "1,1"]}
    pd.DataFrame(table).to_csv(tmp_path / "r.csv", index=False)

    ratings = read_ratings(tmp_path / "r.csv")

    assert by_pair(ratings) == {("7", "x"): 1, ("7", "y"): 0, ("8", "x"): 1, ("8", "y"): 1}


def test_lists_of_different_lengths_are_refused(tmp_path: Path) -> None:
    records = [{"id": 7, "annotators": ["x", "y"], "labels": [1]}]

    with pytest.raises(RatingsError, match=r"labels: .* found 1 items .* \(7\)"):
        readers.hf_annotators(files.lines(tmp_path / "r.jsonl", records))


def test_observations_of_a_trace_are_items_if_a_rater_scored_several(tmp_path: Path) -> None:
    path = files.langfuse(tmp_path / "r.csv")
    table = pd.read_csv(path)
    table.loc[:1, "authorUserName"] = "ann"
    table["observationId"] = ["o1", "o2", None, None, None]
    table.to_csv(path, index=False)

    ratings = readers.langfuse(path)

    assert ratings.items.tolist() == ["t1/o1", "t1/o2", "t2", "t3"]


def test_of_several_answers_by_a_person_the_last_counts(tmp_path: Path) -> None:
    record = {"_input_hash": 1, "_annotator_id": "x", "label": "ADS"}
    records = [
        record | {"answer": answer, "_timestamp": time}
        for answer, time in [("accept", 3), ("reject", 5), ("accept", 4)]
    ]

    ratings = readers.prodigy(files.lines(tmp_path / "r.jsonl", records))

    assert by_pair(ratings) == {("1", "x"): "reject"}
    assert ratings.left_out == {"answered again (the last counts)": 2}


def test_a_fit_keeps_groups_blocks_and_what_was_left_out(tmp_path: Path) -> None:
    ratings = read_ratings(files.promptfoo(tmp_path / "r.json"))

    loaded = Ratings(**storage.unpack(storage.pack(ratings)))

    assert loaded == ratings
    assert loaded.left_out == ratings.left_out
    assert loaded.groups.tolist() == ["v0", "v1"]
    assert loaded.to_frame().equals(ratings.to_frame())
