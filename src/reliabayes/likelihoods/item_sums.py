"""Sums over the items of a part of the ratings, from which those of all parts follow by adding.

They have what `CrossedSums` and `PooledSums` have, without what these repeat: so they are small
enough to be sent between processes. Ratings are less a pivot by pool, a multiple of a power of two:
sums of whole numbers are exact, and do not depend on the parts or on the pivots.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from reliabayes.arrays import IN_MEMORY, Array, Codes, blocks, distinct_rows
from reliabayes.likelihoods.cross_products import BLOCK_ROWS
from reliabayes.likelihoods.gaussian_one_pool import CrossedSums
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import cells
from reliabayes.likelihoods.moments import Moments
from reliabayes.ratings import Ratings

DENSE_FROM = 0.1  # ratings of an item over raters from which dense products are faster


@dataclass(frozen=True, eq=False)
class ItemSums:
    """Sums over items that have the same numbers of ratings by each pool.

    With c the ratings (R,) of an item by each rater, and t (G,) the sums of its ratings, less the
    pivots, by pool:

    Attributes
    ----------
    pool : array of int, shape (R,)
        Position of each rater's pool.
    moments : tuple of Moments, one for each of G pools
        Those of all ratings, with the pivots.
    n : array of shape (D, G)
        Ratings of an item, by pattern and pool.
    multiplicity : array of shape (D,)
        Items by pattern.
    per_rater : array of shape (D, R)
        Sum of c.
    pairs : array of int, shape (D, R (R + 1) / 2)
        Upper triangle of the sum of cc', row by row.
    moment : array of shape (D, R, G)
        Sum of ct'.
    total : array of shape (D, G)
        Sum of t.
    square : array of shape (D, G, G)
        Sum of tt'.
    rater_total : array of shape (R,)
        Sum of the ratings of each rater, less the pivots.
    """

    pool: Codes
    moments: tuple[Moments, ...]
    n: Array
    multiplicity: Array
    per_rater: Array
    pairs: NDArray[np.integer[Any]]
    moment: Array
    total: Array
    square: Array
    rater_total: Array

    @classmethod
    def of(cls, ratings: Ratings, pool: Codes, pivots: tuple[float, ...]) -> ItemSums:
        """Sums of a part of the ratings, by raters whose pools (R,) are given."""
        raters, pools, rater = len(pool), len(pivots), ratings.rater
        of_rating = pool[rater]
        left = ratings.values - np.array(pivots)[of_rating]
        cell = cells(ratings.item, of_rating, pools)
        shape = (ratings.n_items, pools)
        n = np.bincount(cell, minlength=shape[0] * pools).reshape(shape).astype(float)
        t = np.bincount(cell, left, shape[0] * pools).reshape(shape).astype(float)
        patterns, pattern = distinct_rows(n)
        first = np.append(0, np.cumsum(ratings.ratings_per_item))
        found = [
            _of_alike(rater, first, np.flatnonzero(pattern == d), t, raters)
            for d in range(len(patterns))
        ]
        per_rater, pairs, moment = map(np.array, zip(*found, strict=True))
        return cls(
            pool=np.asarray(pool, np.intp),
            moments=tuple(
                Moments(pivot, len(own), float(own.sum()), float(own @ own))
                for g, pivot in enumerate(pivots)
                for own in [left if pools == 1 else left[of_rating == g]]
            ),
            n=patterns,
            multiplicity=np.bincount(pattern).astype(float),
            per_rater=per_rater,
            pairs=pairs,
            moment=moment,
            total=np.array([t[pattern == d].sum(axis=0) for d in range(len(patterns))]),
            square=np.array(
                [own.T @ own for own in (t[pattern == d] for d in range(len(patterns)))]
            ),
            rater_total=np.bincount(rater, left, raters).astype(float),
        )

    def __add__(self, other: ItemSums) -> ItemSums:
        """Sums of both parts; they have the same raters and share no item."""
        n, pattern = distinct_rows(np.vstack([self.n, other.n]))
        mine, others = np.split(pattern, [len(self.n)])

        same = len(self.n) == len(other.n) == len(n)

        def add(one: Any, another: Any, kind: Any = np.float64) -> Any:
            if same:
                return np.add(one, another, dtype=kind)
            out = np.zeros((len(n), *one.shape[1:]), kind)
            out[mine] = one
            out[others] += another
            return out

        return ItemSums(
            self.pool,
            tuple(map(Moments.__add__, self.moments, other.moments)),
            n,
            add(self.multiplicity, other.multiplicity),
            add(self.per_rater, other.per_rater),
            add(self.pairs, other.pairs, np.int64),
            add(self.moment, other.moment),
            add(self.total, other.total),
            add(self.square, other.square),
            self.rater_total + other.rater_total,
        )

    def crossed(self, center: float) -> CrossedSums:
        """The sums of one pool, of ratings less a centre."""
        n, moment, total, square = self._centred(np.array([center]))
        size = n[:, 0]
        raters = len(self.pool)
        gram = np.zeros((len(n) + 1, raters + 1, raters + 1))
        by_rater = self.per_rater.sum(axis=0)
        gram[0] = _bordered(np.diag(by_rater), by_rater, by_rater.sum())
        for d, pairs in enumerate(self.pairs):
            edge = size[d] * self.per_rater[d]
            whole = size[d] ** 2 * self.multiplicity[d]
            gram[d + 1] = _bordered(_symmetric(pairs, raters), edge, whole)
        rater_total = self._rater_total(np.array([center]))
        first = np.append(rater_total, rater_total.sum())
        others = np.column_stack([moment[:, :, 0], size * total[:, 0]])
        return CrossedSums(
            size,
            self.multiplicity,
            gram,
            np.vstack([first, others]),
            np.append(self._squares(np.array([center])), square[:, 0, 0]),
        )

    def pooled(self, centers: Array) -> PooledSums:
        """The sums of several pools, of ratings less a centre by pool (G,)."""
        n, moment, total, square = self._centred(centers)
        pools = n.shape[1]
        is_in = self.pool[:, None] == np.arange(pools)
        edge = self.per_rater.sum(axis=0)[:, None] * is_in
        rater_total = self._rater_total(centers)
        totals = np.bincount(self.pool, rater_total)
        first = np.diag(self.per_rater.sum(axis=0))
        gram = [np.block([[first, edge], [edge.T, np.diag(edge.sum(axis=0))]])]
        moments = [np.vstack([rater_total[:, None] * is_in, np.diag(totals)])]
        for d, pairs in enumerate(self.pairs):
            block, edge = _symmetric(pairs, len(self.pool)), np.outer(self.per_rater[d], n[d])
            whole = self.multiplicity[d] * np.outer(n[d], n[d])
            gram.append(np.block([[block, edge], [edge.T, whole]]))
            moments.append(np.vstack([moment[d], np.outer(n[d], total[d])]))
        return PooledSums(
            self.pool,
            n,
            self.multiplicity,
            np.array(gram),
            np.array(moments),
            np.concatenate([np.diag(self._squares(centers))[None], square]),
        )

    def _shifts(self, centers: Array) -> Array:
        return np.asarray(centers - [of.pivot for of in self.moments])

    def _centred(self, centers: Array) -> tuple[Array, Array, Array, Array]:
        """Numbers of ratings, moments, totals and squares by pattern, of ratings less centres."""
        n, more = self.n, self.n * self._shifts(centers)
        cross = more[:, :, None] * self.total[:, None, :]
        outer = more[:, :, None] * more[:, None, :] * self.multiplicity[:, None, None]
        return (
            n,
            self.moment - self.per_rater[:, :, None] * more[:, None, :],
            self.total - more * self.multiplicity[:, None],
            self.square - cross - cross.swapaxes(1, 2) + outer,
        )

    def _rater_total(self, centers: Array) -> Array:
        shift = self._shifts(centers)[self.pool]
        return np.asarray(self.rater_total - shift * self.per_rater.sum(axis=0))

    def _squares(self, centers: Array) -> Array:
        """(G,) sums of squares of the ratings less centres."""
        return np.array(
            [
                of.square - 2 * shift * of.total + shift**2 * of.n
                for of, shift in zip(self.moments, self._shifts(centers), strict=True)
            ]
        )


def _of_alike(
    rater: Codes, first: Codes, items: Codes, t: Array, raters: int
) -> tuple[Array, NDArray[np.integer[Any]], Array]:
    """Sums of c, cc' and ct' over items of equally many ratings.

    An item's ratings begin at ``first`` and are in the order of the raters.
    """
    number = int(first[items[0] + 1] - first[items[0]])
    who = rater[first[items, None] + np.arange(number)]
    per_rater = np.bincount(who.ravel(), minlength=raters).astype(float)
    moment = [np.bincount(who.ravel(), np.repeat(total, number), raters) for total in t[items].T]
    of = _dense_pairs if number > DENSE_FROM * raters else _pairs
    pairs = of(who, raters)
    if pairs.max(initial=0) < np.iinfo(np.int32).max:
        pairs = pairs.astype(np.int32)
    return per_rater, pairs, np.stack(moment, axis=1)


def _pairs(who: Codes, raters: int) -> NDArray[np.int64]:
    """Upper triangle of the sum of cc', of the raters (I, n) of items, by counting their pairs."""
    row = np.arange(raters)
    start = row * raters - row * (row + 1) // 2
    out = np.zeros(raters * (raters + 1) // 2, np.int64)
    number = who.shape[1]
    for some in blocks(len(who), IN_MEMORY // (number * (number + 1) // 2)):
        part = who[some]
        codes = [(start[part[:, [at]]] + part[:, at:]).ravel() for at in range(number)]
        out += np.bincount(np.concatenate(codes), minlength=len(out))
    # Two ratings by the same rater are one pair here, and two in the product.
    own = start + row
    out[own] = 2 * out[own] - np.bincount(who.ravel(), minlength=raters)
    return out


def _dense_pairs(who: Codes, raters: int) -> NDArray[np.int64]:
    """The same by products of matrices, for items that many of the raters have rated."""
    out = np.zeros((raters, raters))
    for some in blocks(len(who), BLOCK_ROWS):
        part = who[some]
        cell = np.arange(len(part))[:, None] * raters + part
        counts = np.bincount(cell.ravel(), minlength=len(part) * raters).astype(float)
        table = counts.reshape(-1, raters)
        out += table.T @ table
    return np.rint(out[np.triu_indices(raters)]).astype(np.int64)


def _symmetric(pairs: NDArray[np.integer[Any]], raters: int) -> Array:
    """The matrix of an upper triangle."""
    out = np.zeros((raters, raters))
    upper = np.triu_indices(raters)
    out[upper] = pairs
    out.T[upper] = pairs
    return out


def _bordered(block: Array, edge: Array, corner: float) -> Array:
    return np.block([[block, edge[:, None]], [edge[None], np.array([[corner]])]])
