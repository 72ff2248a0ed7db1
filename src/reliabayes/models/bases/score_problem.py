"""The problem of a latent score with cut points."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Self

from reliabayes.arrays import Codes
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.ordinal import Link
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.integration import rough_nodes

FINE = 16  # nodes from which on fewer do for a rough density


@dataclass(frozen=True, eq=False, kw_only=True)
class ScoreProblem(CategoricalProblem):
    """Ratings in ordered categories; the hidden state of an item is its score, at a node.

    Attributes
    ----------
    link : {"logit", "probit"}
        Distribution of the residual.
    nodes : Nodes
        Nodes of the standard score of an item; none where scores are sampled.
    pool : array of int, shape (R,)
        Position of each rater's pool; all 0 for one population.
    """

    link: Link
    nodes: Nodes
    pool: Codes

    @property
    def rough(self) -> Self:
        """With nodes farther apart, and not as far out; as it is where there are few or none."""
        is_fine = self.nodes.number >= FINE
        return replace(self, nodes=rough_nodes(self.nodes)) if is_fine else self

    def stan_data(self) -> StanData:
        """As for all problems, link and nodes, if the program has any."""
        link = StanData(values={"probit": int(self.link == "probit")})
        nodes = self.nodes.stan_data() if self.integrates else StanData()
        return super().stan_data() | link | nodes

    @property
    def integrates(self) -> bool:
        """Whether the program integrates scores out over the nodes."""
        return bool(self.nodes.number)
