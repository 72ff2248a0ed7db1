"""Targets of make run all tests that are theirs."""

from __future__ import annotations

import re
from collections import Counter
from fnmatch import fnmatch

import pytest

from tests.conftest import ROOT

# The marker of a target, and the folders in which it looks for tests: importing all takes long.
TARGET = re.compile(r'pytest -m "?(\w+)[^/\n]*?((?: tests/\w+)+)$', re.MULTILINE)


def makefile() -> str:
    """The Makefile, with the values of its variables."""
    text = (ROOT / "Makefile").read_text()
    for name, value in reversed(re.findall(r"^(\w+) :?= (.*)$", text, re.MULTILINE)):
        text = text.replace(f"$({name})", value)
    return text


TARGETS = dict(TARGET.findall(makefile()))
RULES = {
    target: needed
    for targets, needed in re.findall(r"^(\w[\w ]*):(?!=)(.*)$", makefile(), re.MULTILINE)
    for target in targets.split()
}


def files_with(marker: str) -> list[str]:
    """Files of tests that use a marker."""
    return [
        path.relative_to(ROOT).as_posix()
        for path in ROOT.glob("tests/**/test_*.py")
        if re.search(rf"mark\.{marker}\b", path.read_text())
    ]


@pytest.mark.parametrize("marker", ["packaging", "notebooks", "browser", "docs", "webassembly"])
def test_folders_of_a_target_have_all_tests_of_its_marker(marker: str) -> None:
    folders = tuple(f"{folder}/" for folder in TARGETS[marker].split())

    marked = files_with(marker)

    assert marked
    assert [path for path in marked if not path.startswith(folders)] == []


def test_each_file_of_calibration_is_run_by_one_target() -> None:
    commands = re.findall(r"-m calibration (?:.*\\\n)*.*", makefile())
    own = {path.stem.removeprefix("test_") for path in (ROOT / "tests/calibration").glob("test_*")}

    runs = Counter(path for command in commands for path in chosen_by(command, "calibration"))

    assert runs == Counter(files_with("calibration"))
    assert own <= RULES.keys()


def chosen_by(command: str, marker: str) -> list[str]:
    """Files with a marker that a command of pytest looks into."""
    words = command.replace("$@", "*").split()
    return [
        path
        for path in files_with(marker)
        if any(fnmatch(path, f"{word}*") for word in words) and f"--ignore={path}" not in words
    ]
