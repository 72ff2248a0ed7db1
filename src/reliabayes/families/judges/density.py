"""Densities of answers at a point, and of points, with gradients."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.judges.matrices import (
    Matrices,
    counts_expected,
    destinations,
    error_steps,
    families_read,
    log_table,
    matrices,
)
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.inference.em import Point

Gradient = Mapping[str, Array]


def log_probability(point: Point, problem: PanelProblem) -> Array:
    """Log-probability (D,) of the answers on each distinct item, what is hidden marginalised."""
    found = matrices(point, problem)
    return problem.mixture.log_probability(log_table(found, problem), found.log_weight)


def log_likelihood(point: Point, problem: PanelProblem) -> float:
    """Log-probability of all answers."""
    return problem.mixture.total(log_probability(point, problem))


def true_categories(points: Point, problem: PanelProblem) -> Array:
    """Probabilities (B, D, K) of distinct items' true categories at several points (B, ...)."""
    found = matrices(points, problem)
    return problem.mixture.posterior(log_table(found, problem), found.log_weight)[1]


def log_likelihood_with_gradient(point: Point, problem: PanelProblem) -> tuple[float, Gradient]:
    """Log-probability of all answers, and its derivatives by levels, popularities and decays.

    The derivatives are those of the expected log-probability of answers and of what is hidden.
    """
    found = matrices(point, problem)
    read = families_read(found, problem)
    of_items, state = problem.mixture.posterior(read.table, found.log_weight)
    expected = problem.mixture.expected(state)
    counts = counts_expected(found, read, expected.ratings, problem)
    groups, k = problem.size("group"), problem.n_categories
    kind = problem.mixture.kind
    group = np.where(kind < groups, kind, (kind - groups) // k)
    items = np.zeros((groups, k))
    np.add.at(items, group, problem.mixture.multiplicity[:, None] * state)
    residual = items - items.sum(axis=1, keepdims=True) * np.exp(found.prevalence)
    gradient = {"prevalence_log_odds": residual @ problem.contrasts}
    return problem.mixture.total(of_items), gradient | _of_matrices(point, found, counts, problem)


def _of_matrices(
    point: Point, found: Matrices, counts: Mapping[str, Array], problem: PanelProblem
) -> dict[str, Array]:
    """Derivatives by what determines the matrices of answers."""
    gradient, k = dict[str, Array](), problem.n_categories
    wrong = ~np.eye(k, dtype=bool)
    families = problem.size("family")
    by_popularity = np.zeros((problem.size("population"), k, k))
    judge_family = problem.answers.family
    population = {
        "people": np.full(problem.n_people, families),
        "misreading": np.repeat(np.arange(families)[:, None], problem.n_matrices, axis=1),
        "own": judge_family[problem.answers.own_of >= 0],
        "slip": judge_family[problem.answers.slip_of >= 0],
    }
    for kind, n in counts.items():
        residual = n - n.sum(axis=-1, keepdims=True) * np.exp(getattr(found, kind))
        if problem.is_free:
            by_level = residual[..., wrong]
        else:
            by_level = np.where(wrong, residual, 0).sum(axis=-1)
            np.add.at(by_popularity, population[kind], np.where(wrong, residual, 0))
        gradient[f"{kind}_log_odds"] = by_level
    gradient["misreading_log_odds"] = gradient["misreading_log_odds"].swapaxes(0, 1)
    if not problem.is_free:
        to = np.exp(destinations(point, problem))
        by_log = by_popularity - to * by_popularity.sum(axis=-1, keepdims=True)
        gradient["popularity"] = by_log.sum(axis=-2) @ problem.contrasts
        if problem.is_ordered:
            by_decay = -(by_log * error_steps(k)).sum(axis=(-1, -2))
            gradient["log_decay"] = by_decay * np.exp(point["log_decay"])
    return gradient
