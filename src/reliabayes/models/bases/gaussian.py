"""Base class of models of Gaussian ratings, and checks of their ratings."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.families.simulation import rated, require_known
from reliabayes.inference.densities import half_t, log_half_t
from reliabayes.inference.parameters import Parameter, Support
from reliabayes.inference.problem import Problem
from reliabayes.likelihoods.gaussian_items import NormalItems
from reliabayes.likelihoods.gaussian_pools_design import Components, cells
from reliabayes.likelihoods.moments import Moments
from reliabayes.models.bases.likelihood_model import LikelihoodModel
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.ratings.likely_scale import likely_scale, whole_numbers
from reliabayes.results.new_rater import drawn_effect
from reliabayes.results.posterior import Posterior

Point = Mapping[str, Any]

MOST_ROUNDING = 1e-3  # of the spread of ratings; more could hide a residual
SMALLEST_RESIDUAL = 1e-9  # of the spread of ratings; `_residual` leaves smaller ones
CONVERGED = 1e-14  # of the gradient at first
SDS = ("sd_item", "sd_rater", "sd_residual")
SEED = 1979  # of drawn levels: the same draws always give the same likelihoods

P = TypeVar("P", bound=Problem, default=Any)


@dataclass(frozen=True, kw_only=True)
class GaussianModel(LikelihoodModel[P]):
    """A model of Gaussian ratings: an item's effect in a pool, plus a rater's level, plus residual.

    A subclass defines who is in which pool (`pool_of_raters`), which shapes its parameters have
    (`shapes`), which variance components they amount to (`by_pool`), and draws the levels of raters
    given the ratings (`levels`).
    """

    continuous: ClassVar[bool] = True
    has_restricted_likelihood: ClassVar[bool] = True

    prior_mean: Normal | None = None
    prior_sd_item: HalfNormal | HalfStudentT | None = None
    prior_sd_rater: HalfNormal | HalfStudentT | None = None
    prior_sd_residual: HalfNormal | HalfStudentT | None = None

    def __post_init__(self) -> None:
        for name in ("mean", *SDS):
            allowed = (Normal,) if name == "mean" else (HalfNormal, HalfStudentT)
            prior = getattr(self, f"prior_{name}")
            if prior is not None and not isinstance(prior, allowed):
                names = " or ".join(kind.__name__ for kind in allowed)
                raise TypeError(f"prior_{name} must be a {names}, not {prior!r}.")

    def sd_priors(self, sd: float) -> dict[str, HalfNormal | HalfStudentT]:
        """Priors of the standard deviations, given that of all ratings."""
        return {
            "sd_item": self.prior_sd_item or HalfStudentT(3, sd),
            "sd_rater": self.prior_sd_rater or HalfStudentT(1, 0.25 * sd),
            "sd_residual": self.prior_sd_residual or HalfStudentT(3, sd),
        }

    def caution(self, ratings: Ratings) -> str:
        """That ratings may be grades or categories, if they are few whole numbers."""
        if not (number := whole_numbers(ratings)):
            return ""
        likely = likely_scale(ratings)
        if likely.scale == "nominal":
            reason = f"{likely.reason[0].upper()}{likely.reason[1:]}"
            return f"{reason}; models of categories, such as DawidSkene, suit better."
        return (
            f"The ratings are {number} whole numbers. If they are grades rather than amounts, "
            'scale="ordered" and a model of ordered categories, such as OrdinalICC, suit better.'
        )

    @abstractmethod
    def priors(self, ratings: AnyRatings) -> dict[str, Any]:
        """Priors in force for these ratings, in memory or in parts, by parameter."""

    @abstractmethod
    def pool_of_raters(self, ratings: AnyRatings) -> Codes:
        """Position (R,) of each rater's pool."""

    @abstractmethod
    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters, by name."""

    @abstractmethod
    def by_pool(self, point: Point) -> tuple[Array, Components]:
        """Means (..., G), and variance components, of parameters by name."""

    @abstractmethod
    def levels(self, posterior: Posterior[P], rng: np.random.Generator) -> Iterator[Array]:
        """Levels (R,) of the raters, each a mean plus an effect, drawn given each draw in turn."""

    def declared(self, problem: P) -> tuple[Parameter, ...]:
        """Means, standard deviations, and the correlation of pools."""
        supports: dict[str, Support] = {"mean": "real", "factor_item": "correlation"}
        dims = self.dims()
        return tuple(
            Parameter(name, supports.get(name, "positive"), dims.get(name, ()))
            for name in self.shapes(1)
        )

    # Results.

    def pointwise(self, posterior: Posterior[P]) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        ratings = posterior.ratings_in_memory
        items = NormalItems.of(ratings, self.pool_of_raters(ratings))
        found = np.empty((posterior.n_draws, ratings.n_items))
        drawn = self._drawn(posterior, np.random.default_rng(SEED))
        for row, (level, at) in zip(found, drawn, strict=True):
            row[:] = items.log_density(ratings.values, level, at)
        return found, np.arange(ratings.n_items, dtype=np.int32)

    def replicates(self, posterior: Posterior[P], rng: np.random.Generator) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        ratings = posterior.ratings_in_memory
        items = NormalItems.of(ratings, self.pool_of_raters(ratings))
        for level, at in self._drawn(posterior, rng):
            yield items.draw(level, at, rng)

    def new_rater(
        self, posterior: Posterior[P], covariates: Array, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Effect of one who is drawn from their population, or of one of each pool."""
        return drawn_effect(posterior.draws["sd_rater"], rng)

    def _drawn(
        self, posterior: Posterior[P], rng: np.random.Generator
    ) -> Iterator[tuple[Array, Components]]:
        """Levels (R,) of the raters, and variance components, draw by draw."""
        _, components = self.by_pool(posterior.stacked())
        for level, *at in zip(self.levels(posterior, rng), *components, strict=True):
            yield level, Components(*at)

    # Simulation.

    def simulate(
        self,
        design: pd.DataFrame | Ratings,
        rng: np.random.Generator,
        *,
        parameters: Mapping[str, Any] | None = None,
    ) -> Ratings:
        """Ratings drawn from the model.

        Parameters
        ----------
        design : DataFrame or Ratings
            Who rates what: a table with the columns item and rater, and pool if there are pools, a
            row for each rating; or ratings, whose numbers are ignored and whose facets are kept.
        rng : Generator
            Source of all randomness.
        parameters : mapping of str to float or array, optional
            Parameters by name, as the Stan program declares them; the others are drawn from their
            priors.

        Returns
        -------
        Ratings

        Raises
        ------
        RatingsError
            The design has faults.
        ValueError
            There is no such parameter, or one is to be drawn whose prior is not set.
        """
        blank = _blank(design)
        pool = self.pool_of_raters(blank)
        mean, at = self.by_pool(self._point(blank, rng, parameters or {}))
        level = mean[pool] + at.rater[pool] * rng.standard_normal(blank.n_raters)
        return replace(blank, rating=NormalItems.of(blank, pool).draw(level, at, rng))

    def draw_parameters(
        self, design: pd.DataFrame | Ratings, rng: np.random.Generator
    ) -> dict[str, Array]:
        """Parameters drawn from their priors, as `simulate` takes them."""
        return self._point(_blank(design), rng, {})

    def _point(self, blank: Ratings, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters: those given, and the others drawn from their priors."""
        shapes = self.shapes(len(blank.pools))
        require_known(given, shapes, self)
        return {
            name: np.broadcast_to(np.asarray(given[name], float), shape)
            if name in given
            else self.draw_parameter(name, shape, rng)
            for name, shape in shapes.items()
        }

    def draw_parameter(self, name: str, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        """A parameter drawn from its prior, which must have been set."""
        prior = getattr(self, f"prior_{name}")
        if prior is None or math.isinf(prior.stan[1]):
            raise ValueError(
                f"prior_{name} must be set, and not be flat, for {name} to be drawn; found "
                f"{prior}. Set it, or pass parameters={{{name!r}: ...}}."
            )
        if name == "mean":
            mean, sd = prior.stan
            return np.asarray(mean + sd * rng.standard_normal(shape))
        return np.reshape([half_t(prior.stan, rng) for _ in range(math.prod(shape))], shape)


def _blank(design: pd.DataFrame | Ratings) -> Ratings:
    """Ratings of a design, with arbitrary numbers."""
    return rated(design, np.arange(float(len(design))))


def log_prior_of_sds(sds: Iterable[Any], problem: Problem) -> float:
    """Log density of the priors of the standard deviations, on the scale of their logs."""
    pairs = zip(SDS, sds, strict=True)
    return float(sum(np.sum(log_half_t(x, problem.priors[name]) + np.log(x)) for name, x in pairs))


def moments_of(values: Array) -> Moments:
    """Mean and standard deviation of ratings, and sums that they come from."""
    with np.errstate(over="ignore", under="ignore", invalid="ignore"):
        return Moments.of(values)


def moments_by_pool(values: Array, pool: Codes) -> tuple[Moments, ...]:
    """Moments of the ratings of each pool, of ratings (N,) with their pools (N,)."""
    return tuple(moments_of(values[pool == g]) for g in range(int(pool.max()) + 1))


def check_sd(sd: float) -> float:
    """The standard deviation of all ratings; refuse ratings whose variance over- or underflows."""
    if not 0 < sd < math.inf:
        rule = "their sd must be a number above 0"
        raise RatingsError([Fault("rating", rule, f"{sd:g}", "Rescale the ratings.")])
    return sd


def check_mean(prior: Normal | HalfNormal | HalfStudentT, mean: float, sd: float) -> None:
    """Refuse a prior of the mean that contradicts the ratings: rater effects would absorb it."""
    expected, prior_sd = prior.stan
    if abs(mean - expected) > 10 * math.hypot(prior_sd, sd):
        raise ValueError(
            f"prior_mean must not contradict the ratings; found {prior} and ratings around "
            f"{mean:.4g}. Widen the prior, or leave it out."
        )


def check_residual(item: Codes, rater: Codes, values: Array, pool: Codes | None = None) -> None:
    """Refuse ratings that effects of items and raters explain completely.

    Given the raters' pools (R,), an item has an effect in each. The density of such ratings is
    unbounded as the residual sd goes to 0. A small part of the ratings mostly shows that there is a
    residual; larger parts are checked only while it does not.
    """

    def effects(part: slice) -> Codes:
        if pool is None:
            return item[part]
        return cells(item[part], pool[rater[part]], int(pool.max()) + 1)

    digits = max(3, len(str(len(values))))
    parts = (slice(10**power) for power in range(3, digits + 1))
    if any(has_residual([effects(part), rater[part]], values[part]) for part in parts):
        return
    if _rounding(values) > MOST_ROUNDING * np.ptp(values):
        rule = "ratings must differ by more than the rounding of such large numbers"
        found = f"ratings around {values.mean():.6g} that differ by at most {np.ptp(values):.3g}"
        remedy = "Subtract a number near their mean from all ratings before they are rounded."
        raise RatingsError([Fault("rating", rule, found, remedy)])
    if len(values) > _rank(effects(slice(None)), rater):
        rule = "ratings must have a residual besides effects of items and raters"
        found = "that every rating is the sum of an item's and a rater's effect"
        remedy = "Agreement is perfect up to severity: report that instead of fitting a model."
        raise RatingsError([Fault("rating", rule, found, remedy)])


def has_residual(codes: Sequence[Codes], values: Array) -> bool:
    """Whether these ratings have residuals from least-squares effects of items and raters."""
    centred = values - values.mean()
    spread = np.abs(centred).max()
    # What rounding leaves grows with the ratings themselves, what raters leave with their spread.
    least = max(SMALLEST_RESIDUAL * spread, _rounding(values))
    return bool(
        spread > least and spread * np.abs(_residual(codes, centred / spread)).max() > least
    )


def _residual(codes: Sequence[Codes], values: Array) -> Array:
    """What least-squares effects leave of values, by conjugate gradients.

    Effects are in units in which their mean squares are equal.
    """
    units = [1 / np.sqrt(np.maximum(np.bincount(code), 1)) for code in codes]

    def sums(residual: Array) -> list[Array]:
        return [unit * np.bincount(code, residual) for unit, code in zip(units, codes, strict=True)]

    def of_ratings(effects: Sequence[Array]) -> Array:
        found = [
            (unit * each)[code] for unit, each, code in zip(units, effects, codes, strict=True)
        ]
        return np.asarray(np.sum(found, axis=0))

    def square(effects: Sequence[Array]) -> float:
        return float(sum(each @ each for each in effects))

    residual, gradient = values, sums(values)
    direction, size = gradient, square(gradient)
    least = CONVERGED**2 * size
    for _ in range(min(len(values), sum(map(len, units)))):
        if size <= least:
            break
        along = of_ratings(direction)
        residual = residual - size / (along @ along) * along
        gradient, before = sums(residual), size
        size = square(gradient)
        direction = [
            each + size / before * last for each, last in zip(gradient, direction, strict=True)
        ]
    return residual


def _rounding(values: Array) -> float:
    """Size of residuals that may come from the rounding of the ratings alone."""
    return float(16 * np.finfo(float).eps * np.abs(values).max())


def _rank(item: Codes, rater: Codes) -> int:
    """Number of effects of items and raters that are identified."""
    items, raters = (np.unique(codes, return_inverse=True)[1] for codes in (item, rater))
    sizes = int(items.max()) + 1, int(raters.max()) + 1
    links = sp.csr_array((np.ones(len(items)), (items, sizes[0] + raters)), shape=(sum(sizes),) * 2)
    return sum(sizes) - int(sp.csgraph.connected_components(links, directed=False)[0])
