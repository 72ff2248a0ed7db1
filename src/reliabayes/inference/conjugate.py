"""Posteriors that Gibbs sampling suits: what ratings count for, and positions of parameters."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal

import numpy as np
from scipy.sparse import csr_matrix
from scipy.special import softmax

from reliabayes.arrays import Array, Codes
from reliabayes.inference.parameters import Parameter

NONE = -1  # a position of nothing
# Where states are drawn given one another, items with a state of at least such a probability are
# settled, and drawn in one of four passes.
NEARLY_CERTAIN = 0.995
GROUPED = ("simplex", "unit")  # support of probabilities in groups that sum to 1
LEAST = {"simplex": 1e-300, "unit": 1e-300, "positive": 1e-30, "real": -math.inf}  # at a start


@dataclass(frozen=True, eq=False)
class RatingEvents:
    """What a rating in each cell (V) of an item in each state (H) is an outcome of.

    Its probability is that of ``known``, plus ``proportion`` times that of all ``guessed``: numbers
    here are positions of probabilities in a `ParameterLayout`, and -1 where there is none.

    Attributes
    ----------
    known : array of int, shape (H, V)
        Probability of such a rating by somebody who knows.
    guessed : tuple of array of int, shape (H, V)
        Factors of its probability otherwise, at most two.
    proportion : array of float, shape (V,)
        Another factor, which is no parameter; 0 if there is nothing but ``known``.
    """

    known: Codes
    guessed: tuple[Codes, ...]
    proportion: Array


@dataclass(frozen=True, eq=False)
class ParameterLayout:
    """Positions of all parameters in one array (S,).

    Attributes
    ----------
    parameters : tuple of Parameter
        Simplexes and probabilities, which take two positions: of themselves and of the rest to 1;
        then any others.
    at : mapping of str to array of int, shape (..., K), or (..., 2) for a probability
        Positions by parameter.
    """

    parameters: tuple[Parameter, ...]
    at: Mapping[str, Codes]

    @classmethod
    def of(cls, parameters: Sequence[Parameter], sizes: Any) -> ParameterLayout:
        """Positions of parameters, one after another, given the sizes of dimensions by name."""
        at, used = {}, 0
        ordered = sorted(parameters, key=lambda each: each.support not in GROUPED)
        for parameter in ordered:
            shape = tuple(map(sizes, parameter.dims))
            shape += (2,) if parameter.support == "unit" else ()
            until = used + math.prod(shape)
            at[parameter.name] = np.arange(used, until, dtype=np.int32).reshape(shape)
            used = until
        return cls(tuple(ordered), at)

    @property
    def size(self) -> int:
        """Number S of positions."""
        return sum(each.size for each in self.at.values())

    @property
    def groups(self) -> Codes:
        """First position of each group that sums to 1, and one past the last."""
        own = [self.at[each.name] for each in self.parameters if each.support in GROUPED]
        first = [each[..., 0].ravel() for each in own]
        return np.append(np.concatenate(first), sum(each.size for each in own))

    def prior(self, concentrations: Mapping[str, Any]) -> Array:
        """Those of all groups, given those of each parameter that has groups, or to be repeated."""
        return _packed(
            np.broadcast_to(concentrations[each.name], self.at[each.name].shape)
            for each in self.parameters
            if each.support in GROUPED
        )

    def point(self, values: Mapping[str, Any]) -> Array:
        """Numbers (S,) of a value of each parameter."""
        return _packed(self._bounded(values))

    def _bounded(self, values: Mapping[str, Any]) -> Iterator[Array]:
        """Values of each parameter, a probability with its rest to 1, none so small as 0."""
        for each in self.parameters:
            value = np.asarray(values[each.name], float)
            if each.support == "unit":
                value = np.stack([value, 1 - value], axis=-1)
            yield np.maximum(value, LEAST[each.support])

    def unpacked(self, packed: Array) -> dict[str, Array]:
        """Values (..., of its shape) of each parameter, of numbers (..., S)."""
        found = {}
        for each in self.parameters:
            at = self.at[each.name]
            part = packed[..., at.ravel()[0] : at.ravel()[-1] + 1]
            values = part.reshape((*packed.shape[:-1], *at.shape))
            if each.support == "unit":  # 1 itself has no place on the unconstrained scale
                values = np.minimum(values[..., 0], 1 - np.finfo(float).epsneg)
            found[each.name] = values
        return found


def _packed(parts: Iterable[Array]) -> Array:
    return np.concatenate([np.ravel(part) for part in parts]).astype(float)


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Rows of confusion matrices with log odds that resemble one another.

    Parameters are called ``location``, ``spread`` (E,), ``effect`` (E, R), ``ability_spread`` and
    ``ability`` (R,). The rows (R, K, K) follow from them, and have the positions after those of all
    parameters.

    Attributes
    ----------
    n_raters, n_categories : int
        Sizes R and K; there are E = K (K - 1) errors.
    location : array of shape (2,)
        Mean and sd of the normal prior of locations.
    spread : array of shape (2,)
        Degrees of freedom and scale of the half t prior of spreads.
    ability_spread : array of shape (2,)
        The same of the standard deviation of what all errors of a rater share.
    """

    n_raters: int
    n_categories: int
    location: Array
    spread: Array
    ability_spread: Array

    @property
    def n_log_odds(self) -> int:
        """Number of all raters' log odds."""
        return self.n_raters * self.n_categories * (self.n_categories - 1)

    def rows(self, layout: ParameterLayout) -> Codes:
        """Positions (R, K, K) of the rows."""
        shape = self.n_raters, self.n_categories, self.n_categories
        return layout.size + np.arange(math.prod(shape), dtype=np.int32).reshape(shape)


@dataclass(frozen=True, eq=False)
class Conjugate:
    """A posterior that Gibbs sampling suits.

    Attributes
    ----------
    layout : ParameterLayout
        Positions of parameters.
    prior : array of float
        Concentration of each probability that is in a group.
    weight : array of int, shape (H,)
        Position of the probability of each state, or -1.
    fixed_weight : array of float, shape (H,)
        That probability, where it is no parameter.
    outcomes : RatingEvents
        What ratings are outcomes of.
    first, cell, count : array of int
        Ratings of distinct items: the entries of each, and cell and number of each entry.
    kind, multiplicity : array of int, shape (D,)
        0, or 1 + the state of a distinct item where it is known; and the items it stands for.
    n_ratings : float
        Number of ratings of all items.
    hierarchy : Hierarchy, optional
        What rows of confusion matrices follow from, if they are no parameters.
    sweeps : int
        Sweeps for each draw.
    passes : int
        Draws of all states given one another, with all probabilities integrated out, that follow
        each draw given probabilities.
    repeats : int
        Draws of who guessed, and of all probabilities, for each draw of the states.
    in_parts : bool
        Whether items are elsewhere, so that none can be drawn given all others.
    offset : int
        Items before these, if these are a part of all.
    is_settled : array of int, shape (D,), optional
        1 for items whose state hardly changes, so that few passes draw it; 0 for others.
    """

    sampler: ClassVar[Literal["gibbs"]] = "gibbs"

    layout: ParameterLayout
    prior: Array
    weight: Codes
    fixed_weight: Array
    outcomes: RatingEvents
    first: Codes
    cell: Codes
    count: Codes
    kind: Codes
    multiplicity: Codes
    n_ratings: float
    hierarchy: Hierarchy | None = None
    sweeps: int = 1
    passes: int = 0
    repeats: int = 1
    in_parts: bool = False
    offset: int = 0
    is_settled: Codes | None = None

    def with_settled(self, point: Mapping[str, Any]) -> Conjugate:
        """The same, with the items that are settled at a point, where nobody guesses."""
        logs = np.log(self.layout.point(point))
        shape = len(self.kind), self.outcomes.known.shape[1]
        counts = csr_matrix((self.count, self.cell, self.first), shape=shape)
        fixed = np.log(self.fixed_weight, where=self.weight == NONE, out=np.zeros(len(self.weight)))
        weight = np.where(self.weight == NONE, fixed, logs[self.weight])
        state = softmax(counts @ logs[self.outcomes.known].T + weight, axis=1)
        return replace(self, is_settled=(state.max(axis=1) >= NEARLY_CERTAIN).astype(np.int32))

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.layout.size - len(self.layout.groups) + 1
