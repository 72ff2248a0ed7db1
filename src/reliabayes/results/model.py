"""What results need of a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar, Protocol, runtime_checkable

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats, Stated
from reliabayes.facets import Decision
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanPart
from reliabayes.partitions import AnyRatings, RatingsDataset, with_one_vote_each
from reliabayes.ratings import Ratings
from reliabayes.results.item_tables import TableOfPart
from reliabayes.results.posterior import Posterior
from reliabayes.results.rating_probabilities import RatingProbabilities


class Model(Protocol):
    """What a fit asks of every model; `reliabayes.models.RatingModel` says what each means."""

    __dataclass_fields__: ClassVar[dict[str, Any]]
    summary: ClassVar[str]
    references: ClassVar[tuple[str, ...]]
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
    def stated(self) -> Stated: ...

    @property
    def covariates(self) -> Any: ...

    def problem(self, ratings: Ratings) -> Problem: ...

    def labelled(self, drawn: Mapping[str, Array], problem: Any) -> xr.Dataset: ...

    def quantities(self, posterior: Posterior[Any]) -> xr.Dataset: ...

    def items(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame: ...

    def raters(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame: ...

    def pointwise(self, posterior: Posterior[Any]) -> tuple[Array, Codes]: ...

    def replicates(
        self, posterior: Posterior[Any], rng: np.random.Generator
    ) -> Iterator[NDArray[Any]]: ...


# What only some models have: such a model has the methods, and needs to say nothing else.


@runtime_checkable
class TakesParts(Protocol):
    """A model of ratings in memory or in parts."""

    def problem_of_parts(self, dataset: RatingsDataset) -> Problem:
        """As `problem`, of ratings in parts."""

    def items_by_part(
        self, posterior: Posterior[Any], prob: float | None, rng: np.random.Generator
    ) -> TableOfPart:
        """What makes the table `items` of a part, with what all parts share already drawn."""


@runtime_checkable
class ChoosesNodes(Protocol):
    """A model that integrates over nodes, of which a start says how many suffice."""

    def settled(self, problem: Any, centring: StanPart | None) -> Any:
        """The problem as the program takes it from a start."""

    def integration_error(self, posterior: Posterior[Any]) -> tuple[int, float]:
        """Number of nodes, and the error of the log-likelihood in nats."""


@runtime_checkable
class HasSupports(Protocol):
    """A model that works with the supports of its program's parameters."""

    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the program."""


@runtime_checkable
class HasTrueCategories(Protocol):
    """A model in which items have a hidden true category."""

    def category_probabilities(self, posterior: Posterior[Any]) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item."""

    def correct_ratings(self, posterior: Posterior[Any], rng: np.random.Generator) -> Array:
        """Number (S, R) of each rater's correct ratings."""


@runtime_checkable
class RatesInCategories(Protocol):
    """A model of ratings in categories."""

    def rating_probabilities(
        self, posterior: Posterior[Any]
    ) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None where that depends on the ratings of others."""


@runtime_checkable
class HasNewRaters(Protocol):
    """A model of the population that raters are drawn from."""

    def new_rater(
        self, posterior: Posterior[Any], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array] | None:
        """Draws (S,) of what a rater drawn from their population has; None if there is none."""


@runtime_checkable
class HasFacets(Protocol):
    """A model of effects of occasions and other facets."""

    def decision(self, posterior: Posterior[Any], fixed: frozenset[str] | None = None) -> Decision:
        """Measurement by single ratings, draw by draw; facets are fixed as given, or as it says."""

    def effects_of_levels(
        self, posterior: Posterior[Any], facet: str, prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the levels of a facet."""


@runtime_checkable
class HasPanel(Protocol):
    """A model of people and judges, on items of some groups."""

    def panel(self, posterior: Posterior[Any]) -> Any:
        """Rates of groups, and how far judges can be trusted."""


@runtime_checkable
class Cautions(Protocol):
    """A model with something to say beside its results."""

    def caution(self, ratings: Ratings) -> str:
        """What to say, in sentences; empty if there is nothing to say."""


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
        assert isinstance(model, TakesParts)
        return model.problem_of_parts(ratings)
    return settled(model, model.problem(ratings), centring)


def settled(model: Model, problem: Any, centring: StanPart | None) -> Any:
    """The problem as the program takes it from a start, with the nodes that suffice around it.

    Parameters
    ----------
    model : Model
        The model.
    problem : Problem
        That of the ratings.
    centring : StanPart or None
        That of the start.

    Returns
    -------
    Problem
    """
    return model.settled(problem, centring) if isinstance(model, ChoosesNodes) else problem


def supports(model: Model) -> tuple[Parameter, ...]:
    """Parameters of a model's program with their supports, if the model works with them.

    Parameters
    ----------
    model : Model
        The model.

    Returns
    -------
    tuple of Parameter
    """
    return model.parameters() if isinstance(model, HasSupports) else ()


def no_true_categories(model: Model) -> AttributeError:
    """That a model has no true categories, or raters without accuracies of their own."""
    name = type(model).__name__
    lacks = f"{name} has no true categories."
    if model.has_true_categories:
        lacks = f"Raters of {name} follow each other: they have no accuracy of their own."
    return AttributeError(f"{lacks} Fit a model that has them, such as DawidSkene or RaterTAP.")


def no_panel(model: Model) -> AttributeError:
    """That a model knows no judges."""
    name = type(model).__name__
    return AttributeError(f"{name} does not tell judges from people; fit JudgePanel instead.")


def no_facets(model: Model) -> ValueError:
    """That a model has no facets."""
    return ValueError(f"{type(model).__name__} has no facets; fit GStudy instead.")
