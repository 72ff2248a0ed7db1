"""Each export that was collected gives the ratings that were counted by another program."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from reliabayes import datasets
from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, readers

NEEDS_ZSTANDARD = ("inspect/helpdesk_v3_edited.eval", "inspect/helpdesk_v4.eval")
WITHOUT_RATER = ("prodigy/docs_issues_60.jsonl", "doccano/text_classification.jsonl")
WITHOUT_STATUS = "argilla/records_nested.json"
# As the list of expected counts names them.
CASES = (
    "label_studio/answers_export.json question=quality",
    "label_studio/answers_export.json question=stars",
    "label_studio/answers_export.csv question=quality",
    "label_studio/answers_export.csv question=stars",
    "label_studio/sdk_history.json question=sentiment",
    "label_studio/sdk_escaped.json question=uri_selection",
    "prodigy/choice_three_sessions.jsonl",
    "doccano/by_user.zip",
    "langfuse/scores.csv score=correctness",
    "langfuse/scores.json score=correctness",
    "mturk/Batch_1_label.csv",
    "hf_annotators/lewidi.json",
    "crowdkit/annotations.csv",
    "argilla/records_flat.json question=quality",
    "promptfoo/two_systems_two_judges.json",
    "deepeval/test_run_sample.json",
    "inspect/log_streaming_2_epochs.eval",
    "inspect/security_guide_graded.json",
    "inspect/popularity_cancelled.json",
    *NEEDS_ZSTANDARD,
)


@pytest.mark.parametrize("case", CASES)
def test_an_export_gives_the_ratings_that_were_counted(case: str) -> None:
    name, _, question = case.partition(" ")
    wanted = expected()[case]
    if name in NEEDS_ZSTANDARD and sys.version_info < (3, 14):
        pytest.importorskip("zstandard")
    options = {"question": question.partition("=")[2]} if question else {}

    ratings = reader(name)(folder() / name, **options)

    found = counts(ratings, wanted)
    assert {key: found[key] for key in found.keys() & wanted.keys()} == {
        key: wanted[key] for key in found.keys() & wanted.keys()
    }
    assert found.keys() & wanted.keys()


def test_the_list_of_cases_is_that_of_the_counts() -> None:
    assert {*CASES, *WITHOUT_RATER, WITHOUT_STATUS} == set(expected())


@pytest.mark.parametrize("name", WITHOUT_RATER)
def test_an_export_without_raters_needs_a_name(name: str) -> None:
    folder()

    with pytest.raises(RatingsError, match=r"^rater: .* Pass rater='a name'\.$"):
        reader(name)(folder() / name)

    assert reader(name)(folder() / name, rater="me").raters.tolist() == ["me"]


def test_answers_of_one_annotator_are_all_read() -> None:
    name = WITHOUT_RATER[0]
    wanted = expected()[name]

    ratings = reader(name)(folder() / name, rater="me")

    assert ratings.to_frame()["rating"].value_counts().to_dict() == wanted["answers"]
    assert len(ratings) == wanted["with_rater_given"]["ratings"]


def test_records_without_a_status_are_read_with_a_warning() -> None:
    path = folder() / WITHOUT_STATUS

    with pytest.warns(UserWarning, match="drafts and discarded"):
        ratings = readers.argilla(path)

    n_people = Counter(ratings.to_frame()["pool"])["human"]
    assert n_people == expected()[WITHOUT_STATUS]["responses_without_status"]


@pytest.mark.parametrize("name", NEEDS_ZSTANDARD)
def test_each_scorer_of_a_log_gives_the_values_that_were_counted(name: str) -> None:
    if sys.version_info < (3, 14):
        pytest.importorskip("zstandard")
    wanted = expected()[name]

    for question, score in wanted["scores"].items():
        ratings = readers.inspect(folder() / name, question=question)
        frame = ratings.to_frame()
        # An edit was counted in place of the judge's own value.
        edits = frame[frame["pool"] == "human"]["item"]
        is_replaced = frame["item"].isin(edits) & (frame["pool"] == "llm")
        values = Counter(as_text(value) for value in frame["rating"][~is_replaced])

        assert len(ratings) == score["ratings"] + len(edits)
        assert question == "panel" or values == score["values"]
        unscored = f"{question} unscored"
        assert ratings.left_out.get(unscored) == wanted["unscored"].get(unscored)


def test_a_person_who_edits_a_score_is_a_rater_beside_the_judge() -> None:
    name = NEEDS_ZSTANDARD[0]
    if sys.version_info < (3, 14):
        pytest.importorskip("zstandard")
    [[item, judge, author, value]] = expected()[name]["edits"]

    frame = readers.inspect(folder() / name, question="judge_a").to_frame()

    of_item = frame[frame["item"] == item].set_index("rater")
    assert of_item["rating"].to_dict() == {judge: "C", author: value}
    assert of_item["pool"].to_dict() == {judge: "llm", author: "human"}


def test_logs_of_several_models_are_read_together() -> None:
    if sys.version_info < (3, 14):
        pytest.importorskip("zstandard")

    ratings = readers.inspect([folder() / name for name in NEEDS_ZSTANDARD], question="panel")

    assert (ratings.n_items, ratings.groups.tolist()) == (32, ["mockllm/v3", "mockllm/v4"])
    assert ratings.describe()["blocks in all groups"] == len(ratings.blocks) == 8


def counts(ratings: Ratings, wanted: dict[str, Any]) -> dict[str, Any]:
    """What was counted of the export, counted in the ratings."""
    frame = ratings.to_frame()
    of_items = frame.drop_duplicates("item")
    groups = frame if wanted.get("items") != sum(wanted.get("groups", {}).values()) else of_items
    return {
        "ratings": len(ratings),
        "items": ratings.n_items,
        "raters": ratings.n_raters,
        "categories": dict(Counter(as_text(value) for value in frame["rating"])),
        "by_rater": dict(Counter(map(str, frame["rater"]))),
        "left_out": dict(ratings.left_out),
        "by_pool": dict(Counter(frame.get("pool", ()))),
        "repeated": len(ratings) - ratings.n_cells,
        "groups": dict(Counter(groups.get("group", ()))),
        "gold": golds(frame),
        "prompts": len(ratings.blocks),
    }


def golds(frame: pd.DataFrame) -> dict[str, Any]:
    if "gold" not in frame:
        return {}
    known = frame[["item", "gold"]].dropna().drop_duplicates()
    return dict(zip(known["item"].map(str), known["gold"], strict=True))


def as_text(value: Any) -> str:
    return f"{value:g}" if isinstance(value, float) else str(value)


def reader(name: str) -> Any:
    return getattr(readers, name.partition("/")[0])


def folder() -> Path:
    found = datasets.folder() / "readers"
    if not found.is_dir():
        if os.environ.get("CI") == "true" and "RELIABAYES_DATA" in os.environ:
            pytest.fail(f"CI must have the exports in {found}")
        pytest.skip(f"no exports in {found}")
    return found


@cache
def expected() -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder() / "expected.json").read_text())
    return found
