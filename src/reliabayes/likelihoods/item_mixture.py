"""Items with a hidden state, by their ratings: the density behind all models of categories.

Given the state of an item its ratings are independent. Such a model is a table of
log-probabilities, a row for each state and a column for each cell, and log-weights of the states, a
column for each kind of item. A cell is what the likelihood needs of a rating: its category, and for
most models its rater. The Stan programs marginalise the states in ``stan/cpp/item_mixture.hpp``;
this is the same in NumPy.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.arrays import IN_MEMORY, Array, Codes, Mask, blocks
from reliabayes.inference.problem import StanData


class Expected(NamedTuple):
    """Sufficient statistics that EM expects.

    Attributes
    ----------
    ratings : array of shape (H, V)
        Expected number of ratings by state and cell.
    items : array of shape (H,)
        Expected number of items by state.
    misled : array of shape (2,)
        Items with a known true category that is not the one their ratings follow, and the others;
        zeros unless items may mislead.
    """

    ratings: Array
    items: Array
    misled: Array = np.zeros(2)

    def plus(self, other: Expected) -> Expected:
        """Those of the items of two parts."""
        return Expected(*map(np.add, self, other))


@dataclass(frozen=True, eq=False)
class ItemMixture:
    """Distinct items: items of one kind whose ratings fall into the same cells are stored once.

    Attributes
    ----------
    counts : sparse array of shape (D, V)
        Ratings by distinct item and cell.
    multiplicity : array of shape (D,)
        How many items each distinct item stands for.
    kind : array of int, shape (D,)
        Column of the log-weights.
    distinct : array of int, shape (I,)
        Which of the distinct items each item is; empty if only a part of the items is here.
    """

    counts: sp.csr_array
    multiplicity: Array
    kind: Codes
    distinct: Codes

    @classmethod
    def of(cls, item: Codes, cell: Codes, n_cells: int, kind: Codes) -> ItemMixture:
        """Distinct items among ``len(kind)`` items, given item and cell of each rating."""
        shape = (len(kind), n_cells)
        counts = sp.csr_array((np.ones(len(item)), (item, cell)), shape=shape)
        counts.sum_duplicates()
        example, distinct = _distinct(counts, kind)
        return cls(counts[example], np.bincount(distinct).astype(float), kind[example], distinct)

    @classmethod
    def unmerged(cls, item: Codes, cell: Codes, n_cells: int, kind: Codes) -> ItemMixture:
        """All items, each stored by itself and without a search for others like it.

        Ratings are sorted by item.
        """
        first = np.searchsorted(item, np.arange(len(kind) + 1, dtype=item.dtype))
        shape = (len(kind), n_cells)
        counts = sp.csr_array((np.ones(len(item)), cell, first.astype(np.int32)), shape=shape)
        return cls(counts, np.ones(len(kind)), kind, np.empty(0, np.int32))

    @classmethod
    def merged(cls, several: Sequence[ItemMixture]) -> ItemMixture:
        """Distinct items of several parts."""
        counts = sp.csr_array(sp.vstack([each.counts for each in several]))
        kind = np.concatenate([each.kind for each in several])
        multiplicity = np.concatenate([each.multiplicity for each in several])
        example, distinct = _distinct(counts, kind)
        total = np.bincount(distinct, multiplicity).astype(float)
        return cls(counts[example], total, kind[example], np.empty(0, np.int32))

    def stan_data(self) -> StanData:
        """Data for the Stan programs."""
        return StanData(
            sizes={"D": self.counts.shape[0], "C": self.counts.nnz, "V": self.counts.shape[1]},
            positions={
                "kind": self.kind,
                "first": self.counts.indptr,
                "cell": self.counts.indices,
            },
            values={
                "multiplicity": self.multiplicity.astype(np.int64),
                "count": self.counts.data,
            },
        )

    def part(self, rows: slice | Mask) -> ItemMixture:
        """Some of the distinct items."""
        none = np.empty(0, np.int32)
        return ItemMixture(self.counts[rows], self.multiplicity[rows], self.kind[rows], none)

    def restricted(self, cells: Codes) -> tuple[ItemMixture, Mask]:
        """Ratings in some of the cells; and (D,) whether a distinct item has such ratings."""
        counts = self.counts[:, cells]
        has_ratings = np.diff(counts.indptr) > 0
        return ItemMixture(counts, self.multiplicity, self.kind, self.distinct).part(
            has_ratings
        ), has_ratings

    def expanded(self) -> ItemMixture:
        """All items, each stored by itself."""
        every = np.arange(len(self.distinct), dtype=np.int32)
        return ItemMixture(
            self.counts[self.distinct], np.ones(len(every)), self.kind[self.distinct], every
        )

    @property
    def n_ratings(self) -> float:
        """Number of ratings of all items."""
        return float(self.multiplicity @ self.counts.sum(axis=1))

    def posterior(self, table: Array, log_weight: Array) -> tuple[Array, Array]:
        """Log-probability (..., D) of the ratings of each item, and (..., D, H) of its states."""
        # States come first: NumPy is fast along many items, not along the few states of each.
        weight = log_weight[..., self.kind] if log_weight.shape[-1] > 1 else log_weight
        by_item = (self.counts @ table.reshape(-1, table.shape[-1]).T).T
        joint = np.add(by_item.reshape(*table.shape[:-1], -1), weight, order="C")
        # The largest term is scaled to 1; it stays 0 where no state can explain an item.
        largest = np.maximum(joint.max(axis=-2), np.finfo(float).min)
        joint -= largest[..., None, :]
        state = np.exp(joint, out=joint)
        total = state.sum(axis=-2)
        state /= np.maximum(total, 1)[..., None, :]
        with np.errstate(divide="ignore"):
            return largest + np.log(total), state.swapaxes(-1, -2)

    def log_probability(self, table: Array, log_weight: Array) -> Array:
        """Log-probability (D,) of the ratings of each item, in blocks of items."""
        items = blocks(len(self.multiplicity), IN_MEMORY // len(table))
        parts = (self.part(some).posterior(table, log_weight) for some in items)
        return np.concatenate([log_probability for log_probability, _ in parts])

    def total(self, log_probability: Array) -> float:
        """Sum of (D,) over all items; no dot product, whose threads wait for each other."""
        return float((self.multiplicity * log_probability).sum())

    def expected(self, state: Array) -> Expected:
        """Expected ratings and items, given the probabilities (D, H) of the states."""
        weighted = self.multiplicity * state.T
        return Expected(np.asarray(self._by_cell @ weighted.T).T, weighted.sum(axis=1))

    def known_items(self, state: Array, n_gold_states: int) -> Array:
        """Expected items (W - 1, H) by kind, other than the first, and state."""
        of_kind = np.eye(n_gold_states)[self.kind, 1:] * self.multiplicity[:, None]
        return np.asarray(of_kind.T @ state)

    @cached_property
    def _by_cell(self) -> sp.csc_array:
        return self.counts.T


def _distinct(counts: sp.csr_array, kind: Codes) -> tuple[NDArray[np.intp], Codes]:
    """Example of each distinct row, the first one, and position of each row among these."""
    hashes = _hash(counts, kind)
    order = np.lexsort(hashes)  # many times as fast as np.unique of pairs
    is_new = np.ones(len(order), bool)
    is_new[1:] = (np.diff(hashes[:, order]) != 0).any(axis=0)
    distinct = np.empty(len(order), np.int32)
    distinct[order] = is_new.cumsum() - 1
    return order[is_new], distinct


def _hash(counts: sp.csr_array, kind: Codes) -> NDArray[np.uint64]:
    """Hash (2, I) of each row, of 128 bits: two different rows collide with probability 2^-126."""
    random = np.random.default_rng(1979)
    hashes = np.empty((2, counts.shape[0]), np.uint64)
    for half in hashes[::-1]:  # the order of rows is by the last one
        of_cell = random.integers(0, 2**64, counts.shape[1], np.uint64)
        of_kind = random.integers(0, 2**64, int(kind.max()) + 1, np.uint64)
        terms = of_cell[counts.indices] * counts.data.astype(np.uint64)
        until = np.append(np.uint64(0), np.cumsum(terms))  # modulo 2^64
        half[:] = until[counts.indptr[1:]] - until[counts.indptr[:-1]] + of_kind[kind]
    return hashes
