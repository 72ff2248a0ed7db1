"""Replications of a rating study: draws of ratings, and their aggregates by item."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from reliabayes.arrays import Codes
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings
from reliabayes.wording import listed, shown

Aggregate = Literal["mean", "median", "majority", "rank"]
Aggregates = NDArray[Any]  # floats, or codes of categories for majorities


@dataclass(frozen=True, eq=False)
class Replication:
    """Ratings to draw from, and how to aggregate the ratings of an item.

    A draw is a pair of arrays: rows of the drawn ratings, and the unit to which each belongs. In
    block b the unit of item i is ``b * n_items + i``.

    Attributes
    ----------
    ratings : Ratings
        Any design.
    aggregate : {"mean", "median", "majority", "rank"}
        How the ratings of an item are aggregated.
    """

    ratings: Ratings
    aggregate: Aggregate

    def __post_init__(self) -> None:
        if self.aggregate not in get_args(Aggregate):
            known = ", ".join(get_args(Aggregate))
            raise ValueError(f"aggregate must be one of {known}; found {self.aggregate!r}.")
        if self.aggregate == "majority":
            return
        least = self.ratings.values.min()  # raises unless they are numbers
        if self.aggregate == "rank" and least < 1:
            ranked = 'frame.groupby("rater")["rating"].rank(ascending=False)'
            remedy = f"If they are scores, rank them first: {ranked}."
            raise RatingsError([Fault("rating", "ranks must be 1 or higher", shown(least), remedy)])

    def draw(self, k: int | None, blocks: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Draw k ratings of each item without replacement; all ratings if k is None."""
        n = self.ratings.ratings_per_item
        if k is not None and not 1 <= k <= n.min():
            rule = "k must be at least 1 and at most the number of ratings of any item"
            item = self.ratings.items[int(n.argmin())]
            found = f"k = {k}, and {n.min()} ratings of item {shown(item)}"
            raise RatingsError([Fault("k", rule, found, "Pass another k.")])
        unit = self._unit(self.ratings.item, blocks)
        order = np.lexsort((rng.random(len(unit)), unit))
        first = np.repeat(np.cumsum(np.tile(n, blocks)) - np.tile(n, blocks), np.tile(n, blocks))
        is_drawn = np.arange(len(unit)) - first < (n.max() if k is None else k)
        return order[is_drawn] % len(self.ratings), unit[is_drawn]

    def resample(self, k: int | None, blocks: int, rng: np.random.Generator) -> tuple[Codes, Codes]:
        """Draw k ratings of each item with replacement; as many as it has if k is None."""
        n = self.ratings.ratings_per_item
        item = np.repeat(np.arange(len(n)), n if k is None else k)
        unit = self._unit(item, blocks)
        item = np.tile(item, blocks)
        nth = (rng.random(len(item)) * n[item]).astype(np.intp)
        return (np.cumsum(n) - n)[item] + nth, unit

    def _unit(self, item: Codes, blocks: int) -> Codes:
        return (self.ratings.n_items * np.arange(blocks)[:, None] + item).ravel()

    def aggregates(
        self, row: Codes, unit: Codes, blocks: int, rng: np.random.Generator
    ) -> Aggregates:
        """(blocks * I,) aggregates of drawn ratings: numbers, or codes of categories."""
        size = blocks * self.ratings.n_items
        if self.aggregate in ("mean", "rank"):
            values = self.ratings.values[row]
            total = np.bincount(unit, values if self.aggregate == "mean" else 1 / values, size)
            return np.asarray(total / np.bincount(unit, minlength=size))
        if self.aggregate == "median":
            return pd.Series(self.ratings.values[row]).groupby(unit).median().to_numpy()
        n_categories = len(self.ratings.categories)
        cell = unit.astype(np.int64) * n_categories + self.ratings.category[row]
        counts = np.bincount(cell, minlength=size * n_categories).reshape(size, -1)
        return np.asarray((counts + rng.random(counts.shape) / 2).argmax(axis=1))

    def as_two_raters(self, one: Aggregates, other: Aggregates, items: Any) -> Ratings:
        """Two aggregates of each item as ratings by two raters, without pools and facets."""
        rating: Any = np.concatenate([one, other])
        frame = {"item": np.tile(items, 2), "rater": np.repeat([1, 2], len(items))}
        if self.aggregate != "majority":
            return Ratings.from_frame(pd.DataFrame(frame | {"rating": rating}))
        categories = self.ratings.categories
        return Ratings.from_frame(
            pd.DataFrame(frame | {"rating": categories[rating]}),
            scale=self.ratings.scale,
            categories=categories,
        )


Replications = tuple[Replication, Replication]
Draw = Callable[[Replication, int | None, int, np.random.Generator], tuple[Codes, Codes]]


def replications_of_shared_items(
    one: Ratings, other: Ratings, aggregate: Aggregate
) -> Replications:
    """Restrict two replications to the items that they share.

    Parameters
    ----------
    one, other : Ratings
        Of the same items by different raters.
    aggregate : {"mean", "median", "majority", "rank"}
        How the ratings of an item are aggregated.

    Returns
    -------
    tuple of Replication
        Both replications.

    Raises
    ------
    RatingsError
        They share no item, or majorities are of different categories.
    """
    shared = one.items.intersection(other.items)
    rules = {
        "items": (len(shared) > 0, "replications must share items", "none in common"),
        "scale": (
            aggregate != "majority"
            or (one.scale == other.scale and one.categories.equals(other.categories)),
            "replications must have the same scale and categories",
            f"{one.scale} {listed(one.categories)} and {other.scale} {listed(other.categories)}",
        ),
    }
    remedy = "Read both tables with the same item ids, scale=... and categories=..."
    faults = [
        Fault(place, rule, found, remedy)
        for place, (holds, rule, found) in rules.items()
        if not holds
    ]
    if faults:
        raise RatingsError(faults)
    first, second = (side.subset(items=shared) for side in (one, other))
    return Replication(first, aggregate), Replication(second, aggregate)
