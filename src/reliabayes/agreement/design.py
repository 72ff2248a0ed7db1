"""The design of numeric ratings, and the sums of products that suffice for their variances."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.variance_components import Products
from reliabayes.arrays import Array, Codes, Mask


@dataclass(frozen=True, eq=False)
class Design:
    """Who rated what, with centred ratings: their mean does not matter for variances.

    Attributes
    ----------
    item : array of int, shape (N,)
        Item of each rating.
    rater : sparse array of float, shape (N, R)
        Indicators of the rater of each rating; R = 0 in the one-way model, which ignores raters.
    values : array of float, shape (N,)
        Ratings minus their mean.
    sizes : array of float, shape (D,)
        Distinct numbers of ratings per item, ascending.
    """

    item: Codes
    rater: sp.csr_array
    values: Array
    sizes: Array

    @classmethod
    def of(
        cls, item: Codes, rater: Codes | None, values: Array, sizes: Codes, n_raters: int
    ) -> Design:
        """Design of centred ratings in long form; one-way without raters."""
        shape = (len(values), 0 if rater is None else n_raters)
        ones = np.empty(0) if rater is None else np.ones(len(values))
        place = np.arange(len(ones)), np.empty(0, int) if rater is None else rater
        return cls(item, sp.csr_array((ones, place), shape), values, sizes.astype(float))

    @property
    def matrix_size(self) -> int:
        """Order R + 2 of a matrix of products: raters, a constant and the rating."""
        return int(self.rater.shape[1]) + 2

    @property
    def n_elements(self) -> int:
        """Number of elements that the rows hold."""
        return int(((np.bincount(self.item) + 2) ** 2).sum())

    def rows(self) -> sp.csr_array:
        """(I, S) statistics of each item, whose sums are the `Products`.

        Let x be the indicators of the rater of a rating, a constant and the rating itself. The
        columns are the sum of xx'; then, for each number of ratings, cc' of the items with that
        number, where c is the item's sum of x; then indicators of the number of ratings.
        """
        has_size = self._has_size()
        squares = _outer(self._item_sums())
        blocks = [sp.diags_array(column) @ squares for column in has_size.T.astype(float)]
        indicators = sp.csr_array(has_size.astype(float))
        return sp.csr_array(sp.hstack([self._member() @ _outer(self._x()), *blocks, indicators]))

    def totals(self) -> Array:
        """(S,) sums of the rows, at less cost than the rows."""
        has_size = self._has_size()
        x, sums = self._x(), self._item_sums()
        parts = [x, *(sums[column] for column in has_size.T)]
        products = ((part.T @ part).toarray().ravel() for part in parts)
        return np.concatenate([*products, has_size.sum(axis=0)])

    def products(self, sums: Array) -> Products:
        """Sums (..., S) of rows as products."""
        edge = sums.shape[-1] - len(self.sizes)
        shape = (len(self.sizes) + 1, self.matrix_size, self.matrix_size)
        matrices = sums[..., :edge].reshape(*sums.shape[:-1], *shape)
        return Products(matrices, sums[..., edge:], self.sizes)

    def _has_size(self) -> Mask:
        """(I, D) which number of ratings each item has."""
        return np.asarray(np.bincount(self.item)[:, None] == self.sizes)

    def _member(self) -> sp.csr_array:
        """(I, N) indicators of the ratings of each item."""
        return sp.csr_array((np.ones(len(self.item)), (self.item, np.arange(len(self.item)))))

    def _x(self) -> sp.csr_array:
        """(N, R + 2) indicators of the rater, a constant and the rating."""
        both = np.column_stack([np.ones_like(self.values), self.values])
        return sp.csr_array(sp.hstack([self.rater, sp.csr_array(both)]))

    def _item_sums(self) -> sp.csr_array:
        """(I, R + 2) sums of x over the ratings of each item."""
        return sp.csr_array(self._member() @ self._x())


def _outer(x: sp.csr_array) -> sp.csr_array:
    """(M, P * P) outer product of each row (M, P) with itself."""
    length = np.diff(x.indptr)
    times = np.repeat(length, length)
    first = np.repeat(np.arange(x.nnz), times)
    start = np.repeat(np.cumsum(times) - times, times)
    second = np.repeat(np.repeat(x.indptr[:-1], length), times) + np.arange(len(first)) - start
    column = x.indices[first].astype(np.int64) * x.shape[1] + x.indices[second]
    edges = np.append(0, np.cumsum(length.astype(np.int64) ** 2))
    shape = (x.shape[0], x.shape[1] ** 2)
    return sp.csr_array((x.data[first] * x.data[second], column, edges), shape=shape)
