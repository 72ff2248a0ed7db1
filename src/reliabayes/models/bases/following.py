"""Raters who know the true category or follow the others: base of the groupthink models."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData, extended
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.hidden_state import CategoricalProblem, Cells, drawn_categories
from reliabayes.models.bases.know_or_guess import KnowOrGuessModel
from reliabayes.ratings import Ratings


@dataclass(frozen=True, eq=False, kw_only=True)
class FollowingProblem(CategoricalProblem):
    """Ratings in categories, by raters who may follow the other ratings of an item.

    Attributes
    ----------
    proportion : array of shape (V,)
        Proportion of the ratings of the item that are of the category, by cell.
    """

    proportion: Array

    def stan_data(self) -> StanData:
        """As for all problems, and what the cells are."""
        positions = {"category": self.cells.category}
        if "rater" in self.coords:
            positions["rater"] = self.cells.rater
        own = StanData(positions=positions, values={"proportion": self.proportion})
        return super().stan_data() | own


F = TypeVar("F", bound=FollowingProblem, default=Any)


class FollowingModel(KnowOrGuessModel[F]):
    """A model of raters who, where they do not know, follow the proportions of an item's ratings.

    A cell is a category, its proportion and, unless raters are exchangeable, a rater. The model
    conditions on the proportions: it does not say how they came about.
    """

    conditional: ClassVar[bool] = True
    # If a is near 0, the ratings say nothing about the prevalence: steps must be small.
    target_acceptance: ClassVar[float] = 0.95

    @abstractmethod
    def prevalence_counts(self, expected_items: Array, problem: F) -> Array:
        """Pseudo-counts of the prevalence."""

    def following_problem(self, ratings: Ratings) -> FollowingProblem:
        """What problems of these models have in common."""
        if not self.exchangeable_raters:
            ratings.require_known_raters(type(self).__name__)
        proportion = vote_proportions(ratings)[ratings.item, ratings.category]
        rater = np.zeros_like(ratings.rater) if self.exchangeable_raters else ratings.rater
        rows = np.column_stack([rater, ratings.category, proportion])
        distinct, of_rating = distinct_rows(rows)
        category, by = distinct[:, 1].astype(np.int32), distinct[:, 0].astype(np.int32)
        cells = Cells(of_rating.astype(np.int32), category, by)
        base = self.categorical_problem(ratings, cells)
        return extended(FollowingProblem, base, proportion=distinct[:, 2])

    def table(self, point: Point, problem: F) -> Array:
        """Log-probabilities (K, V) of the ratings in each cell, by true category."""
        known = np.ravel(point["a"])[problem.cells.rater]
        is_right = np.arange(problem.n_categories)[:, None] == problem.cells.category
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(is_right * known + (1 - known) * problem.proportion))

    def pseudo_counts(self, point: Point, expected: Expected, problem: F) -> Point:
        """Expected ratings that were accurate, and those that followed."""
        rater = problem.cells.rater
        known = np.ravel(point["a"])[rater]
        right = expected.ratings[problem.cells.category, np.arange(problem.n_cells)]
        total = known + (1 - known) * problem.proportion
        knew = right * np.divide(known, total, out=np.zeros_like(total), where=total > 0)
        followed = expected.ratings.sum(axis=0) - knew
        counts = [
            np.bincount(rater, by_cell, minlength=problem.n_raters) for by_cell in (knew, followed)
        ]
        shape = (*np.shape(point["a"]), 2)
        return {
            "prevalence": self.prevalence_counts(expected.items, problem),
            "a": np.stack(counts, axis=-1).reshape(shape) + problem.priors["a"],
        }

    def earlier_ratings(
        self, point: Point, blank: Ratings, problem: F, rng: np.random.Generator
    ) -> Ratings:
        """Votes that raters see before they rate: true where the voter knows, else at random."""
        truth = self.draw_states(point, blank, problem, rng)
        guess = rng.integers(0, problem.n_categories, len(blank))
        knows = rng.random(len(blank)) < self._known(point, blank)
        votes = np.where(knows, truth[blank.item], guess)
        values = blank.categories
        frame = blank.to_frame().assign(rating=values[votes], gold=values[truth[blank.item]])
        return Ratings.from_frame(
            frame, gold="gold", scale=blank.scale, categories=values, replicates="keep"
        )

    def replicate(
        self, point: Point, ratings: Ratings, problem: F, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings by raters who follow the observed proportions."""
        truth = self.draw_states(point, ratings, problem, rng)[ratings.item]
        known = self._known(point, ratings)
        probability = (1 - known)[:, None] * vote_proportions(ratings)[ratings.item]
        probability[np.arange(len(ratings)), truth] += known
        return drawn_categories(probability, rng)

    def _known(self, point: Point, ratings: Ratings) -> Array:
        """Probability (N,) that the rater of each rating knows."""
        rater = np.zeros_like(ratings.rater) if self.exchangeable_raters else ratings.rater
        return np.ravel(point["a"])[rater]


def vote_proportions(ratings: Ratings) -> Array:
    """Proportion (I, K) of each item's ratings in each category."""
    return np.asarray(ratings.counts / ratings.ratings_per_item[:, None])
