"""Types of arrays, and the distinct rows of one."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

Array = NDArray[np.float64]
Codes = NDArray[np.integer[Any]]  # positions or categories, counted from 0
Mask = NDArray[np.bool_]


def distinct_rows(rows: Array) -> tuple[Array, NDArray[np.intp]]:
    """(D, S) distinct rows in order, and (N,) which of them each row is.

    Numbered column by column: to compare whole rows takes many times as long.
    """
    code: NDArray[Any] = np.zeros(len(rows), np.int64)
    for column in rows.T:
        number, values = pd.factorize(column, sort=True)
        code, _ = pd.factorize(code * len(values) + number, sort=True)
    example = np.empty(code.max(initial=-1) + 1, np.intp)
    example[code] = np.arange(len(code))
    return rows[example], code.astype(np.intp)
