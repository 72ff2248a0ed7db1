"""Gibbs sampling of hidden states and Dirichlet probabilities, compiled from stan/cpp/gibbs.cpp."""

from __future__ import annotations

import ctypes
import math
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.parameters import Parameter
from reliabayes.inference.progress import progress_bar
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import run_threads
from reliabayes.inference.time_limit import seconds_left

LIBRARY = "libreliabayes-gibbs.so"
SECONDS = 0.05  # of sweeps between looks at whether to stop
NONE = -1  # a position of nothing
# Where ratings may be guessed, who guessed and all probabilities are drawn so often for each draw
# of the states, less often with few ratings per parameter, and so many sweeps make a draw: this
# mixes best for its time.
GUESSED_REPEATS, FEW_REPEATS, GUESSED_SWEEPS = 8, 4, 2
FEW_RATINGS = 10  # per parameter
SWEEPS_PER_PARAMETER = 4  # more, by parameters per rating
MOST_SWEEPS = 10


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
    """Positions of the probabilities of all parameters in one array (S,).

    Attributes
    ----------
    parameters : tuple of Parameter
        Simplexes, and probabilities, which take two positions: of themselves and of the rest to 1.
    at : mapping of str to array of int, shape (..., K), or (..., 2) for a probability
        Positions by parameter.
    """

    parameters: tuple[Parameter, ...]
    at: Mapping[str, Codes]

    @classmethod
    def of(cls, parameters: Sequence[Parameter], sizes: Any) -> Slots:
        """Positions of parameters, one after another, given the sizes of dimensions by name."""
        at, used = {}, 0
        for parameter in parameters:
            shape = tuple(map(sizes, parameter.dims))
            shape += (2,) if parameter.support == "unit" else ()
            until = used + math.prod(shape)
            at[parameter.name] = np.arange(used, until, dtype=np.int32).reshape(shape)
            used = until
        return cls(tuple(parameters), at)

    @property
    def groups(self) -> Codes:
        """First position of each group that sums to 1, and one past the last."""
        first = [each[..., 0].ravel() for each in self.at.values()]
        size = sum(each.size for each in self.at.values())
        return np.append(np.concatenate(first), size)

    def packed(self, values: Mapping[str, Any]) -> Array:
        """Probabilities (S,), given those of the groups of each parameter, or to be repeated."""
        parts = [np.broadcast_to(values[name], at.shape) for name, at in self.at.items()]
        return np.concatenate([np.ravel(part) for part in parts]).astype(float)

    def point(self, values: Mapping[str, Any]) -> Array:
        """Probabilities (S,) of a value of each parameter."""
        groups = {}
        for each in self.parameters:
            value = np.asarray(values[each.name], float)
            groups[each.name] = (
                np.stack([value, 1 - value], axis=-1) if each.support == "unit" else value
            )
        return np.maximum(self.packed(groups), 1e-300)

    def unpacked(self, packed: Array) -> dict[str, Array]:
        """Values (..., of its shape) of each parameter, of probabilities (..., S)."""
        found = {}
        for each in self.parameters:
            at = self.at[each.name]
            part = packed[..., at.ravel()[0] : at.ravel()[-1] + 1]
            values = part.reshape((*packed.shape[:-1], *at.shape))
            if each.support == "unit":  # 1 itself has no place on the unconstrained scale
                values = np.minimum(values[..., 0], 1 - np.finfo(float).epsneg)
            found[each.name] = values
        return found


@dataclass(frozen=True, eq=False)
class Conjugate:
    """A posterior that Gibbs sampling suits.

    Attributes
    ----------
    slots : Slots
        Positions of probabilities.
    prior : array of float, shape (S,)
        Concentration of each.
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
    thinning : int
        Times the usual number of sweeps that make a draw.
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
    thinning: int = 1

    @property
    def sweeps(self) -> int:
        """Sweeps that make a draw: one is hardly a step where parameters are many for the data."""
        least = GUESSED_SWEEPS if self.outcomes.guessed else 1
        more = int(SWEEPS_PER_PARAMETER * self.n_parameters / self.n_ratings)
        return self.thinning * min(least + more, MOST_SWEEPS)

    @property
    def repeats(self) -> int:
        """Draws of who guessed, and of all probabilities, for each draw of the states."""
        if not self.outcomes.guessed:
            return 1
        are_few = self.n_ratings < FEW_RATINGS * self.n_parameters
        return FEW_REPEATS if are_few else GUESSED_REPEATS

    @property
    def n_parameters(self) -> int:
        """Number of free probabilities."""
        return len(self.prior) - len(self.slots.groups) + 1


def sample(
    conjugate: Conjugate,
    *,
    chains: int,
    warmup: int,
    draws: int,
    seed: int,
    inits: Sequence[Mapping[str, Any]],
    parallel_chains: int | None = None,
    progress: bool | None = None,
    timeout: float | None = None,
) -> Draws:
    """Draws from a posterior by Gibbs sampling, chains in threads.

    Parameters
    ----------
    conjugate : Conjugate
        The posterior.
    chains, warmup, draws : int
        Markov chains, and the iterations of each, discarded and kept; see `Conjugate.sweeps`.
    seed : int
        Seed of all chains.
    inits : sequence of mapping of str to Any
        Starting values of each chain.
    parallel_chains : int, optional
        Chains run at once; by default as many as there are processors.
    progress : bool, optional
        Show a progress bar; by default in terminals and notebooks.
    timeout : float, optional
        Seconds that all chains together may take.

    Returns
    -------
    Draws
        With ``log_likelihood`` beside the parameters, and the statistic ``lp``.

    Raises
    ------
    SamplingError
        The chains took longer than ``timeout``.
    """
    size, shape = len(conjugate.prior), (chains, draws)
    found = _Kept(np.empty((*shape, size)), np.empty(shape), np.empty(shape))
    run = _Run(conjugate, seed, chains, warmup, draws)
    tasks = [
        partial(run.chain, chain, conjugate.slots.point(init), found.of(chain))
        for chain, init in enumerate(inits)
    ]
    total, until = chains * run.sweeps, time.monotonic() + seconds_left(timeout)
    with progress_bar("Gibbs sampling", total, lambda: sum(run.done), progress) as watch:
        at_once = parallel_chains or os.cpu_count() or 1
        run_threads(tasks, run.stop, at_once=at_once, until=until, watch=watch)
    parameters = conjugate.slots.unpacked(found.probabilities)
    return Draws({**parameters, "log_likelihood": found.log_likelihood}, {"lp": found.lp})


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is kept of sweeps: probabilities (..., S), log-likelihood and log density (...)."""

    probabilities: Array
    log_likelihood: Array
    lp: Array

    def of(self, chain: int) -> _Kept:
        return _Kept(self.probabilities[chain], self.log_likelihood[chain], self.lp[chain])


class _Run:
    """Chains over one posterior, each in steps between which it can be stopped."""

    def __init__(
        self, conjugate: Conjugate, seed: int, chains: int, warmup: int, draws: int
    ) -> None:
        self.seed, self.stop = seed, threading.Event()
        self.done = [0] * chains  # sweeps of each
        # What is kept of a sweep is what it starts from, so none is kept of the first.
        self.every = conjugate.sweeps
        self.first_kept = self.every * (warmup + 1)
        self.sweeps = self.first_kept + self.every * (draws - 1) + 1
        outcomes, slots = conjugate.outcomes, conjugate.slots
        none = np.full_like(outcomes.known, NONE)
        guess, second, *_ = *outcomes.guessed, none, none
        self.arrays: dict[str, NDArray[Any]] = {
            "first": _plain(conjugate.first, np.int64),
            "cell": _plain(conjugate.cell, np.int32),
            "count": _plain(conjugate.count, np.int32),
            "kind": _plain(conjugate.kind, np.int32),
            "multiplicity": _plain(conjugate.multiplicity, np.int64),
            "group": _plain(slots.groups, np.int64),
            "prior": _plain(conjugate.prior, np.float64),
            "weight": _plain(conjugate.weight, np.int32),
            "fixed_weight": _plain(conjugate.fixed_weight, np.float64),
            "known": _plain(outcomes.known.T, np.int32),
            "guess": _plain(guess.T, np.int32),
            "guess2": _plain(second.T, np.int32),
            "proportion": _plain(outcomes.proportion, np.float64),
        }
        states, cells = outcomes.known.shape
        sizes = len(conjugate.kind), states, cells, len(slots.groups) - 1, conjugate.repeats
        self.data = _Data(*sizes, *(_pointer(each) for each in self.arrays.values()))

    def chain(self, chain: int, at: Array, kept: _Kept) -> None:
        """All sweeps of a chain that starts at probabilities (S,)."""
        done, step = 0, 1
        while done < self.sweeps and not self.stop.is_set():
            started = time.monotonic()
            number = min(step, self.sweeps - done)
            _library().reliabayes_gibbs(
                ctypes.byref(self.data),
                ctypes.c_uint32(self.seed),
                ctypes.c_uint32(chain),
                ctypes.c_int64(done),
                ctypes.c_int64(number),
                ctypes.c_int64(self.first_kept),
                ctypes.c_int64(self.every),
                *map(_pointer, (at, kept.probabilities, kept.log_likelihood, kept.lp)),
            )
            done += number
            self.done[chain] = done
            taken = (time.monotonic() - started) / number
            step = max(1, min(int(SECONDS / max(taken, 1e-9)), 2 * step))


class _Data(ctypes.Structure):
    """The structure ``Conjugate`` of stan/cpp/gibbs.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("items", "states", "cells", "groups", "repeats")),
        *((f"pointer_{number}", ctypes.c_void_p) for number in range(13)),
    )


def _plain(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    return np.ascontiguousarray(values, dtype)


def _pointer(values: NDArray[Any]) -> ctypes.c_void_p:
    return ctypes.c_void_p(values.ctypes.data)


@cache
def _library() -> ctypes.CDLL:
    path = stan.folder() / LIBRARY
    try:
        library = ctypes.CDLL(str(path))
    except OSError as error:
        raise SamplingError(
            f"The compiled Gibbs sampler {path} cannot be loaded: {error}. It comes with "
            "installation: pip install reliabayes, or make in a checkout."
        ) from error
    library.reliabayes_gibbs.restype = None
    return library
