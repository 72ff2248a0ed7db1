"""Base class of models in which items have a true category, which their ratings may not tell."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes, blocks
from reliabayes.inference.em import Point
from reliabayes.inference.parameters import Parameter
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.em_model import EMModel
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.misleading import MISLEADING, mixed, with_misled
from reliabayes.models.bases.simulation import drawn_categories
from reliabayes.models.priors import Beta
from reliabayes.ratings import Ratings
from reliabayes.results.posterior import Posterior

P = TypeVar("P", bound=CategoricalProblem, default=Any)

BLOCK = 80_000  # probabilities at a time, which fit into the processor's cache


@dataclass(frozen=True, kw_only=True)
class TrueCategoryModel(EMModel[P]):
    """A model in which an item has a true category, and a hidden state that its ratings follow.

    The state contains a category, which is the true one unless the item misleads its raters. All
    models of true categories share this option.

    Parameters
    ----------
    prior_misleading : Beta, optional
        Prior of the probability that an item misleads: its true category is then drawn from the
        prevalence, whatever its ratings say. By default no item does, as published.
    """

    has_true_categories: ClassVar[bool] = True
    has_tables_of_many: ClassVar[bool] = False  # whether it takes points (B, ...) at once

    prior_misleading: Beta | None = None

    @abstractmethod
    def prevalence_at(self, point: Point, problem: P) -> Array:
        """Probabilities (..., K) of the true categories."""

    @property
    def misleads(self) -> bool:
        """Whether items may mislead."""
        return self.prior_misleading is not None

    @property
    def shared_parameters(self) -> tuple[Parameter, ...]:
        """What each model has after its own parameters: ``misleading``, if items may mislead."""
        return (MISLEADING,) if self.misleads else ()

    def priors(self, ratings: Ratings) -> dict[str, Any]:
        """Priors in force for these ratings, by parameter."""
        found = super().priors(ratings)
        return {name: prior for name, prior in found.items() if prior is not None}

    def shared_priors(self) -> dict[str, Array]:
        """Numbers of the prior of ``misleading``, which the program reads even if none may."""
        return {MISLEADING.name: (self.prior_misleading or Beta(1.0, 1.0)).stan}

    def lasting_priors(self, problem: P) -> dict[str, Array]:
        """That of ``misleading``, of which only known true categories say anything."""
        return {MISLEADING.name: problem.priors[MISLEADING.name]}

    # States and true categories.

    def truth(self, problem: P) -> Codes:
        """Category (H,) that ratings follow in each state: the true one unless an item misleads."""
        return np.arange(problem.n_categories, dtype=np.int32)

    def truth_given_state(self, point: Point, problem: P) -> Array:
        """Probabilities (..., H, K) of the true categories of an item in each state."""
        of_followed = np.eye(problem.n_categories)
        if self.misleads:
            share = point[MISLEADING.name][..., 0]
            of_followed = mixed(of_followed, self.prevalence_at(point, problem), share)
        return of_followed[..., self.truth(problem), :]

    def kinds(self, ratings: Ratings) -> Codes:
        """0 where the true category is unknown, or the true category, from 1."""
        unknown = super().kinds(ratings)
        return unknown if ratings.gold_category is None else ratings.gold_category + np.int32(1)

    def columns(self, point: Point, problem: P) -> tuple[Array, Array]:
        """Table (H, V) of ratings, and log-weights (H, W) of states by kind of item."""
        weight = self.log_weight(point, problem)[..., None]
        if problem.n_kinds > 1:
            with np.errstate(divide="ignore"):
                known = weight + np.log(self.truth_given_state(point, problem))
            weight = np.concatenate([weight, known], axis=-1)
        return self.table(point, problem), weight

    def columns_of_each(self, points: Point, problem: P) -> tuple[Array, Array]:
        """The same (B, H, V) and (B, H, W) at several points (B, ...)."""
        if self.has_tables_of_many:
            return self.columns(points, problem)
        number = len(next(iter(points.values())))
        each = ({name: x[at] for name, x in points.items()} for at in range(number))
        tables, weights = zip(*(self.columns(point, problem) for point in each), strict=True)
        return np.array(tables), np.array(weights)

    def expected(self, point: Point, state: Array, problem: P) -> Expected:
        """Sufficient statistics, with those of known true categories that ratings do not tell."""
        found = super().expected(point, state, problem)
        if not self.misleads or problem.n_kinds == 1:
            return found
        items = problem.mixture.known_items(state, problem.n_kinds)
        of_state = self.truth_given_state(point, problem)
        return with_misled(found, items, of_state, point[MISLEADING.name])

    def draw_states(
        self, point: Point, ratings: Ratings, problem: P, rng: np.random.Generator
    ) -> Codes:
        """States (I,) of new items, drawn at a point; known true categories are kept."""
        weight = np.exp(self.log_weight(point, problem))
        if ratings.gold_category is None:
            return drawn_categories(np.broadcast_to(weight, (ratings.n_items, len(weight))), rng)
        of_truth = self.truth_given_state(point, problem).T
        possible = np.vstack([of_truth, np.ones_like(weight)])  # -1, unknown, is last
        return drawn_categories(possible[ratings.gold_category] * weight, rng)

    # Results.

    def category_probabilities(self, posterior: Posterior[P]) -> pd.DataFrame:
        """Probability (I, K) of each true category of each item, averaged over draws."""
        problem, ratings = posterior.problem, posterior.ratings
        total = np.zeros((len(problem.mixture.multiplicity), problem.n_categories))
        for found in self._true_categories(posterior):
            total += found.sum(axis=0)
        return pd.DataFrame(
            (total / posterior.n_draws)[problem.mixture.distinct],
            index=ratings.items.rename("item"),
            columns=ratings.categories.rename("true_category"),
        )

    def correct_ratings(self, posterior: Posterior[P], rng: np.random.Generator) -> Array:
        """Number (S, R) of each rater's ratings that equal true categories drawn with the draws."""
        ratings, distinct = posterior.ratings, posterior.problem.mixture.distinct
        found = np.empty((posterior.n_draws, ratings.n_raters))
        of_draws = (each for some in self._true_categories(posterior) for each in some)
        for row, probability in zip(found, of_draws, strict=True):
            drawn = drawn_categories(probability[distinct], rng)
            is_correct = drawn[ratings.item] == ratings.category
            row[:] = np.bincount(ratings.rater, is_correct, minlength=ratings.n_raters)
        return found

    def _true_categories(self, posterior: Posterior[P]) -> Iterator[Array]:
        """Probabilities (B, D, K) of distinct items' true categories, for some draws at a time."""
        problem, draws = posterior.problem, posterior.stacked()
        mixture = problem.mixture
        known = mixture.kind > 0
        size = BLOCK // (len(known) * problem.n_categories)
        for some in blocks(posterior.n_draws, size):
            points = {name: values[some] for name, values in draws.items()}
            state = mixture.posterior(*self.columns_of_each(points, problem))[1]
            found = state @ self.truth_given_state(points, problem)
            found[:, known] = np.eye(problem.n_categories)[mixture.kind[known] - 1]
            yield found
