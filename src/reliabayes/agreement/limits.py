"""Limits of agreement of two methods, after Bland and Altman."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import get_args

import numpy as np
import pandas as pd
from scipy.special import nctdtrit, ndtri, stdtrit

from reliabayes.agreement.interval import HOW, Interval, check_choice
from reliabayes.agreement.paired import Differences, Level, differences
from reliabayes.agreement.whole import Whole
from reliabayes.arrays import Array
from reliabayes.choices import LimitsMethod, Repeated
from reliabayes.finding_table import FindingTable
from reliabayes.partitions import AnyRatings
from reliabayes.reporting.methods import Clause, MethodsSentence, Size
from reliabayes.reporting.numbers import estimate


def limits_of_agreement(
    ratings: AnyRatings,
    *,
    agree: float = 0.95,
    prob: float = 0.95,
    method: LimitsMethod | None = None,
    replicates: Repeated | None = None,
    trend: bool = False,
    log: bool = False,
) -> LimitsOfAgreement:
    r"""Limits between which most differences of two raters or methods lie, in units of the rating.

    .. math:: \bar{d} \pm z\, s_d,\quad d_i = x_{i1} - x_{i2}

    where z is 1.96 for 95% of the differences. They suppose that differences of single ratings are
    normal. Raters agree well if differences as large as the limits, and as their intervals, do not
    matter in use; a correlation does not say that.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Numeric, by two raters. Differences are the first less the second, in the order of
        ``ratings.raters``. Items that only one rated are left out.
    agree : float, default 0.95
        Proportion of differences between the limits, strictly between 0 and 1.
    prob : float, default 0.95
        Nominal coverage of each interval, which has two sides.
    method : {"exact", "mover", "approximate"}, optional
        Intervals of the limits, each by itself: from the noncentral t distribution (by default);
        from limits of the mean and of the standard deviation, the only ones with replicates; or
        Student's t with the error of Bland and Altman (1999).
    replicates : {"constant", "linked"}, optional
        What repeated ratings of an item by a rater are. "constant": the true value stayed the same,
        and each rater repeated the rating. "linked": it changed, and both rated it at the same
        time, which a facet names; variances are by restricted maximum likelihood. In both the
        limits are those of single ratings.
    trend : bool, default False
        Whether the mean difference changes along the scale, by a straight line of differences on
        means; `LimitsOfAgreement.at` has the limits at any mean.
    log : bool, default False
        Whether ratings are compared by their ratios, through logarithms.

    Returns
    -------
    LimitsOfAgreement
        Bias and limits, each with an interval.

    Raises
    ------
    RatingsError
        The ratings are no numbers, raters are not two, a rater repeated ratings and ``replicates``
        does not say what they are, or too few items were rated by both.
    ValueError
        An option is out of range, or options do not fit together.

    References
    ----------
    Bland & Altman (1986), https://doi.org/10.1016/S0140-6736(86)90837-8; (1999), on trends,
    logarithms and replicates, https://doi.org/10.1177/096228029900800204. "exact": Carkeet (2015),
    https://doi.org/10.1097/OPX.0000000000000513. "mover": Zou (2013),
    https://doi.org/10.1177/0962280211402548

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> one, other = [494, 395, 516, 434, 476, 557], [512, 430, 520, 428, 500, 600]
    >>> ratings = rb.Ratings.from_wide(np.column_stack([one, other]), scale="numeric")
    >>> limits = rb.agreement.limits_of_agreement(ratings)
    >>> limits.table().round(1)[["value", "lower", "upper"]]
                 value  lower  upper
    bias         -19.7  -39.0   -0.3
    lower limit  -55.9 -114.1  -38.0
    upper limit   16.5   -1.4   74.7
    """
    for name, share in (("agree", agree), ("prob", prob)):
        if not 0 < share < 1:
            raise ValueError(f"{name} must lie strictly between 0 and 1, not {share}.")
    if replicates is not None:
        check_choice("replicates", replicates, get_args(Repeated))
    known = _known_method(method, replicates, trend=trend)
    found = differences(ratings, replicates, trend=trend, log=log)
    raters = tuple(ratings.raters)
    options = LimitOptions(agree=agree, prob=prob, method=known, log=log)
    place = float(found.means.mean())
    bias, lower, upper = options.intervals(found.at(place))
    return LimitsOfAgreement(
        bias=bias,
        lower=lower,
        upper=upper,
        sd=float(np.sqrt(found.at(place).spread.total)),
        slope=options.slope(found),
        raters=(raters[0], raters[1]),
        replicates=replicates,
        differences=found,
        options=options,
        size=Size(Whole(ratings).n_paired, ratings.n_raters),
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class LimitOptions:
    """How limits and their intervals are computed.

    Attributes
    ----------
    agree, prob, method, log
        As for `limits_of_agreement`.
    """

    agree: float
    prob: float
    method: LimitsMethod
    log: bool

    def intervals(self, level: Level) -> tuple[Interval, Interval, Interval]:
        """Bias, lower and upper limit, with intervals."""
        z, deviation = float(ndtri((1 + self.agree) / 2)), float(np.sqrt(level.spread.total))
        reach = float(stdtrit(level.df, (1 + self.prob) / 2)) * level.error
        bias = (level.bias, level.bias - reach, level.bias + reach)
        inner, outer = self._reach(level, z, deviation)
        lower = level.bias - z * deviation
        upper = level.bias + z * deviation
        error = np.hypot(level.error, z * np.sqrt(level.spread.variance) / (2 * deviation or 1.0))
        return (
            self._interval(*bias, level.error),
            self._interval(lower, lower - outer, lower + inner, float(error)),
            self._interval(upper, upper - inner, upper + outer, float(error)),
        )

    def slope(self, found: Differences) -> Interval | None:
        """Slope of differences by means, with an interval."""
        if found.slope is None:
            return None
        value, error, df = found.slope
        reach = float(stdtrit(df, (1 + self.prob) / 2)) * error
        plain = replace(self, log=False)
        return plain._interval(value, value - reach, value + reach, error)

    def _reach(self, level: Level, z: float, deviation: float) -> tuple[float, float]:
        """How far the interval of a limit reaches towards the bias, and away from it."""
        tails = (1 - self.prob) / 2, (1 + self.prob) / 2
        if deviation == 0:
            return 0.0, 0.0
        if self.method == "exact":
            scale = level.error / deviation
            least, most = nctdtrit(level.df, z / scale, tails)
            return (z - least * scale) * deviation, (most * scale - z) * deviation
        if self.method == "approximate":
            error = np.hypot(level.error, deviation * z / np.sqrt(2 * level.df))
            reach = float(stdtrit(level.df, tails[1])) * float(error)
            return reach, reach
        least, most = (np.sqrt(level.spread.limit(tail)) for tail in tails)
        of_bias = float(ndtri(tails[1])) * level.error
        inner, outer = (
            float(np.hypot(of_bias, z * (limit - deviation))) for limit in (least, most)
        )
        return inner, outer

    def _interval(self, value: float, lower: float, upper: float, error: float) -> Interval:
        if self.log:
            value, lower, upper = (float(np.exp(each)) for each in (value, lower, upper))
            error = error * value
        return Interval(
            lower=float(lower),
            upper=float(upper),
            prob=self.prob,
            standard_error=float(error),
            method=self.method,
            over="items",
            value=float(value),
        )


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class LimitsOfAgreement:
    """Limits of agreement of two raters, the first less the second.

    With ``log`` they are ratios of the first to the second.

    Attributes
    ----------
    bias, lower, upper : Interval
        Mean difference, lower and upper limit: ``value`` with an interval of two sides. With a
        trend those at the mean of all.
    sd : float
        Standard deviation of the differences of single ratings, or of their logarithms.
    slope : Interval or None
        Change of the mean difference per unit of the mean, or of their logarithms, of a trend.
    raters : tuple
        Ids of the first and the second rater.
    replicates : {"constant", "linked"} or None
        What repeated ratings are.
    differences : Differences
        Differences and means of pairs, or of the means of replicates of an item, on the scale of
        logarithms with ``log``.
    options : LimitOptions
        As passed to `limits_of_agreement`.
    size : Size
        Number of items that both rated.
    """

    bias: Interval
    lower: Interval
    upper: Interval
    sd: float
    slope: Interval | None
    raters: tuple[object, object]
    replicates: Repeated | None
    differences: Differences
    options: LimitOptions
    size: Size

    def at(self, mean: float) -> LimitsOfAgreement:
        """Limits where two ratings have this mean; the same everywhere without a trend.

        Parameters
        ----------
        mean : float
            Mean of both ratings, in their units.

        Returns
        -------
        LimitsOfAgreement

        Examples
        --------
        >>> import numpy as np
        >>> import reliabayes as rb
        >>> ratings = rb.Ratings.from_wide(np.array([[1, 2], [3, 3], [6, 5], [9, 7], [12, 10]]))
        >>> limits = rb.agreement.limits_of_agreement(ratings, trend=True)
        >>> round(limits.at(10).bias.value, 2), round(limits.slope.value, 2)
        (2.15, 0.32)
        """
        place = float(np.log(mean)) if self.options.log else float(mean)
        bias, lower, upper = self.options.intervals(self.differences.at(place))
        return replace(self, bias=bias, lower=lower, upper=upper)

    def table(self) -> pd.DataFrame:
        """Return the bias and the limits, each with its interval.

        Returns
        -------
        DataFrame
            Index bias, lower limit, upper limit and, with a trend, slope; columns value, lower,
            upper, standard_error.
        """
        rows = {"bias": self.bias, "lower limit": self.lower, "upper limit": self.upper}
        if self.slope is not None:
            rows["slope"] = self.slope
        columns = ("value", "lower", "upper", "standard_error")
        return pd.DataFrame(
            [[getattr(each, name) for name in columns] for each in rows.values()],
            index=list(rows),
            columns=list(columns),
        )

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the limits; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references.
        """
        options, (first, second) = self.options, self.raters
        level = f"{100 * options.prob:g}% CI"
        bias, lower, upper = (
            estimate(each.value, each.lower, each.upper, level)
            for each in (self.bias, self.lower, self.upper)
        )
        what = "ratio" if options.log else "difference"
        statement = (
            f"The mean {what} of {first} and {second} was {bias}, and the "
            f"{100 * options.agree:g}% limits of agreement were {lower}, and {upper}"
        )
        is_extended = options.log or self.slope is not None or self.replicates is not None
        meaning = f"{100 * options.agree:g}% of {what}s of single ratings lie between the limits"
        how, references = HOW[options.method]
        if options.method == "mover":
            references = ("zou2013",)
        clauses = [
            Clause(meaning, ("bland1999" if is_extended else "bland1986",)),
            Clause(f"the intervals, {how}, are for other {{items}}", references),
        ]
        if self.slope is not None:
            slope = estimate(self.slope.value, self.slope.lower, self.slope.upper, level)
            clauses.insert(1, Clause(f"their slope on the mean is {slope}"))
        return MethodsSentence(Clause(statement), self.size, tuple(clauses), "error")

    @property
    def points(self) -> tuple[Array, Array]:
        """(n,) means and differences, or geometric means and ratios, as a plot shows them."""
        means, values = self.differences.means, self.differences.values
        return (np.exp(means), np.exp(values)) if self.options.log else (means, values)

    def __repr__(self) -> str:
        return f"{self._finding}\n{self.table().round(4).to_string()}"

    def _repr_html_(self) -> str:
        return FindingTable.of(self.table(), self._finding)._repr_html_()

    @property
    def _finding(self) -> str:
        """The limits in a sentence."""
        what = "ratios" if self.options.log else "differences"
        return (
            f"{100 * self.options.agree:g}% of {what} of {self.raters[0]} and {self.raters[1]} lie "
            f"between {self.lower.value:.4g} and {self.upper.value:.4g}"
        )


def _known_method(
    method: LimitsMethod | None, replicates: Repeated | None, *, trend: bool
) -> LimitsMethod:
    if method is not None:
        check_choice("method", method, get_args(LimitsMethod))
    if replicates is None:
        return method or "exact"
    if method not in (None, "mover"):
        raise ValueError(f'method must be "mover" with replicates, not {method!r}.')
    if trend:
        raise ValueError("trend=True is for pairs of single ratings; found replicates.")
    return "mover"
