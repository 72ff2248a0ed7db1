"""Normal ratings of items, which are independent given all effects that are not an item's own."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.facets import Effects


class Block(NamedTuple):
    """Items with equally many ratings n.

    Attributes
    ----------
    items : array of int, shape (I,)
        Which they are.
    rows : array of int, shape (I, n)
        Their ratings.
    same : array of bool, shape (P, n, n, k)
        Which ratings share a level of each of k sources, for each distinct pattern.
    pattern : array of int, shape (I,)
        Pattern of each item.
    """

    items: Codes
    rows: Codes
    same: Mask
    pattern: Codes


@dataclass(frozen=True, eq=False)
class ItemBlocks:
    """Ratings by item, with the sources of variance of which an item has its own effects.

    Attributes
    ----------
    own : tuple of int
        Positions of these sources.
    blocks : tuple of Block
        Items by their number of ratings.
    n_items : int
        Number of items.
    """

    own: tuple[int, ...]
    blocks: tuple[Block, ...]
    n_items: int

    @classmethod
    def of(cls, effects: Effects, item: Codes) -> ItemBlocks:
        """Blocks of ratings that are sorted by item (N,)."""
        sources = effects.sources[:-1]
        own = tuple(k for k, source in enumerate(sources) if "item" in source.facets)
        counts = np.bincount(item)
        first = np.cumsum(counts) - counts
        blocks = []
        for n in np.unique(counts):
            items = np.flatnonzero(counts == n)
            rows = first[items, None] + np.arange(n)
            level = np.stack([effects.level[k][rows] for k in own], axis=-1)
            # The first rating with the same level stands for the level.
            leader = (level[:, :, None] == level[:, None]).argmax(axis=2).reshape(len(items), -1)
            distinct, pattern = np.unique(leader, axis=0, return_inverse=True)
            found = distinct.reshape(len(distinct), n, len(own))
            same = found[:, :, None] == found[:, None]
            blocks.append(Block(items, rows, same, pattern.ravel()))
        return cls(own, tuple(blocks), len(counts))

    def log_density(self, left: Array, variance: Array) -> Array:
        """Log density (I,) of what other effects leave (N,), at variances (K,) of all sources."""
        found = np.empty(self.n_items)
        for block in self.blocks:
            n = block.rows.shape[1]
            factor = np.linalg.cholesky(self._covariance(block, variance))[block.pattern]
            score = np.linalg.solve(factor, left[block.rows][..., None])[..., 0]
            log_det = 2 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
            square = (score**2).sum(axis=1)
            found[block.items] = -0.5 * (n * math.log(2 * np.pi) + log_det + square)
        return found

    def draw(self, source: int, left: Array, variance: Array, rng: np.random.Generator) -> Array:
        """Draw the effect (I,) of each item that all its ratings share, given what others leave.

        Parameters
        ----------
        source : int
            Position of the source of these effects.
        left : array of float, shape (N,)
            Ratings less the mean and effects that are not an item's own.
        variance : array of float, shape (K,)
            By source, that of the residual last.
        rng : Generator
            Source of randomness.

        Returns
        -------
        array of float, shape (I,)
        """
        found = np.empty(self.n_items)
        for block in self.blocks:
            covariance = self._covariance(block, variance)
            ones = np.ones((*covariance.shape[:2], 1))
            weight = variance[source] * np.linalg.solve(covariance, ones)[..., 0]
            sd = np.sqrt(variance[source] * np.maximum(1 - weight.sum(axis=1), 0))
            mean = (weight[block.pattern] * left[block.rows]).sum(axis=1)
            noise = rng.standard_normal(len(block.items))
            found[block.items] = mean + sd[block.pattern] * noise
        return found

    def _covariance(self, block: Block, variance: Array) -> Array:
        """Covariances (P, n, n) of the ratings of an item, given effects that are not its own."""
        own = block.same @ variance[list(self.own)]
        return np.asarray(own + variance[-1] * np.eye(block.rows.shape[1]))
