"""The table of the six intraclass correlations, with tests and intervals."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.optimize
from scipy.special import chdtri, fdtrc, fdtri

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.icc_sums import design_of, has_severity, is_once_each
from reliabayes.agreement.intraclass import NAMES, UNDEFINED, Averaged, IccName
from reliabayes.agreement.spearman_brown import step_up
from reliabayes.agreement.variance_components import MeanSquares, Products
from reliabayes.ratings import Ratings

NEARLY_ONE = 1 - 1e-9
LOG_RATIOS = (-12.0, 25.0)  # search range of log(rater variance / residual variance)
SINGLE_AND_AVERAGED = tuple(zip(NAMES[:3], NAMES[3:], strict=True))


def icc_table(ratings: Ratings, *, prob: float = 0.95, k: Averaged = "ratings") -> pd.DataFrame:
    r"""The six intraclass correlations of Shrout & Fleiss, each with its test and interval.

    Parameters
    ----------
    ratings : Ratings
        Numeric, of any design.
    prob : float, default 0.95
        Nominal coverage of the intervals, strictly between 0 and 1.
    k : {"ratings", "columns"}, default "ratings"
        As for `icc`.

    Returns
    -------
    DataFrame
        Index icc, columns value, F, df1, df2, p, lower_95, upper_95 (for ``prob=0.95``). F compares
        the variance between items with that within items (ICC(1, .)) or with residuals, where items
        are adjusted for their raters; p is the probability of a larger F if items do not differ,
        which is exact for normal ratings in any design. Where `icc` uses the published formulas,
        so do the intervals; otherwise they are likelihood-ratio intervals of the restricted
        likelihood. With anonymous raters there are only ICC(1,1) and ICC(1,k).

    Raises
    ------
    RatingsError
        As for `icc`.
    ValueError
        ``prob`` is out of range.

    References
    ----------
    Shrout & Fleiss (1979), https://doi.org/10.1037/0033-2909.86.2.420; McGraw & Wong (1996),
    Table 7, https://doi.org/10.1037/1082-989X.1.1.30. Test in incomplete designs: Wald (1941),
    https://doi.org/10.1214/aoms/1177731747.

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> ratings = Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    >>> icc_table(ratings).loc["ICC(2,1)"].round(2).to_list()
    [0.29, 11.03, 5.0, 15.0, 0.0, 0.02, 0.76]
    """
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    rows: dict[IccName, list[float]] = {}
    for single, averaged in SINGLE_AND_AVERAGED[: 1 if ratings.anonymous_raters else 3]:
        model = Analysis.of(ratings, single, k)
        singles = np.array([model.value, *model.interval(prob)])
        for name, (value, *ends) in ((single, singles), (averaged, step_up(singles, model.k))):
            rows[name] = [value, *model.test(), *ends]
    if any(np.isnan(value) for value, *_ in rows.values()):
        warnings.warn(f"At least one ICC is undefined: {UNDEFINED}.", stacklevel=2)
    level = f"{100 * prob:g}"
    columns = ["value", "F", "df1", "df2", "p", f"lower_{level}", f"upper_{level}"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis("icc").loc[[name for name in NAMES if name in rows]]


@dataclass(frozen=True, eq=False)
class Analysis:
    """Test and interval of the ICC of single ratings.

    Attributes
    ----------
    name : {"ICC(1,1)", "ICC(2,1)", "ICC(3,1)"}
        Which ICC.
    published : bool
        Whether the published formulas apply, otherwise the restricted likelihood.
    products : Products
        Sums of products of the ratings.
    squares : MeanSquares
        Analysis of variance.
    k : float
        Number of ratings averaged.
    """

    name: IccName
    published: bool
    products: Products
    squares: MeanSquares
    k: float

    @classmethod
    def of(cls, ratings: Ratings, name: IccName, k: Averaged) -> Analysis:
        """Analysis of some ratings for one ICC."""
        design = design_of(ratings, name)
        products = design.products(design.totals())
        is_two_way = design.matrix_size > 2
        is_balanced = is_once_each(ratings) if is_two_way else len(design.sizes) == 1
        return cls(
            name=name,
            published=k == "columns" or is_balanced,
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

    def test(self) -> tuple[float, float, float, float]:
        """F, its two degrees of freedom and p, for the hypothesis of no variance between items.

        Items are adjusted for raters unless the model ignores raters.
        """
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
        """Confidence interval of the ICC of single ratings."""
        if np.isnan(self.value):
            return math.nan, math.nan
        if not self.published:
            return self._likelihood_interval(prob)
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

        return crossing(self.value, 0.0), crossing(self.value, NEARLY_ONE)

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
