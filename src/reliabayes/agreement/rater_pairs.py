"""Contingency tables of the categories that two raters gave the same items."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows, rows_from_entries
from reliabayes.agreement.whole import pairs_of_raters, require_shared_categories, whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False)
class RaterPairTables:
    """Contingency table (K, K) of every pair of raters who share items.

    Columns, for each pair of raters: number of items in common, with every rater counted once; then
    the table, in which raters count as often as they occur.

    Attributes
    ----------
    item : array of int, shape (M,)
        Item of each pair of ratings.
    raters : tuple of array of int, shape (M,)
        Raters of the first and of the second rating.
    pair : array of int, shape (M,)
        Pair of raters.
    cell : array of int, shape (M,)
        Cell of the flattened table.
    n_items, n_pairs, n_categories : int
        Numbers of items, of pairs of raters and of categories.
    """

    item: Codes
    raters: tuple[Codes, Codes]
    pair: Codes
    cell: Codes
    n_items: int
    n_pairs: int
    n_categories: int

    @classmethod
    def of(cls, ratings: Ratings, purpose: str) -> RaterPairTables:
        """Tables of all pairs of raters who share an item."""
        ratings.require_known_raters(purpose)
        require_shared_categories(ratings)
        one, other = pairs_of_raters(ratings)
        first, second = ratings.rater[one], ratings.rater[other]
        pairs = whole_of(ratings).rater_pairs
        pair = np.searchsorted(pairs, first.astype(np.int64) * ratings.n_raters + second)
        size = len(ratings.categories)
        cell = ratings.category[one].astype(np.intp) * size + ratings.category[other]
        item = ratings.item[one].astype(np.intp)
        return cls(item, (first, second), pair, cell, ratings.n_items, len(pairs), size)

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        width = 1 + self.n_categories**2
        once = np.ones(len(self.item))
        weighted = once if weights is None else weights[self.raters[0]] * weights[self.raters[1]]
        return rows_from_entries(
            np.tile(self.item, 2),
            np.append(self.pair * width, self.pair * width + 1 + self.cell),
            np.append(once, weighted),
            (self.n_items, self.n_pairs * width),
        )

    def tables(self, sums: Array) -> tuple[Array, Array]:
        """Tables (..., P, K, K), and how often each pair of raters occurs (..., P)."""
        size = self.n_categories
        by_pair = sums.reshape(*sums.shape[:-1], self.n_pairs, 1 + size**2)
        tables = by_pair[..., 1:].reshape(*by_pair.shape[:-1], size, size)
        return tables, ratio(tables.sum((-2, -1)), by_pair[..., 0], 0.0)

    def mean_over_pairs(self, formula: Formula) -> Formula:
        """Mean of a formula of tables over pairs of raters, ignoring undefined values."""

        def mean(sums: Array) -> Array:
            tables, multiplicity = self.tables(sums)
            values = formula(tables)
            is_defined = ~np.isnan(values)
            total = np.where(is_defined, values * multiplicity, 0.0).sum(-1)
            return ratio(total, (is_defined * multiplicity).sum(-1))

        return mean
