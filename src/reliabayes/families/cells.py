"""Cells of ratings in categories: what a likelihood needs of a rating."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.ratings import Ratings


class Cells(NamedTuple):
    """What the likelihood needs of a rating: its cell, which has a category and a rater.

    Attributes
    ----------
    of_rating : array of int, shape (N,)
        Cell of each rating.
    category, rater : array of int, shape (V,)
        Category and rater of the ratings in each cell.
    """

    of_rating: Codes
    category: Codes
    rater: Codes

    @classmethod
    def of(cls, ratings: Ratings, *, exchangeable_raters: bool) -> Cells:
        """A cell for each category and rater, category by category; or for each category."""
        n_raters = 1 if exchangeable_raters else ratings.n_raters
        every = np.arange(n_raters * len(ratings.categories), dtype=np.int32)
        category, rater = np.divmod(every, np.int32(n_raters))
        own = 0 if exchangeable_raters else ratings.rater
        return cls(ratings.category * np.int32(n_raters) + own, category, rater)
