"""Inputs that once were accepted in silence, hung, or ended in a stray exception."""

from __future__ import annotations

import io
import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]
import pytest

import reliabayes as rb

GOOD = {"item": ["a", "a", "b", "b"], "rater": ["x", "y", "x", "y"], "rating": [1.0, 2.0, 4.0, 4.0]}
LONG = "a" * 200_000
TEXT = "item,rater,rating\na,x,1\na,y,2\nb,x,4\nb,y,4\n"


def from_frame(options: dict[str, Any] | None = None, **columns: Any) -> rb.Ratings:
    return rb.Ratings.from_frame(pd.DataFrame(GOOD | columns), **(options or {}))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"categories": 5}, "categories: it must list the categories; found 5"),
        ({"categories": "yes,no"}, "categories: it must list the categories; found 'yes,no'"),
        ({"categories": {1, 2, 4}}, "list the categories in their order, and a set has none"),
        ({"item": ["item"]}, r"item: it must be the name of a column; found \['item'\]"),
        ({"item": None}, "item: it must be the name of a column; found None"),
        ({"rater": b"rater"}, "rater: it must be the name of a column"),
        ({"scale": ["numeric"]}, "scale: it must be one of"),
        ({"replicates": {}}, "replicates: it must be one of"),
        ({"item": pd.NA}, "item: it must be the name of a column; found <NA>"),
        ({"pool": pd.NaT}, "pool: it must be the name of a column; found NaT"),
        ({"scale": pd.NA}, "scale: it must be one of"),
        ({"replicates": pd.NA}, "replicates: it must be one of"),
    ],
)
def test_arguments_that_mean_nothing_are_refused(
    options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    (tmp_path / "r.csv").write_text(TEXT)

    with pytest.raises(rb.RatingsError, match=message):
        from_frame(options)
    with pytest.raises(rb.RatingsError, match=message):
        rb.read_ratings(tmp_path / "r.csv", **options)


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"rating": np.array([1j, 2, 4, 4])}, "rating: values must be real numbers; found complex"),
        ({"rating": [1j, 2, 4, 4]}, "rating: values must be real numbers"),
        ({"rating": [True, 1, 4, 4]}, "rating: all values must have the same type, because True"),
        ({"item": [True, 1, 2, 2]}, "item: all values must have the same type, because True"),
        ({"item": ["a\0", "a", "b", "b"]}, "item: texts must not hold the character NUL"),
        ({"item": [b"a", "a", frozenset(), 1]}, "item: all values must have the same type"),
        ({"rating": [1e200, 2, 4, 4]}, r"within -1e\+75 and 1e\+75, or their powers overflow"),
        ({"rating": [1e-200, 2e-200, 0, 0]}, r"differ by more than 1e-75.* found at most 2e-200"),
    ],
)
def test_values_that_would_be_changed_in_silence_are_refused(
    columns: dict[str, Any], message: str
) -> None:
    with pytest.raises(rb.RatingsError, match=message):
        from_frame(**columns)


@pytest.mark.parametrize("value", [2**63, 2**64, -(2**70), 10**400])
def test_integers_beyond_64_bits_are_read_or_refused(value: int) -> None:
    ratings = from_frame(item=[1, 1, value, value])

    assert ratings.n_items == 2


def test_counts_that_are_complex_are_refused() -> None:
    with pytest.raises(rb.RatingsError, match="counts must be whole numbers, 0 or more"):
        rb.Ratings.from_counts(np.array([[3], [1j], [3]], object))


def test_counts_that_no_memory_holds_are_refused() -> None:
    with pytest.raises(rb.RatingsError, match=r"counts must sum to 100,000,000 or less"):
        rb.Ratings.from_counts(np.array([[1e18, 0], [1, 2], [2, 1]]))


def test_texts_that_no_encoding_has_are_refused() -> None:
    ratings = np.array([["\ud800", "b"], ["b", "b"]], object)

    with pytest.raises(rb.RatingsError, match="each value must be a text, a number"):
        rb.Ratings.from_wide(ratings)


def write(text: str) -> Callable[[Path], Path]:
    def make(folder: Path) -> Path:
        path = folder / "r.csv"
        path.write_text(text)
        return path

    return make


def broken_zip(offset: int, value: int) -> Callable[[Path], Path]:
    """Zip file whose member has another flag or method, in both of its headers."""

    def make(folder: Path) -> Path:
        memory = io.BytesIO()
        with zipfile.ZipFile(memory, "w") as archive:
            archive.writestr("r.csv", TEXT)
        data = bytearray(memory.getvalue())
        for start, shift in ((data.index(b"PK\3\4"), 0), (data.index(b"PK\1\2"), 2)):
            data[start + offset + shift] = value
        path = folder / "r.csv.zip"
        path.write_bytes(data)
        return path

    return make


def broken_parquet(folder: Path) -> Path:
    table = pa.Table.from_pandas(pd.DataFrame(GOOD)).replace_schema_metadata({"pandas": "{broken"})
    pq.write_table(table, folder / "r.parquet")
    return folder / "r.parquet"


@pytest.mark.parametrize(
    ("make", "options", "message"),
    [
        (write(TEXT), {"encoding": "base64"}, "encoding: it must name an encoding of text"),
        (write(TEXT), {"encoding": 5}, r"encoding: .*5 \(a int\)"),
        (write(TEXT), {"encoding": "no\0"}, "encoding: it must name an encoding of text"),
        (write(TEXT), {"delimiter": ",,"}, "delimiter: it must be one character"),
        (write(TEXT), {"delimiter": 5}, "delimiter: it must be one character"),
        (write(TEXT), {"delimiter": '"'}, "delimiter: it must be one character, and no quote"),
        (write(TEXT), {"rating": ""}, "must have the columns that were named"),
        (write("item,rater,x,x\na,x,1,2\nb,x,1,1\n"), {"rating": "x.1"}, "must have the columns"),
        (write("item,rater,\na,x,1\nb,x,2\n"), {"rating": "Unnamed: 2"}, "must have the columns"),
        (write(f"item,rater,rating\n{LONG},x,1\nb,x,\n"), {}, "rating: no value may be missing"),
        (
            write(f"item,rater,{LONG}\na,x,1\nb,x,1\n"),
            {},
            "first line must name columns, in at most",
        ),
        (write(f"item,rater,rating\nb,x,\n{LONG},x,1\n"), {}, "rating: no value may be missing"),
        (broken_zip(6, 1), {}, "encrypted"),
        (broken_zip(8, 97), {}, "compression"),
        (broken_parquet, {}, "it must be a Parquet file"),
    ],
)
def test_files_that_cannot_be_read_are_refused(
    make: Callable[[Path], Path], options: dict[str, Any], message: str, tmp_path: Path
) -> None:
    with pytest.raises(rb.RatingsError, match=message):
        rb.read_ratings(make(tmp_path), **options)


def test_long_fields_are_read(tmp_path: Path) -> None:
    path = write(f"item,rater,rating\n{LONG},x,1\n{LONG},y,2\nb,x,4\nb,y,4\n")(tmp_path)

    assert rb.read_ratings(path).items.str.len().tolist() == [len(LONG), 1]


@pytest.mark.parametrize("line", ["\x1d", "\x0c", "\xa0", '""', '" "'])
def test_lines_of_odd_characters_are_counted_as_pandas_counts_them(
    line: str, tmp_path: Path
) -> None:
    path = write(f"{TEXT} \n\n\t\nc,x,1\n{line}\nc,y,\n")(tmp_path)

    with pytest.raises(rb.RatingsError) as raised:
        rb.read_ratings(path)

    assert "rater: no value may be missing; found 1 missing (line 10)" in str(raised.value)


def test_lines_of_delimiters_alone_are_records(tmp_path: Path) -> None:
    (tmp_path / "r.tsv").write_text(TEXT.replace(",", "\t") + "\t\t\nc\tx\t\n")

    with pytest.raises(rb.RatingsError, match=r"found 2 missing \(lines 6, 7\)"):
        rb.read_ratings(tmp_path / "r.tsv")


def test_a_pipe_is_said_to_be_one(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "r.csv")

    with pytest.raises(FileNotFoundError, match=r"r\.csv: it is a pipe or a device; write its"):
        rb.read_ratings(tmp_path / "r.csv")


@pytest.mark.slow
def test_a_wide_file_is_refused(tmp_path: Path) -> None:
    names = [f"r{at}" for at in range(2000)]
    frame = pd.DataFrame(np.random.default_rng(1).integers(1, 6, (5, 2000)), columns=names)
    frame.to_csv(tmp_path / "wide.csv")

    with pytest.raises(rb.RatingsError, match=r"use Ratings\.from_wide"):
        rb.read_ratings(tmp_path / "wide.csv")


def test_numbers_without_end_are_no_categories() -> None:
    ratings = rb.Ratings.from_wide(np.random.default_rng(1).normal(size=(100, 3)))

    with pytest.raises(rb.RatingsError, match=r"not more than 50 different ones; found 300"):
        rb.DawidSkene().fit(ratings)


def test_texts_without_end_are_no_categories() -> None:
    texts = [f"answer {at}" for at in range(1001)]
    ratings = from_frame({"categories": texts}, rating=texts[:4])

    with pytest.raises(rb.RatingsError, match=r"takes at most 1,000; found 1,001. Check that"):
        rb.DawidSkene().fit(ratings)
    with pytest.raises(rb.RatingsError, match=r"takes at most 1,000 categories; found 1,001"):
        ratings.agreement()


def test_ratings_that_rounding_has_made_equal_are_not_called_perfect_agreement() -> None:
    ratings = rb.Ratings.from_wide(0.1 * np.random.default_rng(1).normal(size=(20, 4)) + 1e15)

    with pytest.raises(rb.RatingsError, match=r"differ by more than the rounding .* around 1e\+15"):
        rb.GaussianICC().fit(ratings)


@pytest.mark.slow
@pytest.mark.parametrize("scale", [1e-60, 1e74])
def test_coefficients_do_not_depend_on_the_unit(scale: float) -> None:
    values = np.random.default_rng(1).normal(size=(20, 4))

    usual, scaled = (
        rb.Ratings.from_wide(unit * values).agreement(replicates=10) for unit in (1, scale)
    )

    pd.testing.assert_frame_equal(scaled, usual, rtol=1e-6)


@pytest.mark.parametrize("offset", [1e6, 1e9])
def test_a_large_offset_is_no_perfect_agreement(offset: float) -> None:
    ratings = rb.Ratings.from_wide(0.1 * np.random.default_rng(1).normal(size=(20, 4)) + offset)
    centred = rb.Ratings.from_wide(0.1 * np.random.default_rng(1).normal(size=(20, 4)))

    model = rb.GaussianICC()
    sd, expected = (model.starts(model.problem(each))[0].point for each in (ratings, centred))

    assert sd["sd_residual"] == pytest.approx(expected["sd_residual"], rel=1e-3)


@pytest.mark.parametrize("offset", [0.0, 1e9])
def test_perfect_agreement_up_to_severity_is_still_seen(offset: float) -> None:
    rng = np.random.default_rng(1)
    additive = rng.normal(size=(20, 1)) + rng.normal(size=4) + offset

    with pytest.raises(rb.RatingsError, match="Agreement is perfect up to severity"):
        rb.GaussianICC().problem(rb.Ratings.from_wide(additive))


def test_a_million_chains_are_too_many() -> None:
    ratings = rb.Ratings.from_frame(pd.DataFrame(GOOD))

    with pytest.raises(ValueError, match="chains must be a whole number from 1 to 1000"):
        rb.GaussianICC().fit(ratings, chains=1_000_000)


def test_false_is_not_the_name_of_column_0() -> None:
    with pytest.raises(rb.RatingsError, match="must have the columns that were named"):
        rb.Ratings.from_wide(np.arange(9.0).reshape(3, 3), item=False)  # type: ignore[arg-type]


def test_pools_of_raters_who_are_all_missing_are_no_error_of_their_own() -> None:
    frame = pd.DataFrame({"item": [1], "rater": [np.nan], "rating": [2.0], "pool": ["a"]})

    with pytest.raises(rb.RatingsError, match="rater: no value may be missing"):
        rb.Ratings.from_frame(frame, pool="pool")


def test_an_id_that_is_missing_alone_is_shown_as_missing() -> None:
    table = np.array([["x", pd.NA, True]], object)

    with pytest.raises(rb.RatingsError, match=r"with an id; found .* \(row 0: None\)"):
        rb.Ratings.from_counts(table, item=1)  # type: ignore[arg-type]


def test_categories_whose_name_is_missing_are_refused() -> None:
    table = pd.DataFrame([[1, 1, 1]], columns=["a", pd.NA, True])

    with pytest.raises(rb.RatingsError, match="categories: there must be"):
        rb.Ratings.from_counts(table, item=True)  # type: ignore[arg-type]
