"""Error of measurement in units of the rating, with limits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import get_args

import numpy as np
import pandas as pd

from reliabayes.agreement.arithmetic import sum_by_index
from reliabayes.agreement.interval import Interval, check_choice
from reliabayes.agreement.variance_sum import VarianceSum
from reliabayes.agreement.whole import Whole
from reliabayes.arrays import Array
from reliabayes.choices import AnyMethod, ErrorKind
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.decisions import DETECTABLE
from reliabayes.finding_table import FindingTable
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, MethodsSentence, Size
from reliabayes.reporting.numbers import estimate

PURPOSE = "measurement_error"
REFERENCES: Mapping[ErrorKind, tuple[str, ...]] = {
    "absolute": ("weir2005",),
    "consistency": ("weir2005",),
    "within": ("bland1996",),
}
IN_PAPERS: Mapping[ErrorKind, str] = {
    "absolute": "errors include differences between {raters}",
    "consistency": "errors leave out differences in severity between {raters}",
    "within": "errors are differences between alike ratings within {items}",
}
WORDS = {
    "absolute": "differences between raters are errors",
    "consistency": "differences in severity between raters are no errors",
    "within": "differences of alike ratings of an item are errors",
}


def measurement_error(
    ratings: AnyRatings, kind: ErrorKind = "absolute", *, prob: float = 0.95
) -> MeasurementError:
    r"""Standard error of measurement of a single rating, in units of the rating.

    .. math:: \mathrm{SEM}_\mathrm{absolute} = \sqrt{\sigma_r^2 + \sigma_{ir}^2},\quad
       \mathrm{SEM}_\mathrm{consistency} = \sigma_{ir},\quad
       \mathrm{SEM}_\mathrm{within} = \sigma_w

    with variances between raters, of their interaction with items (and of the residual), and within
    items. It says how far ratings of the same item differ, where an ICC says how well they tell
    items apart: the same error is a small part of the variance of diverse items.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        Numeric. For "absolute" and "consistency" every rater must have rated every item, and
        equally often; for "within" any design.
    kind : {"absolute", "consistency", "within"}, default "absolute"
        Which differences are errors: all between ratings of an item; all but those in severity
        between raters; or those between ratings that are alike. If raters rated items repeatedly,
        alike are the ratings of an item by the same rater (test and retest), otherwise all ratings
        of an item.
    prob : float, default 0.95
        Nominal coverage of the intervals, strictly between 0 and 1.

    Returns
    -------
    MeasurementError
        The error, the minimal detectable change and coefficients of variation, with intervals.

    Raises
    ------
    RatingsError
        The ratings are no numbers, or the design does not have this error.
    ValueError
        An option is out of range.

    Notes
    -----
    The values of "absolute" and "consistency" are ``sem_absolute`` and ``sem_relative`` of
    `g_study` with the design "item x rater", which also takes incomplete designs, and that of
    "within" is the standard deviation of its residual if ratings were repeated. Limits of a single
    mean square are exact for normal ratings, by chi-squared; those of sums are by MOVER. `GStudy`
    has posteriors of all of them, in any design.

    References
    ----------
    Weir (2005), https://doi.org/10.1519/15184.1; Bland & Altman (1996),
    https://doi.org/10.1136/bmj.313.7049.106; logarithms: Quan & Shih (1996),
    https://doi.org/10.2307/2532835

    Examples
    --------
    >>> import reliabayes as rb
    >>> ratings = rb.Ratings.from_frame(rb.datasets.load("shrout_fleiss_1979"))
    >>> found = rb.agreement.measurement_error(ratings, "consistency")
    >>> found.table().round(2)
            value  lower  upper
    sem      1.01   0.75   1.56
    mdc      2.80   2.07   4.33
    cv       0.19   0.14   0.30
    log cv   0.32   0.24   0.52
    """
    check_choice("kind", kind, get_args(ErrorKind))
    if not 0 < prob < 1:
        raise ValueError(f"prob must lie strictly between 0 and 1, not {prob}.")
    whole = Whole(ratings)
    variance = _variance(ratings, whole, kind, _values)
    limits = _roots(variance, prob)
    mean = whole.mean
    by_mean = 1 / mean if mean > 0 else np.nan
    of_logs = [np.nan] * 3
    if all(whole.each(_are_above_0)):
        spread = _roots(_variance(ratings, whole, kind, _logs), prob)
        of_logs = [float(np.sqrt(np.expm1(each**2))) for each in spread]
    method: AnyMethod = "chi-squared" if len(variance.df) == 1 else "mover"

    def interval(value: float, lower: float, upper: float) -> Interval:
        slope = 0.0 if limits[0] == 0 else value / limits[0]
        error = slope * float(np.sqrt(variance.variance)) / (2 * limits[0] or 1.0)
        return Interval(
            lower=lower,
            upper=upper,
            prob=prob,
            standard_error=error,
            method=method,
            over="items",
            value=value,
        )

    return MeasurementError(
        kind=kind,
        sem=interval(*limits),
        mdc=interval(*(DETECTABLE * each for each in limits)),
        cv=interval(*(by_mean * each for each in limits)),
        log_cv=interval(*of_logs),
        size=Size.of(ratings),
    )


@dataclass(frozen=True, repr=False, kw_only=True)
class MeasurementError:
    """Errors of a single rating; each has a value and an interval.

    Attributes
    ----------
    kind : {"absolute", "consistency", "within"}
        Which differences are errors.
    sem : Interval
        Standard error of measurement, in units of the rating.
    mdc : Interval
        Minimal detectable change, 2.77 times the error, also called repeatability: what error alone
        exceeds in 5% of pairs of ratings.
    cv : Interval
        Coefficient of variation: the error divided by the mean of all ratings; nan if that is not
        above 0.
    log_cv : Interval
        The same of errors that grow with the rating, from the variance of the logarithms; nan
        unless all ratings are above 0.
    size : Size
        Numbers of items, raters and ratings.
    """

    kind: ErrorKind
    sem: Interval
    mdc: Interval
    cv: Interval
    log_cv: Interval
    size: Size

    def table(self) -> pd.DataFrame:
        """Return all errors.

        Returns
        -------
        DataFrame
            Index sem, mdc, cv, log cv; columns value, lower, upper.
        """
        rows = {"sem": self.sem, "mdc": self.mdc, "cv": self.cv, "log cv": self.log_cv}
        columns = ("value", "lower", "upper")
        return pd.DataFrame(
            [[getattr(each, name) for name in columns] for each in rows.values()],
            index=list(rows),
            columns=list(columns),
        )

    def methods(self) -> MethodsSentence:
        """Say what a paper says of the error; see `reliabayes.methods`.

        Returns
        -------
        MethodsSentence
            One sentence in APA style, with its references.
        """
        level = f"{100 * self.sem.prob:g}% CI"
        sem, mdc = (
            estimate(each.value, each.lower, each.upper, level) for each in (self.sem, self.mdc)
        )
        statement = (
            f"The standard error of measurement was {sem}, and the minimal detectable change {mdc}"
        )
        clauses = (
            Clause(IN_PAPERS[self.kind], REFERENCES[self.kind]),
            self.sem.clause(anonymous=self.size.raters is None),
        )
        return MethodsSentence(Clause(statement), self.size, clauses, "error")

    def __repr__(self) -> str:
        return f"{self._finding}\n{self.table().round(4).to_string()}"

    def _repr_html_(self) -> str:
        return FindingTable.of(self.table(), self._finding)._repr_html_()

    @property
    def _finding(self) -> str:
        """What counts as an error, in a sentence."""
        return f"Error of measurement, {self.kind}: {WORDS[self.kind]}"


def _roots(variance: VarianceSum, prob: float) -> tuple[float, float, float]:
    """Root of a variance, with limits that contain it."""
    value = float(np.sqrt(variance.total))
    lower, upper = (np.sqrt(variance.limit(tail)) for tail in ((1 - prob) / 2, (1 + prob) / 2))
    return value, float(lower), float(upper)


def _variance(
    ratings: AnyRatings, whole: Whole, kind: ErrorKind, scale: Callable[[Ratings], Array]
) -> VarianceSum:
    """Variance of errors of the values or of their logarithms, in one or two passes over parts."""
    if kind == "within":
        found = whole.each(partial(_within, scale, by_rater=ratings.has_repeats))
        square, df = np.sum(list(found), axis=0).tolist()
        return VarianceSum.of((1.0, square / df, df))
    _require_crossed(ratings, whole)
    n, k, repeats = ratings.n_items, ratings.n_raters, len(ratings) // ratings.n_pairs
    raters = np.sum(list(whole.each(partial(_rater_totals, scale))), axis=0) / n
    squares = whole.each(partial(_squares, scale, raters))
    of_interaction, of_replicates = np.sum(list(squares), axis=0).tolist()
    df, df_within = (n - 1) * (k - 1), n * k * (repeats - 1)
    interaction = repeats * of_interaction / df
    single = (1 - 1 / repeats, of_replicates / (df_within or 1), df_within or 1)
    if kind == "consistency":
        return VarianceSum.of((1 / repeats, interaction, df), single)
    between = n * repeats * float(raters.var(ddof=1))
    if between <= interaction:  # no variance between raters, as g_study counts it
        return VarianceSum.of((1 / repeats, interaction, df), single)
    share = 1 / (n * repeats)
    return VarianceSum.of((share, between, k - 1), (1 / repeats - share, interaction, df), single)


def _values(ratings: Ratings) -> Array:
    return ratings.values


def _logs(ratings: Ratings) -> Array:
    return np.log(ratings.values)


def _are_above_0(ratings: Ratings) -> bool:
    return bool((ratings.values > 0).all())


def _within(
    scale: Callable[[Ratings], Array], ratings: Ratings, *, by_rater: bool
) -> tuple[float, int]:
    """Sum of squares of ratings that are alike, and its degrees of freedom."""
    cell, values = ratings.pair if by_rater else ratings.item, scale(ratings)
    size = int(cell.max()) + 1
    means = sum_by_index(cell, values, size) / sum_by_index(cell, None, size)
    return float(((values - means[cell]) ** 2).sum()), len(values) - size


def _crossed(scale: Callable[[Ratings], Array], ratings: Ratings) -> Array:
    """(I, R, repeats) values, of raters who rated every item equally often."""
    return scale(ratings).reshape(ratings.n_items, ratings.n_raters, -1)


def _rater_totals(scale: Callable[[Ratings], Array], ratings: Ratings) -> Array:
    """(R,) sums over items of the mean values of raters."""
    return np.asarray(_crossed(scale, ratings).mean(axis=2).sum(axis=0))


def _squares(
    scale: Callable[[Ratings], Array], raters: Array, ratings: Ratings
) -> tuple[float, float]:
    """Sums of squares between items and raters, of means of cells, and within cells."""
    table = _crossed(scale, ratings)
    cells = table.mean(axis=2)
    rest = cells - cells.mean(axis=1, keepdims=True) - raters + raters.mean()
    return float((rest**2).sum()), float(((table - cells[..., None]) ** 2).sum())


def _require_crossed(ratings: AnyRatings, whole: Whole) -> None:
    if isinstance(ratings, Ratings):
        ratings.require_known_raters(PURPOSE)
    least, most = np.transpose(whole.ask(_repeats))
    if not (ratings.is_complete and least.min() == most.max()):
        rule = "every rater must have rated every item, and equally often"
        found = f"{ratings.n_pairs} of {ratings.n_items * ratings.n_raters} pairs of item and rater"
        if ratings.is_complete:
            found = f"{least.min()} to {most.max()} ratings of a pair of item and rater"
        remedy = (
            "Use g_study(ratings), whose sem_absolute and sem_relative need no complete design, or "
            "GStudy for an interval."
        )
        raise RatingsError([Fault(PURPOSE, rule, found, remedy)])


def _repeats(ratings: Ratings) -> tuple[int, int]:
    """The least and the largest number of ratings of an item by a rater."""
    numbers = np.bincount(ratings.pair)
    return int(numbers.min()), int(numbers.max())
