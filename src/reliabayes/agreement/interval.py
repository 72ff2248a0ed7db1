"""Interval: where a coefficient lies, and how that was found."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.special import ndtr, ndtri, stdtrit

from reliabayes.agreement.cells import ratio
from reliabayes.arrays import Array


@dataclass(frozen=True, kw_only=True)
class Interval:
    """Confidence interval of a coefficient.

    Attributes
    ----------
    lower, upper : float
    prob : float
        Nominal coverage.
    standard_error : float
    method : str
        "percentile", "bca", "jackknife" or "analytic".
    over : str
        What was drawn or left out: "items", "raters" or "both".
    replicates : int
        Bootstrap samples that gave a value; 0 if none were drawn.
    undefined : int
        Samples that gave none.
    """

    lower: float
    upper: float
    prob: float
    standard_error: float
    method: str
    over: str
    replicates: int = 0
    undefined: int = 0

    @classmethod
    def bootstrap(
        cls, values: Array, shares: Array, prob: float, over: str, method: str
    ) -> Interval:
        """Quantiles of those replicates that are defined."""
        defined = values[~np.isnan(values)]
        enough = len(defined) > 1 and not np.isnan(shares).any()
        lower, upper = np.quantile(defined, shares) if enough else (np.nan, np.nan)
        return cls(
            lower=float(lower),
            upper=float(upper),
            prob=prob,
            standard_error=float(defined.std(ddof=1)) if enough else np.nan,
            method=method,
            over=over,
            replicates=len(defined),
            undefined=len(values) - len(defined),
        )

    @classmethod
    def student(cls, value: float, pulls: Array, prob: float, over: str) -> Interval:
        """Student's t around a value, given how much each of n units moves it."""
        n = len(pulls)
        error = float(np.sqrt((pulls**2).sum() * n / (n - 1))) if n > 1 else np.nan
        errors = float(stdtrit(n - 1, (1 + prob) / 2))
        return cls._around(value, error, errors, prob, "jackknife", over)

    @classmethod
    def normal(cls, value: float, error: float, prob: float, over: str) -> Interval:
        """Normal around a value."""
        return cls._around(value, error, float(ndtri((1 + prob) / 2)), prob, "analytic", over)

    @classmethod
    def _around(
        cls, value: float, error: float, errors: float, prob: float, method: str, over: str
    ) -> Interval:
        """So many standard errors to either side."""
        reach = errors * error
        return cls(
            lower=value - reach,
            upper=value + reach,
            prob=prob,
            standard_error=error,
            method=method,
            over=over,
        )


def central_shares(prob: float) -> Array:
    """(2,) shares of a distribution below the ends of its equal-tailed interval."""
    return np.array([(1 - prob) / 2, (1 + prob) / 2])


def bca_shares(shares: Array, values: Array, value: float, pulls: Array) -> Array:
    """(2,) shares corrected for bias and skewness.

    Efron (1987), eq. 2.3 and, for the acceleration, 7.3. A replicate that ties with the value
    counts half; a jackknife that is undefined somewhere gives nan.
    """
    defined = values[~np.isnan(values)]
    below = ratio(np.sum(defined < value) + np.sum(defined <= value), 2 * len(defined))
    bias = ndtri(below)
    acceleration = ratio((pulls**3).sum(), 6 * (pulls**2).sum() ** 1.5, 0.0)
    shifted = bias + ndtri(shares)
    return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)))
