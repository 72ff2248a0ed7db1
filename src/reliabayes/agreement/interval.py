"""Confidence intervals of coefficients, and the options of how to compute them."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import get_args

import numpy as np
import pandas as pd
from scipy.special import ndtr, ndtri, stdtrit

from reliabayes.agreement.arithmetic import ratio
from reliabayes.arrays import Array
from reliabayes.choices import AnyMethod, Method, Over
from reliabayes.reporting.methods import Clause

FOR_WHOM: Mapping[Over, str] = {
    "items": "for other {items} and the same {raters}",
    "raters": "for the same {items} and other {raters}",
    "both": "for other {items} and other {raters}",
}
HOW: Mapping[AnyMethod, tuple[str, tuple[str, ...]]] = {  # each with its references
    "model": ("from a model of normal effects", ("mcgraw1996",)),
    "log": ("by Student's t on the scale of log(1 - coefficient)", ()),
    "percentile": ("by the percentile bootstrap", ()),
    "bca": ("by the bias-corrected and accelerated bootstrap", ("efron1987",)),
    "jackknife": ("by the jackknife", ()),
    "analytic": ("by the delta method", ()),
    "lin": ("by Fisher's z", ("lin1989", "lin2000")),
    "exact": ("exact for normal differences", ("carkeet2015",)),
    "mover": ("by the method of variance estimates recovery", ("zou2009",)),
    "approximate": ("approximate", ("bland1999",)),
    "chi-squared": ("exact for normal ratings", ()),
}


@dataclass(frozen=True, kw_only=True, repr=False)
class Interval:
    """Confidence interval of a coefficient, or of another estimate.

    Attributes
    ----------
    lower, upper : float
        Limits of the interval.
    prob : float
        Nominal coverage.
    standard_error : float
        Standard error of the coefficient.
    method : str
        How the interval was computed, in the words of the function that did.
    over : {"items", "raters", "both"}
        What counts as a sample from a larger population.
    replicates : int, default 0
        Number of bootstrap samples with a defined value; 0 without a bootstrap.
    undefined : int, default 0
        Number of bootstrap samples in which the coefficient is undefined.
    value : float, default nan
        The estimate, of limits of agreement and of errors of measurement.
    """

    lower: float
    upper: float
    prob: float
    standard_error: float
    method: AnyMethod
    over: Over
    replicates: int = 0
    undefined: int = 0
    value: float = field(default=math.nan, compare=False)  # nan equals nothing, not itself

    def __float__(self) -> float:
        return self.value

    def __repr__(self) -> str:
        limits = f"{self.lower:.4g} to {self.upper:.4g}"
        if not math.isnan(self.value):
            limits = f"{self.value:.4g}, {limits}"
        return f"Interval({limits}, {100 * self.prob:g}% over {self.over}, method {self.method!r})"

    def _repr_html_(self) -> str:
        who = {"items": "other items", "raters": "other raters"}
        words = (
            f"{100 * self.prob:g}% interval from {self.lower:.2f} to {self.upper:.2f}, for "
            f"{who.get(self.over, 'other items and other raters')}"
        )
        columns = ("lower", "upper", "standard_error", "method", "over")
        row = pd.DataFrame([{name: getattr(self, name) for name in columns}])
        return f"<p>{words}</p>{row.round(4).to_html(index=False)}"

    def clause(self, *, anonymous: bool = False, bounded: bool = True) -> Clause:
        """Say in a paper how the interval was computed, and what it is for.

        Parameters
        ----------
        anonymous : bool, default False
            Whether raters are unknown, so that they cannot be called the same.
        bounded : bool, default True
            Whether the coefficient has a largest value, from which logarithms are taken.

        Returns
        -------
        Clause
        """
        how, references = HOW[self.method]
        if self.method == "log" and not bounded:
            how = "by Student's t"
        what = FOR_WHOM[self.over]
        if self.over == "items" and anonymous:
            what = "for other {items}"
        draws = f" of {self.replicates:,} samples" if self.replicates else ""
        return Clause(f"the interval, {how}{draws}, is {what}", references)

    @classmethod
    def bootstrap(
        cls, values: Array, probabilities: Array, prob: float, over: Over, method: Method
    ) -> Interval:
        """Interval between two quantiles of the defined replicates."""
        defined = values[~np.isnan(values)]
        enough = len(defined) > 1 and not np.isnan(probabilities).any()
        lower, upper = np.quantile(defined, probabilities) if enough else (np.nan, np.nan)
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
    def student(cls, value: float, influences: Array, prob: float, over: Over) -> Interval:
        """Student's t interval around a value, given the jackknife influence of each unit."""
        n = len(influences)
        error = float(np.sqrt((influences**2).sum() * n / (n - 1))) if n > 1 else np.nan
        return cls.around(value, error, n - 1, prob, "jackknife", over)

    @classmethod
    def around(
        cls,
        value: float,
        error: float,
        freedom: float,
        prob: float,
        method: Method,
        over: Over,
        *,
        limit: float | None = None,
    ) -> Interval:
        """Student's t interval, on the scale log(limit - value) if there is a limit."""
        reach = float(stdtrit(freedom, (1 + prob) / 2)) * error
        if limit is None or value >= limit:
            lower, upper = value - reach, value + reach
        else:
            gap = limit - value
            with np.errstate(over="ignore"):
                lower, upper = limit - gap * np.exp(np.array([reach, -reach]) / gap)
        return cls(
            lower=float(lower),
            upper=float(upper),
            prob=prob,
            standard_error=error,
            method=method,
            over=over,
        )

    def clipped(self, value: float, least: float | None, most: float | None) -> Interval:
        """Interval whose limits are values that the coefficient can take."""
        low = -math.inf if least is None or value < least else least
        high = math.inf if most is None or value > most else most
        lower, upper = (float(np.clip(limit, low, high)) for limit in (self.lower, self.upper))
        return replace(self, lower=lower, upper=upper)

    def admitting(self, value: float, n: int) -> Interval:
        """Interval that admits what the n units seen, all alike, cannot exclude.

        A proportion of units as large as 1 - (1 - prob)^(1/n), about 3 / n for 95%, may be missing
        from a sample of n. In these units the coefficient may be 0 or 1 instead.
        """
        unseen = 1 - (1 - self.prob) ** (1 / n)
        lower, upper = value * (1 - unseen), value + (1 - value) * unseen
        return replace(self, lower=min(lower, value), upper=upper)


@dataclass(frozen=True, kw_only=True)
class NormalModel:
    """Interval of a coefficient under a model of normal effects.

    Attributes
    ----------
    over : {"items", "raters", "both"}
        What the model takes as a sample from a larger population.
    limits : callable
        Function from the nominal coverage to the lower and the upper limit.
    error : callable
        Function without arguments that returns the standard error.
    """

    over: Over
    limits: Callable[[float], tuple[float, float]]
    error: Callable[[], float]

    def interval(self, prob: float) -> Interval:
        """Interval of the model."""
        lower, upper = self.limits(prob)
        error = self.error() if math.isfinite(lower) else math.nan
        return Interval(
            lower=lower,
            upper=upper,
            prob=prob,
            standard_error=error,
            method="model",
            over=self.over,
        )


def central_probabilities(prob: float) -> Array:
    """Return the probabilities of the two quantiles that bound an equal-tailed interval.

    Parameters
    ----------
    prob : float
        Probability of the interval, strictly between 0 and 1.

    Returns
    -------
    array of float, shape (2,)
        Probabilities of the lower and of the upper quantile.
    """
    return np.array([(1 - prob) / 2, (1 + prob) / 2])


def bca_probabilities(
    probabilities: Array, values: Array, value: float, influences: Array
) -> Array:
    """Correct the probabilities of quantiles for bias and acceleration (BCa).

    Parameters
    ----------
    probabilities : array of float, shape (2,)
        Probabilities of an equal-tailed interval.
    values : array of float, shape (B,)
        Bootstrap replicates; one that ties with the value counts half.
    value : float
        The coefficient.
    influences : array of float, shape (n,)
        Jackknife influence of each unit.

    Returns
    -------
    array of float, shape (2,)
        The corrected probabilities; nan if an influence is undefined.

    References
    ----------
    Efron (1987), eq. 2.3 and 7.3. https://doi.org/10.1080/01621459.1987.10478410
    """
    defined = values[~np.isnan(values)]
    below = ratio(np.sum(defined < value) + np.sum(defined <= value), 2 * len(defined))
    bias = ndtri(below)
    acceleration = ratio((influences**3).sum(), 6 * (influences**2).sum() ** 1.5, 0.0)
    shifted = bias + ndtri(probabilities)
    return np.asarray(ndtr(bias + shifted / (1 - acceleration * shifted)))


def check_interval_options(prob: float, over: str, method: str) -> None:
    """Raise unless the options of an interval are valid and fit together.

    Parameters
    ----------
    prob : float
        Nominal coverage.
    over, method : str
        As for `Coefficient.interval`.

    Raises
    ------
    ValueError
        An option is out of range, or the method does not support ``over``.
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    check_choice("over", over, get_args(Over))
    check_choice("method", method, (*get_args(Method), "lin"))
    if method in ("analytic", "lin") and over != "items":
        raise ValueError(
            f'method "{method}" supports over="items" only, not over="{over}". Pass method="log".'
        )
    if method == "jackknife" and over == "both":
        raise ValueError(
            'method "jackknife" supports over="items" or over="raters", not over="both". '
            'Pass method="log".'
        )


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """Raise unless an argument is one of its choices.

    Parameters
    ----------
    name, value : str
        Name and value of the argument.
    choices : tuple of str
        Valid values.

    Raises
    ------
    ValueError
        The value is none of the choices.
    """
    if value not in choices:
        raise ValueError(f"{name} must be one of {', '.join(choices)}, not {value!r}.")
