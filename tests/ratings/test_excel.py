"""Workbooks: cells are read as they are, or refused by their address."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from typer.testing import CliRunner

from reliabayes.app.memory import limited_memory
from reliabayes.cli.app import app
from reliabayes.errors import RatingsError
from reliabayes.ratings import Ratings, read_ratings
from reliabayes.ratings.excel import LIMIT, read_sheet

openpyxl = pytest.importorskip("openpyxl")

HEADER = ("item", "rater", "rating")
ROWS = [("a", "x", 1), ("a", "y", 2), ("b", "x", 2), ("b", "y", 2)]


def workbook(
    folder: Path,
    rows: Sequence[Sequence[Any]],
    change: Callable[[Any], None] = lambda sheet: None,
) -> Path:
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    change(book.active)
    book.save(folder / "r.xlsx")
    return folder / "r.xlsx"


def rewritten(path: Path, old: str, new: str) -> Path:
    """The workbook with another text in the XML of its sheet, as other programs write it."""
    content = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(content) as before, zipfile.ZipFile(path, "w") as after:
        for name in before.namelist():
            text = before.read(name)
            if name == "xl/worksheets/sheet1.xml":
                assert re.search(old, text.decode())
                text = re.sub(old, new, text.decode()).encode()
            after.writestr(name, text)
    return path


def test_a_label_none_is_a_label(tmp_path: Path) -> None:
    rows = [HEADER, ("a", "x", "None"), ("a", "y", "NA"), ("b", "x", "None"), ("b", "y", "None")]

    ratings = read_ratings(workbook(tmp_path, rows))

    assert len(ratings) == 4
    assert ratings.categories.tolist() == ["NA", "None"]


def test_texts_with_zeros_or_exponents_are_ids_of_their_own(tmp_path: Path) -> None:
    rows = [HEADER, ("01", "x", 1), ("01", "1e5", 2), ("1", "x", 2), ("1", "1e5", 2)]

    ratings = read_ratings(workbook(tmp_path, rows))

    assert ratings.items.tolist() == ["01", "1"]
    assert ratings.raters.tolist() == ["1e5", "x"]


def test_numbers_among_texts_are_spelled_as_the_sheet_shows_them(tmp_path: Path) -> None:
    rows = [HEADER, (1, "x", 1), (1, "y", 2), ("01", "x", 2), ("01", "y", 2)]

    assert read_ratings(workbook(tmp_path, rows)).items.tolist() == ["01", "1"]


def test_dates_are_ids_by_their_iso_text(tmp_path: Path) -> None:
    days = (date(2024, 1, 5), date(2024, 2, 5))
    rows = [HEADER, *[(day, rater, 1 + at) for at, day in enumerate(days) for rater in "xy"]]

    assert read_ratings(workbook(tmp_path, rows)).items.tolist() == ["2024-01-05", "2024-02-05"]


def test_decimal_commas_of_texts_are_read_as_in_text_files(tmp_path: Path) -> None:
    rows = [HEADER, ("a", "x", "0,5"), ("a", "y", "1,5"), ("b", "x", "1,5"), ("b", "y", "2,5")]
    path = workbook(tmp_path, rows)

    ratings = read_ratings(path, decimal=",")

    assert ratings.rating.tolist() == [0.5, 1.5, 1.5, 2.5]
    assert read_ratings(path).notes != ()
    assert read_ratings(path, decimal=".").scale == "nominal"


def test_results_of_formulas_are_read(tmp_path: Path) -> None:
    rows = [HEADER, ("a", "x", "=1+1"), *ROWS[1:]]
    path = rewritten(workbook(tmp_path, rows), r"<f>1\+1</f><v ?/>", "<f>1+1</f><v>7</v>")

    assert read_ratings(path).rating.tolist() == [7, 2, 2, 2]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        (("a", "x", "=1+1"), r"rating: the workbook must hold the results of its formulas; .* C2"),
        (("a", "x", "#N/A"), r"rating: cells must not hold errors; found #N/A in C2\. Correct"),
        (("a", "x", date(2024, 1, 5)), r"rating: values must not be dates or times; .* in C2\."),
        ((10**17, "x", 1), r"item: ids of 16 or more digits must be texts.* in A2\."),
        (("a", "x", 1, "see b"), r"sheet: each cell must stand below .* found D2 beside the table"),
    ],
)
def test_cells_without_a_single_meaning_are_refused_by_address(
    tmp_path: Path, row: tuple[Any, ...], message: str
) -> None:
    path = workbook(tmp_path, [HEADER, row, *ROWS[1:]])

    with pytest.raises(RatingsError, match=message):
        read_ratings(path)


def test_errors_in_columns_that_are_not_read_do_not_matter(tmp_path: Path) -> None:
    rows = [(*HEADER, "share"), *[(*row, "#DIV/0!") for row in ROWS]]

    assert len(read_ratings(workbook(tmp_path, rows))) == 4


def test_repeated_names_are_refused(tmp_path: Path) -> None:
    path = workbook(tmp_path, [(*HEADER, "rating"), *[(*row, 5) for row in ROWS]])

    with pytest.raises(RatingsError, match=r"names must be unique; found 'rating' in C1, D1"):
        read_ratings(path)


@pytest.mark.parametrize("cells", ["A2:A3", "A1:C1"])
def test_merged_cells_are_refused(tmp_path: Path, cells: str) -> None:
    path = workbook(tmp_path, [HEADER, *ROWS], lambda sheet: sheet.merge_cells(cells))

    with pytest.raises(RatingsError, match=f"cells of the table must not be merged; .*{cells}"):
        read_ratings(path)


def test_merged_cells_beside_the_table_do_not_matter(tmp_path: Path) -> None:
    path = workbook(tmp_path, [HEADER, *ROWS], lambda sheet: sheet.merge_cells("F1:G2"))

    assert len(read_ratings(path)) == 4


def test_faults_name_rows_of_the_sheet_also_below_empty_ones(tmp_path: Path) -> None:
    path = workbook(tmp_path, [(), HEADER, (), *ROWS, ("b", "z", None)])

    with pytest.raises(RatingsError, match=r"rating: .* \(row 8\)"):
        read_ratings(path)


def test_names_of_raters_are_texts_as_in_text_files(tmp_path: Path) -> None:
    path = workbook(tmp_path, [("item", 1, 2), ("a", 3, 4), ("b", 4, 4)])

    assert read_ratings(path, shape="wide").raters.tolist() == ["1", "2"]


def test_cells_with_a_format_only_are_empty(tmp_path: Path) -> None:
    def formatted(sheet: Any) -> None:
        for cell in ("C3", "F9"):
            sheet[cell].font = openpyxl.styles.Font(bold=True)

    path = workbook(tmp_path, [HEADER, *ROWS[:1], ("a", "y", None), *ROWS[2:]], formatted)

    assert read_ratings(path, missing="drop").n_missing == 1


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rows", "far", "found"),
    [
        ([], "XFD1048576", "found only '1'"),
        ([HEADER, *ROWS], "XFD1048576", "found XFD1048576 beside the table"),
    ],
)
def test_a_cell_far_away_takes_little_memory(
    tmp_path: Path, rows: Sequence[Any], far: str, found: str
) -> None:
    def write(sheet: Any) -> None:
        sheet[far] = 1

    path = workbook(tmp_path, rows, write)

    with limited_memory(300_000_000), pytest.raises(RatingsError, match=found):
        read_ratings(path)


def test_a_sheet_is_counted_by_its_rows_times_its_columns(tmp_path: Path) -> None:
    path = workbook(tmp_path, [HEADER, *ROWS])

    assert len(read_sheet(path, replace(LIMIT, cells=15)).rows) == 4
    with pytest.raises(RatingsError, match=r"at most 14 cells; found 5 rows of 3 columns\. Delete"):
        read_sheet(path, replace(LIMIT, cells=14))


def test_files_and_the_command_line_refuse_too_many_cells_before_memory_is_taken(
    tmp_path: Path,
) -> None:
    rows = '<row><c r="XFD1"><v>1</v></c></row>' * 3_100
    path = rewritten(workbook(tmp_path, [HEADER]), "<row.*</row>", rows)
    message = "at most 50,000,000 cells; found 3,100 rows of 16,384 columns"

    with limited_memory(300_000_000):
        with pytest.raises(RatingsError, match=message):
            read_ratings(path)
        result = CliRunner().invoke(app, ["report", str(path)])

    assert result.exit_code == 2
    assert message in " ".join(result.output.replace("│", " ").split())


def test_dimensions_that_a_file_states_are_not_trusted(tmp_path: Path) -> None:
    path = rewritten(workbook(tmp_path, [HEADER, *ROWS]), 'ref="A1:C5"', 'ref="A1:XFD1048576"')

    assert len(read_ratings(path)) == 4


def test_a_table_without_the_named_columns_is_told_which_it_has(tmp_path: Path) -> None:
    path = workbook(tmp_path, [("ad", "judge", "score"), *ROWS])

    with pytest.raises(RatingsError, match="found only 'ad', 'judge', 'score'"):
        read_ratings(path)


def test_hidden_sheets_and_charts_are_passed_over(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.active.sheet_state = "hidden"
    book.create_chartsheet().add_chart(openpyxl.chart.BarChart())
    for row in [HEADER, *ROWS]:
        book.worksheets[0].append((*row[:2], 9))
    shown = book.create_sheet()
    for row in [HEADER, *ROWS]:
        shown.append(row)
    book.save(tmp_path / "r.xlsx")

    assert read_ratings(tmp_path / "r.xlsx").rating.tolist() == [1, 2, 2, 2]


def test_a_workbook_of_charts_is_refused(tmp_path: Path) -> None:
    book = openpyxl.Workbook()
    book.create_chartsheet().add_chart(openpyxl.chart.BarChart())
    book.worksheets[0].sheet_state = "hidden"
    book.save(tmp_path / "r.xlsx")

    with pytest.raises(RatingsError, match=r"not hidden must hold .* found only charts or hidden"):
        read_ratings(tmp_path / "r.xlsx")


def test_bools_among_texts_are_spelled_as_the_sheet_shows_them(tmp_path: Path) -> None:
    rows = [HEADER, (True, "x", True), (True, "y", "unsure"), ("b", "x", False), ("b", "y", True)]

    ratings = read_ratings(workbook(tmp_path, rows))

    assert ratings.items.tolist() == ["TRUE", "b"]
    assert ratings.categories.tolist() == ["FALSE", "TRUE", "unsure"]


def test_dates_are_levels_of_facets(tmp_path: Path) -> None:
    days = (date(2024, 1, 5), datetime(2024, 2, 5, 9, 30))
    rows = [(*HEADER, "day"), *[(*row, days[at % 2]) for at, row in enumerate(ROWS)]]

    ratings = read_ratings(workbook(tmp_path, rows), facets=["day"])

    assert ratings.facets["day"].tolist() == ["2024-01-05", "2024-02-05 09:30:00"]


@pytest.mark.parametrize("value", [date(2024, 1, 5), pd.Timestamp("2024-01-05")])
def test_dates_are_no_ratings_in_frames_either(value: Any) -> None:
    frame = pd.DataFrame(ROWS, columns=HEADER).assign(rating=value)

    with pytest.raises(RatingsError, match="rating: values must not be dates or times"):
        Ratings.from_frame(frame)
