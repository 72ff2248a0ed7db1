"""The sampling distribution of a coefficient over items, raters or both."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.agreement import resampling
from reliabayes.agreement.item_rows import Rows, column_sums
from reliabayes.agreement.rater_pools import require_resamplable
from reliabayes.agreement.resampling import DistinctRows, Formula
from reliabayes.arrays import Array, Codes
from reliabayes.choices import Over


@dataclass(frozen=True, eq=False)
class SamplingDistribution:
    """Distribution of a formula of sums over items when items or raters are resampled.

    Attributes
    ----------
    raters : Series, shape (R,), or None
        Pool of each rater; None if raters are anonymous.
    rows : callable
        Statistics of the items, as for `Coefficient`.
    formula : callable
        Function from sums (..., S) to values (...).
    """

    raters: pd.Series[Any] | None
    rows: Callable[[Array | None], Rows]
    formula: Formula

    @cached_property
    def distinct_rows(self) -> DistinctRows:
        """Statistics of the items, each rater occurring once."""
        return DistinctRows.of(self.rows(None))

    def bootstrap(self, over: Over, replicates: int, seed: int, n_jobs: int) -> Array:
        """(replicates,) values of bootstrap samples; nan where undefined."""
        sampler = {
            "items": self._sample_items,
            "raters": self._sample_raters,
            "both": self._sample_both,
        }[over]
        if over != "items":
            require_resamplable(self.raters)
        block_size = self.distinct_rows.block_size
        return resampling.bootstrap(sampler, replicates, block_size, seed, n_jobs)

    def jackknife_influences(self, over: Over) -> Array:
        """(n,) influence of each item, of each rater, or of all items and then all raters."""
        units = ("items", "raters") if over == "both" else (over,)
        left_out = {"items": self._without_each_item, "raters": self._without_each_rater}
        return np.concatenate([resampling.jackknife_influence(left_out[unit]()) for unit in units])

    def analytic_error(self, degrees_lost: int) -> float:
        """Standard error over items by the delta method."""
        slopes = resampling.influence(self.distinct_rows, self.formula)
        n = len(slopes)
        return float(np.sqrt((slopes**2).sum() * n / (n - degrees_lost)))

    def _without_each_item(self) -> Array:
        return resampling.leave_one_out(self.distinct_rows, self.formula)

    def _without_each_rater(self) -> Array:
        present = 1.0 - np.eye(len(require_resamplable(self.raters)))
        return self.formula(np.array([column_sums(self.rows(weights)) for weights in present]))

    def _sample_items(self, rng: np.random.Generator, replicates: int) -> Array:
        distinct = self.distinct_rows
        return self.formula(distinct.resample(rng, replicates) @ distinct.rows)

    def _sample_raters(self, rng: np.random.Generator, replicates: int) -> Array:
        drawn = resampling.resample_raters(self._rater_pool, rng, replicates)
        return self.formula(np.array([column_sums(self.rows(weights)) for weights in drawn]))

    def _sample_both(self, rng: np.random.Generator, replicates: int) -> Array:
        drawn = resampling.resample_raters(self._rater_pool, rng, replicates)
        size = self.distinct_rows.n_items
        counts = rng.multinomial(size, np.full(size, 1 / size), replicates)
        pairs = zip(counts, drawn, strict=True)
        return self.formula(np.array([count @ self.rows(weights) for count, weights in pairs]))

    @cached_property
    def _rater_pool(self) -> Codes:
        return pd.factorize(require_resamplable(self.raters))[0]
