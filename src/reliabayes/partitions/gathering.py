"""Ratings in parts as ratings in memory."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import accumulate
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import ByFacet


def together(parts: Sequence[Ratings], ids: Sequence[pd.Index[Any]], **changed: Any) -> Ratings:
    """Return parts as ratings in memory, with items in the order that `Ratings` gives them.

    Parameters
    ----------
    parts : sequence of Ratings
        All parts.
    ids : sequence of Index
        The user's ids of the items of each.
    **changed : Any
        Fields that parts and all ratings do not share.

    Returns
    -------
    Ratings
    """
    items = ids[0].append(list(ids[1:]))
    by_id = np.asarray(items.argsort())
    rank = np.empty(len(items), np.int32)
    rank[by_id] = np.arange(len(items), dtype=np.int32)
    first = accumulate((part.n_items for part in parts), initial=0)
    item = rank[np.concatenate([part.item + at for part, at in zip(parts, first, strict=False)])]
    rater = np.concatenate([part.rater for part in parts])
    rating = np.concatenate([part.rating for part in parts])
    facets = parts[0].facets
    facet = {name: np.concatenate([part.facet[name] for part in parts]) for name in facets}
    order = np.lexsort((rating, *reversed(facet.values()), rater, item))
    gold: Any = [part.gold for part in parts if part.gold is not None]
    return replace(
        parts[0],
        item=item[order],
        rater=rater[order],
        rating=rating[order],
        items=items[by_id],
        gold=np.concatenate(gold)[by_id] if gold else None,
        facet=ByFacet({name: codes[order] for name, codes in facet.items()}),
        **changed,
    )
