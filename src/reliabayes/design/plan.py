"""What a planned study is to find out, and formulas for its size."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from scipy.special import ndtri

from reliabayes.arrays import Array

MOST_ITEMS = 10**7  # beyond which no study is looked for


@dataclass(frozen=True, kw_only=True)
class Goal:
    """What a study is planned for.

    Attributes
    ----------
    value : float
        The coefficient that is expected.
    raters : int
        Number of raters of each item.
    null : float or None
        The value that is to be rejected.
    lower, upper : float or None
        Limits that the interval is to keep within.
    width : float or None
        Width that the interval is to have.
    power : float
        Probability of rejecting the null value.
    prob : float
        Nominal coverage of the interval, or 1 less the error rate of the test.
    tails : {1, 2}
        Whether departures in both directions count.
    bias, agree : float
        For differences of two raters: their mean, and the proportion between the limits.
    shares : array of float, shape (2, K)
        Proportions of the categories, by rater.
    """

    value: float
    raters: int
    null: float | None
    lower: float | None
    upper: float | None
    width: float | None
    power: float
    prob: float
    tails: int
    bias: float
    agree: float
    shares: Array

    @property
    def critical(self) -> float:
        """Quantile of the normal distribution beyond which the test rejects."""
        return float(ndtri(1 - (1 - self.prob) / self.tails))

    @property
    def distance(self) -> float:
        """Standard errors between the two values that give the power."""
        return self.critical + float(ndtri(self.power))


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
