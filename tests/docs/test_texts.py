"""The page of the texts says where each thing is, with numbers of ours that the code gives."""

from __future__ import annotations

from typing import Any

import pytest

from docs.generate import texts

ROWS = [row for name in texts.ORDER for row in texts.read(name).rows]


@pytest.mark.slow
@pytest.mark.parametrize("name", texts.ORDER)
def test_numbers_are_what_the_code_of_their_row_gives(name: str) -> None:
    text = texts.read(name)
    known: dict[str, Any] = {}
    exec(compile(text.setup, f"{name}.toml", "exec"), known)

    found = {row.what: eval(row.code, known) for row in text.rows if row.code}

    assert found == {row.what: row.ours for row in text.rows if row.code}


def test_each_thing_has_one_row_with_where_it_is_or_why_it_is_not_here() -> None:
    assert len({row.what for row in ROWS}) == len(ROWS)
    assert {row.state for row in ROWS} == set(texts.STATES)
    assert [row.what for row in ROWS if not row.where] == []


def test_a_number_of_a_text_has_ours_beside_it_and_ours_can_be_found() -> None:
    is_found = [bool(row.code or ".md" in row.where) for row in ROWS if row.ours]

    assert [row.what for row in ROWS if row.text and row.state == "here" and not row.ours] == []
    assert all(is_found)


def test_the_page_has_all_rows_by_text_and_section() -> None:
    ((path, page),) = texts.pages()

    assert path == "texts.md"
    assert page.count("\n## ") == len(texts.ORDER)
    assert [row.what for row in ROWS if f"| {row.what} |" not in page] == []
