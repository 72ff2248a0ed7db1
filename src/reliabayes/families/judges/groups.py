"""Groups of items, such as the systems whose answers are judged."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.judges.problem import ALL
from reliabayes.ratings import Ratings
from reliabayes.wording import listed


def groups_of(ratings: Ratings) -> tuple[Codes, pd.Index[Any]]:
    """Group of each item, and names of the groups; one group if items have none.

    Parameters
    ----------
    ratings : Ratings
        The ratings.

    Returns
    -------
    group : array of int, shape (I,)
        Position of each item's group.
    groups : Index, shape (G,)
        Names of the groups.

    Raises
    ------
    RatingsError
        Some items have a group, and others have none.
    """
    if ratings.item_group is None:
        return np.zeros(ratings.n_items, np.int32), pd.Index([ALL])
    if (is_unknown := ratings.item_group < 0).any():
        rule = "each item must have a group, or none"
        found = f"no group of {listed(list(ratings.items[is_unknown]))}"
        remedy = "Fill the column in, or leave group=... out."
        raise RatingsError([Fault("group", rule, found, remedy)])
    return ratings.item_group, ratings.groups
