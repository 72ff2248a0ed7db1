"""The workflows on GitHub call targets that exist, and CI calls whatever `.ci/run` calls."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.conftest import ROOT
from tests.test_targets import RULES

WORKFLOWS = ROOT / ".github" / "workflows"
COMMAND = re.compile(r"^\s*(?:- )?(?:run: )?make +(\w+|\$\{\{ matrix\.\w+ \}\})(.*)$", re.MULTILINE)
# Values of a matrix, one a line.
MATRIX = re.compile(r"^ +(\w+):\n((?: +- +\w+\n)+)", re.MULTILINE)

every_workflow = pytest.mark.parametrize(
    "path", sorted(WORKFLOWS.glob("*.yml")), ids=lambda path: path.stem
)


@every_workflow
def test_workflow_calls_targets_of_the_makefile(path: Path) -> None:
    called = called_by(path)

    assert called
    assert called <= set(RULES)


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


def test_every_part_of_the_proof_runs_every_night() -> None:
    nightly = WORKFLOWS / "proof.yml"

    assert "  schedule:\n    - cron:" in nightly.read_text()
    assert called_by(nightly) == set(RULES["proof"].split())


def called_by(path: Path) -> set[str]:
    """Targets that a script or a workflow makes."""
    text = path.read_text()
    matrix = {name: re.findall(r"\w+", values) for name, values in MATRIX.findall(text)}
    called = [re.sub(r"\W|matrix\.", "", target) for target, _ in COMMAND.findall(text)]
    return {each for target in called for each in matrix.get(target, [target])}
