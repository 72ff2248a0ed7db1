"""Parameters of the Stan programs: shapes and transforms to Stan's unconstrained scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
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
    name : str
        Name in the program.
    support : {"real", "positive", "unit", "simplex", "correlation"}
        Set of its values: all real numbers, those above 0, those between 0 and 1, vectors of
        positive numbers that sum to 1, or Cholesky factors of correlation matrices.
    dims : tuple of str
        Names of its dimensions, that of the simplex last; "all" has size 1.
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
        """Whether a value lies in the support or on its boundary.

        The sums of simplexes are not checked.

        Parameters
        ----------
        value : array of float, shape (...)
            Constrained value.

        Returns
        -------
        bool
            True if it does.
        """
        if self.support == "real":
            return bool(np.isfinite(value).all())
        if self.support == "positive":
            return bool((value > 0).all())
        if self.support == "correlation":
            return bool((np.abs(value) <= 1).all())
        return bool((value >= 0).all() and (value <= 1).all())

    def held(self, value: Array, inside: Array) -> Array:
        """Replace probabilities that are not between 0 and 1.

        Parameters
        ----------
        value : array of float, shape (...)
            Any value.
        inside : array of float, shape (...)
            Value in the support.

        Returns
        -------
        array of float, shape (...)
            ``value``, or ``inside`` wherever it is no probability; for other supports ``value``.
        """
        if self.support not in ("unit", "simplex"):
            return value
        return np.where((value >= 0) & (value <= 1), value, inside)

    def constrain(self, value: Array) -> Array:
        """Transform an unconstrained value to the support, as Stan does.

        Parameters
        ----------
        value : array of float, shape (...)
            Unconstrained value.

        Returns
        -------
        array of float, shape (...)
            Constrained value; a simplex has one element more in its last dimension.
        """
        if self.support == "simplex":
            return _stick_breaking(value)
        if self.support == "correlation":
            return correlation.factor(value, correlation.size(value))
        return np.asarray(_CONSTRAIN[self.support](value), float)

    def unconstrain(self, value: Array) -> Array:
        """Transform a value in the support to Stan's unconstrained scale, inverse to `constrain`.

        Parameters
        ----------
        value : array of float, shape (...)
            Constrained value.

        Returns
        -------
        array of float, shape (...)
            Unconstrained value; a simplex has one element less in its last dimension.
        """
        if self.support == "correlation":
            return correlation.free(value)
        if self.support == "simplex":
            remaining = np.cumsum(value[..., ::-1], axis=-1)[..., ::-1]
            breaks = np.log(value[..., :-1]) - np.log(remaining[..., 1:])
            return np.asarray(breaks + _centring_offset(value.shape[-1]))
        return np.asarray(_UNCONSTRAIN[self.support](value), float)

    def unconstrained_sd(self, pseudo_counts: Array) -> Array:
        """Standard deviations of a Beta or Dirichlet posterior on the unconstrained scale.

        Stan's transform of a simplex is stick-breaking, and the breaks of a Dirichlet distribution
        are independent Beta variables.

        Parameters
        ----------
        pseudo_counts : array of float, shape (..., K)
            Concentrations of the posterior, above 0; K is 2 for a Beta.

        Returns
        -------
        array of float, shape (..., K - 1), or (...) for a Beta
            The standard deviations.
        """
        remaining = np.cumsum(pseudo_counts[..., ::-1], axis=-1)[..., ::-1]
        variance = polygamma(1, pseudo_counts[..., :-1]) + polygamma(1, remaining[..., 1:])
        sd = np.sqrt(variance)
        return np.asarray(sd if self.support == "simplex" else sd[..., 0])


def to_free(parameters: Sequence[Parameter], point: Mapping[str, Array]) -> Array:
    """Draws (...) of all parameters, by name, as points (..., P) on the unconstrained scale."""
    parts = []
    for parameter in parameters:
        free = parameter.unconstrain(point[parameter.name])
        parts.append(free.reshape((*free.shape[: free.ndim - len(parameter.dims)], -1)))
    return np.concatenate(parts, axis=-1)


def from_free(
    parameters: Sequence[Parameter], points: Array, sizes: Callable[[str], int]
) -> dict[str, Array]:
    """Points (..., P) on the unconstrained scale as draws (...) of all parameters, by name."""
    found, used = {}, 0
    for parameter in parameters:
        shape = parameter.free_shape(sizes)
        until = used + math.prod(shape)
        free = points[..., used:until].reshape((*points.shape[:-1], *shape))
        found[parameter.name], used = parameter.constrain(free), until
    return found


_CONSTRAIN: Mapping[str, Any] = {"real": np.array, "positive": np.exp, "unit": expit}
_UNCONSTRAIN: Mapping[str, Any] = {"real": np.array, "positive": np.log, "unit": logit}


def _centring_offset(size: int) -> Array:
    """Offset that maps the uniform simplex to zero on the unconstrained scale."""
    return np.asarray(np.log(np.arange(size - 1, 0, -1)))


def _stick_breaking(value: Array) -> Array:
    size = value.shape[-1] + 1
    breaks = value - _centring_offset(size)
    ones = np.ones((*value.shape[:-1], 1))
    taken = np.concatenate([expit(breaks), ones], axis=-1)
    remaining = np.concatenate([ones, np.cumprod(expit(-breaks), axis=-1)], axis=-1)
    return np.asarray(taken * remaining)
