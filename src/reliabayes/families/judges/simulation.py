"""Answers drawn from the model, and parameters from their priors."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.centring import KINDS
from reliabayes.families.judges.matrices import matrices
from reliabayes.families.judges.parameters import declared
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.densities import half_t
from reliabayes.inference.em import Point
from reliabayes.ratings import Ratings


def drawn_from_prior(problem: PanelProblem, rng: np.random.Generator, given: Point) -> Point:
    """Parameters drawn from their priors, conditional on those given."""
    found = dict(given)
    for each in declared(problem):
        if each.name in found:
            continue
        shape = tuple(map(problem.size, each.dims))
        kind = each.name.removesuffix("_log_odds")
        if each.support == "positive":
            prior = problem.priors[each.name]
            found[each.name] = np.array([half_t(prior, rng) for _ in range(*shape)])
            continue
        mean, sd = problem.priors[f"{kind}_location" if kind in KINDS else kind]
        if f"{kind}_location" in found:
            mean, sd = found[f"{kind}_location"], found[f"{kind}_spread"]
            sd = sd[:, None] if kind == "misreading" else sd
        found[each.name] = mean + sd * rng.standard_normal(shape)
    return found


def answered(
    point: Point, ratings: Ratings, problem: PanelProblem, rng: np.random.Generator
) -> Codes:
    """Categories (N,) of answers of a design, on new items whose known true categories stay."""
    found, said, roles = matrices(point, problem), problem.answers, problem.roles
    truth = drawn_categories(np.exp(found.prevalence)[problem.group], rng)
    if ratings.gold_category is not None:
        truth = np.where(ratings.gold_category < 0, truth, ratings.gold_category)
    answer = truth[ratings.item]
    by_person = roles.is_person[ratings.rater]
    if problem.n_people:
        person = np.cumsum(roles.is_person)[ratings.rater[by_person]] - 1
        answer[by_person] = _drawn(found.people, (person, answer[by_person]), rng)
    group = problem.group if problem.by_group else 0 * problem.group
    judge_of = np.where(by_person, -1, (np.cumsum(~roles.is_person) - 1)[ratings.rater])
    read = [_drawn(found.misreading[f], (group, truth), rng) for f in range(len(roles.families))]
    for judge, family in enumerate(said.family):
        lasting = read[family]
        if (own := said.own_of[judge]) >= 0:
            lasting = _drawn(found.own[own], (lasting,), rng)
        rows = np.flatnonzero(judge_of == judge)
        answer[rows] = lasting[ratings.item[rows]]
        if (slip := said.slip_of[judge]) >= 0:
            answer[rows] = _drawn(found.slip[slip], (answer[rows],), rng)
    return answer.astype(np.int32)


def _drawn(log_probability: Array, at: tuple[Codes, ...], rng: np.random.Generator) -> Codes:
    """A category (N,) of each of some rows, at positions, of log-probabilities (..., K)."""
    edges = np.exp(log_probability).cumsum(axis=-1)
    point = rng.random(len(at[0]))
    drawn = np.zeros(len(point), np.int32)
    for edge in np.moveaxis(edges[..., :-1] / edges[..., -1:], -1, 0):
        drawn += point >= edge[at]
    return drawn
