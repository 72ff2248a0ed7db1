"""The family of models with normal effects: what such a model holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.random import Generator
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.families.maximum_likelihood import Criterion, Search
from reliabayes.families.simulation import require_known
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem
from reliabayes.inference.warm_start import WarmStart
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior

P = TypeVar("P", bound=Problem, contravariant=True)


class Wanted(NamedTuple):
    """What is to be simulated.

    Attributes
    ----------
    design : DataFrame or Ratings
        Who rates what, under which levels of facets.
    given : mapping of str to array
        Parameters that are not to be drawn from their priors.
    categories : iterable
        Values that a rating can have, if the design is a table and ratings are categories.
    """

    design: pd.DataFrame | Ratings
    given: Point
    categories: Iterable[Any]


class NormalFamily(Protocol[P]):
    """How ratings come from normal effects; `RatingModel` says what each method means."""

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]: ...

    @property
    def declared(self) -> tuple[Parameter, ...]: ...

    def program(self, problem: P) -> str: ...

    def start(self, problem: P) -> WarmStart: ...

    def cold_start(self, problem: P) -> WarmStart: ...

    def search(self, problem: P, criterion: Criterion) -> Search: ...

    def log_likelihood(self, point: Point, problem: P) -> float: ...

    def quantities(self, posterior: Posterior[P]) -> xr.Dataset: ...

    def effects_of_levels(
        self, posterior: Posterior[P], facet: str, prob: float | None, rng: Generator
    ) -> pd.DataFrame: ...

    def items_by_part(
        self, posterior: Posterior[P], prob: float | None, rng: Generator
    ) -> TableOfPart: ...

    def new_rater(self, posterior: Posterior[P], rng: Generator) -> dict[str, Array] | None: ...

    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]: ...

    def replicates(self, posterior: Posterior[P], rng: Generator) -> Iterator[NDArray[Any]]: ...

    def drawn_point(self, wanted: Wanted, rng: Generator) -> dict[str, Array]: ...

    def simulate(self, wanted: Wanted, rng: Generator) -> Ratings: ...


@dataclass(frozen=True)
class NormalSimulation:
    """Simulation of ratings that come from normal effects.

    Attributes
    ----------
    model : object
        The model, for messages.
    family : NormalFamily
        How its ratings come from the effects.
    has_categories : bool
        Whether they are categories.
    """

    model: object
    family: NormalFamily[Any]
    has_categories: bool

    def ratings(
        self,
        design: pd.DataFrame | Ratings,
        rng: Generator,
        categories: Iterable[Any] | None,
        parameters: Mapping[str, Any] | None,
    ) -> Ratings:
        """Ratings of a design, at the parameters given and others drawn from their priors."""
        return self.family.simulate(self._wanted(design, parameters, categories), rng)

    def parameters(
        self, design: pd.DataFrame | Ratings, rng: Generator, categories: Iterable[Any] | None
    ) -> dict[str, Array]:
        """Parameters drawn from their priors."""
        return self.family.drawn_point(self._wanted(design, None, categories), rng)

    def _wanted(
        self,
        design: pd.DataFrame | Ratings,
        parameters: Mapping[str, Any] | None,
        categories: Iterable[Any] | None,
    ) -> Wanted:
        """What to simulate: parameters that the model has, and categories if it has any."""
        if not self.has_categories and categories is not None:
            raise TypeError(f"{type(self.model).__name__} is for numbers: leave categories out.")
        given = {name: np.asarray(value, float) for name, value in (parameters or {}).items()}
        require_known(given, [each.name for each in self.family.declared], self.model)
        return Wanted(design, given, (0, 1) if categories is None else categories)
