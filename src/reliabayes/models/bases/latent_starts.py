"""Starts of `LatentTAP`: with enough nodes of the difficulty, in units by a few draws."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from reliabayes.families.categories.difficulty import REGISTER, difficulty_nodes
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.inference.em import Point
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.warm_start import WarmStart
from reliabayes.models.bases.integration import within
from reliabayes.models.bases.pilot import CoreModel, after_pilot, suited_to_crowd

FEW_PARAMETERS = 20  # of which the sampler adapts all covariances
# Around a mode: so much larger an sd of difficulties, an error of so many nats, and at most so many
# nodes, at which the check of the fit says what error is left.
LARGER, TOLERANCE, MOST_NODES = 1.1, 2e-3, 64


class LatentModel(CoreModel, Protocol):
    """A model whose program samples ``core``, and whose items have a difficulty."""

    def log_likelihood(self, point: Point, problem: CategoricalProblem) -> float:
        """Log-probability of all ratings."""


def better_starts(
    model: LatentModel, chooses_nodes: bool, modes: Sequence[WarmStart], problem: CategoricalProblem
) -> Sequence[WarmStart]:
    """A start at each mode, in units by a few draws unless the sampler soon finds its own."""
    if chooses_nodes:
        modes = with_enough_nodes(modes, problem, model.log_likelihood)
        problem = problem.with_nodes_of(modes[0].centring)
    if modes[0].size < FEW_PARAMETERS:
        return modes
    found = (after_pilot(model, problem, mode) for mode in modes)
    return [suited_to_crowd(start, problem) for start in found]


def with_enough_nodes(
    modes: Sequence[WarmStart],
    problem: CategoricalProblem,
    log_likelihood: Callable[[Point, CategoricalProblem], float],
) -> tuple[WarmStart, ...]:
    """Starts whose centring says how many nodes all of them need.

    The sd of difficulties, which decides, is known only at a mode. Where items are many it may need
    more nodes than the ratings of an item do.
    """
    assert problem.nodes is not None
    points = [mode.point for mode in modes]
    points += [{**point, "sd_delta": LARGER * point["sd_delta"]} for point in points]
    finer = replace(problem, nodes=problem.nodes.refined())
    is_enough = within(TOLERANCE, points, finer, log_likelihood)
    least = problem.nodes.number
    most = max(least, MOST_NODES)
    tried = (difficulty_nodes(0, number) for number in range(least, most, REGISTER))
    number = next((nodes.number for nodes in tried if is_enough(nodes)), most)
    return tuple(replace(mode, centring=_centring(mode, number)) for mode in modes)


def _centring(mode: WarmStart, number: int) -> KnowledgeCentring:
    assert isinstance(mode.centring, KnowledgeCentring)
    return replace(mode.centring, nodes=number)
