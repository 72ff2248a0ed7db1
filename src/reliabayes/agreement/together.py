"""Intervals of several coefficients of the same ratings, from the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.coefficient import Coefficient, Over
from reliabayes.agreement.interval import Interval, central_shares
from reliabayes.agreement.resampling import Rows, side_by_side, width
from reliabayes.arrays import Array

Coefficients = Mapping[str, Coefficient]


def percentile_intervals(
    coefficients: Coefficients, prob: float, *, over: Over, replicates: int, seed: int, n_jobs: int
) -> dict[str, Interval]:
    """Interval of each coefficient, as `Coefficient.interval` finds it but for the samples.

    What takes longest, to draw samples and to add up rows, is done once: for all coefficients, and
    for all that are formulas of the same rows. Sparse rows are apart, or all would be sparse.
    """
    weights = None if over == "items" else _all_different(coefficients)
    rows = {label: each.rows(weights) for label, each in coefficients.items()}
    is_sparse = {label: not isinstance(each, np.ndarray) for label, each in rows.items()}
    found = {}
    for kind in set(is_sparse.values()):
        group = {label: coefficients[label] for label in rows if is_sparse[label] == kind}
        joint = _joint(group, rows)
        values = joint.bootstrap(over=over, replicates=replicates, seed=seed, n_jobs=n_jobs)
        for label, column in zip(group, values.T, strict=True):
            found[label] = Interval.bootstrap(
                column, central_shares(prob), prob, over, "percentile"
            )
    return found


def _joint(coefficients: Coefficients, rows: Mapping[str, Rows]) -> Coefficient:
    """Coefficient with many values (..., C); rows that are the same stand in it once."""
    own: dict[str, str] = {}
    for label in coefficients:
        own[label] = next((o for o in own.values() if _are_same(rows[o], rows[label])), label)
    blocks = list(dict.fromkeys(own.values()))
    edges = np.cumsum([width(rows[label]) for label in blocks])[:-1]

    def all_rows(weights: Array | None) -> Rows:
        return side_by_side([coefficients[label].rows(weights) for label in blocks])

    def formula(sums: Array) -> Array:
        parts = dict(zip(blocks, np.split(sums, edges, axis=-1), strict=True))
        values = [each.formula(parts[own[label]]) for label, each in coefficients.items()]
        stacked: Array = np.stack(values, axis=-1)
        return stacked

    return replace(coefficients[blocks[0]], rows=all_rows, formula=formula, parts={}, total=None)


def _all_different(coefficients: Coefficients) -> Array:
    """(R,) weights of raters under which only the same formulas of them are the same rows."""
    raters = next((each.raters for each in coefficients.values() if each.raters is not None), ())
    return np.arange(1.0, len(raters) + 1)


def _are_same(one: Rows, other: Rows) -> bool:
    return one.shape == other.shape and sp.csr_array(one - other).count_nonzero() == 0
