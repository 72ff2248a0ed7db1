"""Work in threads: chains, which end together however the wait for them ends, and NumPy's."""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextvars import copy_context
from typing import TypeVar

from reliabayes.errors import SamplingError
from reliabayes.inference.host import IN_BROWSER
from reliabayes.inference.time_limit import TOO_LONG

PAUSE = 0.05  # seconds between two looks at what is running

Part = TypeVar("Part")
Result = TypeVar("Result")


def run_threads(
    tasks: Sequence[Callable[[], None]],
    stop: threading.Event,
    *,
    at_once: int,
    until: float,
    watch: Callable[[], None],
) -> None:
    """Run tasks, which look at ``stop`` now and then and end early once it is set.

    In a browser they run one after another, in this thread.

    Parameters
    ----------
    tasks : sequence of callable
        What to run.
    stop : Event
        Set at the end: of all tasks, of the time, or by an exception such as that of Ctrl-C.
    at_once : int
        How many run at once.
    until : float
        When they must have ended, on the monotonic clock.
    watch : callable
        Called time and again while they run.

    Raises
    ------
    SamplingError
        They took longer.
    """
    if IN_BROWSER:
        _run_here(tasks, until=until, watch=watch)
        return
    with ThreadPoolExecutor(at_once) as pool:
        try:
            futures = [pool.submit(task) for task in tasks]
            while (found := wait(futures, PAUSE)).not_done:
                watch()
                if time.monotonic() > until:
                    raise SamplingError(TOO_LONG)
                for future in found.done:
                    future.result()
        finally:
            stop.set()
    for future in futures:
        future.result()


def _run_here(
    tasks: Sequence[Callable[[], None]], *, until: float, watch: Callable[[], None]
) -> None:
    for task in tasks:
        watch()
        if time.monotonic() > until:
            raise SamplingError(TOO_LONG)
        task()


def of_parts(function: Callable[[Part], Result], parts: Iterable[Part]) -> list[Result]:
    """What a function gives for each part, in order; NumPy computes some of them side by side.

    They end when the time of the fit is over, like all else in this thread.
    """
    if IN_BROWSER:
        return [function(part) for part in parts]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        futures = [pool.submit(copy_context().run, function, part) for part in parts]
        try:
            return [future.result() for future in futures]
        finally:
            pool.shutdown(wait=False, cancel_futures=True)
