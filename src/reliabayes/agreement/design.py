"""Who rated what, and sums of products that hold all that ratings say of their variances.

As in `reliabayes.likelihoods.gaussian_one_pool`, one margin of a design is the *many*, here the
items, and the other the *few*, here the raters.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.agreement.variance_components import Products
from reliabayes.arrays import Codes

Array = NDArray[Any]


@dataclass(frozen=True, eq=False)
class Design:
    """Who rated what, with ratings less their mean, which is of no consequence.

    Attributes
    ----------
    many : (N,) codes of one margin
    few : (N, F) indicators of the other; F = 0 in the one-way model, which does not know it
    values : (N,) centred ratings
    n : (D,) numbers of ratings that the many have, ascending
    """

    many: Codes
    few: sp.csr_array
    values: Array
    n: Array

    @classmethod
    def of(cls, many: Codes, few: Codes | None, values: Array) -> Design:
        """Design of ratings in long form; without ``few`` it is one-way."""
        size = (len(values), 0 if few is None else int(few.max()) + 1)
        codes = np.empty(0) if few is None else np.ones(len(values))
        place = np.arange(len(codes)), np.empty(0, int) if few is None else few
        n = np.unique(np.bincount(many)).astype(float)
        return cls(many, sp.csr_array((codes, place), size), values - values.mean(), n)

    @property
    def size(self) -> int:
        """Rows and columns of a matrix of products: the few, a constant, the rating."""
        return int(self.few.shape[1]) + 2

    @property
    def cells(self) -> int:
        """Numbers that the rows hold."""
        return int(((np.bincount(self.many) + 2) ** 2).sum())

    def rows(self) -> sp.csr_array:
        """(M, S) statistics of each of the many, whose sums are the `Products`.

        With x the indicators of a rating's few, a constant and the rating itself: the sum of xx';
        then, by the number of ratings, cc' for the sum c of x; then 1 by the number of ratings.
        """
        has = self._has(np.bincount(self.many))
        squares = _outer(self._sums())
        blocks = [sp.diags_array(column) @ squares for column in has.T.astype(float)]
        units = sp.csr_array(has.astype(float))
        return sp.csr_array(sp.hstack([self._member() @ _outer(self._x()), *blocks, units]))

    def totals(self) -> Array:
        """(S,) sums of the rows, at less cost than the rows."""
        has = self._has(np.bincount(self.many))
        x, sums = self._x(), self._sums()
        parts = [x, *(sums[column] for column in has.T)]
        return np.concatenate([*((p.T @ p).toarray().ravel() for p in parts), has.sum(axis=0)])

    def products(self, sums: Array) -> Products:
        """What (..., S) sums of rows say."""
        edge, shape = sums.shape[-1] - len(self.n), (len(self.n) + 1, self.size, self.size)
        packed = sums[..., :edge].reshape(*sums.shape[:-1], *shape)
        return Products(packed, sums[..., edge:], self.n)

    def _has(self, counts: Array) -> NDArray[np.bool_]:
        """(M, D) which number of ratings each of the many has."""
        return np.asarray(counts[:, None] == self.n)

    def _member(self) -> sp.csr_array:
        """(M, N) which ratings are of each of the many."""
        return sp.csr_array((np.ones(len(self.many)), (self.many, np.arange(len(self.many)))))

    def _x(self) -> sp.csr_array:
        both = np.column_stack([np.ones_like(self.values), self.values])
        return sp.csr_array(sp.hstack([self.few, sp.csr_array(both)]))

    def _sums(self) -> sp.csr_array:
        return sp.csr_array(self._member() @ self._x())


def _outer(x: sp.csr_array) -> sp.csr_array:
    """(M, P * P) product of each row (M, P) with itself."""
    length = np.diff(x.indptr)
    times = np.repeat(length, length)
    first = np.repeat(np.arange(x.nnz), times)
    start = np.repeat(np.cumsum(times) - times, times)
    second = np.repeat(np.repeat(x.indptr[:-1], length), times) + np.arange(len(first)) - start
    cell = x.indices[first].astype(np.int64) * x.shape[1] + x.indices[second]
    edges = np.append(0, np.cumsum(length.astype(np.int64) ** 2))
    shape = (x.shape[0], x.shape[1] ** 2)
    return sp.csr_array((x.data[first] * x.data[second], cell, edges), shape=shape)
