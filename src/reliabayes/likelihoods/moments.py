"""Mean and standard deviation of ratings, from sums that do not depend on their order."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from reliabayes.arrays import Array

SAMPLE = 1000  # ratings that tell roughly where all are


@dataclass(frozen=True)
class Moments:
    """Number, sum and sum of squares of ratings less a pivot.

    The pivot is a multiple of a power of two. For whole numbers, and other numbers with few binary
    digits, all sums are then exact, whatever the order of the ratings and the pivot.

    Attributes
    ----------
    pivot : float
        Subtracted from each rating.
    n : int
        Number of ratings.
    total, square : float
        Sum of the differences, and of their squares.
    """

    pivot: float
    n: int
    total: float
    square: float

    @classmethod
    def of(cls, values: Array, pivot: float | None = None) -> Moments:
        """Moments of ratings (N,), by default relative to a pivot near the first of them."""
        if pivot is None:
            pivot = near(values)
        left = values - pivot
        return cls(pivot, len(values), float(left.sum()), float(left @ left))

    def __add__(self, other: Moments) -> Moments:
        """Moments of both parts, which have the same pivot."""
        total, square = self.total + other.total, self.square + other.square
        return Moments(self.pivot, self.n + other.n, total, square)

    def about(self, pivot: float) -> Moments:
        """The same relative to another pivot."""
        shift = pivot - self.pivot
        square = self.square - 2 * shift * self.total + shift**2 * self.n
        return Moments(pivot, self.n, self.total - shift * self.n, square)

    @property
    def mean(self) -> float:
        """Mean of the ratings; infinite or not a number if sums overflow."""
        if not math.isfinite(self.total):
            return math.nan
        return float(Fraction(self.pivot) + Fraction(self.total) / self.n)

    @property
    def sd(self) -> float:
        """Standard deviation of the ratings, as of a population; infinite if squares overflow."""
        if not (math.isfinite(self.total) and math.isfinite(self.square)):
            return math.inf
        variance = Fraction(self.square) / self.n - (Fraction(self.total) / self.n) ** 2
        return math.sqrt(float(max(variance, Fraction(0))))

    @property
    def centre(self) -> float:
        """The mean, rounded to a multiple of a power of two, no larger than the sd."""
        return on_grid(self.mean, self.sd)


def near(values: Array) -> float:
    """A multiple of a power of two near the first of the ratings."""
    some = values[:SAMPLE]
    with np.errstate(all="ignore"):
        return on_grid(float(some.mean()), float(some.std()))


def on_grid(mean: float, sd: float) -> float:
    """A number rounded to a multiple of the largest power of two that is at most sd.

    0 if a number is not finite; the number itself if sd is 0 or far below it.
    """
    if not (math.isfinite(mean) and math.isfinite(sd)):
        return 0.0
    if sd == 0:
        return mean
    unit = math.ldexp(1.0, math.frexp(sd)[1] - 1)
    steps = mean / unit
    return round(steps) * unit if math.isfinite(steps) else mean
