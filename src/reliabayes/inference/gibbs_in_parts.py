"""Gibbs sampling of items in parts: their states are drawn part by part, all else given sums."""

from __future__ import annotations

import ctypes
import os
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from reliabayes.arrays import Array
from reliabayes.errors import SamplingError
from reliabayes.inference import stan
from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.gibbs import Compiled, library, pointer
from reliabayes.inference.stan import Draws
from reliabayes.inference.time_limit import TOO_LONG, seconds_left
from reliabayes.progress import progress_bar

Counts = NDArray[np.int64]

NAT = 2.0**24  # units of log-likelihoods that are added up


class Chains(NamedTuple):
    """Where C chains are: what states are drawn given.

    ``at`` is (C, S), all parameters and what follows from them.
    """

    seed: int
    sweep: int
    at: Array


@dataclass(frozen=True, eq=False)
class States:
    """Drawn states of C chains, summed over items.

    Attributes
    ----------
    items : array of int, shape (C, H)
        Number of items in each state.
    ratings : array of int, shape (C, V, H)
        Number of ratings of each cell and state.
    log_likelihood : array of int, shape (C,)
        Of the ratings of these items, with their states marginalised, in units of 2^-24 nats: so
        sums are the same in any order.
    """

    items: Counts
    ratings: Counts
    log_likelihood: Counts

    def __add__(self, other: States) -> States:
        return States(
            self.items + other.items,
            self.ratings + other.ratings,
            self.log_likelihood + other.log_likelihood,
        )


class DrawsStates(Protocol):
    """Draws states of items in parts."""

    def __call__(self, rest: Conjugate, chains: Chains, at_once: int) -> States:
        """Draw the states of all items, in so many threads at most, and add them up."""

    def close(self) -> None:
        """Forget what was kept from one sweep for the next."""


@dataclass(frozen=True, eq=False)
class ConjugateInParts:
    """A posterior that Gibbs sampling suits, of items that are in parts.

    Attributes
    ----------
    rest : Conjugate
        Priors, and what ratings are outcomes of, without the items.
    draw_states : DrawsStates
        Draws the states of all items given the chains and the rest, and adds them up.
    """

    sampler: ClassVar[Literal["gibbs"]] = "gibbs"

    rest: Conjugate
    draw_states: DrawsStates


def states_of(part: Conjugate, chains: Chains, at_once: int = 1) -> States:
    """Draw the states of the items of a part, for all chains.

    Parameters
    ----------
    part : Conjugate
        The posterior given this part alone, whose items are stored by themselves, with its offset.
    chains : Chains
        Where the chains are.
    at_once : int, default 1
        Threads at most.

    Returns
    -------
    States
        The same sums over all parts, however items are divided among them.
    """
    compiled, number = Compiled(part), len(chains.at)
    states, cells = part.outcomes.known.shape
    found = States(
        np.zeros((number, states), np.int64),
        np.zeros((number, cells, states), np.int64),
        np.zeros(number, np.int64),
    )
    at = chains.at.copy()

    def draw(chain: int) -> None:
        found.log_likelihood[chain] = library().reliabayes_gibbs_states(
            *_of_chain(compiled, chains, chain),
            *map(pointer, (at[chain], found.items[chain], found.ratings[chain])),
        )

    if at_once == 1:
        list(map(draw, range(number)))
    else:
        with ThreadPoolExecutor(at_once) as pool:
            list(pool.map(draw, range(number)))
    return found


def sample(
    posterior: ConjugateInParts,
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
    """Draws from a posterior, all chains in the same passes over the parts.

    Parameters
    ----------
    posterior : ConjugateInParts
        The posterior.
    chains, warmup, draws : int
        Markov chains, and the iterations of each, discarded and kept; see `Conjugate.sweeps`.
    seed : int
        Seed of all chains.
    inits : sequence of mapping of str to Any
        Starting values of each chain.
    parallel_chains : int, optional
        Chains in threads at once, unless parts are in processes; by default as many as there are
        processors.
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
    stan.require_computer("The compiled Gibbs sampler")
    rest = posterior.rest
    compiled, layout = Compiled(rest), rest.layout
    at = np.array([compiled.at(layout.point(init)) for init in inits])
    kept, density = np.empty((chains, draws, layout.size)), np.empty((2, chains, draws))
    every, done = rest.sweeps, 0
    total, until = every * (warmup + draws), time.monotonic() + seconds_left(timeout)
    at_once = parallel_chains or os.cpu_count() or 1
    with (
        closing(posterior.draw_states),
        progress_bar("Gibbs sampling", total, lambda: done, progress, "sweeps") as watch,
    ):
        for done in range(total):
            if time.monotonic() > until:
                raise SamplingError(TOO_LONG)
            watch()
            before, now = at.copy(), Chains(seed, done, at)
            found = posterior.draw_states(rest, now, at_once)
            log_prior = _draw_rest(compiled, now, found)
            draw, left = divmod(done - every * warmup, every)
            if draw >= 0 and left == 0:
                kept[:, draw] = before[:, : layout.size]
                log_likelihood = found.log_likelihood / NAT
                density[:, :, draw] = log_likelihood, log_likelihood + log_prior
    return Draws({**layout.unpacked(kept), "log_likelihood": density[0]}, {"lp": density[1]})


def _draw_rest(compiled: Compiled, chains: Chains, states: States) -> Array:
    """Move the chains to new parameters, given states; log density of the priors before."""
    log_prior = np.empty(len(chains.at))
    for chain in range(len(chains.at)):
        log_prior[chain] = library().reliabayes_gibbs_probabilities(
            *_of_chain(compiled, chains, chain),
            *map(pointer, (states.items[chain], states.ratings[chain], chains.at[chain])),
        )
    return log_prior


def _of_chain(compiled: Compiled, chains: Chains, chain: int) -> tuple[Any, ...]:
    return (
        ctypes.byref(compiled.data),
        ctypes.c_uint32(chains.seed),
        ctypes.c_uint32(chain),
        ctypes.c_int64(chains.sweep),
    )
