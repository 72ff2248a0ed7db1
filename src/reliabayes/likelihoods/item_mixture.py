"""Items whose state is hidden, by their ratings: what all models of categorical ratings sum over.

Given the state of an item its ratings are independent. Such a model is a table of
log-probabilities, a row for each state and a column for each cell, and log-weights of the states, a
column for each kind of item. A cell is what matters of a rating: its category, and mostly who gave
it. The programs sum over states in ``stan/cpp/item_mixture.hpp``; this is the same in NumPy.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes


@dataclass(frozen=True, eq=False)
class ItemMixture:
    """Distinct items: those of one kind whose ratings fall into the same cells are stored once.

    Attributes
    ----------
    counts : (D, V) ratings by distinct item and cell
    items : (D,) how many items each stands for
    kind : (D,) column of the log-weights
    member : (I,) distinct item of each item; empty where they were read from Stan's data
    """

    counts: sp.csr_array
    items: Array
    kind: Codes
    member: Codes

    @classmethod
    def of(cls, item: Codes, cell: Codes, n_cells: int, kind: Codes) -> ItemMixture:
        """Distinct items among ``len(kind)`` items, given item and cell of each rating."""
        shape = (len(kind), n_cells)
        counts = sp.csr_array((np.ones(len(item)), (item, cell)), shape=shape)
        counts.sum_duplicates()
        _, one, member, items = np.unique(
            _hash(counts, kind), return_index=True, return_inverse=True, return_counts=True
        )
        return cls(counts[one], items.astype(float), kind[one], member.ravel().astype(np.int32))

    @classmethod
    def from_stan(cls, data: Mapping[str, Any]) -> ItemMixture:
        """What `to_stan` wrote."""
        cells = (
            np.asarray(data["count"], float),
            np.asarray(data["cell"], np.int32) - 1,
            np.asarray(data["first"], np.int32) - 1,
        )
        counts = sp.csr_array(cells, shape=(data["D"], data["V"]))
        kind = np.asarray(data["kind"], np.int32) - 1
        return cls(counts, np.asarray(data["items"], float), kind, np.empty(0, np.int32))

    def to_stan(self) -> dict[str, Any]:
        """Data that the Stan programs read, counted from 1."""
        return {
            "D": self.counts.shape[0],
            "C": self.counts.nnz,
            "V": self.counts.shape[1],
            "items": self.items.astype(np.int64),
            "kind": self.kind + 1,
            "first": self.counts.indptr + 1,
            "cell": self.counts.indices + 1,
            "count": self.counts.data,
        }

    def part(self, rows: slice) -> ItemMixture:
        """Some of the distinct items; which items they stand for is not kept."""
        none = np.empty(0, np.int32)
        return ItemMixture(self.counts[rows], self.items[rows], self.kind[rows], none)

    def grouped(self, cells: NDArray[np.bool_]) -> ItemMixture:
        """The same, distinct items that are alike in some of the cells (V,) side by side."""
        order = np.argsort(_hash(self.counts[:, cells], self.kind), kind="stable")
        place = np.argsort(order).astype(np.int32)
        return ItemMixture(
            self.counts[order], self.items[order], self.kind[order], place[self.member]
        )

    @property
    def n_ratings(self) -> float:
        """Number of ratings of all items."""
        return float(self.items @ self.counts.sum(axis=1))

    def posterior(self, table: Array, log_weight: Array) -> tuple[Array, Array]:
        """Log-probability (D,) of the ratings of each item, and (D, H) of its states given them."""
        # States come first: NumPy is fast along many items, not along the few states of each.
        weight = log_weight[:, self.kind] if log_weight.shape[1] > 1 else log_weight
        joint = np.add((self.counts @ table.T).T, weight, order="C")
        # The largest share is 1, or 0 where no state can explain an item.
        largest = np.maximum(joint.max(axis=0), np.finfo(float).min)
        joint -= largest
        state = np.exp(joint, out=joint)
        total = state.sum(axis=0)
        state /= np.maximum(total, 1)
        with np.errstate(divide="ignore"):
            return largest + np.log(total), state.T

    def total(self, log_probability: Array) -> float:
        """Sum of (D,) over all items; no dot product, whose threads wait for each other."""
        return float((self.items * log_probability).sum())

    def expected(self, state: Array) -> tuple[Array, Array]:
        """Expected ratings (H, V) by state and cell, and expected items (H,) by state."""
        weighted = self.items * state.T
        return np.asarray(self.counts.T @ weighted.T).T, weighted.sum(axis=1)


def _hash(counts: sp.csr_array, kind: Codes) -> NDArray[np.void]:
    """128 bits of each row: those of two different rows are the same with probability 2^-126."""
    random = np.random.default_rng(1979)
    hashes = np.empty((counts.shape[0], 2), np.uint64)
    for half in hashes.T:
        of_cell = random.integers(0, 2**64, counts.shape[1], np.uint64)
        of_kind = random.integers(0, 2**64, int(kind.max()) + 1, np.uint64)
        terms = of_cell[counts.indices] * counts.data.astype(np.uint64)
        until = np.append(np.uint64(0), np.cumsum(terms))  # modulo 2^64
        half[:] = until[counts.indptr[1:]] - until[counts.indptr[:-1]] + of_kind[kind]
    return hashes.view([("", np.uint64), ("", np.uint64)])[:, 0]
