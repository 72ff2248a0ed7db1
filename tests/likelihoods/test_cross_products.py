"""Cross products of columns equal those of dense matrices, for sparse and for dense counts."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from reliabayes.likelihoods.cross_products import BLOCK_ROWS, DENSE_FROM, cross_products


@pytest.mark.parametrize("filled", [DENSE_FROM / 4, 2 * DENSE_FROM], ids=["sparse", "dense"])
@pytest.mark.parametrize("rows", [7, 2 * BLOCK_ROWS + 3])
def test_cross_products_use_only_the_rows_of_each_part(filled: float, rows: int) -> None:
    rng = np.random.default_rng(8)
    counts = rng.integers(1, 4, (rows, 6)) * (rng.random((rows, 6)) < filled)
    others, part = rng.normal(size=(rows, 2)), np.arange(rows) % 3

    found = list(cross_products(sp.csr_array(counts.astype(float)), others, part))

    columns = np.hstack([counts, others])
    for product, which in zip(found, range(3), strict=True):
        of_part = columns[part == which]
        assert product == pytest.approx(of_part.T @ of_part, rel=1e-12)
