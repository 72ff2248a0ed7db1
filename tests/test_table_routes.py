"""A short tier of the tables that ``make fuzz`` sends by all routes, and what they have found."""

from __future__ import annotations

from decimal import Decimal
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import reliabayes as rb
from tests import table_routes

CASES, GROUPS = 200, 4


@pytest.mark.slow
@pytest.mark.parametrize(
    "group",
    [
        0,
        *(pytest.param(group, marks=pytest.mark.proof) for group in range(1, GROUPS)),
    ],
)
def test_a_table_gives_the_same_ratings_by_any_route(group: int) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("openpyxl")
    cases = range(group, CASES, GROUPS)

    wrong = [each for case in cases for each in table_routes.differences(1, case, n_routes=1)]

    assert wrong == []


def test_whole_numbers_of_parquet_stay_whole_beside_missing_ones(tmp_path: Path) -> None:
    large = [2**53, 2**53 + 1, 2**53 + 1, None]
    table = {"item": [1, 1, 2, 2], "rater": ["x", "y", "x", "y"], "rating": large}
    pq.write_table(pa.table(table), tmp_path / "r.parquet")

    ratings = rb.read_ratings(tmp_path / "r.parquet", missing="drop")

    assert ratings.categories.tolist() == [2**53, 2**53 + 1]


def test_decimals_are_the_nearest_floats(tmp_path: Path) -> None:
    values = [Decimal("0.3"), Decimal("0.6"), Decimal("0.7"), Decimal("0.3")]
    ids = {"item": list("aabb"), "rater": [1, 2, 1, 2]}
    long = pa.table(ids | {"rating": values})
    wide = pa.table({"item": list("abcd"), "x": values, "y": values})
    parts = rb.partition(long, tmp_path / "parts", partitions=1)

    assert rb.Ratings.from_frame(long).rating.tolist() == [0.3, 0.6, 0.7, 0.3]
    assert rb.Ratings.from_wide(wide, item="item").categories.tolist() == [0.3, 0.6, 0.7]
    assert parts.to_ratings().rating.tolist() == [0.3, 0.6, 0.7, 0.3]


def test_string_views_of_pyarrow_are_texts() -> None:
    table = pa.table({"item": ["a", "a", "b", "b"], "rater": [1, 2, 1, 2], "rating": list("uvvv")})
    views = table.set_column(0, "item", table["item"].cast(pa.string_view()))

    assert rb.Ratings.from_frame(views) == rb.Ratings.from_frame(table)


def test_labels_of_many_digits_stay_apart_in_text_files(tmp_path: Path) -> None:
    rows = [f"{item},{rater},{2**63 + 2 * rater}" for item in "ab" for rater in (0, 1)]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["item,rater,rating", *rows]))

    assert rb.read_ratings(path).categories.tolist() == [2**63, 2**63 + 2]


def test_missing_ratings_do_not_count_where_most_are_numbers(tmp_path: Path) -> None:
    rows = ["a,x,1", "a,y,2", "b,x,2", "b,y,unsure", *[f"{item},z," for item in "abcd"]]
    path = tmp_path / "r.csv"
    path.write_text("\n".join(["item,rater,rating", *rows]))

    with pytest.raises(rb.RatingsError, match="either numbers or labels"):
        rb.read_ratings(path, missing="drop")
