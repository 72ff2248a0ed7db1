"""Complete runs are held to a budget of processor time, and fail if they exceed it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.budget import NAMED, OF_A_READING, report, slowness
from tests.conftest import ROOT

SETTINGS = f"""
[pytest]
addopts = -p no:cacheprovider --import-mode=importlib --strict-markers "-m not proof"
testpaths = .
pythonpath = {ROOT}
markers =
    slow: takes long
    proof: takes longer
"""
CONFTEST = """
from tests import budget
budget.LONG = 0.2
def pytest_configure(config): config.pluginmanager.register(budget.Budget(config, {most}))
"""
TESTS = """
import pytest
def test_one(): assert sum(range(2_000_000))
@pytest.mark.slow
def test_two(): assert sum(range(2_000_000))
@pytest.mark.proof
def test_three(): assert False
"""
ENOUGH, NOTHING = 1e6, 0.0


def run(folder: Path, most: float, *chosen: str) -> int:
    """Run two tests, and leave a third out, with a budget; return the status."""
    (folder / "pytest.ini").write_text(SETTINGS)
    (folder / "conftest.py").write_text(CONFTEST.format(most=most))
    (folder / "test_suite.py").write_text(TESTS)
    return int(pytest.main(list(chosen)))


@pytest.mark.parametrize("most", [ENOUGH, NOTHING])
def test_complete_run_fails_if_it_takes_too_long(
    most: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    status = run(tmp_path, most)

    assert status == (pytest.ExitCode.OK if most else pytest.ExitCode.TESTS_FAILED)


@pytest.mark.parametrize(
    "chosen",
    [["-k", "test"], ["-m", "slow"], ["--deselect", "test_suite.py::test_two"], ["test_suite.py"]],
    ids=" ".join,
)
def test_run_of_chosen_tests_may_take_what_it_takes(
    chosen: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run(tmp_path, NOTHING, *chosen) == pytest.ExitCode.OK


@pytest.mark.slow
def test_time_of_other_processes_counts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "test_long.py").write_text(
        "from time import process_time\n\n"
        "def test_long():\n    end = process_time() + 0.3\n"
        "    while process_time() < end:\n        pass\n"
    )

    run(tmp_path, ENOUGH, "--numprocesses", "1")

    printed = capsys.readouterr().out
    assert "s of a processor, but are not marked slow:" in printed
    assert " s test_long.py::test_long\n" in printed
    assert "test_one" not in printed


def test_slowest_tests_are_named_first_and_not_too_many() -> None:
    long = {f"test_{k}": 1.0 + k for k in range(NAMED + 2)}

    _, first, *others, last, total = report(340.2, 450.0, long)

    assert first == "  12.0 s test_11"
    assert len(others) == NAMED - 1
    assert last == "  and 2 more"
    assert total == "processor time: 340 s, of at most 450 s"


def test_a_processor_counts_as_slower_by_what_readings_take() -> None:
    assert slowness([OF_A_READING, 3 * OF_A_READING]) == pytest.approx(2)
    assert slowness([OF_A_READING / 9]) == 1
    assert slowness([]) == 1


def test_a_slow_processor_may_take_longer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("tests.budget.OF_A_READING", 1e-9)

    assert run(tmp_path, 1e-3) == pytest.ExitCode.OK
