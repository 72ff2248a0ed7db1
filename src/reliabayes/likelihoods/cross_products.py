"""Sums over rows of the products of any two columns, most of which are counts of ratings."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes

DENSE_FROM = 0.2  # filled proportion from which dense products are faster than sparse ones
BLOCK_ROWS = 4096  # with some tens of columns a dense block stays in a processor's cache


def cross_products(counts: sp.csr_array, others: Array, part: Codes) -> Iterator[Array]:
    """Products (C + K, C + K) of sparse columns (M, C) and dense ones (M, K), summed over rows.

    A matrix for each part, in order; ``part`` (M,) is the part that each row belongs to.
    """
    rows, ends = np.argsort(part, kind="stable"), np.cumsum(np.bincount(part))
    per_row = np.diff(counts.indptr)
    for members in np.split(rows, ends[:-1]):
        filled = per_row[members].mean() / counts.shape[1]
        block, edge = (_dense if filled > DENSE_FROM else _sparse)(counts, others, members)
        yield np.block([[block, edge], [edge.T, others[members].T @ others[members]]])


def _sparse(counts: sp.csr_array, others: Array, rows: Codes) -> tuple[Array, Array]:
    """(C, C) products of two columns of counts, and (C, K) of one of them and another column."""
    counts = counts[rows]
    return (counts.T @ counts).toarray(), counts.T @ others[rows]


def _dense(counts: sp.csr_array, others: Array, rows: Codes) -> tuple[Array, Array]:
    """The same, block by block."""
    shape = counts.shape[1], others.shape[1]
    block, edge = np.zeros((shape[0],) * 2), np.zeros(shape)
    for some in np.split(rows, range(BLOCK_ROWS, len(rows), BLOCK_ROWS)):
        dense = counts[some].toarray()
        block += dense.T @ dense
        edge += dense.T @ others[some]
    return block, edge
