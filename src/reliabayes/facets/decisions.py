"""Decisions on the object of measurement by means of ratings: their reliability and their error."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.facets.design import MeasurementDesign, Source

COEFFICIENTS = ("g", "phi", "sem_relative", "sem_absolute", "mdc")  # of a decision
DETECTABLE = 1.96 * math.sqrt(2)  # standard errors that two measurements differ by, as published


@dataclass(frozen=True)
class Decision:
    """Measurement by the mean of ratings under several levels of each facet: a D study.

    A facet in which nothing is nested, such as a rater, is sampled anew for each measurement unless
    it is fixed. The variance of a source, divided by the number of its levels that a mean has,
    belongs to the universe score if it has to do with the object of measurement and fixed facets
    only, to the error of absolute decisions if it has to do with another random facet, and to the
    error of relative decisions, which compare objects, if it has to do with both.

    Attributes
    ----------
    design : MeasurementDesign
        Which facets are crossed or nested.
    sources : tuple of Source
        Sources of variance.
    variance : array of float, shape (..., K)
        Variance of each source.
    levels : mapping of str to int or array
        Number of levels of facets, within each level of those in which they are nested; 1 of
        facets that it does not name. "replicate" is the number of ratings that agree in all.
    fixed : frozenset of str
        Facets that have the same levels in every measurement.

    References
    ----------
    Brennan (2001), Generalizability Theory, sections 4.1 and 5.1.
    https://doi.org/10.1007/978-1-4757-3456-0
    """

    design: MeasurementDesign
    sources: tuple[Source, ...]
    variance: Array
    levels: Mapping[str, Any]
    fixed: frozenset[str] = frozenset()

    def __post_init__(self) -> None:
        random = [*self.design.facets, "replicate"]
        free = [name for name in random if name not in self.design.measured]
        _check_names("levels", self.levels, free)
        _check_names("fixed", self.fixed, free)
        for name, number in self.levels.items():
            if not (np.asarray(number) > 0).all():
                raise ValueError(f"levels of {name!r} must be above 0; found {number}.")

    @property
    def universe(self) -> Array:
        """Variance (...) of universe scores: what the object's mean over all ratings has."""
        return self._sum(lambda measured, random: measured and not random)

    @property
    def relative(self) -> Array:
        """Variance (...) of the error of relative decisions."""
        return self._sum(lambda measured, random: measured and random)

    @property
    def absolute(self) -> Array:
        """Variance (...) of the error of absolute decisions."""
        return self._sum(lambda measured, random: random)

    @property
    def g(self) -> Array:
        """Generalizability coefficient (...), of relative decisions, in [0, 1]; nan of 0 / 0."""
        return self._reliability(self.relative)

    @property
    def phi(self) -> Array:
        """Index of dependability (...), of absolute decisions, in [0, 1]; nan of 0 / 0."""
        return self._reliability(self.absolute)

    @property
    def sem_relative(self) -> Array:
        """Standard error (...) of measurement of relative decisions, in units of the rating."""
        return np.sqrt(self.relative)

    @property
    def sem_absolute(self) -> Array:
        """Standard error (...) of measurement of absolute decisions, in units of the rating."""
        return np.sqrt(self.absolute)

    @property
    def mdc(self) -> Array:
        """Minimal detectable change (...): what error alone exceeds in 5% of pairs of means."""
        return DETECTABLE * self.sem_absolute

    def _reliability(self, error: Array) -> Array:
        with np.errstate(invalid="ignore"):  # nothing varies
            return np.asarray(self.universe / (self.universe + error))

    def _sum(self, belongs: Any) -> Array:
        total = np.zeros(np.shape(self.variance)[:-1])
        for position, source in enumerate(self.sources):
            others = source.facets - self.design.measured
            if belongs(bool(source.facets & self.design.measured), bool(others - self.fixed)):
                number = math.prod(np.asarray(self.levels.get(name, 1)) for name in others)
                total = total + self.variance[..., position] / number
        return np.asarray(total)


def numbers_of_levels(levels: Mapping[str, Any]) -> dict[str, Array]:
    """Whole numbers of levels to study, by facet, or a ValueError."""
    numbers = {name: np.atleast_1d(number) for name, number in levels.items()}
    for name, values in numbers.items():
        if values.ndim > 1 or values.dtype.kind not in "iu":
            raise ValueError(f"levels of {name!r} must be whole numbers; found {levels[name]!r}.")
    return numbers


def _check_names(argument: str, names: Collection[str], known: Collection[str]) -> None:
    for name in names:
        if name not in known:
            raise ValueError(
                f"{argument} must name facets other than the object of measurement, which are "
                f"{', '.join(known)}; found {name!r}."
            )
