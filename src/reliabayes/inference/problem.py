"""The typed problem between ratings and Stan, and the one place that turns it into Stan's data."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, Protocol, TypeVar, runtime_checkable

import numpy as np
import pandas as pd

from reliabayes.arrays import Array, Codes

Kind = TypeVar("Kind", bound="Problem")


@dataclass(frozen=True, eq=False)
class StanData:
    """What a Stan program reads, by the names in its data block, but still counted from 0.

    Attributes
    ----------
    sizes : mapping of str to int
        Lengths of dimensions, in capital letters.
    positions : mapping of str to array of int
        Positions along a dimension, from 0.
    values : mapping of str to Any
        Everything else, as it is.
    """

    sizes: Mapping[str, int] = field(default_factory=dict)
    positions: Mapping[str, Codes] = field(default_factory=dict)
    values: Mapping[str, Any] = field(default_factory=dict)

    def __or__(self, other: StanData) -> StanData:
        return StanData(
            {**self.sizes, **other.sizes},
            {**self.positions, **other.positions},
            {**self.values, **other.values},
        )

    def to_dict(self) -> dict[str, Any]:
        """Data as cmdstanpy takes them: Stan counts positions from 1."""
        positions = {name: np.asarray(codes) + 1 for name, codes in self.positions.items()}
        return {**self.sizes, **positions, **self.values}


@runtime_checkable
class StanPart(Protocol):
    """A part of a problem that a Stan program reads."""

    def stan_data(self) -> StanData:
        """What the program reads of it."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Problem(ABC):
    """What a posterior depends on: data reduced to what the likelihood needs, and priors.

    A problem is pure: making one runs no estimation. Positions count from 0.

    Attributes
    ----------
    coords : mapping of str to Index
        Ids along each dimension that parameters and quantities can have.
    priors : mapping of str to array of float
        Numbers of each prior, by the name of its parameter.
    """

    coords: Mapping[str, pd.Index[Any]]
    priors: Mapping[str, Array]

    def size(self, dim: str) -> int:
        """Length of a dimension."""
        return len(self.coords[dim])

    @abstractmethod
    def stan_data(self) -> StanData:
        """What the program reads."""

    @property
    def prior_data(self) -> StanData:
        """What every program reads: the numbers of the priors."""
        return StanData(values={f"prior_{name}": prior for name, prior in self.priors.items()})


def extended(kind: type[Kind], base: Problem, **own: Any) -> Kind:
    """Problem of a more special kind: all that ``base`` has, and the fields that are its own."""
    shared = {each.name: getattr(base, each.name) for each in fields(base)}
    return kind(**{**shared, **own})


def stan_data(problem: StanPart, centring: StanPart | None) -> dict[str, Any]:
    """Data of the Stan program that samples from the posterior of a problem.

    Parameters
    ----------
    problem : Problem
        What the posterior depends on.
    centring : StanPart or None
        Where and on what scale the program samples its parameters; on this the posterior does not
        depend. None if the program has no such data.

    Returns
    -------
    dict
        Values by the names of the program's data block.
    """
    data = problem.stan_data()
    return (data if centring is None else data | centring.stan_data()).to_dict()
