"""Ratings that are in memory, as parts."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from reliabayes.partitions import RatingsDataset


@dataclass(frozen=True)
class PartInMemory:
    """Some of the items of ratings, from ``first`` up to ``last``."""

    ratings: rb.Ratings
    first: int
    last: int

    @property
    def n_items(self) -> int:
        return self.last - self.first

    @property
    def n_ratings(self) -> int:
        return int(np.diff(self._rows)[0])

    def read(self) -> rb.Ratings:
        start, stop = self._rows
        whole, rows = self.ratings, slice(start, stop)
        return replace(
            whole,
            item=whole.item[rows] - np.int32(self.first),
            rater=whole.rater[rows],
            rating=whole.rating[rows],
            items=pd.RangeIndex(self.first, self.last),
            gold=None if whole.gold is None else whole.gold[self.first : self.last],
            facet=type(whole.facet)({name: x[rows] for name, x in whole.facet.items()}),
            given_categories=whole.categories,
        )

    def item_ids(self) -> pd.Index[Any]:
        return self.ratings.items[self.first : self.last]

    @property
    def _rows(self) -> Any:
        return np.searchsorted(self.ratings.item, [self.first, self.last])


def in_parts(ratings: rb.Ratings, number: int) -> RatingsDataset:
    """The same ratings in so many parts of nearly as many items each."""
    cuts = np.linspace(0, ratings.n_items, number + 1).astype(int).tolist()
    return RatingsDataset(
        parts=[PartInMemory(ratings, *ends) for ends in pairwise(cuts)],
        raters=ratings.raters,
        categories=ratings.categories,
        scale=ratings.scale,
        pools=ratings.pools,
        rater_pool=ratings.rater_pool,
        facets=ratings.facets,
        scale_is_guess=ratings.scale_is_guess,
    )


def elsewhere(function: Callable[[Any], Any], parts: Sequence[Any]) -> Iterator[Any]:
    """Yield a function of each part as another process computes it: of copies of all it is sent."""
    for part in parts:
        sent = pickle.dumps((function, part))
        there, of = pickle.loads(sent)
        yield pickle.loads(pickle.dumps(there(of)))
