"""The workflows on GitHub call targets that exist, and CI calls whatever `.ci/run` calls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT

WORKFLOWS = ROOT / ".github" / "workflows"
COMMAND = re.compile(r"^\s*(?:- )?(?:run: )?make +(\w+)(.*)$", re.MULTILINE)

every_workflow = pytest.mark.parametrize(
    "path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.stem
)


@every_workflow
def test_workflow_calls_targets_of_the_makefile(path: Path) -> None:
    targets = re.findall(r"^(\w+):", (ROOT / "Makefile").read_text(), re.MULTILINE)

    called = called_by(path)

    assert called
    assert called <= set(targets)


@every_workflow
def test_workflow_uses_the_python_that_it_set_up(path: Path) -> None:
    commands = COMMAND.findall(path.read_text())

    assert [target for target, settings in commands if "PYTHON=python" not in settings] == []


def test_ci_calls_every_target_that_must_pass_before_a_change_lands() -> None:
    required = called_by(ROOT / ".ci" / "run")

    assert required
    assert called_by(WORKFLOWS / "ci.yml") >= required


def test_ci_tests_every_supported_python() -> None:
    pattern = r"Programming Language :: Python :: (3\.\d+)"
    supported = re.findall(pattern, (ROOT / "pyproject.toml").read_text())

    tested = re.findall(r"^ +python: \[(.*)\]$", (WORKFLOWS / "ci.yml").read_text(), re.MULTILINE)

    assert supported
    assert set(supported) <= set(re.findall(r"[\d.]+", *tested))


def called_by(path: Path) -> set[str]:
    """Targets that a script or a workflow makes."""
    return {target for target, _ in COMMAND.findall(path.read_text())}
