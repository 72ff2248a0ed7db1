"""Scores of items in several pools: sampled, and summed over around where they are likeliest.

An item's effects in the pools are a lower triangular root times independent standard scores, one
for each pool. Two scores can be summed over nodes that all items share; those of three pools or
more are too many, so that Stan samples them, and sums for comparisons of models have few nodes,
laid out anew for each item.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import NamedTuple, Self

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from reliabayes.arrays import Array, Codes
from reliabayes.likelihoods.ordinal import CHUNK, Graded, Link, log_between

NEWTON = 30  # steps to a mode at most
LONGEST, CLOSE = 2.0, 0.01  # step of an effect that is allowed, and one that may be the last


def standard_scores(
    score: Array, root: Array, higher: Array, precision: Array, pull: Array
) -> Array:
    """Standard scores (G, I) of sampled ones (G, I), as the Stan programs make them.

    ``root`` (G, G) makes effects of standard scores; levels of raters are so much ``higher`` (G,)
    than their own ratings told. What ratings tell of effects is as of `told_in_turn`.
    """
    standard = np.zeros_like(score)
    for g, own in enumerate(root.diagonal()):
        expected = root[g, :g] @ standard[:g] + higher[g]
        share = 1 / (1 + own**2 * precision[g])
        told = own * share * (pull[g] - precision[g] * expected)
        standard[g] = np.sqrt(share) * score[g] + told
    return standard


def told_in_turn(root: Array, precision: Array, pull: Array) -> dict[str, Array]:
    """What ratings of a pool and of those after it tell of an item's effect in the pool.

    Given what ratings of each pool tell of effects in it, a precision and that times the effect,
    each (I, G), as if effects in the pools before were known. Both are returned as (G, I), so that
    scores that are sampled have mean 0 and sd 1.
    """
    pools = len(root)
    whole = np.eye(pools) + root.T @ (precision[..., None] * root)
    mean = np.linalg.solve(whole, (pull @ root)[..., None])[..., 0]
    told, pulls = np.empty((2, *mean.shape[::-1]))
    for g in range(pools):
        covariance = np.linalg.inv(whole[:, g:, g:])
        told[g] = (1 / covariance[:, 0, 0] - 1) / root[g, g] ** 2
        pulls[g] = told[g] * (mean @ root[g]) + mean[:, g] / root[g, g]
    return {"precision": told, "pull": pulls}


class PooledCategories(NamedTuple):
    """Ratings in categories by raters of several pools.

    Attributes
    ----------
    item, rater, pool, category : (N,) of ratings
    times : (N,) how many there are of these
    shape : numbers of items and of pools
    """

    item: Codes
    rater: Codes
    pool: Codes
    category: Codes
    times: Array
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
        """The same, of so few items at a time that sums over nodes fit into the memory."""
        number = 1 + counts.nnz * nodes ** (int(pool.max()) + 1) // CHUNK
        ends = np.unique(np.linspace(0, counts.shape[0], number + 1).astype(int))
        return (cls.of(counts[start:stop], pool) for start, stop in pairwise(ends))

    def log_probability(
        self, level: Array, root: Array, cut: Array, link: Link, nodes: int
    ) -> Array:
        """Log-probability (I,) of an item's ratings, its scores summed out.

        Levels of raters (R,), root (G, G) and cut points (G, K - 1) are known. Each score is summed
        over nodes of Gauss and Hermite, around the mode and as far apart as the curvature there
        asks for. What a pool says depends on its own score and those before.

        References
        ----------
        Liu & Pierce (1994). https://doi.org/10.1093/biomet/81.3.624
        """
        mode, scale = self.modes(level, root, cut, link)
        node, weight = np.polynomial.hermite_e.hermegauss(nodes)
        log_weight = np.log(weight / weight.sum()) + 0.5 * node**2
        terms = []
        for pool in range(self.shape[1]):
            known = slice(pool + 1)
            axes = np.meshgrid(*[node] * (pool + 1), indexing="ij")
            at = np.stack([axis.ravel() for axis in axes], axis=1)
            score = mode[:, None, known] + at @ scale[:, known, known].transpose(0, 2, 1)
            effect = score @ root[pool, known]
            said = self._by_pool(pool, effect, level, cut[pool], link)
            terms.append(said - 0.5 * score[..., -1] ** 2)
        total = np.zeros(1)
        for term in reversed(terms):
            joint = (term + total).reshape(len(mode), -1, nodes) + log_weight
            total = logsumexp(joint, axis=-1)
        return np.asarray(total[:, 0] + np.log(scale.diagonal(axis1=1, axis2=2)).sum(axis=1))

    def modes(self, level: Array, root: Array, cut: Array, link: Link) -> tuple[Array, Array]:
        """Likeliest scores (I, G) of the items, and lower roots (I, G, G) of their covariances."""
        score, here = np.zeros(self.shape), np.arange(len(self.item))
        cell = self.item * self.shape[1] + self.pool
        for _ in range(NEWTON):
            location = level[self.rater] + (score @ root.T)[self.item, self.pool]
            graded = Graded.of(location, cut[self.pool], link)
            probability, upper, lower = (values[here, self.category] for values in graded)
            slope, information = (
                np.bincount(cell, self.times * values, score.size).reshape(self.shape)
                for values in ((upper - lower) / probability, graded.information)
            )
            precision = np.eye(self.shape[1]) + root.T @ (information[..., None] * root)
            step = np.linalg.solve(precision, (slope @ root - score)[..., None])[..., 0]
            longest = np.abs(step @ root.T).max(axis=1, keepdims=True)
            score += step / np.maximum(longest / LONGEST, 1)
            if longest.max() < CLOSE:
                break
        return score, np.linalg.cholesky(np.linalg.inv(precision))

    def _by_pool(self, pool: int, effect: Array, level: Array, cut: Array, link: Link) -> Array:
        """Log-probability (I, n) of the ratings by a pool, where items have effects (I, n)."""
        rows = np.flatnonzero(self.pool == pool)
        ends = np.concatenate([[-np.inf], cut, [np.inf]])
        lower, upper = (ends[self.category[rows] + side, None] for side in (0, 1))
        location = level[self.rater[rows], None] + effect[self.item[rows]]
        place = self.item[rows], np.arange(len(rows))
        of_items = sp.csr_array((self.times[rows], place), shape=(self.shape[0], len(rows)))
        return np.asarray(of_items @ log_between(location, lower, upper, link))
