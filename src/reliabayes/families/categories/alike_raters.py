"""Raters who are all alike: they know the true category, or guess."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.categories.know_or_guess import known_and_guessed, known_positions
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.conjugate import RatingEvents
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.item_mixture import Expected


@dataclass(frozen=True, eq=False)
class Numbers:
    """How many values accuracy and guesses have: 1, or one for each true category.

    Attributes
    ----------
    accuracies, guesses : int
        Number of values of a and of p.
    """

    accuracies: int
    guesses: int

    def stan_data(self) -> StanData:
        """Both numbers."""
        return StanData({"A": self.accuracies, "P": self.guesses})


def probabilities(point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities of ratings (..., K, K) by true category."""
    known, guess = point["a"][..., None], point["p"]
    return np.asarray(known * np.eye(guess.shape[-1]) + (1 - known) * guess)


def outcomes(at: Mapping[str, Codes], problem: CategoricalProblem) -> RatingEvents:
    """Each rating is known, or a guess."""
    shape = problem.n_categories, problem.n_cells
    known, unknown = (
        np.broadcast_to(each[:, None], shape) for each in (at["a"][:, 0], at["a"][:, 1])
    )
    return RatingEvents(
        known=known_positions(known, problem),
        guessed=(unknown, np.broadcast_to(at["p"], shape)),
        proportion=np.ones(problem.n_cells),
    )


def pseudo_counts(point: Point, expected: Expected, problem: CategoricalProblem[Numbers]) -> Point:
    """Expected ratings that were accurate, and those that were guessed."""
    n_categories = problem.n_categories
    known = np.broadcast_to(point["a"], n_categories)
    guess = np.broadcast_to(point["p"], (n_categories, n_categories))
    knew, guessed = known_and_guessed(expected.ratings, known, guess)
    outcomes = np.stack([knew, guessed.sum(axis=1)], axis=-1)
    return {
        "prevalence": expected.items + problem.priors["prevalence"],
        "a": _pooled(outcomes, problem.own.accuracies) + problem.priors["a"],
        "p": _pooled(guessed, problem.own.guesses) + problem.priors["p"],
    }


def _pooled(counts: Array, size: int) -> Array:
    """Counts of each true category, or of all together."""
    return counts.sum(axis=0, keepdims=True) if size == 1 else counts
