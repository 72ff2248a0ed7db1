"""What a way to plan a study provides, and what such ways share."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

from reliabayes.design.goal import Goal

MOST_ITEMS = 10**7  # beyond which no study is looked for


class Method(Protocol):
    """A way to plan a study of a coefficient."""

    @property
    def name(self) -> str:
        """What it is called."""

    @property
    def doi(self) -> str:
        """Where it was published."""

    def items(self, goal: Goal) -> float:
        """Number of items that reach the goal, not rounded."""

    def power(self, goal: Goal, items: float) -> float:
        """Power of the test with a number of items."""

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """Expected limits of the interval with a number of items."""


def not_available(name: str, what: str, instead: str) -> ValueError:
    """Return the error of a method that cannot plan what is asked for.

    Parameters
    ----------
    name : str
        The method.
    what : str
        What it lacks.
    instead : str
        The remedy.

    Returns
    -------
    ValueError
    """
    return ValueError(f"method {name!r} has no {what}. {instead}")


def first_whole(is_enough: Callable[[int], bool], least: int) -> int:
    """Return the smallest number of items that is enough, by bisection.

    Parameters
    ----------
    is_enough : callable
        Whether a number of items is; if one is, so are all above.
    least : int
        Smallest number of items to consider.

    Returns
    -------
    int
        The number.

    Raises
    ------
    ValueError
        None up to 10 million is.
    """
    low, high = least - 1, least
    while not is_enough(high):
        low, high = high, 2 * high
        if high > MOST_ITEMS:
            raise ValueError(
                f"width, lower, upper or power must be within reach of {MOST_ITEMS:,} items; it is "
                "not. Ask for less."
            )
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle, high)
    return high


def rounded_up(exact: float) -> int:
    """Round a number of items up, but for rounding errors.

    Parameters
    ----------
    exact : float
        What a formula gives.

    Returns
    -------
    int
        At least 2.
    """
    return max(2, math.ceil(exact - 1e-9 * abs(exact)))
