"""Groups of items, such as the systems whose answers are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.judges.problem import ALL
from reliabayes.ratings import Ratings
from reliabayes.ratings.facet_design import has_one
from reliabayes.wording import listed


def groups_of(ratings: Ratings, facet: str | None) -> tuple[Codes, pd.Index[Any]]:
    """Group of each item, and names of the groups.

    Parameters
    ----------
    ratings : Ratings
        The ratings.
    facet : str, optional
        Facet with one level for each item. By default all items are of one group.

    Returns
    -------
    group : array of int, shape (I,)
        Position of each item's group.
    groups : Index, shape (G,)
        Names of the groups.

    Raises
    ------
    RatingsError
        There is no such facet, or an item has several levels of it.
    """
    if facet is None:
        return np.zeros(ratings.n_items, np.int32), pd.Index([ALL])
    codes, names = ratings.positions(facet)
    if not has_one(ratings.item, codes):
        first = np.zeros(ratings.n_items, codes.dtype)
        first[ratings.item] = codes
        several = np.unique(ratings.item[first[ratings.item] != codes])
        rule = "each item must have one group"
        found = f"several of {listed(list(ratings.items[several]))}"
        remedy = "Let items be answers: give those of different groups different ids."
        raise RatingsError([Fault(facet, rule, found, remedy)])
    group = np.zeros(ratings.n_items, np.int32)
    group[ratings.item] = codes
    return group, names
