"""Gibbs sampling of items in parts: their states are drawn part by part, all else given sums."""

from __future__ import annotations

import ctypes
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, NamedTuple

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
    log_likelihood : array of shape (C,)
        Of the ratings of these items, with their states marginalised.
    """

    items: Counts
    ratings: Counts
    log_likelihood: Array

    def __add__(self, other: States) -> States:
        return States(
            self.items + other.items,
            self.ratings + other.ratings,
            self.log_likelihood + other.log_likelihood,
        )


@dataclass(frozen=True, eq=False)
class ConjugateInParts:
    """A posterior that Gibbs sampling suits, of items that are in parts.

    Attributes
    ----------
    rest : Conjugate
        Priors, and what ratings are outcomes of, without the items.
    draw_states : callable
        Draws the states of all items, and adds them up.
    """

    sampler: ClassVar[Literal["gibbs"]] = "gibbs"

    rest: Conjugate
    draw_states: Callable[[Chains], States]


def states_of(part: Conjugate, chains: Chains) -> States:
    """Draw the states of the items of a part, for all chains.

    Parameters
    ----------
    part : Conjugate
        The posterior given this part alone, whose items are stored by themselves, with its offset.
    chains : Chains
        Where the chains are.

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
        np.zeros(number),
    )
    for chain, at in enumerate(chains.at.copy()):
        found.log_likelihood[chain] = library().reliabayes_gibbs_states(
            *_of_chain(compiled, chains, chain),
            *map(pointer, (at, found.items[chain], found.ratings[chain])),
        )
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
        Not used: parts are divided among processes, not chains.
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
    compiled, slots = Compiled(rest), rest.slots
    at = np.array([compiled.at(slots.point(init)) for init in inits])
    kept, density = np.empty((chains, draws, slots.size)), np.empty((2, chains, draws))
    every, done = rest.sweeps, 0
    total, until = every * (warmup + draws), time.monotonic() + seconds_left(timeout)
    with progress_bar("Gibbs sampling", total, lambda: done, progress) as watch:
        for done in range(total):
            if time.monotonic() > until:
                raise SamplingError(TOO_LONG)
            watch()
            before, found = at.copy(), posterior.draw_states(Chains(seed, done, at))
            log_prior = _draw_rest(compiled, Chains(seed, done, at), found)
            draw, left = divmod(done - every * warmup, every)
            if draw >= 0 and left == 0:
                kept[:, draw] = before[:, : slots.size]
                density[:, :, draw] = found.log_likelihood, found.log_likelihood + log_prior
    log_likelihood, lp = density
    return Draws({**slots.unpacked(kept), "log_likelihood": log_likelihood}, {"lp": lp})


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
