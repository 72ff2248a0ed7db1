"""Columns are guessed by name, type and number of values, and a close guess is a question."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

import reliabayes as rb

HEADER = "document,annotator,score,grade,seconds,comment\n"
ROWS = "".join(
    f"d{i},{who},{(i + n) % 4},{(i * 3 + n) % 5},{20 + i + n / 7:.2f},note {i} {who}\n"
    for i in range(12)
    for n, who in enumerate("abc")
)


def write(folder: Path, text: str) -> Path:
    path = folder / "r.csv"
    path.write_text(text)
    return path


def test_an_error_names_the_guess_unless_it_was_asked_for(tmp_path: Path) -> None:
    path = write(tmp_path, HEADER.replace("grade", "weight") + ROWS)

    with pytest.raises(rb.RatingsError, match="guess=True would read this table: it takes column"):
        rb.read_ratings(path)
    ratings = rb.read_ratings(path, guess=True)

    assert ratings == rb.read_ratings(path, item="document", rater="annotator", rating="score")


def test_two_guesses_that_are_close_are_one_question(tmp_path: Path) -> None:
    with pytest.raises(rb.RatingsError, match=r"rating='score', or rating='grade'") as asked:
        rb.read_ratings(write(tmp_path, HEADER + ROWS), guess=True)

    assert len(asked.value.faults) == 1


def test_a_column_whose_values_hardly_repeat_is_no_rating_without_a_question(
    tmp_path: Path,
) -> None:
    rows = "".join(f"d{i},{who},{1000 + 7 * i + ord(who)}\n" for i in range(12) for who in "abc")

    with pytest.raises(rb.RatingsError, match="ratings must have values that repeat"):
        rb.read_ratings(write(tmp_path, "document,annotator,code\n" + rows), guess=True)


@pytest.mark.parametrize("form", ["{}%", "{},250", "0{}/02/2024"])
def test_many_numbers_or_dates_are_no_labels(tmp_path: Path, form: str) -> None:
    rows = [f"i{i},{r},{form.format(i % 25 + 3)}" for i in range(50) for r in "ab"]
    path = write(
        tmp_path, "\n".join(["item;rater;rating", *(x.replace(",", ";", 2) for x in rows)])
    )

    with pytest.raises(rb.RatingsError, match="rating: "):
        rb.read_ratings(path)


def test_whole_numbers_beside_others_are_numbers() -> None:
    rows = [(i, r, value) for i in (1, 1.5, 2) for r, value in (("a", 22), ("b", 24.4))]
    frame = pd.DataFrame(rows, columns=["item", "rater", "rating"]).astype(object)

    assert rb.Ratings.from_frame(frame).scale == "numeric"


@pytest.mark.parametrize("name", ["Answer ID", "responseId", "output_id"])
def test_answers_with_ids_are_items_and_no_ratings(tmp_path: Path, name: str) -> None:
    rows = "".join(f"a{i},{who},{(i + n) % 5}\n" for i in range(12) for n, who in enumerate("abc"))
    path = write(tmp_path, f"{name},Reviewer,Score (1-5)\n{rows}")

    ratings = rb.read_ratings(path, guess=True)

    assert ratings == rb.read_ratings(path, item=name, rater="Reviewer", rating="Score (1-5)")
