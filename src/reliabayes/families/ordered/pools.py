"""Several pools of raters: an item has an effect in each, and they correlate.

Effects come from independent standard scores by the Cholesky factor of their correlation. Two
scores are integrated out over nodes, the second given the first; more are sampled.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered import em
from reliabayes.families.ordered.centring import CoreCentring, Levels, ScoreCentring
from reliabayes.families.ordered.density import (
    cut_points,
    expected_at,
    log_likelihood,
    rater_effects,
    root_of,
    state_log_probabilities,
)
from reliabayes.families.ordered.pair_correlation import Objective, most_likely, sd_at
from reliabayes.families.ordered.pool_parts import (
    PoolSubset,
    by_rater_of_pools,
    combined,
    pool_subsets,
    positive_definite_factor,
    subset_of,
)
from reliabayes.families.ordered.problem import POOLS, OrderedPosterior, OrderedProblem
from reliabayes.families.ordered.starts import (
    cold_start_at,
    constrained,
    free_at,
    start_in_core,
)
from reliabayes.families.pilot import Constrain
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference import correlation
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.problem import StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.ordinal_pairs import PairOfScores, RatingsOfPool
from reliabayes.likelihoods.ordinal_pools import (
    PooledCategories,
    sequential_precision,
    standard_scores,
)
from reliabayes.likelihoods.quadrature import MAX_REACH, REACH, Nodes, number_of_nodes
from reliabayes.sampling.thresholds import CROWD, LARGE_CROWD, SEVERAL_RATERS

FEW_RATERS = 0.98  # acceptance rate of NUTS with few raters a pool, where steps must be small
DEFAULT_NODES = 9  # of each of three scores or more, to compare models


class PairedScores:
    """Scores of two pools: the second is integrated out given the first."""

    program: ClassVar[str] = "ordinal_xcc"
    integrates: ClassVar[bool] = True
    reports_likelihood: ClassVar[bool] = True

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Starting points around a mode, in standard scores of the core and of levels."""
        found, sd, levels = _mode(problem, pool_subsets(problem))
        return start_in_core(found, sd, levels, problem, self._acceptance(sd, problem))

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, CoreCentring)
        start = cold_start_at(centring.levels, problem, FEW_RATERS, centring)
        return replace(start, target_acceptance=self._acceptance(start.sd, problem))

    def log_probability(self, point: Point, problem: OrderedProblem) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, as the program computes it."""
        return _pair(point, problem).log_probability()

    def expected_effects(self, point: Point, items: slice, problem: OrderedProblem) -> Array:
        """Effects (d, 2) of some distinct items, expected over both scores."""
        return np.asarray(point["sd_item"] * _pair(point, problem).expected(items))

    def drawn_effects(
        self, point: Point, items: slice, posterior: OrderedPosterior, rng: np.random.Generator
    ) -> Array:
        """Effects (d, 2) of some distinct items: a first score, then a second given the first."""
        pair = _pair(point, posterior.problem)
        one, other = pair.tables(items)
        first = drawn_categories(pair.of_first(one, other), rng)
        second = drawn_categories(pair.of_second(first, other), rng)
        score = np.stack([pair.first.node[first], pair.second[second]], axis=1)
        return np.asarray(point["sd_item"] * score)

    def _acceptance(self, sd: Point, problem: OrderedProblem) -> float:
        """Lower, for larger steps, where many raters, or well-known sds, allow them."""
        if problem.fewest_raters >= LARGE_CROWD:
            return 0.6
        are_known = np.max(sd["sd_item"]) < 0.15
        knows_raters = np.max(sd["sd_rater"]) < 0.5
        if problem.fewest_raters >= (SEVERAL_RATERS if are_known else 8 if knows_raters else CROWD):
            return 0.8
        return 0.95 if are_known else FEW_RATERS


class SampledScores:
    """Scores of three pools or more: each item stands for itself."""

    program: ClassVar[str] = "ordinal_xcc_pools"
    integrates: ClassVar[bool] = False
    reports_likelihood: ClassVar[bool] = False

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Starting points around a mode, with scores relative to what ratings say of them."""
        parts = pool_subsets(problem)
        found, sd, levels = _mode(problem, parts)
        centring = _score_centring(levels, found.point, problem, parts)
        start = WarmStart(
            mode=free_at(found, centring.levels, problem),
            sd=sd,
            constrain=_with_scores(problem, centring),
            step_size=0.5,
            path=found.path,
            centring=centring,
        )
        return _completed(start, problem, centring)

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, ScoreCentring)
        start = cold_start_at(centring.levels, problem, FEW_RATERS, centring)
        start = replace(start, constrain=_with_scores(problem, centring))
        return _completed(start, problem, centring)

    def log_probability(self, point: Point, problem: OrderedProblem) -> Array:
        """Log-probability (I,) of the ratings of each item, by adaptive quadrature."""
        number = problem.given_nodes or DEFAULT_NODES
        at = rater_effects(point, problem), root_of(point), cut_points(point), problem.link, number
        parts = PooledCategories.in_parts(problem.mixture.counts, problem.pool, number)
        return np.concatenate([part.log_probability(*at) for part in parts])

    def expected_effects(self, point: Point, items: slice, problem: OrderedProblem) -> Array:
        """Effects (d, G) of some items at the mode of their scores."""
        root, cut = root_of(point), cut_points(point)
        ratings = PooledCategories.of(problem.mixture.counts[items], problem.pool)
        score, _ = ratings.modes(rater_effects(point, problem), root, cut, problem.link)
        return np.asarray(score @ root.T)

    def drawn_effects(
        self, point: Point, items: slice, posterior: OrderedPosterior, rng: np.random.Generator
    ) -> Array:
        """Effects (d, G) of some items at a draw of their scores."""
        at, pool, root = posterior.centring, posterior.problem.pool, root_of(point)
        assert isinstance(at, ScoreCentring)
        level = at.levels.level_at(point, pool)
        shift = np.bincount(pool, point["level"] - level) / np.bincount(pool)
        centring = at.effect_precision[:, items], at.effect_weighted_mean[:, items]
        standard = standard_scores(point["score"][:, items], root, shift, *centring)
        return np.asarray((root @ standard).T)


def pooled(problem: OrderedProblem) -> OrderedProblem:
    """The problem of two pools with nodes, and of more with each item by itself."""
    if problem.n_pools > 2:
        return replace(problem, treatment=SampledScores(), mixture=problem.mixture.expanded())
    return replace(problem, treatment=PairedScores(), nodes=_nodes_of_pair(problem))


def _nodes_of_pair(problem: OrderedProblem) -> Nodes:
    """Enough nodes for both pools."""
    alone = [part.problem.nodes for part in pool_subsets(problem)]
    # An item may be far from the others in both pools.
    farther = [nodes.reach - REACH for nodes in alone]
    reach = min(REACH + float(np.linalg.norm(farther)), MAX_REACH)
    spacing = min(nodes.spacing for nodes in alone)
    # A given number is spent on the spacing, which close pools need.
    number = number_of_nodes(spacing, reach)
    return Nodes.of(problem.given_nodes) if problem.given_nodes else Nodes.of(number, reach)


# Modes.


def climbed(problem: OrderedProblem, parts: Sequence[PoolSubset]) -> Climb:
    """EM pool by pool, then pair by pair a search for the correlation of both."""
    point = combined(parts, [em.climbed(part.problem).point for part in parts])
    pairs = [list(pair) for pair in combinations(range(problem.n_pools), 2)]
    found = [most_likely(_correlation(subset_of(problem, pair), point)) for pair in pairs]
    rho = np.array([best.point["rho"] for best in found])
    point["factor_item"] = positive_definite_factor(rho, problem.n_pools)
    longest = max(len(best.path) for best in found)  # as if the searches ran side by side
    paths = [np.pad(best.path, (0, longest - len(best.path)), mode="edge") for best in found]
    path = tuple(np.sum(paths, axis=0).tolist())
    return Climb(point, path, all(best.converged for best in found))


def _correlation(part: PoolSubset, point: Point) -> Objective:
    """Log posterior density of the correlation of two pools."""
    pair, prior = pooled(part.problem), float(part.problem.priors["lkj"])

    def objective(free: float) -> float:
        numbers = np.array([free])
        at = {**part.at(point), "factor_item": correlation.factor(numbers, 2)}
        return log_likelihood(at, pair) + correlation.log_lkj(numbers, 2, prior)

    return objective


def _mode(problem: OrderedProblem, parts: Sequence[PoolSubset]) -> tuple[Climb, Point, Levels]:
    """A mode, posterior sds on Stan's unconstrained scale, and levels by raters' own ratings."""
    found = climbed(problem, parts)
    alone = [(part.problem, part.at(found.point)) for part in parts]
    expected = [(at, expected_at(at, own), own) for own, at in alone]
    sd = combined(parts, [em.posterior_sd(*each) for each in expected])
    sd["factor_item"] = _sd_of_correlations(found.point, problem)
    levels = [em.levels_at(*each) for each in expected]
    of_all = replace(
        levels[0],
        level_mean=by_rater_of_pools(parts, [each.level_mean for each in levels]),
        level_variance=by_rater_of_pools(parts, [each.level_variance for each in levels]),
        reference=np.concatenate([each.reference for each in levels]),
        known_sd_item=np.asarray(found.point["sd_item"]),
    )
    return found, {each.name: sd[each.name] for each in POOLS}, of_all


def _sd_of_correlations(point: Point, problem: OrderedProblem) -> Array:
    """Posterior sds of the free numbers of the correlations, in two pools by the curvature."""
    sd = min(2 / np.sqrt(np.sum(problem.mixture.multiplicity)) + 0.1, 0.5)
    if problem.n_pools == 2:
        density = _correlation(subset_of(problem, [0, 1]), point)
        sd = sd_at(density, correlation.free(point["factor_item"])[0], sd)
    return np.full(correlation.n_free(problem.n_pools), sd)


# Sampled scores.


def _score_centring(
    levels: Levels, point: Point, problem: OrderedProblem, parts: Sequence[PoolSubset]
) -> ScoreCentring:
    """That of the levels, and the information of each item's ratings on its effects."""
    precision, weighted_mean = np.zeros((2, len(problem.mixture.multiplicity), problem.n_pools))
    for part in parts:
        at, own = part.at(point), part.problem
        _, state = own.mixture.posterior(*state_log_probabilities(at, own))
        effect = at["sd_item"] * own.nodes.node
        mean = state @ effect
        variance = state @ effect**2 - mean**2
        precision[part.items, part.pools] = np.maximum(1 / variance - at["sd_item"] ** -2, 0)
        weighted_mean[part.items, part.pools] = mean / variance
    sequential, weighted = sequential_precision(root_of(point), precision, weighted_mean)
    return ScoreCentring(
        level_mean=levels.level_mean,
        level_variance=levels.level_variance,
        reference=levels.reference,
        effect_precision=sequential,
        effect_weighted_mean=weighted,
    )


def _with_scores(problem: OrderedProblem, centring: ScoreCentring) -> Constrain:
    """What makes parameters, and scores, of those on the unconstrained scale."""
    return partial(_constrained_with_scores, centring.levels, problem.pool)


def _constrained_with_scores(
    levels: Levels, pool: Codes, free: Mapping[str, Any]
) -> dict[str, Any]:
    return {**constrained(POOLS, levels, pool, free), "score": np.asarray(free["score"]).tolist()}


def _completed(start: WarmStart, problem: OrderedProblem, centring: ScoreCentring) -> WarmStart:
    """With standard normal scores; levels step as far as they go together with effects of items."""
    pool, shape = problem.pool, (problem.n_pools, len(problem.mixture.multiplicity))
    # Effects of items and levels of raters of a pool can trade what they have in common.
    common = np.exp(2 * start.mode["sd_item"]) / shape[1]
    wider = np.sqrt(1 + common * np.bincount(pool, 1 / centring.level_variance))
    return replace(
        start,
        mode={**start.mode, "score": np.zeros(shape)},
        sd={**start.sd, "level": wider[pool] * start.sd["level"], "score": np.ones(shape)},
        target_acceptance=0.9 if problem.fewest_raters >= 10 else FEW_RATERS,
    )


# Scores that are integrated out.


def _pair(point: Point, problem: OrderedProblem) -> PairOfScores:
    """The scores of two pools, with their ratings."""
    cut, counts = cut_points(point), problem.mixture.counts
    pool_of_cell = problem.pool[problem.cells.rater]
    one, other = (
        RatingsOfPool(
            counts[:, np.flatnonzero(pool_of_cell == pool)],
            point["level"][problem.pool == pool] - point["mean"][pool],
            float(point["sd_item"][pool]),
            cut[pool],
            problem.link,
        )
        for pool in range(2)
    )
    return PairOfScores.of(one, other, problem.nodes, float(point["factor_item"][1, 0]))
