"""The family of models with normal effects: what such a model holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple, Protocol, TypeVar

import pandas as pd
import xarray as xr
from numpy.random import Generator
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.families.maximum_likelihood import Criterion, Search
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
