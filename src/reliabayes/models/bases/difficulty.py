"""Difficulty of items: its nodes, and the problem of a model that has it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from reliabayes.arrays import Array
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.quadrature import Nodes, number_of_nodes
from reliabayes.models.bases.hidden_state import CategoricalProblem

REACH = 4.5  # standard deviations of difficulty that the nodes cover on either side
INFORMATION = 0.15  # of a rating on the difficulty, whose sd is about 1.5, relative to its prior
MAX_SPACING = 0.5  # which resolves an accuracy where difficulties have an sd of 2.5
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

    def stan_data(self) -> StanData:
        """As for all problems, nodes and covariates."""
        own = StanData(
            sizes={"X": self.covariate.shape[1]},
            values={"covariate": self.covariate},
        )
        return super().stan_data() | self.nodes.stan_data() | own


def difficulty_nodes(most_ratings: int, number: int | None) -> Nodes:
    """Nodes of the difficulty, no farther apart than its narrowest posterior is wide.

    With equal spacing h the error falls as exp(-2 pi^2 (s / h)^2), where s is the sd of the
    narrowest posterior.
    """
    narrowest = 1 / np.sqrt(1 + INFORMATION * most_ratings)
    spacing = min(0.8 * narrowest, MAX_SPACING)
    return Nodes.of(number or number_of_nodes(spacing, REACH), REACH)


def refined(nodes: Nodes) -> Nodes:
    """Closer nodes that reach farther."""
    return Nodes.of(6 * nodes.number, reach=1.5 * float(nodes.node[-1]))


def guess_counts(point: Point) -> Array:
    """Parameters (K,) of the Dirichlet distribution of guesses."""
    return np.asarray(1 + point["concentration"] * point["mean_p"])
