"""The ratings by the most active raters, for sums over pairs of raters.

With many raters, there can be too many pairs of them to compute.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.arrays import Codes, blocks
from reliabayes.ratings.ratings import Ratings

MOST_WORK = 200_000  # multiplications for which no library of linear algebra starts threads


@dataclass(frozen=True, eq=False)
class MostActiveRaters:
    """The B raters who gave the most ratings, and their n ratings.

    Attributes
    ----------
    codes : array of int, shape (B,)
        Position of these raters in `Ratings.raters`, ascending.
    rows : array of int, shape (n,)
        Position of their ratings in `Ratings.rating`.
    item : array of int, shape (n,)
        What was rated.
    rater : array of int, shape (n,)
        Who rated it, as a position in `codes`.
    n_items : int
        Number I of all items.
    """

    codes: Codes
    rows: Codes
    item: Codes
    rater: Codes
    n_items: int

    @classmethod
    def of(cls, ratings: Ratings, limit: int) -> MostActiveRaters:
        """Select the most active raters.

        Parameters
        ----------
        ratings : Ratings
            Ratings by R known raters.
        limit : int
            Largest number of raters to select.

        Returns
        -------
        MostActiveRaters
            All raters, or the `limit` raters with the most ratings.
        """
        codes = np.sort(np.argsort(-ratings.ratings_per_rater, kind="stable")[:limit])
        position = np.full(ratings.n_raters, -1)
        position[codes] = np.arange(len(codes))
        rows = np.flatnonzero(position[ratings.rater] >= 0)
        item, rater = ratings.item[rows].astype(np.int64), position[ratings.rater[rows]]
        return cls(codes, rows, item, rater, ratings.n_items)

    def matrix(self, weight: NDArray[Any], category: Any = 0, n_categories: int = 1) -> Any:
        """Sum the weights (n,) of ratings by rater and by item, or by item and category.

        Parameters
        ----------
        weight : array of float, shape (n,)
            Weight of each rating.
        category : array of int, shape (n,), default 0
            Category of each rating.
        n_categories : int, default 1
            Number K of categories.

        Returns
        -------
        array or sparse array, shape (I * K, B)
            The sums; dense if at least a quarter of the cells are filled.
        """
        n_rows = self.n_items * n_categories
        row = self.item * n_categories + category
        matrix = sp.csr_array((weight, (row, self.rater)), shape=(n_rows, len(self.codes)))
        is_dense = 4 * len(self.rows) >= self.n_items * len(self.codes)
        return matrix.toarray() if is_dense else matrix


def cross_product(one: Any, other: Any) -> NDArray[Any]:
    """Return the cross product of two matrices, summed over their rows.

    Dense ones are multiplied part by part, so that no threads wait for each other, which takes most
    of the time on a busy machine.

    Parameters
    ----------
    one : array or sparse array, shape (rows, B)
        A matrix from `MostActiveRaters.matrix`.
    other : array or sparse array, shape (rows, B)
        Another such matrix.

    Returns
    -------
    array, shape (B, B)
        The dense product ``one.T @ other``.
    """
    if not isinstance(one, np.ndarray):
        return np.asarray((one.T @ other).toarray())
    found = np.zeros((one.shape[1], other.shape[1]))
    for part in blocks(len(one), MOST_WORK // found.size):
        found += one[part].T @ other[part]
    return found
