"""Differences of rates between groups whose items share blocks, such as prompts."""

from __future__ import annotations

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.judges.identification import Of
from reliabayes.families.judges.matrices import matrices
from reliabayes.families.judges.problem import PanelProblem
from reliabayes.families.judges.reports import truths
from reliabayes.families.judges.starts import complete
from reliabayes.results.posterior import Posterior

LEAST_SHARED = 10  # blocks, of which two groups are compared within
# Blocks of any two groups within which all are ranked. In 100 studies of 20 systems each, by
# `python -m tests.judge_ranks 100 20x10 20x50`, the log score of the probability of being first is
# lower by 0.5 than that by pooled rates on 10 blocks, and higher by 0.1 on 50.
LEAST_RANKED = 50


def shared_blocks(posterior: Posterior[PanelProblem], one: int, other: int) -> int:
    """Number of blocks with items of both groups."""
    block = posterior.ratings_in_memory.item_block
    if block is None:
        return 0
    group, known = posterior.problem.group, block >= 0
    return len(np.intersect1d(block[known & (group == one)], block[known & (group == other)]))


def least_shared(posterior: Posterior[PanelProblem]) -> int:
    """Number of blocks that any two groups have in common, at least; 0 with a single group."""
    block, group = posterior.ratings_in_memory.item_block, posterior.problem.group
    groups = posterior.problem.size("group")
    if block is None or groups < 2:
        return 0
    is_there = np.zeros((groups, int(block.max(initial=-1)) + 1))
    is_there[group[block >= 0], block[block >= 0]] = 1
    shared = is_there @ is_there.T
    return int(shared[~np.eye(groups, dtype=bool)].min())


def paired_rates(
    posterior: Posterior[PanelProblem], category: int, of: Of, rng: np.random.Generator
) -> Array:
    """Draws (S, G) of a rate in each group, on the same blocks drawn like those at hand.

    At each draw, the true category of each item is drawn given its answers, and blocks have random
    weights as in the Bayesian bootstrap, the same in all groups: that some blocks are hard for two
    groups cancels in their difference, and in their ranks.

    Parameters
    ----------
    posterior : Posterior
        Draws with their problem.
    category : int
        Position of the category.
    of : {"people", "truth"}
        Of ratings by a person drawn from those at hand, or of true categories.
    rng : Generator
        Source of randomness.

    References
    ----------
    Rubin (1981). https://doi.org/10.1214/aos/1176345338
    """
    problem = posterior.problem
    block, is_in = _blocks(posterior), np.eye(problem.size("group"))[problem.group]  # (I, G)
    found = matrices(complete(posterior.stacked(), problem), problem)
    of_people = of == "people" and not problem.trusts_person
    rates = np.exp(found.people).mean(axis=1) if of_people else np.eye(problem.n_categories)[None]
    rates = np.broadcast_to(rates[..., category], (posterior.n_draws, problem.n_categories))
    every, used = [], 0
    for states in truths(posterior):  # (B, D, K)
        edges = states.cumsum(axis=-1)[:, problem.mixture.distinct]  # (B, I, K)
        drawn = (rng.random(edges.shape[:2])[..., None] * edges[..., -1:] >= edges).sum(axis=-1)
        drawn = np.minimum(drawn, problem.n_categories - 1)
        value = np.take_along_axis(rates[used : used + len(states)], drawn, axis=1)
        weight = rng.standard_exponential((len(states), block.max() + 1))[:, block]
        used += len(states)
        every.append((weight * value) @ is_in / (weight @ is_in))
    return np.concatenate(every)


def _blocks(posterior: Posterior[PanelProblem]) -> Codes:
    """Block (I,) of each item; one of its own if it has none."""
    block = posterior.ratings_in_memory.item_block
    assert block is not None
    found = block.astype(np.int64)
    unknown = found < 0
    found[unknown] = found.max(initial=-1) + 1 + np.arange(unknown.sum())
    return found
