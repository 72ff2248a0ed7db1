"""Ratings by several pools, taken apart pool by pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.families.cells import Cells
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.score_problem import ScoreProblem

MIN_EIGENVALUE = 0.01  # of the correlation matrix to start from


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledProblem(ScoreProblem):
    """Ratings in ordered categories by raters of several pools."""

    @property
    def n_pools(self) -> int:
        """Number G of pools."""
        return self.size("pool")

    def stan_data(self) -> StanData:
        """As for one population, and the pool of each rater."""
        return super().stan_data() | StanData({"G": self.n_pools}, {"pool": self.pool})


class PoolSubset(NamedTuple):
    """What the raters of one pool, or of some, have rated.

    Attributes
    ----------
    pools : int or list of int
        Position of the pool, or of several.
    raters : array of bool, shape (R,)
        Whether a rater is one of these.
    pool : array of int
        Position of the pool of each of these raters among ``pools``.
    items : array of bool, shape (D,)
        Whether a distinct item has ratings by them.
    base : CategoricalProblem
        Those items and raters.
    """

    pools: Any
    raters: Mask
    pool: Codes
    items: Mask
    base: CategoricalProblem

    @classmethod
    def of(cls, problem: PooledProblem, pools: int | list[int]) -> PoolSubset:
        """What one pool has rated, or several."""
        of_part = np.atleast_1d(pools)
        raters = np.isin(problem.pool, of_part)
        own = np.flatnonzero(raters)
        first = np.arange(problem.n_categories)[:, None] * problem.n_raters
        mixture, items = problem.mixture.restricted((first + own).ravel())
        cells = np.arange(mixture.counts.shape[1], dtype=np.int32)
        category, rater = np.divmod(cells, np.int32(len(own)))
        coords = {**problem.coords, "rater": problem.coords["rater"][own]}
        coords["pool"] = problem.coords["pool"][of_part]
        base = CategoricalProblem(
            coords=coords,
            priors=problem.priors,
            cells=Cells(np.empty(0, np.int32), category, rater),
            mixture=mixture,
        )
        pool = np.searchsorted(of_part, problem.pool[raters])
        return cls(pools, raters, pool, items, base)

    def at(self, point: Point) -> dict[str, Array]:
        """A point of all pools restricted to these, without the correlation."""
        of_all = {name: value for name, value in point.items() if name != "factor_item"}
        level = of_all.pop("level")
        return {name: value[self.pools] for name, value in of_all.items()} | {
            "level": level[self.raters]
        }


def pool_subsets(problem: PooledProblem) -> list[PoolSubset]:
    """What each pool has rated."""
    return [PoolSubset.of(problem, pool) for pool in range(problem.n_pools)]


def combined(parts: Sequence[PoolSubset], found: Sequence[Point]) -> dict[str, Array]:
    """What was found pool by pool, together: by pool, or by rater."""
    together = {
        name: np.array([of_pool[name] for of_pool in found]) for name in found[0] if name != "level"
    }
    together["level"] = np.empty(len(parts[0].raters))
    for part, of_pool in zip(parts, found, strict=True):
        together["level"][part.raters] = of_pool["level"]
    return together


def root_of(point: Point) -> Array:
    """Lower root (G, G) of the covariance of an item's effects, of standard scores."""
    return np.asarray(point["sd_item"][:, None] * point["factor_item"])


def positive_definite_factor(rho: Array, pools: int) -> Array:
    """Cholesky factor of pairwise correlations, shrunk to 0 where they contradict each other."""
    one, other = np.triu_indices(pools, 1)
    matrix = np.eye(pools)
    matrix[one, other] = matrix[other, one] = rho
    least = np.linalg.eigvalsh(matrix)[0]
    shrinkage = max(0.0, (MIN_EIGENVALUE - least) / (1 - least))
    return np.asarray(np.linalg.cholesky((1 - shrinkage) * matrix + shrinkage * np.eye(pools)))
