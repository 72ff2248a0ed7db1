"""Gibbs sampling of hidden states and what ratings depend on, compiled from stan/cpp/gibbs.cpp."""

from __future__ import annotations

import ctypes
import os
import threading
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from reliabayes.arrays import Array, Codes
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.conjugate import NONE, Conjugate, Hierarchy, ParameterLayout
from reliabayes.inference.stan import Draws
from reliabayes.inference.threads import PAUSE, run_threads
from reliabayes.inference.time_limit import seconds_left
from reliabayes.progress import progress_bar

LIBRARY = "libreliabayes-gibbs.so"
SIDE_BY_SIDE = 2  # chains that a processor draws together where states are drawn given one another


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
    done: int = 0,
    first_chain: int = 0,
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
    done : int
        Sweeps that the chains have made before, up to 2^32 in all: each has its own random numbers.
    first_chain : int
        Number of the first chain: chains of other numbers have other random numbers, too.

    Returns
    -------
    Draws
        With ``log_likelihood`` beside the parameters, and the statistic ``lp``.

    Raises
    ------
    SamplingError
        The chains took longer than ``timeout``.
    """
    stan.require_computer("The compiled Gibbs sampler")
    size, shape = conjugate.layout.size, (chains, draws)
    found = _Kept(np.empty((*shape, size)), np.empty(shape), np.empty(shape))
    run = _Run(conjugate, seed, chains, warmup, draws, done, first_chain)
    at_once = parallel_chains or os.cpu_count() or 1
    together = SIDE_BY_SIDE if conjugate.passes and at_once < chains else 1
    groups = (range(chains)[first : first + together] for first in range(0, chains, together))
    starts = [conjugate.layout.point(init) for init in inits]
    tasks = [
        partial(run.draw, group, [starts[chain] for chain in group], found.of(group))
        for group in groups
    ]
    total, until = chains * run.sweeps, time.monotonic() + seconds_left(timeout)
    with progress_bar("Gibbs sampling", total, lambda: sum(run.done), progress) as watch:
        run_threads(tasks, run.stop, at_once=at_once, until=until, watch=watch)
    parameters = conjugate.layout.unpacked(found.parameters)
    return Draws(
        {**parameters, "log_likelihood": found.log_likelihood},
        {"lp": found.lp},
        iterations=done + run.sweeps,
    )


@dataclass(frozen=True, eq=False)
class _Kept:
    """What is kept of sweeps: parameters (..., S), log-likelihood and log density (...)."""

    parameters: Array
    log_likelihood: Array
    lp: Array

    def of(self, chains: range) -> _Kept:
        some = slice(chains.start, chains.stop)
        return _Kept(self.parameters[some], self.log_likelihood[some], self.lp[some])


class Compiled:
    """A posterior as the library reads it.

    Parameters
    ----------
    conjugate : Conjugate
        The posterior, whose arrays are kept as long as this is.
    """

    def __init__(self, conjugate: Conjugate) -> None:
        outcomes, layout = conjugate.outcomes, conjugate.layout
        none = np.full_like(outcomes.known, NONE)
        guess, second, *_ = *outcomes.guessed, none, none
        self.arrays: dict[str, NDArray[Any]] = {
            "first": _plain(conjugate.first, np.int64),
            "cell": _plain(conjugate.cell, np.int32),
            "count": _plain(conjugate.count, np.int32),
            "kind": _plain(conjugate.kind, np.int32),
            "multiplicity": _plain(conjugate.multiplicity, np.int64),
            "is_settled": _plain(_settled(conjugate), np.int32),
            "group": _plain(layout.groups, np.int64),
            "prior": _plain(conjugate.prior, np.float64),
            "weight": _plain(conjugate.weight, np.int32),
            "fixed_weight": _plain(conjugate.fixed_weight, np.float64),
            "known": _plain(outcomes.known.T, np.int32),
            "guess": _plain(guess.T, np.int32),
            "guess2": _plain(second.T, np.int32),
            "proportion": _plain(outcomes.proportion, np.float64),
        }
        states, cells = outcomes.known.shape
        pointers = [pointer(each) for each in self.arrays.values()]
        sizes = len(conjugate.kind), states, cells, len(layout.groups) - 1
        hierarchy = conjugate.hierarchy
        self.kept, self.size = layout.size, layout.size
        self.hierarchy = None
        if hierarchy is not None:
            self.size += hierarchy.rows(layout).size
            self.hierarchy = _Hierarchy.of(hierarchy, layout)
        self.data = _Data(
            *sizes,
            conjugate.repeats,
            conjugate.passes,
            *pointers,
            self.hierarchy and ctypes.pointer(self.hierarchy),
            self.kept,
            self.size,
            conjugate.offset,
        )

    def at(self, start: Array) -> Array:
        """Where a chain is, given its parameters (S,)."""
        return np.append(start, np.zeros(self.size - len(start)))

    def no_states(self) -> NDArray[np.int32]:
        """States of distinct items of which none has been drawn yet."""
        return np.full(self.data.items, NONE, np.int32)


class _Run:
    """Chains over one posterior, each in steps between which it can be stopped."""

    def __init__(
        self,
        conjugate: Conjugate,
        seed: int,
        chains: int,
        warmup: int,
        draws: int,
        first: int,
        first_chain: int,
    ) -> None:
        self.seed, self.first, self.stop = seed, first, threading.Event()
        self.first_chain = first_chain
        self.done = [0] * chains  # sweeps of each
        # What is kept of a sweep is what it starts from, so none is kept of the first.
        self.every = conjugate.sweeps
        self.first_kept = self.every * (warmup + 1)
        self.sweeps = self.first_kept + self.every * (draws - 1) + 1
        self.compiled = Compiled(conjugate)
        self.data, self.size = self.compiled.data, self.compiled.size

    def draw(self, chains: range, starts: Sequence[Array], kept: _Kept) -> None:
        """All sweeps of chains of these numbers, each of which starts at parameters (S,)."""
        at = np.stack([self.compiled.at(start) for start in starts])
        states = np.stack([self.compiled.no_states() for _ in chains])
        of_draws = kept.parameters, kept.log_likelihood, kept.lp
        numbers: tuple[NDArray[Any], ...] = (at, states, *of_draws)
        done, step = 0, 1
        while done < self.sweeps and not self.stop.is_set():
            started = time.monotonic()
            number = min(step, self.sweeps - done)
            library().reliabayes_gibbs(
                ctypes.byref(self.data),
                ctypes.c_uint32(self.seed),
                ctypes.c_uint32(self.first_chain + chains.start),
                ctypes.c_int64(len(chains)),
                ctypes.c_int64(self.first + done),
                ctypes.c_int64(number),
                ctypes.c_int64(self.first + self.first_kept),
                ctypes.c_int64(self.every),
                ctypes.c_int64(kept.lp.shape[1]),
                *map(pointer, numbers),
            )
            done += number
            for chain in chains:
                self.done[chain] = done
            taken = (time.monotonic() - started) / number
            step = max(1, min(int(PAUSE / max(taken, 1e-9)), 2 * step))


class _Hierarchy(ctypes.Structure):
    """The structure ``Hierarchy`` of stan/cpp/gibbs/hierarchy_data.hpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("raters", "categories")),
        *((name, ctypes.c_int64) for name in ("location", "spread", "effect")),
        *((name, ctypes.c_int64) for name in ("ability_spread", "ability", "rows")),
        *((name, ctypes.c_double) for name in ("location_mean", "location_sd")),
        *((name, ctypes.c_double) for name in ("spread_df", "spread_scale")),
        *((name, ctypes.c_double) for name in ("ability_df", "ability_scale")),
    )

    @classmethod
    def of(cls, own: Hierarchy, layout: ParameterLayout) -> _Hierarchy:
        names = "location", "spread", "effect", "ability_spread", "ability"
        at = [int(layout.at[name].flat[0]) for name in names]
        return cls(
            own.n_raters,
            own.n_categories,
            *at,
            int(own.rows(layout).flat[0]),
            *own.location.tolist(),
            *own.spread.tolist(),
            *own.ability_spread.tolist(),
        )


class _Data(ctypes.Structure):
    """The structure ``Conjugate`` of stan/cpp/gibbs.cpp."""

    _fields_ = (
        *((name, ctypes.c_int64) for name in ("items", "states", "cells", "groups")),
        *((name, ctypes.c_int64) for name in ("repeats", "passes")),
        *((f"pointer_{number}", ctypes.c_void_p) for number in range(14)),
        ("hierarchy", ctypes.POINTER(_Hierarchy)),
        *((name, ctypes.c_int64) for name in ("kept", "size", "offset")),
    )


def _settled(conjugate: Conjugate) -> Codes:
    return np.zeros_like(conjugate.kind) if conjugate.is_settled is None else conjugate.is_settled


def _plain(values: NDArray[Any], dtype: DTypeLike) -> NDArray[Any]:
    return np.ascontiguousarray(values, dtype)


def pointer(values: NDArray[Any]) -> ctypes.c_void_p:
    """Where the numbers of an array are."""
    return ctypes.c_void_p(values.ctypes.data)


@cache
def library() -> ctypes.CDLL:
    """The compiled samplers."""
    path = stan.folder() / LIBRARY
    try:
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise SamplingError(
            f"The compiled Gibbs sampler {path} cannot be loaded: {error}. It comes with "
            "installation: pip install reliabayes, or make in a checkout."
        ) from error
    loaded.reliabayes_gibbs.restype = None
    loaded.reliabayes_gibbs_states.restype = ctypes.c_int64
    loaded.reliabayes_gibbs_probabilities.restype = ctypes.c_double
    return loaded
