"""Tasks one after another, or in processes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

Result = TypeVar("Result")


def run_jobs(tasks: Sequence[Callable[[], Result]], n_jobs: int) -> Iterable[Result]:
    """Results of the tasks, in their order.

    Parameters
    ----------
    tasks : sequence of callable
        What to do.
    n_jobs : int
        Number of joblib workers; -1 for all processors. One needs no joblib.

    Returns
    -------
    iterable
        Results as they are found.
    """
    if n_jobs == 1:
        return (task() for task in tasks)
    import joblib  # type: ignore[import-untyped]

    found: Iterable[Result] = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(task)() for task in tasks
    )
    return found
