"""The design of ratings in parts, as a sum over the parts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from reliabayes.ratings import Ratings

Counts = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Design:
    """How raters and items meet, in one part or in several together.

    Attributes
    ----------
    n_cells, n_pairs : int
        As of `Ratings`.
    n_known : int
        Number of items with a known true value.
    items : array of int, shape (n,)
        Number of items by their number of ratings.
    per_rater : array of int, shape (R,)
        Number of ratings by each rater.
    component : array of int, shape (R,)
        Raters with equal numbers are connected; -1 for those without a rating.
    """

    n_cells: int
    n_pairs: int
    n_known: int
    items: Counts
    per_rater: Counts
    component: Counts

    @classmethod
    def of(cls, ratings: Ratings) -> Design:
        """Return the design of a part."""
        gold = ratings.gold
        is_known = np.zeros(0, np.bool_)
        if gold is not None:
            is_known = ~np.isnan(gold) if ratings.scale == "numeric" else gold >= 0
        per_rater = np.bincount(ratings.rater, minlength=ratings.n_raters)
        component = _components(ratings.n_raters, ratings.rater, ratings.item)
        return cls(
            n_cells=ratings.n_cells,
            n_pairs=ratings.n_pairs,
            n_known=int(is_known.sum()),
            items=np.bincount(ratings.ratings_per_item),
            per_rater=per_rater,
            component=np.where(per_rater > 0, component, -1),
        )

    def __add__(self, other: Design) -> Design:
        size = max(len(self.items), len(other.items))
        items = [np.pad(one.items, (0, size - len(one.items))) for one in (self, other)]
        per_rater = self.per_rater + other.per_rater
        raters = [np.flatnonzero(one.component >= 0) for one in (self, other)]
        # What connects raters in one of them is to the other as an item that all of these rated.
        number = len(per_rater)
        groups = self.component[raters[0]], other.component[raters[1]] + number
        component = _components(number, np.concatenate(raters), np.concatenate(groups))
        return Design(
            n_cells=self.n_cells + other.n_cells,
            n_pairs=self.n_pairs + other.n_pairs,
            n_known=self.n_known + other.n_known,
            items=items[0] + items[1],
            per_rater=per_rater,
            component=np.where(per_rater > 0, component, -1),
        )

    @property
    def n_components(self) -> int:
        """Number of connected components."""
        return len(np.unique(self.component[self.component >= 0]))

    def per_item(self) -> dict[str, Any]:
        """Return the least, the median and the largest number of ratings of an item."""
        (sizes,) = self.items.nonzero()
        ends = np.cumsum(self.items[sizes])
        middle = [sizes[np.searchsorted(ends, (ends[-1] + at) // 2)] for at in (1, 2)]
        return _distribution("ratings per item", sizes.min(), sum(middle) / 2, sizes.max())

    def of_raters(self) -> dict[str, Any]:
        """Return the least, the median and the largest number of ratings of a rater."""
        counts = self.per_rater
        return _distribution("ratings per rater", counts.min(), np.median(counts), counts.max())


def _components(number: int, rater: Any, group: Any) -> Counts:
    """Component (R,) of each of so many raters, of whom those in a group are connected."""
    n_groups = int(group.max(initial=-1)) + 1
    links = np.ones(len(rater), np.bool_), (rater, number + group.astype(np.int64))
    graph = sp.coo_array(links, shape=(number + n_groups,) * 2).tocsr()
    _, component = sp.csgraph.connected_components(graph, directed=False)
    return component[:number].astype(np.int64)


def _distribution(name: str, low: Any, median: Any, high: Any) -> dict[str, Any]:
    return {
        f"{name} (min)": int(low),
        f"{name} (median)": float(median),
        f"{name} (max)": int(high),
    }
