"""Raters and their pools, from which the bootstrap draws."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings


def pool_by_rater(ratings: Ratings) -> pd.Series[Any] | None:
    """Return the pool of each rater.

    Parameters
    ----------
    ratings : Ratings
        Any design.

    Returns
    -------
    Series, shape (R,), or None
        Pools by rater id, all the same if there are no pools; None if raters are anonymous.
    """
    if ratings.anonymous_raters:
        return None
    pools = 0 if ratings.rater_pool is None else ratings.pools[ratings.rater_pool]
    return pd.Series(pools, index=ratings.raters)


def require_resamplable(raters: pd.Series[Any] | None) -> pd.Series[Any]:
    """Return the raters if there are enough of them to resample.

    Parameters
    ----------
    raters : Series, shape (R,), or None
        Pool of each rater; None if they are anonymous.

    Returns
    -------
    Series, shape (R,)
        The same raters.

    Raises
    ------
    RatingsError
        Raters are anonymous or fewer than three, or a pool has a single rater: the samples would
        be all alike, or of one rater.
    """
    if raters is None:
        rule, found = "raters must be identified to be resampled", "anonymous raters"
        remedy = 'Pass over="items", or read a table that names the raters.'
        raise RatingsError([Fault("over", rule, found, remedy)])
    sizes = raters.value_counts(sort=False)
    if len(raters) < 3 or sizes.min() < 2:
        rule = "resampling raters requires at least three raters, and at least two in each pool"
        raise RatingsError(
            [Fault("over", rule, " and ".join(map(str, sizes)), 'Pass over="items".')]
        )
    return raters


def union_of_raters(each: Sequence[pd.Series[Any] | None]) -> pd.Series[Any] | None:
    """Merge the raters of several coefficients by id.

    Parameters
    ----------
    each : sequence of Series or None
        Pool of each rater, by rater id; None if they are anonymous.

    Returns
    -------
    Series or None
        Every rater once; None if the raters of one coefficient are anonymous.
    """
    known = [raters for raters in each if raters is not None]
    if len(known) < len(each):
        return None
    union: pd.Series[Any] = pd.concat(known)
    return union[~union.index.duplicated()]
