"""Raters who know the true category, or follow other ratings of the item."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes, distinct_rows
from reliabayes.families.categories.by_counts import ByCounts
from reliabayes.families.categories.know_or_guess import known_positions
from reliabayes.families.categories.problem import CategoricalProblem
from reliabayes.families.cells import Cells
from reliabayes.families.simulation import drawn_categories
from reliabayes.inference.conjugate import RatingEvents
from reliabayes.inference.em import Point
from reliabayes.inference.problem import StanData
from reliabayes.likelihoods.item_mixture import Expected
from reliabayes.ratings import Ratings

Shares = Literal["all", "earlier"]

OWN_RATING = (
    "The proportions that raters may follow contain the rating itself and nearly explain it alone. "
    "The accuracy a therefore falls to nearly 0 whatever raters know: of simulated ratings by "
    "raters who follow each other, no interval contained the true value. Where the order of the "
    "raters is known, shares='earlier' estimates it."
)


@dataclass(frozen=True, eq=False)
class Followed:
    """What raters may follow, by cell: a category, its proportion and perhaps a rater.

    Attributes
    ----------
    proportion : array of shape (V,)
        Proportion of the ratings that a rater may follow that are of the category.
    category : array of int, shape (V,)
        The category.
    rater : array of int, shape (V,), or None
        The rater; None if raters are exchangeable.
    """

    proportion: Array
    category: Codes
    rater: Codes | None

    def stan_data(self) -> StanData:
        """What the cells are."""
        positions = {"category": self.category}
        if self.rater is not None:
            positions["rater"] = self.rater
        return StanData(positions=positions, values={"proportion": self.proportion})


def check_shares(shares: str) -> None:
    """Refuse other ratings to follow than there are."""
    if shares not in ("all", "earlier"):
        raise ValueError(f"shares must be 'all' or 'earlier', not {shares!r}.")


def followed_cells(ratings: Ratings, shares: Shares, *, has_raters: bool) -> tuple[Cells, Followed]:
    """Cells of the ratings, and what raters may follow.

    Parameters
    ----------
    ratings : Ratings
        The data.
    shares : {"all", "earlier"}
        Ratings of an item that raters may follow. With proportions of all ratings a model
        conditions on them: it does not say how they came about.
    has_raters : bool
        Whether raters are told apart.
    """
    if shares == "all":
        proportion = vote_proportions(ratings)[ratings.item, ratings.category]
    else:
        proportion = earlier_proportions(ratings)
    rater = ratings.rater if has_raters else np.zeros_like(ratings.rater)
    rows = np.column_stack([rater, ratings.category, proportion])
    distinct, of_rating = distinct_rows(rows)
    category, by = distinct[:, 1].astype(np.int32), distinct[:, 0].astype(np.int32)
    cells = Cells(of_rating.astype(np.int32), category, by)
    return cells, Followed(distinct[:, 2], category, by if has_raters else None)


@dataclass(frozen=True)
class Following:
    """Raters who, where they do not know the true category, follow other ratings of the item.

    Attributes
    ----------
    shares : {"all", "earlier"}
        Ratings that they follow.
    """

    shares: Shares

    @property
    def response(self) -> ByCounts:
        """How the probability of a rating follows."""
        return ByCounts(
            log_table=log_table,
            pseudo_counts=pseudo_counts,
            outcomes=outcomes,
            known="a",
            observed=observed,
        )

    @property
    def are_polled(self) -> bool:
        """Whether all vote before they rate."""
        return self.shares == "all"

    @property
    def caution(self) -> str:
        """What the accuracies of the published model mean."""
        return OWN_RATING if self.are_polled else ""

    def polled(
        self, truth: Codes, point: Point, blank: Ratings, rng: np.random.Generator
    ) -> Ratings:
        """Votes that raters see before they rate: true where the voter knows, else at random."""
        values = blank.categories
        guess = rng.integers(0, len(values), len(blank))
        knows = rng.random(len(blank)) < _known(point, blank)
        votes = np.where(knows, truth[blank.item], guess)
        frame = blank.to_frame().assign(rating=values[votes], gold=values[truth[blank.item]])
        return Ratings.from_frame(
            frame,
            gold="gold",
            scale=blank.scale,
            categories=values,
            replicates="keep",
            facets=list(blank.facets),
        )

    def rated(
        self, truth: Codes, point: Point, ratings: Ratings, rng: np.random.Generator
    ) -> Codes:
        """Categories (N,) of new ratings by raters who follow the observed proportions.

        Or their own earlier ratings.
        """
        truth = truth[ratings.item]
        known = _known(point, ratings)
        if not self.are_polled:
            return _one_after_another(truth, known, ratings, rng)
        probability = (1 - known)[:, None] * vote_proportions(ratings)[ratings.item]
        probability[np.arange(len(ratings)), truth] += known
        return drawn_categories(probability, rng)


def log_table(point: Point, problem: CategoricalProblem[Followed]) -> Array:
    """Log-probabilities (K, V) of the ratings in each cell, by true category."""
    known = np.ravel(point["a"])[problem.cells.rater]
    is_right = np.arange(problem.n_categories)[:, None] == problem.cells.category
    with np.errstate(divide="ignore"):
        return np.asarray(np.log(is_right * known + (1 - known) * problem.own.proportion))


def outcomes(at: Mapping[str, Codes], problem: CategoricalProblem[Followed]) -> RatingEvents:
    """Each rating is known, or follows others."""
    known, unknown = at["a"].reshape(-1, 2)[problem.cells.rater].T
    return RatingEvents(
        known=known_positions(known, problem),
        guessed=(np.broadcast_to(unknown, (problem.n_categories, problem.n_cells)),),
        proportion=problem.own.proportion,
    )


def pseudo_counts(point: Point, expected: Expected, problem: CategoricalProblem[Followed]) -> Point:
    """Expected ratings that were accurate, and those that followed."""
    rater = problem.cells.rater
    known = np.ravel(point["a"])[rater]
    right = expected.ratings[problem.cells.category, np.arange(problem.n_cells)]
    total = known + (1 - known) * problem.own.proportion
    knew = right * np.divide(known, total, out=np.zeros_like(total), where=total > 0)
    followed = expected.ratings.sum(axis=0) - knew
    counts = [
        np.bincount(rater, by_cell, minlength=problem.n_raters) for by_cell in (knew, followed)
    ]
    items = expected.items + problem.priors["prevalence"]
    return {
        "prevalence": items if problem.prevalence is None else items[None],
        "a": np.stack(counts, axis=-1).reshape((*np.shape(point["a"]), 2)) + problem.priors["a"],
    }


def observed(expected: Expected, problem: CategoricalProblem) -> Expected:
    """Expected counts in which unknown items count by what their ratings say of them.

    Where nearly all ratings follow, they do not show the true categories, and the prevalence is
    hardly better known than from its prior.
    """
    mixture = problem.mixture
    known = np.bincount(mixture.kind, mixture.multiplicity, problem.n_categories + 1)[1:]
    unknown = np.maximum(expected.items - known, 0)
    return expected._replace(items=known + association(expected.ratings) * unknown)


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


def _known(point: Point, ratings: Ratings) -> Array:
    """Probability (N,) that the rater of each rating knows."""
    known = np.ravel(point["a"])
    return known[ratings.rater if len(known) > 1 else np.zeros_like(ratings.rater)]
