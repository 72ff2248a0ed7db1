"""Small random designs, and what a dense computation says of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from reliabayes.crossed import Deviations

Array = NDArray[np.float64]
Codes = NDArray[np.int32]


class LongTable(NamedTuple):
    """Ratings in long form; every one of the many and of the few has at least one rating."""

    many: Codes
    few: Codes
    ratings: Array

    @classmethod
    def simulated(cls, *, items: int, raters: int, ratings: int, seed: int) -> LongTable:
        """Unbalanced, incomplete, with replicates: each rating falls into a random cell."""
        rng = np.random.default_rng(seed)
        n = max(ratings, items, raters)
        item = np.append(np.arange(items), rng.integers(0, items, n - items))
        rater = np.append(np.arange(raters), rng.integers(0, raters, n - raters))
        effects = rng.normal(0, 1, items)[item] + rng.normal(0, 0.7, raters)[rater]
        codes = (item.astype(np.int32), rng.permutation(rater).astype(np.int32))
        return cls(*codes, effects + rng.normal(0, 1, n))

    def part(self, rows: NDArray[np.bool_]) -> LongTable:
        """Some of the ratings, the many numbered anew."""
        _, many = np.unique(self.many[rows], return_inverse=True)
        return LongTable(many.astype(np.int32), self.few[rows], self.ratings[rows])


def long_tables() -> st.SearchStrategy[LongTable]:
    """Designs of 2 to 8 of the many and of the few, with up to 40 ratings."""
    return st.builds(
        LongTable.simulated,
        items=st.integers(2, 8),
        raters=st.integers(2, 8),
        ratings=st.integers(3, 40),
        seed=st.integers(0, 2**16),
    )


def dense_covariance(table: LongTable, sd: Deviations) -> Array:
    """(N, N) covariance of the ratings around their mean."""
    same_many = table.many[:, None] == table.many
    same_few = table.few[:, None] == table.few
    noise = np.eye(len(table.ratings))
    return np.asarray(sd.many**2 * same_many + sd.few**2 * same_few + sd.residual**2 * noise)


def slopes(function: Callable[[Array], float], at: Array, step: float = 1e-3) -> Array:
    """Gradient by differences at four points, whose error falls with the step's fourth power."""

    def difference(move: Array) -> float:
        return function(at + move) - function(at - move)

    moves = step * np.eye(len(at))
    near, far = ([difference(size * move) for move in moves] for size in (1, 2))
    return np.asarray((8 * np.array(near) - np.array(far)) / (12 * step))
