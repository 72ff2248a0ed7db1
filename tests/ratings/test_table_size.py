"""Cells are counted before a table is built, however a file hides them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable

import pytest

from reliabayes.errors import RatingsError
from reliabayes.ratings.table_size import SizeLimit

LIMIT = SizeLimit(cells=1_000, columns=100, unpacked=20_000_000, remedy="Make it smaller.")


def workbook(sheet: bytes, path: str = "xl/worksheets/sheet1.xml") -> io.BytesIO:
    """A workbook of one sheet, as far as its size depends on it."""
    written = io.BytesIO()
    with zipfile.ZipFile(written, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/workbook.xml", b"<workbook/>")
        archive.writestr(path, sheet)
    return written


@pytest.mark.parametrize(
    ("cells", "found"),
    [
        (b'<row r="1"><c r="A1"/></row><row r="1048576"><c r="XFD1048576"/></row>', "16,384"),
        (b'<row r="9"><c r="B9"/></row>' * 501, "501 rows of 2 columns"),
        (b'<row><x r="C1"/></row>' * 334, "334 rows of 3 columns"),
        (b'<row r="1048577"><c r="B1048577"/></row>', "row 1,048,577"),
        (b'<row r="1.1e6"/>', "row 1,100,000"),
        (b"<row>" + b"<c/>" * 101 + b"</row>", "101"),
        (b"<row><c/><c/></row>" * 501, "501 rows of 2 columns"),
        (b'<x:row xmlns:x="y"><x:c r="C1"/></x:row>' * 334, "334 rows of 3 columns"),
    ],
)
@pytest.mark.parametrize("path", ["xl/worksheets/sheet1.xml", "xl/elsewhere.bin"])
def test_rows_with_cells_count_by_the_widest(cells: bytes, found: str, path: str) -> None:
    sheet = b"<sheetData>" + cells + b"</sheetData>"

    with pytest.raises(RatingsError, match=f"found {found}") as error:
        LIMIT.check_workbook(workbook(sheet, path))

    assert "Delete cells that stand apart" in str(error.value)


@pytest.mark.parametrize(
    ("content", "rule"),
    [
        (workbook(b"\0" * 21_000_000), "at most 20 MB when unpacked"),
        (workbook(b"\0" * 12_000_000), "at most 100 times its packed size"),
        (workbook(b"<!DOCTYPE x [<!ENTITY e 'e'>]><x>&e;</x>"), "must not define entities"),
        (io.BytesIO(b"PK no archive"), "must be a spreadsheet"),
    ],
)
def test_workbooks_that_are_none_or_unpack_to_too_much_are_refused(
    content: io.BytesIO, rule: str
) -> None:
    with pytest.raises(RatingsError, match=rule):
        LIMIT.check_workbook(content)


def test_rows_without_cells_do_not_count() -> None:
    rows = b'<row r="1"><c/><c/></row><row r="1048576" ht="12.8"/>'

    LIMIT.check_workbook(workbook(b"<sheetData>" + rows + b"</sheetData>"))


def test_a_usual_workbook_with_pictures_passes() -> None:
    rows = b'<row r="1"><c r="A1"><v>1</v></c></row>' * 10

    LIMIT.check_workbook(workbook(b"<sheetData>" + rows + b"</sheetData>"))
    LIMIT.check_workbook(workbook(b"\x89PNG", "xl/media/image1.png"))


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("," * 100, "101"),
        ('"a\n' + "," * 200, "201"),
        ("item,rater,rating\n" + "1,2,3\n" * 400, "402 rows of 3 columns"),
        ("item,rater,rating\r" + "1,2,3\r" * 400, "402 rows of 3 columns"),
    ],
)
def test_fields_of_a_text_are_those_of_its_header_times_its_lines(text: str, found: str) -> None:
    with pytest.raises(RatingsError, match=f"found {found}"):
        LIMIT.check_text(text, ",")


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ('{"k%d": 1}', "32 rows of 32 columns"),
        ('{"item": %d, "rater": 1, "rating": 2}', "334 rows of 3 columns"),
    ],
)
def test_keys_of_json_lines_are_columns(line: str, found: str) -> None:
    lines = [line.encode() % number for number in range(400)]

    with pytest.raises(RatingsError, match=f"found {found}"):
        LIMIT.check_records(lines)


@pytest.mark.parametrize(
    "check",
    [
        lambda: LIMIT.check_text("x" * 200_000, ","),
        lambda: LIMIT.check_records([b'{"a":' * 100_000]),
        lambda: LIMIT.check_text("", ","),
    ],
)
def test_what_reading_reports_is_left_to_reading(check: Callable[[], None]) -> None:
    check()
