"""Many tables in one: a coefficient of each of a number of blocks of items."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.resampling import dense
from reliabayes.arrays import Array


def by_block(coefficient: Coefficient, blocks: int) -> Array:
    """(blocks,) values of a coefficient, each of as many items; nan where it is undefined.

    The first items are the first block. What a coefficient takes from all items together must be
    of no consequence for single ones, such as where numbers have their zero.
    """
    rows = coefficient.rows(None)
    size = len(coefficient.items) // blocks
    if isinstance(rows, np.ndarray):
        return coefficient.formula(rows.reshape(blocks, size, -1).sum(axis=1))
    place = np.arange(len(coefficient.items))
    member = sp.csr_array((np.ones(len(place)), (place // size, place)))
    return coefficient.formula(dense(sp.csr_array(member @ rows)))
