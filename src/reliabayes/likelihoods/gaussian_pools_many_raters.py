"""Gaussian ratings by pools with many raters: each step is one pass over the ratings.

The counterpart of `PooledSums` for designs with too many raters to integrate out their effects
together. Stan samples these effects; here they are approximated as if independent (mean field).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array
from reliabayes.inference.problem import StanData
from reliabayes.inference.warm_start import repeat_em
from reliabayes.likelihoods.gaussian_conditional import MeanPrior
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign, cells, pool_pairs


class PooledMeanField(NamedTuple):
    """Normal approximation of all effects, independent but for those of one item, around means.

    ``item`` (I, G) and ``rater`` (R,) are expected effects, ``mean`` (G,) expected ratings. Effects
    of an item have a covariance by pattern (D, G, G), those of raters a variance (R,).
    """

    at: Components
    mean: Array
    item: Array
    item_covariance: Array
    rater: Array
    rater_variance: Array


class Uncertainty(NamedTuple):
    """Posterior sds of log standard deviations (G,), and of the correlation's free numbers."""

    item: Array
    rater: Array
    residual: Array
    factor: Array


@dataclass(frozen=True, eq=False)
class PooledCrowdSums:
    """A design, with the sums by pattern that scale and centre the levels of the raters.

    Attributes
    ----------
    design : PooledDesign
        Who rated what.
    gram : array of shape (D, R)
        Squared numbers of ratings by each rater, summed over the items of each pattern.
    moment : array of shape (D, R, G)
        Numbers of ratings by each rater times the items' totals by pool, summed likewise.
    """

    design: PooledDesign
    gram: Array
    moment: Array

    @classmethod
    def of(cls, design: PooledDesign) -> PooledCrowdSums:
        """Sums of a data set."""
        _, pattern, _ = design.patterns
        members = pattern, np.arange(len(pattern))
        of_pattern: Any = sp.csr_array((np.ones(len(pattern)), members))
        sums = [(of_pattern * total) @ design.counts for total in design.total.T]
        return cls(
            design,
            gram=(of_pattern @ design.counts.power(2)).toarray(),
            moment=np.stack([each.toarray() for each in sums], axis=-1),
        )

    def stan_data(self) -> StanData:
        """What ``gaussian_xcc_crowd.stan`` reads."""
        design, member = self.design, self._member
        n, of_item, multiplicity = design.patterns
        counts = design.counts.tocoo()
        block = cells(counts.row, design.pool[counts.col], n.shape[1])
        by_pool = sp.csr_array(
            (counts.data, (block, counts.col)), (n.shape[1] * len(of_item), len(design.pool))
        )
        pattern, first, second = pool_pairs(n)
        ours, theirs = (
            member[:, g] * self.moment[pattern, :, h].T
            for g, h in ((first, second), (second, first))
        )
        return StanData(
            sizes={
                "I": len(of_item),
                "R": len(design.pool),
                "G": n.shape[1],
                "D": len(n),
                "P": len(pattern),
                "C": by_pool.nnz,
            },
            positions={
                "pool": design.pool,
                "pair_pattern": pattern,
                "first": first,
                "second": second,
                "pattern": of_item,
                "first_cell": by_pool.indptr,
                "rater": by_pool.indices,
            },
            values={
                "N": self.ratings,
                "n": n.T,
                "multiplicity": multiplicity,
                "total": design.total.ravel(),
                "count": by_pool.data,
                "gram": np.hstack(
                    [
                        self._per_rater[:, None] * member,
                        member[:, first] * self.gram[pattern].T * (first == second),
                    ]
                ),
                "moment": np.hstack(
                    [
                        design.rater_total[:, None] * member,
                        np.where(first == second, ours, ours + theirs),
                    ]
                ),
                "square": design.square,
            },
        )

    @property
    def ratings(self) -> Array:
        """(G,) numbers of ratings."""
        return np.asarray(self.design.n.sum(axis=0), float)

    @property
    def sum_of_squares(self) -> float:
        """Sum of the squared centred ratings."""
        return float(self.design.square.sum())

    @cached_property
    def _member(self) -> Array:
        """(R, G) 1 where a rater is in a pool, else 0."""
        return np.asarray(self.design.pool[:, None] == np.arange(len(self.design.square)), float)

    @cached_property
    def _per_rater(self) -> Array:
        """(R,) numbers of ratings."""
        return np.asarray(self.design.counts.sum(axis=0), float).ravel()

    # Mode.

    def approximate(
        self, start: Components, *, shared: bool
    ) -> tuple[PooledMeanField, tuple[float, ...]]:
        """Mode by mean-field EM, and its objective by step.

        With so many ratings the priors hardly matter and are left out. With ``shared``, all pools
        have one standard deviation of residuals.
        """
        nobody = np.zeros(len(self.design.pool))
        nothing = PooledMeanField(
            start,
            np.zeros(len(self.design.square)),
            np.zeros_like(self.design.n),
            start.given_ratings(self.design.patterns[0]).covariance,
            nobody,
            nobody,
        )
        return repeat_em(
            lambda field: self.em_step(field, shared=shared),
            self.bound,
            self.em_step(nothing, shared=shared),
            tolerance=1e-6 * float(self.ratings.sum()),
        )

    def em_step(self, field: PooledMeanField, *, shared: bool) -> PooledMeanField:
        """Effects given the rest in turn, then the components: one step of EM."""
        design, at, pool = self.design, field.at, self.design.pool
        n, pattern, _ = design.patterns
        noise = at.residual**2
        covariance = at.given_ratings(n).covariance
        left = design.total - self._by_item(field.rater) - design.n * field.mean
        item = np.einsum("igh,ih->ig", covariance[pattern], left / noise)
        variance = 1 / (self._per_rater / noise[pool] + at.rater[pool] ** -2)
        left = design.rater_total - self._by_rater(item) - self._per_rater * field.mean[pool]
        rater = variance * left / noise[pool]
        left = self._by_pool(design.rater_total - self._per_rater * rater)
        mean = (left - (design.n * item).sum(axis=0)) / self.ratings
        there = PooledMeanField(at, mean, item, covariance, rater, variance)
        squares = self._expected_squares(there)
        residual = squares.sum() / self.ratings.sum() if shared else squares / self.ratings
        severity = self._by_pool(rater**2 + variance) / self._by_pool(np.ones(len(pool)))
        components = Components(
            root=np.asarray(np.linalg.cholesky(self._expected_products(there) / len(pattern))),
            rater=np.sqrt(severity),
            residual=np.sqrt(np.broadcast_to(residual, noise.shape)),
        )
        return there._replace(at=components)

    def bound(self, field: PooledMeanField) -> float:
        """Lower bound of the log-likelihood, up to a constant; EM increases it."""
        at, (_, pattern, multiplicity) = field.at, self.design.patterns
        ratio = (field.rater**2 + field.rater_variance) / at.rater[self.design.pool] ** 2
        shrunk = field.rater_variance / at.rater[self.design.pool] ** 2
        of_items = np.linalg.solve(at.root @ at.root.T, self._expected_products(field))
        log_det = np.linalg.slogdet(field.item_covariance)[1]
        return float(
            -self.ratings @ np.log(at.residual)
            - 0.5 * (self._expected_squares(field) / at.residual**2).sum()
            + 0.5 * (np.log(shrunk) - ratio).sum()
            + 0.5 * (multiplicity @ log_det - np.trace(of_items))
            - len(pattern) * np.log(np.diag(at.root)).sum()
        )

    def _expected_products(self, field: PooledMeanField) -> Array:
        """(G, G) what is expected of the products of an item's effects, summed over items."""
        spread = np.einsum("d,dgh->gh", self.design.patterns[2], field.item_covariance)
        return np.asarray(field.item.T @ field.item + spread)

    def _expected_squares(self, field: PooledMeanField) -> Array:
        """(G,) what is expected of the sum of squared residuals."""
        design, (n, _, multiplicity) = self.design, self.design.patterns
        mean, item, rater = field.mean, field.item, field.rater
        crossed = 2 * item * (self._by_item(rater) - design.total + design.n * mean)
        of_items = crossed + design.n * item**2
        spread = np.einsum("d,dg,dgg->g", multiplicity, n, field.item_covariance)
        linear = 2 * rater * (mean[design.pool] * self._per_rater - design.rater_total)
        of_raters = linear + self._per_rater * (rater**2 + field.rater_variance)
        means = self.ratings * mean**2 - 2 * mean * design.total.sum(axis=0)
        return np.asarray(
            design.square + of_items.sum(axis=0) + spread + self._by_pool(of_raters) + means
        )

    def _by_item(self, of_raters: Array) -> Array:
        """(I, G) sums of what belongs to a rating's rater (R,), by item and pool."""
        return np.asarray(self.design.counts @ (of_raters[:, None] * self._member))

    def _by_rater(self, of_items: Array) -> Array:
        """(R,) sums of what belongs to a rating's item in the rater's pool (I, G), by rater."""
        return np.asarray(((self.design.counts.T @ of_items) * self._member).sum(axis=1))

    def _by_pool(self, of_raters: Array) -> Array:
        """(..., G) sums over the raters of each pool."""
        return np.asarray(of_raters @ self._member)

    def uncertainty(self, at: Components) -> tuple[Components, Uncertainty]:
        """Components that a chain may start at, and posterior standard deviations around them.

        Standard deviations so small that they are indistinguishable from 0 are not among them; EM
        may end there.
        """
        noise, has = at.residual**2, self.design.n > 0
        items, raters = has.sum(axis=0), self._by_pool(np.ones(len(self.design.pool)))
        of_item = noise * self._mean_inverse(self.design.n, has)
        of_rater = noise * self._by_pool(1 / self._per_rater) / raters
        sd = np.sqrt(np.square(at.root).sum(axis=1))
        item = np.maximum(sd, np.sqrt(of_item * np.sqrt(2 / items)))
        rater = np.maximum(at.rater, np.sqrt(of_rater * np.sqrt(2 / raters)))
        reliability = item**2 / (item**2 + of_item)
        first, second = np.tril_indices(len(noise), -1)
        common = np.maximum(1, (has[:, first] & has[:, second]).sum(axis=0))
        both = reliability[first] * reliability[second]
        squared = (at.root / sd[:, None] @ (at.root / sd[:, None]).T)[first, second] ** 2
        degrees = np.maximum(self.ratings - items - raters, items / 10)
        return at._replace(root=at.root * (item / sd)[:, None], rater=rater), Uncertainty(
            item=(1 + of_item / item**2) / np.sqrt(2 * items),
            rater=(1 + of_rater / rater**2) / np.sqrt(2 * raters),
            residual=1 / np.sqrt(2 * degrees),
            factor=np.minimum(1, (1 - squared * both) / np.sqrt(common * both) / (1 - squared)),
        )

    def _mean_inverse(self, n: Array, has: Any) -> Array:
        """(G,) mean of one over the numbers of ratings of the items that have any."""
        return np.asarray(
            np.divide(1, n, out=np.zeros_like(n), where=has).sum(axis=0) / has.sum(axis=0)
        )

    # Levels.

    def levels(self, score: Array, at: Components, prior: MeanPrior) -> Array:
        """(..., R) levels of the raters, each mean plus effect, from their (..., R) scores."""
        precision, weighted_sum, length, factor = self._independent_levels(at, prior)
        root = np.sqrt(precision)
        shift = self._by_pool(root * score) / length
        stretched = np.linalg.solve(np.swapaxes(factor, -1, -2), shift[..., None])[..., 0]
        extra = ((stretched - shift) / length)[..., self.design.pool]
        return np.asarray(weighted_sum / precision + score / root + extra)

    def scores(self, level: Array, at: Components, prior: MeanPrior) -> Array:
        """(R,) scores of (R,) levels: the inverse of `levels`."""
        precision, weighted_sum, length, factor = self._independent_levels(at, prior)
        root = np.sqrt(precision)
        alone = root * (level - weighted_sum / precision)
        shift = self._by_pool(root * alone) / length
        extra = (factor.T @ shift - shift) / length
        return np.asarray(alone + root * extra[self.design.pool])

    def _independent_levels(
        self, at: Components, prior: MeanPrior
    ) -> tuple[Array, Array, Array, Array]:
        """What levels would be if those of different raters were independent given the rest.

        (..., R) precisions, and these times the means; (..., G) root of the precisions' sum by
        pool; (..., G, G) Cholesky factor of the precision of the pools' shifts in units of it.
        """
        design, pool, (n, _, multiplicity) = self.design, self.design.pool, self.design.patterns
        noise = at.residual**-2
        shrinkage = (
            at.given_ratings(n).covariance * noise[..., None, :, None] * noise[..., None, None, :]
        )
        precision = self._per_rater * noise[..., pool] + at.rater[..., pool] ** -2
        weighted_sum = design.rater_total * noise[..., pool]
        for g in range(len(self.ratings)):
            of = pool == g
            precision[..., of] -= shrinkage[..., g, g] @ self.gram[:, of]
            weighted_sum[..., of] -= np.tensordot(
                shrinkage[..., g, :], self.moment[:, of], ([-2, -1], [0, 2])
            )
        length = np.sqrt(self._by_pool(precision))
        size = self._by_pool(np.ones(len(pool)))
        means = size * prior.precision / (size + prior.precision * at.rater**2)
        shared = -np.einsum("...dgh,d,dg,dh->...gh", shrinkage, multiplicity, n, n)
        shared = shared + (self.ratings * noise + means)[..., None] * np.eye(len(size))
        factor = np.linalg.cholesky(shared / (length[..., :, None] * length[..., None, :]))
        return precision, weighted_sum, length, np.asarray(factor)
