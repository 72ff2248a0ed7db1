"""Pairs of ratings of the same items, and contingency tables of their categories."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.distinct_rows import Formula
from reliabayes.agreement.item_rows import Rows, rows_from_entries
from reliabayes.agreement.whole import pairs_of_raters, require_shared_categories, whole_of
from reliabayes.arrays import Array, Codes
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False)
class PairedRatings:
    """Pairs of ratings of the same item by different raters.

    Attributes
    ----------
    positions : tuple of array of int, shape (M,)
        Positions of both ratings; the rater of the first comes first.
    item : array of int, shape (M,)
        Item of each pair of ratings.
    raters : tuple of array of int, shape (M,)
        Raters of both ratings.
    pair : array of int, shape (M,)
        Pair of raters, of all ratings together.
    n_items, n_pairs : int
        Numbers of items and of pairs of raters.
    """

    positions: tuple[Codes, Codes]
    item: Codes
    raters: tuple[Codes, Codes]
    pair: Codes
    n_items: int
    n_pairs: int

    @classmethod
    def of(cls, ratings: Ratings) -> PairedRatings:
        """All pairs of ratings of raters who are known."""
        one, other = pairs_of_raters(ratings)
        first, second = ratings.rater[one], ratings.rater[other]
        pairs = whole_of(ratings).rater_pairs
        pair = np.searchsorted(pairs, first.astype(np.int64) * ratings.n_raters + second)
        item = ratings.item[one].astype(np.intp)
        return cls((one, other), item, (first, second), pair, ratings.n_items, len(pairs))

    def sorted_by_pair(self) -> PairedRatings:
        """The same, one pair of raters after the other."""
        order = np.argsort(self.pair, kind="stable")
        one, other = (each[order] for each in self.positions)
        first, second = (each[order] for each in self.raters)
        return replace(
            self,
            positions=(one, other),
            item=self.item[order],
            raters=(first, second),
            pair=self.pair[order],
        )

    def times(self, weights: Array | None) -> Array:
        """(M,) how often each pair of ratings occurs, given how often each rater does."""
        if weights is None:
            return np.ones(len(self.item))
        return np.asarray(weights[self.raters[0]] * weights[self.raters[1]], np.float64)


@dataclass(frozen=True, eq=False)
class RaterPairTables:
    """Contingency table (K, K) of every pair of raters who share items.

    Columns, for each pair of raters: number of items in common, with every rater counted once; then
    the table, in which raters count as often as they occur.

    Attributes
    ----------
    paired : PairedRatings
        Pairs of ratings.
    cell : array of int, shape (M,)
        Cell of the flattened table.
    n_categories : int
        Number of categories.
    """

    paired: PairedRatings
    cell: Codes
    n_categories: int

    @classmethod
    def of(cls, ratings: Ratings, purpose: str) -> RaterPairTables:
        """Tables of all pairs of raters who share an item."""
        ratings.require_known_raters(purpose)
        require_shared_categories(ratings)
        paired = PairedRatings.of(ratings)
        one, other = (ratings.category[each] for each in paired.positions)
        size = len(ratings.categories)
        return cls(paired, one.astype(np.intp) * size + other, size)

    @property
    def n_pairs(self) -> int:
        """Number of pairs of raters."""
        return self.paired.n_pairs

    def rows(self, weights: Array | None) -> Rows:
        """(I, S) statistics, given how often each rater occurs."""
        width, paired = 1 + self.n_categories**2, self.paired
        start = paired.pair * width
        return rows_from_entries(
            np.tile(paired.item, 2),
            np.append(start, start + 1 + self.cell),
            np.append(np.ones(len(paired.item)), paired.times(weights)),
            (paired.n_items, paired.n_pairs * width),
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
