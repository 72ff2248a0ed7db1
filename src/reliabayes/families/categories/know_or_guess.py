"""Raters who know the true category, or guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.problem import CategoricalProblem, by_rater
from reliabayes.inference.conjugate import NONE, RatingEvents
from reliabayes.inference.em import Point
from reliabayes.inference.newton import Newton
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.sampling.thresholds import Adaptation

NEWTON = Newton(30, 1e-9)  # of the most likely probability of knowing
SURE = 1 - 1e-9  # probability of knowing from which on guesses are too rare to be estimated


@dataclass(frozen=True)
class KnowOrGuess:
    """Raters who each know the true category, or else guess by probabilities of their own.

    Attributes
    ----------
    known, guess : str
        Names of the probability of knowing (R,), and of those of guesses (R, K).
    """

    known: str
    guess: str

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Both."""
        return (
            Parameter(self.known, "unit", ("rater",)),
            Parameter(self.guess, "simplex", ("rater", "category")),
        )

    def family(self, adaptation: Adaptation) -> Categories:
        """The family of models with such raters, to whose posteriors NUTS adapts like this."""
        response = ByCounts(
            probabilities=self.probabilities,
            pseudo_counts=self.pseudo_counts,
            outcomes=self.outcomes,
            known=self.known,
            better_step=self.most_likely,
        )
        return Categories(response=response, guess=self.guess, adaptation=adaptation)

    def probabilities(self, point: Point, problem: CategoricalProblem) -> Array:
        """Probabilities of ratings (..., R, K, K) by true category."""
        return known_or_guessed(point[self.known], point[self.guess])

    def outcomes(self, at: Mapping[str, Codes], problem: CategoricalProblem) -> RatingEvents:
        """Each rating is known, or one of its rater's guesses."""
        cells, shape = problem.cells, (problem.n_categories, problem.n_cells)
        known, unknown = at[self.known][cells.rater].T
        guess = at[self.guess][cells.rater, cells.category]
        return RatingEvents(
            known=known_positions(known, problem),
            guessed=(np.broadcast_to(unknown, shape), np.broadcast_to(guess, shape)),
            proportion=np.ones(problem.n_cells),
        )

    def most_likely(
        self, point: Point, expected: Expected, problem: CategoricalProblem
    ) -> Point | None:
        """Without priors the most likely parameters of each rater.

        Without priors nothing but ratings bounds the probabilities from 0, and EM that splits
        ratings into known and guessed ones takes hundreds of steps.
        """
        if any(problem.priors[name].any() for name in (self.known, self.guess)):
            return None
        known, guess = most_likely(by_rater(expected, problem))
        # Of raters who nearly always know, rounding would decide what they guess.
        guess = np.where(known[:, None] < SURE, guess, point[self.guess])
        found = {self.known: known, self.guess: guess}
        if "prevalence" in problem.dims:
            found["prevalence"] = (expected.items / expected.items.sum())[None]
        return found

    def pseudo_counts(self, point: Point, expected: Expected, problem: CategoricalProblem) -> Point:
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
    for _ in range(NEWTON.steps):
        left = m - known
        root = np.sqrt(left**2 + 4 * w * known)
        bend = np.divide(2 * w - left, root, out=np.zeros_like(root), where=root > 0)
        slope = 1 + (bend - 1).sum(axis=0) / 2
        excess = known + (left + root).sum(axis=0) / 2 - 1
        # Where the sum falls, the solution is further up.
        step = np.divide(excess, slope, out=known - highest, where=slope > 0)
        before, known = known, np.clip(known - step, 0, highest)
        if np.abs(known - before).max() < NEWTON.last:
            break
    left = m - known
    guessed = left + np.sqrt(left**2 + 4 * w * known)
    total = guessed.sum(axis=0)
    uniform = np.full_like(guessed, 1 / len(guessed))
    return known, np.divide(guessed, total, out=uniform, where=total > 0).T


def known_positions(at: Codes, problem: CategoricalProblem) -> Codes:
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
