"""Hierarchical Dawid-Skene: each rater has a confusion matrix, and raters resemble one another."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
import pandas as pd
from scipy.special import xlogy

from reliabayes.arrays import Array
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.densities import half_t, log_half_t, log_normal
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.log_odds import (
    LOG_SPREAD,
    LogOddsProblem,
    confusion_matrices,
    errors_of,
    improved_spread,
    information,
    log_odds_at,
    log_probabilities,
    newton_steps,
    own_log_odds,
    spread_weights,
    weighted_sd,
)
from reliabayes.inference.log_odds_centring import LogOddsCentring, inverse_softplus
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart, extended
from reliabayes.inference.stan import Draws
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases import compiled_em, misleading
from reliabayes.models.bases.annotation import CONFUSION_QUANTITIES, by_rater
from reliabayes.models.bases.conjugate import hierarchical
from reliabayes.models.bases.hierarchical_problem import HierarchicalProblem
from reliabayes.models.bases.hierarchy_em import compiled_climb
from reliabayes.models.bases.rater_effects import RaterEffectsModel
from reliabayes.models.priors import Dirichlet, HalfNormal, HalfStudentT, Normal
from reliabayes.models.similar_raters import named_by_prior, point_of_similar_raters
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

# Proportion of the information that known true categories would give, from which the curvature at
# the mode is a good guide to the posterior.
ENOUGH_INFORMATION = 0.75
MANY_RATERS, LONG_TAIL = 100, 0.5  # paths are too short for a log spread of theirs with this sd
SOFTNESS = 0.5  # of a spread, over its size: makes half of a normal distribution nearly normal
# Laplace approximations of a climb with a fine tolerance, and the gain in nats that ends it.
MAX_ROUNDS, SMALL_GAIN, FINE_TOLERANCE = 5, 0.01, 1e-3


@dataclass(frozen=True, kw_only=True)
class HierarchicalDawidSkene(RaterEffectsModel[HierarchicalProblem]):
    r"""True categories of items, and confusion matrices of raters who resemble one another.

    .. math:: \log(\pi_{jhk} / \pi_{jhh}) = \mu_{hk} + \sigma_{hk}\, z_{jhk},
        \quad z_{jhk} \sim N(0, 1), \quad k \ne h

    with the confusion matrices pi of raters j, whose rows are true categories. Dawid-Skene
    estimates each matrix by itself; here the estimate for a rater with few ratings also uses those
    of the other raters (partial pooling). An error is a true category h with a wrong one k.
    `Fit.new_rater` has the accuracy of another rater.

    Quantities: ``prevalence`` (K,); ``typical_confusion`` (K, K), of a rater whose log odds are the
    mean ones, ``location``, and ``spread``, the standard deviation of log odds between raters, both
    by error (K (K - 1),); of each rater ``confusion`` (K, K), ``accuracy`` and ``random_share`` in
    [0, 1], ``informativeness`` in bits; ``log_likelihood`` in nats and ``bits_per_rating``, with
    true categories marginalised.

    Parameters
    ----------
    prior_prevalence : Dirichlet
        Prior of the prevalence.
    prior_location : Normal
        Prior of the mean log odds of a wrong rating against a right one, if there were one wrong
        category; with several, log(K - 1) is subtracted, because they share it. The default
        expects a typical rater to be right with probability 0.82 to 0.85 for any K. This prior
        names the true categories, so its sd must be finite.
    prior_spread : HalfNormal or HalfStudentT
        Prior of the spread of each error.
    prior_misleading : Beta, optional
        Of the probability that an item misleads its raters; by default none does.

    Notes
    -----
    The reference of the log odds is the right category, not the last one as published, so that the
    prior treats all categories alike. `em` maximises the posterior density of location and spread
    whether priors are asked for or not, because only these priors make raters resemble one another;
    effects of raters are at their mode, with their uncertainty by a Laplace approximation.

    References
    ----------
    Paun et al. (2018). https://doi.org/10.1162/tacl_a_00040
    """

    summary: ClassVar[str] = "true categories, and confusion matrices of raters who are alike"
    has_cheap_climbs: ClassVar[bool] = True
    has_tables_of_many: ClassVar[bool] = True
    cold_acceptance: ClassVar[float] = 0.95
    reports: ClassVar[tuple[str, ...]] = (
        "prevalence",
        "typical_confusion",
        "location",
        "spread",
        *CONFUSION_QUANTITIES,
    )

    prior_prevalence: Dirichlet = Dirichlet(1.0)
    prior_location: Normal = Normal(-2.0, 1.0)
    prior_spread: HalfNormal | HalfStudentT = HalfNormal(1.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not math.isfinite(self.prior_location.sd):
            raise ValueError(
                "prior_location must have a finite sd, because it alone identifies the "
                f"categories; found {self.prior_location!r}. Pass, say, Normal(-2, 2)."
            )

    def parameters(self) -> tuple[Parameter, ...]:
        """Prevalence, what raters share, and their effects."""
        return (
            Parameter("prevalence", "simplex", ("true_category",)),
            Parameter("location", "real", ("error",)),
            Parameter("spread", "positive", ("error",)),
            Parameter("effect", "real", ("error", "rater")),
            *self.shared_parameters,
        )

    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Numbers of the priors; that of the location is for one of K - 1 wrong categories."""
        mean, sd = self.prior_location.stan
        return {
            "prevalence": self.prior_prevalence.of(n_categories),
            "location": np.array([mean - math.log(n_categories - 1), sd]),
            "spread": self.prior_spread.stan,
        }

    def problem(self, ratings: Ratings) -> HierarchicalProblem:
        """Distinct items by their ratings, and priors."""
        base = self.categorical_problem(ratings)
        errors = pd.RangeIndex(base.n_categories * (base.n_categories - 1))
        return extended(
            HierarchicalProblem,
            base,
            coords={**base.coords, "error": errors},
            precision=np.zeros((len(errors), base.n_raters)),
        )

    def confusion(self, point: Point) -> Array:
        """Probabilities of ratings (..., R, K, K) by true category."""
        n_categories = point["prevalence"].shape[-1]
        return confusion_matrices(log_odds_at(point), n_categories)

    def new_rater(
        self,
        posterior: Posterior[HierarchicalProblem],
        covariates: Array,
        rng: np.random.Generator,
    ) -> dict[str, Array]:
        """One whose log odds of errors are normal around the location, with its spread."""
        effect = rng.standard_normal(posterior.draws["location"].shape)
        return self.of_one_rater(posterior, {"effect": effect[..., None]})

    def table(self, point: Point, problem: HierarchicalProblem) -> Array:
        """Log-probabilities (..., K, V) of a rating, even where too small to differ from 0."""
        return log_probabilities(log_odds_at(point), problem.n_categories)

    def more_quantities(
        self, point: Point, problem: HierarchicalProblem
    ) -> dict[str, tuple[tuple[str, ...], Array]]:
        """The confusion matrix of a rater without effects."""
        typical = confusion_matrices(point["location"], problem.n_categories)
        return {"typical_confusion": (("true_category", "category"), typical)}

    def draw_from_prior(
        self, problem: HierarchicalProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors."""
        size, (mean, sd) = problem.size("error"), problem.priors["location"]
        return {
            "prevalence": rng.dirichlet(problem.priors["prevalence"]),
            "location": mean + sd * rng.standard_normal(size),
            "spread": np.array([half_t(problem.priors["spread"], rng) for _ in range(size)]),
            "effect": rng.standard_normal((size, problem.n_raters)),
            **misleading.from_prior(problem, rng),
        }

    def conjugate(self, problem: HierarchicalProblem) -> Conjugate:
        """What Gibbs sampling needs: each rating is one of a row of its rater's matrix."""
        return hierarchical(self.parameters(), problem)

    def as_by_program(self, run: Draws, centring: StanPart | None) -> Draws:
        """A run of Gibbs sampling, with the log density of what the program samples."""
        assert isinstance(centring, LogOddsCentring)
        lp = run.statistics["lp"] + centring.log_slope_of_all(run.parameters)
        return replace(run, statistics={**run.statistics, "lp": lp})

    # Centring.

    def centring_at(self, point: Point, problem: HierarchicalProblem) -> LogOddsCentring:
        """Each rater's log odds by their own ratings, with the states expected at a point."""
        mean, precision = self._own_log_odds(point, problem)
        weight = self._spread_weights(point, mean, precision, problem)
        scale = SOFTNESS * np.sqrt(np.exp(2 * LOG_SPREAD) @ weight)
        return LogOddsCentring(mean, precision, scale)

    def without_priors(self, problem: HierarchicalProblem) -> HierarchicalProblem:
        """The same problem with a flat prior of the prevalence; the others make the model."""
        flat = np.zeros(problem.n_categories)
        return replace(problem, priors={**problem.priors, "prevalence": flat})

    def _expected_by_rater(self, point: Point, problem: HierarchicalProblem) -> tuple[Array, Array]:
        """Expected ratings (R, K, K) of each rater, and the variance of their states."""
        mixture = problem.mixture
        _, state = mixture.posterior(*self.columns(point, problem))
        expected, variance = (mixture.expected(x) for x in (state, state * (1 - state)))
        return by_rater(expected, problem), by_rater(variance, problem)

    def _own_log_odds(self, point: Point, problem: HierarchicalProblem) -> tuple[Array, Array]:
        """Mean and precision (E, R) of the log odds by the ratings expected at a point."""
        expected, _ = self._expected_by_rater(point, problem)
        mean, precision = own_log_odds(log_odds_at(point), expected)
        return mean.T, precision.T

    def _spread_weights(
        self, point: Point, mean: Array, precision: Array, problem: HierarchicalProblem
    ) -> Array:
        """Posterior (G, E) of spreads on a grid, given own log odds and the location of a point."""
        squares = (mean - point["location"][:, None]) ** 2
        return spread_weights(squares, precision, problem.priors["spread"])

    # Expectation maximisation.

    def run_em(
        self,
        problem: HierarchicalProblem,
        rng: np.random.Generator | None,
        max_iterations: int,
        tolerance: float,
    ) -> Climb:
        """EM from the votes, or from random states, first roughly with effects at their mode."""
        first = self.maximise(self.midpoint(problem), self.initial(problem, rng), problem)
        rough = self._climb(first, problem, 30, 1e-2).point
        start = named_by_prior(rough, self.confusion(rough), problem)
        return self.climb_from(start, problem, max_iterations, tolerance)

    def quick_em(
        self,
        problem: HierarchicalProblem,
        rng: np.random.Generator,
        max_iterations: int,
        tolerance: float,
    ) -> Climb:
        """EM with raters' rows drawn to those of all raters, whose steps are quick."""
        point = point_of_similar_raters(problem, rng, max_iterations, tolerance)
        return self.climb_from({**self.midpoint(problem), **point}, problem, 0, tolerance)

    def climb_from(
        self, start: Point, problem: HierarchicalProblem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from a point; the Laplace approximation is made anew where it ends."""
        found = Climb(start, (-math.inf,), False)
        for _ in range(1 if tolerance > FINE_TOLERANCE else MAX_ROUNDS):
            before = found
            _, precision = self._own_log_odds(before.point, problem)
            at_precision = replace(problem, precision=precision)
            found = self._climb(before.point, at_precision, max_iterations, tolerance)
            if abs(found.path[-1] - before.path[-1]) < SMALL_GAIN:
                break
        return found

    def _climb(
        self, start: Point, problem: HierarchicalProblem, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM with one Laplace approximation, in compiled steps where there are such."""
        if compiled_em.steps_are_compiled(problem):
            return compiled_climb(start, problem, max_iterations, tolerance)
        return super().climb_from(start, problem, max_iterations, tolerance)

    def log_prior(self, point: Point, problem: HierarchicalProblem) -> float:
        """Log density of the priors on the unconstrained scale, up to constants."""
        scaled = point["spread"][:, None] ** 2 * problem.precision
        of_spread = (log_half_t(sd, problem.priors["spread"]) for sd in point["spread"])
        return float(
            xlogy(problem.priors["prevalence"], point["prevalence"]).sum()
            + log_normal(point["location"], *problem.priors["location"]).sum()
            + sum(of_spread)
            + np.log(point["spread"]).sum()
            - 0.5 * (point["effect"] ** 2 + np.log1p(scaled)).sum()
            + misleading.log_prior(point, problem)
        )

    def maximise(self, point: Point, expected: Expected, problem: HierarchicalProblem) -> Point:
        """Improve log odds and locations by Newton steps, then spreads given these."""
        items = expected.items + problem.priors["prevalence"]
        counts = by_rater(expected, problem)
        shape = problem.n_categories, problem.n_categories - 1
        location, log_odds = newton_steps(
            LogOddsProblem(
                wrong=errors_of(counts).reshape(-1, *shape),
                total=counts.sum(axis=-1),
                precision=point["spread"].reshape(shape) ** -2,
                prior=problem.priors["location"],
            ),
            point["location"].reshape(shape),
            log_odds_at(point).reshape(-1, *shape),
        )
        away = (log_odds - location).reshape(len(counts), -1).T
        spread = improved_spread(
            point["spread"],
            (away**2).sum(axis=1),
            problem.precision,
            problem.priors["spread"],
        )
        return {
            "prevalence": items / items.sum(),
            "location": location.ravel(),
            "spread": spread,
            "effect": away / spread[:, None],
            **misleading.most_likely(expected, problem),
        }

    def posterior_sd(self, point: Point, expected: Expected, problem: HierarchicalProblem) -> Point:
        """As if the expected ratings were observed, and the likelihood of log odds were normal."""
        counts = by_rater(expected, problem)
        own, precision = (x.T for x in own_log_odds(log_odds_at(point), counts))
        spread = point["spread"][:, None]
        weight = self._spread_weights(point, own, precision, problem)
        ratio = 1 + spread**2 * precision  # variance of a log odds over that given the ratings
        return {
            "prevalence": self.parameters()[0].unconstrained_sd(
                expected.items + problem.priors["prevalence"]
            ),
            "location": (problem.priors["location"][1] ** -2 + (precision / ratio).sum(axis=1))
            ** -0.5,
            "spread": weighted_sd(LOG_SPREAD[:, None], weight),  # of its log
            "effect": np.sqrt((1 + spread**2 * problem.precision) / ratio),
            **misleading.posterior_sd(expected, problem),
        }

    def start_at(self, found: Climb, problem: HierarchicalProblem) -> WarmStart:
        """Around a mode; where true categories are uncertain, its curvature is a poor guide."""
        centring = self.centring_at(found.point, problem)
        own = centring.log_odds_mean, centring.log_odds_precision
        start = super().start_at(found, replace(problem, precision=own[1]))
        counts, variance = self._expected_by_rater(found.point, problem)
        is_poor = information(counts, variance, self.confusion(found.point)) < ENOUGH_INFORMATION
        grid = inverse_softplus(np.exp(LOG_SPREAD)[:, None], centring.spread_scale)
        of_spread = weighted_sd(grid, self._spread_weights(found.point, *own, problem))
        return replace(
            self.centred(start, found.point, centring),
            sd={**start.sd, "spread": of_spread},
            adapt_metric=is_poor
            or bool(problem.n_raters >= MANY_RATERS and start.sd["spread"].max() > LONG_TAIL),
            target_acceptance=0.95 if is_poor else 0.8,
        )
