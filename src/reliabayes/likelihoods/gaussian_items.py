"""Gaussian ratings given the levels of the raters: their density by item, and new ratings."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.likelihoods.gaussian_pools_design import Components, cells
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False)
class NormalItems:
    """Who rated which item. Given the levels of the raters, items are independent.

    The level of a rater is the mean of its pool plus its effect; levels are (R,).

    Attributes
    ----------
    item, rater : array of int, shape (N,)
        Codes of each rating.
    pool : array of int, shape (N,)
        Position of its rater's pool.
    n : array of shape (I, G)
        Ratings of each item, by pool.
    """

    item: Codes
    rater: Codes
    pool: Codes
    n: Array

    @classmethod
    def of(cls, ratings: Ratings, rater_pool: Codes) -> NormalItems:
        """Items rated by raters whose pools (R,) are given."""
        pools = int(rater_pool.max()) + 1
        pool = rater_pool[ratings.rater]
        n = np.bincount(
            cells(ratings.item, pool, pools), minlength=ratings.n_items * pools
        ).reshape(-1, pools)
        return cls(ratings.item, ratings.rater, pool, n.astype(float))

    @cached_property
    def _patterns(self) -> tuple[Array, Codes]:
        """(D, G) distinct numbers of ratings of an item, and (I,) which of them."""
        return distinct_rows(self.n)

    def log_density(self, values: Array, level: Array, at: Components) -> Array:
        """Log density (I,) of the ratings of each item, its effects integrated out."""
        n, pattern = self._patterns
        left = (values - level[self.rater]) / at.residual[self.pool]
        cell = cells(self.item, self.pool, n.shape[1])
        total = np.bincount(cell, left, self.n.size).reshape(self.n.shape)
        given = at.given_ratings(n)
        explained = np.einsum("igh,ig->ih", given.half[pattern], total / at.residual)
        constant = given.log_det + n @ (2 * np.log(at.residual) + math.log(2 * math.pi))
        square = np.bincount(self.item, left**2) - (explained**2).sum(axis=1)
        return np.asarray(-0.5 * (constant[pattern] + square))

    def draw(self, level: Array, at: Components, rng: np.random.Generator) -> Array:
        """Ratings (N,) of new items by the same raters, in the same design."""
        effect = rng.standard_normal(self.n.shape) @ at.root.T
        noise = at.residual[self.pool] * rng.standard_normal(len(self.item))
        return np.asarray(level[self.rater] + effect[self.item, self.pool] + noise)
