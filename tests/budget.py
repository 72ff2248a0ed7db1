"""Processor time of a run of the tests: what it took, and whether that is within its budget.

Time on a clock depends on what else the machine does; seconds of a processor do less. They are user
and system time of this process, of the processes of xdist, and of all that these have started. A
processor may be slower, or be so in some hours: where reading this file takes longer, between
tests of the whole run, they may take as many times more.
"""

from __future__ import annotations

import argparse
import ast
import os
import re
import statistics
import time
from collections.abc import Generator, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

LONG = 1.0  # seconds from which a test is named; the mark is due from a tenth of it, but times vary
NAMED = 10  # tests at most
OF_A_READING = 0.012  # seconds that `reading` took where the budget was set
BETWEEN = 100  # tests, after which it is done again
# Options that choose among tests, beside paths and marks.
CHOOSING = ("keyword", "deselect", "ignore", "ignore_glob", "lf", "stepwise", "collectonly")


class Budget:
    """Plugin that adds up the processor time of a run, and fails one that takes too much.

    Parameters
    ----------
    config : pytest.Config
        Configuration of the run.
    most : float or None
        Seconds that a complete run may take, if there is a limit.
    """

    def __init__(self, config: pytest.Config, most: float | None) -> None:
        self.marks = marks_left_out(config.getini("addopts"))
        are_paths_given = config.args_source != pytest.Config.ArgsSource.TESTPATHS
        is_held = not are_paths_given and is_complete(config.option, self.marks)
        self.most = most if is_held else None
        self.left_out = self.of_workers = 0.0
        self.long: dict[str, float] = {}
        self.tests, self.readings = 0, list[float]()

    @contextmanager
    def without(self) -> Iterator[None]:
        """Leave out what is done meanwhile."""
        before = ended()
        yield
        self.left_out += ended() - before

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        if self.tests % BETWEEN == 0:
            self.readings.append(reading())
        self.tests += 1
        before = ended() - self.left_out
        result = yield
        seconds = ended() - self.left_out - before
        marks = {"slow", *re.findall(r"\bnot (\w+)", self.marks)}
        if seconds > LONG and not any(mark.name in marks for mark in item.iter_markers()):
            self.long[item.nodeid] = seconds
        return result

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any, error: object) -> None:
        seconds, long, readings = getattr(node, "workeroutput", {}).get("processor", (0.0, {}, []))
        self.of_workers += seconds
        self.long |= long
        self.readings += readings

    @pytest.hookimpl(trylast=True)
    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        output = getattr(session.config, "workeroutput", None)
        if output is not None:  # in a process of xdist
            output["processor"] = (ended() + running() - self.left_out, self.long, self.readings)
            return
        # Processes of xdist have told of theirs; otherwise all tests ran in this one.
        own = sum(os.times()[:2]) if self.of_workers else ended() + running()
        self.seconds = own - self.left_out + self.of_workers
        if self.most is not None:
            self.most *= slowness(self.readings)
        if is_exceeded(self.seconds, self.most) and session.exitstatus == pytest.ExitCode.OK:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        for line in report(self.seconds, self.most, self.long):
            terminalreporter.write_line(line, red=is_exceeded(self.seconds, self.most))


def marks_left_out(options: list[str]) -> str:
    """Expression of marks among the options in pyproject.toml, which says what the suite is."""
    return next(option for option in options if option.startswith("-m")).removeprefix("-m").strip()


def is_complete(options: argparse.Namespace, marks: str) -> bool:
    """Whether a run without paths is of the whole suite, or of all its quick tests."""
    are_all = options.markexpr.strip() == marks
    return are_all and not any(getattr(options, name, None) for name in CHOOSING)


def is_exceeded(seconds: float, most: float | None) -> bool:
    """Whether a run took more than it may; one without a limit never does."""
    return most is not None and seconds > most


def report(seconds: float, most: float | None, long: dict[str, float]) -> Iterator[str]:
    """Lines at the end of a run."""
    slowest = sorted(long.items(), key=lambda test: -test[1])
    if slowest:
        yield f"Tests that take more than {LONG:.0f} s of a processor, but are not marked slow:"
    for name, own in slowest[:NAMED]:
        yield f"  {own:4.1f} s {name}"
    if len(slowest) > NAMED:
        yield f"  and {len(slowest) - NAMED} more"
    limit = "" if most is None else f", of at most {most:.0f} s"
    yield f"processor time: {seconds:.0f} s{limit}"
    if is_exceeded(seconds, most):
        yield (
            "This is too much: make tests cheaper, or mark what repeats others as proof "
            "(the budget is in tests/conftest.py)."
        )


def reading() -> float:
    """Seconds that Python takes to read this file, which needs memory as tests do."""
    text, before = Path(__file__).read_text(), time.process_time()
    for _ in range(5):
        compile(ast.parse(text), __file__, "exec")
    return time.process_time() - before


def slowness(readings: list[float]) -> float:
    """How many times longer they took than on the machine of the budget; at least 1."""
    return max(1.0, statistics.median(readings) / OF_A_READING) if readings else 1.0


def ended() -> float:
    """Seconds of this process, and of those it started that have ended."""
    return sum(os.times()[:4])


def running() -> float:
    """Seconds of processes that this one started, and of theirs, that have not ended yet."""
    total = 0.0
    for process in psutil.Process().children(recursive=True):
        with suppress(psutil.Error):
            total += sum(process.cpu_times()[:4])
    return total
