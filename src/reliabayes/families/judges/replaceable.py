"""Whether a judge may stand in for a person: the alternative annotator test, of a posterior."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.matrices import Matrices, matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.starts import complete
from reliabayes.families.simulation import drawn_categories
from reliabayes.results.posterior import Posterior

SIMULATED = 2000  # items, of which the shares at a draw are taken


def advantages(
    posterior: Posterior[PanelProblem], judge: int, rng: np.random.Generator
) -> tuple[Array, Array]:
    """How often judge and person agree as well with the other people as each other, on new items.

    Parameters
    ----------
    posterior : Posterior
        Draws with their problem.
    judge : int
        Position of the judge, in one run.
    rng : Generator
        Source of randomness.

    Returns
    -------
    of_judge, of_person : array of shape (S, P)
        By person who is left out: the probability that the judge agrees with the others at least
        as often as the person, and the reverse.

    References
    ----------
    Calderon, Reichart & Dror (2025). https://arxiv.org/abs/2501.10970
    """
    problem = posterior.problem
    draws = complete(posterior.stacked(), problem)
    found = matrices(draws, problem)
    share = np.bincount(problem.group, minlength=problem.size("group")) / len(problem.group)
    pairs = [_at_draw(found, draw, judge, share, problem, rng) for draw in range(posterior.n_draws)]
    one, other = (np.array(each) for each in zip(*pairs, strict=True))
    return one, other


def _at_draw(
    found: Matrices,
    draw: int,
    judge: int,
    share: Array,
    problem: PanelProblem,
    rng: np.random.Generator,
) -> tuple[Array, Array]:
    said = problem.answers
    group = rng.choice(len(share), SIMULATED, p=share)
    truth = _drawn(found.prevalence[draw, group], rng)
    people = np.array([_drawn(own[truth], rng) for own in found.people[draw]])
    matrix = group if problem.by_group else 0 * group
    answer = _drawn(found.misreading[draw, said.family[judge], matrix, truth], rng)
    for log, at in ((found.own, said.own_of[judge]), (found.slip, said.slip_of[judge])):
        if at >= 0:
            answer = _drawn(log[draw, at, answer], rng)
    agrees = people == answer
    of_judge, of_person = [], []
    for person, rating in enumerate(people):
        others = np.delete(people, person, axis=0)
        score, own = np.delete(agrees, person, axis=0).sum(0), (others == rating).sum(0)
        of_judge.append((score >= own).mean())
        of_person.append((own >= score).mean())
    return np.array(of_judge), np.array(of_person)


def _drawn(log_probability: Array, rng: np.random.Generator) -> Codes:
    return drawn_categories(np.exp(log_probability), rng)
