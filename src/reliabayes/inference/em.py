"""Expectation maximisation with acceleration: climb to a mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.time_limit import check_time

Point = Mapping[str, Array]  # parameters by name

LEVEL = 100  # steps that gain nothing, after which a climb ends


class Climb(NamedTuple):
    """Where EM ended, and the objective at each point on the way."""

    point: Point
    path: tuple[float, ...]
    converged: bool

    @property
    def progress(self) -> str:
        """How many steps it took, and what the last ten gained."""
        gained = self.path[-1] - self.path[-11:][0]
        return f"{len(self.path) - 1:,} steps; the last ten gained {gained:.2g} nats"


Evaluate = Callable[[Point], tuple[float, Callable[[], Point]]]


def climb(
    evaluate: Evaluate,
    start: Point,
    *,
    max_iterations: int,
    tolerance: float,
    is_allowed: Callable[[Point], bool] = lambda point: False,
    held: Callable[[Point, Point], Point] = lambda point, inside: point,
) -> Climb:
    """Repeat EM steps until a step changes no parameter by ``tolerance``, or none helps.

    Where the ratings do not inform a parameter, steps go on along a level ridge: the climb also
    ends if a hundred steps have raised the objective by less than ten times the tolerance.
    After every two steps their direction is extrapolated (SQUAREM): EM alone is slow where the
    ratings say little. The extrapolated point is kept only if it is allowed and an EM step from it
    leads to an objective that is no worse.

    Parameters
    ----------
    evaluate : callable
        Gives the objective at a point, and the EM step from there; the two share their work.
    start : mapping of str to array
        Parameters by name.
    max_iterations : int
        Steps at most.
    tolerance : float
        Change of a parameter in one step that ends the climb; a tenth of the gain in nats of a
        hundred steps that does.
    is_allowed : callable
        Whether an extrapolated point is allowed; proportions in it sum to 1 only nearly.
    held : callable
        Gives an extrapolated point in which values outside their ranges are those of a second point
        instead: with many raters nearly every extrapolation has such a value.

    Returns
    -------
    Climb
        The last point, the path of the objective, and whether the climb converged.

    References
    ----------
    Varadhan & Roland (2008), SQUAREM. https://doi.org/10.1111/j.1467-9469.2007.00585.x
    """
    here, (objective, step) = start, evaluate(start)
    path = [objective]
    while len(path) <= max_iterations:
        check_time()
        first = step()
        objective, step = evaluate(first)
        path.append(objective)
        if max(float(np.abs(first[name] - here[name]).max(initial=0)) for name in here) < tolerance:
            return Climb(first, tuple(path), True)
        if len(path) > LEVEL and path[-1] - path[-1 - LEVEL] < 10 * tolerance:
            return Climb(first, tuple(path), True)
        if len(path) > max_iterations:
            return Climb(first, tuple(path), False)
        second = step()
        far = held(_extrapolated(here, first, second), second)
        if is_allowed(far):
            _, step = evaluate(far)
            landed = step()  # its proportions sum to 1; elsewhere the objective means nothing
            objective, step = evaluate(landed)
            if objective >= path[-1]:
                here = landed
                path.append(objective)
                continue
        here = second
        objective, step = evaluate(second)
        path.append(objective)
    return Climb(here, tuple(path), False)


def _extrapolated(start: Point, first: Point, second: Point) -> Point:
    """Limit of the steps if each is to the one before as the second is to the first."""
    move = {name: first[name] - start[name] for name in start}
    bend = {name: second[name] - first[name] - move[name] for name in start}
    length, change = (
        math.sqrt(sum(float((x**2).sum()) for x in each.values())) for each in (move, bend)
    )
    reach = max(1.0, length / change) if change > 0 else 1.0
    return {name: start[name] + 2 * reach * move[name] + reach**2 * bend[name] for name in start}
