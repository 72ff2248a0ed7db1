"""What an analysis of variance needs of ratings, from sums that add up over parts of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.errors import Fault, RatingsError
from reliabayes.facets.effect_sums import EffectSums


@dataclass(frozen=True, eq=False)
class SquaredTotals:
    """Sums of squares over effects that other parts do not have, and sums for those they share.

    Attributes
    ----------
    n : int
        Number of ratings.
    square : float
        Sum of the squared ratings.
    n_levels, squares : array of float, shape (K,)
        Effects of a part alone, by source: their number, and the sum of their squared totals over
        their numbers of ratings.
    products : array of float, shape (K, K)
        Sum over the same, by source, of the squared numbers of ratings that they have in common
        with effects of each source, over their numbers of ratings.
    source : array of int, shape (P,)
        Source of each effect that parts share.
    totals : array of float, shape (P,)
        Sum of the ratings with each.
    shared : array of float, shape (P, P)
        Number of ratings that two of them have in common.
    crossed : array of float, shape (P, K)
        Sum of the squared numbers that they have in common with each effect of a part alone.
    """

    n: int
    square: float
    n_levels: Array
    squares: Array
    products: Array
    source: Codes
    totals: Array
    shared: Array
    crossed: Array

    @classmethod
    def of(cls, sums: EffectSums, is_own: Mask) -> SquaredTotals:
        """Sums of a part, of which it alone has some of the effects (T,)."""
        k, source = int(sums.source.max()) + 1, sums.source
        own, others = np.flatnonzero(is_own), np.flatnonzero(~is_own)
        pairs = sp.coo_array(sums.products[own])
        row, column = own[pairs.coords[0]], pairs.coords[1]
        products = pairs.data**2 / sums.counts[row]
        crossed = sp.coo_array(sums.products[others][:, own])
        at, of_own = crossed.coords
        return cls(
            sums.n,
            sums.square,
            np.asarray(np.bincount(source[own], minlength=k), np.float64),
            np.asarray(np.bincount(source[own], sums.totals[own] ** 2 / sums.counts[own], k)),
            _table(source[row] * k + source[column], products, (k, k)),
            source[others],
            sums.totals[others],
            sums.products[others][:, others].toarray(),
            _table(at * k + source[own][of_own], crossed.data**2, (len(others), k)),
        )

    def __add__(self, other: SquaredTotals) -> SquaredTotals:
        """Sums of both parts."""
        return SquaredTotals(
            self.n + other.n,
            self.square + other.square,
            self.n_levels + other.n_levels,
            self.squares + other.squares,
            self.products + other.products,
            self.source,
            self.totals + other.totals,
            self.shared + other.shared,
            self.crossed + other.crossed,
        )

    @property
    def levels(self) -> Array:
        """Number (K,) of effects of each source, the last that of the mean."""
        k = len(self.n_levels)
        return np.asarray(self.n_levels + np.bincount(self.source, minlength=k))

    def estimates(self) -> Array:
        """Variance components (K,), as `anova` finds them.

        Raises
        ------
        RatingsError
            The equations have no unique solution.
        """
        k, source, counts = len(self.n_levels), self.source, np.diag(self.shared)
        crossed = np.zeros((k, k))
        np.add.at(crossed, source, self.crossed / counts[:, None])
        pairs = source[:, None] * k + source
        within = self.shared**2 / counts[:, None]
        products = _table(pairs.ravel(), within.ravel(), (k, k))
        # Rows are the sources, the mean and all ratings; columns are what they are expected to have
        # of the sources, of the square of the mean and of the residual.
        expected = np.full((k + 1, k + 1), float(self.n))
        expected[:k, :k] = self.products + crossed + products
        expected[:k, k] = self.levels
        shared = np.bincount(source, self.totals**2 / counts, k)
        squares = np.append(self.squares + shared, self.square)
        if np.linalg.matrix_rank(expected) <= k:
            rule = "sums of squares must tell all sources apart"
            remedy = 'Drop a source, or use method="reml".'
            raise RatingsError([Fault("design", rule, "equations without unique solution", remedy)])
        return np.delete(np.linalg.solve(expected, squares), k - 1)


def _table(place: Codes, values: Array, shape: tuple[int, int]) -> Array:
    """Values added up by place in a table."""
    return np.asarray(np.bincount(place, values, math.prod(shape)).reshape(shape), np.float64)
