"""Parameters of the Stan programs: their shapes, and their way to Stan's unconstrained scale."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from scipy.special import expit, logit, polygamma

from reliabayes.arrays import Array
from reliabayes.inference import correlation

Support = Literal["real", "positive", "unit", "simplex", "correlation"]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a Stan program.

    Attributes
    ----------
    name : as in the program
    support : set of its values: all numbers, those above 0, those between 0 and 1, vectors of
        positive numbers that sum to 1, or Cholesky factors of correlation matrices
    dims : names of its dimensions, a simplex's own last; "all" is one of size 1
    """

    name: str
    support: Support
    dims: tuple[str, ...] = ()

    def free_shape(self, sizes: Callable[[str], int]) -> tuple[int, ...]:
        """Shape of its unconstrained values, given the sizes of dimensions by name."""
        if self.support == "correlation":
            return (correlation.n_free(sizes(self.dims[0])),)
        shape = tuple(map(sizes, self.dims))
        return (*shape[:-1], shape[-1] - 1) if self.support == "simplex" else shape

    def holds(self, value: Array) -> bool:
        """Whether a value is in the support or on its edge; sums of simplexes are not looked at."""
        if self.support == "real":
            return bool(np.isfinite(value).all())
        if self.support == "positive":
            return bool((value > 0).all())
        if self.support == "correlation":
            return bool((np.abs(value) <= 1).all())
        return bool((value >= 0).all() and (value <= 1).all())

    def constrain(self, value: Array) -> Array:
        """What Stan's transform makes of an unconstrained value."""
        if self.support == "simplex":
            return _broken_stick(value)
        if self.support == "correlation":
            return correlation.factor(value, correlation.size(value))
        return np.asarray(_CONSTRAIN[self.support](value), float)

    def unconstrain(self, value: Array) -> Array:
        """The unconstrained value that Stan's transform makes this value of."""
        if self.support == "correlation":
            return correlation.free(value)
        if self.support == "simplex":
            left = np.cumsum(value[..., ::-1], axis=-1)[..., ::-1]
            breaks = np.log(value[..., :-1]) - np.log(left[..., 1:])
            return np.asarray(breaks + _stick_offset(value.shape[-1]))
        return np.asarray(_UNCONSTRAIN[self.support](value), float)

    def spread(self, pseudo_counts: Array) -> Array:
        """Standard deviations, on the unconstrained scale, of a Beta or Dirichlet posterior.

        Stan breaks a stick to make a simplex, and the breaks of a Dirichlet are independent Betas.
        """
        left = np.cumsum(pseudo_counts[..., ::-1], axis=-1)[..., ::-1]
        breaks = np.sqrt(polygamma(1, pseudo_counts[..., :-1]) + polygamma(1, left[..., 1:]))
        return np.asarray(breaks if self.support == "simplex" else breaks[..., 0])


_CONSTRAIN: Mapping[str, Any] = {"real": np.array, "positive": np.exp, "unit": expit}
_UNCONSTRAIN: Mapping[str, Any] = {"real": np.array, "positive": np.log, "unit": logit}


def _stick_offset(size: int) -> Array:
    """What makes equal shares of a simplex the zero of the unconstrained scale."""
    return np.asarray(np.log(np.arange(size - 1, 0, -1)))


def _broken_stick(breaks: Array) -> Array:
    size = breaks.shape[-1] + 1
    broken = breaks - _stick_offset(size)
    edge = (*breaks.shape[:-1], 1)
    taken = np.concatenate([expit(broken), np.ones(edge)], axis=-1)
    left = np.concatenate([np.ones(edge), np.cumprod(expit(-broken), axis=-1)], axis=-1)
    return np.asarray(taken * left)
