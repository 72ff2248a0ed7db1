"""Whether a judge may stand in for a person: the alternative annotator test, of a posterior."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array
from reliabayes.families.judges.matrices import Matrices
from reliabayes.families.judges.problem import PanelProblem


def numbers_of_a_draw(problem: PanelProblem) -> int:
    """How many numbers `advantages` computes for each draw."""
    return int(2 * problem.n_people**2 * problem.n_categories**3)


def advantages(found: Matrices, judge: int, problem: PanelProblem) -> tuple[Array, Array]:
    """How often judge and person agree as well with the other people as each other, on new items.

    Given the true category, people and the judge answer independently. How many of the others say
    what the judge says, less how many say what the person says, is a sum of steps of -1, 0 and 1,
    whose distribution is computed.

    Parameters
    ----------
    found : Matrices
        Log-probabilities of categories, at S draws.
    judge : int
        Position of the judge, in one run.
    problem : PanelProblem
        That of the ratings.

    Returns
    -------
    of_judge, of_person : array of shape (S, P)
        By person who is left out: the probability that the judge agrees with the others at least
        as often as the person, and the reverse.

    References
    ----------
    Calderon, Reichart & Dror (2025). https://arxiv.org/abs/2501.10970
    """
    people = np.exp(found.people)
    answer = _answers(found, judge, problem)
    one, other = list[Array](), list[Array]()
    for person in range(problem.n_people):
        lead = _lead(np.delete(people, person, axis=1))
        joint = answer[..., :, None] * people[:, person, :, None, :]
        middle = lead.shape[-1] // 2
        for wins, part in ((one, lead[..., middle:]), (other, lead[..., : middle + 1])):
            wins.append((joint * part.sum(axis=-1)).sum(axis=(1, 2, 3)))
    return np.stack(one, axis=1), np.stack(other, axis=1)


def _answers(found: Matrices, judge: int, problem: PanelProblem) -> Array:
    """Probabilities (S, K, K) of a true category and an answer of the judge, of any group."""
    said = problem.answers
    share = np.bincount(problem.group, minlength=problem.size("group")) / len(problem.group)
    answer = np.exp(found.misreading[:, said.family[judge]])
    for log, at in ((found.own, said.own_of[judge]), (found.slip, said.slip_of[judge])):
        if at >= 0:
            answer = answer @ np.exp(log[:, at, None])
    truth = share[:, None] * np.exp(found.prevalence)
    return np.asarray((truth[..., None] * answer).sum(axis=1))


def _lead(others: Array) -> Array:
    """Distribution (S, K, K, K, 2 n + 1) of how many more of n people say one answer than another.

    By true category, by the one answer and by the other; from n less to n more.
    """
    s, n, k, _ = others.shape
    is_other = ~np.eye(k, dtype=bool)
    lead = np.ones((s, k, k, k, 1))
    for each in range(n):
        more = (others[:, each, :, :, None] * is_other)[..., None]
        less = (others[:, each, :, None, :] * is_other)[..., None]
        ends = np.zeros((*lead.shape[:-1], 2))
        wider = np.concatenate([ends, lead], axis=-1) * more
        wider += np.concatenate([lead, ends], axis=-1) * less
        wider[..., 1:-1] += lead * (1 - more - less)
        lead = wider
    return lead
