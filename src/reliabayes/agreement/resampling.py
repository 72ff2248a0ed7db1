"""Sampling distributions of formulas of sums over items: bootstrap, jackknife, delta method.

A sample of items is a row of weights, and its sums are ``weights @ rows``: no sample costs another
pass over the ratings.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
from numpy.typing import NDArray
from pandas.util import hash_array

from reliabayes.agreement.item_rows import Rows, n_columns, to_dense
from reliabayes.arrays import Array, Codes
from reliabayes.jobs import run_jobs

Formula = Callable[[Array], Array]
Sampler = Callable[[np.random.Generator, int], Array]

MAX_ELEMENTS = 2**22  # of an array that is computed at once, 32 MB
MAX_GROUPS = 30  # of raters that are left out together, or of items in an interaction
REPLICATES_PER_STREAM = 100  # replicates that share a stream of random numbers
COMPLEX_STEP = 1e-100  # so small that the complex-step derivative has no truncation error


@dataclass(frozen=True, eq=False)
class DistinctRows:
    """Rows of statistics of items, equal rows merged.

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
        label = _labels(rows) if isinstance(rows, np.ndarray) else _labels_of_sparse(rows)
        _, first, counts = np.unique(label, return_index=True, return_counts=True)
        if 2 * len(first) > len(label):
            return cls(rows, np.ones(len(label), np.intp))
        distinct = rows[first]
        is_small = len(first) * n_columns(rows) <= MAX_ELEMENTS
        return cls(to_dense(distinct) if is_small else distinct, counts.astype(np.intp))

    @property
    def n_items(self) -> int:
        """Number I of items."""
        return int(self.multiplicity.sum())

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""
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


def bootstrap(sample: Sampler, replicates: int, block_size: int, seed: int, n_jobs: int) -> Array:
    """Draw bootstrap replicates in blocks, each with its own stream of random numbers.

    Parameters
    ----------
    sample : callable
        Takes a generator and a number of replicates, and returns their values.
    replicates : int
        Number of replicates.
    block_size : int
        Replicates of each block.
    seed : int
        The same seed gives the same values, for any ``n_jobs``.
    n_jobs : int
        Number of joblib workers.

    Returns
    -------
    array of float, shape (replicates,)
        The values; nan where the formula is undefined.
    """
    sizes = np.full(math.ceil(replicates / block_size), block_size)
    sizes[-1] -= sizes.sum() - replicates
    streams = np.random.SeedSequence(seed).spawn(len(sizes))
    tasks = [
        partial(sample, np.random.default_rng(stream), int(size))
        for stream, size in zip(streams, sizes, strict=True)
    ]
    return np.concatenate(list(run_jobs(tasks, n_jobs)))


def resample_raters(pools: Codes, rng: np.random.Generator, replicates: int) -> NDArray[np.int64]:
    """Resample raters with replacement within their pools.

    Parameters
    ----------
    pools : array of int, shape (R,)
        Pool of each rater.
    rng : Generator
        Source of randomness.
    replicates : int
        Number of samples.

    Returns
    -------
    array of int, shape (replicates, R)
        Count of each rater in each sample; every pool keeps its size.
    """
    drawn = np.empty((replicates, len(pools)), np.int64)
    for pool in np.unique(pools):
        members = np.flatnonzero(pools == pool)
        probabilities = np.full(len(members), 1 / len(members))
        drawn[:, members] = rng.multinomial(len(members), probabilities, size=replicates)
    return drawn


def groups_of_raters(pools: Codes) -> tuple[Codes, Codes]:
    """Divide raters into groups that are left out together, each of one pool.

    Parameters
    ----------
    pools : array of int, shape (R,)
        Pool of each rater.

    Returns
    -------
    group : array of int, shape (R,)
        Group of each rater; every rater is a group as long as there are 30 or fewer.
    pool : array of int, shape (G,)
        Pool of each group.
    """
    sizes = np.bincount(pools)
    n_groups = np.minimum(sizes, np.maximum(2, MAX_GROUPS * sizes // len(pools)))
    position = pd.Series(pools).groupby(pools).cumcount().to_numpy()
    first = np.cumsum(n_groups) - n_groups
    group = first[pools] + position % n_groups[pools]
    return group, np.repeat(np.arange(len(sizes)), n_groups)


def leave_one_out(distinct: DistinctRows, formula: Formula) -> Array:
    """Evaluate a formula without each item.

    Parameters
    ----------
    distinct : DistinctRows
        Statistics of the items.
    formula : callable
        Function of sums (..., S).

    Returns
    -------
    array of float, shape (I,)
        The values; items with the same row stand together.
    """
    values = distinct.perturbed(formula, -1.0, distinct.total)
    return np.repeat(values, distinct.multiplicity)


def influence(distinct: DistinctRows, formula: Formula) -> Array:
    """Differentiate a formula with respect to the weight of each item, exactly up to rounding.

    Parameters
    ----------
    distinct : DistinctRows
        Statistics of the items.
    formula : callable
        Analytic function of sums (..., S): products, quotients, powers and logarithms.

    Returns
    -------
    array of float, shape (I,)
        The derivatives; items with the same row stand together.

    References
    ----------
    Squire & Trapp (1998), complex-step derivatives. https://doi.org/10.1137/S003614459631241X
    """
    return np.repeat(slopes(distinct, formula, distinct.total), distinct.multiplicity)


def slopes(distinct: DistinctRows, formula: Formula, total: Array) -> Array:
    """Differentiate a formula in the direction of each row.

    Parameters
    ----------
    distinct : DistinctRows
        The directions.
    formula : callable
        Analytic function of sums (..., S).
    total : array of float, shape (S,)
        Where to differentiate.

    Returns
    -------
    array of float, shape (D,)
        The derivatives.
    """
    at = total.astype(complex)
    return distinct.perturbed(formula, COMPLEX_STEP * 1j, at).imag / COMPLEX_STEP


def jackknife_influence(values: Array) -> Array:
    """Return how far each unit moves the estimate, according to the jackknife.

    Parameters
    ----------
    values : array of float, shape (n,)
        The estimate without each unit.

    Returns
    -------
    array of float, shape (n,)
        Empirical influence of each unit.
    """
    n = len(values)
    return np.asarray((n - 1) / n * (values.mean() - values))


def _labels(rows: Array) -> Codes:
    """(I,) codes that are equal for equal rows; any codes if hardly any rows are equal."""
    label = np.zeros(len(rows), np.intp)
    for column in rows.T:
        value, values = pd.factorize(column)
        label, labels = pd.factorize(label * len(values) + value)
        if 2 * len(labels) > len(rows):
            break
    return label


def _labels_of_sparse(rows: sp.csr_array) -> Codes:
    """(I,) codes that are equal for equal rows; all different after a collision of hashes."""
    rows.sum_duplicates()
    random = np.random.default_rng(1960).integers(0, 2**64, n_columns(rows), np.uint64)
    term = random[rows.indices] * hash_array(rows.data)
    until = np.append(np.uint64(0), np.cumsum(term))  # modulo 2^64
    label, _ = pd.factorize(until[rows.indptr[1:]] - until[rows.indptr[:-1]])
    _, first = np.unique(label, return_index=True)
    differences = rows - rows[first][label]
    return np.arange(len(label)) if differences.count_nonzero() else label
