"""Columns of unusual types and names: the same ratings as of plain ones, or a RatingsError."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import reliabayes as rb

COLUMNS: dict[str, Any] = {
    "item": ["a", "a", "b", "b"],
    "rater": ["x", "y", "x", "y"],
    "rating": [1, 2, 1, 1],
}
FRAME = pd.DataFrame(COLUMNS)
PIVOTED = FRAME.pivot_table(index="item", columns="rater", values=["rating"])


def pandas(**columns: Any) -> pd.DataFrame:
    return pd.DataFrame(COLUMNS | columns)


def arrow(**columns: Any) -> Any:
    return pa.table(COLUMNS | columns)


def encoded(values: list[Any]) -> Any:
    return pa.array(values).dictionary_encode()


LARGE = [2**64 - 1, 2**64 - 1, 2**64 - 2, 2**64 - 2]


@pytest.mark.parametrize(
    "frame",
    [
        arrow(rating=encoded([1, 2, 1, 1])),
        arrow(rating=encoded([1.0, 2.0, 1.0, 1.0])),
        arrow(item=encoded(COLUMNS["item"]), rater=encoded(COLUMNS["rater"])),
        FRAME.astype({"rating": "uint64"}),
        pandas(rating=pd.arrays.SparseArray(COLUMNS["rating"])),
    ],
    ids=["codes of int", "codes of float", "codes of text", "uint64", "sparse"],
)
def test_how_a_column_is_stored_changes_nothing(frame: Any) -> None:
    assert rb.Ratings.from_frame(frame) == rb.Ratings.from_frame(FRAME)


@pytest.mark.parametrize(
    "frame",
    [
        pandas(item=np.array(LARGE, "uint64")),
        pl.DataFrame(pandas(item=np.array(LARGE, "uint64"))),
        arrow(item=pa.array(LARGE, pa.uint64())),
        pl.DataFrame(COLUMNS | {"item": pl.Series(LARGE, dtype=pl.Int128)}),
    ],
    ids=["pandas", "polars", "pyarrow", "128 bits"],
)
def test_ids_beyond_int64_are_exact(frame: Any) -> None:
    assert rb.Ratings.from_frame(frame).items.tolist() == [2**64 - 2, 2**64 - 1]


@pytest.mark.parametrize("dtype", [pl.UInt64, pl.Int64])
def test_whole_numbers_that_floats_would_merge_stay_apart_in_wide_tables(dtype: Any) -> None:
    large = [2**62, 2**62 + 1]
    frame = pl.DataFrame({"item": ["a", "b"], "x": large, "y": [2**62, None]}, strict=False)
    frame = frame.with_columns(pl.col("x", "y").cast(dtype))

    assert rb.Ratings.from_wide(frame, item="item").categories.tolist() == large


def test_whole_numbers_that_floats_would_merge_stay_apart_beside_smaller_types() -> None:
    large = np.array([2**64 - 1, 2**64 - 2], "uint64")
    frame = pd.DataFrame({"x": large, "y": [1, 1]})

    assert rb.Ratings.from_wide(frame).categories.tolist() == [1, 2**64 - 2, 2**64 - 1]


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(COLUMNS | {"rating": pl.Series([object()] * 4, dtype=pl.Object)}),
        arrow(rating=[{"a": 1}] * 4),
        pandas(rating=[[{"a": 1}]] * 4),
        arrow(rating=pa.RunEndEncodedArray.from_arrays([2, 4], ["n", "y"])),
    ],
    ids=["object", "struct", "list of objects", "runs"],
)
def test_columns_that_hold_no_single_values_are_refused(frame: Any, tmp_path: Path) -> None:
    with pytest.raises(rb.RatingsError, match="rating: each value must be a single text"):
        rb.Ratings.from_frame(frame)
    with pytest.raises(rb.RatingsError, match=r"rating: values must be texts|source: all values"):
        rb.partition(frame, tmp_path / "parts")


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(COLUMNS | {"rating": [[1], [2], [1], [1]]}),
        arrow(rating=[[1], [2], [1], [1]]),
        pandas(rating=pd.Series([[1], [2], [1], [1]], dtype=pd.ArrowDtype(pa.list_(pa.int64())))),
        pandas(rating=[{1}, {2}, {1}, {1}]),
        pandas(rating=[np.ones(1), np.full(1, 2.0), np.ones(1), np.ones(1)]),
    ],
    ids=["polars", "arrow", "pandas list", "set", "array"],
)
def test_lists_are_sets_of_labels_but_not_in_parts(frame: Any, tmp_path: Path) -> None:
    assert rb.Ratings.from_frame(frame).categories.tolist() == ["1", "2"]
    with pytest.raises(rb.RatingsError, match=r"rating: values must be texts|source: all values"):
        rb.partition(frame, tmp_path / "parts")


@pytest.mark.parametrize("read", [rb.Ratings.from_wide, rb.Ratings.from_counts])
@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (PIVOTED, "columns: each column must have one name; found 2 levels of names"),
        (PIVOTED.reset_index(), "columns: each column must have one name; found 2 levels"),
        (
            FRAME.assign(day=1).pivot_table(index=["item", "day"], columns="rater"),
            "index: an index of items must have one level; found 2 levels",
        ),
        (
            pd.DataFrame([[1, 2], [2, 2]], columns=["x", "x"]),
            "columns: their names must be unique; found 'x' more than once",
        ),
        (
            pa.table([pa.array([1, 2]), pa.array([1, 2])], names=["x", "x"]),
            "columns: their names must be unique; found 'x' more than once",
        ),
    ],
)
def test_tables_whose_columns_have_no_single_name_are_refused(
    read: Any, frame: Any, message: str
) -> None:
    with pytest.raises(rb.RatingsError, match=message):
        read(frame)


def test_a_pivot_table_of_one_level_is_read() -> None:
    frame = FRAME.pivot_table(index="item", columns="rater", values="rating")

    assert rb.Ratings.from_wide(frame) == rb.Ratings.from_frame(FRAME)


@pytest.mark.parametrize("name", ["r.csv", "r.parquet"])
@pytest.mark.parametrize("shape", ["long", "wide"])
def test_a_file_that_names_a_column_twice_is_refused(tmp_path: Path, name: str, shape: Any) -> None:
    path = tmp_path / name
    names = ["item", "rater", "rating", "rating"]
    table = pa.table([pa.array([1, 2])] * 4, names=names)
    if path.suffix == ".csv":
        path.write_text("item,rater,rating,rating\n1,1,1,1\n2,2,2,2\n")
    else:
        pq.write_table(table, path)

    with pytest.raises(rb.RatingsError, match="'rating' more than once"):
        rb.read_ratings(path, shape=shape)
    with pytest.raises(rb.RatingsError, match="'rating' more than once"):
        rb.partition(path, tmp_path / "parts")
    with pytest.raises(rb.RatingsError, match="'rating' more than once"):
        rb.partition(table, tmp_path / "parts")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (
            arrow(item=pa.array(LARGE, pa.uint64())),
            "item: whole numbers in parts must lie within -9,223,372,036,854,775,808 and",
        ),
        (
            arrow(rating=pa.array([2**64 - 1, 1, 1, 1], pa.uint64())),
            "rating: whole numbers in parts must lie within",
        ),
        (pandas(item=[2**64, 2**64, 1, 1]), "source: all values of a column must have"),
        (
            pandas(rating=pd.arrays.SparseArray(COLUMNS["rating"])),
            "source: all values of a column must have",
        ),
        (
            pandas(rating=pd.cut(FRAME["rating"], 2)),
            "categories: parts can hold texts, numbers and bools; found Interval",
        ),
        (
            FRAME.set_axis(pd.MultiIndex.from_product([["s"], FRAME.columns]), axis=1),
            r"columns: names of columns must be texts; found \('s', 'item'\)",
        ),
    ],
    ids=["large ids", "large ratings", "larger ids", "sparse", "intervals", "levels"],
)
def test_what_parts_cannot_hold_is_refused_and_leaves_no_folder(
    tmp_path: Path, frame: Any, message: str
) -> None:
    with pytest.raises(rb.RatingsError, match=message):
        rb.partition(frame, tmp_path / "parts")

    assert not (tmp_path / "parts").exists()


def test_dictionaries_that_differ_between_blocks_of_a_file_are_joined(tmp_path: Path) -> None:
    frame = pandas(rating=["n", "y", "n", "m"])
    blocks = [frame.iloc[:2].astype("category"), frame.iloc[2:].astype("category")]
    schema = pa.Table.from_pandas(blocks[0], preserve_index=False).schema
    with pq.ParquetWriter(tmp_path / "r.parquet", schema) as writer:
        for block in blocks:
            writer.write_table(pa.Table.from_pandas(block, schema, preserve_index=False))

    ratings = rb.read_ratings(tmp_path / "r.parquet")
    parts = rb.partition(tmp_path / "r.parquet", tmp_path / "parts")

    assert sorted(ratings.categories) == sorted(parts.categories) == ["m", "n", "y"]
    assert ratings.to_frame()["rating"].tolist() == ["n", "y", "n", "m"]
