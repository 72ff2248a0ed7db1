"""Bootstrap intervals of several coefficients of the same ratings, from the same samples."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import scipy.sparse as sp

from reliabayes.agreement.coefficient import Coefficient
from reliabayes.agreement.interval import Interval, central_probabilities
from reliabayes.agreement.interval_methods import warn_of_few_raters
from reliabayes.agreement.item_rows import Rows, join_columns, n_columns
from reliabayes.arrays import Array
from reliabayes.choices import Over

Coefficients = Mapping[str, Coefficient]


def percentile_intervals(
    coefficients: Coefficients, prob: float, *, over: Over, replicates: int, seed: int, n_jobs: int
) -> dict[str, Interval]:
    """Compute percentile intervals of several coefficients from the same bootstrap samples.

    The expensive steps are shared: all coefficients use the same samples, and coefficients that
    are formulas of the same rows use the same sums. Only the samples differ from those of
    `Coefficient.interval`.

    Parameters
    ----------
    coefficients : mapping from str to Coefficient
        Of the same ratings.
    prob : float
        Nominal coverage.
    over : {"items", "raters", "both"}
        As for `Coefficient.interval`.
    replicates, seed, n_jobs : int
        As for `Coefficient.interval`.

    Returns
    -------
    dict from str to Interval
        The interval of each coefficient.
    """
    weights = None if over == "items" else _distinct_weights(coefficients)
    warn_of_few_raters(next(iter(coefficients.values())).raters, over, "percentile")
    rows = {label: each.rows(weights) for label, each in coefficients.items()}
    # Dense and sparse rows are sampled separately, or one sparse coefficient would make all sparse.
    is_sparse = {label: not isinstance(each, np.ndarray) for label, each in rows.items()}
    intervals = {}
    for kind in set(is_sparse.values()):
        group = {label: coefficients[label] for label in rows if is_sparse[label] == kind}
        joint = _joint(group, rows)
        values = joint.bootstrap(over=over, replicates=replicates, seed=seed, n_jobs=n_jobs)
        for label, column in zip(group, values.T, strict=True):
            found = Interval.bootstrap(
                column, central_probabilities(prob), prob, over, "percentile"
            )
            intervals[label] = group[label]._intervals.admitting(found)
    return intervals


def _joint(coefficients: Coefficients, rows: Mapping[str, Rows]) -> Coefficient:
    """Coefficient with values (..., C); rows that several coefficients share stand in it once."""
    owner: dict[str, str] = {}
    for label in coefficients:
        owners = owner.values()
        owner[label] = next((o for o in owners if _are_same(rows[o], rows[label])), label)
    blocks = list(dict.fromkeys(owner.values()))
    edges = np.cumsum([n_columns(rows[label]) for label in blocks])[:-1]

    def all_rows(weights: Array | None) -> Rows:
        return join_columns([coefficients[label].rows(weights) for label in blocks])

    def formula(sums: Array) -> Array:
        parts = dict(zip(blocks, np.split(sums, edges, axis=-1), strict=True))
        values = [each.formula(parts[owner[label]]) for label, each in coefficients.items()]
        stacked: Array = np.stack(values, axis=-1)
        return stacked

    return replace(coefficients[blocks[0]], rows=all_rows, formula=formula, parts={}, total=None)


def _distinct_weights(coefficients: Coefficients) -> Array:
    """(R,) weights of raters that differ, so that only the same functions of them look the same."""
    raters = next((each.raters for each in coefficients.values() if each.raters is not None), ())
    return np.arange(1.0, len(raters) + 1)


def _are_same(one: Rows, other: Rows) -> bool:
    return one.shape == other.shape and sp.csr_array(one - other).count_nonzero() == 0
