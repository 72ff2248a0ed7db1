"""Answers of judges and labels of people are read from any files as one table."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import reliabayes as rb

JUDGED = pd.DataFrame(
    {
        "item": ["a", "b", "c"] * 2,
        "rater": ["gpt"] * 3 + ["claude"] * 3,
        "system": ["v3", "v4", "v4"] * 2,
        "rating": ["pass", "fail", "fail", "pass", "pass", "fail"],
    }
)
LABELS = pd.DataFrame({"item": ["a", "b"], "rating": ["pass", "fail"]})


@pytest.fixture
def judges(tmp_path: Path) -> Path:
    JUDGED.to_csv(tmp_path / "judges.csv", index=False, sep=";")
    return tmp_path / "judges.csv"


@pytest.fixture
def sheet(tmp_path: Path) -> Path:
    LABELS.to_csv(tmp_path / "Ann.csv", index=False)
    return tmp_path / "Ann.csv"


def test_a_sheet_without_raters_is_by_the_person_it_is_named_after(
    judges: Path, sheet: Path
) -> None:
    frame = rb.read_judged(judges, sheet, group="system").to_frame()

    of_people = frame[frame["pool"] == "human"]
    assert of_people["rater"].unique().tolist() == ["Ann"]
    assert dict(zip(of_people["item"], of_people["group"], strict=True)) == {"a": "v3", "b": "v4"}
    assert sorted(frame.loc[frame["pool"] == "llm", "rater"].unique()) == ["claude", "gpt"]


def test_a_sheet_with_a_column_per_person_may_have_people_who_never_met(
    judges: Path, tmp_path: Path
) -> None:
    pytest.importorskip("openpyxl")
    wide = pd.DataFrame(
        {"item": [*"abc"], "Ann": ["pass", None, None], "Bob": [None, "fail", "pass"]}
    )
    wide.to_excel(tmp_path / "labels.xlsx", index=False)

    frame = rb.read_judged(judges, tmp_path / "labels.xlsx").to_frame()

    labels = frame[frame["pool"] == "human"].set_index("item")
    assert labels["rater"].to_dict() == {"a": "Ann", "b": "Bob", "c": "Bob"}
    assert labels["rating"].to_dict() == {"a": "pass", "b": "fail", "c": "pass"}


def test_named_columns_count_for_the_files_that_have_them(sheet: Path, tmp_path: Path) -> None:
    path = tmp_path / "other.csv"
    JUDGED.rename(columns={"item": "answer", "rating": "verdict"}).to_csv(path, index=False)

    ratings = rb.read_judged(path, sheet, item="answer", rating="verdict")

    assert len(ratings) == len(JUDGED) + len(LABELS)
    assert set(ratings.items) == {*"abc"}


def test_a_column_that_no_file_has_is_refused(judges: Path, sheet: Path) -> None:
    with pytest.raises(rb.RatingsError, match=r"rating: a file must have the column 'verdct'"):
        rb.read_judged(judges, sheet, rating="verdct")


def test_ids_that_only_one_file_has_as_numbers_are_texts(tmp_path: Path) -> None:
    numbers = {"a": "1", "b": "2", "c": "x3"}
    JUDGED.replace({"item": numbers}).to_csv(tmp_path / "judges.csv", index=False)
    LABELS.replace({"item": numbers}).to_csv(tmp_path / "Ann.csv", index=False)

    ratings = rb.read_judged(tmp_path / "judges.csv", tmp_path / "Ann.csv")

    assert set(ratings.items) == {"1", "2", "x3"}


def test_known_answers_may_stand_on_the_sheet(judges: Path, tmp_path: Path) -> None:
    LABELS.assign(gold=["pass", "pass"]).to_csv(tmp_path / "Ann.csv", index=False)

    ratings = rb.read_judged(judges, tmp_path / "Ann.csv")

    assert ratings.gold_category is not None
    assert [int(x) for x in ratings.gold_category] == [1, 1, -1]


def test_people_and_judges_must_use_the_same_categories(judges: Path, tmp_path: Path) -> None:
    LABELS.replace({"rating": {"pass": 1, "fail": 0}}).to_csv(tmp_path / "Ann.csv", index=False)

    with pytest.raises(rb.RatingsError, match="0, 1 by people, and 'fail', 'pass' by judges"):
        rb.read_judged(judges, tmp_path / "Ann.csv")


def test_twins_between_files_are_refused_or_joined(judges: Path, tmp_path: Path) -> None:
    LABELS.replace({"rating": {"pass": "Pass"}}).to_csv(tmp_path / "Ann.csv", index=False)

    with pytest.raises(rb.RatingsError, match=r"rating, between files: .*twins=\"join\""):
        rb.read_judged(judges, tmp_path / "Ann.csv")
    joined = rb.read_judged(judges, tmp_path / "Ann.csv", twins="join")
    assert joined.categories.tolist() == ["fail", "pass"]


def test_a_fault_is_told_with_its_file_and_line(judges: Path, tmp_path: Path) -> None:
    LABELS.assign(item=["a", ""]).to_csv(tmp_path / "Ann.csv", index=False)

    with pytest.raises(rb.RatingsError, match=r"Ann.csv, item: .*\(line 3"):
        rb.read_judged(judges, tmp_path / "Ann.csv")
