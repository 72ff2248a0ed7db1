"""Normal ratings of any design: random effects by the entries of a sparse Cholesky factor."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from typing import Any

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.facets import Effects
from reliabayes.inference.problem import StanData


@dataclass(frozen=True, eq=False)
class SparseEffects:
    """Sums of ratings by effect, and the entries of a Cholesky factor of the effects' precision.

    Effects of sources with many levels come first, so that eliminating them connects few others;
    the mean comes last.

    Attributes
    ----------
    n_ratings : int
        Number N of ratings.
    source : array of int, shape (Q,)
        Source of each effect.
    start : array of int, shape (Q + 2,)
        Position of the first entry of each column of the factor, and the number F of entries.
    row : array of int, shape (F,)
        Row of each entry, in order within a column.
    gram : array of float, shape (F,)
        Number of ratings that have both effects.
    moment : array of float, shape (Q + 1,)
        Sum of the ratings with each effect, relative to ``center``.
    square : float
        Sum of squares, relative to ``center``.
    center : float
        Subtracted from each rating before the sums.
    column : tuple of array of int, each of shape (N,)
        Position of the effect of each source that a rating has, in the order of the sources.
    """

    n_ratings: int
    source: Codes
    start: Codes
    row: Codes
    gram: Array
    moment: Array
    square: float
    center: float
    column: tuple[Codes, ...]

    @classmethod
    def of(cls, effects: Effects, values: Array, center: float) -> SparseEffects:
        """Sums of ratings (N,) and the entries of the factor."""
        order = sorted(range(len(effects.sizes)), key=lambda k: -effects.sizes[k])
        sizes = [effects.sizes[k] for k in order] + [1]
        first = np.cumsum([0, *sizes])
        n, size = len(values), int(first[-1])
        columns = [effects.level[k] + at for k, at in zip(order, first, strict=False)]
        columns.append(np.full(n, size - 1))
        lower = sp.csc_array((size, size))
        moment = np.zeros(size)
        centred = values - center
        for one in columns:
            moment += np.bincount(one, centred, size)
        for one, other in combinations_with_replacement(columns, 2):
            pairs = sp.coo_array((np.ones(n), (other, one)), shape=(size, size))
            lower = lower + pairs.tocsc()
        start, row = factor_entries(lower)
        columns_of = np.repeat(np.arange(size), np.diff(start))
        return cls(
            n,
            np.repeat(order, sizes[:-1]),
            start,
            row,
            np.asarray(lower[row, columns_of]).ravel(),
            moment,
            float(centred @ centred),
            center,
            tuple(columns[order.index(k)] for k in range(len(order))),
        )

    def draw(
        self, variance: Array, sd_mean: float, rng: np.random.Generator
    ) -> tuple[list[Array], float]:
        """Effects of each source and the mean, drawn given the ratings.

        The prior of the mean is normal around the centre.
        """
        weight, precision = 1 / float(variance[-1]), 1 / variance[self.source]
        precision = np.append(precision, sd_mean**-2)
        noise = math.sqrt(weight) * rng.standard_normal(self.n_ratings)
        score = weight * self.moment + np.sqrt(precision) * rng.standard_normal(len(precision))
        for column in self.column:
            score += np.bincount(column, noise, len(score))
        score[-1] += noise.sum()
        drawn = self._solver(weight, precision).solve(score)
        sources = [drawn[:-1][self.source == k] for k in range(len(self.column))]
        return sources, self.center + float(drawn[-1])

    def _solver(self, weight: float, precision: Array) -> Any:
        """Factors of the precision of the effects given the ratings."""
        matrix = self._symmetric.copy()
        matrix.data *= weight
        matrix.setdiag(matrix.diagonal() + precision)
        options = {"SymmetricMode": True}
        return sp.linalg.splu(matrix, permc_spec="NATURAL", diag_pivot_thresh=0, options=options)

    @cached_property
    def _symmetric(self) -> sp.csc_array:
        """Numbers of ratings (Q + 1, Q + 1) that have both effects."""
        found = self.gram > 0
        column = np.repeat(np.arange(len(self.moment)), np.diff(self.start))[found]
        row, value = self.row[found], self.gram[found]
        lower = sp.coo_array((value, (row, column)), shape=(len(self.moment),) * 2).tocsc()
        return (lower + sp.tril(lower, -1).T).tocsc()

    def stan_data(self) -> StanData:
        """What ``gstudy_unbalanced.stan`` reads."""
        sizes = {"N": self.n_ratings, "Q": len(self.source), "F": len(self.row)}
        positions = {"source": self.source, "start": self.start, "row": self.row}
        values = {"gram": self.gram, "moment": self.moment, "square": self.square}
        return StanData(sizes, positions, values)


def factor_entries(lower: sp.csc_array) -> tuple[Codes, Codes]:
    """Where a Cholesky factor of a symmetric matrix has entries: starts of columns, and rows.

    A column has the rows of the matrix, and those of each earlier column of which it is the first
    row below the diagonal.
    """
    size = lower.shape[0]
    from_earlier: list[list[Codes]] = [[] for _ in range(size)]
    rows: list[Codes] = []
    for column in range(size):
        own = lower.indices[lower.indptr[column] : lower.indptr[column + 1]]
        found = np.unique(np.concatenate([[column], own, *from_earlier[column]]))
        rows.append(found)
        if len(found) > 1:
            from_earlier[found[1]].append(found[1:])
        from_earlier[column] = []
    start = np.cumsum([0, *map(len, rows)])
    return start, np.concatenate(rows).astype(np.int32)
