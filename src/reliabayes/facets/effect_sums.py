"""The sums over ratings that variance components need, however many ratings there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from reliabayes.arrays import Array, Codes
from reliabayes.facets.effects import Effects


@dataclass(frozen=True, eq=False)
class EffectSums:
    """Sums by level of each source of variance, one source after the other, the mean last.

    Attributes
    ----------
    n : int
        Number of ratings.
    centre : float
        Subtracted from the ratings before they are summed, by default their mean.
    source : array of int, shape (T,)
        Position of the source to which each effect belongs. Effects have the positions of
        `Effects.sources`; the mean, an effect on all ratings, has that of the residual, K - 1.
    products : sparse array of float, shape (T, T)
        Number of ratings on which two effects act.
    totals : array of float, shape (T,)
        Sum of the ratings on which an effect acts.
    square : float
        Sum of the squared ratings.
    """

    n: int
    centre: float
    source: Codes
    products: sp.csr_array
    totals: Array
    square: float

    @classmethod
    def of(cls, effects: Effects, values: Array) -> EffectSums:
        """Sum ratings (N,), in the order of the levels of effects."""
        return cls.of_levels(effects.level, effects.sizes, values, float(np.mean(values)))

    @classmethod
    def of_levels(
        cls, level: Sequence[Codes], levels: Sequence[int], values: Array, centre: float
    ) -> EffectSums:
        """Sum ratings (N,) less a centre, given the level of each by source, and their numbers."""
        sizes = np.array([*levels, 1])
        first = np.cumsum(sizes) - sizes
        n = len(values)
        columns = [*level, np.zeros(n, np.int64)]
        column = np.stack([start + code for start, code in zip(first, columns, strict=True)], 1)
        rows = np.arange(n + 1) * len(sizes)
        incidence = sp.csr_array((np.ones(column.size), column.ravel(), rows), (n, sizes.sum()))
        deviation = values - centre
        return cls(
            n,
            centre,
            np.repeat(np.arange(len(sizes)), sizes),
            sp.csr_array(incidence.T @ incidence),
            np.asarray(incidence.T @ deviation),
            float(deviation @ deviation),
        )

    @property
    def counts(self) -> Array:
        """(T,) number of ratings on which each effect acts."""
        return np.asarray(self.products.diagonal())

    def by_source(self, parts: Array) -> Array:
        """(K,) sums of a part (T,) of each effect, by source; the last is that of the mean."""
        return np.asarray(np.bincount(self.source, parts))
