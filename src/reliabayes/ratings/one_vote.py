"""One vote of each rater on each item, where raters have rated items repeatedly."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt

from reliabayes.ratings.facets import NO_FACETS
from reliabayes.ratings.ratings import Ratings

Counts = npt.NDArray[np.int64]


def category_counts(ratings: Ratings) -> Counts:
    """Number (R * K,) of ratings by each rater in each category.

    Parameters
    ----------
    ratings : Ratings
        Ratings whose raters are known.

    Returns
    -------
    array of int
    """
    n_categories = len(ratings.categories)
    cell = ratings.rater.astype(np.int64) * n_categories + ratings.category
    return np.bincount(cell, minlength=ratings.n_raters * n_categories)


def one_vote_each(ratings: Ratings, of_rater: Counts | None = None) -> Ratings:
    """Ratings in which each rater has one vote on an item: the category that they gave most often.

    Of categories that the rater gave equally often to the item, the vote is the one that the rater
    gives more often to all items, then the first.

    Parameters
    ----------
    ratings : Ratings
        The ratings; those without repeats are returned as they are.
    of_rater : array of int, shape (R * K,), optional
        `category_counts` of all items, if these are some of them.

    Returns
    -------
    Ratings
        One for each pair of item and rater, without facets, in which repeats differ.
    """
    if not ratings.has_repeats:
        return ratings
    of_rater = category_counts(ratings) if of_rater is None else of_rater
    pair = ratings.pair
    n_categories = len(ratings.categories)
    found, row, count = np.unique(
        pair * n_categories + ratings.category, return_index=True, return_counts=True
    )
    pair_of, category = np.divmod(found, n_categories)
    overall = of_rater[ratings.rater[row].astype(np.int64) * n_categories + category]
    best_first = np.lexsort((category, -overall, -count, pair_of))
    rows = row[best_first[np.append(True, np.diff(pair_of[best_first]) != 0)]]
    number = len(ratings) - len(rows)
    return replace(
        ratings,
        item=ratings.item[rows],
        rater=ratings.rater[rows],
        rating=ratings.rating[rows],
        given_categories=ratings.categories,
        facets=NO_FACETS,
        facet=NO_FACETS,
        notes=(
            *ratings.notes,
            f"{number:,} of {len(ratings):,} ratings repeat a rater's rating of an item. Each "
            "rater has one vote on an item: the category that they gave it most often.",
        ),
    )
