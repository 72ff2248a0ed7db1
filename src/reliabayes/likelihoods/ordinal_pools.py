"""Scores of items in several pools: their centring for sampling, and adaptive quadrature.

An item's effects in the pools are a lower triangular root times independent standard scores, one
for each pool. Two scores can be integrated out over nodes that all items share. Three or more are
too many for that: Stan samples them, and comparisons of models integrate them out over few nodes,
placed around the mode of each item.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from reliabayes.arrays import IN_MEMORY, Array, Codes
from reliabayes.inference.newton import Newton
from reliabayes.likelihoods.ordinal import CategoryProbabilities, Link, log_between

NEWTON = Newton(30, 0.01, 2.0)  # of scores of items


def standard_scores(
    score: Array, root: Array, shift: Array, precision: Array, weighted_mean: Array
) -> Array:
    """Standard scores (G, I) from sampled ones (G, I), as the Stan programs compute them.

    ``root`` (G, G) turns standard scores into effects; ``shift`` (G,) is how far the levels of the
    raters lie above the level that their centring assumed. Precision and weighted mean (G, I) are
    those of `sequential_precision`.
    """
    standard = np.zeros_like(score)
    for g, own in enumerate(root.diagonal()):
        expected = root[g, :g] @ standard[:g] + shift[g]
        variance = 1 / (1 + own**2 * precision[g])
        mean = own * variance * (weighted_mean[g] - precision[g] * expected)
        standard[g] = np.sqrt(variance) * score[g] + mean
    return standard


def sequential_precision(
    root: Array, precision: Array, weighted_mean: Array
) -> tuple[Array, Array]:
    """Precision and weighted mean of an item's effect in each pool, given those before it.

    Ratings of each pool give its effects a precision, and a mean times that precision, each (I, G).
    The result, each (G, I), is the information of the ratings of a pool and of those after it on
    the effect if effects in the pools before were known: with it, sampled scores have mean 0 and sd
    1.
    """
    pools = len(root)
    whole = np.eye(pools) + root.T @ (precision[..., None] * root)
    mean = np.linalg.solve(whole, (weighted_mean @ root)[..., None])[..., 0]
    sequential, weighted = np.empty((2, *mean.shape[::-1]))
    for g in range(pools):
        covariance = np.linalg.inv(whole[:, g:, g:])
        sequential[g] = (1 / covariance[:, 0, 0] - 1) / root[g, g] ** 2
        weighted[g] = sequential[g] * (mean @ root[g]) + mean[:, g] / root[g, g]
    return sequential, weighted


class PooledCategories(NamedTuple):
    """Ratings in categories by raters of several pools.

    Attributes
    ----------
    item, rater, pool, category : array of int, shape (N,)
        Of distinct ratings.
    multiplicity : array of shape (N,)
        How often each of them occurs.
    shape : tuple of int
        Numbers of items and of pools.
    """

    item: Codes
    rater: Codes
    pool: Codes
    category: Codes
    multiplicity: Array
    shape: tuple[int, int]

    @classmethod
    def of(cls, counts: sp.csr_array, pool: Codes) -> Self:
        """Ratings by item and cell (I, V), cells category by category; the pool (R,) of raters."""
        item = np.repeat(np.arange(counts.shape[0], dtype=np.int32), np.diff(counts.indptr))
        category, rater = np.divmod(counts.indices, np.int32(len(pool)))
        shape = counts.shape[0], int(pool.max()) + 1
        return cls(item, rater, pool[rater], category, counts.data, shape)

    @classmethod
    def in_parts(cls, counts: sp.csr_array, pool: Codes, nodes: int) -> Iterator[Self]:
        """The same in blocks of items, so that the arrays over nodes fit into memory."""
        number = 1 + counts.nnz * nodes ** (int(pool.max()) + 1) // IN_MEMORY
        ends = np.unique(np.linspace(0, counts.shape[0], number + 1).astype(int))
        return (cls.of(counts[start:stop], pool) for start, stop in pairwise(ends))

    def log_probability(
        self, level: Array, root: Array, cut: Array, link: Link, nodes: int
    ) -> Array:
        """Log-probability (I,) of an item's ratings, its scores marginalised.

        Levels of raters (R,), root (G, G) and cut points (G, K - 1) are known. Adaptive
        Gauss-Hermite quadrature: nodes lie around the mode, scaled by the curvature there. The
        ratings of a pool depend on its own score and on those of the pools before.

        References
        ----------
        Liu & Pierce (1994). https://doi.org/10.1093/biomet/81.3.624
        """
        mode, scale = self.modes(level, root, cut, link)
        node, log_weight = adaptive_nodes(nodes)
        terms = []
        for pool in range(self.shape[1]):
            known = slice(pool + 1)
            at = grid(node, pool + 1)
            score = mode[:, None, known] + at @ scale[:, known, known].transpose(0, 2, 1)
            effect = score @ root[pool, known]
            given = self._by_pool(pool, effect, level, cut[pool], link)
            terms.append(given - 0.5 * score[..., -1] ** 2)
        total = np.zeros(1)
        for term in reversed(terms):
            joint = (term + total).reshape(len(mode), -1, nodes) + log_weight
            total = logsumexp(joint, axis=-1)
        return np.asarray(total[:, 0] + np.log(scale.diagonal(axis1=1, axis2=2)).sum(axis=1))

    def modes(
        self,
        level: Array,
        root: Array,
        cut: Array,
        link: Link,
        start: Array | None = None,
        last_step: float = NEWTON.last,
    ) -> tuple[Array, Array]:
        """Modes (I, G) of the scores, and lower roots (I, G, G) of their covariances there."""
        score = np.zeros(self.shape) if start is None else start.copy()
        here = np.arange(len(self.item))
        cell = self.item * self.shape[1] + self.pool
        for _ in range(NEWTON.steps):
            location = level[self.rater] + (score @ root.T)[self.item, self.pool]
            category = CategoryProbabilities.of(location, cut[self.pool], link)
            probability, upper, lower = (values[here, self.category] for values in category)
            slope, information = (
                np.bincount(cell, self.multiplicity * values, score.size).reshape(self.shape)
                for values in ((upper - lower) / probability, category.information)
            )
            precision = np.eye(self.shape[1]) + root.T @ (information[..., None] * root)
            step = np.linalg.solve(precision, (slope @ root - score)[..., None])[..., 0]
            longest = np.abs(step @ root.T).max(axis=1, keepdims=True)
            score += step / np.maximum(longest / NEWTON.longest, 1)
            if longest.max() < last_step:
                break
        return score, np.linalg.cholesky(np.linalg.inv(precision))

    def _by_pool(self, pool: int, effect: Array, level: Array, cut: Array, link: Link) -> Array:
        """Log-probability (I, n) of the ratings by a pool, where items have effects (I, n)."""
        rows = np.flatnonzero(self.pool == pool)
        ends = np.concatenate([[-np.inf], cut, [np.inf]])
        lower, upper = (ends[self.category[rows] + side, None] for side in (0, 1))
        location = level[self.rater[rows], None] + effect[self.item[rows]]
        place = self.item[rows], np.arange(len(rows))
        of_items = sp.csr_array((self.multiplicity[rows], place), shape=(self.shape[0], len(rows)))
        return np.asarray(of_items @ log_between(location, lower, upper, link))


def adaptive_nodes(number: int) -> tuple[Array, Array]:
    """Nodes of Gauss-Hermite quadrature, and logs of their weights over the normal density."""
    node, weight = np.polynomial.hermite_e.hermegauss(number)
    return node, np.log(weight / weight.sum()) + 0.5 * node**2


def grid(values: Array, size: int) -> Array:
    """All rows of so many of some values, the last changing fastest."""
    axes = np.meshgrid(*[values] * size, indexing="ij")
    return np.stack([axis.ravel() for axis in axes], axis=1)
