"""What all models share whose items have a hidden state, which is summed out of the ratings."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.inference.em import Climb, Point, climb
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.models.bases.points import points, rated, require_known
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.ratings import Ratings, Scale

Data = Mapping[str, Any]


class HiddenStateModel(RatingModel):
    """A model in which an item has a hidden state, given which its ratings are independent.

    A subclass says which `parameters` its Stan program has and which `priors` it reads, how likely
    states (`log_weight`) and ratings in them (`table`) are, and what expected ratings tell of the
    parameters (`maximise`, `spread`). A *point* is a value of each parameter, by name; where a
    method takes points of many draws at once, their dimensions come first.
    """

    pooled: ClassVar[bool] = False  # whether all raters are alike, and need not be known
    adapts: ClassVar[bool] = False  # whether the sampler is to improve on EM's curvature of many
    few: ClassVar[int] = 20  # parameters at most whose covariance it is to learn in any case
    acceptance: ClassVar[float] = 0.8  # what its step size is adapted to

    # What a model says.

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the Stan program, in its order."""

    @abstractmethod
    def priors(self, n_categories: int) -> dict[str, Any]:
        """Priors as the Stan program reads them, their keys starting with ``prior_``."""

    @abstractmethod
    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors; others than those ``given`` count."""

    @abstractmethod
    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Likelier parameters given expected ratings (H, V) and expected items (H,) by state."""

    @abstractmethod
    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations of the posterior on Stan's unconstrained scale, roughly."""

    @abstractmethod
    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of the prior on the unconstrained scale, but for constants."""

    @abstractmethod
    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities (H, V) of a rating, by state of the item and cell of the rating."""

    @abstractmethod
    def log_weight(self, point: Point, data: Data) -> Array:
        """Log-probabilities (H,) of the states of an item."""

    @abstractmethod
    def first_states(
        self, mixture: ItemMixture, data: Data, rng: np.random.Generator | None
    ) -> Array:
        """Probabilities (D, H) of the states of each item, to climb from; random ones if asked."""

    @abstractmethod
    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings, drawn at a point: of like items, by the same raters."""

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {parameter.name: parameter.dims for parameter in self.parameters()}

    # Data.

    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Distinct items by their cells, and priors."""
        mixture, described = self.mixture(ratings)
        return {**mixture.to_stan(), **described}

    def mixture(self, ratings: Ratings) -> tuple[ItemMixture, dict[str, Any]]:
        """Distinct items, and what else of the data tells the table and weights at a point."""
        name = type(self).__name__
        if not self.pooled:
            ratings.require_known_raters(name)
        n_categories = len(ratings.categories)
        if n_categories < 2:
            rule = "there must be two categories or more"
            remedy = "Pass categories=... with every value that a rating could have had."
            raise RatingsError([Fault("rating", rule, f"only {ratings.categories[0]!r}", remedy)])
        cell, described = self.cells(ratings)
        kind = self.kinds(ratings)
        described |= self.priors(n_categories)
        described["W"] = n_categories + 1 if kind.any() else 1
        return ItemMixture.of(ratings.item, cell, described["V"], kind), described

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """Cell (N,) of each rating, and what the Stan program must know of raters and cells."""
        n_categories = len(ratings.categories)
        if self.pooled:
            return ratings.category, {"K": n_categories, "V": n_categories}
        cell = ratings.category * np.int32(ratings.n_raters) + ratings.rater
        sizes = {"R": ratings.n_raters, "K": n_categories, "V": ratings.n_raters * n_categories}
        return cell, sizes

    def kinds(self, ratings: Ratings) -> Codes:
        """Kind (I,) of each item, which says what states it can be in: all alike."""
        return np.zeros(ratings.n_items, np.int32)

    def cell_category(self, data: Data) -> Codes:
        """Category (V,) of the ratings in each cell."""
        return np.arange(data["V"], dtype=np.int32) // np.int32(data.get("R", 1))

    def cell_rater(self, data: Data) -> Codes:
        """Rater (V,) of the ratings in each cell."""
        return np.arange(data["V"], dtype=np.int32) % np.int32(data.get("R", 1))

    # Expectation maximisation.

    def warm_start(self, data: Data) -> WarmStart:
        """Mode of the posterior on the unconstrained scale, and its curvature, by EM."""
        found = self.climb(data, None, most=300, tolerance=1e-4)
        mode = {p.name: p.unconstrain(found.point[p.name]) for p in self.parameters()}
        few = sum(np.size(value) for value in mode.values()) <= self.few
        return WarmStart(
            mode=mode,
            sd=self.spread_at(found.point, data),
            constrain=self._constrain,
            step_size=0.5,
            adapt=few or self.adapts,
            acceptance=self.acceptance,
            path=found.path,
        )

    def spread_at(self, point: Point, data: Data) -> Point:
        """What `spread` says of the ratings that are expected at a point."""
        mixture = ItemMixture.from_stan(data)
        _, state = mixture.posterior(*self.columns(point, data))
        return self.spread(point, *mixture.expected(state), data)

    def cold_start(self, data: Data) -> WarmStart:
        """Parameters around the middle of their ranges, a factor e of odds away or so."""
        middle = {p.name: np.zeros(p.free_shape(data)) for p in self.parameters()}
        sd = {name: np.full_like(zero, 0.5) for name, zero in middle.items()}
        return WarmStart(mode=middle, sd=sd, constrain=self._constrain)

    def climb(
        self, data: Data, start: np.random.Generator | None, most: int, tolerance: float
    ) -> Climb:
        """Climb from the votes, or from random shares; the objective is the posterior density."""
        mixture = ItemMixture.from_stan(data)

        def evaluate(point: Point) -> tuple[float, Callable[[], Point]]:
            log_probability, state = mixture.posterior(*self.columns(point, data))
            objective = mixture.total(log_probability) + self.log_prior(point, data)
            return objective, lambda: self.maximise(point, *mixture.expected(state), data)

        states = self.first_states(mixture, data, start)
        first = self.maximise(self.middle(data), *mixture.expected(states), data)
        return climb(evaluate, first, most=most, tolerance=tolerance, leap=self._allowed)

    def middle(self, data: Data) -> dict[str, Array]:
        """The middle of the range of each parameter."""
        return {p.name: p.constrain(np.zeros(p.free_shape(data))) for p in self.parameters()}

    def _allowed(self, point: Point) -> bool:
        return all(p.holds(point[p.name]) for p in self.parameters())

    def columns(self, point: Point, data: Data) -> tuple[Array, Array]:
        """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
        return self.table(point, data), self.log_weight(point, data)[:, None]

    def log_likelihood(self, point: Point, data: Data) -> float:
        """Log-probability of all ratings, true categories summed out."""
        mixture = ItemMixture.from_stan(data)
        return mixture.total(self.log_probability(point, mixture, data))

    def log_probability(self, point: Point, mixture: ItemMixture, data: Data) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its state summed out."""
        return mixture.posterior(*self.columns(point, data))[0]

    def _constrain(self, free: Mapping[str, Any]) -> dict[str, Any]:
        return {p.name: p.constrain(np.asarray(free[p.name])).tolist() for p in self.parameters()}

    # What draws tell.

    def log_likelihoods(self, posterior: xr.Dataset, ratings: Ratings) -> xr.DataArray:
        """Log-probability (chain, draw) of all ratings: the program's own, or computed here."""
        if "log_likelihood" in posterior:
            return posterior["log_likelihood"]
        mixture, data = self.mixture(ratings)
        found = (self.log_probability(point, mixture, data) for point in points(posterior))
        values = [mixture.total(log_probability) for log_probability in found]
        shape = posterior.sizes["chain"], posterior.sizes["draw"]
        return xr.DataArray(np.reshape(values, shape), dims=("chain", "draw"))

    def pointwise(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        mixture, data = self.mixture(ratings)
        n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
        found = np.empty((n_draws, len(mixture.items)))
        for row, point in zip(found, points(posterior), strict=True):
            row[:] = self.log_probability(point, mixture, data)
        return found, mixture.member

    # Simulation.

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] = (0, 1),
        parameters: Mapping[str, Any] | None = None,
    ) -> Ratings:
        """Ratings drawn from the model.

        Parameters
        ----------
        design : who rates what: a table with the columns item and rater, and pool if there are
            pools, a row for each rating; or ratings, whose categories are then kept
        rng : source of all randomness
        categories : the values that a rating can have
        parameters : arrays by name, as the Stan program declares them; those that are left out are
            drawn from their priors

        Raises
        ------
        RatingsError
            All ratings came out alike, or the design has faults.
        """
        blank = _blank(design, categories)
        data = self._design(blank)
        given = {name: np.asarray(value, float) for name, value in (parameters or {}).items()}
        require_known(given, (parameter.name for parameter in self.parameters()), self)
        point = self.draw_point(data, rng, given) | given
        category = self.replicate(point, self.first_round(point, blank, data, rng), data, rng)
        drawn = blank.categories[category]
        return rated(blank.to_frame(), drawn, scale=blank.scale, categories=blank.categories)

    def draw_parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] = (0, 1),
    ) -> dict[str, Array]:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self.draw_point(self._design(_blank(design, categories)), rng, {})

    def _design(self, blank: Ratings) -> dict[str, Any]:
        """What the Stan program reads, but for the ratings."""
        return {**self.cells(blank)[1], **self.priors(len(blank.categories)), "W": 1}

    def first_round(
        self, point: Point, blank: Ratings, data: Data, rng: np.random.Generator
    ) -> Ratings:
        """What raters know of each other's ratings before they rate: nothing, mostly."""
        return blank

    def replicates(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Codes]:
        """Categories (N,) of new ratings at each draw, one draw at a time; see `replicate`."""
        _, data = self.mixture(ratings)
        for point in points(posterior):
            yield self.replicate(point, ratings, data, rng)


def drawn_categories(probability: Array, rng: np.random.Generator) -> Codes:
    """A category (N,) drawn from each row of probabilities (N, K), which need not sum to 1."""
    edges = probability.cumsum(axis=1)
    point = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((point[:, None] >= edges[:, :-1]).sum(axis=1, dtype=np.int32))


def _blank(design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> Ratings:
    """Ratings of a design, of whatever category."""
    scale: Scale | None = None
    if isinstance(design, Ratings):
        categories, scale = design.categories, design.scale
        design = design.to_frame()
    values = pd.Index(list(categories))
    some = values[np.arange(len(design)) % len(values)]
    return rated(design, some, scale=scale, categories=values)
