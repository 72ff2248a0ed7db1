"""Rows of statistics of items, equal rows merged: what a bootstrap over items samples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from pandas.util import hash_array

from reliabayes.agreement.item_rows import Rows, n_columns, to_dense
from reliabayes.arrays import Array

Formula = Callable[[Array], Array]


@runtime_checkable
class HasGradient(Protocol):
    """A formula that gives its derivatives, for which steps along each row would take too long."""

    def gradient(self, sums: Array) -> Array:
        """(S,) derivatives in the sums (S,), as far as they matter along rows."""


MAX_ELEMENTS = 2**22  # of an array that is computed at once, 32 MB
REPLICATES_PER_STREAM = 100  # replicates that share a stream of random numbers


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Rows of statistics of items, equal rows merged.

    Merged rows are in the order of their hashes, which depends on nothing but the rows: samples of
    items are the same however the items are ordered or divided into parts.

    Attributes
    ----------
    rows : array or sparse array, shape (D, S)
        The distinct rows.
    multiplicity : array of int, shape (D,)
        Number of items that have each row.
    """

    rows: Rows
    multiplicity: NDArray[np.intp]

    @classmethod
    def of(cls, rows: Rows) -> DistinctRows:
        """Merge equal rows (I, S), unless hardly any are equal."""
        once = np.ones(rows.shape[0], np.intp)
        found = cls._grouped(rows, once)
        return cls(rows, once) if 2 * len(found.multiplicity) > len(once) else found

    @classmethod
    def merged(cls, several: Iterable[DistinctRows]) -> DistinctRows:
        """Merge equal rows of several parts of the items, however few are equal."""
        parts = list(several)
        blocks = [part.rows for part in parts]
        dense = [block for block in blocks if isinstance(block, np.ndarray)]
        rows = (
            np.concatenate(dense)
            if len(dense) == len(blocks)
            else sp.csr_array(sp.vstack([sp.csr_array(block) for block in blocks]))
        )
        return cls._grouped(rows, np.concatenate([part.multiplicity for part in parts]))

    @classmethod
    def _grouped(cls, rows: Rows, multiplicity: NDArray[np.intp]) -> DistinctRows:
        label, hashes = pd.factorize(_hashes(rows))
        first = np.empty(len(hashes), np.intp)
        first[label[::-1]] = np.arange(len(label))[::-1]
        counts = np.bincount(label, multiplicity, minlength=len(hashes)).astype(np.intp)
        order = np.argsort(hashes)
        distinct = rows[first[order]]
        is_small = len(order) * n_columns(rows) <= MAX_ELEMENTS
        return cls(to_dense(distinct) if is_small else distinct, counts[order])

    @property
    def n_items(self) -> int:
        """Number I of items."""
        return int(self.multiplicity.sum())

    @property
    def n_elements(self) -> int:
        """Number of elements that are stored."""
        return int(self.rows.size)

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""
        if isinstance(self.rows, np.ndarray):  # the order of a dot product depends on the column
            return np.asarray((self.multiplicity[:, None] * self.rows).sum(axis=0))
        return np.asarray(self.multiplicity @ self.rows, np.float64)

    @property
    def block_size(self) -> int:
        """Number of samples of items to draw at once."""
        largest = max(self.n_items, n_columns(self.rows))
        return max(1, min(REPLICATES_PER_STREAM, MAX_ELEMENTS // largest))

    def resample(self, rng: np.random.Generator, replicates: int) -> NDArray[np.int64]:
        """(replicates, D) count of each row in samples of I items with replacement."""
        n_items, n_rows = self.n_items, len(self.multiplicity)
        if 16 * n_rows < n_items:
            return rng.multinomial(n_items, self.multiplicity / n_items, size=replicates)
        row = np.repeat(np.arange(n_rows), self.multiplicity)
        drawn = row[rng.integers(n_items, size=(replicates, n_items))]
        drawn += n_rows * np.arange(replicates)[:, None]
        counts = np.bincount(drawn.ravel(), minlength=replicates * n_rows)
        return counts.reshape(replicates, n_rows)

    def perturbed(self, formula: Formula, weight: complex, total: Array) -> NDArray[Any]:
        """(D,) formula of ``total`` plus ``weight`` times each row."""
        size = max(1, MAX_ELEMENTS // n_columns(self.rows))
        starts = range(0, len(self.multiplicity), size)
        blocks = (self.rows[start : start + size] for start in starts)
        return np.concatenate([formula(total + weight * to_dense(block)) for block in blocks])


def _hashes(rows: Rows) -> NDArray[np.uint64]:
    """Hash (I,) of each row: two of 10^7 different rows collide with probability 3e-6."""
    random = np.random.default_rng(1960).integers(0, 2**64, n_columns(rows), np.uint64)
    of_zero = hash_array(np.zeros(1))[0]  # which counts for nothing, as in a sparse array
    if isinstance(rows, np.ndarray):
        found = np.zeros(len(rows), np.uint64)
        for weight, column in zip(random, rows.T, strict=True):
            found += weight * (hash_array(column + 0.0) - of_zero)  # modulo 2^64, -0 as 0
        return found
    rows.sum_duplicates()
    term = random[rows.indices] * (hash_array(rows.data + 0.0) - of_zero)
    until = np.append(np.uint64(0), np.cumsum(term))
    return np.asarray(until[rows.indptr[1:]] - until[rows.indptr[:-1]])
