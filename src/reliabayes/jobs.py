"""Tasks one after another, or in processes side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from numbers import Integral
from typing import TypeVar

Result = TypeVar("Result")


def check_n_jobs(n_jobs: int) -> None:
    """Refuse what is no number of processes.

    Parameters
    ----------
    n_jobs : int
        Number of processes; -1 for all processors.

    Raises
    ------
    ValueError
        It is neither -1 nor a whole number from 1.
    """
    is_number = isinstance(n_jobs, Integral) and not isinstance(n_jobs, bool)
    if not is_number or not (n_jobs == -1 or n_jobs >= 1):
        raise ValueError(
            f"n_jobs: it must be -1 or a number of processes; found {n_jobs!r}. Pass 1 to use this "
            "process alone, or -1 to use all processors."
        )


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

    Raises
    ------
    ValueError
        ``n_jobs`` is no such number.
    """
    check_n_jobs(n_jobs)
    if n_jobs == 1:
        return (task() for task in tasks)
    import joblib  # type: ignore[import-untyped]

    found: Iterable[Result] = joblib.Parallel(n_jobs=n_jobs, return_as="generator")(
        joblib.delayed(task)() for task in tasks
    )
    return found
