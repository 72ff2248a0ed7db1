"""Items needed for limits of agreement: exact tests and intervals of the central range."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, gammaln, ndtr, ndtri

from reliabayes.arrays import Array
from reliabayes.design.goal import Goal
from reliabayes.design.plan import first_whole, not_available

NODES = 1000  # of Simpson's rule for the distribution of the variance
TAIL = 1e-8  # of that distribution, left out


@dataclass(frozen=True)
class Shieh:
    """Exact test that the central range of differences lies within two bounds.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    """

    name: str = "shieh"
    doi: str = "https://doi.org/10.1080/19466315.2019.1677495"

    def items(self, goal: Goal) -> float:
        """The first number of items with the power."""
        return first_whole(lambda n: self.power(goal, n) >= goal.power, 5)

    def power(self, goal: Goal, items: float) -> float:
        """Probability that mean less and plus a multiple of the sd are both within the bounds."""
        assert goal.lower is not None
        assert goal.upper is not None
        ratio, weight = _sd_ratios(items)
        factor = _test_factor(goal, items)
        error = goal.value / math.sqrt(items)
        low = (goal.lower - goal.bias) / error + factor * ratio
        high = (goal.upper - goal.bias) / error - factor * ratio
        return float((weight * np.maximum(ndtr(high) - ndtr(low), 0)).sum())

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """It has none."""
        raise not_available(self.name, "interval", "Pass width=... instead of bounds.")


@dataclass(frozen=True)
class JanShieh:
    """Exact interval of the central range of differences.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    """

    name: str = "jan-shieh"
    doi: str = "https://doi.org/10.1016/j.compbiomed.2018.06.020"

    def items(self, goal: Goal) -> float:
        """The first number of items whose interval is expected to be as narrow."""
        assert goal.width is not None
        wanted = goal.width
        return first_whole(lambda n: float(np.ptp(self.limits(goal, n))) <= wanted, 5)

    def power(self, goal: Goal, items: float) -> float:
        """It has none."""
        raise not_available(self.name, "power", "Pass lower=... and upper=... as bounds.")

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """Expected limits: the sd is too small by a known factor."""
        shrinkage = math.exp(gammaln(items / 2) - gammaln((items - 1) / 2))
        half = goal.value * _interval_factor(goal, items) * shrinkage * math.sqrt(2 / (items - 1))
        return goal.bias - half, goal.bias + half


def _sd_ratios(items: float) -> tuple[Array, Array]:
    """Nodes of the sample sd divided by the true one, with their probabilities."""
    df = items - 1
    low, high = (math.sqrt(float(chdtri(df, tail))) for tail in (1 - TAIL, TAIL))
    nodes = np.linspace(low, high, NODES + 1)
    constant = gammaln(df / 2) + (df / 2 - 1) * math.log(2)
    log_density = (df - 1) * np.log(nodes) - nodes**2 / 2 - constant
    simpson = np.array([1, *[4, 2] * (NODES // 2 - 1), 4, 1]) * (nodes[1] - nodes[0]) / 3
    return nodes / math.sqrt(df), simpson * np.exp(log_density)


def _test_factor(goal: Goal, items: float) -> float:
    """Multiple of the standard error at which the test has its error rate."""
    ratio, weight = _sd_ratios(items)
    edge = float(ndtri((1 + goal.agree) / 2)) * math.sqrt(items)

    def excess(factor: float) -> float:
        inside = np.maximum(edge - factor * ratio, 0)
        return float((weight * (2 * ndtr(inside) - 1)).sum()) - (1 - goal.prob)

    return _root(excess, edge)


def _interval_factor(goal: Goal, items: float) -> float:
    """Multiple of the sd within which the central range lies with the nominal probability."""
    ratio, weight = _sd_ratios(items)
    edge = float(ndtri((1 + goal.agree) / 2))

    def excess(factor: float) -> float:
        inside = np.maximum(math.sqrt(items) * (factor * ratio - edge), 0)
        return float((weight * (2 * ndtr(inside) - 1)).sum()) - goal.prob

    return _root(excess, edge)


def _root(function: Callable[[float], float], start: float) -> float:
    from scipy.optimize import brentq

    low, high = 0.0, 2 * start
    while function(low) * function(high) > 0:
        high *= 2
    return float(brentq(function, low, high, xtol=1e-10))
