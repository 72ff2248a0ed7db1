"""Fixtures that several test files share."""

from __future__ import annotations

import fcntl
import os
import signal
import sys
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import hypothesis
import pandas as pd
import pytest
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]
from xdist.scheduler import LoadFileScheduling  # type: ignore[import-untyped]

import hatch_build
from reliabayes import datasets
from tests.budget import Budget

# Every run uses the same examples, so that a new failure has a cause in the code. `make fuzz` tries
# others, and many.
hypothesis.settings.register_profile("many", deadline=None, max_examples=300)
hypothesis.settings.register_profile("same", derandomize=True, deadline=None, max_examples=8)
hypothesis.settings.load_profile("same")

ROOT = Path(__file__).resolve().parent.parent
REFERENCE = sorted(ROOT.glob("stan/reference/*.stan"))
OWN = sorted(ROOT.glob("tests/stan/*.stan"))
PROGRAMS = [*OWN, *REFERENCE]  # that only tests run
MODELS = "tests/models/test_models.py"
SHARING = {"tests/html_report/test_report.py": MODELS}  # files that share fits, which are cached

# Seconds of a processor that `make test` and `make quick` may take, on Linux, where `reading` of
# tests/budget.py takes what it says there. They took 760 and 140 in an hour in which it took half
# as long again. The rest is for chance, not for more tests.
MOST, MOST_OF_QUICK = 800, 240


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--quick", action="store_true", help="skip tests that take a tenth of a second or more"
    )


def pytest_configure(config: pytest.Config) -> None:
    # A shell ignores it in what runs in the background, and so would the commands of tests.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    if hasattr(config, "workerinput"):  # one of several processes, which share the processors
        threadpool_limits(1)
    most = MOST_OF_QUICK if config.getoption("--quick") else MOST
    budget = Budget(config, most if sys.platform == "linux" else None)
    config.pluginmanager.register(budget, "budget")


class LoadSharingFiles(LoadFileScheduling):  # type: ignore[misc]
    """Run the tests of a file in one process, and with them those of files that share fits."""

    def _split_scope(self, nodeid: str) -> str:
        path: str = super()._split_scope(nodeid)
        return SHARING.get(path, path)


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> LoadSharingFiles | None:
    return LoadSharingFiles(config, log) if config.getvalue("dist") == "loadfile" else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if config.getoption("--quick"):
        config.hook.pytest_deselected(items=[item for item in items if _is_slow(item)])
        items[:] = [item for item in items if not _is_slow(item)]
    if hasattr(config, "workerinput"):
        # Files with most slow tests first, so that no process waits at the end for another.
        slow = Counter(item.path for item in items if _is_slow(item))
        items.sort(key=lambda item: -slow[item.path])


def _is_slow(item: pytest.Item) -> bool:
    return item.get_closest_marker("slow") is not None


@pytest.fixture(scope="session")
def compiled(
    tmp_path_factory: pytest.TempPathFactory, pytestconfig: pytest.Config
) -> Callable[[str], Path]:
    """Look up the executable of one of `PROGRAMS` by name; the first use compiles them all."""
    budget: Any = pytestconfig.pluginmanager.get_plugin("budget")
    out = tmp_path_factory.mktemp("programs")
    with budget.without():
        build_programs(out)
    return lambda name: out / name


def build_programs(out: Path) -> None:
    """Compile `PROGRAMS`, without optimisation: that would take longer than they run.

    Sanitizers check what programs share, for which those of the tests are enough.
    """
    sanitize = os.environ.get("RELIABAYES_SANITIZE") == "1"
    flags = hatch_build.SANITIZED if sanitize else hatch_build.OPTIMISED
    own = hatch_build.SANITIZED if sanitize else hatch_build.UNOPTIMISED
    with (hatch_build.cache() / "tests.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one of several processes compiles, and the others link
        chosen = OWN if sanitize else PROGRAMS
        hatch_build.build(chosen, out, options=(), flags=flags, program_flags=own)


@pytest.fixture
def dataset() -> Callable[[str], pd.DataFrame]:
    """Load published ratings by name; without the files, skip the test, or fail it in CI."""
    return load_or_skip


def load_or_skip(name: str) -> pd.DataFrame:
    try:
        return datasets.load(name)
    except FileNotFoundError as error:
        if os.environ.get("CI") == "true":
            pytest.fail(f"CI must have the data: {error}")
        pytest.skip(str(error))
