"""Posterior predictive checks: whether a fitted model generates ratings like the observed ones."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings
from reliabayes.results import discrepancies
from reliabayes.results.discrepancies import Check
from reliabayes.results.summaries import interval_bounds


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveChecks:
    """Statistics of the observed ratings beside those of replicates drawn from the model.

    Each row of a table is one statistic. The last columns of every table are observed; mean,
    lower_90 and upper_90 over the replicates (for ``prob=0.9``); and p_value, two-sided, from the
    rank of the observed value among the replicates. Statistics that the model has parameters for
    are weak checks, such as the proportion of a category in a rater's ratings under `DawidSkene`,
    or a rater's mean under `GaussianICC`. Statistics that no parameter can adjust are strong ones.

    Models of categories have the tables votes, raters and pairs; models of numbers have ratings,
    items, raters and pairs. The other tables are None. So are raters and pairs if raters are
    anonymous, and pairs if no two raters have items in common.

    Attributes
    ----------
    p_values : Series of float
        For each table, the proportion of all S + 1 data sets, including the observed one, that
        deviate from their mean at least as much as the observed one does; from 1 / (S + 1) to 1. A
        small value means that the model does not generate such data. The ratings are used twice,
        for the fit and for the check, so that p-values of a correct model are not uniform but
        concentrated around 0.5 and above.
    replicates : int
        Number S of replicates.
    votes : DataFrame or None
        Number of items that received a given number of votes for a category; first columns category
        and votes.
    ratings : DataFrame or None
        Number of ratings in a band; first columns above and up_to, the edges of the band. Edges are
        the deciles of the observed ratings and, for the tails, their 0.01, 0.05, 0.95 and 0.99
        quantiles and their range.
    items : DataFrame or None
        Number of items whose ratings have a standard deviation in a band, over items with two
        ratings or more; first columns above and up_to, as in ``ratings``. Residuals with heavy
        tails, or items that are more disputed than others, lead to more small and more large
        standard deviations than under the model.
    raters : DataFrame or None
        Number of a rater's ratings in a category; first columns rater and category. For numbers,
        the mean of the rater's ratings, and the standard deviation (sd) of their deviations from
        the means of the items; first columns rater and statistic.
    pairs : DataFrame or None
        Proportion, from 0 to 1, of agreement between two raters on common items; first columns
        rater, other and common. ``common`` is the number of pairs of ratings compared: each rating
        by the one with each rating by the other of the same item. For numbers, the standard
        deviation of the differences, for two raters with at least two such pairs of ratings.

    References
    ----------
    Gelman, Meng & Stern (1996). Posterior predictive assessment of model fitness via realized
    discrepancies. Statistica Sinica 6, 733-807. https://www.jstor.org/stable/24306036
    """

    p_values: pd.Series[float]
    replicates: int
    votes: pd.DataFrame | None = None
    ratings: pd.DataFrame | None = None
    items: pd.DataFrame | None = None
    raters: pd.DataFrame | None = None
    pairs: pd.DataFrame | None = None

    def __repr__(self) -> str:
        found = ", ".join(f"{name} p = {p:.3f}" for name, p in self.p_values.items())
        return f"PredictiveChecks({found}; {self.replicates} replicates)"

    @classmethod
    def of_categories(
        cls, ratings: Ratings, replicates: Iterable[Codes], prob: float
    ) -> PredictiveChecks:
        """Compare ratings in categories with their replicates.

        Parameters
        ----------
        ratings : Ratings
            The observed ratings.
        replicates : iterable of array of int, shape (N,)
            Categories of all ratings, 0-based, an array for each replicate.
        prob : float
            Probability of the equal-tailed intervals, strictly between 0 and 1.

        Returns
        -------
        PredictiveChecks
            With the tables votes, raters and pairs.
        """
        return cls._of(discrepancies.of_categories(ratings), [ratings.category], replicates, prob)

    @classmethod
    def of_numbers(
        cls, ratings: Ratings, replicates: Iterable[Array], prob: float
    ) -> PredictiveChecks:
        """Compare ratings that are numbers with their replicates.

        Parameters
        ----------
        ratings : Ratings
            The observed ratings.
        replicates : iterable of array of float, shape (N,)
            Values of all ratings, an array for each replicate.
        prob : float
            Probability of the equal-tailed intervals, strictly between 0 and 1.

        Returns
        -------
        PredictiveChecks
            With the tables ratings, items, raters and pairs.
        """
        return cls._of(discrepancies.of_numbers(ratings), [ratings.values], replicates, prob)

    @classmethod
    def _of(
        cls,
        checks: Mapping[str, Check],
        observed: Iterable[NDArray[Any]],
        replicates: Iterable[NDArray[Any]],
        prob: float,
    ) -> PredictiveChecks:
        measured: dict[str, list[Array]] = {name: [] for name in checks}
        for ratings in chain(observed, replicates):
            for name, check in checks.items():
                measured[name].append(check.measure(ratings))
        statistics = {name: np.stack(rows) for name, rows in measured.items()}
        p_values = {
            name: overall_p_value(statistics[name], check.resolution)
            for name, check in checks.items()
        }
        return cls(
            pd.Series(p_values, name="p_value").rename_axis("check"),
            len(next(iter(statistics.values()))) - 1,
            **{name: _table(check, statistics[name], prob) for name, check in checks.items()},
        )


def overall_p_value(statistics: NDArray[Any], resolution: float = 1.0) -> float:
    r"""Proportion of data sets that deviate at least as much as the first one, in (0, 1].

    .. math:: T_s = \sum_c (n_{sc} - \bar n_c)^2 / (\mathrm{var}_c + \mathrm{resolution}^2)

    Mean and variance are taken over all data sets including the first, so that every data set is
    compared with a mean to which it contributed. For counts the resolution is 1, so that a count of
    1 where none is expected is not a surprise. Statistics that never vary do not contribute.

    Parameters
    ----------
    statistics : array of float, shape (S + 1, C)
        C statistics of each data set: the observed one first, then S replicates.
    resolution : float, default 1.0
        Differences well below it are ignored; 0 or above, in the unit of the statistics.

    Returns
    -------
    float
        The p-value, from 1 / (S + 1) to 1.

    Examples
    --------
    >>> overall_p_value(np.array([[9, 1], [4, 6], [5, 5], [6, 4]]))
    0.25
    """
    deviation = (statistics - statistics.mean(axis=0)) ** 2
    variance = deviation.mean(axis=0) + resolution**2
    distance = (deviation / np.where(variance > 0, variance, 1)).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-12)).mean())  # ties up to rounding


def _table(check: Check, statistics: NDArray[Any], prob: float) -> pd.DataFrame:
    """Statistics of the observed ratings beside summaries of their replicates."""
    observed, replicated = statistics[0], statistics[1:]
    at_least = (replicated >= observed).sum(axis=0)
    at_most = (replicated <= observed).sum(axis=0)
    tail = (1 + np.minimum(at_least, at_most)) / len(statistics)
    lower, upper = interval_bounds(replicated.astype(float), prob)
    is_count = isinstance(check.denominator, int)
    return check.labels.assign(
        **{
            "observed": observed if is_count else observed / check.denominator,
            "mean": replicated.mean(axis=0) / check.denominator,
            f"lower_{100 * prob:g}": lower / check.denominator,
            f"upper_{100 * prob:g}": upper / check.denominator,
            "p_value": np.minimum(1.0, 2 * tail),
        }
    )
