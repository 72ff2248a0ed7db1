"""Checks and designs that all simulations share, and the simulation of ratings in categories."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Generic, Protocol, TypeVar

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats, Scale
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.ratings import Ratings
from reliabayes.ratings.one_vote import one_vote_each

P = TypeVar("P")
P_co = TypeVar("P_co", covariant=True)


class Simulation(Protocol):
    """How a model draws ratings and parameters; `RatingModel.simulate` has the meaning of each."""

    def ratings(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        categories: Iterable[Any] | None,
        parameters: Mapping[str, Any] | None,
    ) -> Ratings:
        """Ratings of a design, at the parameters given and others drawn from their priors."""

    def parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        categories: Iterable[Any] | None,
    ) -> Point:
        """Parameters drawn from their priors."""


class SimulatedModel(Protocol[P_co]):
    """What the simulation of ratings in categories asks of a model."""

    @property
    def repeats(self) -> Repeats:
        """What several ratings of an item by one rater count as."""

    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the Stan program."""

    def problem(self, ratings: Ratings) -> P_co:
        """What the posterior depends on."""


@dataclass(frozen=True)
class CategorySimulation(Generic[P]):
    """Simulation of ratings in categories.

    Attributes
    ----------
    model : SimulatedModel
        The model.
    draw_from_prior : callable
        Of a problem, a generator and given parameters: the others, drawn from their priors.
    rate : callable
        Of parameters, a design, its problem and a generator: the category (N,) of each rating.
    """

    model: SimulatedModel[P]
    draw_from_prior: Callable[[P, np.random.Generator, Point], Point]
    rate: Callable[[Point, Ratings, P, np.random.Generator], Codes]

    def ratings(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        categories: Iterable[Any] | None,
        parameters: Mapping[str, Any] | None,
    ) -> Ratings:
        """Ratings of a design, at the parameters given and others drawn from their priors."""
        blank = self._blank(design, categories)
        problem = self.model.problem(blank)
        given = {name: np.asarray(value, float) for name, value in (parameters or {}).items()}
        require_known(given, (each.name for each in self.model.parameters()), self.model)
        point = {**self.draw_from_prior(problem, rng, given), **given}
        drawn = blank.categories[self.rate(point, blank, problem, rng)]
        return rated(blank, drawn, scale=blank.scale, categories=blank.categories)

    def parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        categories: Iterable[Any] | None,
    ) -> Point:
        """Parameters drawn from their priors."""
        problem = self.model.problem(self._blank(design, categories))
        return self.draw_from_prior(problem, rng, {})

    def _blank(self, design: pd.DataFrame | Ratings, categories: Iterable[Any] | None) -> Ratings:
        """Arbitrary ratings of a design, as the model counts them."""
        blank = blank_ratings(design, (0, 1) if categories is None else categories)
        return one_vote_each(blank) if self.model.repeats == "one_vote" else blank


def require_known(given: Iterable[str], names: Iterable[str], model: object) -> None:
    """Raise if parameters are given that the model does not have."""
    if unknown := set(given).difference(names := list(names)):
        raise ValueError(
            f"parameters: {type(model).__name__} has no {', '.join(sorted(unknown))}; its "
            f"parameters are {', '.join(names)}."
        )


def rated(design: pd.DataFrame | Ratings, rating: Any, **reading: Any) -> Ratings:
    """Ratings of a design: a table with columns item and rater, and pool, group or block if any.

    Of ratings the facets are kept; a table has none.
    """
    facets: list[str] = []
    if isinstance(design, Ratings):
        facets, design = list(design.facets), design.to_frame()
    columns = [name for name in ("pool", "group", "block") if name in design]
    return Ratings.from_frame(
        design[["item", "rater", *columns, *facets]].assign(rating=rating),
        pool="pool" if "pool" in columns else None,
        group="group" if "group" in columns else None,
        block="block" if "block" in columns else None,
        replicates="keep",
        facets=facets,
        **reading,
    )


def blank_ratings(design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> Ratings:
    """Ratings of a design, with arbitrary categories."""
    scale: Scale | None = None
    if isinstance(design, Ratings):
        categories, scale = design.categories, design.scale
    values = pd.Index(list(categories))
    arbitrary = values[np.arange(len(design)) % len(values)]
    return rated(design, arbitrary, scale=scale, categories=values)


def drawn_categories(probability: Array, rng: np.random.Generator) -> Codes:
    """A category (N,) drawn from each row of probabilities (N, K), which need not sum to 1."""
    edges = probability.cumsum(axis=1)
    point = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((point[:, None] >= edges[:, :-1]).sum(axis=1, dtype=np.int32))
