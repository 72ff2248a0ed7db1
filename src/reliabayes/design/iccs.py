"""Items needed for intraclass correlations and Cronbach's alpha."""

from __future__ import annotations

import math
from dataclasses import dataclass

from scipy.special import ndtr

from reliabayes.design.goal import Goal
from reliabayes.design.kappas import half_width
from reliabayes.design.plan import first_whole, not_available

HIGH = 0.7  # ICC from which two raters need the correction of Bonett (2002)


@dataclass(frozen=True)
class Walter:
    """Test of an ICC by the logarithm of its F ratio.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    """

    name: str = "walter"
    doi: str = "https://doi.org/10.1002/(SICI)1097-0258(19980115)17:1<101::AID-SIM727>3.0.CO;2-E"

    def items(self, goal: Goal) -> float:
        """Walter, Eliasziw & Donner (1998), eq. 6; Zou (2012) has the same."""
        k = goal.raters
        return 1 + 2 * k * (goal.distance / _log_ratio(goal)) ** 2 / (k - 1)

    def power(self, goal: Goal, items: float) -> float:
        """Power, of two tails that of the nearer one."""
        k = goal.raters
        errors = _log_ratio(goal) * math.sqrt((items - 1) * (k - 1) / (2 * k))
        return float(ndtr(errors - goal.critical))

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """It has none."""
        raise not_available(self.name, "interval", 'Pass method="bonett".')


@dataclass(frozen=True)
class Bonett:
    """Width of the interval of an ICC.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    correction : float
        Multiple of 5 ICC that items have less than the formula counts, for two raters and a high
        ICC: 1, or -1 as presize has it.
    """

    name: str = "bonett"
    doi: str = "https://doi.org/10.1002/sim.1108"
    correction: float = 1.0

    def items(self, goal: Goal) -> float:
        """Bonett (2002), eq. 3, with 5 ICC more items for two raters and a high ICC."""
        number = 1 + (goal.critical * _spread(goal) / half_width(goal)) ** 2
        return number + (_extra(goal) if goal.width is not None else 0)

    def power(self, goal: Goal, items: float) -> float:
        """It has none."""
        raise not_available(self.name, "power", 'Pass method="walter".')

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """The ICC less and plus half the width."""
        number = items - self.correction * _extra(goal)
        half = goal.critical * _spread(goal) / math.sqrt(max(number - 1, 1e-9))
        return goal.value - half, goal.value + half


@dataclass(frozen=True)
class BonettWright:
    """Test and width of Cronbach's alpha, by the logarithm of 1 - alpha.

    Attributes
    ----------
    name, doi : str
        What the method is called, and where it was published.
    """

    name: str = "bonett-wright"
    doi: str = "https://doi.org/10.1002/job.1960"

    def items(self, goal: Goal) -> float:
        """Bonett & Wright (2015)."""
        k = goal.raters
        if goal.null is not None:
            ratio = math.log((1 - goal.null) / (1 - goal.value))
            return 2 + 2 * k * (goal.distance / ratio) ** 2 / (k - 1)
        return float(first_whole(lambda n: self._keeps(goal, n), 3))

    def power(self, goal: Goal, items: float) -> float:
        """Power, of two tails that of the nearer one."""
        assert goal.null is not None
        ratio = abs(math.log((1 - goal.null) / (1 - goal.value)))
        return float(ndtr(ratio / self._error(goal, items) - goal.critical))

    def limits(self, goal: Goal, items: float) -> tuple[float, float]:
        """Limits on the scale of the logarithm, corrected for bias."""
        far = math.exp(goal.critical * self._error(goal, items))
        rest = (1 - goal.value) * (items - 1) / items
        return 1 - rest * far, 1 - rest / far

    def _keeps(self, goal: Goal, items: int) -> bool:
        """Whether the interval has its width, or is within the limits that are wanted."""
        lower, upper = self.limits(goal, items)
        if goal.width is not None:
            return upper - lower <= goal.width
        is_low = goal.lower is not None and lower < goal.lower
        return not (is_low or (goal.upper is not None and upper > goal.upper))

    def _error(self, goal: Goal, items: float) -> float:
        k = goal.raters
        return math.sqrt(2 * k / ((k - 1) * max(items - 2, 1e-9)))


def _log_ratio(goal: Goal) -> float:
    """Distance of two ICCs on the scale of the logarithm of F."""
    assert goal.null is not None
    k = goal.raters
    f_ratios = [(1 + (k - 1) * icc) / (1 - icc) for icc in (goal.value, goal.null)]
    return abs(math.log(f_ratios[0] / f_ratios[1]))


def _spread(goal: Goal) -> float:
    """Standard error of the ICC for one item."""
    k, icc = goal.raters, goal.value
    return math.sqrt(2 / (k * (k - 1))) * (1 - icc) * (1 + (k - 1) * icc)


def _extra(goal: Goal) -> float:
    return 5 * goal.value if goal.raters == 2 and goal.value >= HIGH else 0.0
