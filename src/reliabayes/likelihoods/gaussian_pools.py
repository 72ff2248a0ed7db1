"""Gaussian ratings by pools of raters, by sums whose size does not grow with the ratings.

The counterpart of `CrossedSums` where an item has an effect in each pool. Given the effects of the
raters, items are independent, and all that the data say about standard deviations and correlations
is in sums. Their size grows with the raters and with the patterns: the distinct numbers of ratings
that an item has from each pool.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.cross_products import cross_products
from reliabayes.likelihoods.gaussian_conditional import Conditional, MeanPrior
from reliabayes.likelihoods.gaussian_pools_design import (
    Components,
    ItemPosteriors,
    PooledDesign,
    pool_pairs,
)


@dataclass(frozen=True, eq=False)
class PooledSums:
    """Sums over ratings: entry 0 over all of them, entry d + 1 over the items of pattern d.

    With x the indicators of the R raters and the G pools, y a rating, c the sum of x over the
    ratings of an item, and t_g that of its ratings by pool g:

    Attributes
    ----------
    pool : array of int, shape (R,)
        Position of each rater's pool.
    n : array of shape (D, G)
        Ratings of an item, by pattern and pool.
    multiplicity : array of shape (D,)
        Items by pattern.
    gram : array of shape (D + 1, R + G, R + G)
        Sum of xx', then of cc'.
    moment : array of shape (D + 1, R + G, G)
        Sum of xy, each in the column of its pool, then of ct'.
    square : array of shape (D + 1, G, G)
        Sum of yy, on the diagonal, then of tt'.
    """

    pool: Codes
    n: Array
    multiplicity: Array
    gram: Array
    moment: Array
    square: Array

    @classmethod
    def of(cls, design: PooledDesign) -> PooledSums:
        """Sums of a data set, or of a part of it that shares no item with the rest."""
        n, pattern, multiplicity = design.patterns
        per_rater = np.asarray(design.counts.sum(axis=0)).ravel()
        is_in = design.pool[:, None] == np.arange(n.shape[1])
        edge = per_rater[:, None] * is_in
        totals = np.bincount(design.pool, design.rater_total)
        gram = [np.block([[np.diag(per_rater), edge], [edge.T, np.diag(edge.sum(axis=0))]])]
        moment = [np.vstack([design.rater_total[:, None] * is_in, np.diag(totals)])]
        square = [np.diag(design.square)]
        effects, others = len(design.pool) + n.shape[1], np.hstack([design.n, design.total])
        for product in cross_products(design.counts, others, pattern):
            gram.append(product[:effects, :effects])
            moment.append(product[:effects, effects:])
            square.append(product[effects:, effects:])
        return cls(design.pool, n, multiplicity, np.array(gram), np.array(moment), np.array(square))

    def __add__(self, other: PooledSums) -> PooledSums:
        """Sums of both parts; they have the same raters and share no item."""
        n, pattern = distinct_rows(np.vstack([self.n, other.n]))
        mine, others = np.split(pattern + 1, [len(self.n)])

        def add(one: Array, another: Array) -> Array:
            out = np.zeros((len(n) + 1, *one.shape[1:]))
            out[np.append(0, mine)] += one
            out[np.append(0, others)] += another
            return out

        return PooledSums(
            self.pool,
            n,
            add(np.append(0.0, self.multiplicity), np.append(0.0, other.multiplicity))[1:],
            add(self.gram, other.gram),
            add(self.moment, other.moment),
            add(self.square, other.square),
        )

    def stan_data(self) -> StanData:
        """What ``gaussian_xcc.stan`` reads.

        Columns are for pairs of pools: each pool with itself over all ratings, then the pairs that
        have rated the items of a pattern.
        """
        pattern, first, second = self.pairs
        column, row = np.triu_indices(len(self.pool_of))  # lower triangles, column by column
        gram, moment, square = [], [], []
        whole = [(0, g, g) for g in range(self.pools)]
        for d, g, h in whole + list(zip(pattern + 1, first, second, strict=True)):
            is_first, is_second = self.pool_of == g, self.pool_of == h
            between = np.outer(is_first, is_second) | np.outer(is_second, is_first)
            gram.append(self.gram[d, row, column] * between[row, column])
            sums = self.moment[d, :, h] * is_first + self.moment[d, :, g] * is_second
            moment.append(sums / (1 + (g == h)))
            square.append(self.square[d, g, h] * (1 + (g != h)))
        return StanData(
            sizes={"R": len(self.pool), "G": self.pools, "D": len(self.n), "P": len(pattern)},
            positions={"pool": self.pool, "pattern": pattern, "first": first, "second": second},
            values={
                "N": self.ratings,
                "n": self.n.T,
                "multiplicity": self.multiplicity,
                "gram": np.array(gram).T,
                "moment": np.array(moment).T,
                "square": np.array(square),
            },
        )

    @property
    def pools(self) -> int:
        """Number G of pools."""
        return len(self.square[0])

    @property
    def pool_of(self) -> Codes:
        """(R + G,) pool of each effect: of the raters, then of the means."""
        return np.append(self.pool, np.arange(self.pools))

    @property
    def pairs(self) -> tuple[Codes, Codes, Codes]:
        """(P,) patterns, and (P,) first and second pools of the pairs that rated their items."""
        return pool_pairs(self.n)

    @property
    def ratings(self) -> Array:
        """(G,) numbers of ratings."""
        return self.n.T @ self.multiplicity

    @property
    def sum_of_squares(self) -> float:
        """Sum of the squared centred ratings."""
        return float(np.trace(self.square[0]))

    @cached_property
    def _blocks(self) -> list[tuple[int, int, Any, Array]]:
        """Of each two pools: which they are, where their cells are in gram, (D + 1, cells)."""
        members = [np.flatnonzero(self.pool_of == pool) for pool in range(self.pools)]
        rows, blocks = len(self.gram), []
        for g, h in zip(*np.tril_indices(self.pools), strict=True):
            cells = self.gram[:, members[g][:, None], members[h]].reshape(rows, -1)
            blocks.append((int(g), int(h), np.ix_(members[g], members[h]), cells))
        return blocks

    def given(self, at: Components, prior: MeanPrior) -> Conditional:
        """Effects of the raters and the means, given the data and the variance components."""
        return self._given(self._weights(at, at.given_ratings(self.n)), at, prior)

    def _weights(self, at: Components, items: ItemPosteriors) -> Array:
        """(D + 1, G, G) weights of the sums."""
        precision = at.residual**-2
        shrinkage = items.covariance * precision[:, None] * precision
        return np.concatenate([np.diag(precision)[None], -shrinkage])

    def _given(self, weights: Array, at: Components, prior: MeanPrior) -> Conditional:
        precision = np.zeros_like(self.gram[0])
        for g, h, place, cells in self._blocks:
            block = (weights[:, g, h] @ cells).reshape(place[0].size, -1)
            precision[place] = precision.T[place] = block
        own = np.append(at.rater[self.pool] ** -2, prior.precision)
        precision[np.diag_indices_from(precision)] += own
        score = np.einsum("dah,dah->a", weights[:, self.pool_of], self.moment)
        score[len(self.pool) :] += prior.precision * prior.offset
        return Conditional.of(precision, score)

    def log_likelihood(self, at: Components, prior: MeanPrior) -> float:
        """Log density of the ratings, with effects and means integrated out.

        Under flat priors of the means the density is that of the ratings' contrasts, as in REML.
        """
        items = at.given_ratings(self.n)
        weights = self._weights(at, items)
        given = self._given(weights, at, prior)
        proper = prior.precision[prior.precision > 0]
        log_det = (
            self.multiplicity @ items.log_det
            + 2 * self.ratings @ np.log(at.residual)
            + 2 * np.log(at.rater[self.pool]).sum()
            - np.log(proper).sum()
            + 2 * np.log(np.diag(given.factor)).sum()
        )
        square = np.vdot(weights, self.square) + prior.precision @ prior.offset**2
        quadratic = square - given.whitened @ given.whitened
        flat = self.pools - len(proper)
        constant = (self.ratings.sum() - flat) * math.log(2 * math.pi)
        return float(-0.5 * (constant + log_det + quadratic))

    def em_step(self, at: Components, prior: MeanPrior, *, shared: bool) -> Components:
        """Components that maximise the expected log-likelihood: one step of EM.

        With ``shared``, all pools have one standard deviation of residuals.
        """
        items = at.given_ratings(self.n)
        given = self._given(self._weights(at, items), at, prior)
        second = given.covariance + np.outer(given.mean, given.mean)
        whole, *by_pattern = self._expected_squares(given.mean, second)
        # In units of the root, so that it may be singular: effects = root @ standard
        inverse = np.linalg.inv(items.factor)
        covariance = inverse.swapaxes(1, 2) @ inverse
        gain = covariance @ at.root.T / at.residual**2
        products = np.array(by_pattern) @ gain.swapaxes(1, 2)  # of residual sums and standard
        standard = gain @ products + self.multiplicity[:, None, None] * covariance
        residual = np.diag(whole) - 2 * np.einsum("dgh,gh->g", products, at.root)
        residual += np.einsum("dg,gh,dhk,gk->g", self.n, at.root, standard, at.root)
        variance = residual.sum() / self.ratings.sum() if shared else residual / self.ratings
        severity = np.bincount(self.pool, np.diag(second)[: len(self.pool)])
        return Components(
            root=at.root @ np.linalg.cholesky(standard.sum(axis=0) / self.multiplicity.sum()),
            rater=np.sqrt(severity / np.bincount(self.pool)),
            residual=np.sqrt(np.broadcast_to(variance, self.pools)),
        )

    def _expected_squares(self, mean: Array, second: Array) -> Array:
        """(D + 1, G, G) what is expected of ``square`` less raters' effects and means."""
        of_pool = (np.arange(self.pools)[:, None] == self.pool_of) * mean
        linear = of_pool @ self.moment
        left = self.square - linear - linear.swapaxes(1, 2)
        for g, h, place, cells in self._blocks:
            both = cells @ second[place].ravel()
            left[:, g, h] += both
            if g != h:
                left[:, h, g] += both
        return np.asarray(left)

    def draw_raters(
        self, at: Components, means: Array, prior: MeanPrior, rng: np.random.Generator
    ) -> Array:
        """(S, R + G) effects of raters, the means last, drawn given (S, ...) components."""
        draws = zip(*at, means, strict=True)
        with threadpool_limits(limits=1, user_api="blas"):  # matrices are too small for threads
            return np.array(
                [self.given(Components(*one), prior).draw(mean, rng) for *one, mean in draws]
            )
