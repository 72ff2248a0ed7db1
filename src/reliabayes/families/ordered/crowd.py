"""A crowd of one population, of which all effects are sampled.

Items have one effect each, which is otherwise integrated out over nodes. Where an item has dozens
of ratings its effect is known so well that nodes must be close, and a step of the sampler passes
over all ratings at each of them. Here it passes over them once, and there are more parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from scipy.special import expit

from reliabayes.arrays import Array, Codes
from reliabayes.families.cut_points import sd_of_log_step
from reliabayes.families.ordered.centring import HALF, reference_cuts
from reliabayes.families.ordered.density import cut_points, middle_cut, rater_effects
from reliabayes.families.ordered.moments import moment_estimates
from reliabayes.families.ordered.one_population import acceptance, integrated
from reliabayes.families.ordered.problem import OrderedPosterior, OrderedProblem
from reliabayes.inference.em import Point
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.problem import StanData, StanPart, stan_data
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.crossed_categories import CrossedCategories, Effects, Mode
from reliabayes.likelihoods.ordinal_pools import PooledCategories
from reliabayes.likelihoods.quadrature import Nodes

# Ratings, items and raters from which on effects are sampled, and how many effects at most: draws
# of as many take 1.3 GB while they are read.
MANY_RATINGS, MANY_ITEMS, MANY_RATERS, MOST_EFFECTS = 10_000, 100, 100, 10_000
# Ratings of an item from which on they are, and from which on also if raters have many each.
SOME_OF_ITEM, MANY_OF_ITEM, MANY_OF_RATER = 4, 10, 50
NODES_OF_NEW_ITEMS = 49  # around an item with ratings they would be too far apart
NODES_OF_ITEM = 15  # around its mode
CURVATURE_STEP, LEAST_CURVATURE, MOST_CURVATURE = 0.05, 0.05, 100.0  # in the units of a first guess


class SampledEffects:
    """Effects of items of one population, sampled as those of raters are."""

    program: ClassVar[str] = "ordinal_icc_crowd"
    integrates: ClassVar[bool] = False
    reports_likelihood: ClassVar[bool] = True

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Starting points around the joint mode of all effects."""
        return replace(_start(problem), target_acceptance=acceptance(problem))

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        assert isinstance(centring, CrowdCentring)
        start = _start_from(centring)
        return replace(
            start,
            target_acceptance=acceptance(problem),
            sd={name: np.full_like(sd, 0.5) for name, sd in start.sd.items()},
            step_size=None,
            mean=None,
            covariance=None,
        )

    def log_probability(self, point: Point, problem: OrderedProblem) -> Array:
        """Log-probability (I,) of the ratings of each item, by adaptive quadrature."""
        root, cut = np.reshape(point["sd_item"], (1, 1)), cut_points(point)[None]
        at = rater_effects(point, problem), root, cut, problem.link, NODES_OF_ITEM
        parts = PooledCategories.in_parts(problem.mixture.counts, problem.pool, NODES_OF_ITEM)
        return np.concatenate([part.log_probability(*at) for part in parts])

    def expected_effects(self, point: Point, items: slice, problem: OrderedProblem) -> Array:
        """Effects (d,) of some items, expected given their ratings and a point."""
        with_nodes = integrated(problem)
        return with_nodes.treatment.expected_effects(point, items, with_nodes)

    def drawn_effects(
        self, point: Point, items: slice, posterior: OrderedPosterior, rng: np.random.Generator
    ) -> Array:
        """Effects (d,) of some items at a draw."""
        return point["effect"][items]


def is_crowd(problem: OrderedProblem) -> bool:
    """Whether sampling the effects of items gives more effective draws a second."""
    n_items, n_raters = len(problem.mixture.distinct), problem.n_raters
    n_ratings = problem.mixture.n_ratings
    is_large = n_ratings >= MANY_RATINGS and n_items >= MANY_ITEMS and n_raters >= MANY_RATERS
    is_few = n_ratings < MANY_OF_RATER * n_raters
    enough = n_ratings >= (SOME_OF_ITEM if is_few else MANY_OF_ITEM) * n_items
    return is_large and enough and n_items + n_raters <= MOST_EFFECTS


def sampled(problem: OrderedProblem) -> OrderedProblem:
    """The problem of the same ratings, of which all effects are sampled; each item by itself."""
    mixture, nodes = problem.mixture.expanded(), Nodes.of(NODES_OF_NEW_ITEMS)
    return replace(problem, treatment=SampledEffects(), mixture=mixture, nodes=nodes)


class StandardisedEffects(NamedTuple):
    """How effects of items or of raters stand to the scores that the program samples.

    Scores are standard normal if the likelihood of a number, ``location + sd effect``, is normal.
    A reflection makes the first of them what all numbers have in common.

    Attributes
    ----------
    mean, precision : array of shape (n,)
        Of the normal likelihood of each number.
    direction : array of shape (n,)
        Of the reflection, with length 1.
    """

    mean: Array
    precision: Array
    direction: Array

    @classmethod
    def of(cls, found: Effects, location: float) -> StandardisedEffects:
        """Around a mode, where numbers are the location plus effects."""
        common = np.sqrt(found.information + found.sd**-2)
        direction = -common / np.linalg.norm(common)
        direction[0] += 1
        length = np.linalg.norm(direction)
        return cls(location + found.unshrunk, found.information, direction / max(length, 1e-9))

    def numbers(self, location: float, sd: float, common: float, others: Array) -> Array:
        """Numbers (n,) of scores."""
        score = self._reflected(np.concatenate([[common], others]))
        centre, scale = self._centre_and_scale(location, sd)
        return np.asarray(centre + scale * score)

    def scores(self, location: float, sd: float, numbers: Array) -> tuple[float, Array]:
        """What they have in common, and the other scores (n - 1,)."""
        centre, scale = self._centre_and_scale(location, sd)
        score = self._reflected((np.asarray(numbers) - centre) / scale)
        return float(score[0]), score[1:]

    def _reflected(self, score: Array) -> Array:
        return np.asarray(score - 2 * (self.direction @ score) * self.direction)

    def _centre_and_scale(self, location: float, sd: float) -> tuple[Array, Array]:
        variance = 1 / (1 + sd**2 * self.precision)
        own = sd**2 * variance * self.precision
        return location + own * (self.mean - location), sd * np.sqrt(variance)


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdCentring:
    """Units of what the program of crowds samples.

    Attributes
    ----------
    reference : array of int, shape (1,)
        Cut point that levels and location are relative to.
    level_mean, level_precision, common_level : array of shape (R,)
        Of raters, as `StandardisedEffects` has them.
    effect_mean, effect_precision, common_effect : array of shape (I,)
        The same of items.
    spread_scale : array of shape (2,)
        In place of sds of items and raters stand numbers of which they are the softplus on these
        scales.
    core_mean, core_root : array of shapes (K + 3,) and (K + 3, K + 3)
        Mean, and root of the covariance, of sds, steps, location, and of what levels and effects
        have in common; the program samples standard scores.
    """

    reference: Codes
    level_mean: Array
    level_precision: Array
    common_level: Array
    effect_mean: Array
    effect_precision: Array
    common_effect: Array
    spread_scale: Array
    core_mean: Array
    core_root: Array

    @property
    def raters(self) -> StandardisedEffects:
        """Scores of levels."""
        return StandardisedEffects(self.level_mean, self.level_precision, self.common_level)

    @property
    def items(self) -> StandardisedEffects:
        """Scores of effects."""
        return StandardisedEffects(self.effect_mean, self.effect_precision, self.common_effect)

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        values = {name: value for name, value in vars(self).items() if name != "reference"}
        return StanData(positions={"reference": self.reference}, values=values)

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it; items have their modes where it has no effects."""
        step = np.asarray(point.get("step", ()), float)  # results of two categories have none
        sd_item, sd_rater = np.asarray(point["sd_item"]), np.asarray(point["sd_rater"])
        distance = self._distance(step)
        location = float(point["mean"]) - distance
        level = np.asarray(point["level"]) - distance
        common_level, score = self.raters.scores(location, float(sd_rater), level)
        common_effect, item_score = 0.0, np.zeros(len(self.effect_mean) - 1)
        if "effect" in point:
            common_effect, item_score = self.items.scores(0, float(sd_item), point["effect"])
        spread = inverse_softplus([sd_item, sd_rater], self.spread_scale)
        free = np.concatenate(
            [spread, np.log(step), [location, common_level, common_effect]], axis=None
        )
        core = np.linalg.solve(self.core_root, free - self.core_mean)
        return {"core": core, "score": score, "item_score": item_score}

    def restored(self, sampled: Mapping[str, Any]) -> dict[str, Any]:
        """The point of what the program samples, inverse to `for_program`."""
        free = self.core_mean + self.core_root @ np.asarray(sampled["core"])
        sd_item, sd_rater = softplus(free[:2], self.spread_scale).tolist()
        step, (location, common_level, common_effect) = np.exp(free[2:-3]), free[-3:].tolist()
        distance = self._distance(step)
        level = self.raters.numbers(location, sd_rater, common_level, np.asarray(sampled["score"]))
        others = np.asarray(sampled["item_score"])
        return {
            "sd_item": sd_item,
            "sd_rater": sd_rater,
            "step": step.tolist(),
            "mean": location + distance,
            "level": (level + distance).tolist(),
            "effect": self.items.numbers(0, sd_item, common_effect, others).tolist(),
        }

    def _distance(self, step: Array) -> float:
        """Distance of the reference cut point from the first."""
        return float(reference_cuts(np.reshape(step, (1, -1)), self.reference)[0])


def _start(problem: OrderedProblem) -> WarmStart:
    """Starting points around the mode, in scores of the core, of levels and of effects."""
    guess, reference = moment_estimates(problem), middle_cut(problem)
    crossed = CrossedCategories.of(problem.mixture.counts, problem.n_raters, problem.link)
    first = cut_points(guess), float(guess["sd_item"]), float(guess["sd_rater"])
    found = crossed.mode(*first)
    location = -float(found.cut[reference[0]])
    raters = StandardisedEffects.of(found.raters, location)
    items = StandardisedEffects.of(found.items, 0.0)
    sds = np.array([found.items.sd, found.raters.sd])
    scale = HALF * sds
    free = inverse_softplus(sds, scale)
    step = np.diff(found.cut)
    by_category = np.bincount(crossed.category, crossed.number, problem.n_categories).astype(float)
    sd = _first_units(found, by_category, int(reference[0]))
    sd[:2] *= sds / expit(free / scale)
    # At the mode all scores are 0.
    core = np.concatenate([free, np.log(step), [location, 0.0, 0.0]])
    centring = CrowdCentring(
        reference=reference,
        level_mean=raters.mean,
        level_precision=raters.precision,
        common_level=raters.direction,
        effect_mean=items.mean,
        effect_precision=items.precision,
        common_effect=items.direction,
        spread_scale=scale,
        core_mean=core,
        core_root=np.diag(sd),
    )
    return _start_from(_in_units_of_curvature(problem, centring))


def _start_from(centring: CrowdCentring) -> WarmStart:
    """Starting points around 0 in the units of a centring."""
    sizes = {
        "core": len(centring.core_mean),
        "score": len(centring.level_mean) - 1,
        "item_score": len(centring.effect_mean) - 1,
    }
    size = sum(sizes.values())
    return WarmStart(
        mode={name: np.zeros(size) for name, size in sizes.items()},
        sd={name: np.ones(size) for name, size in sizes.items()},
        constrain=centring.restored,
        step_size=0.5,
        mean=np.zeros(size),
        covariance=np.ones(size),
        centring=centring,
    )


def _first_units(found: Mode, by_category: Array, reference: int) -> Array:
    """Approximate sds of logs of sds and steps, of the location, and of what effects share."""
    of_sds = [
        min((1 + np.median(1 / each.information) / each.sd**2) / np.sqrt(2 * len(each.effect)), 1)
        for each in (found.items, found.raters)
    ]
    of_steps = sd_of_log_step(np.diff(found.cut), by_category, reference)
    shares = [each.sd**2 / len(each.effect) for each in (found.items, found.raters)]
    return np.concatenate([of_sds, of_steps, [np.sqrt(sum(shares)), 1.0, 1.0]])


def _in_units_of_curvature(problem: OrderedProblem, centring: CrowdCentring) -> CrowdCentring:
    """The same with a core in units of the curvature at the mode."""
    size, others = len(centring.core_mean), problem.n_raters + len(centring.effect_mean) - 2
    moves = CURVATURE_STEP * np.eye(size, size + others)
    data = stan_data(problem, centring)
    _, found = log_gradients(problem.treatment.program, data, np.concatenate([-moves, moves]))
    before, after = np.split(found[:, :size], 2)
    bend = (before - after) / (2 * CURVATURE_STEP)
    values, vectors = np.linalg.eigh((bend + bend.T) / 2)
    values = np.clip(values, LEAST_CURVATURE, MOST_CURVATURE)
    return replace(centring, core_root=centring.core_root @ vectors / np.sqrt(values))
