"""Ratings simulated from a wanted agreement, as in studies of what coefficients make of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.ratings import Ratings

Array = NDArray[Any]
Match = Literal["observed"]


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
    r"""Ratings of items of which a wanted share is agreed upon.

    For each item, raters are drawn at random. With probability ``agreement`` one category is drawn
    and all of them give it; otherwise each draws a category of his own. Raters who do so agree by
    chance as well, so that with probabilities p of the categories and m ratings of an item

    .. math:: \mathrm{agreement} + (1 - \mathrm{agreement}) \sum_c p_c^m

    of the items are expected to be agreed upon.

    Parameters
    ----------
    agreement : float
        Probability, 0 to 1, that raters agree other than by chance.
    rng : Generator
        Source of all randomness.
    items : int
        1 or more.
    raters : int
        Raters to draw from, 2 or more.
    ratings_per_item : int, optional
        Raters drawn for each item, from 2 to ``raters``; by default all.
    categories : int
        2 or more; they are the numbers 1, 2, ...
    distribution : sequence of float, optional
        Weights of the categories; by default equal.
    match : "observed", optional
        Let raters who do not agree differ somewhere, and let as many items be agreed upon as
        counting allows: ``round(agreement * items)``.

    Returns
    -------
    Ratings
        Numeric, of the items 1, 2, ... by the raters 1, 2, ...; raters who drew no item are left
        out.

    Raises
    ------
    ValueError
        A number is out of its range, or raters cannot differ as one category has all weight.

    Notes
    -----
    Arguments of IRRsim's ``simulateRatingMatrix`` and those here: ``nLevels`` is ``categories``,
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
    plan = Plan(
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
class Plan:
    """How to simulate a matrix; the arguments of `rating_matrix`."""

    agreement: float
    items: int
    raters: int
    ratings_per_item: int
    categories: int
    distribution: tuple[float, ...] | None
    match: Match | None

    def __post_init__(self) -> None:
        share, k = self.probabilities, self.ratings_per_item
        rules = {
            "agreement": (0 <= self.agreement <= 1, "lie between 0 and 1", self.agreement),
            "items": (self.items >= 1, "be 1 or more", self.items),
            "raters": (self.raters >= 2, "be 2 or more", self.raters),
            "ratings_per_item": (2 <= k <= self.raters, f"lie between 2 and {self.raters}", k),
            "categories": (self.categories >= 2, "be 2 or more", self.categories),
            "distribution": (
                len(share) == self.categories and min(share) >= 0 and sum(share) > 0,
                f"be {self.categories} weights of 0 or more, one for each category",
                self.distribution,
            ),
            "match": (self.match in (None, "observed"), "be 'observed' or None", self.match),
        }
        for name, (holds, rule, found) in rules.items():
            if not holds:
                raise ValueError(f"{name} must {rule}; found {found!r}.")
        if self.match and np.count_nonzero(share) < 2 and self.agreed < self.items:
            raise ValueError(
                "distribution must give weight to two categories or more if raters are to differ; "
                f"found {self.distribution!r}. Pass agreement=1, or match=None."
            )

    @property
    def probabilities(self) -> tuple[float, ...]:
        """Weights of the categories."""
        return (1.0,) * self.categories if self.distribution is None else self.distribution

    @property
    def agreed(self) -> int:
        """Items to agree upon if that is to be observed."""
        return round(self.agreement * self.items)

    def draw(self, matrices: int, rng: np.random.Generator) -> tuple[Array, Array]:
        """Raters and categories, from 0, of (matrices * items, ratings_per_item) ratings."""
        rows = matrices * self.items
        keys = rng.random((rows, self.raters))
        rater = np.argsort(keys, axis=1)[:, : self.ratings_per_item]
        category = self._categories((rows, self.ratings_per_item), rng)
        if self.match is None:
            agreed = rng.random(rows) < self.agreement
        else:
            place = rng.permuted(np.tile(np.arange(self.items), (matrices, 1)), axis=1)
            agreed = place.ravel() < self.agreed
            self._make_differ(category, ~agreed, rng)
        return rater, np.where(agreed[:, None], category[:, :1], category)

    def _categories(self, shape: tuple[int, ...], rng: np.random.Generator) -> Array:
        edges = np.cumsum(self.probabilities)
        return np.asarray(np.searchsorted(edges, rng.random(shape) * edges[-1], side="right"))

    def _make_differ(self, category: Array, wanted: Array, rng: np.random.Generator) -> None:
        """Draw again, in place, rows that are alike and must not be."""
        while len(rows := np.flatnonzero(wanted & alike(category))):
            category[rows] = self._categories((len(rows), category.shape[1]), rng)

    def ratings(self, rater: Array, category: Array) -> Ratings:
        """What was drawn, as ratings; the items of all matrices are numbered from 1."""
        frame = pd.DataFrame(
            {
                "item": np.repeat(np.arange(1, len(rater) + 1), rater.shape[1]),
                "rater": rater.ravel() + 1,
                "rating": category.ravel() + 1,
            }
        )
        return Ratings.from_frame(frame, categories=range(1, self.categories + 1))


def alike(category: Array) -> Array:
    """(rows,) whether all ratings of a row are in one category."""
    return np.asarray((category == category[:, :1]).all(axis=1))
