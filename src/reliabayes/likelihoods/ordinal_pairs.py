"""Ratings in ordered categories by two pools, with correlated scores of items integrated out.

The second score is integrated out given the first, as the Stan program does: the likelihood is a
product of a table of each pool, by node of its own score, and the density of the second score given
the first. Blocks of nodes and of items keep each array at `IN_MEMORY` numbers, or at one item's or
node's share if that is more, whatever the numbers of nodes, items and raters.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from reliabayes.arrays import IN_MEMORY, Array, Codes, blocks
from reliabayes.likelihoods.ordinal import CategoryProbabilities, Link
from reliabayes.likelihoods.quadrature import Nodes

WIDEST = 1.1  # spacing of nodes, in standard deviations of a normal density
NARROWEST = 1 / 256  # conditional sd that is resolved: a correlation of .99999
LEAST_SUM = 1e-280  # a larger sum of products is exact, whatever is too small for a number


class RatingsOfPool(NamedTuple):
    """What one of the pools has rated, and a point.

    Attributes
    ----------
    counts : sparse array of shape (D, K R)
        Ratings of each distinct item by category and rater.
    level : array of shape (R,)
        Of the raters.
    sd : float
        Of the effects of items.
    cut : array of shape (K - 1,)
        Cut points.
    link : {"logit", "probit"}
        Distribution of the residual.
    """

    counts: sp.csr_array
    level: Array
    sd: float
    cut: Array
    link: Link

    def log_probability(self, score: Array, items: slice) -> Array:
        """Log-probability (d, n) of the ratings of some items, by score (n,)."""
        counts = self.counts[items]
        found = np.empty((counts.shape[0], len(score)))
        for some in blocks(len(score), IN_MEMORY // counts.shape[1]):
            location = self.sd * score[some] + self.level[:, None]
            category = CategoryProbabilities.of(location, self.cut, self.link)
            table = np.log(np.moveaxis(category.probability, -1, 0))
            found[:, some] = counts @ table.reshape(counts.shape[1], -1)
        return found


class PairOfScores(NamedTuple):
    """Scores of items in two pools, with a correlation, and what the pools have rated.

    Attributes
    ----------
    one, other : RatingsOfPool
        Ratings by the pools.
    first : Nodes
        Of the first score.
    second : array of shape (M,)
        Nodes of the second score; they resolve its density given the first.
    rho : float
        Correlation.
    sd : float
        Of the second score given the first.
    """

    one: RatingsOfPool
    other: RatingsOfPool
    first: Nodes
    second: Array
    rho: float
    sd: float

    @classmethod
    def of(cls, one: RatingsOfPool, other: RatingsOfPool, first: Nodes, rho: float) -> PairOfScores:
        """Nodes of the second score as close as those of the first, and as its density needs."""
        sd = max(math.sqrt(1 - rho**2), NARROWEST)
        last = first.reach
        precision = first.spacing**-2 + (sd**-2 - 1) / WIDEST**2
        number = 1 + math.ceil(2 * last * math.sqrt(precision))
        return cls(one, other, first, np.linspace(-last, last, number), rho, sd)

    def log_probability(self) -> Array:
        """Log-probability (D,) of the ratings of each distinct item by both pools."""
        widest = max(len(self.second), len(self.first.node))
        items = blocks(self.one.counts.shape[0], IN_MEMORY // widest)
        joint = (self._joint(*self.tables(some)) for some in items)
        return np.concatenate([logsumexp(part, axis=1) for part in joint])

    def tables(self, items: slice) -> tuple[Array, Array]:
        """Log-probabilities of some items' ratings, by first score (d, Q), and by second (d, M)."""
        one = self.one.log_probability(self.first.node, items)
        return one, self.other.log_probability(self.second, items)

    def of_first(self, one: Array, other: Array) -> Array:
        """Relative probabilities (d, Q) of the first score, given the ratings."""
        joint = self._joint(one, other)
        return np.asarray(np.exp(joint - joint.max(axis=1, keepdims=True)))

    def of_second(self, first: Codes, other: Array) -> Array:
        """Relative probabilities (d, M) of the second score, given nodes (d,) of the first."""
        joint = other + self._log_density(first)
        return np.asarray(np.exp(joint - joint.max(axis=1, keepdims=True)))

    def expected(self, items: slice) -> Array:
        """Expected scores (d, 2) of some items, given their ratings."""
        one, other = self.tables(items)
        first = self.of_first(one, other)
        first /= first.sum(axis=1, keepdims=True)
        second = np.empty_like(first)
        for node in range(first.shape[1]):
            given = self.of_second(np.full(len(other), node), other)
            second[:, node] = given @ self.second / given.sum(axis=1)
        return np.stack([first @ self.first.node, (first * second).sum(axis=1)], axis=1)

    def _log_density(self, first: slice | Codes) -> Array:
        """Log density (n, M) of the second score given some of the first, times the spacing."""
        z = (self.second - self.rho * self.first.node[first, None]) / self.sd
        spacing = self.second[1] - self.second[0]
        return np.asarray(math.log(spacing / self.sd / math.sqrt(2 * math.pi)) - 0.5 * z**2)

    def _joint(self, one: Array, other: Array) -> Array:
        """Log-probability (d, Q) of first scores and ratings."""
        one = one + np.log(self.first.weight)
        largest = other.max(axis=1, keepdims=True)
        relative, inner = np.exp(other - largest), np.empty_like(one)
        for some in blocks(one.shape[1], IN_MEMORY // other.shape[1]):
            inner[:, some] = relative @ np.exp(self._log_density(some)).T
        total = (np.exp(one - one.max(axis=1, keepdims=True)) * inner).sum(axis=1)
        with np.errstate(divide="ignore"):
            joint = one + largest + np.log(inner)
        for item in np.flatnonzero(total < LEAST_SUM):  # pools that contradict each other
            for some in blocks(one.shape[1], IN_MEMORY // other.shape[1]):
                by_second = other[item] + self._log_density(some)
                joint[item, some] = one[item, some] + logsumexp(by_second, axis=1)
        return np.asarray(joint)
