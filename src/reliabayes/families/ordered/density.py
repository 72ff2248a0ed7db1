"""Densities of ratings in ordered categories at a point: cut points, effects, and likelihoods."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.ordered.problem import OrderedProblem
from reliabayes.inference.em import Point
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.likelihoods.ordinal import CategoryProbabilities
from reliabayes.likelihoods.quadrature import Nodes


def cut_points(point: Point) -> Array:
    """Cut points (..., K - 1) between the categories; two categories have no steps."""
    shape = np.shape(point["mean"])
    step = point.get("step", np.empty((*shape, 0)))
    from_first = np.concatenate([np.zeros((*shape, 1)), np.cumsum(step, axis=-1)], axis=-1)
    return np.asarray(from_first - point["mean"][..., None])


def by_rater(value: Array, problem: OrderedProblem) -> Array:
    """Parameters of the pools (..., G) for each rater: (..., R), or (..., 1) for one population."""
    return value[..., problem.pool] if problem.is_pooled else value[..., None]


def rater_effects(point: Point, problem: OrderedProblem) -> Array:
    """Effects (..., R) of the raters."""
    return np.asarray(point["level"] - by_rater(point["mean"], problem))


def root_of(point: Point) -> Array:
    """Lower root (G, G) of the covariance of an item's effects, of standard scores."""
    return np.asarray(point["sd_item"][:, None] * point["factor_item"])


def item_effects(point: Point, score: Array) -> Array:
    """Effects (n, ...) of items with independent standard scores (n, ...)."""
    is_pooled = "factor_item" in point
    return np.asarray(score @ root_of(point).T if is_pooled else point["sd_item"] * score)


def states(problem: OrderedProblem) -> tuple[Array, Array]:
    """Standard scores (H, ...) of an item, and their probabilities (H,).

    Of two pools they are pairs of nodes, without those out of reach.
    """
    node, weight = problem.nodes
    if not problem.is_pooled:
        return node, weight
    pairs = np.stack([axis.ravel() for axis in np.meshgrid(node, node, indexing="ij")], axis=1)
    near = (pairs**2).sum(axis=1) <= node[-1] ** 2 * (1 + 1e-9)
    probability = np.outer(weight, weight).ravel()[near]
    return pairs[near], probability / probability.sum()


def finer(nodes: Nodes, is_pooled: bool) -> Nodes:
    """Closer nodes that reach farther, of which pairs must not be too many."""
    return nodes.refined(closer=2, farther=1.2) if is_pooled else nodes.refined()


def probabilities(point: Point, problem: OrderedProblem) -> CategoryProbabilities:
    """Probabilities of the categories by state and rater, (H, R, K)."""
    item = by_rater(item_effects(point, states(problem)[0]), problem)
    cut = by_rater(cut_points(point).T, problem).T
    return CategoryProbabilities.of(item + rater_effects(point, problem), cut, problem.link)


def table(point: Point, problem: OrderedProblem) -> Array:
    """Log-probabilities (H, V) of a rating, by state, and by category and rater."""
    probability = probabilities(point, problem).probability
    return np.asarray(np.log(probability).transpose(0, 2, 1).reshape(len(probability), -1))


def log_weight(problem: OrderedProblem) -> Array:
    """Log-probabilities (H,) of the states."""
    return np.asarray(np.log(states(problem)[1]))


def state_log_probabilities(point: Point, problem: OrderedProblem) -> tuple[Array, Array]:
    """Log-probabilities (H, V) of a rating by state and cell, and log-weights (H, 1) of states."""
    return table(point, problem), log_weight(problem)[:, None]


def log_likelihood(point: Point, problem: OrderedProblem) -> float:
    """Log-probability of all ratings, with effects of items marginalised."""
    return problem.mixture.total(problem.treatment.log_probability(point, problem))


def expected_at(point: Point, problem: OrderedProblem) -> Expected:
    """Ratings and items by state that are expected at a point: the E step."""
    _, state = problem.mixture.posterior(*state_log_probabilities(point, problem))
    return problem.mixture.expected(state)


def by_state(expected_ratings: Array, problem: OrderedProblem) -> Array:
    """Expected ratings (H, V) as (H, R, K): by state, rater and category."""
    shape = -1, problem.n_categories, problem.n_raters
    return expected_ratings.reshape(shape).transpose(0, 2, 1)


def information(point: Point, expected: Expected, problem: OrderedProblem) -> Array:
    """Information (R,) of expected ratings on the level of each rater, given the items."""
    ratings = by_state(expected.ratings, problem).sum(axis=2)
    per_rating = probabilities(point, problem).information
    return np.asarray((ratings * per_rating).sum(axis=0) + 1e-3)


def middle_cut(problem: OrderedProblem) -> Codes:
    """Position (1,) of the cut point that divides the ratings most evenly."""
    by_cell = problem.mixture.counts.T @ problem.mixture.multiplicity
    by_category = np.bincount(problem.cells.category, by_cell, problem.n_categories)
    below = by_category.cumsum()[:-1] / by_category.sum()
    return np.array([np.abs(below - 0.5).argmin()], np.int32)
