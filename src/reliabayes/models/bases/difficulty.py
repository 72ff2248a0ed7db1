"""Difficulty of items: its nodes, and the problem of a model that has it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Self

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.problem import StanData, StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.integration import within

MAX_REACH = 8.0  # standard deviations of difficulty that nodes cover on either side
BEND = 0.5  # nodes are sqrt(1 + (BEND z)^2) times as far apart at z standard deviations
INFORMATION = 0.15  # of a rating on the difficulty, whose sd is about 1.5, relative to its prior
MAX_SPACING = 0.4  # which resolves an accuracy where difficulties have an sd of 2.5
REGISTER = 4  # nodes that a sum takes at once
ROUGH_NODES = 8  # or half of all, which do but for a little
# Around a mode: so much larger an sd of difficulties, an error of so many nats, and at most so many
# nodes, at which the check of the fit says what error is left.
LARGER, TOLERANCE, MOST_NODES = 1.1, 2e-3, 64
NO_DIFFICULTY = Nodes(np.zeros(1), np.ones(1))


@dataclass(frozen=True, eq=False, kw_only=True)
class LatentTAPProblem(CategoricalProblem):
    """Ratings in categories, of items of different difficulty by raters with covariates.

    Attributes
    ----------
    nodes : Nodes
        Nodes of the standard score of difficulty.
    covariate : array of shape (R, X)
        Covariates of the raters.
    """

    nodes: Nodes
    covariate: Array

    @property
    def rough(self) -> Self:
        """With half as many nodes."""
        if self.nodes.number <= ROUGH_NODES:
            return self
        few = max(ROUGH_NODES, self.nodes.number // 2)
        return replace(self, nodes=difficulty_nodes(0, few))

    def with_nodes_of(self, centring: StanPart | None) -> Self:
        """With the nodes that suffice around the mode of a centring, if it says how many."""
        number = int(centring.nodes) if isinstance(centring, KnowledgeCentring) else 0
        return replace(self, nodes=difficulty_nodes(0, number)) if number else self

    def stan_data(self) -> StanData:
        """As for all problems, nodes and covariates."""
        own = StanData(
            sizes={"X": self.covariate.shape[1]},
            values={"covariate": self.covariate},
        )
        return super().stan_data() | self.nodes.stan_data() | own


def difficulty_nodes(most_ratings: int, number: int | None) -> Nodes:
    """Nodes of the difficulty, no farther apart at its mean than its narrowest posterior is wide.

    With equal spacing h the error falls as exp(-2 pi^2 (s / h)^2), where s is the sd of the
    narrowest posterior. Few items are far from the others, so nodes are farther apart there. The
    likelihood hardly changes beyond the outermost nodes, which stand for all that would follow. It
    takes a square of the reach in proportion to the number to keep that error as small.
    """
    if number is None:
        narrowest = 1 / np.sqrt(1 + INFORMATION * most_ratings)
        spacing = min(0.8 * narrowest, MAX_SPACING)
        number = next(n for n in count(REGISTER, REGISTER) if _spacing(n) <= spacing)
    place = np.arange(-number, 2 * number)
    at = BEND * _spacing(number) * (place - (number - 1) / 2)
    node = np.sinh(at) / BEND
    weight = np.exp(-0.5 * node**2) * np.cosh(at)
    weight = np.bincount(np.clip(place, 0, number - 1), weight / weight.sum()).astype(float)
    return Nodes(node[number : 2 * number], weight)


def with_enough_nodes(
    modes: Sequence[WarmStart],
    problem: LatentTAPProblem,
    log_likelihood: Callable[[Point, LatentTAPProblem], float],
) -> tuple[WarmStart, ...]:
    """Starts whose centring says how many nodes all of them need.

    The sd of difficulties, which decides, is known only at a mode. Where items are many it may need
    more nodes than the ratings of an item do.
    """
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


def guess_counts(point: Point) -> Array:
    """Parameters (K,) of the Dirichlet distribution of guesses."""
    return np.asarray(1 + point["concentration"] * point["mean_p"])


def _spacing(number: int) -> float:
    """Distance of so many nodes at the mean."""
    reach = min(np.sqrt(number), MAX_REACH)
    return float(2 * np.arcsinh(BEND * reach) / BEND / (number - 1))
