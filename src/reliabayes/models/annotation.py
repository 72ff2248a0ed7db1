"""What all models of categorical ratings have in common: items have a true category, hidden."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment

from reliabayes import quantities
from reliabayes.em import Climb, Point, PointEstimate, climb
from reliabayes.errors import Fault, RatingsError
from reliabayes.mixture import ItemMixture
from reliabayes.models.base import RatingModel, ids
from reliabayes.parameters import Parameter
from reliabayes.ratings import Ratings, Scale
from reliabayes.summaries import bounds
from reliabayes.warm_start import Start, WarmStart

Array = NDArray[np.float64]
Codes = NDArray[np.int32]
Data = Mapping[str, Any]

REPORTED = (  # by models that have a confusion of categories
    "confusion",
    "accuracy",
    "informativeness",
    "random_share",
    "log_likelihood",
    "bits_per_rating",
)
ONE = "all"  # dimension of size 1: what all share, where each might have had its own


class AnnotationModel(RatingModel):
    """A model in which an item has a true category, and a rating depends on it and on the rater.

    A subclass says which `parameters` its Stan program has and which `priors` it reads, what
    confusion of categories the parameters amount to (`confusion`), and what expected ratings tell
    of the parameters (`maximise`, `spread`). A *point* is a value of each parameter, by name; where
    a method takes points of many draws at once, their dimensions come first.
    """

    conditional: ClassVar[bool] = False  # whether part of the ratings is taken for given
    pooled: ClassVar[bool] = False  # whether all raters are alike, and need not be known
    adapts: ClassVar[bool] = False  # whether the sampler is to improve on the curvature of EM
    acceptance: ClassVar[float] = 0.8  # what its step size is adapted to
    exchangeable: ClassVar[bool] = False  # whether the likelihood stays if categories swap names

    # What a model says.

    @abstractmethod
    def parameters(self) -> tuple[Parameter, ...]:
        """Parameters of the Stan program, in its order."""

    @abstractmethod
    def priors(self, n_categories: int) -> dict[str, Any]:
        """Priors as the Stan program reads them, their keys starting with ``prior_``."""

    @abstractmethod
    def draw_point(self, data: Data, rng: np.random.Generator) -> dict[str, Array]:
        """Parameters drawn from their priors."""

    @abstractmethod
    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Likelier parameters given expected ratings (H, V) and expected items (H,) by state."""

    @abstractmethod
    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations of the posterior on Stan's unconstrained scale, roughly."""

    @abstractmethod
    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of the prior on the unconstrained scale, but for constants."""

    def confusion(self, point: Point) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category, of draws (...) of points.

        None where there is no such thing.
        """
        return None

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities (H, V) of a rating, by state of the item and cell of the rating."""
        confusion = self.confusion(point)
        assert confusion is not None
        if not self.pooled:
            confusion = confusion.transpose(1, 2, 0).reshape(data["K"], -1)
        with np.errstate(divide="ignore"):
            return np.log(confusion)

    def shares(self, point: Point, data: Data) -> Array:
        """Probabilities (..., K) of the true categories."""
        estimated = point.get("prevalence")
        if estimated is None:
            return np.asarray(data["mean_prevalence"], float)
        return estimated[..., 0, :] if ONE in self.dims()["prevalence"] else estimated

    def log_weight(self, point: Point, data: Data) -> Array:
        """Log-probabilities (H,) of the states of an item."""
        with np.errstate(divide="ignore"):
            return np.log(self.shares(point, data))

    def truth(self, data: Data) -> Codes:
        """True category (H,) in each state."""
        return np.arange(data["K"], dtype=np.int32)

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
        kind = np.zeros(ratings.n_items, np.int32)
        if ratings.gold_category is not None:
            kind += ratings.gold_category + 1
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

    def cell_category(self, data: Data) -> Codes:
        """Category (V,) of the ratings in each cell."""
        return np.arange(data["V"], dtype=np.int32) // np.int32(data.get("R", 1))

    def cell_rater(self, data: Data) -> Codes:
        """Rater (V,) of the ratings in each cell."""
        return np.arange(data["V"], dtype=np.int32) % np.int32(data.get("R", 1))

    # Expectation maximisation.

    def em(
        self,
        ratings: Ratings,
        *,
        priors: bool = False,
        restarts: int = 0,
        seed: int = 0,
        max_iterations: int = 5000,
        tolerance: float = 1e-7,
    ) -> PointEstimate:
        """Parameters of largest likelihood, by expectation maximisation.

        Parameters
        ----------
        ratings : the data
        priors : climb the posterior instead, as it is on Stan's unconstrained scale
        restarts : climbs from random starts besides the one from the shares of the votes, the best
            of which is kept; 20 where the likelihood may have many modes
        seed : of the random starts
        max_iterations : of each climb
        tolerance : change of a probability in one iteration that is too little to go on

        Raises
        ------
        RatingsError
            The ratings do not suit the model.

        References
        ----------
        Dempster, Laird & Rubin (1977), https://doi.org/10.1111/j.2517-6161.1977.tb01600.x
        """
        data = self.data(ratings)
        if not priors:
            data = self.without_priors(data)
        random = (np.random.default_rng([seed, start]) for start in range(restarts))
        climbs = (self.climb(data, start, max_iterations, tolerance) for start in [None, *random])
        best = max(climbs, key=lambda found: found.path[-1])
        one_draw = {name: value[None, None] for name, value in best.point.items()}
        return PointEstimate(
            self,
            ratings,
            self.labelled(one_draw, ratings).isel(chain=0, draw=0, drop=True),
            self.log_likelihood(best.point, data),
            best.path,
            best.converged,
        )

    def without_priors(self, data: Data) -> dict[str, Any]:
        """Data with priors that add nothing to what the ratings tell."""
        return {
            name: np.zeros_like(value, float) if name.startswith("prior_") else value
            for name, value in data.items()
        }

    def warm_start(self, data: Data) -> WarmStart:
        """Mode of the posterior on the unconstrained scale, and its curvature, by EM."""
        found = self.climb(data, None, most=300, tolerance=1e-4)
        mixture = ItemMixture.from_stan(data)
        _, state = mixture.posterior(*self.columns(found.point, data))
        return WarmStart(
            mode={p.name: p.unconstrain(found.point[p.name]) for p in self.parameters()},
            sd=self.spread(found.point, *mixture.expected(state), data),
            constrain=self._constrain,
            step_size=0.5,
            adapt=self.adapts,
            acceptance=self.acceptance,
            path=found.path,
        )

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

        middle = self.middle(data)
        votes = self._votes(mixture, middle, data, start)
        first = self.maximise(middle, *mixture.expected(votes), data)
        return climb(evaluate, first, most=most, tolerance=tolerance, leap=self._allowed)

    def middle(self, data: Data) -> dict[str, Array]:
        """The middle of the range of each parameter."""
        return {p.name: p.constrain(np.zeros(p.free_shape(data))) for p in self.parameters()}

    def _allowed(self, point: Point) -> bool:
        return all(p.holds(point[p.name]) for p in self.parameters())

    def columns(self, point: Point, data: Data) -> tuple[Array, Array]:
        """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
        weight = self.log_weight(point, data)
        columns = np.full((len(weight), data["W"]), -np.inf)
        columns[:, 0] = weight
        if data["W"] > 1:
            columns[np.arange(len(weight)), 1 + self.truth(data)] = weight
        return self.table(point, data), columns

    def log_likelihood(self, point: Point, data: Data) -> float:
        """Log-probability of all ratings, true categories summed out."""
        mixture = ItemMixture.from_stan(data)
        log_probability, _ = mixture.posterior(*self.columns(point, data))
        return mixture.total(log_probability)

    def _votes(
        self, mixture: ItemMixture, point: Point, data: Data, rng: np.random.Generator | None
    ) -> Array:
        """Shares (D, H) of the votes for each state, or random ones; gold where it is known."""
        n_categories = data["K"]
        is_vote = np.eye(n_categories)
        votes = np.asarray(mixture.counts @ is_vote[self.cell_category(data)])
        if rng is not None:
            votes = rng.dirichlet(np.ones(n_categories), len(votes))
        known = mixture.kind > 0
        votes[known] = is_vote[mixture.kind[known] - 1]
        state = votes[:, self.truth(data)] * np.exp(self.log_weight(point, data))
        return np.asarray(state / state.sum(axis=1, keepdims=True))

    def _constrain(self, free: Mapping[str, Any]) -> dict[str, Any]:
        return {p.name: p.constrain(np.asarray(free[p.name])).tolist() for p in self.parameters()}

    # What draws tell.

    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """Parameters and what follows from them, draw by draw."""
        names = [name for name in self.dims() if name in posterior]
        found = xr.Dataset({name: _without_one(posterior[name]) for name in names})
        found = found.merge(self._derived(posterior, ratings).drop_vars(names, errors="ignore"))
        if "log_likelihood" in posterior:
            log_likelihood = posterior["log_likelihood"]
        else:
            data = self.data(ratings)
            values = [self.log_likelihood(point, data) for point in points(posterior)]
            shape = posterior.sizes["chain"], posterior.sizes["draw"]
            log_likelihood = xr.DataArray(np.reshape(values, shape), dims=("chain", "draw"))
        found["log_likelihood"] = log_likelihood
        found["bits_per_rating"] = quantities.bits_per_rating(log_likelihood, len(ratings))
        return found[[name for name in self.reports if name in found]]

    def _derived(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """Confusion with what follows from it, and what else the model reports."""
        point = {str(name): values.values for name, values in posterior.items()}
        data = {**self.cells(ratings)[1], **self.priors(len(ratings.categories))}
        found = self.more_quantities(point, data)
        confusion = self.confusion_of_draws(point, data)
        if confusion is not None:
            prevalence = self.shares(point, data)
            rater: tuple[str, ...] = () if self.pooled else ("rater",)
            if rater:
                prevalence = prevalence[..., None, :]
            found |= {
                "confusion": ((*rater, "true_category", "category"), confusion),
                "accuracy": (rater, quantities.accuracy(prevalence, confusion)),
                "informativeness": (rater, quantities.informativeness(prevalence, confusion)),
                "random_share": (rater, quantities.random_share(confusion)),
            }
        derived = xr.Dataset(
            {name: (("chain", "draw", *dims), x) for name, (dims, x) in found.items()}
        )
        return derived.assign_coords(
            {dim: ids(str(dim), ratings, size) for dim, size in derived.sizes.items()}
        )

    def confusion_of_draws(self, point: Point, data: Data) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category, of an average item."""
        return self.confusion(point)

    def more_quantities(self, point: Point, data: Data) -> dict[str, tuple[tuple[str, ...], Array]]:
        """What else a model reports: dims, and values (...) of draws of points."""
        return {}

    def category_probabilities(self, posterior: xr.Dataset, ratings: Ratings) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, averaged over draws."""
        mixture, data = self.mixture(ratings)
        total, n_draws = np.zeros((len(mixture.items), len(self.truth(data)))), 0
        for point in points(posterior):
            total += mixture.posterior(*self.columns(point, data))[1]
            n_draws += 1
        of_category = np.eye(data["K"])[self.truth(data)]
        return pd.DataFrame(
            (total / n_draws @ of_category)[mixture.member],
            index=ratings.items.rename("item"),
            columns=ratings.categories.rename("true_category"),
        )

    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float | None, rng: object = None
    ) -> pd.DataFrame:
        """Most probable category of each item, its probability, and the entropy in bits."""
        probability = self.category_probabilities(posterior, ratings)
        return pd.DataFrame(
            {
                "category": ratings.categories[probability.to_numpy().argmax(axis=1)],
                "probability": probability.max(axis=1),
                "entropy": quantities.entropy(probability.to_numpy()),
            },
            index=probability.index,
        )

    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float | None, rng: object = None
    ) -> pd.DataFrame:
        """Posterior means of what is said of each rater, the first with its interval.

        No columns where all raters are alike.
        """
        found = self.quantities(posterior, ratings)
        columns: dict[str, Array] = {}
        for name, draws in found.items():
            if draws.dims != ("chain", "draw", "rater"):
                continue
            flat = draws.values.reshape(-1, ratings.n_raters)
            if not columns and prob is not None:
                lower, upper = bounds(flat, prob)
                percent = f"{100 * prob:g}"
                first = {str(name): flat.mean(axis=0), "sd": flat.std(axis=0, ddof=1)}
                columns = {**first, f"lower_{percent}": lower, f"upper_{percent}": upper}
            else:
                columns[str(name)] = flat.mean(axis=0)
        return pd.DataFrame(columns, index=ratings.raters.rename("rater"))

    def pointwise(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[Array, Codes]:
        """Log-probability (S, D) of distinct items by draw, and which of them each item is."""
        mixture, data = self.mixture(ratings)
        n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
        found = np.empty((n_draws, len(mixture.items)))
        for row, point in zip(found, points(posterior), strict=True):
            row[:], _ = mixture.posterior(*self.columns(point, data))
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
        design : who rates what: a table with the columns item and rater, a row for each rating, or
            ratings, whose categories are then kept
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
        point = self.draw_point(data, rng)
        given = {name: np.asarray(value, float) for name, value in (parameters or {}).items()}
        if unknown := set(given) - set(point):
            raise ValueError(
                f"parameters: {', '.join(sorted(unknown))} are not among the parameters of "
                f"{type(self).__name__}: {', '.join(point)}."
            )
        point |= given
        category = self.replicate(point, self.first_round(point, blank, data, rng), data, rng)
        return Ratings.from_frame(
            blank.to_frame().assign(rating=blank.categories[category]),
            scale=blank.scale,
            categories=blank.categories,
            replicates="keep",
        )

    def draw_parameters(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        categories: Iterable[Any] = (0, 1),
    ) -> dict[str, Array]:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self.draw_point(self._design(_blank(design, categories)), rng)

    def _design(self, blank: Ratings) -> dict[str, Any]:
        """What the Stan program reads, but for the ratings."""
        return {**self.cells(blank)[1], **self.priors(len(blank.categories)), "W": 1}

    def first_round(
        self, point: Point, blank: Ratings, data: Data, rng: np.random.Generator
    ) -> Ratings:
        """What raters know of each other's ratings before they rate: nothing, mostly."""
        return blank

    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings, drawn at a point: of like items, by the same raters."""
        table, _ = self.columns(point, data)
        state = self.draw_states(point, ratings, data, rng)[ratings.item]
        probability = np.exp(table).reshape(len(table), data["K"], -1)
        rater = 0 if self.pooled else ratings.rater
        return drawn_categories(probability[state, :, rater], rng)

    def replicates(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Codes]:
        """Categories (N,) of new ratings at each draw, one draw at a time; see `replicate`."""
        _, data = self.mixture(ratings)
        for point in points(posterior):
            yield self.replicate(point, ratings, data, rng)

    def draw_states(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """States (I,) of new items, drawn at a point; their true category is kept where known."""
        weight = np.exp(self.log_weight(point, data))
        if ratings.gold_category is None:
            return drawn_categories(np.broadcast_to(weight, (ratings.n_items, len(weight))), rng)
        of_category = np.vstack([np.eye(data["K"]), np.ones(data["K"])])  # -1, unknown, comes last
        return drawn_categories(
            of_category[ratings.gold_category][:, self.truth(data)] * weight, rng
        )

    # Names of categories.

    def relabel(
        self, drawn: Mapping[str, Array], start: Start, data: Data
    ) -> tuple[Mapping[str, Array], tuple[int, ...]]:
        """Draws whose true categories are named as at the mode, and the chains where they were not.

        Each chain's categories take the names that bring its mean confusion closest to the mode's.
        """
        if not self.exchangeable:
            return drawn, ()
        mode = start if isinstance(start, WarmStart) and start.path else self.warm_start(data)
        there = self.confusion(mode.point)
        draws, renamed = {name: values.copy() for name, values in drawn.items()}, []
        for chain in range(len(drawn["log_likelihood"])):
            here = self.confusion({name: x[chain].mean(axis=0) for name, x in drawn.items()})
            assert here is not None
            assert there is not None
            overlap = np.einsum("rhk,rgk->hg", np.sqrt(there), np.sqrt(here))
            _, order = linear_sum_assignment(overlap, maximize=True)
            if (order == np.arange(len(order))).all():
                continue
            renamed.append(chain)
            for name, dims in self.dims().items():
                for axis in (i for i, dim in enumerate(dims) if dim == "true_category"):
                    draws[name][chain] = draws[name][chain].take(order, axis=axis + 1)
        return draws, tuple(renamed)


def by_rater(expected: Array, data: Data) -> Array:
    """Expected ratings (K, V) as (R, K, K): by rater, true category and category."""
    return expected.reshape(data["K"], data["K"], data["R"]).transpose(2, 0, 1)


def drawn_categories(probability: Array, rng: np.random.Generator) -> Codes:
    """A category (N,) drawn from each row of probabilities (N, K), which need not sum to 1."""
    edges = probability.cumsum(axis=1)
    point = rng.random(len(edges)) * edges[:, -1]
    return np.asarray((point[:, None] >= edges[:, :-1]).sum(axis=1, dtype=np.int32))


def points(posterior: xr.Dataset) -> Iterator[dict[str, Array]]:
    """Each draw of a posterior, as a point."""
    flat = posterior.stack(sample=("chain", "draw"), create_index=False).transpose("sample", ...)
    values = {str(name): draws.values for name, draws in flat.items()}
    for sample in range(flat.sizes["sample"]):
        yield {name: draws[sample] for name, draws in values.items()}


def _blank(design: pd.DataFrame | Ratings, categories: Iterable[Any]) -> Ratings:
    """Ratings of a design, of whatever category."""
    scale: Scale | None = None
    if isinstance(design, Ratings):
        categories, scale = design.categories, design.scale
        design = design.to_frame()
    values = pd.Index(list(categories))
    anything = values[np.arange(len(design)) % len(values)]
    return Ratings.from_frame(
        design[["item", "rater"]].assign(rating=anything),
        scale=scale,
        categories=values,
        replicates="keep",
    )


def _without_one(values: xr.DataArray) -> xr.DataArray:
    return values.isel({ONE: 0}, drop=True) if ONE in values.dims else values
