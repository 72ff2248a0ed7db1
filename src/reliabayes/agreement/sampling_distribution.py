"""The sampling distribution of a coefficient over items, raters or both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.agreement import resampling
from reliabayes.agreement.arithmetic import ratio
from reliabayes.agreement.distinct_rows import MAX_ELEMENTS, DistinctRows, Formula
from reliabayes.agreement.item_rows import n_columns
from reliabayes.agreement.item_statistics import ItemStatistics
from reliabayes.agreement.rater_pools import require_resamplable
from reliabayes.arrays import Array, Codes
from reliabayes.choices import Over
from reliabayes.errors import RatingsError


@dataclass(frozen=True, eq=False)
class WithoutRaters:
    """Values of a formula without each group of raters.

    Attributes
    ----------
    values : array of float, shape (G,)
        Values; nan where undefined.
    pool : array of int, shape (G,)
        Pool of each group.
    cells : array of float, shape (G, H, S)
        What each group of raters adds to the sums of each group of items.
    """

    values: Array
    pool: Codes
    cells: Array

    @property
    def freedom(self) -> int:
        """Degrees of freedom."""
        return len(self.pool) - int(self.pool.max()) - 1

    @property
    def variance(self) -> float:
        """Variance over raters."""
        return float(self._factor @ self._centred(self.values) ** 2)

    def variance_of_cells(self, formula: Formula, total: Array) -> float:
        """Variance over pairs of a group of raters and a group of items, by the delta method."""
        flat = self.cells.reshape(-1, self.cells.shape[-1])
        cells = DistinctRows(flat, np.ones(len(flat), np.intp))
        slopes = resampling.slopes(cells, formula, total).reshape(self.cells.shape[:2])
        centred = self._centred(slopes)
        centred = centred - centred.mean(axis=1, keepdims=True)
        n = centred.shape[1]
        return float((self._factor @ centred**2).sum() * n / (n - 1))

    @cached_property
    def _factor(self) -> Array:
        """(G,) factor (n - 1) / n of squared deviations, with the n groups of the same pool."""
        n = np.bincount(self.pool)[self.pool]
        return np.asarray((n - 1) / n)

    def _centred(self, values: Array) -> Array:
        """(G, ...) deviations from the mean of the groups of the same pool."""
        member = np.eye(int(self.pool.max()) + 1)[self.pool]
        mean = member.T @ values / member.sum(axis=0).reshape(-1, *[1] * (values.ndim - 1))
        return np.asarray(values - mean[self.pool])


@dataclass(frozen=True, eq=False)
class SamplingDistribution:
    """Distribution of a formula of sums over items when items or raters are resampled.

    Attributes
    ----------
    raters : Series, shape (R,), or None
        Pool of each rater; None if raters are anonymous.
    statistics : ItemStatistics
        What the formula is of.
    formula : callable
        Function from sums (..., S) to values (...).
    """

    raters: pd.Series[Any] | None
    statistics: ItemStatistics
    formula: Formula

    @property
    def distinct_rows(self) -> DistinctRows:
        """Statistics of the items, each rater occurring once."""
        return self.statistics.distinct

    def bootstrap(self, over: Over, replicates: int, seed: int, n_jobs: int) -> Array:
        """(replicates,) values of bootstrap samples; nan where undefined."""
        if replicates < 2:
            raise ValueError(f"replicates must be at least 2, not {replicates}.")
        if over == "items":
            sampler, block_size = self._sample_items, self.distinct_rows.block_size
        else:
            require_resamplable(self.raters)
            sampler = self._sample_raters if over == "raters" else self._sample_both
            block_size = self.statistics.samples_at_once
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
        # Their mean is 0 but for alpha, whose correction depends on the number of ratings.
        deviation = slopes - slopes.mean()
        return float(np.sqrt((deviation**2).sum() * n / (n - degrees_lost))) if n > 1 else np.nan

    def variance(self, over: Over) -> tuple[float, float]:
        """Variance of the value, and its degrees of freedom, without a bootstrap.

        Over items by the delta method, over raters by leaving out groups of raters within pools,
        over both by their sum less the variance of the cells, which both contain: Cameron, Gelbach
        & Miller (2011), https://doi.org/10.1198/jbes.2010.07136. Degrees of freedom after
        Satterthwaite.
        """
        n_items = self.distinct_rows.n_items
        by_items = self.analytic_error(1) ** 2 if over != "raters" else 0.0
        if over == "items":
            return by_items, n_items - 1
        raters = self.without_raters
        by_raters = raters.variance
        if over == "raters":
            return by_raters, raters.freedom
        freedom = ratio(
            (by_items + by_raters) ** 2,
            by_items**2 / (n_items - 1) + by_raters**2 / raters.freedom,
            n_items - 1,
        )
        cells = raters.variance_of_cells(self.formula, self.distinct_rows.total)
        return max(by_items + by_raters - cells, by_items), float(freedom)

    @cached_property
    def raters_can_be_left_out(self) -> bool:
        """Whether the value is defined without each group of raters."""
        try:
            return not np.isnan(self.without_raters.values).any()
        except RatingsError:
            return False

    @cached_property
    def without_raters(self) -> WithoutRaters:
        """Values without each group of raters."""
        group, pool = resampling.groups_of_raters(self._rater_pool)
        distinct = self.distinct_rows
        fitting = MAX_ELEMENTS // (len(pool) * n_columns(distinct.rows))
        n_groups = min(distinct.n_items, resampling.MAX_GROUPS, max(2, fitting))
        present = [(group != left_out).astype(float) for left_out in range(len(pool))]
        whole, *others = self.statistics.sums_by_group([None, *present], n_groups)
        rest = np.array(others)
        return WithoutRaters(self.formula(rest.sum(axis=1)), pool, whole - rest)

    def _without_each_item(self) -> Array:
        return resampling.leave_one_out(self.distinct_rows, self.formula)

    def _without_each_rater(self) -> Array:
        present = 1.0 - np.eye(len(require_resamplable(self.raters)))
        return self.formula(self.statistics.sums(present))

    def _sample_items(self, rng: np.random.Generator, replicates: int) -> Array:
        distinct = self.distinct_rows
        return self.formula(distinct.resample(rng, replicates) @ distinct.rows)

    def _sample_raters(self, rng: np.random.Generator, replicates: int) -> Array:
        drawn = resampling.resample_raters(self._rater_pool, rng, replicates)
        return self.formula(self.statistics.sums(drawn))

    def _sample_both(self, rng: np.random.Generator, replicates: int) -> Array:
        drawn = resampling.resample_raters(self._rater_pool, rng, replicates)
        return self.formula(self.statistics.sums_of_samples(drawn, rng))

    @cached_property
    def _rater_pool(self) -> Codes:
        return pd.factorize(require_resamplable(self.raters))[0]
