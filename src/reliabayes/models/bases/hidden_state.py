"""Base class of models in which each item has a hidden state, which is marginalised."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, get_args

import numpy as np
import pandas as pd
import xarray as xr
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.choices import Repeats
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.category_checks import check_categories
from reliabayes.families.cells import Cells
from reliabayes.families.simulation import blank_ratings, rated, require_known
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.problem import Problem, StanData, StanPart
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import Expected, ItemMixture
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.partitions import RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.ratings.one_vote import one_vote_each
from reliabayes.results.posterior import Posterior


@dataclass(frozen=True, eq=False, kw_only=True)
class CategoricalProblem(Problem):
    """Ratings in categories, of items with a hidden state.

    Attributes
    ----------
    cells : Cells
        Cells of the ratings.
    mixture : ItemMixture
        Distinct items by their ratings in each cell.
    misleads : bool
        Whether the true category of an item may be another one than that which its ratings follow.
    parts : RatingsDataset or None
        Where the items are, if they are too many for memory; ``mixture`` then has none of them.
    """

    cells: Cells
    mixture: ItemMixture
    misleads: bool = False
    parts: RatingsDataset | None = None

    @property
    def n_categories(self) -> int:
        """Number K of categories."""
        return self.size("category")

    @property
    def n_raters(self) -> int:
        """Number R of raters; 1 if they are exchangeable."""
        return self.size("rater") if "rater" in self.coords else 1

    @property
    def n_cells(self) -> int:
        """Number V of cells."""
        return len(self.cells.category)

    @property
    def n_kinds(self) -> int:
        """Number W of kinds of items: unknown true category, then each known one."""
        return 1 + self.n_categories * bool(self.mixture.kind.any())

    def stan_data(self) -> StanData:
        """Distinct items, sizes and priors."""
        if self.parts is not None:
            raise ValueError(
                f"NUTS needs distinct items in memory; found {self.size('item'):,} items in parts, "
                "most of them rated differently. Pass sampler='auto' or 'gibbs', and leave "
                "output_dir out."
            )
        sizes = {"K": self.n_categories, "W": self.n_kinds}
        if "rater" in self.coords:
            sizes["R"] = self.n_raters
        if "misleading" in self.priors:
            sizes["misleads"] = int(self.misleads)
        return self.prior_data | self.mixture.stan_data() | StanData(sizes)


P = TypeVar("P", bound=CategoricalProblem, default=Any)


@dataclass(frozen=True, kw_only=True)
class HiddenStateModel(RatingModel[P]):
    """A model in which an item has a hidden state, given which its ratings are independent.

    A subclass defines which `parameters` its Stan program has and which `priors` they have, how
    probable states (`log_weight`) and ratings in them (`table`) are, and how EM finds the mode
    (`run_em`). A *point* is a value of each parameter, by name; where a method takes points of many
    draws at once, their dimensions come first.

    Parameters
    ----------
    repeats : {"independent", "one_vote"}, default "independent"
        What several ratings of an item by one rater count as: independent ratings, as published; or
        one vote, the category that the rater gave it most often. Runs of one judge repeat its
        errors, so that they are more ratings but no more evidence.
    """

    repeats: Repeats = "independent"

    exchangeable_raters: ClassVar[bool] = False  # raters need not be known
    adapts_metric: ClassVar[bool] = False  # the sampler improves on EM's curvature
    adapts_metric_up_to: ClassVar[int] = 20  # parameters; with so few it does in any case
    target_acceptance: ClassVar[float] = 0.8  # that the step size is adapted to
    crowd_acceptance: ClassVar[float | None] = None  # the same for 20 raters or more, if different
    thinning: ClassVar[int] = 1  # iterations of NUTS that make a draw
    has_cheap_climbs: ClassVar[bool] = False  # whether EM from a hundred starts takes no time

    def __post_init__(self) -> None:
        if self.repeats not in get_args(Repeats):
            raise ValueError(f"repeats must be 'independent' or 'one_vote', not {self.repeats!r}.")

    # Definition.

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the Stan program, in its order."""

    @abstractmethod
    def prior_numbers(self, n_categories: int) -> dict[str, Array]:
        """Numbers of each prior, by the name of its parameter."""

    def shared_priors(self) -> dict[str, Array]:
        """Numbers of priors that all models of a family have."""
        return {}

    @abstractmethod
    def draw_from_prior(self, problem: P, rng: np.random.Generator, given: Point) -> Point:
        """Parameters drawn from their priors, conditional on those ``given``."""

    @abstractmethod
    def table(self, point: Point, problem: P) -> Array:
        """Log-probabilities (H, V) of a rating, by state of the item and cell of the rating."""

    @abstractmethod
    def log_weight(self, point: Point, problem: P) -> Array:
        """Log-probabilities (H,) of the states of an item."""

    @abstractmethod
    def replicate(
        self, point: Point, ratings: Ratings, problem: P, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the program's variables."""
        return {parameter.name: parameter.dims for parameter in self.parameters()}

    def kinds(self, ratings: Ratings) -> Codes:
        """Kind (I,) of each item, which says what states it can be in: all alike."""
        return np.zeros(ratings.n_items, np.int32)

    def categorical_problem(
        self, ratings: Ratings, cells: Cells | None = None
    ) -> CategoricalProblem:
        """What all problems have in common; a cell is a category and a rater unless given."""
        if not self.exchangeable_raters:
            ratings.require_known_raters(type(self).__name__)
        if self.repeats == "one_vote" and ratings.has_repeats:
            rule = "a rater must have one vote on an item"
            remedy = "Call fit or em, which count the ratings first."
            found = f"{len(ratings) - ratings.n_pairs:,} repeats"
            raise RatingsError([Fault("problem", rule, found, remedy)])
        categories = ratings.categories
        check_categories(ratings)
        cells = cells or Cells.of(ratings, exchangeable_raters=self.exchangeable_raters)
        n_cells, kind = len(cells.category), self.kinds(ratings)
        coords = {
            "item": ratings.items,
            "category": categories,
            "true_category": categories,
            "pool": ratings.pools,
            "all": pd.RangeIndex(1),
        }
        if not self.exchangeable_raters:
            coords["rater"] = ratings.raters
        return CategoricalProblem(
            coords=coords,
            priors={**self.prior_numbers(len(categories)), **self.shared_priors()},
            cells=cells,
            mixture=ItemMixture.of(ratings.item, cells.of_rating, n_cells, kind),
            misleads="misleading" in self.dims(),
        )

    # Starting points.

    @abstractmethod
    def run_em(
        self, problem: P, rng: np.random.Generator | None, max_iterations: int, tolerance: float
    ) -> Climb:
        """EM from the votes, or from random states; the objective is the posterior density."""

    @abstractmethod
    def posterior_sd_at(self, point: Point, problem: P) -> Point:
        """Approximate posterior standard deviations on Stan's unconstrained scale, at a mode."""

    def start(self, problem: P) -> WarmStart:
        """Mode of the posterior on the unconstrained scale, and its curvature, by EM."""
        return self.start_at(self.run_em(problem, None, 300, 1e-4), problem)

    def start_at(self, found: Climb, problem: P) -> WarmStart:
        """Starting points around a mode that EM has found."""
        mode = {p.name: p.unconstrain(found.point[p.name]) for p in self.parameters()}
        is_small = sum(np.size(value) for value in mode.values()) <= self.adapts_metric_up_to
        return WarmStart(
            mode=mode,
            sd=self.posterior_sd_at(found.point, problem),
            constrain=self.constrain,
            step_size=0.5,
            adapt_metric=is_small or self.adapts_metric,
            target_acceptance=self.acceptance(problem),
            thinning=self.thinning,
            path=found.path,
        )

    def acceptance(self, problem: P) -> float:
        """Acceptance rate that the step size is adapted to."""
        crowd = self.crowd_acceptance if problem.n_raters >= 20 else None
        return crowd or self.target_acceptance

    def expected_at(self, point: Point, problem: P) -> Expected:
        """Sufficient statistics that are expected at a point: the E step."""
        return self.e_step(point, problem)[1]()

    def e_step(self, point: Point, problem: P) -> tuple[float, Callable[[], Expected]]:
        """Log-probability of all ratings, and sufficient statistics that are expected at a point.

        The two share their work.
        """
        log_probability, state = problem.mixture.posterior(*self.columns(point, problem))
        total = problem.mixture.total(log_probability)
        return total, lambda: self.expected(point, state, problem)

    def expected(self, point: Point, state: Array, problem: P) -> Expected:
        """Sufficient statistics, given a point and the probabilities (D, H) of states there."""
        return problem.mixture.expected(state)

    def cold_start(self, problem: P, centring: StanPart | None) -> WarmStart:
        """Starting points dispersed by about one unit around 0 on the unconstrained scale."""
        middle = {p.name: np.zeros(p.free_shape(problem.size)) for p in self.parameters()}
        sd = {name: np.full_like(zero, 0.5) for name, zero in middle.items()}
        return WarmStart(middle, sd, self.constrain, target_acceptance=self.acceptance(problem))

    def midpoint(self, problem: P) -> Point:
        """The middle of the range of each parameter."""
        return {
            p.name: p.constrain(np.zeros(p.free_shape(problem.size))) for p in self.parameters()
        }

    def in_support(self, point: Point) -> bool:
        """Whether all parameters are in their supports."""
        return all(p.holds(point[p.name]) for p in self.parameters())

    def held(self, point: Point, inside: Point) -> Point:
        """A point with the probabilities of another wherever its own are not between 0 and 1."""
        return {p.name: p.held(point[p.name], inside[p.name]) for p in self.parameters()}

    def columns(self, point: Point, problem: P) -> tuple[Array, Array]:
        """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
        return self.table(point, problem), self.log_weight(point, problem)[:, None]

    def log_likelihood(self, point: Point, problem: P) -> float:
        """Log-probability of all ratings, with hidden states marginalised."""
        return problem.mixture.total(self.log_probability(point, problem))

    def log_probability(self, point: Point, problem: P) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its state marginalised."""
        return problem.mixture.log_probability(*self.columns(point, problem))

    def constrain(self, free: Mapping[str, Any]) -> dict[str, Any]:
        """Parameters as the Stan program declares them, of those on the unconstrained scale."""
        return {p.name: p.constrain(np.asarray(free[p.name])).tolist() for p in self.parameters()}

    # Results.

    def log_likelihoods(self, posterior: Posterior[P]) -> xr.DataArray:
        """Log-probability (chain, draw) of all ratings: from the program, or computed here."""
        if "log_likelihood" in posterior.draws:
            return posterior.draws["log_likelihood"]
        values = [self.log_likelihood(point, posterior.problem) for point in posterior.points()]
        return xr.DataArray(np.reshape(values, posterior.shape), dims=("chain", "draw"))

    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        mixture = posterior.problem.mixture
        found = np.empty((posterior.n_draws, len(mixture.multiplicity)))
        for row, point in zip(found, posterior.points(), strict=True):
            row[:] = self.log_probability(point, posterior.problem)
        return found, mixture.distinct

    def replicates(self, posterior: Posterior[P], rng: np.random.Generator) -> Iterator[Codes]:
        """Categories (N,) of new ratings at each draw, one draw at a time; see `replicate`."""
        for point in posterior.points():
            yield self.replicate(point, posterior.ratings_in_memory, posterior.problem, rng)

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
        design : DataFrame or Ratings
            Who rates what: a table with the columns item and rater, and pool if there are pools, a
            row for each rating; or ratings, whose categories and facets are then kept.
        rng : Generator
            Source of all randomness.
        categories : iterable, default (0, 1)
            The values that a rating can have.
        parameters : mapping of str to array, optional
            Parameters by name, as the Stan program declares them; the others are drawn from their
            priors.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            All ratings came out alike, or the design has faults.
        """
        blank = self._blank(design, categories)
        problem = self.problem(blank)
        given = {name: np.asarray(value, float) for name, value in (parameters or {}).items()}
        require_known(given, (parameter.name for parameter in self.parameters()), self)
        point = {**self.draw_from_prior(problem, rng, given), **given}
        seen = self.earlier_ratings(point, blank, problem, rng)
        drawn = blank.categories[self.replicate(point, seen, problem, rng)]
        return rated(blank, drawn, scale=blank.scale, categories=blank.categories)

    def draw_parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] = (0, 1),
    ) -> Point:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self.draw_from_prior(self.problem(self._blank(design, categories)), rng, {})

    def _blank(self, design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> Ratings:
        """Arbitrary ratings of a design, as the model counts them."""
        blank = blank_ratings(design, categories)
        return one_vote_each(blank) if self.repeats == "one_vote" else blank

    def earlier_ratings(
        self, point: Point, blank: Ratings, problem: P, rng: np.random.Generator
    ) -> Ratings:
        """Ratings that raters have seen before they rate: none, for most models."""
        return blank
