"""Faults of tables that are partitioned: those of the same table in memory, all in one error."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.errors import Fault
from reliabayes.partitions import runs


@pytest.fixture
def frame() -> pd.DataFrame:
    """180 ratings of 60 items by 6 raters in two pools, and gold."""
    items = np.arange(60)
    rows = [(f"i{n}", (n + k) % 6, (n * k) % 4 + 1) for n in items for k in range(3)]
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"])
    frame["pool"] = np.where(frame["rater"] < 3, "staff", "crowd")
    frame["gold"] = frame["item"].str[1:].astype(int) % 4 + 1.0
    return frame


def missing_values(frame: pd.DataFrame) -> pd.DataFrame:
    for column, rows in (("item", [3]), ("rater", [5, 9]), ("rating", [*range(20, 30)])):
        frame[column] = frame[column].astype(object)
        frame.loc[rows, column] = None
    return frame.convert_dtypes()


def replicates(frame: pd.DataFrame) -> pd.DataFrame:
    return pd.concat([frame, frame.iloc[10:20]], ignore_index=True)


def two_pools(frame: pd.DataFrame) -> pd.DataFrame:
    frame.loc[[100, 101, 150], "pool"] = "others"
    return frame


def conflicting_gold(frame: pd.DataFrame) -> pd.DataFrame:
    frame.loc[[7, 8, 90], "gold"] = 1.5
    return frame


def one_item(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(item="a", gold=1.0).drop_duplicates("rater")


def one_rater(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(rater=1, pool="staff").drop_duplicates("item")


def equal_ratings(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.assign(rating=3)


def no_overlap(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.drop_duplicates("item").assign(rating=[1, 2] * 30)


def no_rows(frame: pd.DataFrame) -> pd.DataFrame:
    return frame.iloc[:0]


def infinite_ratings(frame: pd.DataFrame) -> pd.DataFrame:
    frame["rating"] = frame["rating"].astype(float)
    frame.loc[[4, 5, 120], "rating"] = np.inf
    return frame


def numbers_as_text(frame: pd.DataFrame) -> pd.DataFrame:
    frame["rating"] = frame["rating"].astype(str)
    frame.loc[40, "rating"] = "none"
    return frame


def several(frame: pd.DataFrame) -> pd.DataFrame:
    return two_pools(conflicting_gold(replicates(frame)))


TABLES: tuple[Callable[[pd.DataFrame], pd.DataFrame], ...] = (
    missing_values,
    replicates,
    two_pools,
    conflicting_gold,
    one_item,
    one_rater,
    equal_ratings,
    no_overlap,
    no_rows,
    infinite_ratings,
    numbers_as_text,
    several,
)


@pytest.mark.parametrize("table", TABLES)
def test_faults_are_those_of_the_table_in_memory(
    table: Callable[[pd.DataFrame], pd.DataFrame],
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    bad = table(frame)
    bad.to_parquet(tmp_path / "bad.parquet", row_group_size=40)
    monkeypatch.setattr(runs, "CHUNK", 40)
    columns: dict[str, Any] = {"pool": "pool", "gold": "gold"}

    found = faults_of(
        lambda: rb.partition(tmp_path / "bad.parquet", tmp_path / "parts", **columns, partitions=5)
    )

    expected = faults_of(lambda: rb.Ratings.from_frame(bad, **columns))
    assert [*map(key_of, found)] == [*map(key_of, expected)]
    in_order = [fault.rows for fault in expected if fault.rule != "values must be finite"]
    assert [fault.rows for fault in found if fault.rule != "values must be finite"] == in_order
    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize(
    ("options", "change"),
    [
        ({"categories": [1, 2, 3]}, {}),
        ({"scale": "ordered", "categories": ["a", "b"]}, {}),
        ({"categories": [1, 1]}, {}),
        ({"scale": "numeric"}, {"rating": "bad"}),
        ({"scale": "ordered"}, {"rating": "bad"}),
        ({"categories": [1, 2, 3, 4], "gold": "gold"}, {"gold": 7.0}),
    ],
)
def test_faults_of_the_scale_are_those_of_the_table_in_memory(
    options: dict[str, Any], change: dict[str, Any], frame: pd.DataFrame, tmp_path: Path
) -> None:
    for column, value in change.items():
        frame[column] = frame[column].astype(object)
        frame.loc[50, column] = value
        if value == "bad":
            frame[column] = frame[column].astype(str)

    found = faults_of(lambda: rb.partition(frame, tmp_path / "parts", **options))

    expected = faults_of(lambda: rb.Ratings.from_frame(frame, **options))
    assert {fault.rule for fault in found} == {fault.rule for fault in expected}
    assert {fault.n_rows for fault in found} == {fault.n_rows for fault in expected}


def test_labels_that_differ_only_in_capitals_are_refused(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    frame["rating"] = frame["rating"].map({1: "no", 2: "yes", 3: "Yes", 4: "no"})

    (fault,) = faults_of(lambda: rb.partition(frame, tmp_path / "parts"))

    (expected,) = faults_of(lambda: rb.Ratings.from_frame(frame))
    assert (fault.rule, fault.n_rows) == (expected.rule, expected.n_rows)
    assert fault.remedy == "Rename them, or list all in categories=[...] if they are different."


def test_columns_that_are_absent_are_named_with_a_guess(
    frame: pd.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(rb.RatingsError, match=r"Did you mean rater='rater'\?"):
        rb.partition(frame, tmp_path / "parts", rater="raters")

    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("number", [0, -1, 2.5, "many"])
def test_the_number_of_parts_must_be_one(number: Any, frame: pd.DataFrame, tmp_path: Path) -> None:
    with pytest.raises(rb.RatingsError, match="partitions: it must be a number of parts"):
        rb.partition(frame, tmp_path / "parts", partitions=number)


@pytest.mark.parametrize("number", [0, 1.5])
def test_the_number_of_processes_must_be_one(
    number: Any, frame: pd.DataFrame, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match="n_jobs: it must be -1 or a number of processes"):
        rb.partition(frame, tmp_path / "parts", n_jobs=number)

    assert not (tmp_path / "parts").exists()


@pytest.mark.parametrize("below", ["", "parts"])
def test_parts_are_not_written_onto_a_file(below: str, frame: pd.DataFrame, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("mine")

    with pytest.raises(rb.RatingsError, match=r"must be empty or new; found that .*file is a file"):
        rb.partition(frame, tmp_path / "file" / below)

    assert (tmp_path / "file").read_text() == "mine"


@pytest.mark.parametrize("path", ["x" * 256, "/".join(["y" * 200] * 30)])
def test_paths_that_are_too_long_are_refused(
    path: str, frame: pd.DataFrame, tmp_path: Path
) -> None:
    too_long = "names of files and folders must have at most 255 bytes"

    with pytest.raises(rb.RatingsError, match=f"path: {too_long}"):
        rb.partition(frame, tmp_path / path)
    with pytest.raises(rb.RatingsError, match=f"path: {too_long}"):
        rb.scan_ratings(tmp_path / path)
    with pytest.raises(rb.RatingsError, match=f"source: {too_long}"):
        rb.partition(tmp_path / path / "ratings.csv", tmp_path / "parts")


@pytest.mark.parametrize("value", [1.5, True, pd.Timestamp("2020-01-01")])
def test_ids_must_be_texts_or_whole_numbers(
    value: Any, frame: pd.DataFrame, tmp_path: Path
) -> None:
    rule = "ids of items must be texts or whole numbers"
    with pytest.raises(rb.RatingsError, match=rule):
        rb.partition(frame.assign(item=[value] * len(frame)), tmp_path / "parts")


def test_values_of_several_types_are_refused(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["rater"] = frame["rater"].astype(object)
    frame.loc[3, "rater"] = "x"

    with pytest.raises(rb.RatingsError, match="all values of a column must have the same type"):
        rb.partition(frame, tmp_path / "parts")


def test_ordered_categories_of_a_file_must_be_declared(frame: pd.DataFrame, tmp_path: Path) -> None:
    frame["rating"] = pd.Categorical(frame["rating"].astype(str), ordered=True)
    frame.to_parquet(tmp_path / "ordered.parquet")

    with pytest.raises(rb.RatingsError, match=r"Pass scale=\"ordered\" and categories=\[...\]"):
        rb.partition(tmp_path / "ordered.parquet", tmp_path / "parts")


@pytest.mark.parametrize("text", ["item,rater,rating\na,1,1,5\nb,1,2,7\n", 'item,rater,rating\n"a'])
def test_text_that_is_no_table_is_refused(text: str, tmp_path: Path) -> None:
    (tmp_path / "bad.csv").write_text(text)

    with pytest.raises(rb.RatingsError):
        rb.partition(tmp_path / "bad.csv", tmp_path / "parts")


@pytest.mark.parametrize("comment", ["# exported on Monday", "\n#version 2\n\n# of the ads"])
@pytest.mark.parametrize("name", ["r.csv", "r.csv.gz"])
def test_comments_above_the_header_are_named_as_in_memory(
    name: str, comment: str, tmp_path: Path
) -> None:
    text = f"{comment}\nitem,rater,rating\n1,a,2\n1,b,3\n2,a,3\n2,b,3\n"
    opened = gzip.open if name.endswith("gz") else open
    with opened(tmp_path / name, "wt") as file:
        file.write(text)

    with pytest.raises(rb.RatingsError) as found:
        rb.partition(tmp_path / name, tmp_path / "parts")

    with pytest.raises(rb.RatingsError) as expected:
        rb.read_ratings(tmp_path / name)
    assert found.value.faults == expected.value.faults
    assert not (tmp_path / "parts").exists()


def test_a_header_may_begin_with_the_sign_of_comments(tmp_path: Path) -> None:
    text = "#,item;rater;rating\n1;a;2\n1;b;3\n2;a;3\n2;b;3\n"
    (tmp_path / "r.csv").write_text(text)

    dataset = rb.partition(tmp_path / "r.csv", tmp_path / "parts", item="#,item")

    assert len(dataset) == 4


@pytest.mark.parametrize(
    ("numbers", "rule"),
    [
        (1e9 + np.random.default_rng(1).random(180), "must be at least 0.6% of the largest"),
        (1e40 * np.random.default_rng(1).random(180), "must lie within -3.4e"),
    ],
)
def test_numbers_that_parts_would_round_are_refused(
    numbers: Any,
    rule: str,
    frame: pd.DataFrame,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("reliabayes.partitions.rating_values.MOST_VALUES", 100)

    with pytest.raises(rb.RatingsError, match=rule):
        rb.partition(frame.assign(rating=numbers), tmp_path / "parts")


def faults_of(call: Callable[[], object]) -> list[Fault]:
    with pytest.raises(rb.RatingsError) as raised:
        call()
    return sorted(raised.value.faults, key=key_of)


def key_of(fault: Fault) -> tuple[str, str, int]:
    return fault.place, fault.rule, fault.n_rows
