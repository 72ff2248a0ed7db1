"""Posterior predictive checks: whether the model, as fitted, gives ratings such as were seen."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.ratings import Ratings
from reliabayes.summaries import bounds

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Counts = NDArray[np.int64]

MOST_RATERS = 200  # whose agreement is looked at: 19,900 pairs


@dataclass(frozen=True, eq=False, repr=False)
class PredictiveChecks:
    """Numbers counted in the ratings, beside those in replicates the model gave.

    A table has a row for each number. Its last columns are observed; mean, lower_90 and upper_90
    of the replicates (for ``prob=0.9``); and p_value, two-sided, by rank among the replicates.
    A number that parameters of the model are free to fit says little: how often a rater gives a
    category under `DawidSkene`, say. One that they do not speak of says most.

    Attributes
    ----------
    p_values : Series by check: "votes", and "raters" and "pairs" where there are such tables
        Share of all S + 1 data sets, the observed one among them, that deviate as much as it does
        or more; from 1 / (S + 1) to 1. A small one tells of a model that does not give such data.
        The ratings serve twice, for the fit and for the check, so that a model that holds gives
        values near 0.5 or above more often than evenly spread ones.
    votes : DataFrame, its first columns category and votes
        How many items got so many votes for the category.
    raters : DataFrame, its first columns rater and category; None if raters are anonymous
        How many ratings of the rater fell into the category.
    pairs : DataFrame, its first columns rater, other and common; None if no items have two raters
        Share, from 0 to 1, of their ratings of common items in which two raters agree. ``common``
        is the number of these: each rating by the one goes with each by the other of the same item.
    replicates : number S of replicates

    References
    ----------
    Gelman, Meng & Stern (1996). Posterior predictive assessment of model fitness via realized
    discrepancies. Statistica Sinica 6, 733-807. https://www.jstor.org/stable/24306036
    """

    p_values: pd.Series[float]
    votes: pd.DataFrame
    raters: pd.DataFrame | None
    pairs: pd.DataFrame | None
    replicates: int

    def __repr__(self) -> str:
        found = ", ".join(f"{name} p = {p:.3f}" for name, p in self.p_values.items())
        return f"PredictiveChecks({found}; {self.replicates} replicates)"

    @classmethod
    def of(cls, ratings: Ratings, replicates: Iterable[Codes], prob: float) -> PredictiveChecks:
        """Compare ratings with replicates, each the categories (N,) of all ratings drawn anew."""
        checks = {"votes": _votes(ratings)}
        if not ratings.anonymous_raters:
            checks["raters"] = _raters(ratings)
            pairs = _pairs(ratings)
            if len(pairs.cells):
                checks["pairs"] = pairs
        counts = {name: [check.count(ratings.category)] for name, check in checks.items()}
        for category in replicates:
            for name, check in checks.items():
                counts[name].append(check.count(category))
        stacked = {name: np.stack(rows) for name, rows in counts.items()}
        tables = {name: check.table(stacked[name], prob) for name, check in checks.items()}
        return cls(
            pd.Series(
                {name: overall_p_value(rows) for name, rows in stacked.items()}, name="p_value"
            ).rename_axis("check"),
            tables["votes"],
            tables.get("raters"),
            tables.get("pairs"),
            len(stacked["votes"]) - 1,
        )


def overall_p_value(counts: Counts) -> float:
    r"""Share of data sets that deviate as much as the first does, or more, in (0, 1].

    .. math:: T_s = \sum_c (n_{sc} - \bar n_c)^2 / (\mathrm{var}_c + 1)

    Mean and variance are those of all data sets: the first counts among them, for otherwise it
    alone would be compared with a mean that it had no part in. One is added to the variance, so
    that a count of 1 where none is expected stays no surprise, and nothing is divided by 0.

    Parameters
    ----------
    counts : (S + 1, C), a row for each data set: the observed one, and replicates

    Examples
    --------
    >>> overall_p_value(np.array([[9, 1], [4, 6], [5, 5], [6, 4]]))
    0.25
    """
    deviation = (counts - counts.mean(axis=0)) ** 2
    distance = (deviation / (deviation.mean(axis=0) + 1)).sum(axis=1)
    return float((distance >= distance[0] * (1 - 1e-12)).mean())  # equal ones, but for rounding


@dataclass(frozen=True)
class _Check:
    """Numbers (C,) that are counted in the categories (N,) of all ratings."""

    cells: pd.DataFrame  # what each number is of
    count: Callable[[Codes], Counts]
    out_of: Counts | int = 1  # what a number is divided by to be shown

    def table(self, counts: Counts, prob: float) -> pd.DataFrame:
        """Observed number, the first row of ``counts``, beside its replicates, the others."""
        observed, replicated = counts[0], counts[1:]
        at_least = (replicated >= observed).sum(axis=0)
        at_most = (replicated <= observed).sum(axis=0)
        tail = (1 + np.minimum(at_least, at_most)) / len(counts)
        lower, upper = bounds(replicated.astype(float), prob)
        return self.cells.assign(
            **{
                "observed": observed if isinstance(self.out_of, int) else observed / self.out_of,
                "mean": replicated.mean(axis=0) / self.out_of,
                f"lower_{100 * prob:g}": lower / self.out_of,
                f"upper_{100 * prob:g}": upper / self.out_of,
                "p_value": np.minimum(1.0, 2 * tail),
            }
        )


def _votes(ratings: Ratings) -> _Check:
    """Items by number of votes, for each category."""
    n_items, n_categories = ratings.n_items, len(ratings.categories)
    n_levels = int(ratings.ratings_per_item.max()) + 1
    first = ratings.item.astype(np.int64) * n_categories
    block = n_levels * np.arange(n_categories)

    def count(category: Codes) -> Counts:
        votes = np.bincount(first + category, minlength=n_items * n_categories)
        histogram = (votes.reshape(n_items, n_categories) + block).ravel()
        return np.bincount(histogram, minlength=n_levels * n_categories)

    cells = {
        "category": ratings.categories.repeat(n_levels),
        "votes": np.tile(np.arange(n_levels), n_categories),
    }
    return _Check(pd.DataFrame(cells), count)


def _raters(ratings: Ratings) -> _Check:
    """Ratings by rater and category."""
    n_categories = len(ratings.categories)
    n_cells = ratings.n_raters * n_categories
    first = ratings.rater.astype(np.int64) * n_categories
    rater, category = np.divmod(np.arange(n_cells), n_categories)
    cells = {"rater": ratings.raters[rater], "category": ratings.categories[category]}
    return _Check(pd.DataFrame(cells), lambda x: np.bincount(first + x, minlength=n_cells))


def _pairs(ratings: Ratings) -> _Check:
    """Agreements of two raters, for pairs with common items among the `MOST_RATERS` busiest."""
    busy = np.sort(np.argsort(-ratings.ratings_per_rater, kind="stable")[:MOST_RATERS])
    place = np.full(ratings.n_raters, -1)
    place[busy] = np.arange(len(busy))
    rows = np.flatnonzero(place[ratings.rater] >= 0)
    item, rater = ratings.item[rows].astype(np.int64), place[ratings.rater[rows]]
    n_categories = len(ratings.categories)
    is_dense = 4 * len(rows) >= ratings.n_items * len(busy)

    def products(row: NDArray[np.int64], n_rows: int) -> NDArray[np.float32]:
        """Pairs of ratings (R, R) in the same row, by their raters."""
        ones = np.ones(len(row), np.float32)
        matrix = sp.csr_array((ones, (row, rater)), shape=(n_rows, len(busy)))
        if is_dense:
            dense = matrix.toarray()
            return np.asarray(dense.T @ dense)
        return np.asarray((matrix.T @ matrix).toarray())

    both = np.triu(products(item, ratings.n_items), k=1)
    one, other = np.nonzero(both)

    def count(category: Codes) -> Counts:
        agreed = products(item * n_categories + category[rows], ratings.n_items * n_categories)
        return np.rint(agreed[one, other]).astype(np.int64)

    common = both[one, other].astype(np.int64)
    cells = {
        "rater": ratings.raters[busy[one]],
        "other": ratings.raters[busy[other]],
        "common": common,
    }
    return _Check(pd.DataFrame(cells), count, common)
