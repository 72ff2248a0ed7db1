"""Statistics of items that a sampling distribution is computed from, wherever the items are."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

from reliabayes.agreement.distinct_rows import DistinctRows
from reliabayes.agreement.item_rows import Rows, column_sums, to_dense
from reliabayes.arrays import Array, Codes
from reliabayes.errors import Fault, RatingsError

Weighting = NDArray[Any]  # (B, R), how often each rater occurs, B times
RowsOf = Callable[[Array | None], Rows]


class ItemStatistics(Protocol):
    """Sums of statistics over items, for any number of occurrences of items and raters."""

    @property
    def distinct(self) -> DistinctRows:
        """Statistics of the items, each rater occurring once."""

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""

    @property
    def samples_at_once(self) -> int:
        """Number of samples of items and raters to draw at once."""

    def sums(self, weights: Weighting) -> Array:
        """(B, S) sums over items, given B times how often each rater (R,) occurs."""

    def sums_by_group(self, weights: Sequence[Array | None], n_groups: int) -> Array:
        """(B, H, S) sums over every H-th item, from each of the first H items on."""

    def sums_of_samples(self, weights: Weighting, rng: np.random.Generator) -> Array:
        """(B, S) sums over samples of items, given how often each rater occurs in each."""


class PartedStatistics(ItemStatistics, Protocol):
    """Statistics of items of which one part at a time is in memory."""

    @property
    def n_paired(self) -> int:
        """Number of items with at least two ratings."""

    @property
    def width(self) -> int:
        """Number S of statistics of an item."""

    def joined(self, others: Sequence[PartedStatistics]) -> PartedStatistics:
        """Return the columns of these statistics and of others, side by side."""


@dataclass(frozen=True, eq=False)
class StatisticsInMemory:
    """Statistics of items that are all in memory.

    Attributes
    ----------
    rows : callable
        Function from an array (R,) or None to the statistics (I, S), as for `Coefficient`.
    """

    rows: RowsOf

    @cached_property
    def distinct(self) -> DistinctRows:
        """Statistics of the items, each rater occurring once."""
        return DistinctRows.of(self.rows(None))

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""
        return self.distinct.total

    @property
    def samples_at_once(self) -> int:
        """Number of samples of items and raters to draw at once."""
        return self.distinct.block_size

    def sums(self, weights: Weighting) -> Array:
        """(B, S) sums over items, given B times how often each rater (R,) occurs."""
        return weighted_sums(self.rows, weights)

    def sums_by_group(self, weights: Sequence[Array | None], n_groups: int) -> Array:
        """(B, H, S) sums over every H-th item, from each of the first H items on."""
        place = np.arange(self.distinct.n_items)
        return grouped_sums(self.rows, weights, place, n_groups)

    def sums_of_samples(self, weights: Weighting, rng: np.random.Generator) -> Array:
        """(B, S) sums over samples of items with replacement."""
        size = self.distinct.n_items
        counts = rng.multinomial(size, np.full(size, 1 / size), len(weights))
        pairs = zip(counts, weights, strict=True)
        return np.array([count @ self.rows(each) for count, each in pairs])


def weighted_sums(rows: RowsOf, weights: Weighting) -> Array:
    """Return sums over items, given how often each rater occurs.

    Parameters
    ----------
    rows : callable
        Statistics (I, S) of the items.
    weights : array, shape (B, R)
        How often each rater occurs, B times.

    Returns
    -------
    array of float, shape (B, S)
        The sums.
    """
    return np.array([column_sums(rows(each)) for each in weights])


def grouped_sums(
    rows: RowsOf, weights: Sequence[Array | None], place: Codes, n_groups: int
) -> Array:
    """Return sums over groups of items, given how often each rater occurs.

    Parameters
    ----------
    rows : callable
        Statistics (I, S) of the items.
    weights : iterable of array of float, shape (R,), or None
        How often each rater occurs, B times.
    place : array of int, shape (I,)
        Position of each item among all; the group is the remainder after division by ``n_groups``.
    n_groups : int
        Number H of groups.

    Returns
    -------
    array of float, shape (B, H, S)
        The sums.
    """
    at = place % n_groups, np.arange(len(place))
    member = sp.csr_array((np.ones(len(place)), at), shape=(n_groups, len(place)))
    products: Iterable[Any] = (member @ rows(each) for each in weights)
    return np.array([to_dense(each) for each in products])


def joined_parts(each: Sequence[PartedStatistics | None]) -> PartedStatistics | None:
    """Join the columns of the statistics of several coefficients, if they are over parts.

    Parameters
    ----------
    each : sequence of PartedStatistics or None
        None for a coefficient of ratings in memory.

    Returns
    -------
    PartedStatistics or None
        None if all coefficients are of ratings in memory.

    Raises
    ------
    RatingsError
        Only some of them are.
    """
    parted = [one for one in each if one is not None]
    if not parted:
        return None
    if len(parted) < len(each):
        rule = "both coefficients must be of the same dataset, or both of ratings in memory"
        remedy = "Compute both from the same dataset."
        raise RatingsError([Fault("difference", rule, "one of each", remedy)])
    return parted[0].joined(parted[1:])
