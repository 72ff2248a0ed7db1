"""Ratings by the busiest raters: of all raters there may be too many pairs to look at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.arrays import Codes
from reliabayes.ratings.ratings import Ratings


@dataclass(frozen=True, eq=False)
class BusyRaters:
    """Those who gave most ratings.

    Attributes
    ----------
    codes : (B,) of these raters, ascending
    rows : (n,) their ratings
    item, rater : (n,) what was rated, and which of the busy raters rated it
    n_items : number I of items
    """

    codes: Codes
    rows: Codes
    item: Codes
    rater: Codes
    n_items: int

    @classmethod
    def of(cls, ratings: Ratings, most: int) -> BusyRaters:
        """All raters, or as many as there may be at most."""
        codes = np.sort(np.argsort(-ratings.ratings_per_rater, kind="stable")[:most])
        place = np.full(ratings.n_raters, -1)
        place[codes] = np.arange(len(codes))
        rows = np.flatnonzero(place[ratings.rater] >= 0)
        item, rater = ratings.item[rows].astype(np.int64), place[ratings.rater[rows]]
        return cls(codes, rows, item, rater, ratings.n_items)

    def matrix(self, weight: NDArray[Any], category: Any = 0, n_categories: int = 1) -> Any:
        """Weights (n,) of ratings, by item or by item and category, and by rater."""
        n_rows = self.n_items * n_categories
        row = self.item * n_categories + category
        matrix = sp.csr_array((weight, (row, self.rater)), shape=(n_rows, len(self.codes)))
        is_dense = 4 * len(self.rows) >= self.n_items * len(self.codes)
        return matrix.toarray() if is_dense else matrix


def crossed(one: Any, other: Any) -> NDArray[Any]:
    """Products (B, B), summed over the rows of two such matrices."""
    product: Any = one.T @ other
    return product if isinstance(product, np.ndarray) else np.asarray(product.toarray())
