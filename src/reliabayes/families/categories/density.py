"""Densities of ratings and states of items at a point; of items in parts, sums over the parts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.categories.family import Response
from reliabayes.families.categories.misleading import truth_given_state, with_misled
from reliabayes.families.categories.parts import with_items
from reliabayes.families.categories.problem import MISLEADING, CategoricalProblem, log_weight
from reliabayes.inference.em import Point
from reliabayes.inference.time_limit import add_in_time
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings


def state_log_probabilities(
    response: Response, point: Point, problem: CategoricalProblem
) -> tuple[Array, Array]:
    """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
    weight = log_weight(point, problem)[..., None]
    if problem.n_gold_states > 1:
        with np.errstate(divide="ignore"):
            known = weight + np.log(truth_given_state(point, problem))
        weight = np.concatenate([weight, known], axis=-1)
    return response.table(point, problem), weight


def state_log_probabilities_of_each(
    response: Response, points: Point, problem: CategoricalProblem
) -> tuple[Array, Array]:
    """The same (B, H, V) and (B, H, W) at several points (B, ...)."""
    if response.takes_many:
        return state_log_probabilities(response, points, problem)
    number = len(next(iter(points.values())))
    each = ({name: x[at] for name, x in points.items()} for at in range(number))
    found = (state_log_probabilities(response, point, problem) for point in each)
    tables, weights = zip(*found, strict=True)
    return np.array(tables), np.array(weights)


def states_at(response: Response, point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities (D, K) of the true categories of distinct items at a point."""
    _, state = problem.mixture.posterior(*state_log_probabilities(response, point, problem))
    return np.asarray(state @ np.eye(problem.n_categories)[problem.category_of_state])


def states_at_each(response: Response, points: Point, problem: CategoricalProblem) -> Array:
    """The same (B, D, K) at several points (B, ...)."""
    _, state = problem.mixture.posterior(
        *state_log_probabilities_of_each(response, points, problem)
    )
    return np.asarray(state @ np.eye(problem.n_categories)[problem.category_of_state])


def log_probability(response: Response, point: Point, problem: CategoricalProblem) -> Array:
    """Log-probability (D,) of the ratings of each distinct item, its state marginalised."""
    return problem.mixture.log_probability(*state_log_probabilities(response, point, problem))


def log_likelihood(response: Response, point: Point, problem: CategoricalProblem) -> float:
    """Log-probability of all ratings, with hidden states marginalised."""
    if problem.parts is not None:
        return e_step(response, point, problem)[0]
    return problem.mixture.total(log_probability(response, point, problem))


def e_step(
    response: Response, point: Point, problem: CategoricalProblem
) -> tuple[float, Callable[[], Expected]]:
    """Log-probability of all ratings, and sufficient statistics that are expected at a point.

    The two share their work.
    """
    if problem.parts is not None:
        of_part = partial(_e_step_of_part, response, replace(problem, parts=None), point)
        found = _sum(problem.parts, of_part)
        return found.log_probability, lambda: found.expected
    of_items, state = problem.mixture.posterior(*state_log_probabilities(response, point, problem))
    return problem.mixture.total(of_items), lambda: expected(point, state, problem)


def expected_at(response: Response, point: Point, problem: CategoricalProblem) -> Expected:
    """Sufficient statistics that are expected at a point: the E step."""
    return e_step(response, point, problem)[1]()


def expected(point: Point, state: Array, problem: CategoricalProblem) -> Expected:
    """Sufficient statistics, given a point and the probabilities (D, H) of states there.

    With those of known true categories that ratings do not determine.
    """
    found = problem.mixture.expected(state)
    if not problem.misleads or problem.n_gold_states == 1:
        return found
    items = problem.mixture.known_items(state, problem.n_gold_states)
    return with_misled(found, items, truth_given_state(point, problem), point[MISLEADING.name])


def initial(problem: CategoricalProblem, rng: np.random.Generator | None) -> Expected:
    """Sufficient statistics that EM starts from: of the votes, or of random states given rng."""
    if problem.parts is None:
        return expected(problem.middle, _initial_states(problem, rng), problem)
    if rng is not None:
        rule = "EM of so many ratings in parts starts from the votes"
        raise RatingsError([Fault("restarts", rule, "random starts", "Pass restarts=0.")])
    return _sum(problem.parts, partial(_initial_of_part, replace(problem, parts=None))).expected


def _initial_states(problem: CategoricalProblem, rng: np.random.Generator | None) -> Array:
    """Proportions (D, H) of votes for each state, or random ones; gold where it is known.

    In random ones a few raters count for most, votes are mixed with noise, and two categories
    may have changed places.
    """
    mixture, n_categories = problem.mixture, problem.n_categories
    is_vote = np.eye(n_categories)
    weight = np.ones(problem.n_raters)
    if rng is not None:
        weight = rng.standard_gamma(0.2, problem.n_raters) + 1e-9
    own = weight[problem.cells.rater, None] * is_vote[problem.cells.category]
    votes = np.asarray(mixture.counts @ own)
    if rng is not None:
        votes /= votes.sum(axis=1, keepdims=True)
        noise = rng.random() if problem.has_raters else 1.0
        votes += noise * (rng.dirichlet(np.ones(n_categories), len(votes)) - votes)
        one, other = rng.choice(n_categories, 2, replace=False)
        if rng.random() < 0.5:
            votes[:, [one, other]] = votes[:, [other, one]]
    known = mixture.kind > 0
    votes[known] = is_vote[mixture.kind[known] - 1]
    weight = np.exp(log_weight(problem.middle, problem))
    state = votes[:, problem.category_of_state] * weight
    return np.asarray(state / state.sum(axis=1, keepdims=True))


class _Step(NamedTuple):
    """What the E step finds in one part, or in several."""

    log_probability: float
    expected: Expected

    def __add__(self, other: Any) -> _Step:
        return _Step(
            self.log_probability + other.log_probability, self.expected.plus(other.expected)
        )


def _sum(dataset: RatingsDataset, function: Callable[[Ratings], _Step]) -> _Step:
    """The sum of a function of the parts, unless the time of a fit is over before its end."""
    found: _Step = reduce(add_in_time, dataset.map(function))
    return found


def _e_step_of_part(
    response: Response, problem: CategoricalProblem, point: Point, part: Ratings
) -> _Step:
    of_items, found = e_step(response, point, with_items(problem, part))
    return _Step(of_items, found())


def _initial_of_part(problem: CategoricalProblem, part: Ratings) -> _Step:
    return _Step(0.0, initial(with_items(problem, part), None))
