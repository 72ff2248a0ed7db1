"""Ratings in ordered categories, two or more, with crossed effects of items and raters."""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import scipy.optimize
import xarray as xr
from scipy.special import ndtri

from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.inference.em import Climb, Point
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.warm_start import WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.likelihoods.ordinal import (
    BEARABLE,
    CHUNK,
    INFORMATION,
    RESIDUAL,
    Graded,
    Link,
    Observed,
    normal_correlation,
)
from reliabayes.likelihoods.quadrature import REACH, enough, grid
from reliabayes.models.bases.densities import half_t, log_half_t, log_normal, slope_half_t
from reliabayes.models.bases.hidden_state import Data, HiddenStateModel, drawn_categories
from reliabayes.models.bases.points import points
from reliabayes.models.bases.rating_model import ids
from reliabayes.models.priors import HalfNormal, HalfStudentT
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.summaries import describe, describe_in_blocks

SDS = ("sd_item", "sd_rater")
FAINT = 1 / 25  # precision: of levels, when only their own ratings count
OBSERVED = ("icc_observed", "labeler_icc_observed")


@dataclass(frozen=True, kw_only=True)
class GradedModel(HiddenStateModel):
    """A model of a latent score: item effect plus rater effect plus residual, cut into categories.

    The hidden state of an item is its effect, at one of the nodes. A subclass names the priors of
    the location, and whether there are steps between cut points.
    """

    link: Link = "logit"
    nodes: int | None = None
    prior_sd_item: HalfNormal | HalfStudentT = HalfNormal(2.5)
    prior_sd_rater: HalfNormal | HalfStudentT = HalfNormal(2.5)

    has_steps: ClassVar[bool]
    few: ClassVar[int] = 0  # whatever they are, levels and means have been made nearly standard
    acceptance: ClassVar[float] = 0.9  # few raters tell little of how much raters differ

    def __post_init__(self) -> None:
        if self.link not in RESIDUAL:
            raise ValueError(f"link must be 'logit' or 'probit', not {self.link!r}.")
        if self.nodes is not None and self.nodes < 3:
            raise ValueError(f"nodes must be 3 or more, not {self.nodes}.")

    # What a subclass says.

    @abstractmethod
    def prior_of_cuts(self, data: Data) -> tuple[float, float]:
        """Mean and sd of the normal prior that all cut points have."""

    def parameters(self) -> tuple[Parameter, ...]:
        """Location, how much items and raters differ, steps between cut points, and raters."""
        step = [Parameter("step", "positive", ("between",))] if self.has_steps else []
        return (
            Parameter("sd_item", "positive"),
            Parameter("sd_rater", "positive"),
            *step,
            Parameter("mean", "real"),
            Parameter("level", "real", ("rater",)),
        )

    # Data.

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """Cells of raters and categories, and the link."""
        cell, described = super().cells(ratings)
        return cell, {**described, "probit": int(self.link == "probit")}

    def data(self, ratings: Ratings) -> dict[str, Any]:
        """Distinct items, nodes and priors; and where raters' own ratings put their levels."""
        mixture, described = self.mixture(ratings)
        data = {**mixture.to_stan(), **described}
        point = self.climb(data, None, most=100, tolerance=1e-3).point
        return {**data, **self.told(point, data)}

    def told(self, point: Point, data: Data) -> dict[str, Array]:
        """Levels (R,) that raters' own ratings tell, others of raters aside, and their variances.

        A rater who always says the same would be nowhere: a faint prior keeps levels in reach.
        """
        mixture = ItemMixture.from_stan(data)
        information = self._information_at(point, mixture, data)
        held = information + self.by_rater(point["sd_rater"], data) ** -2
        own = self.effects(point, data) * held / (information + FAINT)
        items = self.by_rater(point["sd_item"], data) ** 2 / mixture.items.sum()
        mean = self.by_rater(point["mean"], data)
        return {"own": mean + own, "variance": 1 / (information + FAINT) + items}

    def mixture(self, ratings: Ratings) -> tuple[ItemMixture, dict[str, Any]]:
        """Distinct items, and the nodes that their effects are summed over."""
        _check_categories(ratings, type(self).__name__, self.has_steps)
        mixture, described = super().mixture(ratings)
        return mixture, {**described, **self.grid(mixture, described)}

    def grid(self, mixture: ItemMixture, data: Data) -> dict[str, Any]:
        """The nodes, as many as asked for or as are needed."""
        return nodes(self.nodes or enough(self.spacing(mixture, data)))

    def spacing(self, mixture: ItemMixture, data: Data) -> float:
        """Of nodes that resolve the effect of the item with most ratings, with something to spare.

        Given m ratings it is known to a share 1 / sqrt(1 + sd^2 m information) of its sd. Items may
        differ far more than they seem to where few have a second rating.
        """
        likely, times = float(self._rough(mixture, data)["sd_item"]), mixture.counts.sum(axis=1)
        again = max(float(mixture.items @ (times - 1)), 1.0)
        sd = 1.2 * likely + 10 * np.sqrt(RESIDUAL[self.link] / again)
        most = float(times.max())
        narrowest = 1 / np.sqrt(1 + sd**2 * INFORMATION[self.link] * most)
        return float(min(1.1 * narrowest, BEARABLE[self.link] / sd))

    def middle(self, data: Data) -> dict[str, Array]:
        """A first guess, from how often two ratings of an item agree, and two by a rater."""
        return self._rough(ItemMixture.from_stan(data), data)

    def _rough(self, mixture: ItemMixture, data: Data) -> dict[str, Array]:
        category, rater = self.cell_category(data), self.cell_rater(data)
        by_cell = np.asarray(mixture.counts.T @ mixture.items)
        beyond = np.cumsum(np.bincount(category, by_cell, data["K"])[::-1])[-2::-1]
        share = np.clip(beyond / by_cell.sum(), 0.5 / by_cell.sum(), 1 - 0.5 / by_cell.sum())
        split = int(np.abs(share - 0.5).argmin())

        above = (category > split).astype(float)
        n_by_rater, above_by_rater = (
            np.bincount(rater, by_cell * weight, data["R"]).astype(float) for weight in (1.0, above)
        )
        n_by_item, above_by_item = mixture.counts.sum(axis=1), mixture.counts @ above
        by_rater = (above_by_rater / n_by_rater)[rater]
        one, two = mixture.counts @ by_rater, mixture.counts @ by_rater**2
        chance = one**2 - two  # few raters, far apart, agree seldom for that
        item = normal_correlation(n_by_item, above_by_item, mixture.items, share[split], chance)
        severity = normal_correlation(n_by_rater, above_by_rater, np.ones(data["R"]), share[split])
        residual = max(1 - item - severity, 0.05)
        total = RESIDUAL[self.link] / residual
        cut = -ndtri(share) * np.sqrt(total)
        point: dict[str, Array] = {
            "mean": np.array(-cut[0]),
            "sd_item": np.array(np.sqrt(item * total)),
            "sd_rater": np.array(np.sqrt(severity * total)),
        }
        if self.has_steps:
            point["step"] = np.maximum(np.diff(cut), 0.05)
        return {**point, "level": np.full(data["R"], -cut[0])}

    # The model at a point.

    def cut(self, point: Point) -> Array:
        """Cut points (..., K - 1) between the categories."""
        step = point.get("step", np.empty((*np.shape(point["mean"]), 0)))
        first = np.zeros((*np.shape(point["mean"]), 1))
        from_first = np.concatenate([first, np.cumsum(step, axis=-1)], axis=-1)
        return np.asarray(from_first - point["mean"][..., None])

    def effects(self, point: Point, data: Data) -> Array:
        """Effects (..., R) of the raters."""
        return np.asarray(point["level"] - self.by_rater(point["mean"], data))

    def by_rater(self, value: Array, data: Data) -> Array:
        """What all raters share (...), so that it goes with values (..., R) of each."""
        return value[..., None]

    def item_effects(self, point: Point, score: Array) -> Array:
        """Effects (n, ...) of items with standard scores (n, ...)."""
        return np.asarray(point["sd_item"] * score)

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities of a rating, by node, by category and rater."""
        probability = self.graded(point, data).probability
        return np.asarray(np.log(probability).transpose(0, 2, 1).reshape(len(probability), -1))

    def log_weight(self, point: Point, data: Data) -> Array:
        """Log-probabilities (H,) of the states."""
        return np.asarray(np.log(self.states(data)[1]))

    def states(self, data: Data) -> tuple[Array, Array]:
        """Standard scores of an item in each state, and their probabilities: nodes."""
        return np.asarray(data["node"]), np.asarray(data["node_weight"])

    def graded(self, point: Point, data: Data) -> Graded:
        """Categories of ratings by state and rater, (H, R, K)."""
        item = self.by_rater(self.item_effects(point, self.states(data)[0]), data)
        cut = self.by_rater(self.cut(point).T, data).T
        return Graded.of(item + self.effects(point, data), cut, self.link)

    def draw_point(self, data: Data, rng: np.random.Generator, given: Point) -> dict[str, Array]:
        """Parameters drawn from their priors; effects of raters from what is given of them."""
        mean, sd = self.prior_of_cuts(data)
        cut = np.sort(rng.normal(mean, sd, data["K"] - 1))
        point = {"mean": np.array(-cut[0])}
        point |= {name: np.array(half_t(data[f"prior_{name}"], rng)) for name in SDS}
        if self.has_steps:
            point["step"] = np.diff(cut)
        point |= given
        effect = point["sd_rater"] * rng.standard_normal(data["R"])
        return {**point, "level": point["mean"] + effect}

    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
        item = self.item_effects(point, rng.standard_normal(ratings.n_items))
        location = item[ratings.item] + self.effects(point, data)[ratings.rater]
        return drawn_categories(Graded.of(location, self.cut(point), self.link).probability, rng)

    # Expectation maximisation.

    def log_prior(self, point: Point, data: Data) -> float:
        """Log density of location, steps and levels given how much raters differ."""
        location, spread = self.prior_of_cuts(data)
        sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
        return float(
            log_normal(self.cut(point), location, spread).sum()
            + log_half_t(sd_item, data["prior_sd_item"])
            + np.log(sd_item)
            + np.log(point.get("step", np.ones(1))).sum()
            + log_normal(self.effects(point, data), 0.0, sd_rater).sum()
        )

    def first_states(
        self, mixture: ItemMixture, data: Data, rng: np.random.Generator | None
    ) -> Array:
        """Probabilities (D, Q) of the nodes at the first guess, or random ones."""
        if rng is not None:
            return rng.dirichlet(np.ones(data["Q"]), len(mixture.items))
        return mixture.posterior(*self.columns(self.middle(data), data))[1]

    def climb(
        self, data: Data, start: np.random.Generator | None, most: int, tolerance: float
    ) -> Climb:
        """Climb with the sd of raters held: their joint mode has none differ from another.

        Then the raters' levels say how much they differ.
        """
        found = super().climb(data, start, most, tolerance)
        information = self._information_at(found.point, ItemMixture.from_stan(data), data)
        effect, sd = self.effects(found.point, data), float(found.point["sd_rater"])
        alone = effect * (1 + 1 / (information * sd**2))  # unless drawn to the others
        for _ in range(50):
            variance = 1 / (information + sd**-2)
            sd = float(np.sqrt(np.mean((alone * information * variance) ** 2 + variance)))
        sd = max(sd, 0.05)
        point = {**found.point, "sd_rater": np.array(sd)}
        effect = alone * information / (information + sd**-2)
        return found._replace(point={**point, "level": point["mean"] + effect})

    def warm_start(self, data: Data) -> WarmStart:
        """Mode of the posterior, levels and their mean from where the raters' own ratings tell."""
        start = super().warm_start(data)
        point = start.point
        mode = {**start.mode, **self._placed(point, data)}
        return replace(start, mode=mode, constrain=partial(self._constrain_levels, data=data))

    def cold_start(self, data: Data) -> WarmStart:
        """Parameters around the middle of their ranges, a factor e of odds away or so."""
        start = super().cold_start(data)
        return replace(start, constrain=partial(self._constrain_levels, data=data))

    def _constrain_levels(self, free: Any, data: Data) -> dict[str, Any]:
        """Parameters as the Stan program declares them: it scales the mean and then levels."""
        point = {name: np.asarray(value) for name, value in self._constrain(free).items()}
        (centre, scale), _ = self._scales(point, data)
        mean = centre + scale * np.asarray(free["mean"])
        point["mean"] = np.reshape(mean, np.shape(free["mean"]))
        _, (centre, scale) = self._scales(point, data)
        point["level"] = centre + scale * np.asarray(free["level"])
        return {name: value.tolist() for name, value in point.items()}

    def _placed(self, point: Point, data: Data) -> dict[str, Array]:
        """Mean and levels on the unconstrained scale."""
        (at, apart), (centre, scale) = self._scales(point, data)
        return {
            "mean": np.reshape((point["mean"] - at) / apart, np.shape(point["mean"])),
            "level": (point["level"] - centre) / scale,
        }

    def _scales(self, point: Point, data: Data) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """Offset and multiplier of the means (G,), and given those of the levels (R,)."""
        pool = np.asarray(data.get("pool", np.ones(data["R"], int))) - 1
        own, variance = np.asarray(data["own"]), np.asarray(data["variance"])
        size = np.bincount(pool)
        spread = np.reshape(point["sd_rater"], -1) ** 2
        at, of_own = (np.bincount(pool, values) / size for values in (own, variance))
        mean, by_rater = np.reshape(point["mean"], -1)[pool], spread[pool]
        share = variance / (variance + by_rater)
        return (
            (at, np.sqrt((spread + of_own) / size)),
            (own + (mean - own) * share, np.sqrt(by_rater * share)),
        )

    def maximise(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """A few steps of a quasi-Newton climb in all but the sd of raters."""
        by_state = _by_state(expected, data)
        node, sd_rater = np.asarray(data["node"]), float(point["sd_rater"])
        mean_cut, sd_cut = self.prior_of_cuts(data)
        n_steps = data["K"] - 2 if self.has_steps else 0

        def negative(x: Array) -> tuple[float, Array]:
            mean, sd_item, step, level = (
                x[0],
                np.exp(x[1]),
                np.exp(x[2 : 2 + n_steps]),
                x[2 + n_steps :],
            )
            from_first = np.append(0.0, np.cumsum(step))
            graded = Graded.of(level + sd_item * node[:, None], from_first, self.link)
            by_location, by_cut = graded.slopes(by_state)
            off, deviation = from_first - mean - mean_cut, level - mean
            value = (
                (by_state * np.log(graded.probability)).sum()
                - 0.5 * (off @ off) / sd_cut**2
                - 0.5 * (deviation @ deviation) / sd_rater**2
                + log_half_t(sd_item, data["prior_sd_item"])
                + x[1 : 2 + n_steps].sum()
            )
            by_mean = off.sum() / sd_cut**2 + deviation.sum() / sd_rater**2
            by_sd = (by_location * node[:, None]).sum() + slope_half_t(
                sd_item, data["prior_sd_item"]
            )
            by_cut = by_cut - off / sd_cut**2
            by_step = by_cut[:0:-1].cumsum()[::-1][:n_steps]
            by_level = by_location.sum(axis=0) - deviation / sd_rater**2
            slope = [[by_mean, sd_item * by_sd + 1], step * by_step + 1, by_level]
            return -float(value), -np.concatenate(slope)

        level = point["mean"] + self.effects(point, data)
        logs = [np.log(point["sd_item"]), *np.log(point.get("step", np.empty(0)))]
        start = np.concatenate([[point["mean"]], logs, level])
        found = scipy.optimize.minimize(
            negative, start, jac=True, method="L-BFGS-B", options={"maxiter": 10}
        ).x
        better: dict[str, Array] = {
            **point,
            "mean": np.asarray(found[0]),
            "sd_item": np.exp(found[1]),
        }
        if self.has_steps:
            better["step"] = np.exp(found[2 : 2 + n_steps])
        return {**better, "level": found[2 + n_steps :]}

    def _information_at(self, point: Point, mixture: ItemMixture, data: Data) -> Array:
        _, state = mixture.posterior(*self.columns(point, data))
        return self._information(point, mixture.expected(state)[0], data)

    def _information(self, point: Point, expected: Array, data: Data) -> Array:
        """Information (R,) of expected ratings on the level of each rater, items known."""
        ratings = _by_state(expected, data).sum(axis=2)
        return np.asarray((ratings * self.graded(point, data).information).sum(axis=0) + 1e-3)

    def spread(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Standard deviations if the expected ratings were observed; of sds, from how many."""
        sd_item, sd_rater = float(point["sd_item"]), float(point["sd_rater"])
        by_rater = self._information(point, expected, data)
        n_items, n_raters = items.sum(), data["R"]
        # Information of its ratings on an item, against that of the other items.
        told = by_rater.sum() / n_items * sd_item**2
        of_levels = (1 + np.mean(1 / by_rater) / sd_rater**2) / np.sqrt(2 * n_raters) + 0.1
        found = {
            "sd_item": np.array(min((1 + 1 / told) / np.sqrt(2 * n_items), 1.0)),
            "sd_rater": np.array(min(of_levels, 1.5)),
            "mean": np.array(1.0),
            "level": np.ones(n_raters),
        }
        if self.has_steps:
            found["step"] = np.full(data["K"] - 2, 3 / np.sqrt(expected.sum()) + 0.02)
        return {parameter.name: found[parameter.name] for parameter in self.parameters()}

    # What draws tell.

    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """ICCs on both scales beside the parameters, draw by draw."""
        point = {str(name): values.values for name, values in posterior.items()}
        observed = Observed.of(point["sd_item"], point["sd_rater"], self.cut(point), self.link)
        dims = tuple(map(str, posterior["sd_item"].dims))
        found = {
            **self.iccs(posterior, observed, ratings),
            **{name: posterior[name] for name in SDS},
            **self.located(self.cut(point), observed.share, dims),
            **self.explained(posterior, ratings),
        }
        reported = xr.Dataset(found)[[name for name in self.reports if name in found]]
        unnamed = {dim: n for dim, n in reported.sizes.items() if dim not in reported.coords}
        return reported.assign_coords(
            {dim: ids(str(dim), ratings, size) for dim, size in unnamed.items()}
        )

    def iccs(self, posterior: xr.Dataset, observed: Observed, ratings: Ratings) -> dict[str, Any]:
        """ICCs of the latent score, and of the ratings as numbers of their categories."""
        item, rater = (posterior[name] for name in SDS)
        residual = xr.DataArray(math.sqrt(RESIDUAL[self.link]))
        return {
            "icc": quantities.icc(item, rater, residual),
            "labeler_icc": quantities.labeler_icc(item, rater, residual),
            "icc_observed": (item.dims, observed.icc),
            "labeler_icc_observed": (item.dims, observed.labeler_icc),
        }

    def explained(self, posterior: xr.Dataset, ratings: Ratings) -> dict[str, Any]:
        """How probable the ratings are, effects of items summed out."""
        log_likelihood = self.log_likelihoods(posterior, ratings)
        bits = quantities.bits_per_rating(log_likelihood, len(ratings))
        return {"log_likelihood": log_likelihood, "bits_per_rating": bits}

    @abstractmethod
    def located(self, cut: Array, share: Array, dims: tuple[str, ...]) -> dict[str, Any]:
        """What is said of cut points (*dims, K - 1) and shares (*dims, K) of the categories."""

    def items(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the items on the latent scale: mean, sd, median and interval."""
        mixture, data = self.mixture(ratings)
        index, drawn = self.of_items(ratings), list(points(posterior))
        each, (score, _) = len(index) // ratings.n_items, self.states(data)
        block = max(1, CHUNK // (len(drawn) * each))

        def effects(some: slice) -> Array:
            part = mixture.part(some)
            found = np.empty((len(drawn), len(part.items) * each))
            for row, point in zip(found, drawn, strict=True):
                _, state = part.posterior(*self.columns(point, data))
                row[:] = self.item_effects(point, score[drawn_categories(state, rng)]).ravel()
            return found

        rows = mixture.member[:, None] * each + np.arange(each)
        table = describe_in_blocks(effects, len(mixture.items), block, prob)
        return table.iloc[rows.ravel()].set_axis(index)

    def of_items(self, ratings: Ratings) -> pd.Index[Any]:
        """Labels of the effects of the items, those of an item side by side."""
        return ratings.items.rename("item")

    def raters(
        self, posterior: xr.Dataset, ratings: Ratings, prob: float, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Effects of the raters on the latent scale: mean, sd, median and interval."""
        point = {name: posterior[name].values for name in ("mean", "level")}
        effects = self.effects(point, self.cells(ratings)[1]).reshape(-1, ratings.n_raters)
        return pd.DataFrame(describe(effects, prob), index=ratings.raters.rename("rater"))

    def integration_error(self, posterior: xr.Dataset, ratings: Ratings) -> tuple[int, float]:
        """Number of nodes, and what the log-likelihood changes by with far more of them.

        Closer ones, that reach farther, where items differ more than at 99 draws of 100.
        """
        drawn = sorted(points(posterior), key=lambda point: float(np.max(point["sd_item"])))
        point = drawn[int(0.99 * len(drawn))]
        mixture, data = self.mixture(ratings)
        coarse, fine = (
            mixture.total(mixture.posterior(*self.columns(point, data | more))[0])
            for more in ({}, self.finer(data))
        )
        return data["Q"], abs(fine - coarse)

    def finer(self, data: Data) -> dict[str, Any]:
        """Nodes that lie closer and reach farther."""
        return nodes(6 * data["Q"], reach=1.5 * REACH)


def nodes(number: int, reach: float = REACH) -> dict[str, Any]:
    """Nodes as the Stan programs read them."""
    node, weight = grid(number, reach)
    return {"Q": number, "node": node, "node_weight": weight}


def _by_state(expected: Array, data: Data) -> Array:
    """Expected ratings (H, V) as (H, R, K): by state, rater and category."""
    return expected.reshape(-1, data["K"], data["R"]).transpose(0, 2, 1)


def _check_categories(ratings: Ratings, model: str, any_number: bool) -> None:
    """Refuse more than two categories of a model for two, or without an order."""
    number = len(ratings.categories)
    if number <= 2:
        return
    if not any_number:
        rule, found = f"{model} is for two categories", f"{number}"
        remedy = f"If they are ordered, take {model.replace('Logit', 'Ordinal')}."
    elif ratings.scale == "nominal":
        rule, found = f"{model} is for categories in order", "categories without one"
        remedy = 'Pass scale="ordered", and categories=[...] from the lowest to the highest.'
    else:
        return
    raise RatingsError([Fault("rating", rule, found, remedy)])
