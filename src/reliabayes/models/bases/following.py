"""Raters who know the true category or else follow the others: what the groupthink models share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.inference.em import Point
from reliabayes.models.bases.hidden_state import Data, drawn_categories
from reliabayes.models.bases.knowing import KnowingModel
from reliabayes.ratings import Ratings


class FollowingModel(KnowingModel):
    """A model of raters who, where they do not know, follow the shares of their item's ratings.

    A cell is a category, a share of it and, unless raters are pooled, a rater. Given the data the
    shares are fixed: the model says nothing of how they came about.
    """

    conditional: ClassVar[bool] = True
    acceptance: ClassVar[float] = 0.95  # a near 0 leaves the prevalence to its prior: two scales

    @abstractmethod
    def prevalence_counts(self, items: Array, data: Data) -> Array:
        """Pseudo-counts of the prevalence."""

    def cells(self, ratings: Ratings) -> tuple[Codes, dict[str, Any]]:
        """A cell for each combination of rater, category and share that occurs."""
        share = self.shares_of_votes(ratings)[ratings.item, ratings.category]
        rater = np.zeros_like(ratings.rater) if self.pooled else ratings.rater
        rows = np.column_stack([rater, ratings.category, share])
        distinct, cell = distinct_rows(rows)
        described = {
            "K": len(ratings.categories),
            "V": len(distinct),
            "category": distinct[:, 1].astype(np.int64) + 1,
            "share": distinct[:, 2],
        }
        if not self.pooled:
            described |= {"R": ratings.n_raters, "rater": distinct[:, 0].astype(np.int64) + 1}
        return cell.astype(np.int32), described

    def shares_of_votes(self, ratings: Ratings) -> Array:
        """Share (I, K) of each item's ratings in each category."""
        return np.asarray(ratings.counts / ratings.ratings_per_item[:, None])

    def cell_category(self, data: Data) -> Codes:
        """Category (V,) of the ratings in each cell."""
        return np.asarray(data["category"], np.int32) - 1

    def cell_rater(self, data: Data) -> Codes:
        """Rater (V,) of the ratings in each cell."""
        return np.asarray(data.get("rater", np.ones(data["V"])), np.int32) - 1

    def table(self, point: Point, data: Data) -> Array:
        """Log-probabilities (K, V) of the ratings in each cell, by true category."""
        known = np.ravel(point["a"])[self.cell_rater(data)]
        is_right = np.arange(data["K"])[:, None] == self.cell_category(data)
        with np.errstate(divide="ignore"):
            return np.asarray(np.log(is_right * known + (1 - known) * np.asarray(data["share"])))

    def pseudo_counts(self, point: Point, expected: Array, items: Array, data: Data) -> Point:
        """Expected ratings that were accurate, and those that followed."""
        rater = self.cell_rater(data)
        known = np.ravel(point["a"])[rater]
        right = expected[self.cell_category(data), np.arange(data["V"])]
        total = known + (1 - known) * np.asarray(data["share"])
        knew = right * np.divide(known, total, out=np.zeros_like(total), where=total > 0)
        followed = expected.sum(axis=0) - knew
        size = data.get("R", 1)
        counts = [np.bincount(rater, by_cell, minlength=size) for by_cell in (knew, followed)]
        shape = (*np.shape(point["a"]), 2)
        return {
            "prevalence": self.prevalence_counts(items, data),
            "a": np.stack(counts, axis=-1).reshape(shape) + data["prior_a"],
        }

    def first_round(
        self, point: Point, blank: Ratings, data: Data, rng: np.random.Generator
    ) -> Ratings:
        """A straw poll before the ratings, of raters who know the true category or toss a coin."""
        truth = self.draw_states(point, blank, data, rng)
        guess = rng.integers(0, data["K"], len(blank))
        knows = rng.random(len(blank)) < self._known(point, blank)
        votes = np.where(knows, truth[blank.item], guess)
        values = blank.categories
        frame = blank.to_frame().assign(rating=values[votes], gold=values[truth[blank.item]])
        return Ratings.from_frame(
            frame, gold="gold", scale=blank.scale, categories=values, replicates="keep"
        )

    def replicate(
        self, point: Point, ratings: Ratings, data: Data, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings by raters who follow the shares there were."""
        truth = self.draw_states(point, ratings, data, rng)[ratings.item]
        known = self._known(point, ratings)
        probability = (1 - known)[:, None] * self.shares_of_votes(ratings)[ratings.item]
        probability[np.arange(len(ratings)), truth] += known
        return drawn_categories(probability, rng)

    def _known(self, point: Point, ratings: Ratings) -> Array:
        """Probability (N,) that the rater of each rating knows."""
        return np.ravel(point["a"])[np.zeros_like(ratings.rater) if self.pooled else ratings.rater]
