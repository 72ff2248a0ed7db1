"""Scores of items in several pools: two are integrated out over nodes, more are sampled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.em import Point
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.ordinal_pairs import PairOfScores, RatingsOfPool
from reliabayes.likelihoods.ordinal_pools import (
    PooledCategories,
    sequential_precision,
    standard_scores,
)
from reliabayes.likelihoods.quadrature import MAX_REACH, REACH, Nodes, number_of_nodes
from reliabayes.models.bases.level_centring import LevelCentring
from reliabayes.models.bases.pool_parts import PooledProblem, pool_subsets, root_of
from reliabayes.models.bases.pooled_score import PooledScoreModel, Scores
from reliabayes.results.posterior import Posterior

CROWD, SEVERAL = 100, 6  # raters of a pool
DEFAULT_NODES = 9  # of each of three scores or more, to compare models


class IntegratedScores:
    """Scores of two pools: the second is integrated out given the first."""

    program_suffix: ClassVar[str] = ""
    has_core: ClassVar[bool] = True
    reports_likelihood: ClassVar[bool] = True

    def problem(self, model: PooledScoreModel, base: PooledProblem) -> PooledProblem:
        """With enough nodes for both pools."""
        alone = [model.one_pool.problem_of(part.base).nodes for part in pool_subsets(base)]
        # An item may be far from the others in both pools.
        farther = [nodes.reach - REACH for nodes in alone]
        reach = min(REACH + float(np.linalg.norm(farther)), MAX_REACH)
        spacing = min(nodes.spacing for nodes in alone)
        # A given number is spent on the spacing, which close pools need.
        number = number_of_nodes(spacing, reach)
        nodes = Nodes.of(model.nodes) if model.nodes else Nodes.of(number, reach)
        return replace(base, nodes=nodes)

    def centring(
        self, levels: LevelCentring, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> LevelCentring:
        """That of the levels."""
        return levels

    def completed(self, start: WarmStart, problem: PooledProblem) -> WarmStart:
        """Larger steps where many raters, or well-known sds, allow them."""
        fewest = np.bincount(problem.pool).min()
        if fewest >= CROWD:
            return replace(start, target_acceptance=0.6)
        are_known = np.max(start.sd["sd_item"]) < 0.15
        knows_raters = np.max(start.sd["sd_rater"]) < 0.5
        if fewest >= (SEVERAL if are_known else 8 if knows_raters else 20):
            return replace(start, target_acceptance=0.8)
        return replace(start, target_acceptance=0.95) if are_known else start

    def constrain(self, free: Mapping[str, Any], point: dict[str, Any]) -> dict[str, Any]:
        """The point as it is."""
        return point

    def log_probability(
        self, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, as the program computes it."""
        return _pair(model, point, problem).log_probability()

    def expected_effects(
        self, model: PooledScoreModel, point: Point, items: slice, problem: PooledProblem
    ) -> Array:
        """Effects (d, 2) of some distinct items, expected over both scores."""
        return np.asarray(point["sd_item"] * _pair(model, point, problem).expected(items))

    def drawn_effects(
        self,
        model: PooledScoreModel,
        point: Point,
        items: slice,
        posterior: Posterior[PooledProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d, 2) of some distinct items: a first score, then a second given the first."""
        pair = _pair(model, point, posterior.problem)
        one, other = pair.tables(items)
        first = drawn_categories(pair.of_first(one, other), rng)
        second = drawn_categories(pair.of_second(first, other), rng)
        score = np.stack([pair.first.node[first], pair.second[second]], axis=1)
        return np.asarray(point["sd_item"] * score)


@dataclass(frozen=True, eq=False)
class ScoreCentring(LevelCentring):
    """Centring of levels and of sampled scores.

    Attributes
    ----------
    effect_precision, effect_weighted_mean : array of shape (G, I)
        Of an item's effect in each pool given those in the pools before, from the ratings of the
        pool and of those after it: its precision, and its mean times the precision.
    """

    not_data: ClassVar[frozenset[str]] = LevelCentring.not_data | {"known_sd_item", "widening"}

    effect_precision: Array
    effect_weighted_mean: Array


class SampledScores:
    """Scores of three pools or more: each item stands for itself."""

    program_suffix: ClassVar[str] = "_pools"
    has_core: ClassVar[bool] = False
    reports_likelihood: ClassVar[bool] = False

    def problem(self, model: PooledScoreModel, base: PooledProblem) -> PooledProblem:
        """All items, without nodes."""
        return replace(base, mixture=base.mixture.expanded())

    def centring(
        self, levels: LevelCentring, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> LevelCentring:
        """That of the levels, and the information of each item's ratings on its effects."""
        alone, n_items = model.one_pool, len(problem.mixture.multiplicity)
        precision, weighted_mean = np.zeros((2, n_items, problem.n_pools))
        for part in pool_subsets(problem):
            at, of_pool = part.at(point), alone.problem_of(part.base)
            _, state = of_pool.mixture.posterior(*alone.columns(at, of_pool))
            effect = at["sd_item"] * of_pool.nodes.node
            mean = state @ effect
            variance = state @ effect**2 - mean**2
            precision[part.items, part.pools] = np.maximum(1 / variance - at["sd_item"] ** -2, 0)
            weighted_mean[part.items, part.pools] = mean / variance
        sequential = sequential_precision(root_of(point), precision, weighted_mean)
        return ScoreCentring(
            levels.level_mean, levels.level_variance, *sequential, reference=levels.reference
        )

    def completed(self, start: WarmStart, problem: PooledProblem) -> WarmStart:
        """Standard normal scores; levels step as far as they go together with effects of items."""
        centring = start.centring
        assert isinstance(centring, LevelCentring)
        pool, shape = problem.pool, (problem.n_pools, len(problem.mixture.multiplicity))
        if np.bincount(pool).min() >= 10:
            start = replace(start, target_acceptance=0.9)
        # Effects of items and levels of raters of a pool can trade what they have in common.
        common = np.exp(2 * start.mode["sd_item"]) / shape[1]
        wider = np.sqrt(1 + common * np.bincount(pool, 1 / centring.level_variance))
        return replace(
            start,
            mode={**start.mode, "score": np.zeros(shape)},
            sd={**start.sd, "level": wider[pool] * start.sd["level"], "score": np.ones(shape)},
        )

    def constrain(self, free: Mapping[str, Any], point: dict[str, Any]) -> dict[str, Any]:
        """The point with scores."""
        return {**point, "score": np.asarray(free["score"]).tolist()}

    def log_probability(
        self, model: PooledScoreModel, point: Point, problem: PooledProblem
    ) -> Array:
        """Log-probability (I,) of the ratings of each item, by adaptive quadrature."""
        number = model.nodes or DEFAULT_NODES
        at = model.effects(point, problem), root_of(point), model.cut(point), model.link, number
        parts = PooledCategories.in_parts(problem.mixture.counts, problem.pool, number)
        return np.concatenate([part.log_probability(*at) for part in parts])

    def expected_effects(
        self, model: PooledScoreModel, point: Point, items: slice, problem: PooledProblem
    ) -> Array:
        """Effects (d, G) of some items at the mode of their scores."""
        ratings = PooledCategories.of(problem.mixture.counts[items], problem.pool)
        root = root_of(point)
        score, _ = ratings.modes(model.effects(point, problem), root, model.cut(point), model.link)
        return np.asarray(score @ root.T)

    def drawn_effects(
        self,
        model: PooledScoreModel,
        point: Point,
        items: slice,
        posterior: Posterior[PooledProblem],
        rng: np.random.Generator,
    ) -> Array:
        """Effects (d, G) of some items at a draw of their scores."""
        assert isinstance(posterior.centring, ScoreCentring)
        return _effects(point, items, posterior.problem, posterior.centring)


class CorrelatedScoreModel(PooledScoreModel):
    """A model of latent scores in several pools, with scores treated as their number allows."""

    def scores(self, n_pools: int) -> Scores:
        """Two scores are integrated out, more are sampled."""
        return IntegratedScores() if n_pools == 2 else SampledScores()


def _effects(point: Point, items: slice, problem: PooledProblem, at: ScoreCentring) -> Array:
    """Effects (n, G) of some items at a draw of their scores."""
    pool, root = problem.pool, root_of(point)
    shift = np.bincount(pool, point["level"] - at.level_at(point, pool)) / np.bincount(pool)
    centring = at.effect_precision[:, items], at.effect_weighted_mean[:, items]
    standard = standard_scores(point["score"][:, items], root, shift, *centring)
    return np.asarray((root @ standard).T)


def _pair(model: PooledScoreModel, point: Point, problem: PooledProblem) -> PairOfScores:
    """The scores of two pools, with their ratings."""
    cut, counts = model.cut(point), problem.mixture.counts
    pool_of_cell = problem.pool[problem.cells.rater]
    one, other = (
        RatingsOfPool(
            counts[:, np.flatnonzero(pool_of_cell == pool)],
            point["level"][problem.pool == pool] - point["mean"][pool],
            float(point["sd_item"][pool]),
            cut[pool],
            model.link,
        )
        for pool in range(2)
    )
    return PairOfScores.of(one, other, problem.nodes, float(point["factor_item"][1, 0]))
