"""Square tables of the categories of two raters, as ratings and back."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

from reliabayes import Ratings, RatingsError, agreement
from reliabayes.ratings import read_ratings

COUNTS = np.array([[20, 5, 0], [3, 9, 2], [1, 0, 4]])
GRADES = ["low", "middle", "high"]
FRAME = pd.DataFrame(COUNTS, GRADES, GRADES)


def test_table_comes_back_as_it_was() -> None:
    ratings = Ratings.from_table(FRAME, raters=["Zoe", "Ann"], scale="ordered")

    found = ratings.table()

    assert found.to_numpy().tolist() == COUNTS.tolist()
    assert (found.index.name, found.columns.name) == ("Zoe", "Ann")
    assert ratings.categories.tolist() == GRADES
    assert ratings.table("Ann").equals(ratings.table("Ann", "Zoe"))
    assert ratings.table(other="Zoe").equals(ratings.table("Ann", "Zoe"))


def test_table_of_a_table_is_the_same_ratings() -> None:
    ratings = Ratings.from_table(FRAME, raters=["Zoe", "Ann"])

    assert Ratings.from_table(ratings.table()) == ratings


# psych 2.2.9, cohen.kappa(table): Cohen's kappa and the quadratically weighted one
@pytest.mark.parametrize(
    ("counts", "kappa", "weighted"),
    [
        ([[53, 5, 2], [11, 14, 5], [1, 6, 3]], 0.428571428571429, 0.566666666666667),
        ([[19, 10], [6, 256]], 0.673583847448121, 0.673583847448121),
        ([[596, 61], [29, 987]], 0.886236566289092, 0.886236566289092),
        (
            [[1520, 266, 124, 66], [234, 1512, 432, 78], [117, 362, 1772, 205], [36, 82, 179, 492]],
            0.595388828089434,
            0.702334252490098,
        ),
    ],
)
def test_kappas_of_published_tables(counts: Any, kappa: float, weighted: float) -> None:
    ratings = Ratings.from_table(np.array(counts), scale="ordered")

    assert float(agreement.cohen_kappa(ratings)) == pytest.approx(kappa)
    assert float(agreement.cohen_kappa(ratings, "quadratic")) == pytest.approx(weighted)


def test_columns_in_another_order_than_rows() -> None:
    shuffled = FRAME[["high", "low", "middle"]]

    assert Ratings.from_table(shuffled) == Ratings.from_table(FRAME)


@pytest.mark.parametrize("frame_of", [pl.DataFrame, pd.DataFrame])
def test_first_column_holds_the_categories_of_rows(frame_of: Any) -> None:
    frame = frame_of({"grade": GRADES, **dict(zip(GRADES, COUNTS.T.tolist(), strict=True))})

    assert Ratings.from_table(frame) == Ratings.from_table(FRAME)


def test_names_of_a_crosstab_are_those_of_the_raters() -> None:
    one, other = pd.Series([*"abcabc"], name="one"), pd.Series([*"abaabb"], name="other")

    ratings = Ratings.from_table(pd.crosstab(one, other), categories=[*"abcd"])

    assert ratings.raters.tolist() == ["one", "other"]
    assert ratings.table().loc["c"].to_dict() == {"a": 1, "b": 1, "c": 0, "d": 0}


def test_category_that_nobody_used_counts_only_if_it_is_declared() -> None:
    without = Ratings.from_table(np.array([[6, 2], [1, 7]]), categories=["a", "b"])
    declared = Ratings.from_table(without.table(), categories=["a", "b", "c"])

    assert float(agreement.cohen_kappa(declared)) == float(agreement.cohen_kappa(without))
    assert float(agreement.brennan_prediger(without)) == pytest.approx(2 * 13 / 16 - 1)
    assert float(agreement.brennan_prediger(declared)) == pytest.approx(1.5 * 13 / 16 - 0.5)


def test_numbers_as_categories() -> None:
    ratings = Ratings.from_table(
        FRAME.set_axis([1, 2, 9]).set_axis([1, 2, 9], axis=1), scale="numeric"
    )

    assert ratings.values.max() == 9
    assert ratings.table().to_numpy().tolist() == COUNTS.tolist()


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".xlsx", ".parquet"])
def test_files(tmp_path: Path, suffix: str) -> None:
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
    file = tmp_path / f"table{suffix}"
    named = FRAME.reset_index(names="first by second")
    write: dict[str, Any] = {
        ".csv": named.to_csv,
        ".xlsx": named.to_excel,
        ".parquet": named.to_parquet,
    }
    if suffix == ".tsv":
        named.to_csv(file, index=False, sep="\t")
    else:
        write[suffix](file, index=False)

    ratings = read_ratings(file, shape="table", scale="ordered")

    assert ratings == Ratings.from_table(FRAME, scale="ordered")


def test_file_with_whole_numbers_as_categories(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(",1,2\n1,6,2\n2,1,7\n")

    ratings = read_ratings(file, shape="table")

    assert ratings.categories.tolist() == [1, 2]
    assert (ratings.scale, ratings.n_items) == ("nominal", 16)


def test_file_has_no_columns_to_name(tmp_path: Path) -> None:
    file = tmp_path / "table.csv"
    file.write_text(",1,2\n1,6,2\n2,1,7\n")

    with pytest.raises(RatingsError, match=r"gold: a table of two raters' .*; found 'truth'"):
        read_ratings(file, shape="table", gold="truth")


@pytest.mark.parametrize(
    ("table", "options", "message"),
    [
        (COUNTS[:2], {}, r"a row and a column per category; found the shape \(2, 3\)"),
        (-FRAME, {}, "found -20 in row 'low', column 'low'; -5 .*; and 2 more. Correct them"),
        (FRAME.replace(9, -9), {}, "found -9 in row 'middle', column 'middle'. Correct them"),
        (FRAME / 2, {}, "found 2.5 in row 'low', column 'middle'; 1.5 in .*; multiply prop"),
        (FRAME.astype(object).replace(9, None), {}, "found None in row 'middle', column 'middle'"),
        (FRAME.replace(9, "many"), {}, "found 'many' in row 'middle', column 'middle'"),
        (FRAME.rename(index={"high": "top"}), {}, "'top' in rows only and 'high' in columns only"),
        (FRAME[["low", "high"]], {}, "found 'middle' in rows only. Pass categories="),
        (FRAME, {"categories": ["low", "high"]}, "list all categories .* found no 'middle'"),
        (COUNTS, {"categories": ["low", "high"]}, r"found the shape \(3, 3\) and 2 categories"),
        (FRAME.reset_index(drop=True), {}, "rows without names. Pass table.to_numpy()"),
        (FRAME.set_axis(["a", "a", "b"]), {}, "each row must have .* of its own; found 'a' twice"),
        (FRAME, {"raters": ["Ann"]}, "it must name two raters, .*; found 'Ann'"),
        (FRAME, {"raters": ["Ann", "Ann"]}, "it must name two raters"),
        (10**8 * FRAME, {}, "counts must sum to 50,000,000 or less"),
        (0 * FRAME, {}, "table: it must hold ratings; found none"),
    ],
)
def test_bad_tables(table: Any, options: dict[str, Any], message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        Ratings.from_table(table, **options)


def test_sums_are_no_category() -> None:
    one, other = pd.Series([*"abcabc"]), pd.Series([*"abcacb"])

    with pytest.raises(RatingsError, match=r"found sums in 'All'. Drop them"):
        Ratings.from_table(pd.crosstab(one, other, margins=True))


def test_table_of_several_raters_needs_names() -> None:
    ratings = Ratings.from_wide(np.array([[1, 2, 1], [2, 2, 1]]))

    with pytest.raises(
        RatingsError, match=r"table: it must name two raters; .* raters are 0, 1, 2"
    ):
        ratings.table(0)
