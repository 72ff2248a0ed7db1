"""Items needed for kappas: Cantor's formula, Flack's, and goodness of fit."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import chdtri, chndtr, chndtrinc, comb, ndtr

from reliabayes.arrays import Array
from reliabayes.design.goal import Goal

SMALLEST = 1e-9  # kappa that is looked at as a limit


def cantor_error(kappa: float, shares: Array) -> float:
    """Return the standard error of kappa for one item, of two categories.

    Parameters
    ----------
    kappa : float
        The value.
    shares : array of float, shape (2, 2)
        Proportions of both categories, by rater.

    Returns
    -------
    float
        The error of Fleiss, Cohen & Everitt (1969), to be divided by the root of the items.
    """
    one, other = shares
    by_chance = float(one @ other)
    observed = kappa * (1 - by_chance) + by_chance
    second = (observed - one[0] + other[1]) / 2
    first = observed - second
    table = np.array([[first, one[0] - first], [other[0] - first, second]])
    return _error(table, observed, by_chance)


def flack_error(kappa: float, shares: Array) -> float:
    """Return the largest standard error of kappa for one item, with the same proportions of both.

    Parameters
    ----------
    kappa : float
        The value.
    shares : array of float, shape (2, K)
        Proportions of the categories, by rater.

    Returns
    -------
    float
        The largest error over all tables with these proportions and this kappa, a linear program.
    """
    from scipy.optimize import linprog

    one, other = shares
    size = len(one)
    by_chance = float(one @ other)
    observed = kappa * (1 - by_chance) + by_chance
    cost = _squares(shares, observed, by_chance).ravel()
    of_rows = np.kron(np.eye(size), np.ones(size))
    of_columns = np.kron(np.ones(size), np.eye(size))
    constraints = np.vstack([of_rows, of_columns, np.eye(size).ravel()])
    totals = np.concatenate([one, other, [observed]])
    found = linprog(-cost, A_eq=constraints, b_eq=totals, method="highs")
    table = np.asarray(found.x, np.float64).reshape(size, size)
    return _error(table, observed, by_chance)


def _squares(shares: Array, observed: float, by_chance: float) -> Array:
    """What each cell of the table contributes to the variance."""
    mean = shares[1][:, None] + shares[0]
    same = np.eye(len(mean))
    return np.asarray((same * (1 - by_chance) - mean * (1 - observed)) ** 2)


def _error(table: Array, observed: float, by_chance: float) -> float:
    shares = np.array([table.sum(1), table.sum(0)])
    spread = (table * _squares(shares, observed, by_chance)).sum()
    variance = spread - (observed * by_chance - 2 * by_chance + observed) ** 2
    return math.sqrt(max(variance, 0.0)) / (1 - by_chance) ** 2


def outcome_probabilities(kappa: float, raters: int, share: Array) -> Array:
    """Return the probabilities of what is counted of an item.

    Parameters
    ----------
    kappa : float
        Agreement of any two raters, at least 0.
    raters : int
        Number of raters of each item.
    share : array of float, shape (K,)
        Proportions of the categories.

    Returns
    -------
    array of float
        Of two categories, of each number of ratings in the first, (raters + 1,): with probability
        kappa all raters agree, else they are independent. Of more, that all are in each category,
        or not all in the same, (K + 1,): ratings are Dirichlet-multinomial.
    """
    if len(share) == 2:
        count = np.arange(raters + 1)
        apart = comb(raters, count) * share[0] ** count * share[1] ** (raters - count)
        together = np.zeros(raters + 1)
        together[[0, raters]] = share[1], share[0]
        return np.asarray(kappa * together + (1 - kappa) * apart)
    step = np.arange(raters)
    same = np.prod(
        (share[:, None] * (1 - kappa) + step * kappa) / (1 - kappa + step * kappa), axis=1
    )
    return np.append(same, 1 - same.sum())


def chi_squared_per_item(value: float, null: float, goal: Goal) -> float:
    """Return Pearson's chi-squared of one item, expected at one kappa against another.

    Parameters
    ----------
    value, null : float
        Both kappas; what is expected under the second is the denominator.
    goal : Goal
        Has the raters and the proportions.

    Returns
    -------
    float
        The noncentrality for each item.
    """
    share = goal.shares[0]
    at_value, at_null = (outcome_probabilities(k, goal.raters, share) for k in (value, null))
    return float(((at_value - at_null) ** 2 / at_null).sum())


@dataclass(frozen=True)
class ByError:
    """Test and interval by the standard error of Fleiss, Cohen & Everitt.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    error : callable
        Standard error for one item, given kappa and the proportions.
    """

    name: str
    doi: str
    error: Callable[[float, Array], float]

    def items(self, goal: Goal) -> float:
        """Those at which the test has its power, or the interval its width or limits."""
        error = self.error(goal.value, goal.shares)
        if goal.null is None:
            return (goal.critical * error / half_width(goal)) ** 2
        at_null = self.error(goal.null, goal.shares)
        distance = goal.critical * at_null + (goal.distance - goal.critical) * error
        return (distance / (goal.value - goal.null)) ** 2

    def power(self, goal: Goal, items: float) -> float:
        """Power, of two tails that of the nearer one."""
        assert goal.null is not None
        error, at_null = (self.error(each, goal.shares) for each in (goal.value, goal.null))
        shift = abs(goal.value - goal.null) * math.sqrt(items) - goal.critical * at_null
        return float(ndtr(shift / error))

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """Kappa less and plus its standard errors."""
        half = goal.critical * self.error(goal.value, goal.shares) / math.sqrt(items)
        return goal.value - half, goal.value + half


@dataclass(frozen=True)
class ByFit:
    """Pearson's chi-squared of what is counted of items, of raters who have the same proportions.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    """

    name: str = "chi-squared"
    doi: str = "https://doi.org/10.1016/j.jclinepi.2012.01.019"

    def items(self, goal: Goal) -> float:
        """Those at which the test has its power, or no limit fits better than those wanted."""
        critical = _critical(goal)
        if goal.null is not None:
            noncentrality = float(chndtrinc(critical, 1, 1 - goal.power))
            return noncentrality / chi_squared_per_item(goal.value, goal.null, goal)
        wanted = [each for each in (goal.lower, goal.upper) if each is not None]
        if goal.width is not None:
            wanted = [goal.value - goal.width / 2, goal.value + goal.width / 2]
        each = [chi_squared_per_item(goal.value, limit, goal) for limit in wanted]
        return critical / min(each)

    def power(self, goal: Goal, items: float) -> float:
        """Power of the test of goodness of fit."""
        assert goal.null is not None
        per_item = chi_squared_per_item(goal.value, goal.null, goal)
        return 1 - float(chndtr(_critical(goal), 1, items * per_item))

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """Kappas whose chi-squared, expected at the value, is just not significant."""
        from scipy.optimize import brentq

        def excess(limit: float) -> float:
            return items * chi_squared_per_item(goal.value, limit, goal) - _critical(goal)

        ends = SMALLEST, 1 - SMALLEST
        lower, upper = (
            float(brentq(excess, goal.value, end)) if excess(end) > 0 else round(end)
            for end in ends
        )
        return lower, upper


CANTOR = ByError("cantor", "https://doi.org/10.1037/1082-989X.1.2.150", cantor_error)
FLACK = ByError("flack", "https://doi.org/10.1007/BF02294215", flack_error)
FIT = ByFit()


def half_width(goal: Goal) -> float:
    """Return the smallest distance from the value to a limit that is wanted.

    Parameters
    ----------
    goal : Goal
        Has a width or limits.

    Returns
    -------
    float
        The distance.
    """
    if goal.width is not None:
        return goal.width / 2
    return min(abs(goal.value - each) for each in (goal.lower, goal.upper) if each is not None)


def _critical(goal: Goal) -> float:
    return float(chdtri(1, 2 * goal.error_rate))
