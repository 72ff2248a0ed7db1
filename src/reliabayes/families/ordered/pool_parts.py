"""Ratings by several pools, taken apart pool by pool."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array, Mask
from reliabayes.families.cells import Cells
from reliabayes.families.ordered.one_population import integrated
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.inference.em import Point

MIN_EIGENVALUE = 0.01  # of the correlation matrix to start from


class PoolSubset(NamedTuple):
    """What the raters of one pool, or of some, have rated.

    Attributes
    ----------
    pools : int or list of int
        Position of the pool, or of several.
    raters : array of bool, shape (R,)
        Whether a rater is one of these.
    items : array of bool, shape (D,)
        Whether a distinct item has ratings by them.
    problem : OrderedProblem
        Those items and raters; of one pool, as one population.
    """

    pools: int | list[int]
    raters: Mask
    items: Mask
    problem: OrderedProblem

    def at(self, point: Point) -> dict[str, Array]:
        """A point of all pools restricted to these, without the correlation."""
        of_pools = {x: point[x][self.pools] for x in point if x not in ("factor_item", "level")}
        return {**of_pools, "level": point["level"][self.raters]}


def subset_of(problem: OrderedProblem, pools: int | list[int]) -> PoolSubset:
    """What one pool has rated, or several; these are without nodes."""
    of_part = np.atleast_1d(pools)
    raters = np.isin(problem.pool, of_part)
    own = np.flatnonzero(raters)
    first = np.arange(problem.n_categories)[:, None] * problem.n_raters
    mixture, items = problem.mixture.restricted((first + own).ravel())
    cells = np.arange(mixture.counts.shape[1], dtype=np.int32)
    category, rater = np.divmod(cells, np.int32(len(own)))
    coords = {
        **problem.coords,
        "rater": problem.coords["rater"][own],
        "pool": problem.coords["pool"][of_part],
    }
    found = replace(
        problem,
        coords=coords,
        cells=Cells(np.empty(0, np.int32), category, rater),
        mixture=mixture,
        pool=np.searchsorted(of_part, problem.pool[raters]),
    )
    return PoolSubset(pools, raters, items, found)


def pool_subsets(problem: OrderedProblem) -> list[PoolSubset]:
    """What each pool has rated, as one population."""
    parts = (subset_of(problem, pool) for pool in range(problem.n_pools))
    return [
        part._replace(problem=integrated(replace(part.problem, is_pooled=False, given_nodes=None)))
        for part in parts
    ]


def combined(parts: Sequence[PoolSubset], found: Sequence[Point]) -> dict[str, Array]:
    """What was found pool by pool, together: by pool, or by rater."""
    names = [name for name in found[0] if name != "level"]
    together = {name: np.array([of_pool[name] for of_pool in found]) for name in names}
    together["level"] = by_rater_of_pools(parts, [of_pool["level"] for of_pool in found])
    return together


def by_rater_of_pools(parts: Sequence[PoolSubset], values: Sequence[Array]) -> Array:
    """Values (R,) of all raters, of those of each pool."""
    found = np.empty(len(parts[0].raters))
    for part, own in zip(parts, values, strict=True):
        found[part.raters] = own
    return found


def positive_definite_factor(rho: Array, pools: int) -> Array:
    """Cholesky factor of pairwise correlations, shrunk to 0 where they contradict each other."""
    one, other = np.triu_indices(pools, 1)
    matrix = np.eye(pools)
    matrix[one, other] = matrix[other, one] = rho
    least = np.linalg.eigvalsh(matrix)[0]
    shrinkage = max(0.0, (MIN_EIGENVALUE - least) / (1 - least))
    return np.asarray(np.linalg.cholesky((1 - shrinkage) * matrix + shrinkage * np.eye(pools)))
