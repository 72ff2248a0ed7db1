"""What models of normal ratings share: their priors, what ratings they take, and what they say."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.sparse as sp
import xarray as xr
from scipy.sparse import csgraph

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.likelihoods.gaussian_items import NormalItems
from reliabayes.likelihoods.gaussian_pools import Spreads, cells
from reliabayes.models.bases.densities import half_t
from reliabayes.models.bases.points import rated, require_known, stacked
from reliabayes.models.bases.rating_model import RatingModel
from reliabayes.models.priors import HalfNormal, HalfStudentT, Normal
from reliabayes.ratings import Ratings

Point = Mapping[str, Any]

SDS = ("sd_item", "sd_rater", "sd_residual")
SEED = 1979  # of levels that likelihoods are told of: the same draws give the same likelihoods


@dataclass(frozen=True, kw_only=True)
class GaussianModel(RatingModel):
    """A model of normal ratings: an item's effect in a pool, plus a rater's level, plus residual.

    A subclass says who is in which pool (`pool_of_raters`), how large parameters are (`shapes`),
    what ratings vary by (`by_pool`), and draws the levels of raters given the ratings (`levels`).
    """

    continuous: ClassVar[bool] = True

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

    @abstractmethod
    def pool_of_raters(self, ratings: Ratings) -> Codes:
        """Position (R,) of each rater's pool."""

    @abstractmethod
    def shapes(self, pools: int) -> dict[str, tuple[int, ...]]:
        """Shapes of the parameters, by name."""

    @abstractmethod
    def by_pool(self, point: Point) -> tuple[Array, Spreads]:
        """Means (..., G), and what ratings vary by, of parameters by name."""

    @abstractmethod
    def levels(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Levels (R,) of the raters, each a mean plus an effect, drawn given each draw in turn."""

    # What draws tell.

    def pointwise(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[Array, Codes]:
        """Log density (S, I) of the ratings of items by draw, given levels drawn for the raters."""
        items = NormalItems.of(ratings, self.pool_of_raters(ratings))
        n_draws = posterior.sizes["chain"] * posterior.sizes["draw"]
        found = np.empty((n_draws, ratings.n_items))
        drawn = self._drawn(posterior, ratings, np.random.default_rng(SEED))
        for row, (level, at) in zip(found, drawn, strict=True):
            row[:] = items.log_density(ratings.values, level, at)
        return found, np.arange(ratings.n_items, dtype=np.int32)

    def replicates(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[Array]:
        """Ratings (N,) of new items by the same raters at each draw, one draw at a time."""
        items = NormalItems.of(ratings, self.pool_of_raters(ratings))
        for level, at in self._drawn(posterior, ratings, rng):
            yield items.draw(level, at, rng)

    def _drawn(
        self, posterior: xr.Dataset, ratings: Ratings, rng: np.random.Generator
    ) -> Iterator[tuple[Array, Spreads]]:
        """Levels (R,) of the raters, and what ratings vary by, draw by draw."""
        _, spreads = self.by_pool(stacked(posterior))
        for level, *at in zip(self.levels(posterior, ratings, rng), *spreads, strict=True):
            yield level, Spreads(*at)

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
        design : who rates what: a table with the columns item and rater, and pool if there are
            pools, a row for each rating; or ratings, whose numbers are then of no consequence
        rng : source of all randomness
        parameters : numbers or, by pool, arrays by name, as the Stan program declares them; those
            that are left out are drawn from their priors

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
    """Ratings of a design, of whatever numbers."""
    table = design.to_frame() if isinstance(design, Ratings) else design
    return rated(table, np.arange(float(len(table))))


def spread(ratings: Ratings) -> float:
    """Standard deviation of all ratings, where its square is a number."""
    with np.errstate(over="ignore", under="ignore"):
        sd = float(ratings.values.std())
    if not 0 < sd < math.inf:
        rule = "their sd must be a number above 0"
        raise RatingsError([Fault("rating", rule, f"{sd:g}", "Rescale the ratings.")])
    return sd


def check_mean(prior: Normal | HalfNormal | HalfStudentT, mean: float, sd: float) -> None:
    """Refuse a prior of the mean that ratings contradict: it would show as rater effects."""
    expected, doubt = prior.stan
    if abs(mean - expected) > 10 * math.hypot(doubt, sd):
        raise ValueError(
            f"prior_mean must not contradict the ratings; found {prior} and ratings around "
            f"{mean:.4g}. Widen the prior, or leave it out."
        )


def check_residual(item: Codes, rater: Codes, values: Array, pool: Codes | None = None) -> None:
    """Refuse ratings that effects of items and raters explain wholly.

    Given the raters' pools (R,), an item has an effect in each. The density then grows without
    bound as the residual sd goes to 0. Few ratings mostly show that there is a residual, so more
    are looked at only while those so far show none.
    """

    def effects(part: slice) -> Codes:
        if pool is None:
            return item[part]
        return cells(item[part], pool[rater[part]], int(pool.max()) + 1)

    digits = max(3, len(str(len(values))))
    parts = (slice(10**power) for power in range(3, digits + 1))
    if any(_has_residual([effects(part), rater[part]], values[part]) for part in parts):
        return
    if len(values) > _rank(effects(slice(None)), rater):
        rule = "ratings must differ by more than their items and raters explain"
        found = "that every rating is the sum of an item's and a rater's effect"
        remedy = "Agreement is perfect up to severity: report that, for no model adds to it."
        raise RatingsError([Fault("rating", rule, found, remedy)])


def _has_residual(codes: Sequence[Codes], values: Array) -> bool:
    """Whether least-squares effects of items and raters leave something of these ratings."""
    centred = values - values.mean()
    one, index = np.ones(len(values)), np.arange(len(values))
    effects = sp.hstack([sp.coo_array((one, (index, code))) for code in codes]).tocsr()
    left = centred - effects @ sp.linalg.lsmr(effects, centred, atol=1e-14, btol=1e-14)[0]
    return bool(np.abs(left).max() > 1e-9 * np.abs(values).max())


def _rank(item: Codes, rater: Codes) -> int:
    """Number of effects of items and raters that ratings can tell apart."""
    items, raters = (np.unique(codes, return_inverse=True)[1] for codes in (item, rater))
    sizes = int(items.max()) + 1, int(raters.max()) + 1
    links = sp.csr_array((np.ones(len(items)), (items, sizes[0] + raters)), shape=(sum(sizes),) * 2)
    return sum(sizes) - int(csgraph.connected_components(links, directed=False)[0])
