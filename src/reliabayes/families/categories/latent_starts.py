"""Starts of `LatentTAP`: with enough nodes of the difficulty, in units by a few draws."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import partial

from reliabayes.families.categories.density import log_likelihood
from reliabayes.families.categories.difficulty import REGISTER, difficulty_nodes
from reliabayes.families.categories.family import Response
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.categories.starts import constrained
from reliabayes.families.integration import within
from reliabayes.families.pilot import (
    LONG_STEPS,
    Constrain,
    SharedParameters,
    after_pilot,
)
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.warm_start import WarmStart
from reliabayes.sampling.thresholds import FEW_PARAMETERS, LARGE_CROWD

PROGRAM = "latent_tap"
# Around a mode: so much larger an sd of difficulties, an error of so many nats, and at most so many
# nodes, at which the check of the fit says what error is left.
LARGER, TOLERANCE, MOST_NODES = 1.1, 2e-3, 64
# In large crowds, ratings of each rater from which on short trees do as well, for half the time.
RATINGS_OF_EACH, SHORT_TREES = 30, 3
# In such crowds, iterations that make a draw where raters have fewer ratings each: their average
# guesses are then poorly known, and mix slowly.
ITERATIONS_OF_DRAW, FEW_OF_EACH = 2, 40


def better_starts(
    response: Response,
    chooses_nodes: bool,
    modes: Sequence[WarmStart],
    problem: CategoricalProblem,
) -> Sequence[WarmStart]:
    """A start at each mode, in units by a few draws unless the sampler soon finds its own."""
    if chooses_nodes:
        modes = with_enough_nodes(response, modes, problem)
        problem = problem.with_nodes_of(modes[0].centring)
    if modes[0].size < FEW_PARAMETERS:
        return modes
    return [with_crowd_settings(in_found_units(mode, problem), problem) for mode in modes]


def with_enough_nodes(
    response: Response, modes: Sequence[WarmStart], problem: CategoricalProblem
) -> tuple[WarmStart, ...]:
    """Starts whose centring says how many nodes all of them need.

    The sd of difficulties, which decides, is known only at a mode. Where items are many it may need
    more nodes than the ratings of an item do.
    """
    assert problem.nodes is not None
    points = [mode.point for mode in modes]
    points += [{**point, "sd_delta": LARGER * point["sd_delta"]} for point in points]
    finer = replace(problem, nodes=problem.nodes.refined())
    is_enough = within(TOLERANCE, points, finer, partial(log_likelihood, response))
    least = problem.nodes.number
    most = max(least, MOST_NODES)
    tried = (difficulty_nodes(0, number) for number in range(least, most, REGISTER))
    number = next((nodes.number for nodes in tried if is_enough(nodes)), most)
    return tuple(replace(mode, centring=_centring(mode, number)) for mode in modes)


def _centring(mode: WarmStart, number: int) -> KnowledgeCentring:
    assert isinstance(mode.centring, KnowledgeCentring)
    return replace(mode.centring, nodes=number)


def in_found_units(mode: WarmStart, problem: CategoricalProblem) -> WarmStart:
    """The start in units that a short run of the sampler finds."""

    def constrain_by(centring: SharedParameters) -> Constrain:
        return partial(constrained, problem.parameters, centring)

    return after_pilot(PROGRAM, problem, mode, constrain_by)


def with_crowd_settings(start: WarmStart, problem: CategoricalProblem) -> WarmStart:
    """The start, from 100 raters on, as the number of their ratings asks for.

    With 30 ratings each, trees are short and steps long; below 40, two iterations make a draw.
    """
    if problem.n_raters < LARGE_CROWD:
        return start
    of_each = problem.mixture.n_ratings / problem.n_raters
    if of_each < FEW_OF_EACH:
        start = replace(start, thinning=ITERATIONS_OF_DRAW)
    if of_each < RATINGS_OF_EACH:
        return start
    return replace(start, max_tree_depth=SHORT_TREES, target_acceptance=LONG_STEPS)
