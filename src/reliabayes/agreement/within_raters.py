"""Agreement of raters with themselves, where they rated items more than once."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.count_table import item_and_rater
from reliabayes.agreement.icc_between_raters import raters_averaged
from reliabayes.agreement.item_rows import Rows
from reliabayes.agreement.rater_pools import pool_by_rater
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import NO_FACETS
from reliabayes.wording import joined

WITHIN = ", within raters"  # ends the name of a coefficient


def within_raters(ratings: Ratings, function: Callable[[Ratings], Coefficient]) -> Coefficient:
    """Compute a coefficient of the ratings of an item by the same rater.

    Each pair of an item and a rater counts as an item, so that pairs of ratings are by one rater.
    The sampling distribution remains that over items and raters.

    Parameters
    ----------
    ratings : Ratings
        By known raters, some of whom rated items more than once.
    function : callable
        Computes a coefficient of ratings by anonymous raters.

    Returns
    -------
    Coefficient
        The agreement within raters.
    """
    unit, first = item_and_rater(ratings)
    found = function(_ratings_by_unit(ratings))
    item, rater = ratings.item[first], ratings.rater[first]
    shape = ratings.n_items, len(first)

    @cache
    def rows_by_unit() -> Rows:
        return found.rows(None)

    def rows(weights: Array | None) -> Rows:
        times = np.ones(len(first)) if weights is None else np.asarray(weights, float)[rater]
        summed: Any = sp.csr_array((times, (item, np.arange(len(first)))), shape) @ rows_by_unit()
        return summed if isinstance(summed, np.ndarray) else sp.csr_array(summed)

    return replace(
        found,
        name=f"{found.name}{WITHIN}",
        items=ratings.items,
        raters=pool_by_rater(ratings),
        rows=rows,
        total=None,
        model=None,
        n_paired=len(np.unique(item[np.bincount(unit) > 1])),
    )


def pairs_in_words(ratings: Ratings, *, has_iccs: bool) -> str:
    """Say which pairs of ratings a table of coefficients compares.

    Parameters
    ----------
    ratings : Ratings
        By known raters, some of whom rated items more than once.
    has_iccs : bool
        Whether the table has ICCs of means of k raters.

    Returns
    -------
    str
        Sentences.
    """
    names = [*ratings.facets]
    verb = "is" if len(names) == 1 else "are"
    where = f", whether or not {joined(names)} {verb} the same" if names else ""
    said = (
        f"Raters rated items more than once: pairs of ratings are by different raters{where}; "
        f'rows that end with "within raters" compare ratings of an item by one rater.'
    )
    if has_iccs:
        k = raters_averaged(ratings)
        said += f" In ICC(., k), k is {k:.3g} raters with one rating each."
    return said


def _ratings_by_unit(ratings: Ratings) -> Ratings:
    """The ratings with pairs of an item and a rater as items, and without raters and facets."""
    unit, first = item_and_rater(ratings)
    place = np.arange(len(unit)) - first[unit]
    return replace(
        ratings,
        item=np.asarray(unit, np.int32),
        rater=np.asarray(place, np.int32),
        items=pd.RangeIndex(len(first)),
        raters=pd.RangeIndex(int(place.max()) + 1),
        pools=pd.Index([]),
        rater_pool=None,
        gold=None,
        anonymous_raters=True,
        facets=NO_FACETS,
        facet=NO_FACETS,
    )
