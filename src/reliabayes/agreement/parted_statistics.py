"""Statistics of items in parts: each part is reduced to its distinct rows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import pdtr

from reliabayes.agreement.distinct_rows import REPLICATES_PER_STREAM, DistinctRows
from reliabayes.agreement.item_rows import Rows, column_sums, join_columns
from reliabayes.agreement.item_statistics import (
    PartedStatistics,
    Weighting,
    grouped_sums,
    weighted_sums,
)
from reliabayes.agreement.whole import Whole
from reliabayes.arrays import Array
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings import Ratings

Build = Callable[[Ratings], Mapping[Hashable, "RowsOfPart"]]

MAX_KEPT = 2**26  # elements of distinct rows that are held, 512 MB
POISSON = pdtr(np.arange(19), 1.0)  # probabilities of 0, 0 or 1, ... occurrences of an item


class RowsOfPart(NamedTuple):
    """Statistics of the items of a part.

    Attributes
    ----------
    rows : callable
        As for `Coefficient`, as further attributes are.
    total : callable or None
        None if there is no cheaper way to the sum of the rows.
    """

    rows: Callable[[Array | None], Rows]
    total: Callable[[], Array] | None


@dataclass(frozen=True, eq=False)
class AllRows:
    """Statistics of the items of all parts, for one or several coefficients.

    Attributes
    ----------
    whole : Whole
        All ratings.
    build : callable
        Statistics of the ratings of a part, by coefficient; can be pickled.
    width : mapping
        Number of statistics, by coefficient.
    cheap : frozenset
        Coefficients of which sums over items are computed without their rows.
    """

    whole: Whole
    build: Build
    width: Mapping[Hashable, int]
    cheap: frozenset[Hashable] = frozenset()

    @cached_property
    def sums(self) -> dict[Hashable, _Sums]:
        """Sums of the rows of each coefficient that is not cheap, and their distinct rows."""
        return self._sums(partial(_sums, self.build, self.cheap))

    def sums_alone(self, rows: Callable[[Ratings], RowsOfPart]) -> _Sums:
        """Sums of the rows of one coefficient, and its distinct rows, which are not held here."""
        return self._sums(partial(_sums, partial(_alone, rows), frozenset()))[None]

    def add_up(self, function: Callable[[Ratings], Array]) -> Array:
        """Sum of a function of the parts."""
        return np.asarray(sum(self.whole.each(function)))

    def _sums(self, function: Callable[[Ratings], dict[Hashable, _Sums]]) -> dict[Hashable, _Sums]:
        found: dict[Hashable, _Sums] = {}
        for part in self.whole.each(function):
            found = {name: each.plus(found.get(name)) for name, each in part.items()}
        return found


@dataclass(frozen=True, eq=False)
class StatisticsOfParts:
    """Statistics of items of which one part at a time is in memory.

    Attributes
    ----------
    all_rows : AllRows
        Those of all coefficients that were computed together.
    name : Hashable
        Which of the coefficients.
    rows : callable
        Its statistics of the ratings of a part; can be pickled.
    """

    all_rows: AllRows
    name: Hashable
    rows: Callable[[Ratings], RowsOfPart]

    @cached_property
    def distinct(self) -> DistinctRows:
        """Statistics of the items, each rater occurring once."""
        of_all, is_cheap = self.all_rows, self.name in self.all_rows.cheap
        kept = (of_all.sums_alone(self.rows) if is_cheap else of_all.sums[self.name]).kept
        if kept is None:
            rule = "the distinct statistics of items must fit into memory for an interval"
            found = f"{self.all_rows.whole.n_items:,} items, most of them different"
            remedy = "Compute the interval from a sample of the items."
            raise RatingsError([Fault("items", rule, found, remedy)])
        return DistinctRows.merged(kept)

    @property
    def total(self) -> Array:
        """(S,) sums over all items."""
        if self.name in self.all_rows.cheap:
            return self.all_rows.add_up(partial(_total, self.rows))
        return self.all_rows.sums[self.name].total

    @property
    def n_paired(self) -> int:
        """Number of items with at least two ratings."""
        return self.all_rows.whole.n_paired

    @property
    def width(self) -> int:
        """Number S of statistics of an item."""
        return self.all_rows.width[self.name]

    @property
    def samples_at_once(self) -> int:
        """Number of samples of items and raters to draw at once: each needs all parts."""
        return REPLICATES_PER_STREAM

    def sums(self, weights: Weighting) -> Array:
        """(B, S) sums over items, given B times how often each rater (R,) occurs."""
        return self.all_rows.add_up(partial(_weighted, self.rows, weights))

    def sums_by_group(self, weights: Sequence[Array | None], n_groups: int) -> Array:
        """(B, H, S) sums over every H-th item, from each of the first H items on."""
        return self.all_rows.add_up(partial(_grouped, self.rows, weights, n_groups))

    def sums_of_samples(self, weights: Weighting, rng: np.random.Generator) -> Array:
        """(B, S) sums over items, each of which occurs as often as its hash says.

        The number of occurrences is Poisson distributed with mean 1, and independent of that of
        raters: Owen & Eckles (2012), https://doi.org/10.1214/12-AOAS547.
        """
        keys = rng.integers(0, 2**64, len(weights), np.uint64)
        return self.all_rows.add_up(partial(_sampled, self.rows, weights, keys))

    def joined(self, others: Sequence[PartedStatistics]) -> StatisticsOfParts:
        """Return the columns of these statistics and of others, side by side."""
        every = [self, *(each for each in others if isinstance(each, StatisticsOfParts))]
        sources = {id(each.all_rows.whole.source) for each in every}
        if len(sources) > 1 or len(every) <= len(others):
            rule = "both coefficients must be of the same dataset"
            remedy = "Partition the ratings together."
            raise RatingsError([Fault("difference", rule, "two datasets", remedy)])
        rows = partial(_joined_rows, [each.rows for each in every])
        width: dict[Hashable, int] = {None: sum(each.width for each in every)}
        return StatisticsOfParts(
            AllRows(self.all_rows.whole, partial(_alone, rows), width), None, rows
        )


class _Sums(NamedTuple):
    """Sums over items of a part or of several, and their distinct rows unless there are many."""

    total: Array
    kept: list[DistinctRows] | None

    def plus(self, other: _Sums | None) -> _Sums:
        if other is None:
            return self
        return _Sums(other.total + self.total, _kept(other.kept, self.kept))


def _kept(
    one: list[DistinctRows] | None, other: list[DistinctRows] | None
) -> list[DistinctRows] | None:
    """Distinct rows of both, merged once they are many; None if they still are."""
    if one is None or other is None:
        return None
    both = one + other
    if _n_elements(both) <= MAX_KEPT // 4:
        return both
    merged = [DistinctRows.merged(both)]
    return merged if _n_elements(merged) <= MAX_KEPT else None


def _n_elements(kept: Iterable[DistinctRows]) -> int:
    return sum(each.n_elements for each in kept)


def _joined_rows(each: Sequence[Callable[[Ratings], RowsOfPart]], part: Ratings) -> RowsOfPart:
    several = [rows_of(part) for rows_of in each]

    def rows(weights: Array | None) -> Rows:
        return join_columns([one.rows(weights) for one in several])

    return RowsOfPart(rows, None)


def _alone(rows_of: Callable[[Ratings], RowsOfPart], part: Ratings) -> dict[Hashable, RowsOfPart]:
    return {None: rows_of(part)}


def _sums(build: Build, but: frozenset[Hashable], part: Ratings) -> dict[Hashable, _Sums]:
    return {name: _sums_of(each) for name, each in build(part).items() if name not in but}


def _sums_of(each: RowsOfPart) -> _Sums:
    rows = each.rows(None)
    distinct = DistinctRows.merged([DistinctRows(rows, np.ones(rows.shape[0], np.intp))])
    return _Sums(column_sums(rows), [distinct])


def _total(rows_of: Callable[[Ratings], RowsOfPart], part: Ratings) -> Array:
    total = rows_of(part).total
    assert total is not None
    return total()


def _weighted(rows_of: Callable[[Ratings], RowsOfPart], weights: Weighting, part: Ratings) -> Array:
    return weighted_sums(rows_of(part).rows, weights)


def _grouped(
    rows_of: Callable[[Ratings], RowsOfPart],
    weights: Sequence[Array | None],
    n_groups: int,
    part: Ratings,
) -> Array:
    return grouped_sums(rows_of(part).rows, weights, part.items.to_numpy(), n_groups)


def _sampled(
    rows_of: Callable[[Ratings], RowsOfPart],
    weights: Weighting,
    keys: NDArray[np.uint64],
    part: Ratings,
) -> Array:
    rows, place = rows_of(part).rows, part.items.to_numpy()
    pairs = zip(keys, weights, strict=True)
    return np.array([occurrences(place, key) @ rows(each) for key, each in pairs])


def occurrences(place: NDArray[Any], key: np.uint64) -> Array:
    """Draw how often each item occurs in a sample, whatever part it is in.

    Parameters
    ----------
    place : array of int, shape (I,)
        Position of each item among all.
    key : int
        Number of the sample.

    Returns
    -------
    array of float, shape (I,)
        Whole numbers with a Poisson distribution of mean 1, from hashes of the positions.
    """
    with np.errstate(over="ignore"):
        mixed = place.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15) + key  # SplitMix64
        for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        mixed ^= mixed >> np.uint64(31)
    return np.searchsorted(POISSON, (mixed >> np.uint64(11)) * 2.0**-53, "right").astype(float)
