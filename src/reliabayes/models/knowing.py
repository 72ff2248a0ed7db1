"""Raters who know the true category or else guess: what t-a-p, MACE and groupthink share."""

from __future__ import annotations

import numpy as np

from reliabayes.models.annotation import ONE, Array, Data, by_rater
from reliabayes.parameters import Parameter


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


def shared_prevalence(is_shared: bool) -> tuple[Parameter, ...]:
    """The parameter of a prevalence that may be fixed instead."""
    return (Parameter("prevalence", "simplex", (ONE, "true_category")),) if is_shared else ()
