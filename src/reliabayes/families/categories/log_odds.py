"""Raters with confusion matrices that resemble one another: their log odds of errors are normal."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from scipy.special import xlogy

from reliabayes.arrays import Array
from reliabayes.families.categories import misleading
from reliabayes.families.categories.compiled_em import compiled_hierarchy, steps_are_compiled
from reliabayes.families.categories.density import state_log_probabilities
from reliabayes.families.categories.em import climbed
from reliabayes.families.categories.gibbs import conjugate_of
from reliabayes.families.categories.prevalence import PREVALENCE
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem, by_rater
from reliabayes.families.categories.similar_raters import point_of_similar_raters
from reliabayes.families.categories.starts import centred, start_around
from reliabayes.inference.conjugate import Conjugate, Hierarchy, ParameterLayout, RatingEvents
from reliabayes.inference.densities import half_t, log_half_t, log_normal
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.log_odds import (
    LOG_SPREAD,
    SOFTNESS,
    Between,
    LogOddsProblem,
    confusion_matrices,
    errors_of,
    information,
    levels_at,
    log_odds_at,
    log_probabilities,
    newton_steps,
    own_log_odds,
    spread_weights,
    weighted_sd,
)
from reliabayes.inference.log_odds_centring import LogOddsCentring, inverse_softplus
from reliabayes.inference.problem import StanData
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.results.posterior import Posterior
from reliabayes.sampling.thresholds import INFORMED, LARGE_CROWD, USUAL_STEPS, Adaptation

# Laplace approximations of a climb with a fine tolerance, and the gain in nats that ends it.
MAX_ROUNDS, SMALL_GAIN, FINE_TOLERANCE = 5, 0.01, 1e-3
COARSE_CLIMB = (30, 1e-2)  # iterations and tolerance, with effects at their mode


@dataclass(frozen=True, eq=False)
class Precision:
    """What EM knows of raters' log odds.

    Attributes
    ----------
    precision : array of shape (E, R)
        Precision of raters' log odds for the Laplace approximation in EM; zeros until EM sets it.
        Errors are pairs of a true category and a wrong one.
    """

    precision: Array

    def stan_data(self) -> StanData:
        """Nothing: the program integrates nothing."""
        return StanData()


Problem = CategoricalProblem[Precision]


@dataclass(frozen=True)
class LogOdds:
    """Raters whose log odds of errors are normal around a location, less their ability."""

    takes_many: ClassVar[bool] = True
    lasting_priors: ClassVar[tuple[str, ...]] = (
        *("location", "spread", "ability_spread"),
        MISLEADING.name,
    )

    def confusion(self, point: Point, problem: Problem) -> Array:
        """Probabilities of ratings (..., R, K, K) by true category."""
        return confusion_matrices(log_odds_at(point), problem.n_categories)

    def table(self, point: Point, problem: Problem) -> Array:
        """Log-probabilities (..., K, V) of a rating, even where too small to differ from 0."""
        return log_probabilities(log_odds_at(point), problem.n_categories)

    def draw_from_prior(self, problem: Problem, rng: np.random.Generator, given: Point) -> Point:
        """Parameters drawn from their priors."""
        size, (mean, sd) = problem.size("error"), problem.priors["location"]
        return {
            "prevalence": rng.dirichlet(problem.priors["prevalence"]),
            "location": mean + sd * rng.standard_normal(size),
            "spread": np.array([half_t(problem.priors["spread"], rng) for _ in range(size)]),
            "ability_spread": np.asarray(half_t(problem.priors["ability_spread"], rng)),
            "ability": rng.standard_normal(problem.n_raters),
            "effect": rng.standard_normal((size, problem.n_raters)),
            **misleading.from_prior(problem, rng),
        }

    def conjugate(self, problem: Problem) -> Conjugate:
        """What Gibbs sampling needs: each rating is one of a row of its rater's matrix."""
        size, priors = (problem.n_raters, problem.n_categories), problem.priors
        own = (priors[name] for name in ("location", "spread", "ability_spread"))
        hierarchy = Hierarchy(*size, *own)
        layout = ParameterLayout.of(problem.parameters, problem.size)
        rows = hierarchy.rows(layout).transpose(1, 2, 0).reshape(problem.n_categories, -1)
        outcomes = RatingEvents(rows, (), np.zeros(problem.n_cells))
        return conjugate_of(problem, layout, outcomes, hierarchy=hierarchy)

    # Expectation maximisation.

    def log_prior(self, point: Point, problem: Problem) -> float:
        """Log density of the priors on the unconstrained scale, up to constants."""
        spreads = [(sd, problem.priors["spread"]) for sd in point["spread"]]
        spreads.append((point["ability_spread"], problem.priors["ability_spread"]))
        of_raters = (point["effect"] ** 2).sum() + (point["ability"] ** 2).sum()
        return float(
            xlogy(problem.priors["prevalence"], point["prevalence"]).sum()
            + log_normal(point["location"], *problem.priors["location"]).sum()
            + sum(log_half_t(sd, prior) + np.log(sd) for sd, prior in spreads)
            - 0.5 * (of_raters + _between(point).log_ratio(problem.own.precision))
            + misleading.log_prior(point, problem)
        )

    def maximise(self, point: Point, expected: Expected, problem: Problem) -> Point:
        """Improve log odds and locations by Newton steps, then levels and spreads given these."""
        items = expected.items + problem.priors["prevalence"]
        counts = by_rater(expected, problem)
        shape = problem.n_categories, problem.n_categories - 1
        location, log_odds = newton_steps(
            LogOddsProblem(
                wrong=errors_of(counts).reshape(-1, *shape),
                total=counts.sum(axis=-1),
                precision=point["spread"].reshape(shape) ** -2,
                level=levels_at(point)[:, None, None],
                prior=problem.priors["location"],
            ),
            point["location"].reshape(shape),
            log_odds_at(point).reshape(-1, *shape),
        )
        away = (log_odds - location).reshape(len(counts), -1).T
        between = _between(point)
        level = between.shared_level(away)
        improved = between.improved(
            ((away - level) ** 2).sum(axis=1),
            (level**2).sum(),
            problem.own.precision,
            (problem.priors["spread"], problem.priors["ability_spread"]),
        )
        return {
            "prevalence": items / items.sum(),
            "location": location.ravel(),
            "spread": improved.spread,
            "ability_spread": improved.ability_spread,
            "ability": -level / improved.ability_spread,
            "effect": (away - level) / improved.spread[:, None],
            **misleading.most_likely(expected, problem),
        }

    def posterior_sd(self, point: Point, expected: Expected, problem: Problem) -> Point:
        """As if the expected ratings were observed, and the likelihood of log odds were normal."""
        counts = by_rater(expected, problem)
        own, precision = (x.T for x in own_log_odds(log_odds_at(point), counts))
        spread = point["spread"][:, None]
        of_spreads, of_ability = _spread_weights(point, own, precision, problem)
        ratio = 1 + spread**2 * precision  # variance of a log odds over that given the ratings
        of_all = ratio + point["ability_spread"] ** 2 * precision
        return {
            "prevalence": PREVALENCE.unconstrained_sd(
                expected.items + problem.priors["prevalence"]
            ),
            "location": (problem.priors["location"][1] ** -2 + (precision / of_all).sum(axis=1))
            ** -0.5,
            "spread": weighted_sd(LOG_SPREAD[:, None], of_spreads),  # of its log
            "ability_spread": weighted_sd(LOG_SPREAD[:, None], of_ability)[0],
            "ability": np.ones(problem.n_raters),
            "effect": np.sqrt((1 + spread**2 * problem.own.precision) / ratio),
            **misleading.posterior_sd(expected, problem),
        }

    def first(self, point: Point, problem: Problem) -> Point:
        """Where EM climbs from: first roughly, with effects at their mode."""
        return self._climb(point, problem, *COARSE_CLIMB).point

    def quick(
        self, problem: Problem, rng: np.random.Generator, max_iterations: int, tolerance: float
    ) -> Point:
        """EM with raters' rows drawn to those of all raters, whose steps are quick."""
        return point_of_similar_raters(problem, rng, max_iterations, tolerance)

    def climb_from(
        self, start: Point, problem: Problem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from a point; the Laplace approximation is made anew where it ends."""
        found = Climb(start, (-math.inf,), False)
        for _ in range(1 if tolerance > FINE_TOLERANCE else MAX_ROUNDS):
            before = found
            _, precision = self._own_log_odds(before.point, problem)
            at_precision = replace(problem, own=Precision(precision))
            found = self._climb(before.point, at_precision, max_iterations, tolerance)
            if abs(found.path[-1] - before.path[-1]) < SMALL_GAIN:
                break
        return found

    def _climb(
        self, start: Point, problem: Problem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM with one Laplace approximation, in compiled steps where there are such."""
        if steps_are_compiled(problem):
            return compiled_hierarchy(start, problem, max_iterations, tolerance)
        return climbed(self, start, problem, max_iterations, tolerance)

    # Where chains start.

    def start_at(self, found: Climb, problem: Problem, adaptation: Adaptation) -> WarmStart:
        """Around a mode; where true categories are uncertain, its curvature is a poor guide."""
        point = found.point
        centring = self.centring_at(point, problem)
        own = centring.log_odds_mean, centring.log_odds_precision
        at_precision = replace(problem, own=Precision(own[1]))
        start = start_around(self, found, at_precision, adaptation)
        counts, variance = self._expected_by_rater(point, problem)
        certainty = information(counts, variance, self.confusion(point, problem))
        is_poor = certainty < INFORMED.information
        weights = _spread_weights(point, *own, problem)
        scales = centring.spread_scale, centring.ability_scale
        of_spread, of_ability = (
            weighted_sd(inverse_softplus(np.exp(LOG_SPREAD)[:, None], scale), weight)
            for scale, weight in zip(scales, weights, strict=True)
        )
        tail = float(start.sd["spread"].max())
        return replace(
            centred(start, point, centring, problem),
            sd={**start.sd, "spread": of_spread, "ability_spread": of_ability[0]},
            adapt_metric=is_poor or (problem.n_raters >= LARGE_CROWD and tail > INFORMED.tail),
            target_acceptance=INFORMED.acceptance if is_poor else USUAL_STEPS.acceptance,
        )

    def centring_at(self, point: Point, problem: Problem) -> LogOddsCentring:
        """Each rater's log odds by their own ratings, with the states expected at a point."""
        mean, precision = self._own_log_odds(point, problem)
        own_level = _between(point).own_level(mean - point["location"][:, None], precision)
        of_spreads, of_ability = (
            SOFTNESS * np.sqrt(np.exp(2 * LOG_SPREAD) @ weight)
            for weight in _spread_weights(point, mean, precision, problem)
        )
        return LogOddsCentring(mean, precision, of_spreads, *own_level, of_ability[0])

    def _expected_by_rater(self, point: Point, problem: Problem) -> tuple[Array, Array]:
        """Expected ratings (R, K, K) of each rater, and the variance of their states."""
        mixture = problem.mixture
        _, state = mixture.posterior(*state_log_probabilities(self, point, problem))
        expected, variance = (mixture.expected(x) for x in (state, state * (1 - state)))
        return by_rater(expected, problem), by_rater(variance, problem)

    def _own_log_odds(self, point: Point, problem: Problem) -> tuple[Array, Array]:
        """Mean and precision (E, R) of the log odds by the ratings expected at a point."""
        expected, _ = self._expected_by_rater(point, problem)
        mean, precision = own_log_odds(log_odds_at(point), expected)
        return mean.T, precision.T

    # Results.

    def more_quantities(
        self, point: Point, problem: Problem
    ) -> Mapping[str, tuple[tuple[str, ...], Array]]:
        """The confusion matrix of a rater without effects."""
        typical = confusion_matrices(point["location"], problem.n_categories)
        return {"typical_confusion": (("true_category", "category"), typical)}

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> tuple[CategoricalProblem, Point]:
        """One whose ability and effects are drawn from the population."""
        *shape, errors = posterior.draws["location"].shape
        effect = rng.standard_normal((*shape, errors, 1))
        return posterior.problem, {"effect": effect, "ability": rng.standard_normal((*shape, 1))}


def _between(point: Point) -> Between:
    """How much raters differ at a point."""
    return Between(point["spread"], point["ability_spread"])


def _spread_weights(
    point: Point, mean: Array, precision: Array, problem: Problem
) -> tuple[Array, Array]:
    """Posterior (G, E) of spreads on a grid, and (G, 1) of that of abilities.

    Given own log odds, location, and levels of a point, or its spreads for that of abilities.
    """
    away = mean - point["location"][:, None]
    level, known = _between(point).own_level(away, precision)
    return (
        spread_weights((away - levels_at(point)) ** 2, precision, problem.priors["spread"]),
        spread_weights(level[None] ** 2, known[None], problem.priors["ability_spread"]),
    )
