"""How many independent votes a panel of judges is worth."""

from __future__ import annotations

from itertools import combinations
from math import comb

import numpy as np
from scipy.special import gammaln, logsumexp

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.matrices import Matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import given_reading, share_of_groups

MOST_OUTCOMES = 4096  # of a panel that are summed over; of more, a sample is drawn
SAMPLED = 4000  # outcomes
MOST_COPIES = 64  # of the mean judge


def error_correlation(found: Matrices, problem: PanelProblem) -> Array:
    """Mean correlations (...) of the errors of two judges, in one run each, over all pairs.

    They are those on the items of a group, averaged over groups by their items.
    """
    said, k = problem.answers, problem.n_categories
    share = share_of_groups(problem)
    prevalence, given = np.exp(found.prevalence), _given_readings(found, problem)
    read = np.exp(found.misreading)
    wrong = 1 - np.eye(k)
    # Probability (J, ..., K, K) that a judge errs, by true category and what the family reads.
    errs = [own @ wrong for own in given]
    every = []
    for one, other in combinations(range(len(given)), 2):
        a, b = np.swapaxes(errs[one], -1, -2), np.swapaxes(errs[other], -1, -2)  # by truth, reading
        m, n = (read[..., said.family[each], :, :, :] for each in (one, other))
        p, q = ((x * y[..., None, :, :]).sum(-1) for x, y in ((m, a), (n, b)))  # (..., M, K)
        same = said.family[one] == said.family[other]
        both = (m * (a * b)[..., None, :, :]).sum(-1) if same else p * q
        p, q, both = ((prevalence * x).sum(-1) for x in (p, q, both))
        spread = np.sqrt(p * (1 - p) * q * (1 - q))
        every.append(((both - p * q) / spread) @ share)
    return np.asarray(np.mean(every, axis=0))


def informative_votes(found: Matrices, problem: PanelProblem, rng: np.random.Generator) -> float:
    """How many independent copies of the mean judge tell as much on the true category, at a point.

    Copies are interpolated between whole numbers; the information is that of one run of each judge.
    """
    share = share_of_groups(problem)
    groups = np.flatnonzero(share)
    votes = [_votes_in_group(found, problem, g, rng) for g in groups.tolist()]
    return float(np.average(votes, weights=share[groups]))


def _votes_in_group(
    found: Matrices, problem: PanelProblem, group: int, rng: np.random.Generator
) -> float:
    said = problem.answers
    prevalence = np.exp(found.prevalence[group])
    read = np.exp(found.misreading[:, group if problem.by_group else 0])
    given = _given_readings(found, problem)
    single = np.array([read[f] @ own for f, own in zip(said.family, given, strict=True)])
    aim = _information_of_panel(prevalence, read, given, said.family, rng)
    before = 0.0
    for copies in range(1, MOST_COPIES + 1):
        value = _information_of_copies(prevalence, single.mean(axis=0), copies, rng)
        if value >= aim:
            return copies - 1 + (aim - before) / max(value - before, 1e-12)
        before = value
    return float(MOST_COPIES)


def _given_readings(found: Matrices, problem: PanelProblem) -> list[Array]:
    """Probabilities (..., K, K) of each judge's answer, by what its family reads."""
    return [given_reading(found, problem, judge) for judge in range(problem.size("judge"))]


def _information_of_panel(
    prevalence: Array, read: Array, given: list[Array], family: Codes, rng: np.random.Generator
) -> float:
    """Mutual information in nats of the true category and one answer of each judge."""
    k, number = len(prevalence), len(given)
    if k**number <= MOST_OUTCOMES:
        outcomes = np.stack(np.meshgrid(*[np.arange(k)] * number, indexing="ij"), -1)
        outcomes = outcomes.reshape(-1, number)
        of_truth = _probabilities(outcomes, read, given, family)
        total = of_truth @ prevalence
        ratio = np.log(np.maximum(of_truth, 1e-300)) - np.log(np.maximum(total, 1e-300))[:, None]
        return float((prevalence * of_truth * ratio).sum())
    truth = rng.choice(k, SAMPLED, p=prevalence)
    reads = [_draw(read[f][truth], rng) for f in range(len(read))]
    drawn = [_draw(own[reads[f]], rng) for own, f in zip(given, family, strict=True)]
    of_truth = _probabilities(np.stack(drawn, axis=1), read, given, family)
    own_probability = of_truth[np.arange(SAMPLED), truth]
    return float(np.mean(np.log(own_probability) - np.log(of_truth @ prevalence)))


def _probabilities(outcomes: Codes, read: Array, given: list[Array], family: Codes) -> Array:
    """Probabilities (N, K) of answers (N, J), by true category."""
    found = np.ones((len(outcomes), read.shape[-1]))
    for f in range(len(read)):
        of_reading = np.ones_like(found)
        for judge in np.flatnonzero(family == f):
            of_reading *= given[judge][:, outcomes[:, judge]].T
        found *= of_reading @ read[f].T
    return found


def _draw(probability: Array, rng: np.random.Generator) -> Codes:
    edges = probability.cumsum(axis=1)
    return np.asarray(
        (rng.random(len(edges))[:, None] * edges[:, -1:] >= edges[:, :-1]).sum(axis=1)
    )


def _information_of_copies(
    prevalence: Array, confusion: Array, copies: int, rng: np.random.Generator
) -> float:
    """The same of so many judges that err independently alike."""
    k = len(prevalence)
    log, log_prevalence = np.log(np.maximum(confusion, 1e-300)), np.log(prevalence)
    if comb(copies + k - 1, k - 1) > MOST_OUTCOMES:
        truth = rng.choice(k, SAMPLED, p=prevalence)
        log_of_truth = rng.multinomial(copies, confusion[truth]) @ log.T
        total = logsumexp(log_of_truth + log_prevalence, axis=1)
        return float((log_of_truth[np.arange(SAMPLED), truth] - total).mean())
    counts = np.array(_compositions(copies, k))
    ways = gammaln(copies + 1) - gammaln(counts + 1).sum(axis=1)
    log_of_truth = counts @ log.T
    total = logsumexp(log_of_truth + log_prevalence, axis=1, keepdims=True)
    weight = np.exp(ways[:, None] + log_of_truth + log_prevalence)
    return float((weight * (log_of_truth - total)).sum())


def _compositions(total: int, parts: int) -> list[tuple[int, ...]]:
    """All ways of writing a total as a sum of so many counts."""
    if parts == 1:
        return [(total,)]
    return [
        (first, *rest)
        for first in range(total + 1)
        for rest in _compositions(total - first, parts - 1)
    ]
