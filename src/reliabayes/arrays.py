"""Types of arrays, and the rows of an array: the distinct ones, or block by block."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]  # positions or categories, counted from 0
Mask = NDArray[np.bool_]
# Numbers that are computed together: so many take 16 MB, or fit into a processor's cache.
IN_MEMORY, IN_CACHE = 2_000_000, 80_000
Rows = TypeVar("Rows", bound=NDArray[Any])


def blocks(rows: int, size: int) -> Iterator[slice]:
    """Slices of so many rows, each of ``size`` rows at most, or of one row if that is less."""
    size = max(1, size)
    return (slice(start, start + size) for start in range(0, rows, size))


def distinct_rows(rows: Rows) -> tuple[Rows, NDArray[np.intp]]:
    """Return the distinct rows of an array, and the position of each row among them.

    Parameters
    ----------
    rows : array, shape (N, S)
        The rows.

    Returns
    -------
    distinct : array, shape (D, S)
        The distinct rows, sorted.
    position : array of int, shape (N,)
        Position of each row in `distinct`.
    """
    # Factorising column by column is many times as fast as comparing whole rows.
    code: NDArray[Any] = np.zeros(len(rows), np.int64)
    for column in rows.T:
        number, values = pd.factorize(column, sort=True)
        code, _ = pd.factorize(code * len(values) + number, sort=True)
    example = np.empty(code.max(initial=-1) + 1, np.intp)
    example[code] = np.arange(len(code))
    distinct: Any = rows[example]
    return distinct, code.astype(np.intp)
