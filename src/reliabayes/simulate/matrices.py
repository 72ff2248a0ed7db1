"""Ratings simulated with a given agreement, as in simulation studies of coefficients."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes, Mask
from reliabayes.choices import Match
from reliabayes.ratings import Ratings


def rating_matrix(
    *,
    agreement: float,
    rng: np.random.Generator,
    items: int = 100,
    raters: int = 2,
    ratings_per_item: int | None = None,
    categories: int = 3,
    distribution: Sequence[float] | None = None,
    match: Match | None = None,
) -> Ratings:
    r"""Simulate ratings in which a given proportion of items has unanimous ratings.

    For each item, raters are drawn at random. With probability ``agreement`` a single category is
    drawn and all of them give it; otherwise each of them draws a category independently. As these
    may agree by chance, with category probabilities p and m ratings of an item a proportion of

    .. math:: \mathrm{agreement} + (1 - \mathrm{agreement}) \sum_c p_c^m

    of the items is expected to have unanimous ratings.

    Parameters
    ----------
    agreement : float
        Probability that the raters of an item agree other than by chance, from 0 to 1.
    rng : Generator
        Source of all randomness.
    items : int, default 100
        Number of items, at least 1.
    raters : int, default 2
        Number of raters to draw from, at least 2.
    ratings_per_item : int, optional
        Number of raters drawn for each item, from 2 to ``raters``; by default all.
    categories : int, default 3
        Number of categories, at least 2; they are the numbers 1, 2, ...
    distribution : sequence of float, optional
        Weights of the categories; by default equal.
    match : {"observed"}, optional
        Make exactly ``round(agreement * items)`` items unanimous, with at least one dissenting
        rating of every other item.

    Returns
    -------
    Ratings
        Numeric, of the items 1, 2, ... by the raters 1, 2, ...; raters without an item are left
        out.

    Raises
    ------
    ValueError
        An argument is out of range, or raters cannot disagree because a single category has all
        the weight.

    Notes
    -----
    The arguments of IRRsim's ``simulateRatingMatrix`` correspond as follows: ``nLevels`` is
    ``categories``,
    ``k`` is ``raters``, ``k_per_event`` is ``ratings_per_item``, ``agree`` is ``agreement``,
    ``nEvents`` is ``items``, ``response.probs`` is ``distribution``.

    References
    ----------
    Bryer, IRRsim. https://irrsim.bryer.org

    Examples
    --------
    >>> import numpy as np
    >>> rating_matrix(agreement=0.6, raters=6, ratings_per_item=2, rng=np.random.default_rng(1))
    Ratings(200 ratings of 100 items by 6 raters, numeric 1..3)
    """
    plan = MatrixPlan(
        agreement=agreement,
        items=items,
        raters=raters,
        ratings_per_item=raters if ratings_per_item is None else ratings_per_item,
        categories=categories,
        distribution=None if distribution is None else tuple(distribution),
        match=match,
    )
    return plan.ratings(*plan.draw(1, rng))


@dataclass(frozen=True, kw_only=True)
class MatrixPlan:
    """Checked arguments of `rating_matrix`, from which any number of matrices can be simulated.

    Attributes
    ----------
    agreement : float
        Probability that the raters of an item agree other than by chance.
    items, raters, ratings_per_item, categories : int
        Size of each matrix.
    distribution : tuple of float or None
        Weights of the categories; None for equal weights.
    match : {"observed"} or None
        Whether exactly ``round(agreement * items)`` items are unanimous.
    """

    agreement: float
    items: int
    raters: int
    ratings_per_item: int
    categories: int
    distribution: tuple[float, ...] | None
    match: Match | None

    def __post_init__(self) -> None:
        weights, k = self.weights, self.ratings_per_item
        rules = {
            "agreement": (0 <= self.agreement <= 1, "lie between 0 and 1", self.agreement),
            "items": (self.items >= 1, "be 1 or more", self.items),
            "raters": (self.raters >= 2, "be 2 or more", self.raters),
            "ratings_per_item": (2 <= k <= self.raters, f"lie between 2 and {self.raters}", k),
            "categories": (self.categories >= 2, "be 2 or more", self.categories),
            "distribution": (
                len(weights) == self.categories and min(weights) >= 0 and 0 < sum(weights) < np.inf,
                f"be {self.categories} finite weights of 0 or more, one for each category",
                self.distribution,
            ),
            "match": (self.match in (None, "observed"), "be 'observed' or None", self.match),
        }
        for name, (holds, rule, found) in rules.items():
            if not holds:
                raise ValueError(f"{name} must {rule}; found {found!r}.")
        if self.match and np.count_nonzero(weights) < 2 and self.n_unanimous < self.items:
            raise ValueError(
                "distribution must give positive weight to at least two categories for raters to "
                f"disagree; found {self.distribution!r}. Pass agreement=1, or match=None."
            )

    @property
    def weights(self) -> tuple[float, ...]:
        """Weights of the categories."""
        return (1.0,) * self.categories if self.distribution is None else self.distribution

    @property
    def n_unanimous(self) -> int:
        """Number of items with unanimous ratings under ``match="observed"``."""
        return round(self.agreement * self.items)

    def draw(self, matrices: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """0-based raters and categories of ratings (matrices * items, ratings_per_item)."""
        rows = matrices * self.items
        keys = rng.random((rows, self.raters))
        rater = np.argsort(keys, axis=1)[:, : self.ratings_per_item]
        category = self._categories((rows, self.ratings_per_item), rng)
        if self.match is None:
            is_agreed = rng.random(rows) < self.agreement
        else:
            place = rng.permuted(np.tile(np.arange(self.items), (matrices, 1)), axis=1)
            is_agreed = place.ravel() < self.n_unanimous
            self._redraw_unanimous(category, ~is_agreed, rng)
        return rater, np.where(is_agreed[:, None], category[:, :1], category)

    def _categories(self, shape: tuple[int, ...], rng: np.random.Generator) -> Codes:
        edges = np.cumsum(self.weights)
        return np.asarray(np.searchsorted(edges, rng.random(shape) * edges[-1], side="right"))

    def _redraw_unanimous(
        self, category: Codes, must_differ: Mask, rng: np.random.Generator
    ) -> None:
        """Redraw, in place, rows that must differ until none of them is unanimous."""
        while len(rows := np.flatnonzero(must_differ & is_unanimous(category))):
            category[rows] = self._categories((len(rows), category.shape[1]), rng)

    def ratings(self, rater: Codes, category: Codes) -> Ratings:
        """Draws as ratings; the items of all matrices are numbered consecutively from 1."""
        frame = pd.DataFrame(
            {
                "item": np.repeat(np.arange(1, len(rater) + 1), rater.shape[1]),
                "rater": rater.ravel() + 1,
                "rating": category.ravel() + 1,
            }
        )
        return Ratings.from_frame(frame, categories=range(1, self.categories + 1))


def is_unanimous(category: Codes) -> Mask:
    """Find the items whose ratings are all in the same category.

    Parameters
    ----------
    category : array of int, shape (I, M)
        Categories of M ratings of each item.

    Returns
    -------
    array of bool, shape (I,)
        Whether the ratings of each item are unanimous.
    """
    return np.asarray((category == category[:, :1]).all(axis=1))
