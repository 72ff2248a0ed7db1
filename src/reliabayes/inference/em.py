"""Expectation maximisation with acceleration: climb to a mode."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array

Point = Mapping[str, Array]  # parameters by name


class Climb(NamedTuple):
    """Where EM ended, and how it came there: the objective at each point on the way."""

    point: Point
    path: tuple[float, ...]
    converged: bool


Evaluate = Callable[[Point], tuple[float, Callable[[], Point]]]


def climb(
    evaluate: Evaluate,
    start: Point,
    *,
    most: int,
    tolerance: float,
    leap: Callable[[Point], bool] = lambda point: False,
) -> Climb:
    """Step until a step of EM changes no parameter by ``tolerance``, or ``most`` times.

    After every two steps the way they point is followed further, as far as their change tells, if
    the point there is allowed and a step from it leads to none worse: EM alone is slow where little
    is known.

    Parameters
    ----------
    evaluate : objective at a point, and the step from there, which share their work
    leap : whether a point is allowed; shares in it may sum to 1 only nearly

    References
    ----------
    Varadhan & Roland (2008), SQUAREM. https://doi.org/10.1111/j.1467-9469.2007.00585.x
    """
    here, (objective, step) = start, evaluate(start)
    path = [objective]
    while len(path) <= most:
        first = step()
        objective, step = evaluate(first)
        path.append(objective)
        if max(float(np.abs(first[name] - here[name]).max(initial=0)) for name in here) < tolerance:
            return Climb(first, tuple(path), True)
        second = step()
        far = _extrapolated(here, first, second)
        if leap(far):
            _, step = evaluate(far)
            landed = step()  # whose shares sum to 1: where they do not, the objective deceives
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
    """Where two steps lead if the second is to the first as all later ones are to those before."""
    move = {name: first[name] - start[name] for name in start}
    bend = {name: second[name] - first[name] - move[name] for name in start}
    length, change = (
        math.sqrt(sum(float((x**2).sum()) for x in way.values())) for way in (move, bend)
    )
    reach = max(1.0, length / change) if change > 0 else 1.0
    return {name: start[name] + 2 * reach * move[name] + reach**2 * bend[name] for name in start}
