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
# Where ratings may be guessed, who guessed and all probabilities are drawn so often for each draw
# of the states, less often with few ratings per parameter, and so many sweeps make a draw: this
# mixes best for its time.
GUESSED_REPEATS, FEW_REPEATS, GUESSED_SWEEPS = 8, 4, 2
FEW_RATINGS = 10  # per parameter
SWEEPS_PER_PARAMETER = 4  # more, by parameters per rating
MOST_SWEEPS = 10
# To draw a probability, or log odds, takes as long as so many ratings of an item whose state is
# drawn; equal items are many if they have so many times the ratings of a sweep.
RATINGS_PER_PARAMETER, RATINGS_PER_LOG_ODDS, MANY_EQUAL = 8, 12, 2
# So many distinct ratings and log odds, in sweeps of a hierarchy, make a draw; at least so many
# sweeps, and so many where ratings are more than log odds, so that states slow the chain.
SWEPT, HIERARCHY_SWEEPS, SWEEPS_OF_MANY_RATINGS = 10_000, 4, 5
# Where states are drawn given one another, items with a state of at least such a probability are
# settled, and drawn in one of four passes.
NEARLY_CERTAIN = 0.995
# Where an item is left out of counts with the prior, as 1 less, smaller priors lose digits.
LEAST_PRIOR = 1e-6
GROUPED = ("simplex", "unit")  # support of probabilities in groups that sum to 1
LEAST = {"simplex": 1e-300, "unit": 1e-300, "positive": 1e-30, "real": -math.inf}  # at a start


@dataclass(frozen=True, eq=False)
class Outcomes:
    """What a rating in each cell (V) of an item in each state (H) is an outcome of.

    Its probability is that of ``known``, plus ``proportion`` times that of all ``guessed``: numbers
    here are positions of probabilities, as `Slots` gives them, and -1 where there is none.

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
class Slots:
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
    def of(cls, parameters: Sequence[Parameter], sizes: Any) -> Slots:
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

    Parameters are called ``location``, ``spread`` (E,) and ``effect`` (E, R). The rows (R, K, K)
    follow from them, and have the positions after those of all parameters.

    Attributes
    ----------
    n_raters, n_categories : int
        Sizes R and K; there are E = K (K - 1) errors.
    location : array of shape (2,)
        Mean and sd of the normal prior of locations.
    spread : array of shape (2,)
        Degrees of freedom and scale of the half t prior of spreads.
    """

    n_raters: int
    n_categories: int
    location: Array
    spread: Array

    @property
    def n_log_odds(self) -> int:
        """Number of all raters' log odds."""
        return self.n_raters * self.n_categories * (self.n_categories - 1)

    def rows(self, slots: Slots) -> Codes:
        """Positions (R, K, K) of the rows."""
        shape = self.n_raters, self.n_categories, self.n_categories
        return slots.size + np.arange(math.prod(shape), dtype=np.int32).reshape(shape)


@dataclass(frozen=True, eq=False)
class Conjugate:
    """A posterior that Gibbs sampling suits.

    Attributes
    ----------
    slots : Slots
        Positions of parameters.
    prior : array of float
        Concentration of each probability that is in a group.
    weight : array of int, shape (H,)
        Position of the probability of each state, or -1.
    fixed_weight : array of float, shape (H,)
        That probability, where it is no parameter.
    outcomes : Outcomes
        What ratings are outcomes of.
    first, cell, count : array of int
        Ratings of distinct items: the entries of each, and cell and number of each entry.
    kind, multiplicity : array of int, shape (D,)
        0, or 1 + the state of a distinct item where it is known; and the items it stands for.
    n_ratings : float
        Number of ratings of all items.
    hierarchy : Hierarchy, optional
        What rows of confusion matrices follow from, if they are no parameters.
    thinning : int
        Times the usual number of sweeps that make a draw.
    in_parts : bool
        Whether items are elsewhere, so that none can be drawn given all others.
    offset : int
        Items before these, if these are a part of all.
    is_settled : array of int, shape (D,), optional
        1 for items whose state hardly changes, so that few passes draw it; 0 for others.
    """

    sampler: ClassVar[Literal["gibbs"]] = "gibbs"

    slots: Slots
    prior: Array
    weight: Codes
    fixed_weight: Array
    outcomes: Outcomes
    first: Codes
    cell: Codes
    count: Codes
    kind: Codes
    multiplicity: Codes
    n_ratings: float
    hierarchy: Hierarchy | None = None
    thinning: int = 1
    in_parts: bool = False
    offset: int = 0
    is_settled: Codes | None = None

    @property
    def sweeps(self) -> int:
        """Sweeps that make a draw: one is hardly a step where parameters are many for the data."""
        return 1 if self.has_urns else self._steps

    @property
    def passes(self) -> int:
        """Draws of all states given one another that follow each draw given probabilities."""
        return self._steps - 1 if self.has_urns else 0

    @property
    def has_urns(self) -> bool:
        """Whether states are drawn given one another, with all probabilities integrated out.

        Where items are equal, those in each state are drawn at once given probabilities.
        """
        is_sum = bool(self.outcomes.guessed) or self.hierarchy is not None
        if is_sum or self.in_parts or self.prior.min() < LEAST_PRIOR:
            return False
        return self.n_ratings <= MANY_EQUAL * self.work

    def with_settled(self, point: Mapping[str, Any]) -> Conjugate:
        """The same, with the items that are settled at a point, where nobody guesses."""
        logs = np.log(self.slots.point(point))
        shape = len(self.kind), self.outcomes.known.shape[1]
        counts = csr_matrix((self.count, self.cell, self.first), shape=shape)
        fixed = np.log(self.fixed_weight, where=self.weight == NONE, out=np.zeros(len(self.weight)))
        weight = np.where(self.weight == NONE, fixed, logs[self.weight])
        state = softmax(counts @ logs[self.outcomes.known].T + weight, axis=1)
        return replace(self, is_settled=(state.max(axis=1) >= NEARLY_CERTAIN).astype(np.int32))

    @property
    def work(self) -> float:
        """What a sweep costs, in numbers of ratings."""
        if self.hierarchy is not None:
            return len(self.cell) + RATINGS_PER_LOG_ODDS * self.hierarchy.n_log_odds
        return len(self.cell) + RATINGS_PER_PARAMETER * self.slots.size

    @property
    def work_of_draw(self) -> float:
        """What a draw of a chain costs, in numbers of ratings."""
        repeated = 1 + self.repeats // FEW_REPEATS
        return self.sweeps * self.work * repeated + self.passes * len(self.cell)

    @property
    def _steps(self) -> int:
        if self.hierarchy is not None:
            n_ratings, n_log_odds = len(self.cell), self.hierarchy.n_log_odds
            least = SWEEPS_OF_MANY_RATINGS if n_ratings > n_log_odds else HIERARCHY_SWEEPS
            usual = min(max(least, int(SWEPT / (n_ratings + n_log_odds))), MOST_SWEEPS)
            return self.thinning * usual
        least = GUESSED_SWEEPS if self.outcomes.guessed else 1
        more = int(SWEEPS_PER_PARAMETER * self.n_parameters / self.n_ratings)
        return self.thinning * min(least + more, MOST_SWEEPS)

    @property
    def repeats(self) -> int:
        """Draws of who guessed, and of all probabilities, for each draw of the states."""
        if self.hierarchy is not None or not self.outcomes.guessed:
            return 1
        are_few = self.n_ratings < FEW_RATINGS * self.n_parameters
        return FEW_REPEATS if are_few else GUESSED_REPEATS

    @property
    def n_parameters(self) -> int:
        """Number of free parameters."""
        return self.slots.size - len(self.slots.groups) + 1
