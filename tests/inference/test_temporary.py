"""Temporary folders are removed in the end, by the next one if their process was killed."""

from __future__ import annotations

import multiprocessing
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from reliabayes.inference import temporary
from reliabayes.inference.temporary import temporary_folder

HOLD = """
import os, sys, time
from reliabayes.inference.temporary import temporary_folder
with temporary_folder() as folder:
    (folder / "data.json").write_text("{}")
    print(folder, flush=True)
    time.sleep(3600)
"""


@pytest.fixture(autouse=True)
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder for temporary folders, of this process and of those that it starts."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def holder() -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process that has a temporary folder."""
    process = subprocess.Popen([sys.executable, "-c", HOLD], stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    yield process, Path(process.stdout.readline().strip())
    process.kill()
    process.communicate()


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_folder_is_removed_with_all_that_is_in_it(parent: Path) -> None:
    with temporary_folder() as folder:
        (folder / "data.json").touch()
        assert folder.parent == parent
        assert folder.stat().st_mode & 0o777 == 0o700

    assert names(parent) == set()


def test_the_folder_of_a_killed_process_is_removed_by_the_next(
    holder: tuple[subprocess.Popen[str], Path],
) -> None:
    process, left = holder
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (left / "data.json").exists()

    with temporary_folder():
        assert not left.exists()


def test_the_folder_of_a_running_process_stays(
    holder: tuple[subprocess.Popen[str], Path],
) -> None:
    _, other = holder

    with temporary_folder() as one, temporary_folder() as two:
        assert (other / "data.json").exists()
        assert one.exists()
        assert two.exists()


def test_folders_that_are_not_ours_stay(parent: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (parent / "reliabayes-notes").mkdir()
    (parent / "reliabayes-of-another-machine").mkdir()
    (parent / "reliabayes-of-another-machine" / "lock-1234").touch()
    (parent / "kept").mkdir()
    (parent / "kept" / temporary._lock_name()).touch()
    (parent / "reliabayes-link").symlink_to("kept")
    before = names(parent)

    with temporary_folder():
        pass
    assert names(parent) == before

    (parent / "kept").rename(parent / "reliabayes-of-another-user")
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with temporary_folder():
        pass
    assert "reliabayes-of-another-user" in names(parent)


def test_an_interrupt_while_a_folder_is_removed_leaves_nothing(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    remove, calls = shutil.rmtree, list[object]()

    def interrupted(folder: Path, ignore_errors: bool) -> None:
        calls.append(folder)
        if len(calls) == 1:
            raise KeyboardInterrupt
        remove(folder, ignore_errors)

    monkeypatch.setattr(shutil, "rmtree", interrupted)
    with pytest.raises(KeyboardInterrupt), temporary_folder():
        pass

    assert names(parent) == set()


def test_without_locks_folders_are_made_all_the_same(
    parent: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(temporary, "_lock_name", _refuse)
    with temporary_folder() as folder:
        (folder / "data.json").touch()

    assert names(parent) == set()


def _refuse() -> str:
    raise OSError("no locks available")


def _many(_: int) -> bool:
    for _ in range(20):
        with temporary_folder() as folder:
            (folder / "data.json").write_text("{}")
            if not (folder / "data.json").exists():
                return False
    return True


@pytest.mark.slow
def test_many_processes_at_once_leave_each_other_alone(parent: Path) -> None:
    with multiprocessing.get_context("spawn").Pool(2) as pool:
        assert pool.map_async(_many, range(4)).get(timeout=120) == [True] * 4

    assert names(parent) == set()


def test_threads_leave_each_other_alone(parent: Path) -> None:
    found: list[bool] = []
    threads = [threading.Thread(target=lambda: found.append(_many(0))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert found == [True] * 4
    assert names(parent) == set()
