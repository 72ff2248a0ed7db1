"""Partitioning that was stopped goes on where it was, and what it writes is whole or not there."""

from __future__ import annotations

import fcntl
import multiprocessing
import os
import random
import shutil
import time
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


def partition_in_small_chunks(source: Path, folder: Path) -> None:
    runs.CHUNK = 1
    rb.partition(source, folder, partitions=20)


@pytest.mark.slow
def test_a_killed_run_is_completed_by_the_next(tmp_path: Path) -> None:
    source = table_of(20_000, tmp_path / "ratings.parquet")
    for _ in range(2):  # the first starts the server
        shutil.rmtree(tmp_path / "undisturbed", ignore_errors=True)
        began = time.monotonic()
        ran_in_process(source, tmp_path / "undisturbed", None)
        usual = time.monotonic() - began
    expected = content(tmp_path / "undisturbed")
    rng, were_unfinished = random.Random(1), []

    for number in range(10):
        folder = tmp_path / f"killed-{number}"
        ran_in_process(source, folder, rng.uniform(0, usual))
        were_unfinished.append((folder / WORK).exists())
        ran_in_process(source, folder, None)
        assert content(folder) == expected

    assert any(were_unfinished)


def ran_in_process(source: Path, folder: Path, seconds: float | None) -> None:
    """Partition in a process, which is killed after some time."""
    process = CONTEXT.Process(target=partition_in_small_chunks, args=(source, folder))
    process.start()
    process.join(seconds)
    process.kill()
    process.join()
    assert seconds is not None or process.exitcode == 0


@pytest.mark.parametrize(
    ("stop", "after"),
    [("write_run", 2), ("coding_of", 0), ("make_part", 0), ("make_part", 2), ("read_summary", 3)],
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
