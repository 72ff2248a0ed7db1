"""Latent scores in several pools of raters: an item has an effect in each, and they correlate."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.families.pools import XCC, agreement, pool_of_raters
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference import correlation
from reliabayes.inference.densities import half_t
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart, extended
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.ordinal import CategoryProbabilities, Observed
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases.core_centring import SDS, in_core
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.latent_score import LatentScoreModel
from reliabayes.models.bases.level_centring import LevelCentring
from reliabayes.models.bases.one_population import OnePopulationModel
from reliabayes.models.bases.pair_correlation import Objective, most_likely, sd_at
from reliabayes.models.bases.pool_parts import (
    PooledProblem,
    PoolSubset,
    combined,
    pool_subsets,
    positive_definite_factor,
    root_of,
)
from reliabayes.models.priors import Normal
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

XCC_OBSERVED = ("normalized_xcc_observed", "unnormalized_xcc_observed")


class Scores(Protocol):
    """How the scores of items are treated: integrated out, or sampled."""

    program_suffix: ClassVar[str]
    has_core: ClassVar[bool]  # whether the program samples what raters have in common together
    reports_likelihood: ClassVar[bool]  # or whether that takes too long for all draws

    def problem(self, model: PooledScoreModel, base: PooledProblem) -> PooledProblem:
        """The problem with items and nodes as the program needs them."""

    def centring(
        self, levels: LevelCentring, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> LevelCentring:
        """The centring of levels, with that of sampled scores if there are any."""

    def completed(self, start: WarmStart, problem: PooledProblem) -> WarmStart:
        """Starting points with scores if they are sampled, and with an acceptance rate."""

    def constrain(self, free: Mapping[str, Any], point: dict[str, Any]) -> dict[str, Any]:
        """The point with scores if they are sampled."""

    def log_probability(
        self, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its scores marginalised."""

    def expected_effects(
        self, model: PooledScoreModel, point: Point, items: slice, problem: PooledProblem
    ) -> Array:
        """Effects (d, G) of some distinct items given their ratings: expected, or the mode."""

    def drawn_effects(
        self,
        model: PooledScoreModel,
        point: Point,
        items: slice,
        posterior: Posterior[PooledProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d, G) of some distinct items: drawn given their ratings, or sampled."""


@dataclass(frozen=True, kw_only=True)
class PooledScoreModel(LatentScoreModel[PooledProblem]):
    """A model of latent scores in which items have an effect in each pool.

    Effects come from independent standard scores by the Cholesky factor of their correlation. How
    the scores are treated (`scores`) depends on the number of pools: two are integrated out, more
    are sampled. Parameters of pools are (..., G).
    """

    one_pool_class: ClassVar[type[OnePopulationModel]]  # the model of one pool
    target_acceptance: ClassVar[float] = 0.98  # with few raters a pool, steps must be small

    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")
        assert self.one_pool  # which checks the priors that both have

    @abstractmethod
    def scores(self, n_pools: int) -> Scores:
        """How the scores of items are treated."""

    def program(self, problem: PooledProblem) -> str:
        """The ordinal program that integrates scores out, or the one that samples them."""
        return "ordinal_xcc" + self.scores(problem.n_pools).program_suffix

    @property
    def one_pool(self) -> OnePopulationModel:
        """The model of the ratings of one pool."""
        given = {field.name: getattr(self, field.name) for field in fields(self.one_pool_class)}
        return self.one_pool_class(**{**given, "nodes": None})

    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the model of one pool, by pool, and the correlation; no sampled scores."""
        return (
            Parameter("sd_item", "positive", ("pool",)),
            Parameter("sd_rater", "positive", ("pool",)),
            Parameter("factor_item", "correlation", ("pool", "factor")),
            Parameter("step", "positive", ("pool", "between")),
            Parameter("mean", "real", ("pool",)),
            Parameter("level", "real", ("rater",)),
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Values (..., 2) or (K,) of each prior, in the order of Stan's data."""
        return {**self.one_pool.prior_numbers(n_categories), "lkj": np.array(self.prior_lkj)}

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables."""
        return {**super().dims(), "cut": ("below", "pool"), "score": ("pool", "item")}

    # Data.

    def problem(self, ratings: Ratings) -> PooledProblem:
        """Distinct items by their ratings, priors and pools; nodes if scores are integrated out."""
        pool = pool_of_raters(self, ratings)
        base = self.pooled(self.score_problem(ratings), pool)
        return self.scores(base.n_pools).problem(self, base)

    def pooled(self, base: CategoricalProblem, pool: Codes) -> PooledProblem:
        """The problem by pools, without nodes."""
        none = Nodes(np.empty(0), np.empty(0))
        return extended(PooledProblem, base, link=self.link, pool=pool, nodes=none)

    # The model at a point.

    def states(self, problem: PooledProblem) -> tuple[Array, Array]:
        """Pairs (H, 2) of scores and their probabilities, without pairs that are out of reach."""
        node, weight = problem.nodes
        pairs = np.stack([axis.ravel() for axis in np.meshgrid(node, node, indexing="ij")], axis=1)
        near = (pairs**2).sum(axis=1) <= node[-1] ** 2 * (1 + 1e-9)
        probability = np.outer(weight, weight).ravel()[near]
        return pairs[near], probability / probability.sum()

    def refined(self, nodes: Nodes) -> Nodes:
        """Closer nodes that reach farther."""
        return nodes.refined(closer=2, farther=1.2)

    def by_rater(self, value: Array, problem: PooledProblem) -> Array:
        """Parameters of the pools (..., G) for each rater (..., R)."""
        return value[..., problem.pool]

    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n, G) of items with independent standard scores (n, G)."""
        return np.asarray(score @ root_of(point).T)

    def expected_effects(self, point: Point, items: slice, problem: PooledProblem) -> Array:
        """Effects (d, G) of some distinct items, expected given their ratings and a point."""
        return self.scores(problem.n_pools).expected_effects(self, point, items, problem)

    def drawn_effects(
        self,
        point: Point,
        items: slice,
        posterior: Posterior[PooledProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d, G) of some distinct items at a draw."""
        scores = self.scores(posterior.problem.n_pools)
        return scores.drawn_effects(self, point, items, posterior, rng)

    def of_pools(self, point: dict[str, Array]) -> Point:
        """The point."""
        return {parameter.name: point[parameter.name] for parameter in self.parameters()}

    def item_index(self, ratings: Ratings) -> pd.MultiIndex:
        """Items and pools."""
        return pd.MultiIndex.from_product([ratings.items, ratings.pools], names=["item", "pool"])

    @property
    def cut_prior(self) -> Normal:
        """The same in all pools."""
        return self.one_pool.cut_prior

    def location_quantities(
        self, cut: Array, proportion: Array, dims: tuple[str, ...]
    ) -> dict[str, Any]:
        """Those of the model of one pool, by pool."""
        return self.one_pool.location_quantities(cut, proportion, dims)

    def draw_from_prior(
        self, problem: PooledProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors; effects of raters conditional on those given."""
        pools, prior = problem.n_pools, self.cut_prior
        cut = np.sort(rng.normal(prior.mean, prior.sd, (pools, problem.n_categories - 1)))
        point: dict[str, Array] = {"mean": -cut[:, 0], "step": np.diff(cut)}
        for name in SDS:
            point[name] = np.array([half_t(problem.priors[name], rng) for _ in range(pools)])
        point["factor_item"] = correlation.draw(pools, self.prior_lkj, rng)
        point |= given
        mean, sd_rater = (self.by_rater(point[name], problem) for name in ("mean", "sd_rater"))
        return {**point, "level": mean + sd_rater * rng.standard_normal(problem.n_raters)}

    def replicate(
        self, point: Point, ratings: Ratings, problem: PooledProblem, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
        pool = problem.pool[ratings.rater]
        score = rng.standard_normal((ratings.n_items, problem.n_pools))
        item = self.item_effects(point, score)
        location = item[ratings.item, pool] + self.effects(point, problem)[ratings.rater]
        category = CategoryProbabilities.of(location, self.cut(point)[pool], self.link)
        return drawn_categories(category.probability, rng)

    def log_probability(self, point: Point, problem: PooledProblem) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its scores marginalised."""
        return self.scores(problem.n_pools).log_probability(self, point, problem)

    # Starting points.

    def run_em(
        self,
        problem: PooledProblem,
        rng: np.random.Generator | None,
        max_iterations: int,
        tolerance: float,
    ) -> Climb:
        """EM pool by pool, then pair by pair a search for the correlation of both."""
        alone, parts = self.one_pool, pool_subsets(problem)
        runs = [
            alone.run_em(alone.problem_of(part.base), rng, max_iterations, tolerance).point
            for part in parts
        ]
        point = combined(parts, runs)
        pairs = [list(pair) for pair in combinations(range(problem.n_pools), 2)]
        found = [most_likely(self._correlation(PoolSubset.of(problem, p), point)) for p in pairs]
        rho = np.array([best.point["rho"] for best in found])
        point["factor_item"] = positive_definite_factor(rho, problem.n_pools)
        longest = max(len(best.path) for best in found)  # as if the searches ran side by side
        paths = [np.pad(best.path, (0, longest - len(best.path)), mode="edge") for best in found]
        path = tuple(np.sum(paths, axis=0).tolist())
        return Climb(point, path, all(best.converged for best in found))

    def _correlation(self, part: PoolSubset, point: Point) -> Objective:
        """Log posterior density of the correlation of two pools."""
        pair = self.scores(2).problem(self, self.pooled(part.base, part.pool))

        def objective(free: float) -> float:
            numbers = np.array([free])
            at = {**part.at(point), "factor_item": correlation.factor(numbers, 2)}
            return self.log_likelihood(at, pair) + correlation.log_lkj(numbers, 2, self.prior_lkj)

        return objective

    def start_at(self, found: Climb, problem: PooledProblem) -> WarmStart:
        """Starting points around a mode, with levels relative to what raters' own ratings say."""
        scores = self.scores(problem.n_pools)
        start = scores.completed(super().start_at(found, problem), problem)
        return in_core(start, problem.pool) if scores.has_core else start

    def cold_start(self, problem: PooledProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        start = super().cold_start(problem, centring)
        return self.scores(problem.n_pools).completed(start, problem)

    def constrain_levels(
        self, free: Mapping[str, Any], problem: PooledProblem, centring: LevelCentring
    ) -> dict[str, Any]:
        """Parameters as the program declares them, with scores if they are sampled."""
        point = super().constrain_levels(free, problem, centring)
        return self.scores(problem.n_pools).constrain(free, point)

    def centring_at(self, point: Point, problem: PooledProblem) -> LevelCentring:
        """Each rater's level by their own ratings alone, pool by pool; and that of scores."""
        alone, parts = self.one_pool, pool_subsets(problem)
        found = [alone.centring_at(part.at(point), alone.problem_of(part.base)) for part in parts]
        mean, variance = np.empty((2, problem.n_raters))
        reference = np.concatenate([levels.reference for levels in found])
        for part, levels in zip(parts, found, strict=True):
            mean[part.raters] = levels.level_mean
            variance[part.raters] = levels.level_variance
        known_sd_item = np.asarray(point["sd_item"])
        levels = replace(found[0], level_mean=mean, level_variance=variance)
        levels = replace(levels, reference=reference, known_sd_item=known_sd_item)
        return self.scores(problem.n_pools).centring(levels, self, point, problem)

    def posterior_sd_at(self, point: Point, problem: PooledProblem) -> Point:
        """Those pool by pool, and of the correlation, in two pools by its curvature."""
        alone, parts = self.one_pool, pool_subsets(problem)
        of_parts = [
            alone.posterior_sd_at(part.at(point), alone.problem_of(part.base)) for part in parts
        ]
        found = combined(parts, of_parts)
        sd = min(2 / np.sqrt(np.sum(problem.mixture.multiplicity)) + 0.1, 0.5)
        if problem.n_pools == 2:
            density = self._correlation(PoolSubset.of(problem, [0, 1]), point)
            sd = sd_at(density, correlation.free(point["factor_item"])[0], sd)
        found["factor_item"] = np.full(correlation.n_free(problem.n_pools), sd)
        return {parameter.name: found[parameter.name] for parameter in self.parameters()}

    # Results.

    def iccs(self, posterior: Posterior[PooledProblem], observed: Observed) -> dict[str, Any]:
        """ICCs by pool and xCCs by pair, of the latent scores and of the ratings as numbers."""
        found = super().iccs(posterior, observed)
        pools = posterior.ratings.pools
        xcc = agreement(posterior.draws["factor_item"], found["icc"], pools)
        pairs = list(combinations(range(len(pools)), 2))
        rho = xcc[XCC[0]].values
        covariance = np.stack(
            [observed.covariance(rho[..., k], *pair) for k, pair in enumerate(pairs)], axis=-1
        )
        first, second = np.transpose(pairs)
        totals = (observed.icc * observed.variance, observed.variance)
        correlations = (covariance / np.sqrt(x[..., first] * x[..., second]) for x in totals)
        dims = ("chain", "draw", "pair")
        named = {name: (dims, x) for name, x in zip(XCC_OBSERVED, correlations, strict=True)}
        return {**xcc, **named, **found}

    def fit_quantities(self, posterior: Posterior[PooledProblem]) -> dict[str, Any]:
        """Log-likelihood of the ratings, unless that takes too long for all draws."""
        scores = self.scores(posterior.problem.n_pools)
        return super().fit_quantities(posterior) if scores.reports_likelihood else {}

    def raters(
        self, posterior: Posterior[PooledProblem], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Pool of the raters, and their effects on the latent scale: mean, sd, median, interval."""
        table = super().raters(posterior, prob, rng)
        table.insert(0, "pool", posterior.ratings.pools[posterior.problem.pool])
        return table

    def integration_error(self, posterior: Posterior[PooledProblem]) -> tuple[int, float]:
        """Number of nodes, and the error of the log-likelihood; 0 if scores are sampled."""
        return super().integration_error(posterior) if posterior.problem.nodes.number else (0, 0.0)
