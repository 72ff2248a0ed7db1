"""Raters who know the true category or guess: bases of t-a-p, MACE and groupthink."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit, softmax
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.inference.conjugate import NONE, Outcomes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases import misleading
from reliabayes.models.bases.annotation import SHARED, by_rater
from reliabayes.models.bases.conjugate import ConjugateModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.priors import Dirichlet, RestrictedNormal

LOG_ODDS = np.linspace(-20, 20, 161)  # grid of the log odds of knowing
NEWTON_STEPS, ACCURACY = 30, 1e-9  # of the most likely probability of knowing
SURE = 1 - 1e-9  # probability of knowing from which on guesses are too rare to be estimated

P = TypeVar("P", bound=CategoricalProblem, default=Any)


def known_or_guessed(known: Array, guess: Array) -> Array:
    """Confusion (..., R, K, K): probability known (..., R) of the true category, else a guess."""
    guessed = (1 - known)[..., None] * guess
    found = np.repeat(guessed[..., None, :], guess.shape[-1], axis=-2)
    np.einsum("...hh->...h", found)[...] += known[..., None]
    return found


def known_and_guessed(expected: Array, known: Array, guess: Array) -> tuple[Array, Array]:
    """Expected ratings, split into those by raters who knew and those guessed.

    Parameters
    ----------
    expected : array of shape (..., K, K)
        Expected ratings by true category (rows) and category.
    known : array of shape (..., K)
        Probability of knowing the true category, by true category.
    guess : array of shape (..., K, K)
        Probabilities of a guess, by true category.

    Returns
    -------
    knew : array of shape (..., K)
        Ratings by raters who knew, by true category.
    guessed : array of shape (..., K, K)
        Guessed ratings, by true category and category.
    """
    right = np.diagonal(expected, axis1=-2, axis2=-1)
    lucky = (1 - known) * np.diagonal(guess, axis1=-2, axis2=-1)
    total = known + lucky
    knew = right * np.divide(known, total, out=np.zeros_like(total), where=total > 0)
    guessed = expected.copy()
    every = np.arange(expected.shape[-1])
    guessed[..., every, every] -= knew
    return knew, guessed


def most_likely(expected: Array) -> tuple[Array, Array]:
    """Most likely probabilities of knowing (R,), and of guesses (R, K), of each rater.

    Parameters
    ----------
    expected : array of shape (R, K, K)
        Expected ratings by rater, true category (rows) and category.

    Notes
    -----
    Of a rater with the proportions m of ratings and w of wrong ones in each category, the
    probabilities u of guessing a category solve w / u + (m - w) / (a + u) = 1, a quadratic. The sum
    of a and all u is convex in a, and 1 at a = 0 and at the solution, if there is a positive one.
    """
    # Categories come first: NumPy is slow along the few of each rater.
    m = expected.sum(axis=1).T.copy()
    right = np.diagonal(expected, axis1=1, axis2=2).T.copy()
    n_ratings = np.where(m.any(axis=0), m.sum(axis=0), 1)
    m, right = m / n_ratings, right / n_ratings
    w = np.maximum(m - right, 0)
    purity = np.divide(right, m, out=np.zeros_like(m), where=m > 0).sum(axis=0)
    highest = np.where(purity > 1, right.sum(axis=0), 0)
    # With two categories these are the solutions, if items of both are expected.
    rows = expected.sum(axis=2).T
    of_row = np.divide(right * n_ratings, rows, out=np.zeros_like(rows), where=rows > 0)
    known = np.clip((of_row.sum(axis=0) - 1) / (len(m) - 1), 0, highest)
    for _ in range(NEWTON_STEPS):
        left = m - known
        root = np.sqrt(left**2 + 4 * w * known)
        bend = np.divide(2 * w - left, root, out=np.zeros_like(root), where=root > 0)
        slope = 1 + (bend - 1).sum(axis=0) / 2
        excess = known + (left + root).sum(axis=0) / 2 - 1
        # Where the sum falls, the solution is further up.
        step = np.divide(excess, slope, out=known - highest, where=slope > 0)
        before, known = known, np.clip(known - step, 0, highest)
        if np.abs(known - before).max() < ACCURACY:
            break
    left = m - known
    guessed = left + np.sqrt(left**2 + 4 * w * known)
    total = guessed.sum(axis=0)
    uniform = np.full_like(guessed, 1 / len(guessed))
    return known, np.divide(guessed, total, out=uniform, where=total > 0).T


def known_if_right(at: Codes, problem: CategoricalProblem) -> Codes:
    """Positions (K, V) of probabilities of knowing, where a rating is the true category.

    Parameters
    ----------
    at : array of int, shape (V,) or (K, V)
        Position of the probability that the rater knows, by cell and maybe by true category.
    problem : CategoricalProblem
        That of the ratings.
    """
    is_right = np.arange(problem.n_categories)[:, None] == problem.cells.category
    return np.where(is_right, at, NONE)


class KnowOrGuessModel(ConjugateModel[P]):
    """A model of raters who know the true category with some probability, or else guess."""

    known: ClassVar[str] = "a"  # name of the probability of knowing

    def posterior_sd(self, point: Point, expected: Expected, problem: P) -> Point:
        """As for all counts, but for the probability of knowing from its own likelihood.

        A right rating may be known or guessed, so that counts of known ratings are not observed:
        where guesses explain nearly all, only the prior bounds the log odds of knowing from below.
        """
        found = {**super().posterior_sd(point, expected, problem)}
        rater = problem.cells.rater
        shape = point[self.known].shape
        log_density = np.empty((len(LOG_ODDS), found[self.known].size))
        for row, odds in zip(log_density, LOG_ODDS, strict=True):
            table = self.table({**point, self.known: np.full(shape, expit(odds))}, problem)
            by_cell = np.where(expected.ratings > 0, expected.ratings * table, 0).sum(axis=0)
            row[:] = np.bincount(rater, by_cell, minlength=row.size)
        a, b = problem.priors[self.known]
        log_density += (a * log_expit(LOG_ODDS) + b * log_expit(-LOG_ODDS))[:, None]
        weight = softmax(log_density, axis=0)
        mean = LOG_ODDS @ weight
        # The tails are as heavy as the prior's and need longer steps than the centre.
        stretch = 1.5 if min(a, b) < 1 else 1.0
        found[self.known] = stretch * np.sqrt(LOG_ODDS**2 @ weight - mean**2).reshape(shape)
        return found


@dataclass(frozen=True, eq=False, kw_only=True)
class PrevalenceProblem(CategoricalProblem):
    """Ratings in categories whose prevalence is a parameter, or fixed.

    Attributes
    ----------
    is_shared : bool
        Whether the prevalence is a parameter that all items share.
    mean_prevalence : array of shape (K,)
        The fixed one, where it is not.
    """

    is_shared: bool
    mean_prevalence: Array

    def stan_data(self) -> StanData:
        """As for all problems, and the prevalence."""
        own = {"shared": int(self.is_shared), "mean_prevalence": self.mean_prevalence}
        return super().stan_data() | StanData(values=own)


Q = TypeVar("Q", bound=PrevalenceProblem, default=Any)


class PrevalenceModel(KnowOrGuessModel[Q]):
    """A model whose prevalence is a parameter that items share, or fixed."""

    def prevalence_at(self, point: Point, problem: Q) -> Array:
        """Probabilities (..., K) of the true categories."""
        return point["prevalence"][..., 0, :] if problem.is_shared else problem.mean_prevalence


class GuessingModel(PrevalenceModel[PrevalenceProblem]):
    """A model in which each rater knows, or else guesses by probabilities of their own."""

    # Guesses that are hardly ever made have long tails in log odds.
    target_acceptance: ClassVar[float] = 0.95

    guess: ClassVar[str] = "p"  # name of the probabilities of guesses

    def confusion(self, point: Point) -> Array:
        """Probabilities of ratings (..., R, K, K) by true category."""
        return known_or_guessed(point[self.known], point[self.guess])

    def outcomes(self, at: Mapping[str, Codes], problem: PrevalenceProblem) -> Outcomes:
        """Each rating is known, or one of its rater's guesses."""
        cells, shape = problem.cells, (problem.n_categories, problem.n_cells)
        known, unknown = at[self.known][cells.rater].T
        guess = at[self.guess][cells.rater, cells.category]
        return Outcomes(
            known=known_if_right(known, problem),
            guessed=(np.broadcast_to(unknown, shape), np.broadcast_to(guess, shape)),
            proportion=np.ones(problem.n_cells),
        )

    def maximise(self, point: Point, expected: Expected, problem: PrevalenceProblem) -> Point:
        """As for all counts; without priors the most likely parameters of each rater.

        Without priors nothing but ratings bounds the probabilities from 0, and EM that splits
        ratings into known and guessed ones takes hundreds of steps.
        """
        if any(problem.priors[name].any() for name in (self.known, self.guess)):
            return super().maximise(point, expected, problem)
        known, guess = most_likely(by_rater(expected, problem))
        # Of raters who nearly always know, rounding would decide what they guess.
        guess = np.where(known[:, None] < SURE, guess, point[self.guess])
        found = {self.known: known, self.guess: guess}
        if problem.is_shared:
            found["prevalence"] = (expected.items / expected.items.sum())[None]
        return {**found, **misleading.most_likely(expected, problem)}

    def pseudo_counts(self, point: Point, expected: Expected, problem: PrevalenceProblem) -> Point:
        """Expected ratings that were known, and those that were guessed."""
        known, guess = point[self.known], point[self.guess]
        counts = by_rater(expected, problem)
        by_truth = np.broadcast_to(known[:, None], counts.shape[:2])
        knew, guessed = known_and_guessed(
            counts, by_truth, np.broadcast_to(guess[:, None, :], counts.shape)
        )
        outcomes = np.stack([knew.sum(-1), guessed.sum((-2, -1))], axis=-1)
        return {
            "prevalence": (expected.items + problem.priors["prevalence"])[None],
            self.known: outcomes + problem.priors[self.known],
            self.guess: guessed.sum(-2) + problem.priors[self.guess],
        }


def shared_prevalence(is_shared: bool) -> tuple[Parameter, ...]:
    """The parameter of a prevalence that may be fixed instead."""
    return (Parameter("prevalence", "simplex", (SHARED, "true_category")),) if is_shared else ()


def check_prevalence(prevalence: str, prior_t: object) -> None:
    """Refuse an unknown option, or a prior that a shared prevalence cannot have."""
    if prevalence not in ("item", "shared"):
        raise ValueError(f"prevalence must be 'item' or 'shared', not {prevalence!r}.")
    if prevalence == "shared" and not isinstance(prior_t, Dirichlet):
        raise TypeError(
            f"prior_t must be a Dirichlet if prevalence='shared', not {prior_t}. Pass a "
            "Dirichlet, or prevalence='item'."
        )


def prior_of_shared(prior_t: Dirichlet | RestrictedNormal, n_categories: int) -> Array:
    """Concentrations (K,) of the prevalence; of a fixed one they have no effect."""
    shared = prior_t if isinstance(prior_t, Dirichlet) else Dirichlet()
    return shared.of(n_categories)
