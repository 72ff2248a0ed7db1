"""Gaussian ratings by pools of raters: variance components, and who rated what."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes, blocks, distinct_rows


class Components(NamedTuple):
    """Variance components of ratings by pool, in units of the rating; (...) stands for draws.

    Attributes
    ----------
    root : array of shape (..., G, G)
        Lower root of the covariance of an item's effects in the pools.
    rater, residual : array of shape (..., G)
        Standard deviations.
    """

    root: Array
    rater: Array
    residual: Array

    def given_ratings(self, n: Array) -> ItemPosteriors:
        """Posteriors of the effects of items with ``n`` (D, G) ratings."""
        scaled = np.sqrt(n)[:, :, None] / self.residual[..., None, :, None]
        scaled = scaled * self.root[..., None, :, :]
        precision = np.eye(n.shape[1]) + np.swapaxes(scaled, -1, -2) @ scaled
        factor = np.linalg.cholesky(precision)
        half = np.linalg.solve(factor, np.swapaxes(self.root, -1, -2)[..., None, :, :])
        return ItemPosteriors(np.asarray(factor), np.asarray(np.swapaxes(half, -1, -2)))


class ItemPosteriors(NamedTuple):
    """Normal distribution of an item's effects given its ratings and the raters' effects.

    ``factor factor'`` is the precision of the standard scores that the root turns into effects,
    ``half half'`` the covariance of the effects. Both are (..., D, G, G), by pattern, and exist
    where the root is singular.
    """

    factor: Array
    half: Array

    @property
    def log_det(self) -> Array:
        """(..., D) log determinant of the precision."""
        return np.asarray(2 * np.log(np.diagonal(self.factor, axis1=-2, axis2=-1)).sum(axis=-1))

    @property
    def covariance(self) -> Array:
        """(..., D, G, G) covariance of an item's effects."""
        return np.asarray(self.half @ np.swapaxes(self.half, -1, -2))


@dataclass(frozen=True, eq=False)
class PooledDesign:
    """Who rated what, and sums of the ratings, each centred by pool.

    Attributes
    ----------
    pool : array of int, shape (R,)
        Position of each rater's pool.
    counts : sparse array of shape (I, R)
        Ratings of an item by a rater.
    n, total : array of shape (I, G)
        Numbers and sums of ratings of each item, by pool.
    rater_total : array of shape (R,)
        Sum of the ratings of each rater.
    square : array of shape (G,)
        Sum of squared ratings.
    """

    pool: Codes
    counts: sp.csr_array
    n: Array
    total: Array
    rater_total: Array
    square: Array

    @classmethod
    def of(cls, item: Codes, rater: Codes, ratings: Array, pool: Any) -> PooledDesign:
        """Design of (N,) codes and (N,) centred ratings in long form, and (R,) codes of pools."""
        raters, pools = len(pool), int(pool.max()) + 1
        size = int(item.max()) + 1, pools
        cell = cells(item, pool[rater], pools)
        squares = np.bincount(rater, ratings**2, minlength=raters)
        return cls(
            pool=np.asarray(pool, np.intp),
            counts=sp.csr_array((np.ones(len(ratings)), (item, rater)), shape=(size[0], raters)),
            n=np.bincount(cell, minlength=math.prod(size)).reshape(size).astype(float),
            total=np.bincount(cell, ratings, math.prod(size)).reshape(size).astype(float),
            rater_total=np.bincount(rater, ratings, minlength=raters).astype(float),
            square=np.bincount(pool, squares, pools).astype(float),
        )

    @cached_property
    def by_pool(self) -> list[sp.csr_array]:
        """(I, members) ratings of an item by a rater of each pool."""
        return [self.counts[:, self.pool == pool] for pool in range(self.total.shape[1])]

    @cached_property
    def patterns(self) -> tuple[Array, Codes, Array]:
        """(D, G) distinct numbers of ratings; (I,) which of them an item has; (D,) items."""
        n, pattern = distinct_rows(self.n)
        return n, pattern, np.bincount(pattern).astype(float)

    @property
    def size(self) -> int:
        """How many numbers the sums of this design have in Stan."""
        pools = self.total.shape[1]
        columns: int = pools + len(pool_pairs(self.patterns[0])[0])
        return columns * math.comb(len(self.pool) + pools + 1, 2)

    def draw_items(
        self, at: Components, effects: Array, cells: int, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Effects of the items drawn given all else: (S, chunk, G) at a time.

        ``at`` holds (S, ...) draws, ``effects`` is (S, R + G) with the means last; a chunk takes
        about ``cells`` numbers.
        """
        n, pattern, _ = self.patterns
        half = at.given_ratings(n).half
        pools = n.shape[1]
        for chunk in blocks(len(pattern), cells // (len(effects) * pools**2)):
            left = self._residuals(effects, chunk) / at.residual[:, None, :] ** 2
            halves = half[:, pattern[chunk]]
            noise = rng.standard_normal(left.shape)
            standard = np.einsum("sigh,sig->sih", halves, left) + noise
            yield np.einsum("sigh,sih->sig", halves, standard)

    def _residuals(self, effects: Array, chunk: slice) -> Array:
        """(S, chunk, G) sums of the ratings of items, less means and effects of raters."""
        means = effects[:, len(self.pool) :]
        raters = np.stack(
            [
                part[chunk] @ effects[:, np.flatnonzero(self.pool == pool)].T
                for pool, part in enumerate(self.by_pool)
            ],
            axis=-1,
        )
        expected = self.n[chunk] * means[:, None, :]
        return np.asarray(self.total[chunk] - raters.swapaxes(0, 1) - expected)


def cells(item: Codes, pool: Codes, pools: int) -> NDArray[np.int64]:
    """Codes (N,) of items and pools together, item by item."""
    cell: NDArray[np.int64] = np.multiply(item, pools, dtype=np.int64)
    cell += pool
    return cell


def pool_pairs(n: Array) -> tuple[Codes, Codes, Codes]:
    """(P,) patterns, and (P,) both pools of each pair that has rated their items."""
    has = n > 0
    both = has[:, :, None] & has[:, None, :] & np.triu(np.ones((n.shape[1],) * 2, bool))
    pattern, first, second = np.nonzero(both)
    return pattern, first, second
