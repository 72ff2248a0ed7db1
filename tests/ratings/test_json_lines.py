"""JSON lines: exact numbers, keys that stand once, and byte order marks."""

from __future__ import annotations

import codecs
from pathlib import Path
from typing import Any

import pytest

from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, read_ratings

TEXT = "item,rater,rating\na,x,1\na,y,2\nb,x,1\n"


def read(folder: Path, *ratings: str, item: str = "1", tail: str = "") -> Ratings:
    """Ratings of two items, from texts of JSON numbers."""
    lines = [
        f'{{"item": {item if number < 2 else 2}, "rater": {number % 2}, "rating": {rating}}}'
        for number, rating in enumerate(ratings)
    ]
    (folder / "r.jsonl").write_text("\n".join([*lines, tail]), encoding="utf-8")
    return read_ratings(folder / "r.jsonl")


def test_fractions_are_read_to_their_last_digit(tmp_path: Path) -> None:
    ratings = read(tmp_path, "0.3", "0.7", "1e-7", "123456789.123456789")

    assert ratings.rating.tolist() == [0.3, 0.7, 1e-7, 123456789.123456789]


@pytest.mark.parametrize("item", [2**53 + 1, 2**63, 2**64, 10**30])
def test_whole_numbers_of_any_size_are_exact(tmp_path: Path, item: int) -> None:
    ratings = read(tmp_path, "1", "2", "1", "1", item=str(item))

    assert ratings.items.tolist() == [2, item]


def test_whole_numbers_stay_whole_in_columns_with_gaps_beside_columns_of_large_ones(
    tmp_path: Path,
) -> None:
    rows = ['{"item": "a", "x": 5, "y": 5}', f'{{"item": "b", "x": null, "y": {2**63}}}']
    (tmp_path / "r.jsonl").write_text("\n".join(rows))

    ratings = read_ratings(tmp_path / "r.jsonl", shape="wide", scale="nominal")

    assert ratings.categories.tolist() == [5, 2**63]


def test_a_large_number_stays_exact_beside_a_rating_that_is_missing(tmp_path: Path) -> None:
    text = "".join(
        f'{{"item": {item}, "rater": {rater}, "rating": {rating}}}\n'
        for item, rater, rating in [(1, 1, 2**53), (1, 2, 2**53 + 1), (2, 1, 1), (2, 2, "null")]
    )
    (tmp_path / "r.jsonl").write_text(text)

    ratings = read_ratings(tmp_path / "r.jsonl", missing="drop")

    assert ratings.categories.tolist() == [1, 2**53, 2**53 + 1]


@pytest.mark.parametrize(
    ("tail", "message"),
    [
        (
            '{"item": 3, "rater": 0, "rating": 1, "rating": 2}',
            r"r\.jsonl: an object must have each key once; found 'rating' more than once in line 4",
        ),
        ("[1, 2]", "each line must be one JSON object; found a list in line 4"),
        ("5", "each line must be one JSON object; found a number in line 4"),
        ('{"item": ', "each line must be one JSON object; found line 4: Expecting value"),
        ("[" * 100_000, "each line must be one JSON object; found line 4: "),
        ('{"item": ' + "1" * 5000 + "}", "each line must be one JSON object; found line 4: "),
    ],
)
def test_lines_that_are_no_object_are_named(tmp_path: Path, tail: str, message: str) -> None:
    with pytest.raises(RatingsError, match=message):
        read(tmp_path, "1", "2", "1", tail=tail)


@pytest.mark.parametrize("text", ["", "\n \n"])
def test_a_file_without_objects_is_refused(tmp_path: Path, text: str) -> None:
    (tmp_path / "r.jsonl").write_text(text)

    with pytest.raises(
        RatingsError, match="each line must be one JSON object; found no keys and values"
    ):
        read_ratings(tmp_path / "r.jsonl")


def test_a_byte_order_mark_is_no_part_of_the_first_key(tmp_path: Path) -> None:
    read(tmp_path, "1", "2", "1")
    plain = (tmp_path / "r.jsonl").read_bytes()
    (tmp_path / "r.jsonl").write_bytes(codecs.BOM_UTF8 + plain)

    assert read_ratings(tmp_path / "r.jsonl").items.tolist() == [1, 2]


@pytest.mark.parametrize("encoding", ["utf-8", "utf_8", "UTF8", "u8", "cp65001", "utf-8-sig"])
def test_a_byte_order_mark_is_dropped_however_utf_8_is_spelled(
    tmp_path: Path, encoding: str
) -> None:
    (tmp_path / "r.csv").write_text(TEXT, encoding="utf-8-sig")

    ratings = read_ratings(tmp_path / "r.csv", encoding=encoding)

    assert ratings.items.tolist() == ["a", "b"]


@pytest.mark.parametrize("value", ["[1]", '{"a": 1}'])
@pytest.mark.parametrize("role", ["item", "rater", "rating"])
def test_values_that_are_lists_or_objects_are_refused(
    tmp_path: Path, role: str, value: str
) -> None:
    found = value if role != "rating" else value.replace("[1]", '[{"a": 1}]')  # a list is a set
    fields: dict[str, Any] = {"item": 1, "rater": 0, "rating": 2, role: found}
    line = ", ".join(f'"{key}": {text}' for key, text in fields.items())
    (tmp_path / "r.jsonl").write_text(f"{{{line}}}\n")

    with pytest.raises(RatingsError, match=f"{role}: each value must be a single text"):
        read_ratings(tmp_path / "r.jsonl")
