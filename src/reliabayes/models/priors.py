"""Priors a user may set; those of means and standard deviations in the units of the ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import log_ndtr

from reliabayes.arrays import Array


@dataclass(frozen=True)
class Normal:
    """Normal prior of a location: finite ``mean``, ``sd`` above 0; an infinite ``sd`` is flat."""

    mean: float
    sd: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and self.sd > 0):
            raise ValueError(f"A normal prior needs a finite mean and an sd above 0, not {self}.")

    @property
    def stan(self) -> list[float]:
        """Mean and sd, as Stan reads them."""
        return [self.mean, self.sd]


@dataclass(frozen=True)
class HalfNormal:
    """Half normal prior of a standard deviation, with a finite ``scale`` above 0."""

    scale: float

    def __post_init__(self) -> None:
        _check_scale(self, self.scale)

    @property
    def stan(self) -> list[float]:
        """Degrees of freedom and scale, as Stan reads them: a half t with infinite df."""
        return [math.inf, self.scale]


@dataclass(frozen=True)
class HalfStudentT:
    """Half Student t prior of a standard deviation, with finite ``df`` and ``scale`` above 0."""

    df: float
    scale: float

    def __post_init__(self) -> None:
        _check_scale(self, self.scale)
        if not 0 < self.df < math.inf:
            raise ValueError(f"df must be finite and above 0, not {self}. See HalfNormal.")

    @property
    def stan(self) -> list[float]:
        """Degrees of freedom and scale, as Stan reads them."""
        return [self.df, self.scale]


@dataclass(frozen=True)
class Beta:
    """Beta prior of a probability, with finite ``a`` and ``b`` above 0; Beta(1, 1) is uniform."""

    a: float
    b: float

    def __post_init__(self) -> None:
        _check_scale(self, self.a)
        _check_scale(self, self.b)

    @property
    def stan(self) -> list[float]:
        """Both, as Stan reads them."""
        return [self.a, self.b]


@dataclass(frozen=True)
class Dirichlet:
    """Dirichlet prior of the shares of categories; 1 is uniform.

    Parameters
    ----------
    concentration : one number above 0 for all categories, or one for each
    """

    concentration: float | tuple[float, ...] = 1.0

    def __post_init__(self) -> None:
        if not isinstance(self.concentration, (int, float)):
            object.__setattr__(self, "concentration", tuple(map(float, self.concentration)))
        for number in np.atleast_1d(self.concentration):
            _check_scale(self, float(number))

    def of(self, n_categories: int) -> Array:
        """Concentrations (K,)."""
        numbers = np.atleast_1d(np.asarray(self.concentration, float))
        if len(numbers) not in (1, n_categories):
            raise ValueError(
                f"{self} has {len(numbers)} numbers for {n_categories} categories. Give one for "
                "all, or one for each."
            )
        return np.resize(numbers, n_categories)

    def rows(self, n_categories: int) -> Array:
        """Concentrations (K, K) of alike rows of a confusion matrix."""
        return np.tile(self.of(n_categories), (n_categories, 1))

    def mean(self, n_categories: int) -> Array:
        """Expected shares (K,)."""
        numbers = self.of(n_categories)
        return np.asarray(numbers / numbers.sum())


@dataclass(frozen=True)
class DiagonalDirichlet:
    """Dirichlet priors of the rows of a confusion matrix that expect raters to be mostly right.

    Parameters
    ----------
    weight : ratings of each true category that the prior counts as, above 0
    accuracy : share of them that is right, in (0, 1)
    """

    weight: float = 8.0
    accuracy: float = 0.6

    def __post_init__(self) -> None:
        _check_scale(self, self.weight)
        if not 0 < self.accuracy < 1:
            raise ValueError(f"accuracy must lie strictly between 0 and 1, not {self}.")

    def rows(self, n_categories: int) -> Array:
        """Concentrations (K, K), a row for each true category."""
        wrong = self.weight * (1 - self.accuracy) / (n_categories - 1)
        rows = np.full((n_categories, n_categories), wrong)
        np.fill_diagonal(rows, self.weight * self.accuracy)
        return rows


@dataclass(frozen=True)
class RestrictedNormal:
    """Normal prior restricted to [0, 1]; of the probability of the second of two categories.

    Parameters
    ----------
    location : its mean were it not restricted, finite
    sd : its standard deviation were it not restricted, above 0
    """

    location: float
    sd: float

    def __post_init__(self) -> None:
        if not math.isfinite(self.location):
            raise ValueError(f"The location of a prior must be finite, not {self}.")
        _check_scale(self, self.sd)

    def mean(self, n_categories: int) -> Array:
        """Expected shares (2,) of the categories."""
        if n_categories != 2:
            raise ValueError(f"{self} is a prior for 2 categories, not {n_categories}.")
        second = self.location + self.sd * _restricted_mean(
            (0 - self.location) / self.sd, (1 - self.location) / self.sd
        )
        return np.array([1 - second, second])


def _restricted_mean(lower: float, upper: float) -> float:
    """Mean of a standard normal restricted to an interval, however far from 0 it lies."""
    if lower + upper < 0:
        return -_restricted_mean(-upper, -lower)
    # Densities and tails beyond the ends, as shares of those beyond the lower one.
    hazard = math.exp(-0.5 * lower**2 - 0.5 * math.log(2 * math.pi) - log_ndtr(-lower))
    beyond = math.expm1(log_ndtr(-upper) - log_ndtr(-lower))
    return hazard * math.expm1(0.5 * (lower**2 - upper**2)) / beyond


def _check_scale(prior: object, scale: float) -> None:
    if not 0 < scale < math.inf:
        raise ValueError(f"The numbers of this prior must be finite and above 0, not {prior}.")
