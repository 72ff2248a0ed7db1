"""Posterior predictive checks: whether the model, as fitted, gives ratings such as were seen."""

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
from reliabayes.results.summaries import bounds


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveChecks:
    """Numbers counted or measured in the ratings, beside those in replicates the model gave.

    A table has a row for each number. Its last columns are observed; mean, lower_90 and upper_90
    of the replicates (for ``prob=0.9``); and p_value, two-sided, by rank among the replicates.
    A number that parameters of the model are free to fit says little: how often a rater gives a
    category under `DawidSkene`, or a rater's mean under `GaussianICC`. One that they do not speak
    of says most.

    Of models of categories the tables are votes, raters and pairs; of models of numbers, ratings,
    items, raters and pairs. The others are None, and so are those of raters and of pairs if raters
    are anonymous, and that of pairs if no two raters have items in common.

    Attributes
    ----------
    p_values : Series by check, named after the tables
        Share of all S + 1 data sets, the observed one among them, that deviate as much as it does
        or more; from 1 / (S + 1) to 1. A small one tells of a model that does not give such data.
        The ratings serve twice, for the fit and for the check, so that a model that holds gives
        values near 0.5 or above more often than evenly spread ones.
    votes : DataFrame, its first columns category and votes
        How many items got so many votes for the category.
    ratings : DataFrame, its first columns above and up_to
        How many ratings fell into the band. Edges are at the tenths of the observed ratings and,
        for the tails, at 0.01, 0.05, 0.95, 0.99 and around all of them.
    items : DataFrame, its first columns above and up_to
        How many items, of those with two ratings or more, have a standard deviation of their
        ratings in the band, edges as before. Residuals with long tails, or items more disputed
        than others, give more of small and of large ones than the model.
    raters : DataFrame, its first columns rater and category, or rater and statistic
        How many ratings of the rater fell into the category. Of numbers, the mean of the rater's
        ratings, and the standard deviation (sd) of how far they are from the means of their items.
    pairs : DataFrame, its first columns rater, other and common
        Share, from 0 to 1, of their ratings of common items in which two raters agree. ``common``
        is the number of these: each rating by the one goes with each by the other of the same item.
        Of numbers, the standard deviation of their differences, if they have two or more.
    replicates : number S of replicates

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
        """Compare ratings with replicates, each the categories (N,) of all ratings drawn anew."""
        return cls._of(discrepancies.of_categories(ratings), [ratings.category], replicates, prob)

    @classmethod
    def of_numbers(
        cls, ratings: Ratings, replicates: Iterable[Array], prob: float
    ) -> PredictiveChecks:
        """Compare ratings with replicates, each the values (N,) of all ratings drawn anew."""
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
        stacked = {name: np.stack(rows) for name, rows in measured.items()}
        p_values = {
            name: overall_p_value(stacked[name], check.grain) for name, check in checks.items()
        }
        return cls(
            pd.Series(p_values, name="p_value").rename_axis("check"),
            len(next(iter(stacked.values()))) - 1,
            **{name: _table(check, stacked[name], prob) for name, check in checks.items()},
        )


def overall_p_value(numbers: NDArray[Any], grain: float = 1.0) -> float:
    r"""Share of data sets that deviate as much as the first does, or more, in (0, 1].

    .. math:: T_s = \sum_c (n_{sc} - \bar n_c)^2 / (\mathrm{var}_c + \mathrm{grain}^2)

    Mean and variance are those of all data sets: the first counts among them, for otherwise it
    alone would be compared with a mean that it had no part in. Of counts the grain is 1, so that a
    count of 1 where none is expected stays no surprise. Numbers that never change count for
    nothing.

    Parameters
    ----------
    numbers : (S + 1, C), a row for each data set: the observed one, and replicates
    grain : smallest standard deviation that is of note

    Examples
    --------
    >>> overall_p_value(np.array([[9, 1], [4, 6], [5, 5], [6, 4]]))
    0.25
    """
    deviation = (numbers - numbers.mean(axis=0)) ** 2
    variance = deviation.mean(axis=0) + grain**2
    distance = (deviation / np.where(variance > 0, variance, 1)).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-12)).mean())  # equal ones, but for rounding


def _table(check: Check, numbers: NDArray[Any], prob: float) -> pd.DataFrame:
    """Observed number, the first row of ``numbers``, beside its replicates, the others."""
    observed, replicated = numbers[0], numbers[1:]
    at_least = (replicated >= observed).sum(axis=0)
    at_most = (replicated <= observed).sum(axis=0)
    tail = (1 + np.minimum(at_least, at_most)) / len(numbers)
    lower, upper = bounds(replicated.astype(float), prob)
    return check.cells.assign(
        **{
            "observed": observed if isinstance(check.out_of, int) else observed / check.out_of,
            "mean": replicated.mean(axis=0) / check.out_of,
            f"lower_{100 * prob:g}": lower / check.out_of,
            f"upper_{100 * prob:g}": upper / check.out_of,
            "p_value": np.minimum(1.0, 2 * tail),
        }
    )
