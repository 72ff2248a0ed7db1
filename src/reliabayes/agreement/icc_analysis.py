"""Test and interval of an intraclass correlation, from the model of normal effects."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy
from scipy.special import chdtri, fdtrc, fdtri

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.icc_names import Averaged, IccName
from reliabayes.agreement.icc_sums import design_of, has_severity
from reliabayes.agreement.resampling import COMPLEX_STEP
from reliabayes.agreement.spearman_brown import step_up
from reliabayes.agreement.variance_components import MeanSquares, Products
from reliabayes.agreement.whole import whole_of
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings

NEARLY_ONE = 1 - 1e-9
LOG_RATIOS = (-12.0, 25.0)  # search range of log(rater variance / residual variance)


@dataclass(frozen=True, eq=False)
class Analysis:
    """Test and interval of the ICC of single ratings.

    Attributes
    ----------
    name : {"ICC(1,1)", "ICC(2,1)", "ICC(3,1)"}
        Which ICC.
    published : bool
        Whether the published formulas apply, otherwise the restricted likelihood.
    is_balanced : bool
        Whether the design is that of the published formulas.
    products : Products
        Sums of products of the ratings.
    squares : MeanSquares
        Analysis of variance.
    k : float
        Number of ratings averaged.
    """

    name: IccName
    published: bool
    is_balanced: bool
    products: Products
    squares: MeanSquares
    k: float

    @classmethod
    def of(cls, ratings: Ratings, name: IccName, k: Averaged) -> Analysis:
        """Analysis of some ratings for one ICC."""
        design, whole = design_of(ratings, name), whole_of(ratings)
        products = design.products(np.sum(whole.ask(_totals, name), axis=0))
        is_two_way = design.matrix_size > 2
        is_balanced = whole.is_once_each if is_two_way else len(design.sizes) == 1
        return cls(
            name=name,
            published=k == "columns" or is_balanced,
            is_balanced=is_balanced,
            products=products,
            squares=products.mean_squares(),
            k=ratings.n_raters if k == "columns" else float(products.harmonic_mean),
        )

    @cached_property
    def value(self) -> float:
        """ICC of single ratings."""
        agreement = has_severity(self.name)
        if self.published:
            return float(self.squares.icc(self.k, agreement=agreement))
        return float(self.products.components().icc(agreement=agreement))

    def test(self, null: float = 0.0) -> tuple[float, float, float, float]:
        """F, its two degrees of freedom and p, for the hypothesis that the ICC is at most ``null``.

        Items are adjusted for raters unless the model ignores raters. Nan for ICC(2,1) in an
        incomplete design unless the value is 0, for which alone F is exact.
        """
        if null == 0:
            return self._test_of_no_variance()
        if has_severity(self.name):
            return self._test_of_agreement(null) if self.is_balanced else (math.nan,) * 4
        _, freedom, df_residual, _ = self._test_of_no_variance()
        f = self._f_at(null, freedom, df_residual)
        return f, freedom, df_residual, float(fdtrc(freedom, df_residual, f))

    def _test_of_agreement(self, null: float) -> tuple[float, float, float, float]:
        """Test of ICC(2,1): McGraw & Wong (1996), table 8, with its degrees of freedom there."""
        df, n = self.squares.df, self.squares.df.item + 1
        severity = self.k * null / (n * (1 - null))
        rater = severity * self.squares.rater
        residual = (1 + (n - 1) * severity) * self.squares.residual
        f = float(ratio(self.squares.item, rater + residual))
        freedom = ratio((rater + residual) ** 2, rater**2 / df.rater + residual**2 / df.residual)
        return f, float(df.item), float(freedom), float(fdtrc(df.item, freedom, f))

    def _f_at(self, null: float, freedom: float, df_residual: float) -> float:
        """Ratio of mean squares that has an F distribution if the ICC has this value."""
        error = self.squares.residual * df_residual
        square = self.products.square_given_raters(null / (1 - null)) - error
        return float(ratio(square / freedom, self.squares.residual))

    def _test_of_no_variance(self) -> tuple[float, float, float, float]:
        square, df = self.squares, self.squares.df
        freedom, between = df.item, df.item * square.item
        if self.products.n_raters:
            rater = self.products.sums[0, :-2, :]
            severity = (rater[:, -1] ** 2 / rater[:, -2]).sum()
            freedom = df.item + 1 + df.rater - self.products.n_raters
            between = self.products.without_rounding(between + df.rater * square.rater - severity)
        with np.errstate(divide="ignore", invalid="ignore"):
            f = np.divide(np.divide(between, freedom), square.residual)
        p = fdtrc(freedom, df.residual, f)
        return float(f), float(freedom), float(df.residual), float(p)

    def interval(self, prob: float) -> tuple[float, float]:
        """Confidence interval of the ICC of single ratings.

        Published formulas where they apply; else Wald's exact interval for ICC(1,1) and ICC(3,1),
        and the interval of the likelihood-ratio test for ICC(2,1).
        """
        if np.isnan(self.value):
            return math.nan, math.nan
        if not self.published:
            is_exact = self.squares.df.residual > 0 and not has_severity(self.name)
            return self._exact_interval(prob) if is_exact else self._likelihood_interval(prob)
        if has_severity(self.name):
            return self._interval_of_agreement(prob)
        df, upper_prob = self.squares.df, (1 + prob) / 2
        with np.errstate(divide="ignore"):
            f = np.divide(self.squares.item, self.squares.residual)
        low = f / fdtri(df.item, df.residual, upper_prob)
        high = f * fdtri(df.residual, df.item, upper_prob)
        return float(1 - self.k / (low + self.k - 1)), float(1 - self.k / (high + self.k - 1))

    def _interval_of_agreement(self, prob: float) -> tuple[float, float]:
        """Interval of ICC(2,1): Shrout & Fleiss (1979), p. 424."""
        item, rater, residual = self.squares.item, self.squares.rater, self.squares.residual
        if rater == residual == 0:
            return 1.0, 1.0
        n, k, upper_prob = self.squares.df.item + 1, self.k, (1 + prob) / 2
        low = fdtri(n - 1, self.satterthwaite, upper_prob)
        high = fdtri(self.satterthwaite, n - 1, upper_prob)
        raters = k * rater + (k * n - k - n) * residual
        lower = n * (item - low * residual) / (low * raters + n * item)
        upper = n * (high * item - residual) / (raters + n * high * item)
        return float(lower), float(upper)

    @property
    def satterthwaite(self) -> float:
        """Satterthwaite degrees of freedom of the mean squares in the interval of ICC(2,1)."""
        n, k, icc = self.squares.df.item + 1, self.k, self.value
        raters = k * icc * self.squares.rater
        residual = (n * (1 + (k - 1) * icc) - k * icc) * self.squares.residual
        variance = raters**2 / (k - 1) + residual**2 / ((n - 1) * (k - 1))
        return float(ratio((raters + residual) ** 2, variance))

    def _exact_interval(self, prob: float) -> tuple[float, float]:
        """All ratios of item to residual variance that the F test does not reject.

        With fixed raters (or none) the generalised sum of squares, less that of the residuals, is
        proportional to chi-squared for the true ratio, and independent of the residuals: Wald
        (1940), https://doi.org/10.1214/aoms/1177731882; Harville & Fenech (1985),
        https://doi.org/10.2307/2530649.
        """
        if self.value > NEARLY_ONE:
            return 1.0, 1.0
        _, freedom, df_residual, _ = self.test()

        def f(icc: float) -> float:
            return self._f_at(icc, freedom, df_residual)

        def where(quantile: float) -> float:
            if f(0.0) <= quantile:
                return 0.0
            if f(NEARLY_ONE) >= quantile:
                return 1.0
            return float(scipy.optimize.brentq(lambda x: f(x) - quantile, 0, NEARLY_ONE, xtol=1e-9))

        lower = where(float(fdtri(freedom, df_residual, (1 + prob) / 2)))
        return lower, where(float(fdtri(freedom, df_residual, (1 - prob) / 2)))

    def _likelihood_interval(self, prob: float) -> tuple[float, float]:
        """All values whose profile deviance the likelihood-ratio test does not reject."""
        if self.value > NEARLY_ONE:
            return 1.0, 1.0
        best, _ = self.products.best_ratios()
        limit = float(self.products.deviance(best) + chdtri(1, 1 - prob))

        def excess(value: float) -> float:
            return self._profile_deviance(value) - limit

        def crossing(inside: float, outside: float) -> float:
            if excess(outside) < 0:
                return outside
            return float(scipy.optimize.brentq(excess, inside, outside, xtol=1e-7))

        # The value of a balanced design may be negative, which the likelihood does not know.
        estimate = float(self.products.components().icc(agreement=has_severity(self.name)))
        return crossing(estimate, 0.0), crossing(estimate, NEARLY_ONE)

    def covering_interval(self, prob: float) -> tuple[float, float]:
        """Interval that covers also if raters are few and differ, as that of ICC(2,1) does not.

        With many items by three raters the published interval of ICC(2,1) contains the true value
        in 88% of studies instead of 95%, that of the likelihood in 94%; with few items the
        published one is wider. This interval spans both.
        """
        published = self.interval(prob)
        if np.isnan(self.value) or not (self.is_balanced and has_severity(self.name)):
            return published
        likely = self._likelihood_interval(prob)
        return min(published[0], likely[0]), max(published[1], likely[1])

    def averaged(self, limits: tuple[float, float]) -> tuple[float, float]:
        """Limits of the ICC of means of k ratings, given those of single ratings."""
        lower, upper = step_up(np.array(limits), self.k)
        return float(lower), float(upper)

    def standard_error(self, *, averaged: bool = False) -> float:
        """Standard error by the delta method, of the ICC of single ratings or of means."""
        if averaged:
            slope = self.k / (1 + (self.k - 1) * self.value) ** 2
            return float(slope * self.standard_error())
        agreement = has_severity(self.name)
        if not self.published:
            variance = self.products.variance_of_ratios()
            return math.sqrt(float(self._slope @ variance @ self._slope))
        squares, total = self.squares, 0.0
        unit = max(float(squares.item), float(squares.rater), float(squares.residual))
        for part in ("item", "rater", "residual"):
            square, df = float(getattr(squares, part)), float(getattr(squares.df, part))
            if df > 0:
                moved = squares._asdict() | {part: np.asarray(square + unit * COMPLEX_STEP * 1j)}
                icc = MeanSquares(**moved).icc(self.k, agreement=agreement)
                total += float(icc.imag / COMPLEX_STEP) ** 2 * 2 * (square / unit) ** 2 / df
        return math.sqrt(total)

    @property
    def _slope(self) -> Array:
        """(2,) derivative of the ICC by the ratios of item and rater to residual variance."""
        (item, rater), _ = self.products.best_ratios()
        if not has_severity(self.name):
            return np.array([1 / (1 + item) ** 2, 0.0])
        return np.array([1 + rater, -item], np.float64) / float(1 + item + rater) ** 2

    def _profile_deviance(self, value: float) -> float:
        """Least deviance of all variances for which the ICC of single ratings has this value."""

        def deviance(log_rater: float) -> float:
            rater = math.exp(log_rater)
            item = value / (1 - value) * (1 + rater if has_severity(self.name) else 1)
            return float(self.products.deviance(np.array([item, rater])))

        if not self.products.n_raters:
            return deviance(-math.inf)
        found = scipy.optimize.minimize_scalar(deviance, bounds=LOG_RATIOS, method="bounded")
        return min(float(found.fun), deviance(-math.inf))


def _totals(ratings: Ratings, name: IccName) -> Array:
    return design_of(ratings, name).totals()
