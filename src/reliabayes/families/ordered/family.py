"""The family of models of ordered scores: what such a model holds, and the problem of ratings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats
from reliabayes.families.category_checks import check_categories, check_votes
from reliabayes.families.cells import Cells
from reliabayes.families.cut_points import require_ordered
from reliabayes.families.ordered.centring import CoreCentring
from reliabayes.families.ordered.crowd import CrowdCentring, SampledEffects, is_crowd, sampled
from reliabayes.families.ordered.one_population import IntegratedEffects, integrated
from reliabayes.families.ordered.pools import pooled
from reliabayes.families.ordered.problem import ONE_POPULATION, POOLS, OrderedProblem
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import StanPart
from reliabayes.inference.stan import Draws
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.likelihoods.ordinal import Link
from reliabayes.likelihoods.quadrature import Nodes
from reliabayes.ratings import Ratings

# What programs draw besides, or in place of, parameters of the model, where they sample scores.
ADDED = ("core", "score", "item_score", "log_slope")
ICC_OBSERVED = ("icc_observed", "labeler_icc_observed")
XCC_OBSERVED = ("normalized_xcc_observed", "unnormalized_xcc_observed")


@dataclass(frozen=True, kw_only=True)
class OrderedScores:
    """Latent scores, item effect plus rater effect plus residual, cut into categories.

    Attributes
    ----------
    is_binary : bool
        Whether there are two categories only, with a mean in place of cut points.
    is_pooled : bool
        Whether items have an effect in each pool of raters; otherwise all are one population.
    """

    is_binary: bool
    is_pooled: bool

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the models, in the order of their programs."""
        return POOLS if self.is_pooled else ONE_POPULATION

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables, sampled effects and scores too."""
        own: dict[str, tuple[str, ...]] = {"cut": ("below",), "effect": ("item",)}
        if self.is_pooled:
            own = {"cut": ("below", "pool"), "score": ("pool", "item")}
        return {**{each.name: each.dims for each in self.parameters}, **own}


def ordered_problem(
    family: OrderedScores,
    ratings: Ratings,
    *,
    model: str,
    priors: Mapping[str, Array],
    repeats: Repeats,
    link: Link,
    nodes: int | None,
    pool: Codes | None,
) -> OrderedProblem:
    """Ratings reduced to distinct items, priors, and nodes where effects are integrated out.

    Parameters
    ----------
    family : OrderedScores
        What the model holds.
    ratings : Ratings
        The data.
    model : str
        Name of the model, for messages.
    priors : mapping of str to array
        Numbers of the priors.
    repeats : {"independent", "one_vote"}
        What several ratings of an item by one rater count as.
    link : {"logit", "probit"}
        Distribution of the residual.
    nodes : int or None
        Number of nodes that the user asked for.
    pool : array of int, shape (R,), or None
        Position of each rater's pool; None for one population.

    Returns
    -------
    OrderedProblem

    Raises
    ------
    RatingsError
        The ratings do not suit the model.
    """
    require_ordered(ratings, model, binary=family.is_binary)
    ratings.require_known_raters(model)
    check_votes(ratings, repeats)
    check_categories(ratings)
    categories, cells = ratings.categories, Cells.of(ratings, exchangeable_raters=False)
    kind = np.zeros(ratings.n_items, np.int32)
    problem = OrderedProblem(
        coords={
            "item": ratings.items,
            "rater": ratings.raters,
            "category": categories,
            "pool": ratings.pools,
            "below": categories[:-1],
            "between": categories[1:-1],
        },
        priors=priors,
        cells=cells,
        mixture=ItemMixture.of(ratings.item, cells.of_rating, len(cells.category), kind),
        link=link,
        is_pooled=family.is_pooled,
        pool=np.zeros(ratings.n_raters, np.int32) if pool is None else pool,
        treatment=IntegratedEffects(),
        given_nodes=nodes,
    )
    if family.is_pooled:
        return pooled(problem)
    return sampled(problem) if nodes is None and is_crowd(problem) else integrated(problem)


def for_program(point: Mapping[str, Any], centring: StanPart | None) -> Mapping[str, Any]:
    """A point as the program declares it: scores in place of parameters and levels."""
    if not isinstance(centring, (CoreCentring, CrowdCentring)):
        return point
    return centring.for_program(point)


def from_program(run: Draws, centring: StanPart | None) -> Draws:
    """A run of the program, with parameters only."""
    if not isinstance(centring, (CoreCentring, CrowdCentring)):
        return run
    own = {name: drawn for name, drawn in run.parameters.items() if name not in ADDED}
    return replace(run, parameters=own)


def with_nodes_of(problem: OrderedProblem, centring: StanPart | None) -> OrderedProblem:
    """The problem with the nodes that suffice around a mode, if its centring has any."""
    if not isinstance(centring, CoreCentring):
        return problem
    if isinstance(problem.treatment, SampledEffects):
        problem = integrated(problem)  # of a fit that was saved when all crowds were
    return replace(problem, nodes=Nodes.at(centring.node)) if centring.node.size else problem
