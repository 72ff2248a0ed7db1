"""Maximum likelihood: what is maximised over sds, correlations, means and steps between cuts.

Effects of items are integrated out by adaptive quadrature, those of raters by Laplace's
approximation.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.ordered import em, pools
from reliabayes.families.ordered.density import cut_points
from reliabayes.families.ordered.pool_parts import pool_subsets
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.inference import correlation
from reliabayes.inference.densities import log_half_t, log_normal
from reliabayes.inference.em import Point
from reliabayes.likelihoods.laplace import AtMode, ScoredRatings
from reliabayes.likelihoods.ordinal_pools import PooledCategories

LEAST_SD, LEAST_STEP = 0.1, 0.05  # of raters, and between cut points, to start from


def search(problem: OrderedProblem, criterion: Criterion) -> Search:
    """Lower root of the covariance of items, sds of raters, means, and roots of steps."""
    mixture, pool = problem.mixture, problem.pool
    of_items, weight = PooledCategories.of(mixture.counts, pool), mixture.multiplicity.astype(float)
    ratings = ScoredRatings(of_items, pool, weight, problem.link)
    layout = ParameterLayout(int(pool.max()) + 1, problem.n_categories - 2)
    last = [np.zeros(problem.n_raters)]  # effects that the next search for their mode starts at

    def at_mode(at: Point) -> AtMode:
        found = ratings.at_mode(at["root"], at["sd_rater"], cut_points(at), last[0])
        last[0] = found.effect
        return found

    def log_density(x: Array) -> float:
        at = layout.read(x)
        found = at_mode(at).log_likelihood
        return found + (_log_prior(at, problem) if criterion == "posterior" else 0.0)

    def point(x: Array) -> Point:
        at = layout.read(x)
        sd_item, factor = correlation.parts(at["root"])
        mean, sd_rater = (at[name][pool] for name in ("mean", "sd_rater"))
        level = mean + sd_rater * at_mode(at).effect
        found = {**at, "factor_item": factor, "sd_item": sd_item}
        if not problem.is_pooled:
            found = {name: value[0] for name, value in found.items()}
        found["level"] = level
        return {each.name: found[each.name] for each in problem.parameters}

    by_pool = pools.climbed(problem, pool_subsets(problem)) if problem.is_pooled else None
    start = layout.numbers_of((by_pool or em.climbed(problem)).point)
    return Search(log_density, start, layout.may_be_zero, point)


def _log_prior(at: Point, problem: OrderedProblem) -> float:
    """Log density of the priors of all but effects, on Stan's unconstrained scale."""
    sd_item, factor = correlation.parts(at["root"])
    total = log_normal(cut_points(at), *problem.priors["cut"].tolist()).sum()
    total += np.log(at["step"]).sum()
    for name, sd in (("sd_item", sd_item), ("sd_rater", at["sd_rater"])):
        total += (log_half_t(sd, problem.priors[name]) + np.log(sd)).sum()
    if problem.is_pooled:
        free, shape = correlation.free(factor), float(problem.priors["lkj"])
        total += correlation.log_lkj(free, len(factor), shape)
    return float(total)


@dataclass(frozen=True)
class ParameterLayout:
    """Parameters of G pools, as numbers (P,) in one row.

    Attributes
    ----------
    pools, steps : int
        Numbers G of pools and K - 2 of steps between cut points.
    """

    pools: int
    steps: int

    @property
    def lower(self) -> tuple[Codes, Codes]:
        """Places of the numbers of a lower root (G, G)."""
        return np.tril_indices(self.pools)

    def numbers_of(self, point: Point) -> Array:
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
