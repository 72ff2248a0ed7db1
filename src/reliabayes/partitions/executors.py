"""Ways to call a function of each part: one part after another, in processes, or on a cluster."""

from __future__ import annotations

import os
import signal
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from itertools import islice
from typing import Any, Protocol

from reliabayes.jobs import check_n_jobs

AT_ONCE = 2  # parts per worker that wait, are computed, or have a result that was not yet taken
MOST_DEATHS = 3  # of workers in one pass, before it is given up
CONNECTED = "running"  # status of a client whose scheduler is there
PAUSE = 1.0  # seconds between two looks of a process at whether its parent is alive
CAN_WAIT = hasattr(signal, "pthread_sigmask")  # everywhere but on Windows
THREADS = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


class Executor(Protocol):
    """What calls a function of each part."""

    def __call__(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        """Yield the results in the order of the parts."""


class WorkerError(RuntimeError):
    """What computed functions of parts has ended. The message has a part, and what to do."""


def in_turn(function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
    """Yield a function of each part, in this process."""
    return map(function, parts)


def processes(n_jobs: int) -> Executor:
    """Return an executor that calls functions in processes of this machine.

    The processes are kept for later calls, and divide the processors among their threads. If one of
    them ends, such as for want of memory, new ones go on with the parts that are left.

    Parameters
    ----------
    n_jobs : int
        Number of processes; -1 for all processors. One is this process.

    Returns
    -------
    Executor

    Raises
    ------
    ValueError
        If it is neither -1 nor 1 or more.

    Examples
    --------
    >>> from reliabayes.partitions import processes
    >>> executor = processes(2)
    """
    check_n_jobs(n_jobs)
    if n_jobs == 1:
        return in_turn
    return _Processes(n_jobs if n_jobs > 0 else os.cpu_count() or 1)


def cluster(client: Any) -> Executor:
    """Return an executor that calls functions on the workers of a Dask cluster.

    The workers must read the same folder under the same path, and have the same version of this
    package. The scheduler computes parts again whose worker was lost.

    Parameters
    ----------
    client : distributed.Client
        The connection to the cluster.

    Returns
    -------
    Executor

    Raises
    ------
    TypeError
        If it is none.
    """
    if not (hasattr(client, "submit") and hasattr(client, "nthreads")):
        kind = type(client).__name__
        raise TypeError(f"client: it must be a distributed.Client of Dask; found a {kind}")
    return _Cluster(client)


@dataclass(frozen=True)
class _Processes:
    number: int

    def __call__(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        from joblib.externals.loky import BrokenProcessPool  # type: ignore[import-untyped]

        done = deaths = 0
        while done < len(parts):
            pool = _pool(self.number)

            def submit(part: Any, pool: Any = pool) -> Any:
                with _interrupts_wait():
                    return pool.submit(function, part)

            calls = ((submit, part) for part in islice(parts, done, None))
            try:
                for result in _in_order(calls, AT_ONCE * self.number):
                    done += 1
                    yield result
            except BrokenProcessPool as error:
                _pool.cache_clear()
                deaths += 1
                if deaths > MOST_DEATHS:
                    text = f"a process ended for the {deaths}th time, at or after {parts[done]}"
                    raise WorkerError(f"{text}: {error}") from error


@cache
def _pool(number: int) -> Any:
    """So many processes, which end if they have nothing to do for five minutes."""
    from multiprocessing import resource_tracker

    from joblib.externals.loky import ProcessPoolExecutor

    if CAN_WAIT:  # if it started with the first process, it would let Ctrl-C in
        resource_tracker.ensure_running()
    # Said of a process that ended because it had nothing to do, and is started again.
    warnings.filterwarnings("ignore", "A worker stopped while some jobs", UserWarning)
    threads = str(max(1, (os.cpu_count() or 1) // number))
    return ProcessPoolExecutor(
        number,
        timeout=300,
        env=dict.fromkeys(THREADS, threads),
        initializer=_end_with,
        initargs=(os.getpid(),),
    )


@contextmanager
def _interrupts_wait() -> Iterator[None]:
    """Hold back Ctrl-C, and for good from processes that start: this one ends them if it ends."""
    if not CAN_WAIT:
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGINT])
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _end_with(parent: int) -> None:
    """End this process soon after the one that started it, even if that one was killed."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(PAUSE)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


@dataclass(frozen=True)
class _Cluster:
    client: Any

    def __call__(self, function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
        def submit(part: Any) -> Any:
            # Equal calls may differ in what a file holds by now, so their results are not reused.
            return self.client.submit(function, part, pure=False)

        done = 0
        try:
            number = max(1, sum(self.client.nthreads().values()))
            for result in _in_order(((submit, part) for part in parts), AT_ONCE * number):
                done += 1
                yield result
        except Exception as error:
            # An error of the function itself comes while the scheduler is there.
            if getattr(self.client, "status", CONNECTED) == CONNECTED:
                raise
            raise WorkerError(
                f"the scheduler of the Dask cluster is gone, at or after {parts[done]}. "
                "Parts are only read, so nothing is damaged. Start a cluster and repeat the call "
                "with ratings.on(cluster(client)), or compute without a cluster, with "
                "scan_ratings(folder, n_jobs=...)"
            ) from error


def _in_order(calls: Iterable[tuple[Any, ...]], at_once: int) -> Iterator[Any]:
    """Yield results of calls that return futures, of which at most so many are there at once."""
    left = iter(calls)
    waiting = deque(submit(*given) for submit, *given in islice(left, at_once))
    try:
        while waiting:
            result = waiting.popleft().result()
            waiting.extend(submit(*given) for submit, *given in islice(left, 1))
            yield result
    finally:
        for future in waiting:
            future.cancel()
