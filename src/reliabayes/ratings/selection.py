"""Selection of ratings by the user's ids of items, raters, pools and levels of facets."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.coded_ratings import CodedRatings
from reliabayes.wording import did_you_mean, listed, shown


def selection(
    ratings: CodedRatings,
    items: Iterable[Any] | None,
    raters: Iterable[Any] | None,
    pools: Iterable[Any] | None,
    facets: Mapping[str, Iterable[Any]] | None,
) -> Mask:
    """Return which ratings are of some items, by some raters, from some pools, at some levels.

    Parameters
    ----------
    ratings : CodedRatings
        N ratings.
    items, raters, pools, facets
        As for `Ratings.subset`.

    Returns
    -------
    array of bool, shape (N,)

    Raises
    ------
    RatingsError
        An id or a facet is unknown.
    """
    if raters is not None:
        ratings.require_known_raters("raters")
    is_selected = (
        are_selected("items", items, ratings.items)[ratings.item]
        & are_selected("raters", raters, ratings.raters)[ratings.rater]
    )
    in_pools = are_selected("pools", pools, ratings.pools)
    if ratings.rater_pool is not None:
        is_selected &= in_pools[ratings.rater_pool[ratings.rater]]
    if not isinstance(facets, (Mapping, type(None))):
        rule, remedy = "it must map facets to levels", "Pass facets={'occasion': [...]}."
        raise RatingsError([Fault("facets", rule, shown(facets), remedy)])
    for name, levels in (facets or {}).items():
        is_selected &= _at(ratings, name, levels)
    return is_selected


def are_selected(place: str, wanted: Iterable[Any] | None, known: pd.Index[Any]) -> Mask:
    """Return which known ids are wanted.

    Parameters
    ----------
    place : str
        What they are ids of, with which the message starts.
    wanted : iterable or None
        None selects all.
    known : Index, shape (n,)
        All ids.

    Returns
    -------
    array of bool, shape (n,)

    Raises
    ------
    RatingsError
        A wanted id is not among them.
    """
    if wanted is None:
        return np.ones(len(known), np.bool_)
    ids = [wanted] if isinstance(wanted, str) else list(wanted)
    unknown = [one for one in ids if one not in known]
    if unknown:
        guess = did_you_mean(unknown[0], known)
        remedy = (
            f"The known ids are {listed(known)}." if guess is None else f"Did you mean {guess!r}?"
        )
        rule = "all requested ids must exist"
        raise RatingsError([Fault(place, rule, f"no {listed(unknown)}", remedy)])
    return np.asarray(known.isin(ids), np.bool_)


def _at(ratings: CodedRatings, facet: str, levels: Iterable[Any]) -> Mask:
    """Which ratings (N,) were given at some levels of a facet."""
    if facet not in ratings.facets:
        guess = did_you_mean(facet, ratings.facets)
        known = f"The facets are {listed(ratings.facets)}." if ratings.facets else "There are none."
        remedy = known if guess is None else f"Did you mean {guess!r}?"
        rule = "all requested facets must exist"
        raise RatingsError([Fault("facets", rule, f"no {shown(facet)}", remedy)])
    return are_selected(facet, levels, ratings.facets[facet])[ratings.facet[facet]]
