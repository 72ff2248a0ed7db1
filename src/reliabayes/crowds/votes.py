"""Votes on items as flat arrays, sums over them, and the pairs of votes on an item."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import IN_MEMORY, Array, Codes, Mask, blocks

# Pairs grow with the square of the votes on an item; so many tell as much as all.
MOST_VOTES = 50  # of an item, of which pairs are made
MOST_PAIRS = 500_000  # of all items
MOST_CELLS = 4_000_000  # pairs of raters times categories squared: those who met most often


@dataclass(frozen=True, eq=False)
class Votes:
    """Categories that raters gave to items, one of each rater and item.

    Attributes
    ----------
    item, rater, category : array of int, shape (N,)
        Of each vote.
    shape : tuple of int
        Numbers I, R, K of items, raters and categories.
    """

    item: Codes
    rater: Codes
    category: Codes
    shape: tuple[int, int, int]

    @cached_property
    def by_item(self) -> sp.csr_array:
        """Sums (I, N) over the votes on an item."""
        return _sums(self.item, self.shape[0])

    @cached_property
    def by_rater(self) -> sp.csr_array:
        """Sums (R, N) over the votes of a rater."""
        return _sums(self.rater, self.shape[1])

    @cached_property
    def by_rater_and_category(self) -> sp.csr_array:
        """Sums (R * K, N) over the votes of a rater for a category."""
        _, n_raters, n_categories = self.shape
        return _sums(self.rater * n_categories + self.category, n_raters * n_categories)

    @cached_property
    def per_item(self) -> Codes:
        """Number (I,) of votes on each item."""
        return np.bincount(self.item, minlength=self.shape[0])

    @cached_property
    def per_rater(self) -> Codes:
        """Number (R,) of votes by each rater."""
        return np.bincount(self.rater, minlength=self.shape[1])

    @cached_property
    def counts(self) -> Array:
        """Number (I, K) of votes on each item for each category."""
        n_items, _, n_categories = self.shape
        cell = self.item.astype(np.int64) * n_categories + self.category
        count = np.bincount(cell, minlength=n_items * n_categories)
        return count.reshape(n_items, n_categories).astype(float)

    @cached_property
    def is_for(self) -> Mask:
        """Whether (N, K) a vote is for each category."""
        return np.asarray(np.eye(self.shape[2], dtype=bool)[self.category])

    def of_equal_items(self, least: int, most: int | None = None) -> Iterator[Codes]:
        """Positions (items, n) of the votes on items that have n each, for every n from ``least``.

        Parameters
        ----------
        least : int
            Smallest number of votes on an item.
        most : int, optional
            How many votes on an item to take: the first in a random order that is always the same.

        Yields
        ------
        array of int
        """
        by_chance = np.random.default_rng(0).permutation(len(self.item))
        order = by_chance[np.argsort(self.item[by_chance], kind="stable")]
        start = np.concatenate([[0], np.cumsum(self.per_item)])
        for number in np.unique(self.per_item[self.per_item >= least]):
            items = np.flatnonzero(self.per_item == number)
            taken = number if most is None else min(number, most)
            for some in blocks(len(items), IN_MEMORY // taken**2):
                yield order[start[items[some], None] + np.arange(taken)]


@dataclass(frozen=True, eq=False)
class PairsOfVotes:
    """Votes on an item by two raters, beside which there are others; sorted by the raters.

    Attributes
    ----------
    first, second : array of int, shape (P,)
        Positions of the votes.
    pair : array of int, shape (P,)
        Which pair of raters they are by.
    raters : array of int, shape (Q, 2)
        The raters of each pair, in ascending order.
    """

    first: Codes
    second: Codes
    pair: Codes
    raters: Codes

    @classmethod
    def of(cls, votes: Votes) -> PairsOfVotes:
        """Pairs of votes on items with three or more; of very many those of some items."""
        n = np.minimum(votes.per_item, MOST_VOTES).astype(np.int64)
        step = -(-int((n * (n - 1) // 2).sum()) // MOST_PAIRS)
        found = []
        for positions in votes.of_equal_items(3, MOST_VOTES):
            one, two = np.triu_indices(positions.shape[1], 1)
            some = positions[:: max(step, 1)]
            found.append((some[:, one].ravel(), some[:, two].ravel()))
        empty = np.zeros(0, np.intp)
        first, second = (
            (np.concatenate([empty, *each]) for each in zip(*found, strict=True))
            if found
            else (empty, empty)
        )
        swapped = votes.rater[first] > votes.rater[second]
        first, second = np.where(swapped, second, first), np.where(swapped, first, second)
        key = votes.rater[first].astype(np.int64) * votes.shape[1] + votes.rater[second]
        order = np.argsort(key, kind="stable")
        distinct, pair, met = np.unique(key[order], return_inverse=True, return_counts=True)
        most = max(1, MOST_CELLS // votes.shape[2] ** 2)
        if len(distinct) > most:
            order = order[met[pair] >= np.sort(met)[-most]]
            distinct, pair = np.unique(key[order], return_inverse=True)
        raters = np.stack(np.divmod(distinct, votes.shape[1]), axis=1)
        return cls(first[order], second[order], pair, raters)

    def of_raters(self, is_one: Mask) -> PairsOfVotes:
        """Pairs of which one rater or both are among some (R,)."""
        is_of = is_one[self.raters[:, 0]] | is_one[self.raters[:, 1]]
        rows = is_of[self.pair]
        pair = (np.cumsum(is_of) - 1)[self.pair[rows]]
        return PairsOfVotes(self.first[rows], self.second[rows], pair, self.raters[is_of])


def _sums(row: Codes, number: int) -> sp.csr_array:
    n = len(row)
    return sp.csr_array((np.ones(n), (row, np.arange(n))), shape=(number, n))
