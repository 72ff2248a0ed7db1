"""Tables of the categories that two raters gave the same items, of all pairs of raters."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.cells import Indices, neighbours, ratio, statistics
from reliabayes.agreement.resampling import Formula, Rows
from reliabayes.arrays import Array
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False)
class PairTables:
    """How often one rater's category met another's: a table (K, K) of each pair that share items.

    Columns, for each pair: items in common, each rater counted once; the table, in which raters
    count as often as they occur.
    """

    item: Indices
    raters: tuple[Indices, Indices]
    pair: Indices
    cell: Indices
    n_items: int
    n_pairs: int
    n_categories: int

    @classmethod
    def of(cls, ratings: Ratings, purpose: str) -> PairTables:
        """Tables of all pairs of raters that share an item."""
        ratings.require_known_raters(purpose)
        one, other = neighbours(ratings.item)
        is_pair = ratings.rater[one] != ratings.rater[other]
        one, other = one[is_pair], other[is_pair]
        first, second = ratings.rater[one], ratings.rater[other]
        pairs, pair = np.unique(
            first.astype(np.int64) * ratings.n_raters + second, return_inverse=True
        )
        size = len(ratings.categories)
        cell = ratings.category[one].astype(np.intp) * size + ratings.category[other]
        item = ratings.item[one].astype(np.intp)
        return cls(item, (first, second), pair, cell, ratings.n_items, len(pairs), size)

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        width = 1 + self.n_categories**2
        once = np.ones(len(self.item))
        times = once if weights is None else weights[self.raters[0]] * weights[self.raters[1]]
        return statistics(
            np.tile(self.item, 2),
            np.append(self.pair * width, self.pair * width + 1 + self.cell),
            np.append(once, times),
            (self.n_items, self.n_pairs * width),
        )

    def tables(self, sums: Array) -> tuple[Array, Array]:
        """Tables (..., P, K, K), and how often (..., P) each pair of raters occurs."""
        size = self.n_categories
        by_pair = sums.reshape(*sums.shape[:-1], self.n_pairs, 1 + size**2)
        tables = by_pair[..., 1:].reshape(*by_pair.shape[:-1], size, size)
        return tables, ratio(tables.sum((-2, -1)), by_pair[..., 0], 0.0)

    def averaged(self, formula: Formula) -> Formula:
        """Mean of a formula of tables over pairs of raters, undefined ones left out."""

        def mean(sums: Array) -> Array:
            tables, times = self.tables(sums)
            values = formula(tables)
            is_defined = ~np.isnan(values)
            total = np.where(is_defined, values * times, 0.0).sum(-1)
            return ratio(total, (is_defined * times).sum(-1))

        return mean
