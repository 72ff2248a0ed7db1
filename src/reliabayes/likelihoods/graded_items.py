"""Ratings of items in ordered categories, with normal effects of an item integrated out."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.special import gammaincinv, gammaln, logsumexp, ndtri

from reliabayes.arrays import Array, Codes
from reliabayes.facets import Effects
from reliabayes.inference.newton import Newton
from reliabayes.likelihoods.item_blocks import ItemBlocks
from reliabayes.likelihoods.ordinal import CategoryProbabilities, log_between

SEED = 1989  # of the points: the same draws always give the same likelihoods
NODES = 21  # of Gauss and Hermite, for items with one effect
POINTS = 128  # evenly scattered ones, for items with more; a power of 2
DF = 10  # of the t distribution of these points, whose tails are heavier than any posterior's
AT_ONCE = 200_000  # probabilities that are computed together, which fit the processor's cache
# For the modes: the last move in prior standard deviations, the longest of a score, in log odds.
NEWTON = Newton(30, 1e-2, 2.0)


class Block(NamedTuple):
    """Items with equally many ratings n.

    Attributes
    ----------
    items : array of int, shape (I,)
        Which they are.
    rows : array of int, shape (I, n)
        Their ratings.
    source : array of int, shape (P,)
        Source of each effect that an item has.
    has : array of float, shape (I, n, P)
        1 where a rating has an effect; an item with fewer effects has some without ratings.
    """

    items: Codes
    rows: Codes
    source: Codes
    has: Array


class Points(NamedTuple):
    """Points (M, P) for integrals of functions that resemble a standard normal density.

    Attributes
    ----------
    point : array of shape (M, P)
        Where the function is evaluated.
    log_weight : array of shape (M,)
        Log of what its values there are multiplied by.
    """

    point: Array
    log_weight: Array

    @classmethod
    def of(cls, n_effects: int) -> Points:
        """Gaussian quadrature for one effect, scattered draws from a t distribution for more."""
        if n_effects == 1:
            node, weight = np.polynomial.hermite_e.hermegauss(NODES)
            return cls(node[:, None], np.log(weight) + 0.5 * node**2)
        from scipy.stats import qmc  # slow to import

        uniform = qmc.Sobol(n_effects + 1, seed=SEED).random(POINTS)
        normal, spread = ndtri(uniform[:, :-1]), 2 * gammaincinv(0.5 * DF, uniform[:, -1])
        point = normal * np.sqrt(DF / spread)[:, None]
        end = 0.5 * (DF + n_effects)
        constant = gammaln(end) - gammaln(0.5 * DF) - 0.5 * n_effects * math.log(DF * math.pi)
        log_density = constant - end * np.log1p((point**2).sum(axis=1) / DF)
        return cls(point, -log_density - math.log(len(point)))


@dataclass(frozen=True, eq=False)
class GradedItems:
    """Ratings by item, with the effects that an item has of its own.

    Attributes
    ----------
    blocks : tuple of Block
        Items by their number of ratings.
    rating : array of int, shape (N,)
        Position of the category.
    """

    blocks: tuple[Block, ...]
    rating: Codes

    @classmethod
    def of(cls, effects: Effects, items: ItemBlocks, rating: Codes) -> GradedItems:
        """The items of these blocks, which were rated so (N,)."""
        blocks = [_block(effects, items.own, each.items, each.rows) for each in items.blocks]
        return cls(tuple(blocks), rating)

    def log_probability(self, others: Array, sd: Array, cut: Array) -> Array:
        """Log-probability (S, I) given effects of others (S, N), sds and cut points of each draw.

        An item's effects are integrated out at points around their mode. With several effects it is
        the log of an average over scattered points, whose error is about 0.015 nats
        where effects are of a usual size.
        """
        found = np.empty((len(sd), sum(len(block.items) for block in self.blocks)))
        for block in self.blocks:
            points = len(_points(block.has.shape[2]).log_weight)
            draws = max(AT_ONCE // (block.rows.size * points), 1)
            for start in range(0, len(sd), draws):
                some = slice(start, start + draws)
                left = others[some][:, block.rows]
                found[some, block.items] = self._of_block(block, left, sd[some], cut[some])
        return found

    def _of_block(self, block: Block, others: Array, sd: Array, cut: Array) -> Array:
        """The same for some items, with standard scores x in place of effects."""
        slope = block.has * sd[:, None, None, block.source]  # (S, I, n, P)
        across = np.swapaxes(slope, 2, 3)
        rating, size = self.rating[block.rows], slope.shape[-1]
        rated = np.eye(cut.shape[1] + 1)[rating]
        mode = np.zeros((*slope.shape[:2], size))
        for _ in range(NEWTON.steps):
            location = others + (slope @ mode[..., None])[..., 0]
            category = CategoryProbabilities.of(location, cut[:, None, None], "logit")
            gradient = (rated * (category.upper - category.lower) / category.probability).sum(-1)
            precision = across @ (category.information[..., None] * slope) + np.eye(size)
            score = (across @ gradient[..., None])[..., 0] - mode
            move = np.linalg.solve(precision, score[..., None])[..., 0]
            # Far moves may lead to where ratings say nothing.
            farthest = np.abs(slope @ move[..., None]).max(axis=(2, 3))
            move *= (NEWTON.longest / np.maximum(farthest, NEWTON.longest))[..., None]
            mode += move
            if np.abs(move).max() < NEWTON.last:
                break
        factor = np.linalg.cholesky(np.linalg.inv(precision))
        points, log_weight = _points(size)
        x = mode[:, :, None] + points @ np.swapaxes(factor, 2, 3)  # (S, I, M, P)
        location = others[:, :, None] + x @ across
        end = np.full((len(cut), 1), np.inf)
        ends = np.concatenate([-end, cut, end], axis=1)
        lower, upper = (ends[:, rating + k][:, :, None] for k in (0, 1))
        log_rated = log_between(location, lower, upper, "logit").sum(axis=-1)
        log_prior = -0.5 * ((x**2).sum(axis=-1) + size * math.log(2 * math.pi))
        log_volume = np.log(np.diagonal(factor, axis1=2, axis2=3)).sum(axis=-1)
        return np.asarray(logsumexp(log_rated + log_prior + log_weight, axis=2) + log_volume)


@cache
def _points(n_effects: int) -> Points:
    return Points.of(n_effects)


def _block(effects: Effects, own: tuple[int, ...], items: Codes, rows: Codes) -> Block:
    """Which of its effects the ratings of an item have, source by source."""
    sources, columns = [], []
    for k in own:
        level = effects.level[k][rows]
        # Levels are numbered within each item, in the order of their first rating.
        first = (level[:, :, None] == level[:, None]).argmax(axis=2)
        is_first = first == np.arange(rows.shape[1])
        number = np.take_along_axis(is_first.cumsum(axis=1) - 1, first, axis=1)
        each = np.eye(int(number.max()) + 1)[number]
        columns.append(each)
        sources += [k] * each.shape[2]
    return Block(items, rows, np.array(sources), np.concatenate(columns, axis=2))
