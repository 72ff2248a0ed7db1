"""The family of models with normal effects: what such a model holds."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd
import xarray as xr
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


class NormalFamily(Protocol[P]):
    """How ratings come from normal effects, which are integrated out of their likelihood or drawn.

    The methods are those of `RatingModel`, which says what each means.
    """

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the programs' variables."""

    @property
    def declared(self) -> tuple[Parameter, ...]:
        """What determines a point."""

    # Density, and where chains start.

    def program(self, problem: P) -> str:
        """Stan program that samples from the posterior."""

    def start(self, problem: P) -> WarmStart:
        """Mode of the posterior, and its curvature."""

    def cold_start(self, problem: P) -> WarmStart:
        """Widely dispersed starting points."""

    def search(self, problem: P, criterion: Criterion) -> Search:
        """What is maximised over few numbers, and which parameters they are."""

    def log_likelihood(self, point: Point, problem: P) -> float:
        """Log density of all ratings, with effects integrated out."""

    # Results.

    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """Reported quantities, draw by draw."""

    def items(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items: mean, sd, median and interval."""

    def items_by_part(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What draws the effects of the items of a part, given draws of what all parts share."""

    def raters(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters: mean, sd, median and interval."""

    def new_rater(
        self, posterior: Posterior[P], rng: np.random.Generator
    ) -> dict[str, Array] | None:
        """Draws (S,) of the effect of a rater drawn from the population; None if there is none."""

    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given effects that are not theirs."""

    def replicates(
        self, posterior: Posterior[P], rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]:
        """Ratings (N,) of new items under the same other levels, draw by draw."""

    # Simulation.

    def drawn_point(
        self,
        design: pd.DataFrame | Ratings,
        given: Point,
        categories: Iterable[Any],
        rng: np.random.Generator,
    ) -> dict[str, Array]:
        """Parameters: those given, and others drawn from their priors."""

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        given: Point,
        categories: Iterable[Any],
        rng: np.random.Generator,
    ) -> Ratings:
        """Ratings of a design; of models of numbers without regard to the categories."""
