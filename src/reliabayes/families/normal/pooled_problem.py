"""Gaussian ratings by pools of raters, reduced to sums, and the parameters of their models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.families.normal.gaussian import SDS
from reliabayes.inference import correlation
from reliabayes.inference.problem import Problem, StanData
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.gaussian_conditional import MeanPrior, above_zero
from reliabayes.likelihoods.gaussian_pools import PooledSums
from reliabayes.likelihoods.gaussian_pools_design import Components, PooledDesign, pool_pairs
from reliabayes.likelihoods.gaussian_pools_many_raters import PooledCrowdSums
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import describe

CHUNK = 4_000_000  # numbers at once while effects are drawn: 32 MB
MAX_SIZE = 30_000_000  # numbers in the sums: 240 MB for each chain


@dataclass(frozen=True, eq=False, kw_only=True)
class PooledGaussianProblem(Problem):
    """Gaussian ratings by pools of raters, reduced to sums.

    Attributes
    ----------
    center : array of shape (G,)
        Subtracted from the ratings of each pool before the sums.
    n_residuals : int
        Standard deviations of residuals: 1 if all pools share it, or G.
    sums : PooledSums or PooledCrowdSums
        Sums of the centred ratings, to integrate out the effects of the raters or to sample them.
    design : PooledDesign or None
        Who rated what; None of ratings in parts.
    """

    center: Array
    n_residuals: int
    sums: PooledSums | PooledCrowdSums
    design: PooledDesign | None = None

    @property
    def n_pools(self) -> int:
        """Number G of pools."""
        return self.size("pool")

    @property
    def equal_sd(self) -> float:
        """Standard deviation of each source if all three had a third of the variance."""
        return math.sqrt(self.sums.sum_of_squares / self.sums.ratings.sum() / 3)

    @property
    def pool(self) -> Codes:
        """(R,) pool of each rater."""
        sums = self.sums
        return sums.design.pool if isinstance(sums, PooledCrowdSums) else sums.pool

    @cached_property
    def pooled(self) -> PooledSums:
        """Sums to integrate out the effects of the raters."""
        sums = self.sums
        return PooledSums.of(sums.design) if isinstance(sums, PooledCrowdSums) else sums

    @cached_property
    def flat(self) -> PooledGaussianProblem:
        """The same problem without priors of the means."""
        none = np.tile([0.0, math.inf], (self.n_pools, 1))
        return replace(self, priors={**self.priors, "mean": none})

    def above_zero(self, at: Components) -> Components:
        """Components with the least standard deviations above 0 in place of those that are 0."""
        return at._replace(rater=above_zero(at.rater, self.equal_sd))

    def items(self) -> PooledDesign:
        """Who rated what, to draw the effects of the items."""
        if self.design is None:
            raise ValueError("the effects of items of a dataset are drawn part by part.")
        return self.design

    @property
    def mean_prior(self) -> MeanPrior:
        """Prior of the means relative to the centres."""
        return MeanPrior.of(self.priors["mean"].T, self.center)

    def stan_data(self) -> StanData:
        """Sums, centres and priors."""
        own = StanData({"E": self.n_residuals}, values={"center": self.center})
        return self.prior_data | self.sums.stan_data() | own


def integrates_out(design: PooledDesign) -> bool:
    """Whether integrating out the effects of the raters is cheaper than sampling them.

    The first costs a Cholesky factor and a sum over pairs of pools for each gradient, the second a
    pass over the cells, for more gradients; ``benchmarks/README.md`` has the measurements.
    """
    raters, pairs = len(design.pool), len(pool_pairs(design.patterns[0])[0])
    cells = design.counts.nnz
    if design.size > MAX_SIZE:
        return False
    # With less data the sampled levels mix badly, and a fit takes no time anyway.
    return cells < 1000 or raters**2 * (raters + 4 * pairs) <= 100 * cells


def table_of_effects(chunks: Iterable[Array], ratings: Ratings, prob: float | None) -> pd.DataFrame:
    """Table of effects of items in pools, of chunks (S, items, G) of draws."""
    described = [describe(chunk.reshape(len(chunk), -1), prob) for chunk in chunks]
    index = pd.MultiIndex.from_product([ratings.items, ratings.pools], names=["item", "pool"])
    return pd.concat(map(pd.DataFrame, described), ignore_index=True).set_axis(index)


def pooled_effects_of_part(
    at: Components,
    effects: Array,
    center: Array,
    pool: Codes,
    prob: float | None,
    part: Ratings,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Table of the effects of the items of a part, given those of all raters.

    ``at`` has (S, ...) draws, ``effects`` is (S, R + G) with the means last, less ``center`` (G,);
    ``pool`` (R,) has the pools of the raters.
    """
    centred = part.values - center[pool][part.rater]
    design = PooledDesign.of(part.item, part.rater, centred, pool)
    return table_of_effects(design.draw_items(at, effects, CHUNK, rng), part, prob)


def crowd_start(
    sums: PooledCrowdSums, first: Components, problem: PooledGaussianProblem
) -> WarmStart:
    """Mode by mean-field EM, and standard deviations from counts."""
    found, path = sums.approximate(first, shared=problem.n_residuals == 1)
    at, uncertainty = sums.uncertainty(found.at)
    level = found.mean[sums.design.pool] + found.rater
    mode = by_name(free(at, problem), problem)
    sd = dict(zip(mode, uncertainty, strict=True))
    if problem.n_residuals == 1:
        sd["sd_residual"] = 1 / np.sqrt((uncertainty.residual**-2).sum(keepdims=True))
    return WarmStart(
        mode={**mode, "score": sums.scores(level, at, problem.mean_prior)},
        sd={**sd, "score": np.ones_like(level)},
        constrain=lambda point: constrain(point, problem.n_pools),
        step_size=0.3,
        target_acceptance=0.8,
        path=path,
    )


def free(at: Components, problem: PooledGaussianProblem) -> Array:
    """Components on Stan's unconstrained scale, in its order."""
    item = np.sqrt(np.square(at.root).sum(axis=1))
    factor = correlation.free(at.root / item[:, None])
    return np.concatenate(
        [np.log(item), np.log(at.rater), np.log(at.residual[: problem.n_residuals]), factor]
    )


def by_name(x: Array, problem: PooledGaussianProblem) -> dict[str, Array]:
    """Parameters by name, of the vector that holds them in Stan's order."""
    ends = np.cumsum([problem.n_pools, problem.n_pools, problem.n_residuals])
    return dict(zip((*SDS, "factor_item"), np.split(x, ends), strict=True))


def constrain(point: Mapping[str, Any], pools: int) -> dict[str, Any]:
    """Parameters as the programs declare them, of those on the unconstrained scale."""
    sds = {name: np.exp(point[name]).tolist() for name in SDS}
    factor = correlation.factor(point["factor_item"], pools).tolist()
    return {**point, **sds, "factor_item": factor}


def components(point: Mapping[str, Any]) -> Components:
    """Components of parameters as the program declares them, (...) or (S, ...)."""
    item, rater, residual, factor = (np.asarray(point[name]) for name in (*SDS, "factor_item"))
    return Components(item[..., None] * factor, rater, np.broadcast_to(residual, rater.shape))
