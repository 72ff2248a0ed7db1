"""Sampling distributions of formulas of sums over items: bootstrap, jackknife, delta method.

A sample of items is a row of weights, and its sums are weights @ rows: nothing is computed anew.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import joblib  # type: ignore[import-untyped]
import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from pandas.util import hash_array

from reliabayes.arrays import Array, Codes

Rows = Array | sp.csr_array
Formula = Callable[[Array], Array]
Sampler = Callable[[np.random.Generator, int], Array]

CELLS = 2**22  # of a table that is made at once, 32 MB
BLOCK = 100  # replicates drawn from one stream of random numbers
STEP = 1e-100  # so small that a complex step has no error of its own


@dataclass(frozen=True, eq=False)
class Statistics:
    """Statistics of items that add up, equal rows once.

    Attributes
    ----------
    rows : array or sparse array (D, S)
    times : int64 array (D,)
        How many items have each row.
    """

    rows: Rows
    times: NDArray[np.int64]

    @classmethod
    def of(cls, rows: Rows) -> Statistics:
        """Merge equal rows (I, S), unless hardly any are equal."""
        label = _labels(rows) if isinstance(rows, np.ndarray) else _labels_of_sparse(rows)
        _, first, times = np.unique(label, return_index=True, return_counts=True)
        if 2 * len(first) > len(label):
            return cls(rows, np.ones(len(label), np.int64))
        distinct = rows[first]
        is_small = len(first) * width(rows) <= CELLS
        return cls(dense(distinct) if is_small else distinct, times.astype(np.int64))

    @property
    def n_items(self) -> int:
        """Number I of items."""
        return int(self.times.sum())

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""
        return np.asarray(self.times @ self.rows, np.float64)

    @property
    def block(self) -> int:
        """Number of samples of items to draw at once."""
        return max(1, min(BLOCK, CELLS // max(self.n_items, width(self.rows))))

    def draw(self, rng: np.random.Generator, number: int) -> NDArray[np.int64]:
        """(number, D) how often each row occurs in samples of I items with replacement."""
        items, distinct = self.n_items, len(self.times)
        if 16 * distinct < items:
            return rng.multinomial(items, self.times / items, size=number)
        row = np.repeat(np.arange(distinct), self.times)
        drawn = row[rng.integers(items, size=(number, items))]
        drawn += distinct * np.arange(number)[:, None]
        return np.bincount(drawn.ravel(), minlength=number * distinct).reshape(number, distinct)

    def each(self, formula: Formula, weight: complex, total: Array) -> NDArray[Any]:
        """(D,) formula of ``total`` plus ``weight`` times each row."""
        size = max(1, CELLS // width(self.rows))
        blocks = (self.rows[start : start + size] for start in range(0, len(self.times), size))
        return np.concatenate([formula(total + weight * dense(block)) for block in blocks])


def bootstrap(sample: Sampler, replicates: int, block: int, seed: int, n_jobs: int) -> Array:
    """(replicates,) values of a formula on samples; the same for any number of jobs."""
    sizes = np.full(math.ceil(replicates / block), block)
    sizes[-1] -= sizes.sum() - replicates
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    values = joblib.Parallel(n_jobs=n_jobs)(
        joblib.delayed(sample)(np.random.default_rng(stream), int(size))
        for stream, size in zip(streams, sizes, strict=True)
    )
    return np.concatenate(values)


def draw_raters(pools: Codes, rng: np.random.Generator, number: int) -> NDArray[np.int64]:
    """(number, R) how often each rater occurs in samples that keep the sizes of the pools."""
    drawn = np.empty((number, len(pools)), np.int64)
    for pool in np.unique(pools):
        members = np.flatnonzero(pools == pool)
        shares = np.full(len(members), 1 / len(members))
        drawn[:, members] = rng.multinomial(len(members), shares, size=number)
    return drawn


def left_out(statistics: Statistics, formula: Formula) -> Array:
    """(I,) formula of the sums without each item; items with the same row stand together."""
    return np.repeat(statistics.each(formula, -1.0, statistics.total), statistics.times)


def influence(statistics: Statistics, formula: Formula) -> Array:
    """(I,) derivative of a formula by the weight of each item, exact to rounding.

    Squire & Trapp (1998), https://doi.org/10.1137/S003614459631241X; the formula must be analytic:
    products, quotients, powers and logarithms of the sums.
    """
    slopes = statistics.each(formula, STEP * 1j, statistics.total.astype(complex)).imag / STEP
    return np.repeat(slopes, statistics.times)


def pull(values: Array) -> Array:
    """(n,) by how much each unit moves the mean of the jackknife, given values without each."""
    n = len(values)
    return np.asarray((n - 1) / n * (values.mean() - values))


def side_by_side(blocks: Sequence[Rows]) -> Rows:
    """(I, S) statistics of the same items; sparse if one of them is."""
    arrays = [block for block in blocks if isinstance(block, np.ndarray)]
    if len(arrays) == len(blocks):
        return np.hstack(arrays)
    return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))


def width(rows: Rows) -> int:
    """Number S of statistics."""
    return int(rows.shape[1])


def dense(rows: Rows) -> Array:
    """The same rows as an array."""
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())


def _labels(rows: Array) -> Codes:
    """(I,) codes of rows, equal ones of equal rows; any codes if hardly any are equal."""
    label = np.zeros(len(rows), np.intp)
    for column in rows.T:
        value, values = pd.factorize(column)
        label, labels = pd.factorize(label * len(values) + value)
        if 2 * len(labels) > len(rows):
            break
    return label


def _labels_of_sparse(rows: sp.csr_array) -> Codes:
    """(I,) codes of sparse rows, equal ones of equal rows; any codes if two rows look alike."""
    rows.sum_duplicates()
    random = np.random.default_rng(1960).integers(0, 2**64, width(rows), np.uint64)
    term = random[rows.indices] * hash_array(rows.data)
    until = np.append(np.uint64(0), np.cumsum(term))  # modulo 2^64
    label, _ = pd.factorize(until[rows.indptr[1:]] - until[rows.indptr[:-1]])
    _, first = np.unique(label, return_index=True)
    differences = rows - rows[first][label]
    return np.arange(len(label)) if differences.count_nonzero() else label
