"""Partitioning that was stopped goes on where it was, and what it writes is whole or not there."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import shutil
import signal
import sys
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import reliabayes as rb
from reliabayes.partitions import part_files, partitioning, runs
from reliabayes.partitions.manifest import WORK

CONTEXT = multiprocessing.get_context("forkserver")
CONTEXT.set_forkserver_preload(["reliabayes.partitions.partitioning", __name__])
EVERY = {"os.mkdir", "os.rename", "os.remove", "os.rmdir"}  # changes of files, as Python names them


@pytest.fixture
def source(tmp_path: Path) -> Path:
    return table_of(500, tmp_path / "ratings.parquet")


def table_of(n_items: int, path: Path) -> Path:
    rng = np.random.default_rng(1)
    raters = np.argsort(rng.random((n_items, 20)))[:, :4].ravel()
    frame = pd.DataFrame({"item": np.arange(4 * n_items) // 4, "rater": raters})
    frame = frame.assign(rating=rng.integers(0, 3, len(frame))).sample(frac=1, random_state=1)
    frame.to_parquet(path, row_group_size=len(frame) // 20)
    return path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changes", "partitions"), [({"os.rename"}, 1), pytest.param(EVERY, 3, marks=pytest.mark.proof)]
)
def test_a_killed_run_is_completed_by_the_next(
    changes: set[str], partitions: int, source: Path, tmp_path: Path
) -> None:
    rb.partition(source, tmp_path / "undisturbed", partitions=partitions)
    expected = content(tmp_path / "undisturbed")

    for folder in killed_at_each(changes, source, tmp_path / "parts", partitions=partitions):
        rb.partition(source, folder, partitions=partitions)
        assert content(folder) == expected


@pytest.mark.parametrize("changes", [{"os.rmdir"}, pytest.param(EVERY, marks=pytest.mark.proof)])
def test_after_a_killed_run_bad_ratings_are_refused_as_before(
    changes: set[str], source: Path, tmp_path: Path
) -> None:
    bad = pd.read_parquet(source).assign(gold=1)
    bad.loc[bad.index[0], "gold"] = 2  # in one part; the others are written and removed
    bad.to_parquet(source)
    options: dict[str, Any] = {"gold": "gold", "partitions": 2}

    for folder in killed_at_each(changes, source, tmp_path / "parts", **options):
        with pytest.raises(rb.RatingsError, match="gold"):
            rb.partition(source, folder, **options)
        assert not folder.exists()


def killed_at_each(changes: set[str], source: Path, folder: Path, **options: Any) -> Iterator[Path]:
    """Yield what is left by a run that is killed before its first change of files, second, ..."""
    for number in count():
        given = (changes, number, source, folder, options)
        process = CONTEXT.Process(target=partition_until, args=given)
        process.start()
        process.join()
        if process.exitcode == 0:
            break
        assert process.exitcode == -signal.SIGKILL
        yield folder
        shutil.rmtree(folder, ignore_errors=True)
    assert number >= 3


def partition_until(
    changes: set[str], number: int, source: Path, folder: Path, options: dict[str, Any]
) -> None:
    """Partition, and be killed before the change of files of that number."""
    left = iter(range(number))

    def die_before(event: str, given: tuple[Any, ...]) -> None:
        if event in changes and next(left, None) is None:
            os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(die_before)
    with suppress(rb.RatingsError):
        rb.partition(source, folder, **options)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("stop", "after"),
    [
        ("write_run", 2),
        ("make_part", 2),
        pytest.param("coding_of", 0, marks=pytest.mark.proof),
        pytest.param("make_part", 0, marks=pytest.mark.proof),
        pytest.param("read_summary", 3, marks=pytest.mark.proof),
    ],
)
def test_what_is_done_is_not_done_again(
    stop: str, after: int, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(runs, "CHUNK", 1)
    expected = rb.partition(source, tmp_path / "undisturbed", partitions=3).to_ratings()
    stop_at(stop, after, source, tmp_path / "parts", monkeypatch)
    before = times(tmp_path / "parts")

    dataset = rb.partition(source, tmp_path / "parts", partitions=3)

    assert dataset.to_ratings() == expected
    assert content(tmp_path / "parts") == content(tmp_path / "undisturbed")
    kept = {path: when for path, when in times(tmp_path / "parts").items() if path in before}
    assert kept.items() <= before.items()


def test_runs_are_not_made_again(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    stop_at("make_part", 0, source, tmp_path / "parts", monkeypatch)
    monkeypatch.setattr(runs, "item_hashes", lambda ids: pytest.fail("made again"))

    dataset = rb.partition(source, tmp_path / "parts", partitions=3)

    assert dataset.to_ratings() == rb.read_ratings(source)


def stop_at(
    name: str, after: int, source: Path, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Partition, and interrupt it when a function is called that has been called so often."""
    usual, left = getattr(partitioning, name), [after]

    def stopped(*given: Any) -> Any:
        if not left[0]:
            raise KeyboardInterrupt
        left[0] -= 1
        return usual(*given)

    with monkeypatch.context() as context:
        context.setattr(partitioning, name, stopped)
        with pytest.raises(KeyboardInterrupt):
            rb.partition(source, folder, partitions=3)


def test_parts_that_are_there_are_not_made_again(source: Path, tmp_path: Path) -> None:
    first = rb.partition(source, tmp_path / "parts", partitions=3)
    before = times(tmp_path / "parts")

    again = rb.partition(source, tmp_path / "parts", partitions=3)

    assert times(tmp_path / "parts") == before
    assert again.to_ratings() == first.to_ratings()


@pytest.mark.parametrize("is_complete", [True, False])
@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"scale": "ordered"}, "another value of scale"),
        ({"partitions": 4, "missing": "drop"}, "another value of missing, partitions"),
    ],
)
def test_other_arguments_are_refused(
    changed: dict[str, Any],
    said: str,
    is_complete: bool,
    source: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    partition_or_stop(source, tmp_path / "parts", is_complete, monkeypatch)

    with pytest.raises(rb.RatingsError, match=said):
        rb.partition(source, tmp_path / "parts", **({"partitions": 3} | changed))


@pytest.mark.parametrize("is_complete", [True, False])
def test_a_source_that_has_changed_is_refused(
    is_complete: bool, source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition_or_stop(source, tmp_path / "parts", is_complete, monkeypatch)
    table_of(501, source)

    with pytest.raises(rb.RatingsError, match="another value of the source"):
        rb.partition(source, tmp_path / "parts", partitions=3)


def test_a_source_that_changes_meanwhile_is_refused(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    usual = part_files.make_part

    def changing(*given: Any) -> Any:
        os.utime(source, (1, 1))
        return usual(*given)

    monkeypatch.setattr(partitioning, "make_part", changing)

    with pytest.raises(rb.RatingsError, match="the source must stay as it is"):
        rb.partition(source, tmp_path / "parts", partitions=3)

    assert not (tmp_path / "parts").exists()


def partition_or_stop(
    source: Path, folder: Path, is_complete: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if is_complete:
        rb.partition(source, folder, partitions=3)
    else:
        stop_at("make_part", 1, source, folder, monkeypatch)


def test_a_folder_of_something_else_is_left_alone(source: Path, tmp_path: Path) -> None:
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine" / "thesis.txt").write_text("all of it")

    with pytest.raises(rb.RatingsError, match=r"must be empty or new; found thesis\.txt"):
        rb.partition(source, tmp_path / "mine")

    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["thesis.txt"]


def test_two_runs_do_not_write_into_one_folder(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    partition_or_stop(source, tmp_path / "parts", False, monkeypatch)

    with open(tmp_path / "parts" / WORK / partitioning.PLAN) as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        with pytest.raises(BlockingIOError, match="another process is partitioning"):
            rb.partition(source, tmp_path / "parts", partitions=3)


def content(folder: Path) -> dict[str, bytes]:
    paths = (path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in paths}


def times(folder: Path) -> dict[str, int]:
    """When each file of a run or of a part was changed."""
    paths = [*folder.rglob("*.arrow"), *folder.rglob("part-*/*.parquet")]
    return {path.name + path.parent.name: path.stat().st_mtime_ns for path in paths}
