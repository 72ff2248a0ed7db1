"""Ratings in parts by some of the raters, of the items that all of these rated."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.partitions.dataset import Part, RatingsDataset
from reliabayes.ratings import Ratings
from reliabayes.ratings.facets import ByFacet

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class SharedItems:
    """How many items each two raters share, and their ratings of these.

    Attributes
    ----------
    dataset : RatingsDataset
        All ratings.
    items : sequence of array of int, shape (R, R)
        For each part, how many of its items both rated.
    ratings : sequence of array of int, shape (R, R)
        For each part, how many ratings of these the first rater gave.
    """

    dataset: RatingsDataset
    items: Sequence[Counts]
    ratings: Sequence[Counts]

    @classmethod
    def of(cls, dataset: RatingsDataset) -> SharedItems:
        """Count the items that raters share, part by part."""
        items, ratings = zip(*dataset.map(_shared), strict=True)
        return cls(dataset, items, ratings)

    def number(self, one: int, other: int) -> int:
        """Number of items that both rated."""
        return sum(int(each[one, other]) for each in self.items)

    def by(self, one: int, other: int) -> RatingsDataset:
        """Ratings by two raters who share items, of these items."""
        raters = np.array([one, other])
        counts = zip(self.dataset.parts, self.items, self.ratings, strict=True)
        parts: list[Part] = [
            _SharedPart(part, raters, int(n[one, other]), int(by[one, other] + by[other, one]))
            for part, n, by in counts
            if n[one, other]
        ]
        return replace(self.dataset, parts=parts, **_raters_alone(self.dataset, raters))


@dataclass(frozen=True, eq=False)
class _SharedPart:
    """A part of which other items and the ratings by other raters are left out when it is read."""

    part: Part
    raters: Codes
    n_items: int
    n_ratings: int

    def read(self) -> Ratings:
        whole = self.part.read()
        shared = _is_shared(whole, self.raters)
        rows = np.flatnonzero(shared[whole.item] & np.isin(whole.rater, self.raters))
        place = (np.cumsum(shared) - 1).astype(np.int32)
        return replace(
            whole,
            item=place[whole.item[rows]],
            rater=np.searchsorted(self.raters, whole.rater[rows]).astype(np.int32),
            rating=whole.rating[rows],
            items=whole.items[shared],
            gold=None if whole.gold is None else whole.gold[shared],
            facet=ByFacet({name: codes[rows] for name, codes in whole.facet.items()}),
            **_raters_alone(whole, self.raters),
        )

    def item_ids(self) -> pd.Index[Any]:
        return self.part.item_ids()[_is_shared(self.part.read(), self.raters)]


def _shared(part: Ratings) -> tuple[Counts, Counts]:
    counts = part.incidence.astype(np.int64)
    rated = (counts > 0).astype(np.int64)
    return (rated.T @ rated).toarray(), (counts.T @ rated).toarray()


def _is_shared(part: Ratings, raters: Codes) -> npt.NDArray[np.bool_]:
    """(I,) whether all of some raters rated an item."""
    return np.asarray((part.incidence[:, raters] > 0).sum(axis=1) == len(raters))


def _raters_alone(ratings: Ratings | RatingsDataset, raters: Codes) -> dict[str, Any]:
    """Fields that tell of raters, for some of them and their pools."""
    if ratings.rater_pool is None:
        return {"raters": ratings.raters[raters]}
    pools, pool = np.unique(ratings.rater_pool[raters], return_inverse=True)
    return {
        "raters": ratings.raters[raters],
        "pools": ratings.pools[pools],
        "rater_pool": pool.astype(np.int32),
    }
