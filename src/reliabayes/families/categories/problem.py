"""Ratings in categories, of items with a hidden state: what models of true categories take."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Generic, Self

import numpy as np
import pandas as pd
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats
from reliabayes.families.categories.difficulty import coarser, difficulty_nodes
from reliabayes.families.categories.prevalence import Prevalence
from reliabayes.families.category_checks import check_categories, check_votes
from reliabayes.families.cells import Cells
from reliabayes.inference.em import Point
from reliabayes.inference.knowledge_centring import KnowledgeCentring
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData, StanPart
from reliabayes.likelihoods.item_mixture import Expected, ItemMixture
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings

MISLEADING = Parameter("misleading", "unit", ("all",))

X = TypeVar("X", bound=StanPart | None, default=Any)


@dataclass(frozen=True, eq=False, kw_only=True)
class CategoricalProblem(Problem, Generic[X]):
    """Ratings in categories, of items with a hidden state.

    A state is a category that the ratings of the item follow, at each node of its difficulty if
    items have one. The category is the true one, unless the item misleads.

    Attributes
    ----------
    parameters : tuple of Parameter
        Parameters of the Stan program, in its order.
    cells : Cells
        Cells of the ratings.
    mixture : ItemMixture
        Distinct items by their ratings in each cell.
    prevalence : Prevalence or None
        Whether the prevalence is fixed; None where it is a parameter of dims ("true_category",).
    nodes : Nodes or None
        Nodes of the difficulty of items, if they have one.
    own : StanPart or None
        What else the model's response reads.
    parts : RatingsDataset or None
        Where the items are, if they are too many for memory; ``mixture`` then has none of them.
    """

    parameters: tuple[Parameter, ...]
    cells: Cells
    mixture: ItemMixture
    prevalence: Prevalence | None = None
    nodes: Nodes | None = None
    own: X = None  # type: ignore[assignment]  # of models with nothing of their own
    parts: RatingsDataset | None = None

    @property
    def n_categories(self) -> int:
        """Number K of categories."""
        return self.size("category")

    @property
    def has_raters(self) -> bool:
        """Whether raters are told apart, and not exchangeable."""
        return "rater" in self.coords

    @property
    def n_raters(self) -> int:
        """Number R of raters; 1 if they are exchangeable."""
        return self.size("rater") if self.has_raters else 1

    @property
    def n_cells(self) -> int:
        """Number V of cells."""
        return len(self.cells.category)

    @property
    def n_gold_states(self) -> int:
        """Number W of kinds of items: unknown true category, then each known one."""
        return 1 + self.n_categories * bool(self.mixture.kind.any())

    @property
    def misleads(self) -> bool:
        """Whether an item may have another true category than its ratings follow."""
        return MISLEADING in self.parameters

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of each parameter."""
        return {each.name: each.dims for each in self.parameters}

    @property
    def category_of_state(self) -> Codes:
        """Category (H,) that ratings follow in each state: categories run within nodes."""
        categories = np.arange(self.n_categories, dtype=np.int32)
        return categories if self.nodes is None else np.tile(categories, self.nodes.number)

    @property
    def rough(self) -> Self:
        """With half as many nodes of the difficulty."""
        nodes = None if self.nodes is None else coarser(self.nodes)
        return self if nodes is self.nodes else replace(self, nodes=nodes)

    def with_nodes_of(self, centring: StanPart | None) -> Self:
        """With the nodes that suffice around the mode of a centring, if it says how many."""
        number = centring.nodes if isinstance(centring, KnowledgeCentring) else 0
        return replace(self, nodes=difficulty_nodes(0, int(number))) if number else self

    @property
    def middle(self) -> Point:
        """The middle of the range of each parameter."""
        return {p.name: p.constrain(np.zeros(p.free_shape(self.size))) for p in self.parameters}

    def stan_data(self) -> StanData:
        """Distinct items, sizes and priors."""
        if self.parts is not None:
            raise ValueError(
                f"NUTS needs distinct items in memory; found {self.size('item'):,} items in parts, "
                "most of them rated differently. Pass sampler='auto' or 'gibbs', and leave "
                "output_dir out."
            )
        sizes = {"K": self.n_categories, "W": self.n_gold_states}
        if self.has_raters:
            sizes["R"] = self.n_raters
        if MISLEADING.name in self.priors:
            sizes["misleads"] = int(self.misleads)
        found = self.prior_data | self.mixture.stan_data() | StanData(sizes)
        for part in (self.prevalence, self.nodes, self.own):
            if part is not None:
                found |= part.stan_data()
        return found


def categorical_problem(
    ratings: Ratings,
    *,
    model: str,
    parameters: tuple[Parameter, ...],
    priors: Mapping[str, Array],
    repeats: Repeats,
    has_raters: bool,
    cells: Cells | None = None,
) -> CategoricalProblem[None]:
    """What all problems have in common.

    Parameters
    ----------
    ratings : Ratings
        The data.
    model : str
        Name of the model, for messages.
    parameters : tuple of Parameter
        Parameters of the Stan program.
    priors : mapping of str to array
        Numbers of their priors.
    repeats : {"independent", "one_vote"}
        What several ratings of an item by one rater count as.
    has_raters : bool
        Whether raters are told apart.
    cells : Cells, optional
        A cell is a category and a rater unless given.
    """
    if has_raters:
        ratings.require_known_raters(model)
    check_votes(ratings, repeats)
    categories = ratings.categories
    check_categories(ratings)
    cells = cells or Cells.of(ratings, exchangeable_raters=not has_raters)
    coords: dict[str, pd.Index[Any]] = {
        "item": ratings.items,
        "category": categories,
        "true_category": categories,
        "pool": ratings.pools,
        "all": pd.RangeIndex(1),
    }
    if has_raters:
        coords["rater"] = ratings.raters
    return CategoricalProblem(
        coords=coords,
        priors=priors,
        parameters=parameters,
        cells=cells,
        mixture=ItemMixture.of(ratings.item, cells.of_rating, len(cells.category), kinds(ratings)),
    )


def kinds(ratings: Ratings) -> Codes:
    """Kind (I,) of each item: 0 where the true category is unknown, or that category, from 1."""
    if ratings.gold_category is None:
        return np.zeros(ratings.n_items, np.int32)
    return ratings.gold_category + np.int32(1)


def prevalence_at(point: Point, problem: CategoricalProblem) -> Array:
    """Probabilities (..., K) of the true categories."""
    option = problem.prevalence
    if option is None:
        return point["prevalence"]
    return point["prevalence"][..., 0, :] if option.is_shared else option.mean


def log_weight(point: Point, problem: CategoricalProblem) -> Array:
    """Log-probabilities (..., H) of the states of an item."""
    with np.errstate(divide="ignore"):
        log_prevalence = np.log(prevalence_at(point, problem))
    if problem.nodes is None:
        return np.asarray(log_prevalence)
    by_node = np.log(problem.nodes.weight)[:, None] + log_prevalence[..., None, :]
    return np.asarray(by_node.reshape(*log_prevalence.shape[:-1], -1))


def by_rater(expected: Expected, problem: CategoricalProblem) -> Array:
    """Expected ratings (R, K, K): by rater, true category and category."""
    shape = problem.n_categories, problem.n_categories, problem.n_raters
    return expected.ratings.reshape(shape).transpose(2, 0, 1)
