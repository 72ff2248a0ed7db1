"""Latent scores of many raters with many ratings of each item: all effects are sampled.

Items have one effect each, which other programs integrate out over nodes. Where an item has dozens
of ratings its effect is known so well that nodes must be close, and a step of the sampler passes
over all ratings at each of them. Here it passes over them once, and there are more parameters.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple, Self

import numpy as np
from scipy.special import expit

from reliabayes.arrays import Array, Codes
from reliabayes.families.cut_points import sd_of_log_step
from reliabayes.inference.em import Point
from reliabayes.inference.log_density import log_gradients
from reliabayes.inference.log_odds_centring import inverse_softplus, softplus
from reliabayes.inference.problem import StanData, extended, stan_data
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.crossed_categories import CrossedCategories, Effects, Mode
from reliabayes.likelihoods.ordinal_pools import PooledCategories
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases.core_centring import HALF
from reliabayes.models.bases.level_centring import reference_cuts
from reliabayes.models.bases.score_problem import ScoreProblem

PROGRAM = "ordinal_icc_crowd"
# Ratings, items and raters from which on effects are sampled, and how many effects at most: draws
# of as many take 1.3 GB while they are read.
MANY_RATINGS, MANY_ITEMS, MANY_RATERS, MOST_EFFECTS = 10_000, 100, 100, 10_000
# Ratings of an item from which on they are, and from which on also if raters have many each.
SOME_OF_ITEM, MANY_OF_ITEM, MANY_OF_RATER = 4, 10, 50
NODES_OF_NEW_ITEMS = 49
NODES_OF_ITEM = 15  # around its mode
CURVATURE_STEP, LEAST_CURVATURE, MOST_CURVATURE = 0.05, 0.05, 100.0  # in the units of a first guess


@dataclass(frozen=True, eq=False, kw_only=True)
class CrowdProblem(ScoreProblem):
    """Ratings of which all effects are sampled; each item is stored by itself.

    The nodes are those of new items: around an item with ratings they would be too far apart.
    """

    @property
    def rough(self) -> Self:
        """As it is: nodes have no part in the density."""
        return self

    @property
    def integrates(self) -> bool:
        """No: scores are sampled."""
        return False

    @property
    def crossed(self) -> CrossedCategories:
        """The ratings by item and rater."""
        return CrossedCategories.of(self.mixture.counts, self.n_raters, self.link)

    def log_probability(self, point: Point, cut: Array) -> Array:
        """Log-probability (I,) of the ratings of each item, by adaptive quadrature."""
        effect = np.asarray(point["level"] - point["mean"])
        at = effect, np.reshape(point["sd_item"], (1, 1)), cut[None], self.link, NODES_OF_ITEM
        parts = PooledCategories.in_parts(self.mixture.counts, self.pool, NODES_OF_ITEM)
        return np.concatenate([part.log_probability(*at) for part in parts])


def is_crowd(problem: ScoreProblem) -> bool:
    """Whether sampling the effects of items gives more effective draws a second."""
    n_items, n_raters = len(problem.mixture.distinct), problem.n_raters
    n_ratings = problem.mixture.n_ratings
    is_large = n_ratings >= MANY_RATINGS and n_items >= MANY_ITEMS and n_raters >= MANY_RATERS
    is_few = n_ratings < MANY_OF_RATER * n_raters
    enough = n_ratings >= (SOME_OF_ITEM if is_few else MANY_OF_ITEM) * n_items
    return is_large and enough and n_items + n_raters <= MOST_EFFECTS


def crowd_of(problem: ScoreProblem) -> CrowdProblem:
    """The same ratings, of which all effects are sampled."""
    mixture, nodes = problem.mixture.expanded(), Nodes.of(NODES_OF_NEW_ITEMS)
    return extended(CrowdProblem, replace(problem, mixture=mixture, nodes=nodes))


class Scored(NamedTuple):
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
    def of(cls, found: Effects, location: float) -> Scored:
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
        Of raters, as `Scored` has them.
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
    def raters(self) -> Scored:
        """Scores of levels."""
        return Scored(self.level_mean, self.level_precision, self.common_level)

    @property
    def items(self) -> Scored:
        """Scores of effects."""
        return Scored(self.effect_mean, self.effect_precision, self.common_effect)

    def stan_data(self) -> StanData:
        """Data for the Stan program."""
        values = {name: value for name, value in vars(self).items() if name != "reference"}
        return StanData(positions={"reference": self.reference}, values=values)

    def for_program(self, point: Mapping[str, Any]) -> dict[str, Any]:
        """A point as the program declares it; items have their modes where it has no effects."""
        step, sd_item, sd_rater = (np.asarray(point[x]) for x in ("step", "sd_item", "sd_rater"))
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


def start_of(problem: CrowdProblem, guess: Point, cut: Array, reference: Codes) -> WarmStart:
    """Starting points around the mode, in scores of the core, of levels and of effects."""
    found = problem.crossed.mode(cut, float(guess["sd_item"]), float(guess["sd_rater"]))
    location = -float(found.cut[reference[0]])
    raters, items = Scored.of(found.raters, location), Scored.of(found.items, 0.0)
    sds = np.array([found.items.sd, found.raters.sd])
    scale = HALF * sds
    free = inverse_softplus(sds, scale)
    step = np.diff(found.cut)
    sd = _first_units(found, problem, int(reference[0]))
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
    return start_from(_in_units_of_curvature(problem, centring))


def start_from(centring: CrowdCentring) -> WarmStart:
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


def _first_units(found: Mode, problem: CrowdProblem, reference: int) -> Array:
    """Approximate sds of logs of sds and steps, of the location, and of what effects share."""
    of_sds = [
        min((1 + np.median(1 / each.information) / each.sd**2) / np.sqrt(2 * len(each.effect)), 1)
        for each in (found.items, found.raters)
    ]
    crossed = problem.crossed
    by_category = np.asarray(
        np.bincount(crossed.category, crossed.number, problem.n_categories), float
    )
    of_steps = sd_of_log_step(np.diff(found.cut), by_category, reference)
    shares = [each.sd**2 / len(each.effect) for each in (found.items, found.raters)]
    return np.concatenate([of_sds, of_steps, [np.sqrt(sum(shares)), 1.0, 1.0]])


def _in_units_of_curvature(problem: CrowdProblem, centring: CrowdCentring) -> CrowdCentring:
    """The same with a core in units of the curvature at the mode."""
    size, others = len(centring.core_mean), problem.n_raters + len(centring.effect_mean) - 2
    moves = CURVATURE_STEP * np.eye(size, size + others)
    data = stan_data(problem, centring)
    _, found = log_gradients(PROGRAM, data, np.concatenate([-moves, moves]))
    before, after = np.split(found[:, :size], 2)
    bend = (before - after) / (2 * CURVATURE_STEP)
    values, vectors = np.linalg.eigh((bend + bend.T) / 2)
    values = np.clip(values, LEAST_CURVATURE, MOST_CURVATURE)
    return replace(centring, core_root=centring.core_root @ vectors / np.sqrt(values))
