"""How long a fit may take, warm start included."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextvars import ContextVar
from functools import wraps
from numbers import Real
from typing import Any, ParamSpec, TypeVar

from reliabayes.errors import SamplingError

Arguments = ParamSpec("Arguments")
Result = TypeVar("Result")

TOO_LONG = "the fit took longer than its timeout: raise it."

_end = ContextVar("end", default=math.inf)  # of the fit of this thread, on the monotonic clock


def add_in_time(total: Any, other: Any) -> Any:
    """The sum of two, unless the time of a fit is over; to add up what takes long to find."""
    check_time()
    return total + other


def check_time() -> None:
    """End a fit whose time is over; for loops that may take long.

    Raises
    ------
    TimeoutError
        It is.
    """
    if time.monotonic() > _end.get():
        raise TimeoutError


def seconds_left(timeout: float | None = None) -> float:
    """Seconds until the fit's time is over, or until a timeout; infinity if there is no limit."""
    return min(_seconds(timeout), max(0.0, _end.get() - time.monotonic()))


def within_timeout(fit: Callable[Arguments, Result]) -> Callable[Arguments, Result]:
    """Let the argument ``timeout`` of a function bound all that the function does."""

    @wraps(fit)
    def call(*arguments: Arguments.args, **options: Arguments.kwargs) -> Result:
        timeout = options.get("timeout")
        seconds = _seconds(timeout)
        token = _end.set(min(_end.get(), time.monotonic() + seconds))
        try:
            return fit(*arguments, **options)
        except TimeoutError as error:
            raise SamplingError(TOO_LONG) from error
        finally:
            _end.reset(token)

    return call


def _seconds(timeout: object) -> float:
    """A time limit; infinity for none, and for one that the function itself will refuse."""
    try:
        return float(timeout) if isinstance(timeout, Real) else math.inf
    except OverflowError:
        return math.inf
