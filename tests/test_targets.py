"""Targets of make run all tests that are theirs."""

from __future__ import annotations

import re

import pytest

from tests.conftest import ROOT

# The marker of a target, and the folders in which it looks for tests: importing all takes long.
TARGET = re.compile(r'pytest -m "?(\w+)[^/\n]*?((?: tests/\w+)+)$', re.MULTILINE)
TARGETS = dict(TARGET.findall((ROOT / "Makefile").read_text()))


@pytest.mark.parametrize("marker", ["packaging", "notebooks", "browser", "docs", "webassembly"])
def test_folders_of_a_target_have_all_tests_of_its_marker(marker: str) -> None:
    folders = tuple(f"{folder}/" for folder in TARGETS[marker].split())
    marked = [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("tests/**/test_*.py")
        if re.search(rf"mark\.{marker}\b", path.read_text())
    ]

    assert marked
    assert [path for path in marked if not path.startswith(folders)] == []
