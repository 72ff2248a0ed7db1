"""The numbers over which likelihoods of latent scores are maximised."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.likelihoods.laplace import ScoredRatings
from reliabayes.likelihoods.ordinal_pools import PooledCategories
from reliabayes.models.bases.score_problem import ScoreProblem

LEAST_SD, LEAST_STEP = 0.1, 0.05  # of raters, and between cut points, to start from


def scored_ratings(problem: ScoreProblem) -> ScoredRatings:
    """Ratings of distinct items, with effects that can be integrated out."""
    mixture, pool = problem.mixture, problem.pool
    ratings = PooledCategories.of(mixture.counts, pool)
    return ScoredRatings(ratings, pool, mixture.multiplicity.astype(float), problem.link)


@dataclass(frozen=True, eq=False)
class Numbers:
    """Parameters of G pools, as numbers (P,) in one row.

    Attributes
    ----------
    pools, steps : int
        Numbers G of pools and K - 2 of steps between cut points.
    """

    pools: int
    steps: int

    @classmethod
    def of(cls, problem: ScoreProblem) -> Numbers:
        """Those of a problem."""
        return cls(int(problem.pool.max()) + 1, problem.n_categories - 2)

    @property
    def lower(self) -> tuple[Codes, Codes]:
        """Places of the numbers of a lower root (G, G)."""
        return np.tril_indices(self.pools)

    def of_point(self, point: Mapping[str, Array]) -> Array:
        """The numbers of parameters of pools, none of which is 0."""
        factor = point.get("factor_item", np.eye(self.pools))
        root = np.atleast_1d(point["sd_item"])[:, None] * factor
        sd = np.maximum(np.atleast_1d(point["sd_rater"]), LEAST_SD)
        step = np.maximum(np.ravel(point.get("step", [])), LEAST_STEP)
        return np.concatenate([root[self.lower], sd, np.ravel(point["mean"]), np.sqrt(step)])

    @property
    def may_be_zero(self) -> Mask:
        """The diagonal of the root, sds of raters, and steps, but not means."""
        row, column = self.lower
        rest = np.repeat([True, False, True], [self.pools, self.pools, self.pools * self.steps])
        return np.concatenate([row == column, rest])

    def read(self, x: Array) -> dict[str, Array]:
        """Root (G, G), sds of raters and means (G,), and steps (G, K - 2)."""
        row, column = self.lower
        ends = len(row) + self.pools * np.arange(3)
        of_items, sd_rater, mean, of_steps = np.split(x, ends)
        root = np.zeros((self.pools, self.pools))
        root[row, column] = of_items
        step = np.square(of_steps).reshape(self.pools, self.steps)
        return {"root": root, "sd_rater": np.abs(sd_rater), "mean": mean, "step": step}
