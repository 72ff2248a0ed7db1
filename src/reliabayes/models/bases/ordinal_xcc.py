"""Agreement between pools of raters on ratings in ordered categories, two or more of each."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from itertools import combinations
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pandas as pd
import scipy.optimize
import xarray as xr

from reliabayes.arrays import Array, Codes, Mask
from reliabayes.inference import correlation
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.likelihoods.ordinal import CHUNK, Graded, Observed
from reliabayes.likelihoods.ordinal_pools import PooledCategories, standard_scores, told_in_turn
from reliabayes.likelihoods.quadrature import REACH
from reliabayes.models.bases.densities import half_t
from reliabayes.models.bases.hidden_state import Data, drawn_categories
from reliabayes.models.bases.ordinal import SDS, GradedModel, nodes
from reliabayes.models.bases.points import points
from reliabayes.models.bases.xcc import XCC, agreement, pool_of_raters
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import describe_in_blocks

BY_RATER = {"level", "own", "variance"}
AROUND_MODE = 9  # nodes of each of three scores or more, for comparisons of models
# Raters of each pool from which on larger steps will do, and the acceptance that these adapt to,
# where scores of two pools are summed out and where they are sampled.
ENOUGH_SUMMED, ENOUGH_SAMPLED = (20, 0.8), (10, 0.9)
SOME, TOLD = 8, 0.5  # raters that are enough of two pools, if the log of their sd is told so well
COARSE = 101  # nodes of each of two scores at most, to find a correlation to start from
LEAST = 0.01  # eigenvalue of the correlation to start from
XCC_OBSERVED = ("normalized_xcc_observed", "unnormalized_xcc_observed")


class Part(NamedTuple):
    """What one pool has rated, or some.

    Attributes
    ----------
    pools : position of the pool, or of several
    raters : (R,) whether a rater is of these
    items : (D,) whether a distinct item has ratings by them
    mixture : those items
    data : what the model of so many pools reads, but for what ratings tell of raters
    """

    pools: Any
    raters: Mask
    items: Mask
    mixture: ItemMixture
    data: Data

    def at(self, point: Point) -> dict[str, Array]:
        """A point of all pools, but for the correlation."""
        of_all = {name: value for name, value in point.items() if name != "factor_item"}
        level = of_all.pop("level")
        return {name: value[self.pools] for name, value in of_all.items()} | {
            "level": level[self.raters]
        }


@dataclass(frozen=True, kw_only=True)
class GradedXCC(GradedModel):
    """A model of latent scores in several pools: an item has an effect in each, and they correlate.

    Effects are made of independent standard scores by the Cholesky factor of the correlation. Of
    two pools, the hidden state of an item is a pair of nodes of its scores; the program needs fewer
    nodes of the second where the correlation is large. Of three pools or more scores are sampled,
    and each item stands for itself. Parameters of pools are (..., G).
    """

    alone: ClassVar[type[GradedModel]]  # the model of one pool
    acceptance: ClassVar[float] = 0.98  # with few raters a pool, steps must be small

    prior_lkj: float = 1.0

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 < self.prior_lkj < math.inf:
            raise ValueError(f"prior_lkj must be finite and above 0, not {self.prior_lkj}.")

    def program(self, data: Data) -> str:
        """The program that sums over pairs of nodes, or the one that samples scores."""
        return super().program(data) + ("_pools" if data["G"] > 2 else "")

    def of_one_pool(self) -> GradedModel:
        """The model of the ratings of one pool."""
        given = {field.name: getattr(self, field.name) for field in fields(self.alone)}
        return self.alone(**given | {"nodes": None})

    def parameters(self) -> tuple[Parameter, ...]:
        """Those of the model of one pool, by pool, and the correlation; not sampled scores."""
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
        cell, described = super().cells(ratings)
        return cell, {**described, "G": len(ratings.pools), "pool": pool + 1}

    def mixture(self, ratings: Ratings) -> tuple[ItemMixture, dict[str, Any]]:
        """Distinct items, those that the second of two pools rates alike side by side; and nodes.

        Of more pools, all items.
        """
        mixture, described = super().mixture(ratings)
        if described["G"] > 2:
            return _each(mixture), described
        by_second = described["pool"][self.cell_rater(described)] == 2
        return mixture.grouped(by_second), described

    def grid(self, mixture: ItemMixture, data: Data) -> dict[str, Any]:
        """Nodes of each of two scores, as many as asked for or as are needed."""
        if data["G"] > 2:
            return {}
        if self.nodes is not None:
            return nodes(self.nodes)
        parts = (self._part(mixture, data, pool) for pool in range(data["G"]))
        return nodes(max(part.data["Q"] for part in parts))

    def states(self, data: Data) -> tuple[Array, Array]:
        """Pairs (H, 2) of scores, those out of reach of both together left out, and probability."""
        node, weight = (np.asarray(data[name]) for name in ("node", "node_weight"))
        pairs = np.stack([axis.ravel() for axis in np.meshgrid(node, node, indexing="ij")], axis=1)
        near = (pairs**2).sum(axis=1) <= node[-1] ** 2 * (1 + 1e-9)
        probability = np.outer(weight, weight).ravel()[near]
        return pairs[near], probability / probability.sum()

    def told(self, point: Point, data: Data) -> dict[str, Array]:
        """What ratings tell of levels and, of three pools or more, of effects of items."""
        alone, parts = self.of_one_pool(), self._by_pool(data)
        found = _gathered(parts, [alone.told(part.at(point), part.data) for part in parts])
        if data["G"] == 2:
            return found
        precision, pull = np.zeros((2, data["D"], data["G"]))
        for part in parts:
            sd = part.at(point)["sd_item"]
            _, state = part.mixture.posterior(*alone.columns(part.at(point), part.data))
            effect = sd * part.data["node"]
            mean = state @ effect
            variance = state @ effect**2 - mean**2
            precision[part.items, part.pools] = np.maximum(1 / variance - sd**-2, 0)
            pull[part.items, part.pools] = mean / variance
        return found | told_in_turn(_root(point), precision, pull)

    def _by_pool(self, data: Data) -> list[Part]:
        """What each pool has rated."""
        whole = ItemMixture.from_stan(data)
        return [self._part(whole, data, pool) for pool in range(data["G"])]

    def _part(self, whole: ItemMixture, data: Data, pools: Any) -> Part:
        """What one pool or two have rated."""
        of_part = np.atleast_1d(pools)
        is_own = np.isin(data["pool"], of_part + 1)
        raters = np.flatnonzero(is_own)
        counts = whole.counts[:, (np.arange(data["K"])[:, None] * data["R"] + raters).ravel()]
        rated = np.diff(counts.indptr) > 0
        none = np.empty(0, np.int32)
        mixture = ItemMixture(counts[rated], whole.items[rated], whole.kind[rated], none)
        described = {
            **{name: data[name] for name in ("K", "probit", "W")},
            **self.priors(data["K"]),
            **mixture.to_stan(),
            "R": len(raters),
            "G": len(of_part),
            "pool": 1 + np.searchsorted(of_part, data["pool"][is_own] - 1),
        }
        model = self.of_one_pool() if len(of_part) == 1 else replace(self, nodes=None)
        of_pools = {**described, **model.grid(mixture, described)}
        return Part(pools, is_own, rated, mixture, of_pools)

    # The model at a point.

    def by_rater(self, value: Array, data: Data) -> Array:
        """What the raters of a pool share (..., G), by rater (..., R)."""
        return value[..., np.asarray(data["pool"]) - 1]

    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n, G) of items with independent standard scores (n, G)."""
        return np.asarray(score @ _root(point).T)

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

    def log_probability(self, point: Point, mixture: ItemMixture, data: Data) -> Array:
        """Log-probability (D,) of the ratings of each distinct item, its scores summed out."""
        if data["G"] == 2:
            return super().log_probability(point, mixture, data)
        number, root = self.nodes or AROUND_MODE, _root(point)
        at = self.effects(point, data), root, self.cut(point), self.link, number
        parts = PooledCategories.in_parts(mixture.counts, data["pool"] - 1, number)
        return np.concatenate([part.log_probability(*at) for part in parts])

    # Expectation maximisation.

    def climb(
        self, data: Data, start: np.random.Generator | None, most: int, tolerance: float
    ) -> Climb:
        """Climb pool by pool, then pair by pair for the correlation that makes both likeliest."""
        alone, whole, parts = self.of_one_pool(), ItemMixture.from_stan(data), self._by_pool(data)
        climbs = [alone.climb(part.data, start, most, tolerance).point for part in parts]
        point = _gathered(parts, climbs)
        pairs = [list(pair) for pair in combinations(range(data["G"]), 2)]
        found = [self._correlation(self._part(whole, data, pair), point) for pair in pairs]
        rho = np.array([best.point["rho"] for best in found])
        point["factor_item"] = _factor(rho, data["G"])
        longest = max(len(best.path) for best in found)  # as if they climbed side by side
        paths = [np.pad(best.path, (0, longest - len(best.path)), mode="edge") for best in found]
        path = tuple(np.sum(paths, axis=0).tolist())
        return Climb(point, path, all(best.converged for best in found))

    def _correlation(self, part: Part, point: Point) -> Climb:
        """Search for the correlation of two pools."""
        path: list[float] = []
        data = {**part.data, **nodes(min(part.data["Q"], COARSE))}

        def negative(free: float) -> float:
            numbers = np.array([free])
            at = {**part.at(point), "factor_item": correlation.factor(numbers, 2)}
            log_probability, _ = part.mixture.posterior(*self.columns(at, data))
            lkj = correlation.log_lkj(numbers, 2, self.prior_lkj)
            path.append(max([*path, part.mixture.total(log_probability) + lkj]))
            return -(part.mixture.total(log_probability) + lkj)

        best = scipy.optimize.minimize_scalar(
            negative, bounds=(-2.5, 2.5), method="bounded", options={"xatol": 0.01}
        )
        return Climb({"rho": np.tanh(best.x)}, tuple(path), bool(best.success))

    def warm_start(self, data: Data) -> WarmStart:
        """Mode of the posterior; scores that are sampled from where the items' ratings put them."""
        return _completed(super().warm_start(data), data)

    def cold_start(self, data: Data) -> WarmStart:
        """Parameters around the middle of their ranges, a factor e of odds away or so."""
        return _completed(super().cold_start(data), data)

    def _constrain_levels(self, free: Any, data: Data) -> dict[str, Any]:
        found = super()._constrain_levels(free, data)
        return found if data["G"] == 2 else {**found, "score": np.asarray(free["score"]).tolist()}

    def spread_at(self, point: Point, data: Data) -> Point:
        """Standard deviations pool by pool, and of the correlation from the number of items."""
        alone, parts = self.of_one_pool(), self._by_pool(data)
        found = _gathered(parts, [alone.spread_at(part.at(point), part.data) for part in parts])
        by_items = min(2 / np.sqrt(np.sum(data["items"])) + 0.1, 0.5)
        found["factor_item"] = np.full(correlation.n_free(data["G"]), by_items)
        return {parameter.name: found[parameter.name] for parameter in self.parameters()}

    # What draws tell.

    def iccs(self, posterior: xr.Dataset, observed: Observed, ratings: Ratings) -> dict[str, Any]:
        """ICCs by pool and xCCs by pair, of the latent scores and of the ratings as numbers."""
        found = super().iccs(posterior, observed, ratings)
        xcc = agreement(posterior["factor_item"], found["icc"], ratings.pools)
        pairs = list(combinations(range(len(ratings.pools)), 2))
        rho = xcc[XCC[0]].values
        covariance = np.stack(
            [observed.covariance(rho[..., k], *pair) for k, pair in enumerate(pairs)], axis=-1
        )
        first, second = np.transpose(pairs)
        totals = (observed.icc * observed.variance, observed.variance)
        shares = (covariance / np.sqrt(x[..., first] * x[..., second]) for x in totals)
        dims = ("chain", "draw", "pair")
        named = {name: (dims, share) for name, share in zip(XCC_OBSERVED, shares, strict=True)}
        return {**xcc, **named, **found}

    def explained(self, posterior: xr.Dataset, ratings: Ratings) -> dict[str, Any]:
        """How probable the ratings are; of three pools or more that takes too long."""
        return {} if len(ratings.pools) > 2 else super().explained(posterior, ratings)

    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Names of the dimensions of the Stan program's variables."""
        return {**super().dims(), "cut": ("below", "pool"), "score": ("pool", "item")}

    def located(self, cut: Array, share: Array, dims: tuple[str, ...]) -> dict[str, Any]:
        """What the model of one pool says of them, by pool."""
        return self.of_one_pool().located(cut, share, dims)

    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items on the latent scale: mean, sd, median and interval."""
        if len(ratings.pools) == 2:
            return super().items(posterior, ratings, prob, rng)
        data, drawn = self.data(ratings), list(points(posterior))
        block = max(1, CHUNK // (len(drawn) * data["G"]))

        def effects(items: slice) -> Array:
            return np.array([self._effects(point, items, data).ravel() for point in drawn])

        table = describe_in_blocks(effects, data["D"], block, prob)
        return table.set_axis(self.of_items(ratings))

    def _effects(self, point: Point, items: slice, data: Data) -> Array:
        """Effects (n, G) of some items at a draw of their scores."""
        pool, root = np.asarray(data["pool"]) - 1, _root(point)
        higher = np.bincount(pool, point["level"] - data["own"]) / np.bincount(pool)
        told = data["precision"][:, items], data["pull"][:, items]
        standard = standard_scores(point["score"][:, items], root, higher, *told)
        return np.asarray((root @ standard).T)

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

    def integration_error(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[int, float]:
        """Number of nodes, and what the log-likelihood changes by with far more; 0 without any."""
        if len(ratings.pools) > 2:
            return 0, 0.0
        return super().integration_error(posterior, ratings)

    def finer(self, data: Data) -> dict[str, Any]:
        """Nodes that lie closer and reach farther."""
        return nodes(2 * data["Q"], reach=1.2 * REACH)


def _each(mixture: ItemMixture) -> ItemMixture:
    """All items, those with the same ratings, too."""
    every = mixture.member
    one = np.ones(len(every))
    return ItemMixture(
        mixture.counts[every], one, mixture.kind[every], np.arange(len(every), dtype=np.int32)
    )


def _gathered(parts: Sequence[Part], found: Sequence[Point]) -> dict[str, Array]:
    """What was found pool by pool, together: by pool, or by rater."""
    together = {
        name: np.array([of_pool[name] for of_pool in found])
        for name in found[0]
        if name not in BY_RATER
    }
    for name in BY_RATER & found[0].keys():
        together[name] = np.empty(len(parts[0].raters))
        for part, of_pool in zip(parts, found, strict=True):
            together[name][part.raters] = of_pool[name]
    return together


def _factor(rho: Array, pools: int) -> Array:
    """Cholesky factor of correlations pair by pair, drawn to 0 where they contradict each other."""
    one, other = np.triu_indices(pools, 1)
    matrix = np.eye(pools)
    matrix[one, other] = matrix[other, one] = rho
    least = np.linalg.eigvalsh(matrix)[0]
    share = max(0.0, (LEAST - least) / (1 - least))
    return np.asarray(np.linalg.cholesky((1 - share) * matrix + share * np.eye(pools)))


def _root(point: Point) -> Array:
    """What makes effects of standard scores."""
    return np.asarray(point["sd_item"][:, None] * point["factor_item"])


def _completed(start: WarmStart, data: Data) -> WarmStart:
    """A start with the steps that suit, and scores of items, near standard normal, if sampled.

    Effects of items and levels of raters of a pool can trade what they have in common: levels go
    farther together than each would alone, and step as far.
    """
    pool, shape = data["pool"] - 1, (data["G"], data["D"])
    enough, acceptance = ENOUGH_SUMMED if data["G"] == 2 else ENOUGH_SAMPLED
    if data["G"] == 2 and np.max(start.sd["sd_rater"]) < TOLD:
        enough = SOME
    if np.bincount(pool).min() >= enough:
        start = replace(start, acceptance=acceptance)
    if data["G"] == 2:
        return start
    common = np.exp(2 * start.mode["sd_item"]) / data["D"]
    wider = np.sqrt(1 + common * np.bincount(pool, 1 / data["variance"]))
    return replace(
        start,
        mode={**start.mode, "score": np.zeros(shape)},
        sd={**start.sd, "level": wider[pool] * start.sd["level"], "score": np.ones(shape)},
    )
