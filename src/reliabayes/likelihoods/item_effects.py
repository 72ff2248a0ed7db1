"""The density of ratings with normal effects of several sources, from sums over their items."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy
import scipy.sparse as sp

from reliabayes.arrays import IN_MEMORY, Array, Codes, blocks
from reliabayes.facets import EffectLevels
from reliabayes.likelihoods.gaussian_conditional import Marginal
from reliabayes.likelihoods.item_facets import MOST_SHARED, own_sources, too_many_shared
from reliabayes.likelihoods.item_levels import ItemLevels
from reliabayes.likelihoods.item_moments import PatternGroup

FEW_SHARED = 50  # effects of which all matrices are factorised in one call
QUICK = 1_000_000  # multiplications
LARGE = 1e300  # a diagonal element that any row below a matrix is compatible with


class OfSize(NamedTuple):
    """Ways in which items with n ratings share levels.

    Attributes
    ----------
    same : array of float, shape (Q, n, n, L)
        1 where two of their ratings share a level of each of L sources that items have, else 0.
    items : array of float, shape (Q,)
        Numbers of items.
    """

    same: Array
    items: Array


@dataclass(frozen=True, eq=False)
class ItemEffects:
    """Sums over items, in the order in which a density needs them.

    The covariance of an item's ratings given the effects that items share is the same for all items
    whose ratings share levels in the same way. With W its inverse, of which there are S elements in
    all such ways together, the precision of the shared effects is linear in W.

    Attributes
    ----------
    n : int
        Number of ratings.
    pivot, mean, sd_mean : float
        What was subtracted from the ratings; mean and standard deviation of the prior of the mean.
    own : array of int, shape (L,)
        Sources of which items have their own levels.
    source : array of int, shape (P,)
        Source of each shared effect, source by source; of the mean, the last, that of the residual.
    sizes : tuple of OfSize
        Ways in which items share levels, by number of ratings.
    square : array of float, shape (S,)
        Sums of products of two of an item's ratings.
    pairs : array of int, shape (U,)
        Pairs of shared effects, the second not after the first, that an item has: their places in
        the lower triangle of a matrix (P + 1, P + 1).
    counts : sparse array of float, shape (U, S)
        Numbers of items by these pairs, with one effect of each of two ratings.
    totals : sparse array of float, shape (P, S)
        Sums of ratings by a shared effect of another rating.
    """

    n: int
    pivot: float
    mean: float
    sd_mean: float
    own: Codes
    source: Codes
    sizes: tuple[OfSize, ...]
    square: Array
    pairs: Codes
    counts: sp.csr_array
    totals: sp.csr_array

    @classmethod
    def of(
        cls, levels: ItemLevels, effects: EffectLevels, mean: float, sd_mean: float
    ) -> ItemEffects:
        """Sums for sources that were not dropped, given the prior of the mean.

        Raises
        ------
        RatingsError
            Items share too many effects.
        """
        every, sources = own_sources(effects.design), effects.sources[:-1]
        own = [k for k, source in enumerate(sources) if source in every]
        shared = [k for k in range(len(sources)) if k not in own]
        columns = [levels.shared[sources[k]][0] for k in shared]
        numbers = [*(levels.shared[sources[k]][1] for k in shared), 1]
        if sum(numbers) > MOST_SHARED:
            raise too_many_shared(sum(numbers) - 1)
        first = np.cumsum(numbers) - numbers
        columns = [*columns, np.zeros(len(levels.cells), np.intp)]
        effect = np.stack([start + level for start, level in zip(first, columns, strict=True)], 1)
        groups = levels.moments.groups
        kept = [every.index(sources[k]) for k in own]
        by_size: dict[int, list[PatternGroup]] = {}
        for each in groups:
            by_size.setdefault(len(each.leader), []).append(each)
        return cls(
            levels.moments.moments.n,
            levels.moments.moments.pivot,
            mean,
            sd_mean,
            np.array(own, np.intp),
            np.repeat([*shared, len(sources)], numbers),
            tuple(
                OfSize(
                    np.array([each.same()[..., kept] for each in some], float),
                    np.array([float(each.items) for each in some]),
                )
                for some in by_size.values()
            ),
            np.concatenate([each.square.ravel() for each in groups]),
            *_tables(levels, effect, sum(numbers)),
        )

    def at(self, variance: Array) -> Marginal:
        """Density at variances (K,) of the sources, the last that of the residual."""
        return Marginal(*(float(each[0]) for each in self._solved(variance[None])[:3]))

    def at_many(self, variances: Array) -> Marginal:
        """Densities (N,) at variances (N, K); -inf so far out that rounding decides."""
        at_once = IN_MEMORY // 4 // max(len(self.square), len(self.source) ** 2)
        return Marginal(
            *np.concatenate(
                [self._each(variances[some]) for some in blocks(len(variances), at_once)], axis=1
            )
        )

    def draw(self, variance: Array, rng: np.random.Generator) -> tuple[list[Array], float]:
        """Effects by source and the mean, drawn given the ratings; none of items' own sources."""
        factor, scores = (each[0] for each in self._solved(variance[None])[3:])
        noise = rng.standard_normal(len(scores))
        drawn = scipy.linalg.solve_triangular(
            factor, scores + noise, trans=1, lower=True, check_finite=False
        )
        by_source = [drawn[:-1][self.source[:-1] == k] for k in range(len(variance) - 1)]
        return by_source, self._centre + float(drawn[-1])

    @property
    def is_quick(self) -> bool:
        """Whether a density takes less than a millisecond if dozens are found at once."""
        work = sum(each.same.size * each.same.shape[1] for each in self.sizes)
        return bool(work + self.counts.nnz + len(self.source) ** 3 // 3 < QUICK)

    @property
    def _is_flat(self) -> bool:
        return math.isinf(self.sd_mean)

    @property
    def _centre(self) -> float:
        """What effects are solved relative to: the prior mean, or the pivot if it is flat."""
        return self.pivot if self._is_flat else self.mean

    @cached_property
    def _eyes(self) -> list[Array]:
        return [np.eye(each.same.shape[1]) for each in self.sizes]

    def _each(self, variances: Array) -> Array:
        """(3, N) densities, and means and standard deviations of the mean."""
        try:
            return np.array(self._solved(variances)[:3])
        except np.linalg.LinAlgError:
            if len(variances) == 1:
                return np.array([[-math.inf], [0.0], [0.0]])
            return np.concatenate([self._each(one[None]) for one in variances], axis=1)

    def _solved(self, variances: Array) -> tuple[Array, Array, Array, Array, Array]:
        """Densities (N,), means and sds of the mean, factors (N, P, P), and scores (N, P)."""
        log_det, weights = self._weights(variances)
        size, offset = len(self.source), self._centre - self.pivot
        at = np.arange(size)
        # The right side is a row below the matrix, so that the Cholesky factor has its solution.
        matrix = np.zeros((len(variances), size + 1, size + 1))
        matrix.reshape(len(matrix), -1)[:, self.pairs] = (self.counts @ weights.T).T
        right = (self.totals @ weights.T).T - offset * matrix[:, size - 1, :size]
        of_mean = matrix[:, size - 1, size - 1]
        square = weights @ self.square - offset * (2 * right[:, -1] + offset * of_mean)
        own = 1 / variances[:, self.source]
        own[:, -1] = self.sd_mean**-2
        matrix[:, at, at] += own
        matrix[:, size, :size], matrix[:, size, size] = right, LARGE
        factor = _factors(matrix)
        scores = factor[:, size, :size]
        diagonal = factor[:, at, at]
        sd = 1 / diagonal[:, -1]
        log_det += 2 * np.log(diagonal).sum(axis=1)
        log_det -= np.log(own[:, : size - self._is_flat]).sum(axis=1)
        log_det += (self.n - self._is_flat) * math.log(2 * math.pi)
        density = -0.5 * (log_det + square - (scores**2).sum(axis=1))
        mean = self._centre + scores[:, -1] * sd
        return density, mean, sd, np.asarray(factor[:, :size, :size]), np.asarray(scores)

    def _weights(self, variances: Array) -> tuple[Array, Array]:
        """Log determinants (N,) of all covariances of items, and elements (N, S) of inverses."""
        log_det, found = np.zeros(len(variances)), []
        for each, eye in zip(self.sizes, self._eyes, strict=True):
            covariance = np.moveaxis(each.same @ variances[:, self.own].T, -1, 0)
            covariance = covariance + variances[:, -1, None, None, None] * eye
            factor = np.linalg.cholesky(covariance)
            log_det += 2 * np.log(np.diagonal(factor, axis1=2, axis2=3)).sum(axis=2) @ each.items
            root = np.linalg.inv(factor)
            found.append((root.swapaxes(2, 3) @ root).reshape(len(variances), -1))
        return log_det, np.concatenate(found, axis=1)


def _factors(matrices: Array) -> Array:
    """Lower Cholesky factors (N, P, P) of matrices, of which the lower triangle is read.

    What is above the diagonal has no meaning. The matrices may be overwritten.
    """
    if matrices.shape[1] < FEW_SHARED:
        return np.asarray(np.linalg.cholesky(matrices))
    for matrix in matrices:  # in place: copies would take as long
        factor, failed = scipy.linalg.lapack.dpotrf(matrix.T, lower=0, clean=0, overwrite_a=1)
        if failed:
            raise np.linalg.LinAlgError("the precision of the effects is not positive definite")
        assert np.shares_memory(factor, matrix)
    return matrices


def _tables(
    levels: ItemLevels, effect: Codes, size: int
) -> tuple[Codes, sp.csr_array, sp.csr_array]:
    """Pairs of the effects (C, E) that cells have, and sparse tables of counts and totals."""
    n_cells, cells, start = levels.moments.facets.n_cells, levels.cells, 0
    counts, totals = [], []
    for each in levels.moments.groups:
        n = len(each.leader)
        rest, second = np.divmod(each.pairs.key, n_cells)
        pair, first = np.divmod(rest, n_cells)
        one, other = (effect[np.searchsorted(cells, x)] for x in (first, second))
        is_off = pair // n != pair % n
        for row, column, kept in ((one, other, slice(None)), (other, one, is_off)):
            both = row[:, :, None] * (size + 1) + column[:, None]
            counts.append(_entries(both[kept], start + pair[kept], each.pairs.value[kept]))
        pair, cell = np.divmod(each.totals.key, n_cells)
        own = effect[np.searchsorted(cells, cell)]
        totals.append(_entries(own, start + pair, each.totals.value))
        start += n * n
    place, column, value = map(np.concatenate, zip(*counts, strict=True))
    lower = place // (size + 1) >= place % (size + 1)
    pairs, row = np.unique(place[lower], return_inverse=True)
    table = sp.coo_array((value[lower], (row, column[lower])), shape=(len(pairs), start))
    row, column, value = map(np.concatenate, zip(*totals, strict=True))
    return (
        pairs,
        sp.csr_array(table),
        sp.csr_array(sp.coo_array((value, (row, column)), shape=(size, start))),
    )


def _entries(rows: Codes, column: Codes, value: Array) -> tuple[Codes, Codes, Array]:
    """Rows, columns and values of entries (U, ...) of which each of U has one column and value."""
    width = math.prod(rows.shape[1:])
    return rows.ravel(), np.repeat(column, width), np.repeat(value, width)
