"""What results need of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Protocol

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats
from reliabayes.facets import Decision
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.partitions import AnyRatings, RatingsDataset, with_one_vote_each
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities


class Model(Protocol):
    """What a fit asks of its model; `reliabayes.models.RatingModel` says what each means."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    summary: ClassVar[str]
    reports: ClassVar[tuple[str, ...]]
    continuous: ClassVar[bool]
    conditional: ClassVar[bool]
    has_true_categories: ClassVar[bool]
    has_facets: ClassVar[bool]
    takes_parts: ClassVar[bool]

    @classmethod
    def name(cls) -> str: ...

    @property
    def fit(self) -> Callable[..., Any]: ...

    @property
    def repeats(self) -> Repeats: ...

    @property
    def covariates(self) -> Any: ...

    def problem(self, ratings: Ratings) -> Problem: ...

    def problem_of_parts(self, dataset: RatingsDataset) -> Problem | None: ...

    def settled(self, problem: Any, centring: StanPart | None) -> Any: ...

    def parameters(self) -> tuple[Parameter, ...]: ...

    def labelled(self, drawn: Mapping[str, Array], problem: Any) -> xr.Dataset: ...

    def quantities(self, posterior: Posterior[Any]) -> xr.Dataset: ...

    def items(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame: ...

    def raters(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame: ...

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array] | None: ...

    def items_by_part(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> TableOfPart | None: ...

    def category_probabilities(self, posterior: Posterior[Any]) -> pd.DataFrame | None: ...

    def pointwise(self, posterior: Posterior[Any]) -> tuple[Array, Codes]: ...

    def replicates(
        self, posterior: Posterior[Any], rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]: ...

    def correct_ratings(
        self, posterior: Posterior[Any], rng: np.random.Generator
    ) -> Array | None: ...

    def rating_probabilities(
        self, posterior: Posterior[Any]
    ) -> Iterator[RatingProbabilities] | None: ...

    def decision(
        self, posterior: Posterior[Any], fixed: frozenset[str] | None = None
    ) -> Decision | None: ...

    def effects_of_levels(
        self, posterior: Posterior[Any], facet: str, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame | None: ...

    def caution(self, ratings: Ratings) -> str: ...

    def integration_error(self, posterior: Posterior[Any]) -> tuple[int, float]: ...


def as_counted(model: Model, ratings: AnyRatings) -> AnyRatings:
    """Ratings as a model counts them: each, or one vote of each rater on an item.

    Parameters
    ----------
    model : Model
        The model.
    ratings : Ratings or RatingsDataset
        The data.

    Returns
    -------
    Ratings or RatingsDataset
    """
    return with_one_vote_each(ratings) if model.repeats == "one_vote" else ratings


def problem_of(model: Model, ratings: AnyRatings, centring: StanPart | None = None) -> Any:
    """What a posterior depends on, of ratings in memory or in parts.

    Parameters
    ----------
    model : Model
        The model.
    ratings : Ratings or RatingsDataset
        The data; in parts if the model takes them.
    centring : StanPart, optional
        That of the start of a fit, which may say how finely the problem is integrated.

    Returns
    -------
    Problem
    """
    if isinstance(ratings, RatingsDataset):
        return model.problem_of_parts(ratings)
    return model.settled(model.problem(ratings), centring)


def no_true_categories(model: Model) -> AttributeError:
    """That a model has no true categories, or raters without accuracies of their own."""
    name = type(model).__name__
    lacks = f"{name} has no true categories."
    if model.has_true_categories:
        lacks = f"Raters of {name} follow each other: they have no accuracy of their own."
    return AttributeError(f"{lacks} Fit a model that has them, such as DawidSkene or RaterTAP.")


def no_facets(model: Model) -> ValueError:
    """That a model has no facets."""
    return ValueError(f"{type(model).__name__} has no facets; fit GStudy instead.")
