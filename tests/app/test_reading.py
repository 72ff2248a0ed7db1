"""Pasted and dropped tables: their columns are guessed, and read as the package reads files."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.app.given import Given
from reliabayes.app.reading import Reading, guessed_reading
from reliabayes.errors import RatingsError
from tests.app.tables import FAULTY, SHROUT_FLEISS

LONG = "who,ad,group,score,seconds\nAnn,x,a,4,11\nBob,x,b,5,12\nAnn,y,a,2,13\nBob,y,b,2,14\n"


def test_a_column_per_rater_is_read_as_it_was_published() -> None:
    given = Given.pasted(SHROUT_FLEISS)

    reading = guessed_reading(given)
    ratings = reading.ratings(given)

    published = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    assert (reading.shape, reading.item) == ("wide", "target")
    assert rb.agreement.icc(ratings, "ICC(2,1)").value == pytest.approx(0.29, abs=0.005)
    assert len(ratings) == len(published) == 24


def test_columns_are_guessed_by_the_names_of_other_fields() -> None:
    reading = guessed_reading(Given.pasted(LONG))

    assert reading == Reading(item="ad", rater="who", rating="score", pool="group")


def test_columns_with_unknown_names_are_guessed_by_their_values() -> None:
    rows = [f"i{i},{who},{(i + n) % 4}" for i in range(12) for n, who in enumerate("AB")]

    reading = guessed_reading(Given.pasted("\n".join(["uno,due,tre", *rows])))

    assert (reading.item, reading.rater, reading.rating) == ("uno", "due", "tre")


def test_a_wide_table_with_known_answers_names_them() -> None:
    table = "id,A,B,gold\n1,2,3,2\n2,3,3,3\n3,2,2,2\n"

    reading = guessed_reading(Given.pasted(table))

    assert (reading.shape, reading.item, reading.gold) == ("wide", "id", "gold")


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".jsonl", ".xlsx"])
def test_all_formats_give_the_same_ratings(suffix: str) -> None:
    frame = rb.datasets.load("shrout_fleiss_1979")
    written = io.BytesIO()
    if suffix == ".xlsx":
        pytest.importorskip("openpyxl")
        frame.to_excel(written, index=False)
    elif suffix == ".jsonl":
        frame.to_json(written, orient="records", lines=True)
    else:
        frame.to_csv(written, index=False, sep="\t" if suffix == ".tsv" else ",")

    given = Given.dropped(f"../../etc/table{suffix.upper()}", written.getvalue())
    ratings = guessed_reading(given).ratings(given)

    assert ratings == rb.Ratings.from_frame(frame)


def test_pasted_json_lines_are_recognised() -> None:
    given = Given.pasted(
        '{"item": 1, "rater": "A", "rating": 3}\n{"item": 2, "rater": "B", "rating": 4}'
    )

    assert given.suffix == ".jsonl"
    assert guessed_reading(given) == Reading()


def test_the_code_reads_the_same_ratings(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Given.pasted(LONG)
    reading = replace(
        guessed_reading(given), scale="ordered", replicates="keep", facets=("seconds",)
    )
    monkeypatch.chdir(tmp_path)
    Path("ratings.csv").write_bytes(given.content)

    again = eval(reading.code(given), {"rb": rb})

    assert again == reading.ratings(given)


def test_code_names_only_what_differs_from_the_defaults() -> None:
    given = Given.pasted(FAULTY)

    assert (
        guessed_reading(given).code(given)
        == "rb.read_ratings(\n    'ratings.csv',\n    tidy=True,\n)"
    )


@pytest.mark.parametrize(
    ("name", "content", "found"),
    [
        ("table.exe", b"MZ", "the name of a file must end in"),
        ("table.csv", b"", "it must hold a header and ratings"),
        ("table.xlsx", b"no spreadsheet", "it must be a spreadsheet"),
        ("table.csv", b"x" * 50_000_001, "a table must have at most 50 MB"),
    ],
)
def test_what_is_no_table_is_refused_without_a_path(name: str, content: bytes, found: str) -> None:
    with pytest.raises(RatingsError, match=found) as error:
        guessed_reading(Given.dropped(name, content))

    assert "/" not in str(error.value)


@pytest.mark.slow
def test_a_spreadsheet_that_unpacks_to_more_than_memory_is_refused() -> None:
    import zipfile

    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", bytes(50_000_000))  # as a bomb is packed

    with pytest.raises(RatingsError, match="at most 250 MB when unpacked"):
        guessed_reading(Given.dropped("table.xlsx", packed.getvalue()))


def test_another_encoding_is_read_when_it_is_chosen() -> None:
    table = "item,rater,rating\n1,Zoë,3\n1,Bob,4\n2,Zoë,1\n2,Bob,2\n".encode("latin-1")

    given = Given.dropped("table.csv", table, "latin-1")

    assert "Zoë" in guessed_reading(given).ratings(given).raters


def test_columns_of_one_name_are_no_surprise() -> None:
    given = Given.pasted("item,rating,rating\n1,2,3\n2,3,4\n")

    with pytest.raises(RatingsError, match="names must be unique"):
        guessed_reading(given)


def test_lines_are_those_that_messages_number() -> None:
    pytest.importorskip("openpyxl")
    frame = pd.DataFrame({"item": [1, 2], "rater": ["A", "B"], "rating": [3.0, np.nan]})
    spreadsheet = io.BytesIO()
    frame.to_excel(spreadsheet, index=False)

    of_text = Given.pasted(FAULTY).lines([4], "line")
    of_spreadsheet = Given.dropped("t.xlsx", spreadsheet.getvalue()).lines([3], "row")

    assert of_text == [(4, "2,B,")]
    assert of_spreadsheet == [(3, "2, B")]


def test_rows_of_a_spreadsheet_below_empty_ones_are_those_that_it_numbers() -> None:
    openpyxl = pytest.importorskip("openpyxl")
    book, written = openpyxl.Workbook(), io.BytesIO()
    for row in [(), ("item", "rater", "rating"), (), (1, "A", 3), (), (2, "B", None)]:
        book.active.append(row)
    book.save(written)

    lines = Given.dropped("t.xlsx", written.getvalue()).lines([3, 4, 6, 7], "row")

    assert lines == [(4, "1, A, 3"), (6, "2, B")]
