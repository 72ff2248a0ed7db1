"""Raters who know the true category or else guess: what t-a-p, MACE and groupthink share."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from scipy.special import expit, log_expit, softmax

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.models.bases.annotation import ONE, by_rater
from reliabayes.models.bases.conjugate import CountingModel
from reliabayes.models.bases.hidden_state import Data
from reliabayes.models.priors import Dirichlet, RestrictedNormal

GRID = np.linspace(-20, 20, 161)  # log odds


def known_or_guessed(known: Array, guess: Array) -> Array:
    """Confusion (..., R, K, K): probability known (..., R) of the true category, else a guess."""
    known, guess = known[..., None, None], guess[..., None, :]
    return known * np.eye(guess.shape[-1]) + (1 - known) * guess


def known_and_guessed(expected: Array, known: Array, guess: Array) -> tuple[Array, Array]:
    """Expected ratings (..., K, K), split into those by true category known, and those guessed.

    Parameters
    ----------
    expected : (..., K, K), by true category (rows) and category
    known : (..., K), probability of knowing the true category, by true category
    guess : (..., K, K), probabilities of a guess, by true category

    Returns
    -------
    (..., K) known by true category, (..., K, K) guessed by true category and category
    """
    right = np.diagonal(expected, axis1=-2, axis2=-1)
    lucky = (1 - known) * np.diagonal(guess, axis1=-2, axis2=-1)
    total = known + lucky
    knew = right * np.divide(known, total, out=np.zeros_like(total), where=total > 0)
    guessed = expected.copy()
    every = np.arange(expected.shape[-1])
    guessed[..., every, every] -= knew
    return knew, guessed


def rater_counts(known: Array, guess: Array, expected: Array, data: Data) -> tuple[Array, Array]:
    """Expected ratings of each rater: known and not (R, 2), and guessed by category (R, K)."""
    expected = by_rater(expected, data)
    by_truth = np.broadcast_to(known[:, None], expected.shape[:2])
    knew, guessed = known_and_guessed(
        expected, by_truth, np.broadcast_to(guess[:, None, :], expected.shape)
    )
    return np.stack([knew.sum(-1), guessed.sum((-2, -1))], axis=-1), guessed.sum(-2)


class KnowingModel(CountingModel):
    """A model of raters who know the true category with some probability, or else guess."""

    known: ClassVar[str] = "a"  # name of the probability of knowing

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """As of all counts, but of the probability of knowing by its own likelihood.

        A right rating may be known or guessed, so that the counts of known ratings are not: where
        guesses explain nearly all, the log odds of knowing have no lower end but the prior's.
        """
        found = {**super().spread(point, expected, items, data)}
        rater = self.cell_rater(data)
        shape = point[self.known].shape
        log_density = np.empty((len(GRID), found[self.known].size))
        for row, odds in zip(log_density, GRID, strict=True):
            table = self.table({**point, self.known: np.full(shape, expit(odds))}, data)
            by_cell = np.where(expected > 0, expected * table, 0).sum(axis=0)
            row[:] = np.bincount(rater, by_cell, minlength=row.size)
        a, b = data[f"prior_{self.known}"]
        log_density += (a * log_expit(GRID) + b * log_expit(-GRID))[:, None]
        weight = softmax(log_density, axis=0)
        mean = GRID @ weight
        # Tails fall as slowly as the prior's, and need longer steps than the middle.
        stretch = 1.5 if min(a, b) < 1 else 1.0
        found[self.known] = stretch * np.sqrt(GRID**2 @ weight - mean**2).reshape(shape)
        return found


class GuessingModel(KnowingModel):
    """A model in which each rater knows, or else guesses by probabilities of their own."""

    acceptance: ClassVar[float] = 0.95  # a guess that is hardly made has a long tail in log odds

    guess: ClassVar[str] = "p"  # name of the probabilities of guesses

    def confusion(self, point: Point) -> Array:
        """Shares of ratings (..., R, K, K) by true category."""
        return known_or_guessed(point[self.known], point[self.guess])

    def pseudo_counts(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Expected ratings that were known, and those that were guessed."""
        known, guessed = rater_counts(point[self.known], point[self.guess], expected, data)
        return {
            "prevalence": (items + data["prior_prevalence"])[None],
            self.known: known + data[f"prior_{self.known}"],
            self.guess: guessed + data[f"prior_{self.guess}"],
        }


def shared_prevalence(is_shared: bool) -> tuple[Parameter, ...]:
    """The parameter of a prevalence that may be fixed instead."""
    return (Parameter("prevalence", "simplex", (ONE, "true_category")),) if is_shared else ()


def check_prevalence(prevalence: str, prior_t: object) -> None:
    """Refuse a choice that there is not, or a prior that it cannot have."""
    if prevalence not in ("item", "shared"):
        raise ValueError(f"prevalence must be 'item' or 'shared', not {prevalence!r}.")
    if prevalence == "shared" and not isinstance(prior_t, Dirichlet):
        raise TypeError(f"prior_t must be a Dirichlet where it is shared, not {prior_t}.")


def priors_of_t(
    prevalence: str, prior_t: Dirichlet | RestrictedNormal, n_categories: int
) -> dict[str, Any]:
    """Whether t is shared, its Dirichlet prior if it is, and its prior mean if it is not."""
    shared = prior_t if isinstance(prior_t, Dirichlet) else Dirichlet()
    return {
        "shared": int(prevalence == "shared"),
        "mean_prevalence": prior_t.mean(n_categories),
        "prior_prevalence": shared.of(n_categories),
    }
