"""A coefficient of each of many blocks of items, computed at once."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.item_rows import to_dense
from reliabayes.arrays import Array


def coefficient_by_block(coefficient: Coefficient, blocks: int) -> Array:
    """Compute a coefficient of each block of consecutive items.

    Parameters
    ----------
    coefficient : Coefficient
        Of all blocks together. What it takes from all items at once, such as the origin of
        numeric ratings, must not affect its value in a block.
    blocks : int
        Number of blocks, all of the same number of items.

    Returns
    -------
    array of float, shape (blocks,)
        The values; nan where the coefficient is undefined.
    """
    rows = coefficient.rows(None)
    size = len(coefficient.items) // blocks
    if isinstance(rows, np.ndarray):
        return coefficient.formula(rows.reshape(blocks, size, -1).sum(axis=1))
    place = np.arange(len(coefficient.items))
    member = sp.csr_array((np.ones(len(place)), (place // size, place)))
    return coefficient.formula(to_dense(sp.csr_array(member @ rows)))
