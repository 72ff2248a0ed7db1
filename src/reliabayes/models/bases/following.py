"""Raters who know the true category or follow the others: base of the groupthink models."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import pandas as pd
from typing_extensions import TypeVar

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.inference.conjugate import Outcomes
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData, extended
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.models.bases.cells import Cells
from reliabayes.models.bases.hidden_state import CategoricalProblem
from reliabayes.models.bases.know_or_guess import KnowOrGuessModel, known_if_right
from reliabayes.models.bases.simulation import drawn_categories
from reliabayes.ratings import Ratings

Shares = Literal["all", "earlier"]

OWN_RATING = (
    "The proportions that raters may follow contain the rating itself and nearly explain it alone. "
    "The accuracy a therefore falls to nearly 0 whatever raters know: of simulated ratings by "
    "raters who follow each other, no interval contained the true value. Where the order of the "
    "raters is known, shares='earlier' estimates it."
)


@dataclass(frozen=True, eq=False, kw_only=True)
class FollowingProblem(CategoricalProblem):
    """Ratings in categories, by raters who may follow the other ratings of an item.

    Attributes
    ----------
    proportion : array of shape (V,)
        Proportion of the ratings that a rater may follow that are of the category, by cell.
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

    A cell is a category, its proportion and, unless raters are exchangeable, a rater. With
    proportions of all ratings the model conditions on them: it does not say how they came about.
    """

    shares: Shares

    conditional: ClassVar[bool] = True
    # If a is near 0, the ratings say nothing about the prevalence: steps must be small.
    target_acceptance: ClassVar[float] = 0.95

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.shares not in ("all", "earlier"):
            raise ValueError(f"shares must be 'all' or 'earlier', not {self.shares!r}.")

    def caution(self, ratings: Ratings) -> str:
        """What the accuracies of the published model mean."""
        general = super().caution(ratings)
        return general if self.shares == "earlier" else f"{OWN_RATING} {general}".rstrip()

    @abstractmethod
    def prevalence_counts(self, expected_items: Array, problem: F) -> Array:
        """Pseudo-counts of the prevalence."""

    def following_problem(self, ratings: Ratings) -> FollowingProblem:
        """What problems of these models have in common."""
        if self.shares == "earlier" or not self.exchangeable_raters:
            ratings.require_known_raters(type(self).__name__)
        if self.shares == "all":
            proportion = vote_proportions(ratings)[ratings.item, ratings.category]
        else:
            proportion = earlier_proportions(ratings)
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

    def outcomes(self, at: Mapping[str, Codes], problem: F) -> Outcomes:
        """Each rating is known, or follows others."""
        known, unknown = at["a"].reshape(-1, 2)[problem.cells.rater].T
        return Outcomes(
            known=known_if_right(known, problem),
            guessed=(np.broadcast_to(unknown, (problem.n_categories, problem.n_cells)),),
            proportion=problem.proportion,
        )

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

    def posterior_sd(self, point: Point, expected: Expected, problem: F) -> Point:
        """As for all such models, but unknown items count by what their ratings say of them.

        Where nearly all ratings follow, they do not show the true categories, and the prevalence
        is hardly better known than from its prior.
        """
        mixture = problem.mixture
        known = np.bincount(mixture.kind, mixture.multiplicity, problem.n_categories + 1)[1:]
        unknown = np.maximum(expected.items - known, 0)
        items = known + association(expected.ratings) * unknown
        return super().posterior_sd(point, expected._replace(items=items), problem)

    def earlier_ratings(
        self, point: Point, blank: Ratings, problem: F, rng: np.random.Generator
    ) -> Ratings:
        """Votes that raters see before they rate: true where the voter knows, else at random.

        None where raters follow the earlier ratings.
        """
        if self.shares == "earlier":
            return blank
        truth = self.draw_states(point, blank, problem, rng)
        guess = rng.integers(0, problem.n_categories, len(blank))
        knows = rng.random(len(blank)) < self._known(point, blank)
        votes = np.where(knows, truth[blank.item], guess)
        values = blank.categories
        frame = blank.to_frame().assign(rating=values[votes], gold=values[truth[blank.item]])
        return Ratings.from_frame(
            frame,
            gold="gold",
            scale=blank.scale,
            categories=values,
            replicates="keep",
            facets=list(blank.facets),
        )

    def replicate(
        self, point: Point, ratings: Ratings, problem: F, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings by raters who follow the observed proportions.

        Or their own earlier ratings.
        """
        truth = self.draw_states(point, ratings, problem, rng)[ratings.item]
        known = self._known(point, ratings)
        if self.shares == "earlier":
            return _one_after_another(truth, known, ratings, rng)
        probability = (1 - known)[:, None] * vote_proportions(ratings)[ratings.item]
        probability[np.arange(len(ratings)), truth] += known
        return drawn_categories(probability, rng)

    def _known(self, point: Point, ratings: Ratings) -> Array:
        """Probability (N,) that the rater of each rating knows."""
        rater = np.zeros_like(ratings.rater) if self.exchangeable_raters else ratings.rater
        return np.ravel(point["a"])[rater]


def association(counts: Array) -> float:
    """Goodman's and Kruskal's tau: proportion of the variance of rows that columns explain.

    References
    ----------
    Goodman & Kruskal (1954), https://doi.org/10.1080/01621459.1954.10501231
    """
    joint = counts / counts.sum()
    by_row, by_column = joint.sum(axis=1), joint.sum(axis=0)
    by_chance = float(by_row @ by_row)
    given = np.divide(joint, by_column, out=np.zeros_like(joint), where=by_column > 0)
    explained = float((joint * given).sum()) - by_chance
    return min(max(explained, 0.0) / (1 - by_chance), 1.0) if by_chance < 1 else 1.0


def earlier_proportions(ratings: Ratings) -> Array:
    """Proportion (N,) of the item's earlier ratings that are of the rating's category.

    Raters come in the order of their ids. To the ratings before a rating, one is added that is
    spread evenly over the categories, so that nobody is certain to follow.
    """
    codes = pd.DataFrame({"item": ratings.item, "category": ratings.category})
    before = codes.groupby("item").cumcount().to_numpy()
    alike = codes.groupby(["item", "category"]).cumcount().to_numpy()
    return np.asarray((alike + 1 / len(ratings.categories)) / (before + 1))


def _one_after_another(
    truth: Codes, known: Array, ratings: Ratings, rng: np.random.Generator
) -> Codes:
    """Categories (N,) of raters who know the true category or follow a rating before theirs."""
    n_categories = len(ratings.categories)
    before = pd.Series(ratings.item).groupby(ratings.item).cumcount().to_numpy()
    votes = np.full((ratings.n_items, n_categories), 1 / n_categories)
    drawn = np.empty(len(ratings), np.int32)
    knows = rng.random(len(ratings)) < known
    for place in range(before.max() + 1):
        rows = np.flatnonzero(before == place)
        item = ratings.item[rows]
        drawn[rows] = np.where(knows[rows], truth[rows], drawn_categories(votes[item], rng))
        votes[item, drawn[rows]] += 1
    return drawn


def vote_proportions(ratings: Ratings) -> Array:
    """Proportion (I, K) of each item's ratings in each category."""
    return np.asarray(ratings.counts / ratings.ratings_per_item[:, None])
