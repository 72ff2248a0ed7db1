"""Tables as CSV: no cell starts a formula, and our reader gives the texts back."""

from __future__ import annotations

import csv
import io
import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from reliabayes.ratings import Ratings, read_ratings
from reliabayes.ratings.formula_escapes import csv_text, without_escapes

STARTS = "=+-@\t\r\n\uff1d\uff0b\uff0d\uff20"
HOSTILE = ['=HYPERLINK("http://x","y")', "+1", "-1", "@SUM(1)", "\t=3", "\r=4", "\uff1d1", "'=1"]


def cells(text: str) -> list[list[str]]:
    return [*csv.reader(io.StringIO(text, newline=""))]


def frame_of(items: list[str], labels: list[str] | None = None) -> pd.DataFrame:
    """A row per item and rater."""
    rows = itertools.product(range(len(items)), ["x", "y"])
    found = pd.DataFrame([(items[at], rater, at % 3) for at, rater in rows])
    found.columns = pd.Index(["item", "rater", "rating"])
    if labels is not None:
        found["rating"] = [labels[n % len(labels)] for n in range(len(found))]
    return found


def test_no_cell_that_holds_a_text_starts_a_formula() -> None:
    table = pd.DataFrame(
        {
            "=name": HOSTILE,
            "label": pd.Categorical(HOSTILE),
            "mixed": [-1, "-1", None, *HOSTILE[3:]],
        },
        index=pd.Index(HOSTILE, name="@id"),
    )

    found = [cell for row in cells(csv_text(table)) for cell in row]

    assert {cell for cell in found if cell and cell[0] in STARTS} == {"-1"}
    assert found.count("-1") == 1  # the number


def test_tables_of_numbers_and_plain_texts_are_written_as_pandas_does() -> None:
    table = pd.DataFrame(
        {"p": [-0.1, np.nan, -np.inf], "label": ["a'=", "it's", "a,b"], "day": ["2020-01-01"] * 3},
        index=pd.Index([-3, 1, 2], name="item"),
    ).astype({"day": "datetime64[s]"})

    assert csv_text(table) == table.to_csv()
    assert csv_text(table, index=False) == table.to_csv(index=False)


@pytest.mark.parametrize("labels", [None, ["+", "-", "'-", "0"]])
def test_our_reader_gives_ids_and_labels_back(tmp_path: Path, labels: list[str] | None) -> None:
    frame = frame_of([*HOSTILE, "plain", "''@x", "7"], labels)
    (tmp_path / "r.csv").write_bytes(csv_text(frame, index=False).encode())

    ratings = read_ratings(tmp_path / "r.csv")

    assert ratings == Ratings.from_frame(frame)
    assert ratings.notes[0].startswith("Column item: took '\\'=HYPERLINK")


def test_negative_numbers_are_no_formulas(tmp_path: Path) -> None:
    frame = frame_of(["a", "b", "c"]).assign(rating=[-1.5, 2, -1.5, 0, 1, 1])
    (tmp_path / "r.csv").write_text(csv_text(frame, index=False))

    assert read_ratings(tmp_path / "r.csv") == Ratings.from_frame(frame)
    assert "\na,x,-1.5\n" in csv_text(frame, index=False)


@pytest.mark.parametrize("items", [["'=a", "=b"], ["'-1", "-1"], ["'hood", "b"]])
def test_apostrophes_that_may_not_be_ours_stay(tmp_path: Path, items: list[str]) -> None:
    frame = frame_of(items)
    frame.to_csv(tmp_path / "r.csv", index=False)

    ratings = read_ratings(tmp_path / "r.csv")

    assert set(ratings.items) == set(items)
    assert ratings.notes == ()


def test_every_text_of_apostrophes_and_signs_comes_back() -> None:
    texts = ["".join(signs) for n in range(1, 4) for signs in itertools.product("'=-a", repeat=n)]
    written = cells(csv_text(pd.DataFrame({"id": texts}), index=False))

    found, _ = without_escapes(pd.DataFrame({"id": [cell for (cell,) in written[1:]]}))

    assert found["id"].tolist() == texts
