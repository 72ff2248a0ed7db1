"""Ratings of some of the items, in memory, which are the same by any route."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from reliabayes.partitions.either import AnyRatings
from reliabayes.partitions.hashing import index_hashes
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import ByFacet


def some_items(ratings: AnyRatings, most: int | None = None) -> Ratings:
    """All ratings of items that make up a number of ratings, with the lowest hashes of their ids.

    These are a random sample: hashes do not depend on ratings. Parts have ranges of hashes in
    ascending order, so that no more parts are read than hold so many ratings; the memory is that
    of these.

    Parameters
    ----------
    ratings : Ratings or RatingsDataset
        The ratings.
    most : int, optional
        Largest number of ratings; by default all are taken.

    Returns
    -------
    Ratings
        With the raters and categories of all.
    """
    if not isinstance(ratings, Ratings):
        whole = len(ratings)
        ends = np.cumsum([part.n_ratings for part in ratings.parts])
        number = len(ends) if most is None else int(np.searchsorted(ends, most)) + 1
        ratings = replace(ratings, parts=ratings.parts[:number]).to_ratings()
        if most is None or whole <= most:
            return ratings
    elif most is None or len(ratings) <= most:
        return ratings
    in_order = np.argsort(index_hashes(ratings.items), kind="stable")
    total = np.cumsum(ratings.ratings_per_item[in_order])
    is_taken = np.zeros(ratings.n_items, dtype=bool)
    is_taken[in_order[total <= most]] = True
    rows = is_taken[ratings.item]
    place = np.cumsum(is_taken, dtype=np.int32) - 1
    return replace(
        ratings,
        item=place[ratings.item[rows]],
        rater=ratings.rater[rows],
        rating=ratings.rating[rows],
        items=ratings.items[is_taken],
        gold=None if ratings.gold is None else ratings.gold[is_taken],
        facet=ByFacet({name: codes[rows] for name, codes in ratings.facet.items()}),
        item_group=None if ratings.item_group is None else ratings.item_group[is_taken],
        item_block=None if ratings.item_block is None else ratings.item_block[is_taken],
        given_categories=ratings.categories,
    )
