"""Agreement between two pools of raters on ratings in ordered categories, two or more."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.optimize
import xarray as xr
from numpy.typing import NDArray

from reliabayes import correlation
from reliabayes.em import Climb, Point
from reliabayes.errors import Fault, RatingsError
from reliabayes.latent import Graded, Observed
from reliabayes.mixture import ItemMixture
from reliabayes.models.densities import half_t
from reliabayes.models.graded import SDS, GradedModel, nodes
from reliabayes.models.hidden import Array, Codes, Data, drawn_categories
from reliabayes.models.xcc import agreement, pool_of_raters
from reliabayes.nodes import REACH, enough
from reliabayes.parameters import Parameter
from reliabayes.ratings import Ratings

Mask = NDArray[np.bool_]

XCC_OBSERVED = ("normalized_xcc_observed", "unnormalized_xcc_observed")


@dataclass(frozen=True, kw_only=True)
class GradedXCC(GradedModel):
    """A model of latent scores in two pools: an item has an effect in each, and they correlate.

    The hidden state of an item is a pair of nodes of independent standard scores, of which the
    Cholesky factor of the correlation makes the effects. Parameters of pools are (..., G). The
    program needs fewer nodes of the second score where the correlation is large.
    """

    alone: ClassVar[type[GradedModel]]  # the model of one pool
    acceptance: ClassVar[float] = 0.98  # with few raters a pool, steps must be small

    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")

    def of_one_pool(self) -> GradedModel:
        """The model of the ratings of one pool."""
        given = {field.name: getattr(self, field.name) for field in fields(self.alone)}
        return self.alone(**given | {"nodes": None})

    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the model of one pool, by pool, and the correlation between them."""
        step = [Parameter("step", "positive", ("pool", "between"))] if self.has_steps else []
        return (
            Parameter("sd_item", "positive", ("pool",)),
            Parameter("sd_rater", "positive", ("pool",)),
            Parameter("factor_item", "correlation", ("pool", "factor")),
            *step,
            Parameter("mean", "real", ("pool",)),
            Parameter("level", "real", ("rater",)),
        )

    def priors(self, n_categories: int) -> dict[str, Any]:
        """Parameters of the priors."""
        return {**self.of_one_pool().priors(n_categories), "prior_lkj": self.prior_lkj}

    # Data.

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """Cells of raters and categories, and the pool of each rater."""
        pool = pool_of_raters(self, ratings)
        if len(ratings.pools) > 2:
            name = type(self).__name__
            rule, found = f"{name} is for two pools", f"{len(ratings.pools)}"
            remedy = "Take a pair of them at a time: ratings.subset(pools=[...])."
            raise RatingsError([Fault("pool", rule, found, remedy)])
        cell, described = super().cells(ratings)
        return cell, {**described, "G": len(ratings.pools), "pool": pool + 1}

    def mixture(self, ratings: Ratings) -> tuple[ItemMixture, dict[str, Any]]:
        """Distinct items, those that the second pool rates alike side by side; and nodes."""
        mixture, described = super().mixture(ratings)
        by_second = described["pool"][self.cell_rater(described)] == 2
        return mixture.grouped(by_second), described

    def grid(self, mixture: ItemMixture, data: Data) -> dict[str, Any]:
        """Nodes of each of the two scores, as many as asked for or as are needed."""
        if self.nodes is not None:
            return nodes(self.nodes)
        alone = self.of_one_pool()
        parts = self._parts(mixture, data)
        return nodes(enough(min(alone.spacing(part, of_pool) for _, part, of_pool in parts)))

    def states(self, data: Data) -> tuple[Array, Array]:
        """Pairs (H, 2) of scores, those out of reach of both together left out, and probability."""
        node, weight = (np.asarray(data[name]) for name in ("node", "node_weight"))
        pairs = np.stack([axis.ravel() for axis in np.meshgrid(node, node, indexing="ij")], axis=1)
        near = (pairs**2).sum(axis=1) <= node[-1] ** 2 * (1 + 1e-9)
        probability = np.outer(weight, weight).ravel()[near]
        return pairs[near], probability / probability.sum()

    def _parts(self, whole: ItemMixture, data: Data) -> Iterator[tuple[Mask, ItemMixture, Data]]:
        """By pool: which raters are its own, and what they have rated, as data of one pool."""
        alone = self.of_one_pool()
        for pool in range(data["G"]):
            is_own = np.asarray(data["pool"]) == pool + 1
            raters = np.flatnonzero(is_own)
            cells = (np.arange(data["K"])[:, None] * data["R"] + raters).ravel()
            counts = whole.counts[:, cells]
            rated = np.diff(counts.indptr) > 0
            none = np.empty(0, np.int32)
            part = ItemMixture(counts[rated], whole.items[rated], whole.kind[rated], none)
            of_pool = {
                **{name: data[name] for name in ("K", "probit", "W")},
                **alone.priors(data["K"]),
                **part.to_stan(),
                "R": len(raters),
            }
            yield is_own, part, of_pool | nodes(enough(alone.spacing(part, of_pool)))

    def _gathered(self, parts: Iterable[tuple[Mask, Point]], data: Data) -> dict[str, Array]:
        """Values of the models of one pool, by pool and by rater."""
        found = list(parts)
        names = [name for name in found[0][1] if name != "level"]
        together = {name: np.array([part[name] for _, part in found]) for name in names}
        level = np.empty(data["R"])
        for is_own, part in found:
            level[is_own] = part["level"]
        return {**together, "level": level}

    # The model at a point.

    def by_rater(self, value: Array, data: Data) -> Array:
        """What the raters of a pool share (..., G), by rater (..., R)."""
        return value[..., np.asarray(data["pool"]) - 1]

    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n, G) of items with independent standard scores (n, G)."""
        return np.asarray(score @ (point["sd_item"][:, None] * point["factor_item"]).T)

    def prior_of_cuts(self, data: Data) -> tuple[float, float]:
        """The same in all pools."""
        return self.of_one_pool().prior_of_cuts(data)

    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors; effects of raters from what is given of them."""
        pools = data["G"]
        cut = np.sort(rng.normal(*self.prior_of_cuts(data), (pools, data["K"] - 1)))
        point: dict[str, Array] = {"mean": -cut[:, 0]}
        for name in SDS:
            point[name] = np.array([half_t(data[f"prior_{name}"], rng) for _ in range(pools)])
        if self.has_steps:
            point["step"] = np.diff(cut)
        point["factor_item"] = correlation.draw(pools, self.prior_lkj, rng)
        point |= given
        mean, sd_rater = (self.by_rater(point[name], data) for name in ("mean", "sd_rater"))
        return {**point, "level": mean + sd_rater * rng.standard_normal(data["R"])}

    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
        pool = (np.asarray(data["pool"]) - 1)[ratings.rater]
        item = self.item_effects(point, rng.standard_normal((ratings.n_items, data["G"])))
        location = item[ratings.item, pool] + self.effects(point, data)[ratings.rater]
        graded = Graded.of(location, self.cut(point)[pool], self.link)
        return drawn_categories(graded.probability, rng)

    # Expectation maximisation.

    def climb(
        self, data: Data, start: np.random.Generator | None, most: int, tolerance: float
    ) -> Climb:
        """Climb pool by pool, then search for the correlation that makes both likeliest."""
        alone, whole = self.of_one_pool(), ItemMixture.from_stan(data)
        climbs = (
            (is_own, alone.climb(of_pool, start, most, tolerance).point)
            for is_own, _, of_pool in self._parts(whole, data)
        )
        point = self._gathered(climbs, data)
        path: list[float] = []

        def negative(free: float) -> float:
            numbers = np.array([free])
            at = {**point, "factor_item": correlation.factor(numbers, 2)}
            log_probability, _ = whole.posterior(*self.columns(at, data))
            lkj = correlation.log_lkj(numbers, 2, self.prior_lkj)
            path.append(max([*path, whole.total(log_probability) + lkj]))
            return -(whole.total(log_probability) + lkj)

        best = scipy.optimize.minimize_scalar(
            negative, bounds=(-2.5, 2.5), method="bounded", options={"xatol": 0.01}
        )
        point["factor_item"] = correlation.factor(np.array([best.x]), 2)
        return Climb(point, tuple(path), bool(best.success))

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations pool by pool, and of the correlation from the number of items."""
        alone, whole = self.of_one_pool(), ItemMixture.from_stan(data)

        def by_pool() -> Iterator[tuple[Mask, Point]]:
            for pool, (is_own, part, of_pool) in enumerate(self._parts(whole, data)):
                here = {name: point[name][pool] for name in alone_names}
                here["level"] = point["level"][is_own]
                _, state = part.posterior(*alone.columns(here, of_pool))
                yield is_own, alone.spread(here, *part.expected(state), of_pool)

        alone_names = [p.name for p in alone.parameters() if p.name != "level"]
        found = self._gathered(by_pool(), data)
        found["factor_item"] = np.array([min(2 / np.sqrt(whole.items.sum()) + 0.1, 0.5)])
        return {parameter.name: found[parameter.name] for parameter in self.parameters()}

    # What draws tell.

    def iccs(self, posterior: xr.Dataset, observed: Observed, ratings: Ratings) -> dict[str, Any]:
        """ICCs by pool and xCCs by pair, of the latent scores and of the ratings as numbers."""
        found = super().iccs(posterior, observed, ratings)
        xcc = agreement(posterior["factor_item"], found["icc"], ratings.pools)
        rho = posterior["factor_item"].values[..., 1, 0]
        covariance = observed.covariance(rho, 0, 1)
        of_items = observed.icc * observed.variance
        dims = ("chain", "draw", "pair")
        both = (np.sqrt(x[..., 0] * x[..., 1]) for x in (of_items, observed.variance))
        shares = ((covariance / total)[..., None] for total in both)
        named = {name: (dims, share) for name, share in zip(XCC_OBSERVED, shares, strict=True)}
        return {**xcc, **named, **found}

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {**super().dims(), "cut": ("below", "pool")}

    def located(self, cut: Array, share: Array, dims: tuple[str, ...]) -> dict[str, Any]:
        """What the model of one pool says of them, by pool."""
        return self.of_one_pool().located(cut, share, dims)

    def of_items(self, ratings: Ratings) -> pd.Index[Any]:
        """Items and pools."""
        return pd.MultiIndex.from_product([ratings.items, ratings.pools], names=["item", "pool"])

    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Pool of the raters, and their effects on the latent scale: mean, sd, median, interval."""
        table = super().raters(posterior, ratings, prob, rng)
        table.insert(0, "pool", ratings.pools[pool_of_raters(self, ratings)])
        return table

    def finer(self, data: Data) -> dict[str, Any]:
        """Nodes that lie closer and reach farther."""
        return nodes(2 * data["Q"], reach=1.2 * REACH)
