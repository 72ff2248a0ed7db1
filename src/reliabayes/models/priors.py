"""Priors a user may set, in the units of the ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass


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


def _check_scale(prior: object, scale: float) -> None:
    if not 0 < scale < math.inf:
        raise ValueError(f"The scale of a prior must be finite and above 0, not {prior}.")
