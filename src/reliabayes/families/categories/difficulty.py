"""Difficulty of items: nodes at which it is integrated out."""

from __future__ import annotations

from itertools import count

import numpy as np

from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.sampling.thresholds import DIFFICULTY

BEND = 0.5  # nodes are sqrt(1 + (BEND z)^2) times as far apart at z standard deviations
REGISTER = 4  # nodes that a sum takes at once
NO_DIFFICULTY = Nodes(np.zeros(1), np.ones(1))


def difficulty_nodes(most_ratings: int, number: int | None) -> Nodes:
    """Nodes of the difficulty, no farther apart at its mean than its narrowest posterior is wide.

    With equal spacing h the error falls as exp(-2 pi^2 (s / h)^2), where s is the sd of the
    narrowest posterior. Few items are far from the others, so nodes are farther apart there. The
    likelihood hardly changes beyond the outermost nodes, which stand for all that would follow. It
    takes a square of the reach in proportion to the number to keep that error as small.
    """
    if number is None:
        narrowest = 1 / np.sqrt(1 + DIFFICULTY.information * most_ratings)
        spacing = min(0.8 * narrowest, DIFFICULTY.spacing)
        number = next(n for n in count(REGISTER, REGISTER) if _spacing(n) <= spacing)
    place = np.arange(-number, 2 * number)
    at = BEND * _spacing(number) * (place - (number - 1) / 2)
    node = np.sinh(at) / BEND
    weight = np.exp(-0.5 * node**2) * np.cosh(at)
    weight = np.bincount(np.clip(place, 0, number - 1), weight / weight.sum()).astype(float)
    return Nodes(node[number : 2 * number], weight)


def coarser(nodes: Nodes) -> Nodes:
    """Half as many nodes; the same ones if they are few."""
    if nodes.number <= DIFFICULTY.coarse:
        return nodes
    return difficulty_nodes(0, max(DIFFICULTY.coarse, nodes.number // 2))


def _spacing(number: int) -> float:
    """Distance of so many nodes at the mean."""
    reach = min(np.sqrt(number), DIFFICULTY.reach)
    return float(2 * np.arcsinh(BEND * reach) / BEND / (number - 1))
