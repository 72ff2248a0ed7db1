"""Quadrature over a standard normal distribution, by equally spaced nodes.

For a smooth function the equally spaced sum is nearly exact, far beyond other rules with as many
nodes, as soon as the spacing resolves the function at all.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.problem import StanData

REACH = 6.0  # standard deviations on either side; 2e-9 of a normal distribution lies beyond
MAX_REACH = 30.0  # whose weight is a number above 0


class Nodes(NamedTuple):
    """Nodes of a quadrature and their probabilities, each (Q,)."""

    node: Array
    weight: Array

    @classmethod
    def of(cls, number: int, reach: float = REACH) -> Nodes:
        """So many nodes for a standard normal distribution."""
        return cls.at(np.linspace(-reach, reach, number))

    @classmethod
    def at(cls, node: Array) -> Nodes:
        """Equally spaced nodes (Q,) for a standard normal distribution."""
        weight = np.exp(-0.5 * node**2)
        return cls(node, weight / weight.sum())

    @property
    def number(self) -> int:
        """Number Q of nodes."""
        return len(self.node)

    @property
    def reach(self) -> float:
        """The last node."""
        return float(self.node[-1])

    @property
    def spacing(self) -> float:
        """Distance of nodes that are equally spaced."""
        return float(self.node[1] - self.node[0])

    def refined(self, closer: int = 6, farther: float = 1.5) -> Nodes:
        """So many times as many equally spaced nodes, as many times as far out."""
        return Nodes.of(closer * self.number, farther * self.reach)

    def stan_data(self) -> StanData:
        """Data for the Stan programs."""
        return StanData(
            sizes={"Q": self.number}, values={"node": self.node, "node_weight": self.weight}
        )


def number_of_nodes(spacing: float, reach: float = REACH) -> int:
    """Number of nodes that are no farther apart than ``spacing``."""
    return 1 + int(np.ceil(2 * reach / spacing))
