"""How the interval of a coefficient is computed, and which interval it has by default."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from scipy.special import ndtri

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.hypothesis_test import Test
from reliabayes.agreement.interval import (
    Interval,
    NormalModel,
    bca_probabilities,
    central_probabilities,
    check_choice,
    check_interval_options,
)
from reliabayes.agreement.rater_pools import require_resamplable
from reliabayes.agreement.sampling_distribution import SamplingDistribution
from reliabayes.choices import Alternative, Method, NullError, Over

CONSTANT = 1e-12  # standard error below which a coefficient cannot vary
BY_RESAMPLING = ("percentile", "bca", "jackknife")
FEW_RATERS = 10  # below which a bootstrap over raters does not cover


@dataclass(frozen=True, eq=False, kw_only=True)
class Intervals:
    """The intervals of a coefficient.

    Attributes
    ----------
    name : str
        Name of the coefficient.
    value : float
        The coefficient.
    sampling : SamplingDistribution
        Its distribution over items and raters.
    degrees_lost : int
        As for `Coefficient`.
    limit, least : float or None
        As for `Coefficient`.
    model : NormalModel or None
        As for `Coefficient`.
    z_error : callable
        Function without arguments that returns the published standard error of Fisher's z, or None.
    n_paired : callable
        Function without arguments that returns the number of items with at least two ratings.
    """

    name: str
    value: float
    sampling: SamplingDistribution
    degrees_lost: int
    limit: float | None
    least: float | None
    model: NormalModel | None
    z_error: Callable[[], float | None]
    n_paired: Callable[[], int]

    def interval(
        self,
        prob: float,
        over: Over | None,
        method: Method | Literal["lin"] | None,
        options: Mapping[str, int],
        distribution: Literal["t", "normal"] | None = None,
    ) -> Interval:
        """Interval as `Coefficient.interval` describes it; options are those of the bootstrap."""
        known_method = self.default_method(over) if method is None else method
        known_over = self.default_over(known_method) if over is None else over
        check_interval_options(prob, known_over, known_method)
        if known_method in BY_RESAMPLING:
            warn_of_few_raters(self.sampling.raters, known_over, known_method)
        check_distribution(distribution, known_method)
        freedom = None if distribution is None else self.freedom(distribution)
        found = self.by_method(prob, known_over, known_method, options, freedom)
        return self.admitting(found.clipped(self.value, self.least, self.limit))

    def admitting(self, interval: Interval) -> Interval:
        """Interval that is not without width only because all ratings agree."""
        if not self.is_constant:
            return interval
        if interval.method == "model":  # what normal effects say of raters fails without variance
            interval = replace(interval, over="items")
        return interval.admitting(self.value, self._units(interval.over))

    def default_method(self, over: Over | None) -> Method:
        """Method unless one is named."""
        is_of_model = self.model is not None and over in (None, self.model.over)
        return "model" if is_of_model else "log"

    def default_over(self, method: Method | Literal["lin"]) -> Over:
        """What is a sample from a larger population, unless it is named."""
        if method == "model":
            return self._require_model(None).over
        is_both = method == "log" and not self.is_constant and self.sampling.raters_can_be_left_out
        return "both" if is_both else "items"

    @cached_property
    def is_constant(self) -> bool:
        """Whether no item could move the coefficient, as if all ratings of each item agree."""
        if self.limit is None or np.isnan(self.value):
            return False
        if self.model is not None:  # whose statistics of items may be large
            return self.value > 1 - CONSTANT
        return self.sampling.analytic_error(0) < CONSTANT

    def freedom(self, distribution: Literal["t", "normal"]) -> float:
        """Degrees of freedom of Student's t over items, which is normal with infinitely many."""
        return self.sampling.distinct_rows.n_items - 1 if distribution == "t" else math.inf

    def test(
        self,
        null: float,
        alternative: Alternative,
        kind: NullError,
        null_error: Callable[[], float | None],
    ) -> Test:
        """Test as `Coefficient.test` describes it."""
        check_choice("alternative", alternative, get_args(Alternative))
        check_choice("error", kind, get_args(NullError))
        self._check_null(null)
        if kind == "null":
            error = self._published(null_error(), null)
            statistic = float(ratio(self.value - null, error))
            return Test.of_z(statistic, alternative, estimate=self.value)
        error = self.sampling.analytic_error(self.degrees_lost)
        if error < CONSTANT:
            warnings.warn(
                f"{self.name} cannot be tested: its standard error is 0, because no item differs "
                'from the others. Pass error="null" for a kappa, or use the interval.',
                stacklevel=4,
            )
            error = 0.0
        statistic = float(ratio(self.value - null, error))
        return Test.of_t(statistic, self.freedom("t"), alternative, estimate=self.value)

    def _check_null(self, null: float) -> None:
        low = -math.inf if self.least is None else self.least
        high = math.inf if self.limit is None else self.limit
        if not (math.isfinite(null) and low <= null < high):
            least = "" if self.least is None else f"at least {self.least:g} and "
            most = "finite" if self.limit is None else f"below {self.limit:g}"
            raise ValueError(f"null must be {least}{most} for {self.name}, not {null}.")

    def _published(self, error: float | None, null: float) -> float:
        if error is None:
            raise ValueError(
                f'error="null" is for kappas with a published error, not for {self.name}. Pass '
                'error="analytic".'
            )
        if null != 0:
            raise ValueError(
                f'error="null" is the error where {self.name} is 0; found null={null}. Pass '
                'error="analytic".'
            )
        return error

    def by_method(
        self,
        prob: float,
        over: Over,
        method: Method | Literal["lin"],
        options: Mapping[str, int],
        freedom: float | None = None,
    ) -> Interval:
        """Interval by a method, also if all ratings agree or raters are few."""
        if method == "model":
            return self._require_model(over).interval(prob)
        if method == "lin":
            return self._by_fishers_z(prob)
        if method == "analytic":
            error = self.sampling.analytic_error(self.degrees_lost)
            known = self.freedom("t") if freedom is None else freedom
            return Interval.around(self.value, error, known, prob, method, over)
        if method == "log":
            variance, degrees = self.sampling.variance(over)
            error = float(np.sqrt(variance))
            return Interval.around(self.value, error, degrees, prob, method, over, limit=self.limit)
        if method == "jackknife":
            influences = self.sampling.jackknife_influences(over)
            return Interval.student(self.value, influences, prob, over)
        values = self.sampling.bootstrap(over, **options)
        probabilities = central_probabilities(prob)
        if method == "bca":
            influences = self.sampling.jackknife_influences(over)
            probabilities = bca_probabilities(probabilities, values, self.value, influences)
        return Interval.bootstrap(values, probabilities, prob, over, method)

    def _by_fishers_z(self, prob: float) -> Interval:
        error = self.z_error()
        if error is None:
            raise ValueError(
                f'method "lin" is for the concordance of two raters, not for {self.name}. Pass '
                'method="log".'
            )
        reach = float(ndtri((1 + prob) / 2)) * error
        lower, upper = np.tanh(np.arctanh(self.value) + np.array([-reach, reach]))
        return Interval(
            lower=float(lower),
            upper=float(upper),
            prob=prob,
            standard_error=error * (1 - self.value**2),
            method="lin",
            over="items",
        )

    def _require_model(self, over: Over | None) -> NormalModel:
        if self.model is None:
            raise ValueError(f'method "model" is for ICCs, not for {self.name}. Pass method="log".')
        if over not in (None, self.model.over):
            raise ValueError(
                f'method "model" supports over="{self.model.over}" only for {self.name}, not '
                f'over="{over}". Pass method="log".'
            )
        return self.model

    def _units(self, over: Over) -> int:
        """Number of units of which ratings that all agree are a sample."""
        if over == "items" or self.sampling.raters is None:
            return self.n_paired()
        n_raters = len(self.sampling.raters)
        return n_raters if over == "raters" else min(self.n_paired(), n_raters)


def check_distribution(distribution: str | None, method: str) -> None:
    """Raise unless a distribution is one that the method has.

    Parameters
    ----------
    distribution : str or None
        As for `Coefficient.interval`.
    method : str
        How the interval is computed.

    Raises
    ------
    ValueError
        It is not.
    """
    if distribution is None:
        return
    check_choice("distribution", distribution, ("t", "normal"))
    if method != "analytic":
        raise ValueError(f'distribution is for method="analytic", not for method "{method}".')


def warn_of_few_raters(raters: pd.Series[Any] | None, over: Over, method: str) -> None:
    """Warn if a method does not cover with so few raters.

    Parameters
    ----------
    raters : Series, shape (R,), or None
        Pool of each rater.
    over : {"items", "raters", "both"}
        What is a sample from a larger population.
    method : str
        How the interval is computed.
    """
    n = len(require_resamplable(raters)) if over != "items" else FEW_RATERS
    if n < FEW_RATERS and method != "log":
        warnings.warn(
            f'with {n} raters the interval over="{over}" by method "{method}" contains the '
            'coefficient of a population of raters less often than it states. Pass method="log", '
            'or over="items" for these raters only.',
            stacklevel=5,
        )
