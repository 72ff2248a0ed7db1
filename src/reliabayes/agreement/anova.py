"""The six intraclass correlations in a table, with tests and intervals."""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import scipy.optimize
from scipy.special import chdtri, fdtrc, fdtri

from reliabayes.agreement.cells import ratio
from reliabayes.agreement.intraclass import (
    NAMES,
    UNDEFINED,
    Averaged,
    IccName,
    design_of,
    has_severity,
    is_once_each,
)
from reliabayes.agreement.stepping_up import stepped_up
from reliabayes.agreement.variance_components import MeanSquares, Products
from reliabayes.ratings import Ratings

NEARLY_ONE = 1 - 1e-9
LOG_RATIOS = (-12.0, 25.0)  # of the variance of raters to that of residuals, where it is not 0
SINGLE_AND_AVERAGED = tuple(zip(NAMES[:3], NAMES[3:], strict=True))


def icc_table(ratings: Ratings, *, prob: float = 0.95, k: Averaged = "ratings") -> pd.DataFrame:
    r"""The six intraclass correlations of Shrout & Fleiss, each with its test and interval.

    Parameters
    ----------
    ratings : Ratings
        Numbers, of any design.
    prob : float
        Nominal coverage of the intervals.
    k : {"ratings", "columns"}
        As for `icc`.

    Returns
    -------
    DataFrame
        Index icc, columns value, F, df1, df2, p, lower_95, upper_95 (for ``prob=0.95``). F compares
        what is between items with what is within them (ICC(1, .)) or with residuals, items being
        adjusted for their raters; p is the probability of a larger one if items did not differ,
        which is exact for normal ratings of any design. Where `icc` takes the published formulas,
        the intervals are the published ones; otherwise they hold all values that the restricted
        likelihood does not reject, by its ratio to the largest. Anonymous raters leave ICC(1, .).

    Raises
    ------
    RatingsError
        As `icc` does.

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
        shares = np.array([model.value, *model.interval(prob)])
        for name, (share, *ends) in ((single, shares), (averaged, stepped_up(shares, model.k))):
            rows[name] = [share, *model.test(), *ends]
    if any(np.isnan(value) for value, *_ in rows.values()):
        warnings.warn(f"Some ICC is undefined: {UNDEFINED}.", stacklevel=2)
    level = f"{100 * prob:g}"
    columns = ["value", "F", "df1", "df2", "p", f"lower_{level}", f"upper_{level}"]
    table = pd.DataFrame.from_dict(rows, orient="index", columns=columns)
    return table.rename_axis("icc").loc[[name for name in NAMES if name in rows]]


@dataclass(frozen=True, eq=False)
class Analysis:
    """What tests and intervals of a single rating's ICC are made of.

    Attributes
    ----------
    name : ICC(1,1), ICC(2,1) or ICC(3,1)
    published : whether formulas are the published ones, else the restricted likelihood's
    products : sums of products of the ratings, items being the many
    squares : their analysis of variance
    k : number of ratings averaged
    """

    name: IccName
    published: bool
    products: Products
    squares: MeanSquares
    k: float

    @classmethod
    def of(cls, ratings: Ratings, name: IccName, k: Averaged) -> Analysis:
        """Analysis of ratings for one of the names."""
        design = design_of(ratings, name)
        products = design.products(design.totals())
        is_balanced = is_once_each(ratings) if design.size > 2 else len(design.n) == 1
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
        """F, its two degrees of freedom and p, of no variance between items.

        They are adjusted for raters if the model has these.
        """
        square, df = self.squares, self.squares.df
        freedom, between = df.many, df.many * square.many
        if self.products.few:
            few = self.products.sums[0, :-2, :]
            severity = (few[:, -1] ** 2 / few[:, -2]).sum()
            freedom = df.many + 1 + df.few - self.products.few
            between = self.products.cleared(between + df.few * square.few - severity)
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
        df, share = self.squares.df, (1 + prob) / 2
        with np.errstate(divide="ignore"):
            f = np.divide(self.squares.many, self.squares.residual)
        low = f / fdtri(df.many, df.residual, share)
        high = f * fdtri(df.residual, df.many, share)
        return float(1 - self.k / (low + self.k - 1)), float(1 - self.k / (high + self.k - 1))

    def _interval_of_agreement(self, prob: float) -> tuple[float, float]:
        """Interval of ICC(2,1): Shrout & Fleiss (1979), p. 424."""
        many, few, rest = self.squares.many, self.squares.few, self.squares.residual
        if few == rest == 0:
            return 1.0, 1.0
        n, k, share = self.squares.df.many + 1, self.k, (1 + prob) / 2
        low = fdtri(n - 1, self.satterthwaite, share)
        high = fdtri(self.satterthwaite, n - 1, share)
        raters = k * few + (k * n - k - n) * rest
        lower = n * (many - low * rest) / (low * raters + n * many)
        upper = n * (high * many - rest) / (raters + n * high * many)
        return float(lower), float(upper)

    @property
    def satterthwaite(self) -> float:
        """Degrees of freedom of the combination of mean squares that ICC(2,1) is tested by."""
        n, k = self.squares.df.many + 1, self.k
        few, rest, share = self.squares.few, self.squares.residual, self.value
        raters, residual = k * share * few, (n * (1 + (k - 1) * share) - k * share) * rest
        spread = raters**2 / (k - 1) + residual**2 / ((n - 1) * (k - 1))
        return float(ratio((raters + residual) ** 2, spread))

    def _likelihood_interval(self, prob: float) -> tuple[float, float]:
        """All values whose deviance is above the least by no more than chance would have it."""
        if self.value > NEARLY_ONE:
            return 1.0, 1.0
        best, _ = self.products.best()
        most = float(self.products.deviance(best) + chdtri(1, 1 - prob))

        def excess(share: float) -> float:
            return self._least_deviance(share) - most

        def crossing(inside: float, outside: float) -> float:
            if excess(outside) < 0:
                return outside
            return float(scipy.optimize.brentq(excess, inside, outside, xtol=1e-7))

        return crossing(self.value, 0.0), crossing(self.value, NEARLY_ONE)

    def _least_deviance(self, share: float) -> float:
        """Least deviance of all variances that give single ratings this ICC."""

        def deviance(log_few: float) -> float:
            few = math.exp(log_few)
            many = share / (1 - share) * (1 + few if has_severity(self.name) else 1)
            return float(self.products.deviance(np.array([many, few])))

        if not self.products.few:
            return deviance(-math.inf)
        found = scipy.optimize.minimize_scalar(deviance, bounds=LOG_RATIOS, method="bounded")
        return min(float(found.fun), deviance(-math.inf))
