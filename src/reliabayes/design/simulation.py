"""Planning by simulated studies, for coefficients without a formula."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from scipy.special import ndtri

from reliabayes.agreement import Coefficient, cohen_kappa, fleiss_kappa, icc
from reliabayes.arrays import Array
from reliabayes.choices import Method
from reliabayes.design.goal import Goal
from reliabayes.design.kappas import half_width
from reliabayes.design.plan import MOST_ITEMS
from reliabayes.ratings import Ratings

LARGE = 2**15  # items of the sample from which a coefficient without a formula has its true value
STEPS = 20  # of the bisection that finds it
FEWEST, FIRST = 5, 40  # items of a study, and of the first that is simulated
PILOTS = 0.2  # of the replicates, for each study on the way to the number of items
CLOSE = 1.3  # ratio of numbers of items from which on the replicates are all simulated
MOST_PILOTS = 12
LEAST_SHIFT = 0.25  # in standard errors, so that a study without power is followed by a larger one


class Estimate(float):
    """A number from simulated studies.

    Attributes
    ----------
    error : float
        Its Monte Carlo standard error.
    """

    error: float

    def __new__(cls, value: float, error: float) -> Estimate:
        """Keep the error with the number."""
        made = super().__new__(cls, value)
        made.error = error
        return made

    def __repr__(self) -> str:
        return f"{float(self):.4g} (Monte Carlo error {self.error:.2g})"


@dataclass(frozen=True)
class Simulation:
    """Planning by simulated studies, whose intervals are those of the coefficient over items.

    A study rejects the null value if its interval is on the other side of it. Ratings of
    categories are those of the model behind the formulas of kappas: all raters agree on an item
    with some probability, else they are independent. Scores are normal, with an ICC; raters do not
    differ in severity. The probability or the ICC is the one that gives the expected value.

    Attributes
    ----------
    replicates : int, default 1000
        Number of studies. The Monte Carlo error falls with its root.
    seed : int, default 0
        The same seed gives the same studies.
    scale : {"nominal", "ordered"}, default "nominal"
        Scale of ratings of categories; coefficients with weights need ordered ones.
    interval : str, optional
        Method of the intervals, such as "analytic", by which formulas of kappas go; by default that
        of `Coefficient.interval` over items. That of kappas keeps limits below 1 and needs more
        items to reject a smaller value.

    Examples
    --------
    >>> import reliabayes as rb
    >>> method = rb.design.Simulation(replicates=100, seed=1)
    >>> rb.design.power("icc", items=36, value=0.75, null=0.5, tails=1, method=method)
    0.8 (Monte Carlo error 0.04)
    """

    replicates: int = 1000
    seed: int = 0
    scale: Literal["nominal", "ordered"] = "nominal"
    interval: Method | None = None

    name: ClassVar[str] = "simulation"
    doi: ClassVar[str] = ""

    def items(self, goal: Goal) -> Estimate:
        """Number of items that reach the goal, by studies of nearly that size."""
        studies = _Studies.of(goal, self)
        number, pilots = FIRST, max(20, math.ceil(PILOTS * self.replicates))
        for _ in range(MOST_PILOTS):
            found = studies.needed(number, pilots)
            nearer = min(MOST_ITEMS, max(FEWEST, round(found)))
            is_close = max(nearer, number) <= CLOSE * min(nearer, number)
            number = nearer
            if is_close:
                break
        return studies.needed(number, self.replicates)

    def power(self, goal: Goal, items: float) -> Estimate:
        """Proportion of studies that reject the null value."""
        rejects = _Studies.of(goal, self).rejections(int(items), self.replicates)
        share = float(rejects.mean())
        return Estimate(share, math.sqrt(share * (1 - share) / len(rejects)))

    def limits(self, goal: Goal, items: float) -> tuple[Estimate, Estimate]:
        """Mean limits of the intervals."""
        found = _Studies.of(goal, self).limits(int(items), self.replicates)
        lower, upper = (_mean(each) for each in found.T)
        return lower, upper

    def width(self, goal: Goal, items: float) -> Estimate:
        """Mean width of the intervals."""
        found = _Studies.of(goal, self).limits(int(items), self.replicates)
        return _mean(found[:, 1] - found[:, 0])


@dataclass(frozen=True)
class _Studies:
    """Studies of a goal: how their ratings are drawn, and the coefficient that they have."""

    goal: Goal
    options: Simulation
    coefficient: Callable[[Ratings], Coefficient]
    draw: Callable[[Array], Array]  # ratings (I, R), given uniform numbers (I, R + 2)

    @classmethod
    def of(cls, goal: Goal, options: Simulation) -> _Studies:
        if goal.has_categories and not np.allclose(*goal.shares):
            raise ValueError(
                'method "simulation" supposes that raters have the same proportions; these '
                "differ. Pass one proportion of each category."
            )
        coefficient = _coefficient(goal)
        drawing = _categories if goal.has_categories else _scores
        blank = cls(goal, options, coefficient, partial(drawing, goal, 0.5))
        return replace(blank, draw=partial(drawing, goal, blank._agreement(drawing)))

    def needed(self, items: int, number: int) -> Estimate:
        """Items that reach the goal, if errors fall with their root, from studies with some."""
        if self.goal.null is not None:
            rejects = self.rejections(items, number)
            share = np.clip(rejects.mean(), 0.5 / number, 1 - 0.5 / number)
            height = math.exp(-0.5 * ndtri(share) ** 2) / math.sqrt(2 * math.pi)
            error = math.sqrt(share * (1 - share) / number) / height
            shift = max(LEAST_SHIFT, self.goal.critical + float(ndtri(share)))
            ratio = self.goal.distance / shift
            return Estimate(items * ratio**2, 2 * items * ratio**2 * error / shift)
        limits, value = self.limits(items, number), self.goal.value
        if self.goal.width is not None:
            wide = [(limits[:, 1] - limits[:, 0]) / 2]
        else:
            wide = [value - limits[:, 0]] if self.goal.lower is not None else []
            wide += [limits[:, 1] - value] if self.goal.upper is not None else []
        mean = max(map(_mean, wide))
        ratio = mean / half_width(self.goal)
        return Estimate(items * ratio**2, 2 * items * ratio**2 * mean.error / mean)

    def rejections(self, items: int, number: int) -> Array:
        """Whether each study's interval is on the value's side of the null value."""
        assert self.goal.null is not None
        limits = self.limits(items, number)
        is_above = self.goal.value > self.goal.null
        far = limits[:, 0] > self.goal.null if is_above else limits[:, 1] < self.goal.null
        return far.astype(np.float64)

    def limits(self, items: int, number: int) -> Array:
        """(N, 2) limits of the intervals of some studies; nan where the coefficient has none."""
        prob = 1 - 2 * self.goal.error_rate
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [self._interval(each, prob) for each in self._ratings(items, number)]
        return np.array(found)

    def _interval(self, ratings: Ratings, prob: float) -> tuple[float, float]:
        interval = self.coefficient(ratings).interval(
            prob, over="items", method=self.options.interval
        )
        return interval.lower, interval.upper

    def _ratings(self, items: int, number: int) -> Iterator[Ratings]:
        rng = np.random.default_rng([self.options.seed, items])
        blank = self._blank(items)
        for _ in range(number):
            drawn = self.draw(rng.random((items, self.goal.raters + 2)))
            yield _rerated(blank, drawn)

    def _blank(self, items: int) -> Ratings:
        """Arbitrary ratings of every item by every rater."""
        wide = np.arange(items * self.goal.raters).reshape(items, self.goal.raters)
        if not self.goal.has_categories:
            return Ratings.from_wide(wide, scale="numeric")
        size = self.goal.shares.shape[1]
        return Ratings.from_wide(wide % size, scale=self.options.scale, categories=range(size))

    def _agreement(self, drawing: Callable[[Goal, float, Array], Array]) -> float:
        """Probability of agreeing, or ICC, with which the coefficient has the expected value."""
        value, raters = self.goal.value, self.goal.raters
        if self.goal.what == "alpha":
            value = value / (raters - (raters - 1) * value)
        if isinstance(self.goal.what, str):
            if value < 0:
                raise ValueError(f'value must be 0 or more for method "simulation", not {value:g}.')
            return value
        from scipy.stats.qmc import Sobol

        uniform = Sobol(raters + 2, seed=self.options.seed).random(LARGE)
        blank = self._blank(LARGE)

        def found(agreement: float) -> float:
            return self.coefficient(_rerated(blank, drawing(self.goal, agreement, uniform))).value

        low, high = 0.0, 1.0 - 1 / LARGE
        least, most = found(low), found(high)
        if not least <= value <= most:
            raise ValueError(
                f"value must be from {least:.3g} to {most:.3g}, between raters who agree by chance "
                f"and raters who always agree; found {value:g}."
            )
        for _ in range(STEPS):
            middle = (low + high) / 2
            low, high = (low, middle) if found(middle) > value else (middle, high)
        return (low + high) / 2


def _categories(goal: Goal, agreement: float, uniform: Array) -> Array:
    edges = goal.shares[0].cumsum()[:-1]
    category = np.searchsorted(edges, uniform[:, 1:], side="right")
    agrees = uniform[:, :1] < agreement
    return np.where(agrees, category[:, :1], category[:, 1:]).astype(np.float64)


def _scores(goal: Goal, agreement: float, uniform: Array) -> Array:
    normal = ndtri(np.clip(uniform[:, 1:], np.finfo(float).tiny, 1 - np.finfo(float).epsneg))
    scores = math.sqrt(agreement) * normal[:, :1] + math.sqrt(1 - agreement) * normal[:, 1:]
    return np.asarray(scores, np.float64)


def _rerated(blank: Ratings, drawn: Array) -> Ratings:
    rating = drawn.ravel()
    if blank.scale == "numeric":
        return replace(blank, rating=rating)
    return replace(blank, rating=rating.astype(np.int32))


def _coefficient(goal: Goal) -> Callable[[Ratings], Coefficient]:
    if not isinstance(goal.what, str):
        return goal.what
    if goal.what == "kappa":
        return cohen_kappa if goal.raters == 2 else fleiss_kappa
    if goal.what == "icc":
        return partial(icc, name="ICC(3,1)")  # raters do not differ in severity
    return partial(icc, name="ICC(3,k)")


def _mean(values: Array) -> Estimate:
    known = values[np.isfinite(values)]
    return Estimate(float(known.mean()), float(known.std(ddof=1) / math.sqrt(len(known))))
