"""Expectation maximisation: a fast point estimate, and where chains start."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes import quantities
from reliabayes.ratings import Ratings
from reliabayes.summaries import scalars

if TYPE_CHECKING:
    from reliabayes.models.annotation import AnnotationModel

Array = NDArray[np.float64]
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


@dataclass(frozen=True, eq=False, repr=False)
class PointEstimate:
    """Most likely parameters of a model given ratings, without uncertainty.

    Attributes
    ----------
    model : the model
    ratings : the data
    parameters : Dataset of the parameters, the user's ids as coords
    log_likelihood : of all ratings, true categories summed out, in nats
    path : objective after each iteration, which never goes down
    converged : whether the last iteration gained too little to go on
    """

    model: AnnotationModel
    ratings: Ratings
    parameters: xr.Dataset
    log_likelihood: float
    path: tuple[float, ...]
    converged: bool

    def __repr__(self) -> str:
        state = "converged" if self.converged else "not converged"
        return (
            f"PointEstimate({type(self.model).__name__}, {state} after {len(self.path) - 1} "
            f"iterations, log-likelihood {self.log_likelihood:.4f}, {self.ratings!r})"
        )

    @property
    def bits_per_rating(self) -> float:
        """Bits needed to tell a rating, if one knows the model: the lower, the better it fits."""
        return quantities.bits_per_rating(self.log_likelihood, len(self.ratings))

    @cached_property
    def quantities(self) -> xr.Dataset:
        """What the model reports, at this point."""
        found = self.model.quantities(self._draw, self.ratings)
        return found.isel(chain=0, draw=0, drop=True)

    def summary(self, names: Sequence[str] | None = None) -> pd.DataFrame:
        """Estimate of each quantity in a row; by default of those that are not of single raters."""
        if names is None:
            names = [str(name) for name, x in self.quantities.items() if "rater" not in x.dims]
        rows = dict(row for name in names for row in scalars(name, self.quantities[name]))
        return pd.DataFrame({"estimate": pd.Series(rows, dtype=float)}).rename_axis("quantity")

    def items(self) -> pd.DataFrame:
        """What is known of each item, by the user's ids; columns as of `Fit.items`."""
        table = self.model.items(self._draw, self.ratings, prob=None)
        table.insert(0, "ratings", self.ratings.ratings_per_item)
        return table

    def raters(self) -> pd.DataFrame:
        """What is known of each rater, by the user's ids; columns as of `Fit.raters`."""
        table = self.model.raters(self._draw, self.ratings, prob=None)
        table.insert(0, "ratings", self.ratings.ratings_per_rater)
        return table

    def category_probabilities(self) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, by the user's ids."""
        return self.model.category_probabilities(self._draw, self.ratings)

    @property
    def _draw(self) -> xr.Dataset:
        """The parameters as if they were a single draw."""
        known = self.parameters.assign(log_likelihood=self.log_likelihood)
        return known.expand_dims(("chain", "draw"))
