"""A coefficient of every pair of raters."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.arrays import Codes
from reliabayes.choices import Method
from reliabayes.errors import RatingsError
from reliabayes.finding_table import FindingTable
from reliabayes.partitions import AnyRatings, RatingsDataset, SharedItems
from reliabayes.ratings import Ratings
from reliabayes.reporting.methods import Clause, MethodsSentence, Size
from reliabayes.reporting.numbers import number
from reliabayes.wording import counted, listed

UNDEFINED = (np.nan, np.nan, np.nan)  # value and limits


def pairwise(
    ratings: AnyRatings,
    coefficient: Callable[[Any], Coefficient],
    *,
    prob: float = 0.95,
    method: Method | None = None,
) -> pd.DataFrame:
    """Coefficient of each pair of raters, on the items that both rated.

    Raters who agree with nobody stand out in this table; `light_kappa` is the mean of its column if
    the coefficient is Cohen's kappa.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        By known raters. Of ratings in parts, the coefficient must take parts, which are read for
        each pair.
    coefficient : callable
        Function of the ratings of two raters, such as `cohen_kappa`; options are passed as in
        ``lambda two: cohen_kappa(two, "linear")``.
    prob : float, default 0.95
        Nominal coverage of the intervals, strictly between 0 and 1.
    method : str, optional
        As for `Coefficient.interval`, over items.

    Returns
    -------
    DataFrame
        A row for each pair, in the order of ``ratings.raters``; columns one, other (ids of the
        raters), items (how many both rated), value, lower, upper (limits of the interval). Nan
        where the coefficient is undefined or the pair has fewer than two items in common.

    Raises
    ------
    RatingsError
        The raters are anonymous, or the ratings do not suit the coefficient.
    ValueError
        An option is out of range.

    References
    ----------
    Light (1971), who averages the pairs. https://doi.org/10.1037/h0031643

    Examples
    --------
    >>> import numpy as np
    >>> import reliabayes as rb
    >>> wide = np.array([["a", "a", "a"], ["b", "b", "a"], ["b", "a", "b"], ["a", "a", "a"]])
    >>> ratings = rb.Ratings.from_wide(wide)
    >>> table = rb.agreement.pairwise(ratings, rb.agreement.cohen_kappa)
    >>> table[["one", "other", "items", "value"]].round(2)
       one  other  items  value
    0    0      1      4   0.50
    1    0      2      4   0.50
    2    1      2      4  -0.33
    """
    shared = SharedItems.of(ratings) if isinstance(ratings, RatingsDataset) else _Shared.of(ratings)
    rows, undefined, kind = list[tuple[Any, ...]](), list[str](), None
    for one, other in combinations(range(ratings.n_raters), 2):
        pair, n_shared = ratings.raters[[one, other]], shared.number(one, other)
        found = UNDEFINED
        if n_shared > 1:
            both = shared.by(one, other)
            if both is not None:
                kind = coefficient(both)
                found = _interval(kind, prob, method)
            undefined += [" and ".join(map(str, pair))] if np.isnan(found[0]) else []
        rows.append((*pair, n_shared, *found))
    if undefined:
        warnings.warn(
            f"the coefficient is undefined for {len(undefined)} of {len(rows)} pairs of raters: "
            f"{listed(undefined)}.",
            stacklevel=2,
        )
    table = pd.DataFrame(rows, columns=["one", "other", "items", "value", "lower", "upper"])
    if kind is None or table["value"].isna().all():
        return table
    said = _said(table.dropna(subset="value"), kind, Size.of(ratings))
    return FindingTable.of(table, f"{said.statement.text}.".replace("{raters}", said.raters), said)


def _said(table: pd.DataFrame, kind: Coefficient, size: Size) -> MethodsSentence:
    """What a paper says of the pairs that have a value."""
    values, meaning, bounded = table["value"], kind.meaning, kind.limit == 1
    least, most = (
        f"{number(values.iloc[at], bounded=bounded)} ({table['one'].iloc[at]} and "
        f"{table['other'].iloc[at]})"
        for at in (int(values.argmin()), int(values.argmax()))
    )
    mean = number(float(values.mean()), bounded=bounded)
    text = (
        f"{kind.name} of {counted(len(table), 'pair')} of {{raters}} was {mean} on average, from "
        f"{least} to {most}"
    )
    clauses = [Clause("each pair is compared on the {items} that both rated", ("light1971",))]
    if meaning.estimand:
        clauses.insert(0, Clause(f"{kind.name} is {meaning.estimand}", meaning.references))
    return MethodsSentence(Clause(text), size, tuple(clauses), meaning.kind)


@dataclass(frozen=True, eq=False)
class _Shared:
    """As `SharedItems`, of ratings in memory and the items (n,) that each rater rated."""

    ratings: Ratings
    rated: list[Codes]

    @classmethod
    def of(cls, ratings: Ratings) -> _Shared:
        ratings.require_known_raters("pairwise")
        table = ratings.incidence.tocsc()
        return cls(ratings, np.split(table.indices, table.indptr[1:-1]))

    def number(self, one: int, other: int) -> int:
        return len(self._items(one, other))

    def by(self, one: int, other: int) -> Ratings | None:
        """The ratings by both; None if they are numbers that are all equal."""
        items = self.ratings.items[self._items(one, other)]
        try:
            return self.ratings.subset(items=items, raters=self.ratings.raters[[one, other]])
        except RatingsError:
            return None

    def _items(self, one: int, other: int) -> Codes:
        return np.intersect1d(self.rated[one], self.rated[other])


def _interval(
    coefficient: Coefficient, prob: float, method: Method | None
) -> tuple[float, float, float]:
    """The value with its interval over items, without a warning if it is undefined."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".* is undefined: ")
        value = coefficient.value
    if np.isnan(value):
        return UNDEFINED
    interval = coefficient.interval(prob, over=None if method is None else "items", method=method)
    return value, interval.lower, interval.upper
