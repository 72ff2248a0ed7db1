"""Brute-force agreement over all pairs of ratings, and small random designs to compute it on."""

from __future__ import annotations

from collections.abc import Callable
from itertools import combinations
from typing import Any, NamedTuple, Self

import numpy as np
import pandas as pd
from hypothesis import strategies as st
from numpy.typing import NDArray

import reliabayes as rb
from reliabayes.arrays import Array

Distance = Callable[[Any, Any], Any]


def nominal(one: Any, other: Any) -> Any:
    return (one != other).astype(float)


def absolute(one: Any, other: Any) -> Any:
    return np.abs(one - other).astype(float)


def squared(one: Any, other: Any) -> Any:
    return (one - other) ** 2.0


class Table(NamedTuple):
    """Ratings in long form. Copies of a rating share its number and form no pair."""

    item: NDArray[np.int64]
    rater: NDArray[np.int64]
    value: Array
    number: NDArray[np.int64]

    @classmethod
    def simulated(cls, seed: int, *, items: int = 7, raters: int = 4, levels: int = 3) -> Self:
        """Incomplete ratings; all raters agree on the first two items, in different categories."""
        rng = np.random.default_rng(seed)
        value = rng.integers(0, levels, (items, raters)).astype(float)
        value[0], value[1] = 0, 1
        is_rated = rng.random((items, raters)) < 0.7
        is_rated[:3] = True
        item, rater = np.nonzero(is_rated)
        return cls(item, rater, value[is_rated], np.arange(len(item)))

    @property
    def frame(self) -> pd.DataFrame:
        return pd.DataFrame({"item": self.item, "rater": self.rater, "rating": self.value})

    def ratings(self, **options: Any) -> rb.Ratings:
        return rb.Ratings.from_frame(self.frame, **options)

    def pooled(self) -> rb.Ratings:
        frame = self.frame.assign(pool=self.frame["rater"] % 2)
        return rb.Ratings.from_frame(frame, pool="pool")

    def part(self, rows: NDArray[Any]) -> Self:
        return type(self)(*(column[rows] for column in self))

    def with_raters(self, times: NDArray[np.int64]) -> Self:
        """Repeat the ratings of each rater as often as the rater is drawn."""
        return self.part(np.repeat(np.arange(len(self.item)), times[self.rater]))

    def with_items(self, times: NDArray[np.int64]) -> Self:
        """Repeat each item as often as it is drawn, as items of their own."""
        drawn = np.repeat(np.arange(len(times)), times)
        rows = [np.flatnonzero(self.item == item) for item in drawn]
        item = np.repeat(np.arange(len(drawn)), [len(each) for each in rows])
        copies = self.part(np.concatenate(rows))
        return copies._replace(item=item, number=copies.number + len(self.item) * item)

    def within(self, distance: Distance) -> tuple[Array, Array, Array]:
        """(I,) number of ratings, number of ordered pairs, and sum of their distances."""
        is_pair = self.item[:, None] == self.item
        is_pair &= self.number[:, None] != self.number
        far = distance(self.value[:, None], self.value) * is_pair
        by_item = np.arange(self.item.max() + 1)[:, None] == self.item
        sizes = by_item.sum(axis=1), by_item @ is_pair.sum(axis=1), by_item @ far.sum(axis=1)
        return tuple(np.asarray(each, float) for each in sizes)  # type: ignore[return-value]

    @property
    def pairable(self) -> Self:
        left = self.part((self.within(nominal)[1] > 0)[self.item])
        return left._replace(item=np.unique(left.item, return_inverse=True)[1])


def alpha(table: Table, distance: Distance) -> float:
    m, pairs, far = table.within(distance)
    paired = table.pairable
    n = len(paired.item)
    observed = (far[pairs > 0] * m[pairs > 0] / pairs[pairs > 0]).sum() / n
    expected = distance(paired.value[:, None], paired.value).sum() / (n * (n - 1))
    return float(1 - observed / expected)


def ordinal(table: Table) -> Distance:
    """Squared number of pairable ratings between two, including half of those at either."""
    values = table.pairable.value

    def between(one: float, other: float) -> float:
        low, high = min(one, other), max(one, other)
        n = ((values >= low) & (values <= high)).sum()
        return float((n - ((values == low).sum() + (values == high).sum()) / 2) ** 2)

    return np.vectorize(between)


def percent(table: Table, distance: Distance = nominal) -> float:
    _, pairs, far = table.within(distance)
    return float(1 - (far[pairs > 0] / pairs[pairs > 0]).mean())


def specific(table: Table, level: float) -> float:
    is_pair = table.item[:, None] == table.item
    is_pair &= table.number[:, None] != table.number
    others = is_pair[table.value == level]
    return float(others[:, table.value == level].sum() / others.sum())


def proportions(table: Table, levels: Array) -> Array:
    """(K,) mean over items of the proportion of each category."""
    items = np.unique(table.item)
    of = [[(table.value[table.item == item] == level).mean() for level in levels] for item in items]
    return np.asarray(np.mean(of, axis=0))


def chance_of_raters(table: Table, distance: Distance) -> float:
    """Mean distance of the ratings of two raters, averaged over pairs of raters and copies."""
    numbers, times = np.unique(table.number, return_counts=True)
    raters = np.array([table.rater[table.number == number][0] for number in numbers])
    values = np.array([table.value[table.number == number][0] for number in numbers])
    total = weight = 0.0
    for one, other in combinations(np.unique(raters), 2):
        mine, others = raters == one, raters == other
        pairs = float(times[mine][0] * times[others][0])
        total += pairs * distance(values[mine][:, None], values[others]).mean()
        weight += pairs
    return total / weight


def conger(table: Table, distance: Distance) -> float:
    return float(1 - (1 - percent(table, distance)) / chance_of_raters(table, distance))


def cohen(table: Table, one: int, other: int, distance: Distance) -> float:
    mine, others = (table.part(table.rater == rater) for rater in (one, other))
    _, first, second = np.intersect1d(mine.item, others.item, return_indices=True)
    x, y = mine.value[first], others.value[second]
    return float(1 - distance(x, y).mean() / distance(x[:, None], y).mean())


def light(table: Table, distance: Distance) -> float:
    pairs = combinations(np.unique(table.rater), 2)
    return float(np.mean([cohen(table, *pair, distance) for pair in pairs]))


def kappa_x(table: Table, pool: NDArray[np.int64], distance: Distance) -> float:
    first, second = (table.part(pool[table.rater] == each) for each in (0, 1))
    both = np.intersect1d(first.item, second.item)
    first, second = (each.part(np.isin(each.item, both)) for each in (first, second))
    n = len(first.item) + len(second.item)
    observed = 0.0
    for item in both:
        x, y = first.value[first.item == item], second.value[second.item == item]
        observed += (len(x) + len(y)) / n * distance(x[:, None], y).mean()
    return float(1 - observed / distance(first.value[:, None], second.value).mean())


def tables() -> st.SearchStrategy[Table]:
    """Random tables of 4 to 8 items, 4 or 5 raters and 2 to 4 levels."""
    return st.builds(
        Table.simulated,
        seed=st.integers(0, 2**16),
        items=st.integers(4, 8),
        raters=st.integers(4, 5),
        levels=st.integers(2, 4),
    )
