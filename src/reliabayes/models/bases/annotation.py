"""Base class of models in which each item has an unobserved true category."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import xarray as xr
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes, blocks
from reliabayes.errors import ConvergenceWarning
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import from_free, to_free
from reliabayes.inference.problem import StanPart
from reliabayes.inference.threads import of_parts
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.fit_arguments import check_kind
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.misleading import MISLEADING, mixed
from reliabayes.models.bases.prior_checks import check_priors
from reliabayes.models.bases.rater_tables import rater_tables
from reliabayes.models.bases.simulation import drawn_categories
from reliabayes.models.bases.true_categories import BLOCK, TrueCategoryModel
from reliabayes.partitions import AnyRatings
from reliabayes.ratings import Ratings
from reliabayes.results import quantities
from reliabayes.results.label_table import label_table
from reliabayes.results.model import as_counted, problem_of
from reliabayes.results.point_estimate import PointEstimate
from reliabayes.results.posterior import Posterior, with_ids
from reliabayes.results.rater_quality import draws_by_category, draws_by_rater, rater_quality
from reliabayes.results.rating_probabilities import RatingProbabilities

P = TypeVar("P", bound=CategoricalProblem, default=Any)

CONFUSION_QUANTITIES = (  # by models that have confusion matrices
    "confusion",
    "accuracy",
    "informativeness",
    "random_share",
    "log_likelihood",
    "bits_per_rating",
)
SHARED = "all"  # dimension of size 1: one value for all, where each might have its own


class AnnotationModel(TrueCategoryModel[P]):
    """A model in which ratings depend on the category that they follow, and on the rater.

    A subclass defines which confusion matrices its parameters amount to (`confusion`), or computes
    table and weights itself.
    """

    guess: ClassVar[str | None] = None  # name of the probabilities of each rater's guesses

    def __post_init__(self) -> None:
        super().__post_init__()
        check_priors(self)
        if self.misleads and not set(self.shared_parameters) <= set(self.parameters()):
            raise TypeError(
                f"{type(self).__name__} takes no prior_misleading: its parameters and its program "
                "leave out items that mislead."
            )

    def confusion(self, point: Point) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category; None if there are none."""
        return None

    def table(self, point: Point, problem: P) -> Array:
        """Log-probabilities (..., H, V) of a rating, by state of the item and cell."""
        confusion = self.confusion(point)
        assert confusion is not None
        if not self.exchangeable_raters:
            last = np.moveaxis(confusion, -3, -1)
            confusion = last.reshape(*last.shape[:-2], -1)
        with np.errstate(divide="ignore"):
            return np.log(confusion)

    def prevalence_at(self, point: Point, problem: P) -> Array:
        """Probabilities (..., K) of the true categories."""
        if SHARED in self.dims()["prevalence"]:
            return point["prevalence"][..., 0, :]
        return point["prevalence"]

    def log_weight(self, point: Point, problem: P) -> Array:
        """Log-probabilities (H,) of the states of an item."""
        with np.errstate(divide="ignore"):
            return np.log(self.prevalence_at(point, problem))

    # Expectation maximisation.

    def em(
        self,
        ratings: AnyRatings,
        *,
        priors: bool = False,
        restarts: int = 0,
        seed: int = 0,
        max_iterations: int = 5000,
        tolerance: float = 1e-7,
    ) -> PointEstimate:
        """Maximum likelihood estimate, by expectation maximisation.

        Parameters
        ----------
        ratings : Ratings or RatingsDataset
            The data. Of ratings in parts each iteration reads all parts, unless their distinct
            items fit into memory.
        priors : bool, default False
            Maximise the posterior density instead, as it is on Stan's unconstrained scale.
        restarts : int, default 0
            Runs from random starts besides the one from the votes; the best is kept, with the names
            of categories that come closest to those of the votes. Take 20 where the likelihood may
            have many modes.
        seed : int, default 0
            Seed of the random starts.
        max_iterations : int, default 5000
            Iterations of each run at most.
        tolerance : float, default 1e-7
            Change of a probability in one iteration that ends a run.

        Returns
        -------
        PointEstimate

        Raises
        ------
        RatingsError
            The ratings do not suit the model.

        Warns
        -----
        ConvergenceWarning
            The best run had not converged.

        References
        ----------
        Dempster, Laird & Rubin (1977), https://doi.org/10.1111/j.2517-6161.1977.tb01600.x
        """
        check_kind(self, ratings)
        ratings = as_counted(self, ratings)
        given: P = problem_of(self, ratings)
        problem = given if priors else self.without_priors(given)
        random = (np.random.default_rng([seed, start]) for start in range(restarts))
        runs = [self.run_em(problem, rng, max_iterations, tolerance) for rng in [None, *random]]
        best = max(runs, key=lambda found: found.path[-1])
        point = best.point
        if best is not runs[0]:
            point = self.aligned(point, runs[0].point, problem)
        if not best.converged:
            text = (
                f"{type(self).__name__}: EM had not converged after {best.progress}. Raise "
                "max_iterations or tolerance."
            )
            warnings.warn(text, ConvergenceWarning, stacklevel=2)
        one_draw = {name: value[None, None] for name, value in point.items()}
        return PointEstimate(
            self,
            ratings,
            self.labelled(one_draw, problem).isel(chain=0, draw=0, drop=True),
            self.log_likelihood(point, problem),
            best.path,
            best.converged,
            given,
        )

    def aligned(self, point: Point, like: Point, problem: P) -> Point:
        """A point whose true categories, where nothing tells them apart, are those of another."""
        return point

    def initial_states(self, problem: P, rng: np.random.Generator | None) -> Array:
        """Proportions (D, H) of votes for each state, or random ones; gold where it is known.

        In random ones a few raters count for most, votes are mixed with noise, and two categories
        may have changed places.
        """
        mixture, n_categories = problem.mixture, problem.n_categories
        is_vote = np.eye(n_categories)
        weight = np.ones(problem.n_raters)
        if rng is not None:
            weight = rng.standard_gamma(0.2, problem.n_raters) + 1e-9
        own = weight[problem.cells.rater, None] * is_vote[problem.cells.category]
        votes = np.asarray(mixture.counts @ own)
        if rng is not None:
            votes /= votes.sum(axis=1, keepdims=True)
            noise = 1.0 if self.exchangeable_raters else rng.random()
            votes += noise * (rng.dirichlet(np.ones(n_categories), len(votes)) - votes)
            one, other = rng.choice(n_categories, 2, replace=False)
            if rng.random() < 0.5:
                votes[:, [one, other]] = votes[:, [other, one]]
        known = mixture.kind > 0
        votes[known] = is_vote[mixture.kind[known] - 1]
        weight = np.exp(self.log_weight(self.midpoint(problem), problem))
        state = votes[:, self.truth(problem)] * weight
        return np.asarray(state / state.sum(axis=1, keepdims=True))

    def to_free(self, point: Point, centring: StanPart | None) -> Array:
        """Points (..., P) on Stan's unconstrained scale, of draws (...) of the parameters."""
        return to_free(self.parameters(), point)

    def from_free(self, points: Array, centring: StanPart | None, problem: P) -> Point:
        """Draws (...) of the parameters, of points (..., P) on Stan's unconstrained scale."""
        return from_free(self.parameters(), points, problem.size)

    # Results.

    def quantities(self, posterior: Posterior[P]) -> xr.Dataset:
        """Parameters and what follows from them, draw by draw."""
        found = self._of_parameters(posterior)
        log_likelihood = self.log_likelihoods(posterior)
        found["log_likelihood"] = log_likelihood
        n_ratings = len(posterior.ratings)
        found["bits_per_rating"] = quantities.bits_per_rating(log_likelihood, n_ratings)
        reports = (*self.reports, *(parameter.name for parameter in self.shared_parameters))
        return found[[name for name in reports if name in found]]

    def _of_parameters(self, posterior: Posterior[P]) -> xr.Dataset:
        """Parameters and what follows from them without the ratings, draw by draw."""
        draws = posterior.draws
        derived = self._derived(posterior)
        names = [name for name in self.dims() if name in draws and name not in derived]
        return xr.Dataset({name: _squeezed(draws[name]) for name in names}).merge(derived)

    def _derived(self, posterior: Posterior[P]) -> xr.Dataset:
        """Confusion matrices and what follows from them, and what else the model reports."""
        point, problem = posterior.arrays(), posterior.problem
        found = self.more_quantities(point, problem)
        rater: tuple[str, ...] = () if self.exchangeable_raters else ("rater",)
        chains, n_draws = posterior.draws.sizes["chain"], posterior.draws.sizes["draw"]

        def of_some(part: slice) -> dict[str, Array]:
            return self._of_confusion({name: x[:, part] for name, x in point.items()}, problem)

        values = {
            name: np.empty((chains, n_draws, *each.shape[2:]))
            for name, each in of_some(slice(1)).items()
        }

        def fill(part: slice) -> None:
            for name, each in of_some(part).items():
                values[name][:, part] = each

        of_parts(fill, blocks(n_draws, BLOCK // (chains * problem.n_categories * problem.n_cells)))
        for name, each in values.items():
            found[name] = (*rater, "true_category", "category") if each.ndim > 3 else rater, each
        derived = {name: (("chain", "draw", *dims), x) for name, (dims, x) in found.items()}
        numbers = {dim: posterior.draws.coords[dim] for dim in ("chain", "draw")}
        return with_ids(xr.Dataset(derived, numbers), problem)

    def _of_confusion(self, point: Point, problem: P) -> dict[str, Array]:
        """What follows from confusion matrices (chains, draws, ...), and these if no parameter."""
        confusion = self.average_confusion(point, problem)
        if confusion is None:
            return {}
        prevalence = self.prevalence_at(point, problem)
        if not self.exchangeable_raters:
            prevalence = prevalence[..., None, :]
        if self.misleads:
            share = point[MISLEADING.name]
            share = share[..., 0] if self.exchangeable_raters else share
            confusion = mixed(confusion, prevalence, share)
        # Sums over categories are quick where the same element of many matrices lies side by side.
        by_element = np.moveaxis(np.moveaxis(confusion, (-2, -1), (0, 1)).copy(), (0, 1), (-2, -1))
        found = {
            "accuracy": quantities.accuracy(prevalence, by_element),
            "informativeness": quantities.informativeness(prevalence, by_element),
            "random_share": quantities.random_share(by_element),
        }
        return found if confusion is point.get("confusion") else {"confusion": confusion, **found}

    def average_confusion(self, point: Point, problem: P) -> Array | None:
        """Probabilities of a rating (..., [R,] K, K) by true category, of an average item."""
        return self.confusion(point)

    def more_quantities(self, point: Point, problem: P) -> dict[str, tuple[tuple[str, ...], Array]]:
        """What else a model reports: dims, and values (...) of draws of points."""
        return {}

    def rating_probabilities(self, posterior: Posterior[P]) -> Iterator[RatingProbabilities] | None:
        """How raters rate at each draw; None where that depends on the ratings of others."""
        if self.conditional:
            return None
        return rater_tables(self, posterior, self.truth_given_state)

    def caution(self, ratings: Ratings) -> str:
        """That pools have one consensus, and that only known answers tell of items that mislead."""
        found = []
        if len(ratings.pools) > 1:
            found.append(
                f"The raters of {len(ratings.pools)} pools are judged against one consensus of all "
                "of them: where pools see items differently, raters count as wrong who are right "
                "by the standard of their own pool."
            )
        if self.prior_misleading is not None and ratings.gold_category is None:
            share = self.prior_misleading.mean
            found.append(
                f"The model assumes that about {share:.0%} of items mislead their raters; only "
                "known answers (gold) can tell how many do."
            )
        return " ".join(found)

    def items(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Most probable category of each item, its probability, and the entropy in bits."""
        return label_table(self.category_probabilities(posterior))

    def raters(
        self, posterior: Posterior[P], prob: float | None, rng: np.random.Generator
    ) -> pd.DataFrame:
        """Each rater's quantities, what they lack of a typical rater's information, and habits.

        No columns if raters are exchangeable.
        """
        known = posterior.quantities
        quantities = self.quantities(posterior) if known is None else known
        own, by_category = draws_by_rater(quantities), draws_by_category(quantities, self.guess)
        return rater_quality(own, by_category, posterior.ratings, prob)

    def of_one_rater(self, posterior: Posterior[P], drawn: Point) -> dict[str, Array]:
        """Draws (S,) of what a single rater has, whose parameters are given in place of others.

        Parameters
        ----------
        posterior : Posterior
            Draws of what raters share, besides parameters of those who rated.
        drawn : mapping of str to array
            Draws (chains, draws, ...) of all parameters of raters, for one rater.
        """
        one = {name: (("chain", "draw", *self.dims()[name]), x) for name, x in drawn.items()}
        coords = {**posterior.problem.coords, "rater": pd.Index(["new rater"])}
        of_one = Posterior(
            posterior.draws.drop_dims("rater").assign(one),
            posterior.ratings,
            replace(posterior.problem, coords=coords),
        )
        found = self._of_parameters(of_one)
        reported = found[[name for name in self.reports if name in found]]
        every = draws_by_rater(reported) | draws_by_category(reported, self.guess)
        return {name: x[:, 0] for name, x in every.items()}

    # Simulation.

    def replicate(
        self, point: Point, ratings: Ratings, problem: P, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of ratings of new items, drawn at a point, by the same raters."""
        table, _ = self.columns(point, problem)
        state = self.draw_states(point, ratings, problem, rng)[ratings.item]
        probability = np.exp(table).reshape(len(table), problem.n_categories, -1)
        rater = 0 if self.exchangeable_raters else ratings.rater
        return drawn_categories(probability[state, :, rater], rng)


def by_rater(expected: Expected, problem: CategoricalProblem) -> Array:
    """Expected ratings (R, K, K): by rater, true category and category."""
    shape = problem.n_categories, problem.n_categories, problem.n_raters
    return expected.ratings.reshape(shape).transpose(2, 0, 1)


def _squeezed(values: xr.DataArray) -> xr.DataArray:
    return values.isel({SHARED: 0}, drop=True) if SHARED in values.dims else values
