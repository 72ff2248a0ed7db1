"""Ratings drawn at a point, of new items by the same raters."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Codes
from reliabayes.families.categories.family import Categories
from reliabayes.families.categories.misleading import truth_given_state
from reliabayes.families.categories.problem import CategoricalProblem, log_weight
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.em import Point
from reliabayes.ratings import Ratings


def simulated(
    family: Categories,
    point: Point,
    blank: Ratings,
    problem: CategoricalProblem,
    rng: np.random.Generator,
) -> Codes:
    """Categories (N,) of ratings of a design, by raters who may have voted before."""
    if family.votes is not None and family.votes.are_polled:
        truth = _drawn_states(point, blank, problem, rng)
        blank = family.votes.polled(truth, point, blank, rng)
    return replicated(family, point, blank, problem, rng)


def replicated(
    family: Categories,
    point: Point,
    ratings: Ratings,
    problem: CategoricalProblem,
    rng: np.random.Generator,
) -> Codes:
    """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
    if family.votes is not None:
        truth = _drawn_states(point, ratings, problem, rng)
        return family.votes.rated(truth, point, ratings, rng)
    table = family.response.table(point, problem)
    state = _drawn_states(point, ratings, problem, rng)[ratings.item]
    probability = np.exp(table).reshape(len(table), problem.n_categories, -1)
    rater = ratings.rater if problem.has_raters else 0
    return drawn_categories(probability[state, :, rater], rng)


def _drawn_states(
    point: Point, ratings: Ratings, problem: CategoricalProblem, rng: np.random.Generator
) -> Codes:
    """States (I,) of new items, drawn at a point; known true categories are kept."""
    weight = np.exp(log_weight(point, problem))
    if ratings.gold_category is None:
        return drawn_categories(np.broadcast_to(weight, (ratings.n_items, len(weight))), rng)
    of_truth = truth_given_state(point, problem).T
    possible = np.vstack([of_truth, np.ones_like(weight)])  # -1, unknown, is last
    return drawn_categories(possible[ratings.gold_category] * weight, rng)
