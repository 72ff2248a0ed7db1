"""What the posterior of ordered scores depends on, and how effects of items may be treated."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Protocol, Self

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.families.cells import Cells
from reliabayes.families.integration import rough_nodes
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData, StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.likelihoods.ordinal import Link
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.results.posterior import Posterior

SDS = ("sd_item", "sd_rater")
# Sds of items and raters, steps between cut points, location, and levels of raters.
ONE_POPULATION = (
    Parameter("sd_item", "positive"),
    Parameter("sd_rater", "positive"),
    Parameter("step", "positive", ("between",)),
    Parameter("mean", "real"),
    Parameter("level", "real", ("rater",)),
)
# The same by pool, and the correlation of an item's effects.
POOLS = (
    Parameter("sd_item", "positive", ("pool",)),
    Parameter("sd_rater", "positive", ("pool",)),
    Parameter("factor_item", "correlation", ("pool", "factor")),
    Parameter("step", "positive", ("pool", "between")),
    Parameter("mean", "real", ("pool",)),
    Parameter("level", "real", ("rater",)),
)
NO_NODES = Nodes(np.empty(0), np.empty(0))
FINE = 16  # nodes from which on fewer do for a rough density


class Treatment(Protocol):
    """How effects of items are treated: integrated out over nodes, or sampled.

    A *point* is a value of each parameter, by name; parameters that pools have of their own have a
    dimension for them, last. Effects of an item are (G,) in G pools, or () in one population.
    """

    program: ClassVar[str]  # Stan program that samples from the posterior
    integrates: ClassVar[bool]  # whether it integrates effects out over the nodes of the problem
    reports_likelihood: ClassVar[bool]  # or whether that takes too long for all draws

    def start(self, problem: OrderedProblem) -> WarmStart:
        """Starting points around a mode, in the numbers that the program samples."""

    def cold_start(self, problem: OrderedProblem, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""

    def log_probability(self, point: Point, problem: OrderedProblem) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its effects marginalised."""

    def expected_effects(self, point: Point, items: slice, problem: OrderedProblem) -> Array:
        """Effects (d, ...) of some distinct items given their ratings: expected, or the mode."""

    def drawn_effects(
        self, point: Point, items: slice, posterior: OrderedPosterior, rng: np.random.Generator
    ) -> Array:
        """Effects (d, ...) of some distinct items: drawn given their ratings, or sampled."""


@dataclass(frozen=True, eq=False, kw_only=True)
class OrderedProblem(Problem):
    """Ratings in ordered categories.

    Attributes
    ----------
    cells : Cells
        A cell is a category and a rater.
    mixture : ItemMixture
        Distinct items by their ratings in each cell; all items where their effects are sampled.
    link : {"logit", "probit"}
        Distribution of the residual.
    is_pooled : bool
        Whether items have an effect in each pool of raters; otherwise all are one population.
    pool : array of int, shape (R,)
        Position of each rater's pool; all 0 for one population.
    treatment : Treatment
        How effects of items are treated.
    nodes : Nodes
        Nodes of the standard score of an item; none where those of several pools are sampled.
    given_nodes : int or None
        Number of nodes that the user asked for.
    """

    cells: Cells
    mixture: ItemMixture
    link: Link
    is_pooled: bool
    pool: Codes
    treatment: Treatment
    nodes: Nodes = NO_NODES
    given_nodes: int | None = None

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the model, in the order of the program."""
        return POOLS if self.is_pooled else ONE_POPULATION

    @property
    def n_categories(self) -> int:
        """Number K of categories."""
        return self.size("category")

    @property
    def n_raters(self) -> int:
        """Number R of raters."""
        return self.size("rater")

    @property
    def n_pools(self) -> int:
        """Number G of pools."""
        return self.size("pool") if self.is_pooled else 1

    @property
    def fewest_raters(self) -> int:
        """Number of raters of the smallest pool."""
        return int(np.bincount(self.pool).min())

    @property
    def rough(self) -> Self:
        """With nodes farther apart, and not as far out; as it is where there are few or none."""
        is_fine = self.treatment.integrates and self.nodes.number >= FINE
        return replace(self, nodes=rough_nodes(self.nodes)) if is_fine else self

    def stan_data(self) -> StanData:
        """Distinct items, sizes, priors and link; pools and nodes, if the program has any."""
        sizes = {"K": self.n_categories, "W": 1, "R": self.n_raters}
        own = StanData(sizes, values={"probit": int(self.link == "probit")})
        if self.treatment.integrates:
            own |= self.nodes.stan_data()
        if self.is_pooled:
            own |= StanData({"G": self.n_pools}, {"pool": self.pool})
        return self.prior_data | self.mixture.stan_data() | own


OrderedPosterior = Posterior[OrderedProblem]
