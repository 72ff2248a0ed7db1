"""Expectation maximisation over the hidden states of items."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from reliabayes.families.categories.density import e_step, initial
from reliabayes.families.categories.family import Categories, Response
from reliabayes.families.categories.problem import CategoricalProblem, X
from reliabayes.inference.em import Climb, Point, climb


def run_em(
    family: Categories,
    problem: CategoricalProblem,
    rng: np.random.Generator | None,
    max_iterations: int,
    tolerance: float,
) -> Climb:
    """EM from the votes, or from random states; the objective is the posterior density."""
    first = family.response.maximise(problem.middle, initial(problem, rng), problem)
    if family.effects is not None:
        first = family.effects.first(first, problem)
    return climb_from(family, first, problem, max_iterations, tolerance)


def quick_em(
    family: Categories,
    problem: CategoricalProblem,
    rng: np.random.Generator,
    max_iterations: int,
    tolerance: float,
) -> Climb:
    """EM from random states to a point near a mode, if need be by quicker steps than EM's."""
    if family.effects is not None:
        point = family.effects.quick(problem, rng, max_iterations, tolerance)
        if point is not None:
            return climb_from(family, {**problem.middle, **point}, problem, 0, tolerance)
    return run_em(family, problem, rng, max_iterations, tolerance)


def climb_from(
    family: Categories,
    start: Point,
    problem: CategoricalProblem,
    max_iterations: int,
    tolerance: float,
) -> Climb:
    """EM from a point."""
    if family.effects is not None:
        return family.effects.climb_from(start, problem, max_iterations, tolerance)
    return climbed(family.response, start, problem, max_iterations, tolerance)


def climbed(
    response: Response,
    start: Point,
    problem: CategoricalProblem,
    max_iterations: int,
    tolerance: float,
) -> Climb:
    """EM from a point, by the M steps of a response."""

    def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
        log_likelihood, expected = e_step(response, point, problem)
        objective = log_likelihood + response.log_prior(point, problem)
        return objective, lambda: response.maximise(point, expected(), problem)

    def is_allowed(point: Point) -> bool:
        return all(each.holds(point[each.name]) for each in problem.parameters)

    def held(point: Point, inside: Point) -> Point:
        return {
            each.name: each.held(point[each.name], inside[each.name]) for each in problem.parameters
        }

    return climb(
        evaluate,
        start,
        max_iterations=max_iterations,
        tolerance=tolerance,
        is_allowed=is_allowed,
        held=held,
    )


def without_priors(response: Response, problem: CategoricalProblem[X]) -> CategoricalProblem[X]:
    """The same problem with priors that add nothing to the ratings, but for those that last."""
    lasting = response.lasting_priors
    priors = {
        name: prior if name in lasting else np.zeros_like(prior)
        for name, prior in problem.priors.items()
    }
    return replace(problem, priors=priors)
