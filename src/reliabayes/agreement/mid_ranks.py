"""Ranks and concordance of values, in samples in which each occurs a given number of times."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from reliabayes.arrays import Array, Codes


class MidRanks:
    """Ranks of values, equal values sharing the mean of theirs.

    Parameters
    ----------
    values : array, shape (N,)
        Numbers, or positions of ordered categories.
    """

    def __init__(self, values: ArrayLike) -> None:
        distinct, self._place = np.unique(values, return_inverse=True)
        self._order = np.argsort(self._place, kind="stable")
        self._last = np.cumsum(np.bincount(self._place, minlength=len(distinct))) - 1

    def centred(self, weights: Array) -> Array:
        """Mean ranks (..., N) of equal values less the mean of all ranks."""
        until = np.cumsum(weights[..., self._order], axis=-1)[..., self._last]
        before = np.concatenate([np.zeros_like(until[..., :1]), until[..., :-1]], axis=-1)
        ranks: Array = ((before + until - until[..., -1:]) / 2)[..., self._place]
        return ranks

    def spread_slopes(self, weights: Array, centred: Array) -> Array:
        """(N,) derivatives in each weight of the sum of squares of centred ranks.

        A centred rank is half the weights below less half those above, so that weights and items
        exchange their roles with the sign.
        """
        return np.asarray(centred**2 - 2 * self.centred(weights * centred))

    def untied(self, weights: Array) -> Array:
        """(...) twice the number of pairs that differ."""
        until = np.cumsum(weights[..., self._order], axis=-1)[..., self._last]
        return np.asarray(until[..., -1] ** 2 - (np.diff(until, prepend=0, axis=-1) ** 2).sum(-1))

    def untied_slopes(self, weights: Array) -> Array:
        """(N,) derivatives of `untied` in each weight."""
        equal = np.bincount(self._place, weights)
        return np.asarray(2 * (equal.sum() - equal[self._place]))


class Concordance:
    """Pairs of items that two raters put in the same order, less those in opposite orders.

    Two ranks by the first rater are distinguished by the highest bit in which they differ. For each
    bit, items are sorted once by the higher bits and by the second rater; sums over the items
    before each are then cumulative sums, for any weights, so that a sample takes O(N log N).

    Parameters
    ----------
    one, other : array, shape (N,)
        Ratings of the items by both.
    """

    def __init__(self, one: ArrayLike, other: ArrayLike) -> None:
        first, second = (np.unique(each, return_inverse=True)[1] for each in (one, other))
        self._levels = [
            _Level.of(first >> bit, second) for bit in range(int(first.max()).bit_length())
        ]

    def excess(self, weights: Array) -> Array:
        """(...) concordant less discordant pairs, of items with weights (..., N)."""
        return np.asarray(sum(each.excess(weights) for each in self._levels))

    def slopes(self, weights: Array) -> Array:
        """(N,) derivatives of the excess in each weight."""
        nothing = np.zeros_like(weights)  # without levels, as all ranks are equal
        return np.asarray(sum((each.slopes(weights) for each in self._levels), nothing))


class _Level:
    """Items whose first ranks agree in the higher bits, and differ in one."""

    def __init__(self, order: Codes, is_upper: Array, bounds: tuple[Codes, ...]) -> None:
        self._order, self._is_upper, self._bounds = order, is_upper, bounds

    @classmethod
    def of(cls, first: Codes, second: Codes) -> _Level:
        order = np.lexsort((second, first >> 1))
        block, value = first[order] >> 1, second[order]
        key = block.astype(np.int64) * (int(second.max()) + 1) + value
        edges = (
            np.searchsorted(block, block),
            np.searchsorted(key, key),
            np.searchsorted(key, key, side="right"),
            np.searchsorted(block, block, side="right"),
        )
        return cls(order, (first[order] & 1).astype(np.float64), edges)

    def excess(self, weights: Array) -> Array:
        sorted_weights = weights[..., self._order]
        balance = self._balance(sorted_weights * (1 - self._is_upper))
        return np.asarray((sorted_weights * self._is_upper * balance).sum(-1))

    def slopes(self, weights: Array) -> Array:
        ordered = weights[self._order]
        lower, upper = (
            self._balance(ordered * each) for each in (1 - self._is_upper, self._is_upper)
        )
        found = np.empty_like(ordered)
        found[self._order] = np.where(self._is_upper == 1, lower, -upper)
        return found

    def _balance(self, ordered: Array) -> Array:
        """Weights (..., N) of the block before each item less those after it."""
        until = np.concatenate(
            [np.zeros_like(ordered[..., :1]), np.cumsum(ordered, axis=-1)], axis=-1
        )
        start, before, after, end = (until[..., each] for each in self._bounds)
        return np.asarray((before - start) - (end - after))
