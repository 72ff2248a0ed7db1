"""Functions of parts give the same results wherever they are called, and also if a worker dies."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import psutil
import pytest
from joblib.externals.loky import BrokenProcessPool  # type: ignore[import-untyped]

import reliabayes as rb
from reliabayes.arrays import Codes
from reliabayes.jobs import run_jobs
from reliabayes.partitions import cluster, executors, processes
from reliabayes.partitions.executors import WorkerError

STARTING = """
import os, time
from reliabayes.partitions import processes
for pid in processes(2)(lambda part: os.getpid(), range(2)):
    print(pid, flush=True)
time.sleep(60)
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Folder of 2,000 ratings of 500 items by 20 raters, in 12 parts."""
    rng = np.random.default_rng(1)
    raters = np.argsort(rng.random((500, 20)))[:, :4].ravel()
    frame = pd.DataFrame({"item": np.arange(2000) // 4, "rater": raters})
    rb.partition(frame.assign(rating=rng.integers(0, 3, 2000)), tmp_path / "parts", partitions=12)
    return tmp_path / "parts"


def sums_by_rater(part: rb.Ratings) -> Codes:
    return np.asarray(np.bincount(part.rater, part.values, minlength=part.n_raters), np.int64)


def first_item(part: rb.Ratings) -> int:
    return int(part.items[0])


@dataclass(frozen=True)
class DyingOnce:
    """Sums by rater, except that the process dies at one part, the first time."""

    mark: Path
    item: int

    def __call__(self, part: rb.Ratings) -> Codes:
        time.sleep(0.02)
        if first_item(part) == self.item and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return sums_by_rater(part)


def failing(part: rb.Ratings) -> None:
    if part.items[0] > 0:
        raise ZeroDivisionError("nothing to divide by")


@pytest.mark.slow
def test_processes_give_the_same_results_in_the_same_order(folder: Path) -> None:
    alone, dataset = rb.scan_ratings(folder), rb.scan_ratings(folder, n_jobs=2)

    assert [*dataset.map(first_item)] == [*alone.map(first_item)]
    np.testing.assert_array_equal(dataset.sum(sums_by_rater), alone.sum(sums_by_rater))


@pytest.mark.slow
def test_other_processes_go_on_for_one_that_died(folder: Path, tmp_path: Path) -> None:
    alone = rb.scan_ratings(folder)
    third = int(alone.parts[3].read().items[0])

    found = alone.on(processes(2)).sum(DyingOnce(tmp_path / "died", third))

    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(found, alone.sum(sums_by_rater))


@pytest.mark.slow
def test_processes_end_with_the_one_that_started_them() -> None:
    command = [sys.executable, "-c", STARTING]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as parent:
        assert parent.stdout is not None
        workers = [psutil.Process(int(parent.stdout.readline())) for _ in range(2)]
        parent.kill()

    _, alive = psutil.wait_procs(workers, timeout=120)
    assert not alive


def hears_no_interrupt(part: object) -> bool:
    return signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, [])


@pytest.mark.slow
def test_an_interrupt_is_left_to_the_process_that_started_the_others() -> None:
    # Else Ctrl-C while they start prints what each was importing.
    assert list(processes(2)(hears_no_interrupt, range(4))) == [True] * 4
    assert not hears_no_interrupt(None)


class DeadPools:
    """Pools of processes each of which ends with its first part."""

    started = 0

    def __call__(self, number: int) -> DeadPools:
        self.started += 1
        return self

    def cache_clear(self) -> None:
        """Forget the pool that ended."""

    def submit(self, function: Any, part: Any) -> Future[Any]:
        future: Future[Any] = Future()
        future.set_exception(BrokenProcessPool("killed"))
        return future


def test_processes_that_always_die_are_given_up_and_the_part_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pools = DeadPools()
    monkeypatch.setattr(executors, "_pool", pools)

    with pytest.raises(WorkerError, match=r"4th time, at or after .*part-00000"):
        rb.scan_ratings(folder, n_jobs=2).sum(sums_by_rater)

    assert pools.started == 4


@pytest.mark.parametrize("n_jobs", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_an_error_names_its_part(n_jobs: int, folder: Path) -> None:
    dataset = rb.scan_ratings(folder, n_jobs=n_jobs)

    with pytest.raises(ZeroDivisionError) as raised:
        [*dataset.map(failing)]

    assert raised.value.__notes__ == [f"This happened in {folder / 'part-00001'}."]


def test_a_damaged_part_is_named(folder: Path) -> None:
    path = folder / "part-00002" / "ratings.parquet"
    path.write_bytes(path.read_bytes()[:-20])

    with pytest.raises(rb.RatingsError, match=r"part-00002/ratings.parquet: it must be whole"):
        rb.scan_ratings(folder).sum(sums_by_rater)


@dataclass
class ClientThatLosesItsScheduler:
    """A client like Dask's, whose scheduler ends before the third part."""

    status: str = "running"
    submitted: int = 0

    def nthreads(self) -> dict[str, int]:
        if self.status != "running":
            raise OSError("Timed out trying to connect")
        return {"a worker": 1}

    def submit(self, function: Any, part: Any, pure: bool) -> Any:
        self.submitted += 1
        future: Future[Any] = Future()
        if self.submitted < 3:
            future.set_result(function(part))
        else:
            self.status = "connecting"
            future.set_exception(CancelledError())
        return future


def test_the_end_of_a_scheduler_is_said_with_how_to_go_on(folder: Path) -> None:
    dataset = rb.scan_ratings(folder, client=ClientThatLosesItsScheduler())

    with pytest.raises(WorkerError, match=r"scheduler of the Dask .*part-00002.*ratings\.on\("):
        [*dataset.map(first_item)]
    with pytest.raises(WorkerError, match=r"gone, at or after .*part-00000"):
        [*dataset.map(first_item)]


def test_few_parts_are_on_their_way_at_once(folder: Path) -> None:
    client = OwnClient()
    results = rb.scan_ratings(folder, client=client).map(first_item)

    most = max(client.waiting for _ in results)

    assert most <= 2 * OwnClient.workers
    assert client.waiting == 0


class OwnClient:
    """A client like Dask's, which counts the futures whose result was not yet taken."""

    workers = 2

    def __init__(self) -> None:
        self.waiting = 0

    def nthreads(self) -> dict[str, int]:
        return {"a worker": self.workers}

    def submit(self, function: Any, part: Any, pure: bool) -> Any:
        self.waiting += 1
        client = self

        class Future:
            def result(self) -> Any:
                client.waiting -= 1
                return function(part)

        return Future()


@pytest.mark.parametrize("number", [0, -2, 1.5, True, "2"])
@pytest.mark.parametrize("call", [processes, partial(run_jobs, [])])
def test_a_number_of_processes_must_be_one(call: Callable[[Any], object], number: Any) -> None:
    with pytest.raises(ValueError, match="n_jobs: it must be -1 or a number of processes"):
        call(number)


def test_a_client_must_be_one() -> None:
    with pytest.raises(TypeError, match=r"it must be a distributed\.Client of Dask; found a str"):
        cluster("tcp://127.0.0.1:8786")


@pytest.fixture(scope="module")
def client() -> Iterator[Any]:
    """Client of two processes on this machine."""
    distributed = pytest.importorskip("distributed")
    options = {"n_workers": 2, "threads_per_worker": 1, "host": "127.0.0.1"}
    with (
        distributed.LocalCluster(processes=True, dashboard_address=None, **options) as made,
        distributed.Client(made) as client,
    ):
        yield client


@pytest.mark.slow
def test_a_cluster_gives_the_same_results_in_the_same_order(folder: Path, client: Any) -> None:
    alone, dataset = rb.scan_ratings(folder), rb.scan_ratings(folder, client=client)

    assert [*dataset.map(first_item)] == [*alone.map(first_item)]
    np.testing.assert_array_equal(dataset.sum(sums_by_rater), alone.sum(sums_by_rater))


@pytest.mark.slow
def test_a_cluster_goes_on_for_a_worker_that_died(
    folder: Path, client: Any, tmp_path: Path
) -> None:
    alone = rb.scan_ratings(folder)
    third = int(alone.parts[3].read().items[0])

    found = alone.on(cluster(client)).sum(DyingOnce(tmp_path / "died", third))

    assert (tmp_path / "died").exists()
    np.testing.assert_array_equal(found, alone.sum(sums_by_rater))


@dataclass(frozen=True)
class DeadlyPart:
    """A part, reading which ends the process the first time, unless it is that of the tests."""

    part: Any
    mark: Path
    survivor: int

    def read(self) -> rb.Ratings:
        if os.getpid() != self.survivor and not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        ratings: rb.Ratings = self.part.read()
        return ratings

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):  # what pickle looks for before there is a part
            raise AttributeError(name)
        return getattr(self.part, name)


def estimates(dataset: Any) -> list[Any]:
    """A posterior, an estimate by EM, and coefficients."""
    fit = rb.GaussianICC().fit(dataset, seed=1, chains=2, warmup=20, draws=20, progress=False)
    em = rb.DawidSkene().em(dataset)
    table = dataset.agreement(seed=1, replicates=50, over="items")
    return [fit.summary(), *em.parameters.values(), table.select_dtypes("number")]


@pytest.mark.proof
@pytest.mark.filterwarnings("ignore::reliabayes.errors.ConvergenceWarning")
@pytest.mark.parametrize("where", ["processes", "cluster"])
@pytest.mark.parametrize("parts", [1, 7])
def test_estimates_are_those_in_memory_although_a_worker_dies(
    where: str, parts: int, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    rng = np.random.default_rng(1)
    raters = np.argsort(rng.random((300, 20)))[:, :4].ravel()
    score = rng.standard_normal(300).repeat(4) + rng.standard_normal(1200)
    frame = pd.DataFrame({"item": np.arange(1200) // 4, "rater": raters})
    frame["rating"] = np.clip(np.rint(3 + score), 1, 5)
    dataset = rb.partition(frame, tmp_path / "parts", partitions=parts, scale="numeric")
    executor = processes(2) if where == "processes" else cluster(request.getfixturevalue("client"))
    deadly = replace(
        dataset.on(executor),
        parts=[
            DeadlyPart(part, tmp_path / "died", os.getpid()) if number == parts // 2 else part
            for number, part in enumerate(dataset.parts)
        ],
    )

    found = estimates(deadly)

    assert (tmp_path / "died").exists()
    for each, expected in zip(found, estimates(dataset.to_ratings()), strict=True):
        np.testing.assert_allclose(each, expected, rtol=1e-9)


@pytest.mark.slow
def test_an_error_on_a_cluster_names_its_part(folder: Path, client: Any) -> None:
    dataset = rb.scan_ratings(folder, client=client)

    with pytest.raises(ZeroDivisionError) as raised:
        [*dataset.map(failing)]

    assert raised.value.__notes__ == [f"This happened in {folder / 'part-00001'}."]
