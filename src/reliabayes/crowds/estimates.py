"""Quick estimates of true categories from weighted votes: raters with one accuracy, or a hierarchy.

Both are variational: a vote counts by the expected logarithm of its probability.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

import numpy as np
from scipy.special import digamma, expit, log_expit, softmax

from reliabayes.arrays import Array
from reliabayes.crowds.votes import Votes

PREVALENCE = 0.5  # items that each category counts as besides
FIRST = 0.3  # votes for each category besides those on an item, from which the hierarchy starts
LOCATION = 1.5  # prior mean of the log odds that a typical rater is right; its sd is 1
SMALLEST = 1e-3  # of variances and of concentrations, whose largest is its reciprocal
ENOUGH = 1e-5  # largest change of a probability in the last round
ROUNDS = 100

State = TypeVar("State")


@dataclass(frozen=True, eq=False)
class Estimate:
    """True categories, and what they depend on.

    Attributes
    ----------
    probability : array of shape (I, K)
        Of each true category of each item.
    log_prevalence : array of shape (K,)
        Logarithms of the probabilities of a category before the votes.
    log_vote : array of shape (N, K)
        Expected logarithm of the probability of each vote, by true category.
    confusion : array of shape (R, K, K)
        Probabilities of each rater's votes by true category.
    """

    probability: Array
    log_prevalence: Array
    log_vote: Array
    confusion: Array


def log_odds(estimate: Estimate, votes: Votes, weight: Array) -> Array:
    """Logarithms (I, K) of the probabilities of true categories, up to a constant of each item.

    Parameters
    ----------
    estimate : Estimate
        What votes say.
    votes : Votes
        The votes.
    weight : array of shape (N,)
        How many independent votes each counts as.

    Returns
    -------
    array
    """
    of_votes = votes.by_item @ (weight[:, None] * estimate.log_vote)
    return np.asarray(estimate.log_prevalence + of_votes)


def one_coin(votes: Votes, weight: Array) -> Estimate:
    """Raters who are right with a probability of their own, and else name any other category.

    It has so few parameters that errors which two raters share cannot pass for a habit of them.

    Parameters
    ----------
    votes : Votes
        The votes.
    weight : array of shape (N,)
        How many independent votes each counts as.

    Returns
    -------
    Estimate
    """
    eye, others = np.eye(votes.shape[2], dtype=bool), votes.shape[2] - 1

    def step(probability: Array, prior: Array) -> tuple[Estimate, Array]:
        right = votes.by_rater @ probability[votes.item, votes.category]
        counts = np.stack([right, votes.per_rater - right], axis=1)
        prior = _better_concentration(counts, prior)
        total = counts + prior
        log = digamma(total) - digamma(total.sum(axis=1, keepdims=True))
        log[:, 1] -= np.log(others)
        accuracy = (total[:, 0] / total.sum(axis=1))[:, None, None]
        confusion = np.where(eye, accuracy, (1 - accuracy) / others)
        of_vote = log[votes.rater]
        log_vote = np.where(votes.is_for, of_vote[:, :1], of_vote[:, 1:])
        return Estimate(probability, _log_prevalence(probability), log_vote, confusion), prior

    return _climbed(votes, weight, 0.0, step, np.array([2.0, 1.0]))


def hierarchy(votes: Votes, weight: Array) -> Estimate:
    """Raters whose log odds of being right vary by true category around those of a typical rater.

    The log odds of a rater are ``location[h] + x[h]`` with ``x ~ N(0, s^2 11' + d^2 I)``, by
    Laplace approximation: s is the sd of an ability that all errors share. Wrong categories have
    Dirichlet distributions common to all raters.

    Parameters
    ----------
    votes : Votes
        The votes.
    weight : array of shape (N,)
        How many independent votes each counts as.

    Returns
    -------
    Estimate
    """
    _, n_raters, k = votes.shape
    eye = np.eye(k, dtype=bool)

    def step(probability: Array, abilities: _Abilities) -> tuple[Estimate, _Abilities]:
        by_category = votes.by_rater_and_category @ probability[votes.item]
        counts = by_category.reshape(n_raters, k, k).swapaxes(1, 2)
        found = _better_abilities(counts, abilities)
        theta, right = found.location + found.deviation, expit(found.location + found.deviation)
        spread = -0.5 * found.variance * right * (1 - right)  # of theta lowers expected logarithms
        log, confusion = np.empty((n_raters, k, k)), np.empty((n_raters, k, k))
        log_wrong = log_expit(-theta) + spread
        for h in range(k):
            others = np.arange(k) != h
            pseudo = counts[:, h][:, others] + found.wrong[h][others]
            total = pseudo.sum(axis=1, keepdims=True)
            log[:, h, others] = log_wrong[:, h, None] + digamma(pseudo) - digamma(total)
            confusion[:, h, others] = (1 - right[:, h, None]) * pseudo / total
        log[:, eye], confusion[:, eye] = log_expit(theta) + spread, right
        log_vote = log[votes.rater, :, votes.category]
        return Estimate(probability, _log_prevalence(probability), log_vote, confusion), found

    start = _Abilities(
        np.full(k, LOCATION),
        np.zeros((n_raters, k)),
        np.zeros((n_raters, k)),
        1.0,
        0.3,
        np.ones((k, k)),
    )
    return _climbed(votes, weight, FIRST, step, start)


@dataclass(frozen=True, eq=False)
class _Abilities:
    """Log odds of being right, and how raters err."""

    location: Array  # (K,) of a typical rater
    deviation: Array  # (R, K) of each rater
    variance: Array  # (R, K) of these given the votes
    shared: float  # variance of what all true categories share
    own: float  # variance of what each adds
    wrong: Array  # (K, K) concentrations of wrong categories


def _better_abilities(counts: Array, old: _Abilities) -> _Abilities:
    """Two Newton steps for each rater, one for the typical rater, and variances by EM."""
    n_raters, k, _ = counts.shape
    right, total = np.einsum("rhh->rh", counts), counts.sum(axis=2)
    prior = np.linalg.inv(np.full((k, k), old.shared) + old.own * np.eye(k))
    x, location, eye = old.deviation, old.location, np.eye(k)
    for _ in range(2):
        p = expit(location + x)
        precision = prior + (total * p * (1 - p))[:, :, None] * eye
        covariance = np.linalg.inv(precision)
        gradient = right - total * p - x @ prior
        x = x + np.clip((covariance @ gradient[:, :, None])[..., 0], -1, 1)
    p = expit(location + x)
    gradient = (right - total * p).sum(axis=0) - (location - LOCATION)
    step = gradient / ((total * p * (1 - p)).sum(axis=0) + 1)
    second = (x.T @ x + covariance.sum(axis=0)) / n_raters
    shared = (second.sum() - second.trace()) / (k * (k - 1))
    wrong = old.wrong.copy()
    for h in range(k):
        others = np.arange(k) != h
        wrong[h, others] = _better_concentration(counts[:, h][:, others], wrong[h, others])
    return _Abilities(
        location + np.clip(step, -0.5, 0.5),
        x,
        np.einsum("rhh->rh", covariance),
        max(shared, SMALLEST),
        max(second.trace() / k - shared, SMALLEST),
        wrong,
    )


def _better_concentration(counts: Array, concentration: Array) -> Array:
    """A fixed-point step to the mode (K,) of a Dirichlet prior of rows of counts (R, K).

    The last terms are those of a weak Gamma prior.

    References
    ----------
    Minka (2000), Estimating a Dirichlet distribution, equation 55.
    """
    total = concentration.sum()
    gain = (digamma(counts + concentration) - digamma(concentration)).sum(axis=0)
    scale = (digamma(counts.sum(axis=1) + total) - digamma(total)).sum()
    better = (gain * concentration + 0.1) / (scale + 0.02)
    return np.asarray(np.clip(better, SMALLEST, 1 / SMALLEST))


def _log_prevalence(probability: Array) -> Array:
    total = probability.sum(axis=0) + PREVALENCE
    return np.asarray(np.log(total / total.sum()))


def _climbed(
    votes: Votes,
    weight: Array,
    besides: float,
    step: Callable[[Array, State], tuple[Estimate, State]],
    state: State,
) -> Estimate:
    """What steps from the proportions of votes lead to."""
    first = votes.counts + besides
    probability = first / first.sum(axis=1, keepdims=True)
    for _ in range(ROUNDS):
        found, state = step(probability, state)
        new = softmax(log_odds(found, votes, weight), axis=1)
        change = np.abs(new - probability).max()
        probability = new
        if change < ENOUGH:
            break
    return Estimate(probability, found.log_prevalence, found.log_vote, found.confusion)
