"""Where a program samples raters' log odds of errors: relative to their own ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.problem import StanData


@dataclass(frozen=True, eq=False)
class LogOddsCentring:
    """Each rater's log odds of errors by their own ratings alone.

    Attributes
    ----------
    log_odds_mean, log_odds_precision : array of shape (E, R)
        Mean and precision; the program samples effects relative to both.
    """

    log_odds_mean: Array
    log_odds_precision: Array

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        return StanData(values=vars(self))


def centre_and_scale(point: Mapping[str, Any], centring: LogOddsCentring) -> tuple[Array, Array]:
    """Mean and scale of effects (..., E, R) of which the unconstrained are standard scores."""
    location, spread = (np.asarray(point[name])[..., None] for name in ("location", "spread"))
    precision = centring.log_odds_precision
    variance = 1 / (1 + spread**2 * precision)
    return variance * spread * precision * (centring.log_odds_mean - location), np.sqrt(variance)
