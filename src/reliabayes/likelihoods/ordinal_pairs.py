"""Ratings in ordered categories by two pools, with correlated scores of items integrated out.

The second score is integrated out given the first, as the Stan program does: the likelihood is a
product of a table of each pool, by node of its own score, and the density of the second score given
the first. Blocks of nodes and of items keep each array at `CHUNK` numbers, or at one item's or
node's share if that is more, whatever the numbers of nodes, items and raters.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from scipy.special import logsumexp

from reliabayes.arrays import Array
from reliabayes.likelihoods.ordinal import CHUNK, CategoryProbabilities, Link
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
        for some in _blocks(len(score), counts.shape[1]):
            location = self.sd * score[some] + self.level[:, None]
            category = CategoryProbabilities.of(location, self.cut, self.link)
            table = np.log(np.moveaxis(category.probability, -1, 0))
            found[:, some] = counts @ table.reshape(counts.shape[1], -1)
        return found


class PairOfScores(NamedTuple):
    """Nodes of two scores with a correlation.

    Attributes
    ----------
    first : Nodes
        Of the first score.
    second : array of shape (M,)
        Of the second score; they resolve its density given the first.
    rho : float
        Correlation.
    sd : float
        Of the second score given the first.
    """

    first: Nodes
    second: Array
    rho: float
    sd: float

    @classmethod
    def of(cls, first: Nodes, rho: float) -> PairOfScores:
        """Nodes of the second score as close as those of the first, and as its density needs."""
        sd = max(math.sqrt(1 - rho**2), NARROWEST)
        last, spacing = float(first.node[-1]), float(first.node[1] - first.node[0])
        precision = spacing**-2 + (sd**-2 - 1) / WIDEST**2
        number = 1 + math.ceil(2 * last * math.sqrt(precision))
        return cls(first, np.linspace(-last, last, number), rho, sd)

    def log_density(self, some: slice) -> Array:
        """Log density (n, M) of the second score given some of the first, times the spacing."""
        z = (self.second - self.rho * self.first.node[some, None]) / self.sd
        spacing = self.second[1] - self.second[0]
        return np.asarray(math.log(spacing / self.sd / math.sqrt(2 * math.pi)) - 0.5 * z**2)

    def log_probability(self, one: RatingsOfPool, other: RatingsOfPool) -> Array:
        """Log-probability (D,) of the ratings of each distinct item by both pools."""
        parts = [
            self._of_items(
                one.log_probability(self.first.node, items),
                other.log_probability(self.second, items),
            )
            for items in _blocks(one.counts.shape[0], max(len(self.second), len(self.first.node)))
        ]
        return np.concatenate(parts)

    def _of_items(self, one: Array, other: Array) -> Array:
        """The same, given log-probabilities (d, Q) and (d, M) by score."""
        one = one + np.log(self.first.weight)
        total, largest = np.zeros(len(one)), one.max(axis=1) + other.max(axis=1)
        by_first, by_second = (np.exp(x - x.max(axis=1, keepdims=True)) for x in (one, other))
        for some in _blocks(len(self.first.node), len(self.second)):
            inner = by_second @ np.exp(self.log_density(some)).T
            total += (by_first[:, some] * inner).sum(axis=1)
        found = largest + np.log(np.maximum(total, LEAST_SUM))
        for item in np.flatnonzero(total < LEAST_SUM):  # pools that contradict each other
            found[item] = self._by_logarithms(one[item], other[item])
        return np.asarray(found)

    def _by_logarithms(self, one: Array, other: Array) -> float:
        terms = [
            logsumexp(one[some, None] + other + self.log_density(some))
            for some in _blocks(len(one), len(other))
        ]
        return float(logsumexp(terms))


def _blocks(number: int, width: int) -> Iterator[slice]:
    """Slices of so many rows with at most `CHUNK` entries of this width, or with one row."""
    size = max(1, CHUNK // width)
    return (slice(start, start + size) for start in range(0, number, size))
