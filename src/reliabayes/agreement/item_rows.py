"""Rows of statistics that add up over items: one row per item, in a dense or a sparse array."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from reliabayes.agreement.arithmetic import sum_by_index
from reliabayes.arrays import Array, Codes

Rows = Array | sp.csr_array

MAX_DENSE_SIZE = 2**25  # elements of the largest dense array of rows, 256 MB
MIN_FILLED = 1 / 8  # a dense array has at least this proportion of non-zero elements


def rows_from_entries(item: Codes, column: Codes, values: Array, shape: tuple[int, int]) -> Rows:
    """Build rows from single entries; entries at the same position add up.

    Parameters
    ----------
    item, column : array of int, shape (N,)
        Position of each entry.
    values : array of float, shape (N,)
        The entries.
    shape : tuple of int
        Number of items and of columns.

    Returns
    -------
    array or sparse array, shape (I, S)
        Dense if it is small and well filled.
    """
    size = shape[0] * shape[1]
    if size <= MAX_DENSE_SIZE and len(item) >= MIN_FILLED * size:
        return sum_by_index(item * shape[1] + column, values, size).reshape(shape)
    return sp.csr_array((values, (item, column)), shape)


def join_columns(blocks: Sequence[Rows]) -> Rows:
    """Join blocks of columns of the same items.

    Parameters
    ----------
    blocks : sequence of array or sparse array, shape (I, any)
        The columns, in order.

    Returns
    -------
    array or sparse array, shape (I, S)
        Sparse if one of the blocks is.
    """
    arrays = [block for block in blocks if isinstance(block, np.ndarray)]
    if len(arrays) == len(blocks):
        return np.hstack(arrays)
    return sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks]))


def align_items(rows: Rows, items: pd.Index[Any], all_items: pd.Index[Any]) -> Rows:
    """Reorder rows to a longer list of items, with zeros for items that have no row.

    Parameters
    ----------
    rows : array or sparse array, shape (I, S)
        Statistics of `items`.
    items, all_items : Index
        Ids of the rows, and of the wanted rows.

    Returns
    -------
    array or sparse array, shape (len(all_items), S)
        The rows of `all_items`.
    """
    if items.equals(all_items):
        return rows
    place = all_items.get_indexer(items)
    if isinstance(rows, np.ndarray):
        out = np.zeros((len(all_items), rows.shape[1]))
        out[place] = rows
        return out
    entries = rows.tocoo()
    shape = (len(all_items), rows.shape[1])
    return sp.csr_array((entries.data, (place[entries.row], entries.col)), shape)


def n_columns(rows: Rows) -> int:
    """Return the number S of statistics of an item.

    Parameters
    ----------
    rows : array or sparse array, shape (I, S)
        Statistics of items.

    Returns
    -------
    int
        S.
    """
    return int(rows.shape[1])


def column_sums(rows: Rows) -> Array:
    """Return the sums over items.

    Parameters
    ----------
    rows : array or sparse array, shape (I, S)
        Statistics of items.

    Returns
    -------
    array of float, shape (S,)
        The sums.
    """
    return np.asarray(rows.sum(axis=0), np.float64)


def to_dense(rows: Rows) -> Array:
    """Return the rows as a dense array.

    Parameters
    ----------
    rows : array or sparse array, shape (I, S)
        Statistics of items.

    Returns
    -------
    array of float, shape (I, S)
        The same statistics.
    """
    return rows if isinstance(rows, np.ndarray) else np.asarray(rows.toarray())
