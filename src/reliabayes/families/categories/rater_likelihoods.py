"""What each rater's own ratings say of their accuracy and guesses, given the others."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from reliabayes.arrays import IN_MEMORY, Array, blocks
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.em import Point
from reliabayes.inference.knowledge_centring import CORE, KnowledgeCentring
from reliabayes.inference.log_odds import LOG_SPREAD, SOFTNESS, spread_weights
from reliabayes.inference.widening import WIDENING

LEAST_PRECISION = 1e-3  # of the accuracy of a rater whose ratings say nothing of it


class RaterLikelihoods(NamedTuple):
    """What ratings say of raters' accuracies and guesses.

    Attributes
    ----------
    mean, precision : array of shape (R,)
        Normal approximation of the likelihood of the accuracy.
    guessed : array of shape (R, K)
        Known guesses that would say as much of the distribution of guesses.
    """

    mean: Array
    precision: Array
    guessed: Array


def rater_likelihoods(
    problem: CategoricalProblem, state: Array, log_odds: Array, alpha: Array, log_guess: Array
) -> RaterLikelihoods:
    """What each rater's ratings say of their accuracy and guesses, at a point.

    Neither true categories and difficulties of items nor who guessed are known, so that ratings say
    less than expected counts do. The curvature of the log-likelihood in an accuracy is that
    expected of known states less the variance of its slope between states (Louis's formula). In
    guesses it is about that of the squares of probabilities of having guessed.

    Parameters
    ----------
    problem : CategoricalProblem
        That of the ratings.
    state : array of shape (D, Q K)
        Probabilities of node and true category of distinct items.
    log_odds : array of shape (Q, R)
        Log odds of knowing the true category, by node.
    alpha : array of shape (R,)
        Accuracies.
    log_guess : array of shape (R, K)
        Logarithms of the probabilities of guesses.

    Returns
    -------
    RaterLikelihoods

    References
    ----------
    Louis (1982). https://doi.org/10.1111/j.2517-6161.1982.tb01203.x
    """
    rater, category = problem.cells.rater, problem.cells.category
    n_nodes, n_categories = len(log_odds), problem.n_categories
    known = expit(log_odds)[:, rater]  # (Q, V)
    knew = expit(log_odds[:, rater] - log_guess[rater, category])  # of ratings that are right
    of_wrong, of_right = known**2 - known * (1 - known), (knew - known) ** 2
    of_right += knew * (1 - knew) - known * (1 - known)
    slope = np.zeros(problem.n_cells)
    bend, guesses, sure_guesses = slope.copy(), slope.copy(), slope.copy()

    counts, mixture = problem.mixture.counts, problem.mixture
    item = np.repeat(np.arange(counts.shape[0]), np.diff(counts.indptr))
    for some in blocks(counts.nnz, IN_MEMORY // state.shape[1]):
        cell, of = counts.indices[some], item[some]
        weight = mixture.multiplicity[of] * counts.data[some]
        by_node = state[of].reshape(-1, n_nodes, n_categories)
        right = np.take_along_axis(by_node, category[cell][:, None, None], axis=2)[:, :, 0]
        every = by_node.sum(axis=2)
        guess = 1 - (right * knew.T[cell]).sum(axis=1)
        own_slope = 1 - guess - (every * known.T[cell]).sum(axis=1)
        of_states = ((every - right) * of_wrong.T[cell] + right * of_right.T[cell]).sum(axis=1)
        own_bend = of_states - own_slope**2
        for total, values in (
            (slope, own_slope),
            (bend, own_bend),
            (guesses, guess),
            (sure_guesses, guess**2),
        ):
            total += np.bincount(cell, weight * values, minlength=problem.n_cells)

    by_rater = [
        np.bincount(rater, each, minlength=problem.n_raters)
        for each in (slope, bend, guesses, sure_guesses)
    ]
    precision = np.maximum(-by_rater[1], LEAST_PRECISION)
    known_part = by_rater[3] / np.maximum(by_rater[2], np.finfo(float).tiny)
    return RaterLikelihoods(
        alpha + by_rater[0] / precision,
        precision,
        guesses.reshape(n_categories, -1).T * known_part[:, None],
    )


def knowledge_centring(
    own: RaterLikelihoods, point: Point, sd: Point, priors: Mapping[str, Array]
) -> KnowledgeCentring:
    """Where a program samples accuracies, guesses and what raters have in common, around a point.

    Parameters
    ----------
    own : RaterLikelihoods
        What ratings say of raters there.
    point, sd : mapping of str to array
        The point, and sds of free numbers around it, logarithms of what is positive.
    priors : mapping of str to array
        Numbers of the priors.
    """
    squares = (own.mean - point["mean_alpha"]) ** 2
    weight = spread_weights(squares[None], own.precision[None], priors["sd_alpha"])
    sizes = [np.sqrt(np.exp(2 * LOG_SPREAD) @ weight[:, 0])]
    sizes += [priors[name][1] for name in ("sd_delta", "concentration")]
    size = sum(np.size(sd[name]) for name in CORE if name in sd)
    centring = KnowledgeCentring(
        *own,
        SOFTNESS * np.array(sizes),
        core_mean=np.zeros(size),
        core_root=np.eye(size),
        known_sd_delta=float(np.sum(point.get("sd_delta", 0.0))),
        widening=WIDENING["logit"],
    )
    slopes = centring.slopes(point)
    sds = [sd[name] / slopes.get(name, 1) for name in CORE if name in sd]
    root = np.diag(np.concatenate([np.ravel(each) for each in sds]))
    return replace(centring, core_mean=centring.core(point), core_root=root)
