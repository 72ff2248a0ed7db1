"""Responses whose parameters are all probabilities, with conjugate Beta and Dirichlet priors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar, TypeAlias

import numpy as np
from scipy.special import expit, log_expit, softmax, xlogy

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories import misleading
from reliabayes.families.categories.gibbs import conjugate_of
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem, prevalence_at
from reliabayes.inference.conjugate import Conjugate, ParameterLayout, RatingEvents
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected

LOG_ODDS = np.linspace(-20, 20, 161)  # grid of the log odds of knowing


OfPoint: TypeAlias = Callable[[Point, CategoricalProblem], Array]
OfExpected: TypeAlias = Callable[[Point, Expected, CategoricalProblem], Point]
BetterStep: TypeAlias = Callable[[Point, Expected, CategoricalProblem], Point | None]
OfPositions: TypeAlias = Callable[[Mapping[str, Codes], CategoricalProblem], RatingEvents]
Observed: TypeAlias = Callable[[Expected, CategoricalProblem], Expected]


@dataclass(frozen=True, eq=False, kw_only=True)
class ByCounts:
    """A response whose parameters are all probabilities, so that expected ratings count for them.

    Attributes
    ----------
    pseudo_counts : callable
        Of a point, the counts that are expected there, and the problem: parameters of the Beta
        (..., 2) and Dirichlet (..., K) posteriors, by parameter. Priors count as they do on Stan's
        unconstrained scale, where the mode of a Dirichlet is its mean; so there always is one,
        inside the simplex.
    probabilities : callable or None
        Of a point and the problem: probabilities of a rating (..., [R,] K, K) by true category;
        None if they also depend on other ratings.
    log_table : callable or None
        Log-probabilities (..., H, V) of a rating, by state and cell; by default those of
        ``probabilities``.
    outcomes : callable or None
        Of positions of probabilities, by parameter, and the problem: what ratings are outcomes of;
        None if only NUTS can sample from the posterior.
    known : str or None
        Name of the probability of knowing, if raters who do not know the true category guess it.
    better_step : callable or None
        Makes an M step, as ``pseudo_counts`` makes counts; None where that of counts is better.
    observed : callable or None
        What of expected counts is as good as observed; by default all.
    takes_many : bool
        Whether probabilities are of points (B, ...) at once.
    """

    lasting_priors: ClassVar[tuple[str, ...]] = (MISLEADING.name,)

    pseudo_counts: OfExpected
    probabilities: OfPoint | None = None
    log_table: OfPoint | None = None
    outcomes: OfPositions | None = None
    known: str | None = None
    better_step: BetterStep | None = None
    observed: Observed | None = None
    takes_many: bool = False

    def confusion(self, point: Point, problem: CategoricalProblem) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category."""
        return None if self.probabilities is None else self.probabilities(point, problem)

    def table(self, point: Point, problem: CategoricalProblem) -> Array:
        """Log-probabilities (..., H, V) of a rating, by state of the item and cell."""
        if self.log_table is not None:
            return self.log_table(point, problem)
        assert self.probabilities is not None
        confusion = self.probabilities(point, problem)
        if problem.has_raters:
            last = confusion.swapaxes(-3, -2).swapaxes(-2, -1)  # as moveaxis, in no time
            confusion = last.reshape(*last.shape[:-2], -1)
        with np.errstate(divide="ignore"):
            return np.log(confusion)

    def maximise(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Normalised pseudo-counts, uniform where there are none, unless a better step is known."""
        if self.better_step is not None:
            found = self.better_step(point, expected, problem)
            if found is not None:
                return {**found, **misleading.most_likely(expected, problem)}
        counts = self._all_counts(point, expected, problem)
        return {each.name: _normalised(each, counts[each.name]) for each in problem.parameters}

    def log_prior(self, point: Point, problem: CategoricalProblem) -> float:
        """Prior counts times log-probabilities."""
        return sum(
            float(xlogy(problem.priors[each.name], _outcomes(each, point[each.name])).sum())
            for each in problem.parameters
        )

    def posterior_sd(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        """Those of the posteriors if the expected ratings were observed."""
        if self.observed is not None:
            expected = self.observed(expected, problem)
        counts = self._all_counts(point, expected, problem)
        found = {each.name: each.unconstrained_sd(counts[each.name]) for each in problem.parameters}
        if self.known is not None:
            found[self.known] = self._sd_of_known(self.known, point, expected, problem)
        return found

    def draw_from_prior(
        self, problem: CategoricalProblem, rng: np.random.Generator, given: Point
    ) -> Point:
        """Parameters drawn from their priors."""
        none = np.zeros((problem.n_categories, problem.n_cells))
        counts = self._all_counts(problem.middle, Expected(none, none[:, 0]), problem)
        gammas = {name: rng.standard_gamma(np.maximum(x, 1e-300)) for name, x in counts.items()}
        return {each.name: _normalised(each, gammas[each.name]) for each in problem.parameters}

    def conjugate(self, problem: CategoricalProblem) -> Conjugate | None:
        """What Gibbs sampling needs: the ratings, and what they count for."""
        if self.outcomes is None:
            return None
        layout = ParameterLayout.of(problem.parameters, problem.size)
        fixed = None if "prevalence" in layout.at else prevalence_at({}, problem)
        return conjugate_of(problem, layout, self.outcomes(layout.at, problem), fixed)

    def _all_counts(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
        own = self.pseudo_counts(point, expected, problem)
        return {**own, **misleading.counts(expected, problem)}

    def _sd_of_known(
        self, name: str, point: Point, expected: Expected, problem: CategoricalProblem
    ) -> Array:
        """Standard deviations of the probability of knowing, from its own likelihood.

        A right rating may be known or guessed, so that counts of known ratings are not observed:
        where guesses explain nearly all, only the prior bounds the log odds of knowing from below.
        """
        shape = np.shape(point[name])
        log_density = np.empty((len(LOG_ODDS), np.size(point[name])))
        for row, odds in zip(log_density, LOG_ODDS, strict=True):
            table = self.table({**point, name: np.full(shape, expit(odds))}, problem)
            by_cell = np.where(expected.ratings > 0, expected.ratings * table, 0).sum(axis=0)
            row[:] = np.bincount(problem.cells.rater, by_cell, minlength=row.size)
        a, b = problem.priors[name]
        log_density += (a * log_expit(LOG_ODDS) + b * log_expit(-LOG_ODDS))[:, None]
        weight = softmax(log_density, axis=0)
        mean = LOG_ODDS @ weight
        # The tails are as heavy as the prior's and need longer steps than the centre.
        stretch = 1.5 if min(a, b) < 1 else 1.0
        return np.asarray(stretch * np.sqrt(LOG_ODDS**2 @ weight - mean**2).reshape(shape))


def _normalised(parameter: Parameter, counts: Array) -> Array:
    total = counts.sum(axis=-1, keepdims=True)
    uniform = np.full_like(counts, 1 / counts.shape[-1])
    proportions = np.divide(counts, total, out=uniform, where=total > 0)
    return np.asarray(proportions if parameter.support == "simplex" else proportions[..., 0])


def _outcomes(parameter: Parameter, value: Array) -> Array:
    """Probabilities of all outcomes, along the last axis."""
    return value if parameter.support == "simplex" else np.stack([value, 1 - value], axis=-1)
