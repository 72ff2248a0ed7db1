"""What all models of categorical ratings have in common: items have a true category, hidden."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from scipy.optimize import linear_sum_assignment

from reliabayes.arrays import Array, Codes
from reliabayes.inference.em import Point
from reliabayes.inference.warm_start import Start, WarmStart
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.models.bases.hidden_state import Data, HiddenStateModel, drawn_categories
from reliabayes.models.bases.points import points
from reliabayes.models.bases.rating_model import ids
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.summaries import bounds

REPORTED = (  # by models that have a confusion of categories
    "confusion",
    "accuracy",
    "informativeness",
    "random_share",
    "log_likelihood",
    "bits_per_rating",
)
ONE = "all"  # dimension of size 1: what all share, where each might have had its own


class AnnotationModel(HiddenStateModel):
    """A model in which an item has a true category, and a rating depends on it and on the rater.

    A subclass says what confusion of categories its parameters amount to (`confusion`), or builds
    table and weights itself.
    """

    exchangeable: ClassVar[bool] = False  # whether the likelihood stays if categories swap names

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

    def kinds(self, ratings: Ratings) -> Codes:
        """0 where the true category is not known, or the true category, from 1."""
        unknown = super().kinds(ratings)
        return unknown if ratings.gold_category is None else ratings.gold_category + np.int32(1)

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

    def columns(self, point: Point, data: Data) -> tuple[Array, Array]:
        """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
        weight = self.log_weight(point, data)
        columns = np.full((len(weight), data["W"]), -np.inf)
        columns[:, 0] = weight
        if data["W"] > 1:
            columns[np.arange(len(weight)), 1 + self.truth(data)] = weight
        return self.table(point, data), columns

    def first_states(
        self, mixture: ItemMixture, data: Data, rng: np.random.Generator | None
    ) -> Array:
        """Shares (D, H) of the votes for each state, or random ones; gold where it is known."""
        n_categories = data["K"]
        is_vote = np.eye(n_categories)
        votes = np.asarray(mixture.counts @ is_vote[self.cell_category(data)])
        if rng is not None:
            votes = rng.dirichlet(np.ones(n_categories), len(votes))
        known = mixture.kind > 0
        votes[known] = is_vote[mixture.kind[known] - 1]
        state = votes[:, self.truth(data)] * np.exp(self.log_weight(self.middle(data), data))
        return np.asarray(state / state.sum(axis=1, keepdims=True))

    # What draws tell.

    def quantities(self, posterior: xr.Dataset, ratings: Ratings) -> xr.Dataset:
        """Parameters and what follows from them, draw by draw."""
        names = [name for name in self.dims() if name in posterior]
        found = xr.Dataset({name: _without_one(posterior[name]) for name in names})
        found = found.merge(self._derived(posterior, ratings).drop_vars(names, errors="ignore"))
        log_likelihood = self.log_likelihoods(posterior, ratings)
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

    # Simulation.

    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings, drawn at a point: of like items, by the same raters."""
        table, _ = self.columns(point, data)
        state = self.draw_states(point, ratings, data, rng)[ratings.item]
        probability = np.exp(table).reshape(len(table), data["K"], -1)
        rater = 0 if self.pooled else ratings.rater
        return drawn_categories(probability[state, :, rater], rng)

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


def _without_one(values: xr.DataArray) -> xr.DataArray:
    return values.isel({ONE: 0}, drop=True) if ONE in values.dims else values
