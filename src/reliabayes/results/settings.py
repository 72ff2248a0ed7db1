"""How draws are made: settings of the sampler, and their ranges."""

from __future__ import annotations

import operator
import secrets
from dataclasses import dataclass, field
from importlib.metadata import version
from typing import Any, Literal

from reliabayes.results.modes import Mode
from reliabayes.results.plan import Plan

VERSION = version("reliabayes")
SAMPLER_NAMES = {
    "nuts": "NUTS",
    "hmc": "Hamiltonian Monte Carlo",
    "gibbs": "Gibbs sampling",
    "independence": "independence sampling",
}
MOST_CHAINS = 1000  # each is a process with files of its own
MOST_ITERATIONS = 2**31 - 1  # that the programs count


@dataclass(frozen=True)
class Settings:
    """How the draws were made.

    Attributes
    ----------
    chains, warmup, draws : int
        Markov chains, and the iterations of each, discarded and kept.
    seed : int
        Seed of all chains.
    warm_start : bool
        Whether chains started where they were told to, and not dispersed.
    sampler : {"nuts", "hmc", "gibbs", "independence"}
        What made them.
    max_tree_depth : int
        Largest depth of the trees of NUTS; 0 if it made none of the draws by a Stan program.
    stan_version, version : str
        Of Stan, if it made them, and of this package.
    relabelled : tuple of int
        Chains, from 0, whose true categories had switched and were relabelled.
    modes : tuple of Mode
        Modes of the posterior, the heaviest first; empty if it has one.
    searches_all : bool
        Whether other modes were looked for among all items, where the model may have several.
    plan : Plan or None
        How the posterior was to be sampled; None if cmdstanpy made the draws.
    """

    chains: int
    warmup: int
    draws: int
    seed: int
    warm_start: bool = True
    sampler: Literal["nuts", "hmc", "gibbs", "independence"] = "nuts"
    max_tree_depth: int = 10
    stan_version: str = ""
    version: str = VERSION
    relabelled: tuple[int, ...] = ()
    modes: tuple[Mode, ...] = ()
    searches_all: bool = True
    plan: Plan | None = field(default=None, compare=False)

    @property
    def has_trajectories(self) -> bool:
        """Whether draws were made by Hamiltonian Monte Carlo, with trees of NUTS or without."""
        return self.sampler in ("nuts", "hmc")

    @property
    def sampler_name(self) -> str:
        """NUTS, Hamiltonian Monte Carlo, Gibbs sampling or independence sampling."""
        return SAMPLER_NAMES[self.sampler]

    @classmethod
    def checked(
        cls, *, chains: int, warmup: int | None, draws: int | None, seed: int | None
    ) -> Settings:
        """Settings within their ranges; without any, no warmup, 1000 draws and a fresh seed."""
        return cls(
            chains=chain_number(chains),
            warmup=whole_number(
                "warmup", 0 if warmup is None else warmup, least=0, most=MOST_ITERATIONS
            ),
            draws=whole_number(
                "draws", 1000 if draws is None else draws, least=4, most=MOST_ITERATIONS
            ),
            seed=secrets.randbelow(2**31)
            if seed is None
            else whole_number("seed", seed, least=0, most=2**31 - 1),
        )


def chain_number(chains: Any) -> int:
    """The argument ``chains`` as int; or a `ValueError`."""
    return whole_number("chains", chains, least=1, most=MOST_CHAINS)


def whole_number(name: str, value: Any, *, least: int, most: int | None = None) -> int:
    """``value`` of the argument ``name`` as int, NumPy's integers included; or a `ValueError`."""
    try:
        number = operator.index(value)
    except TypeError:
        number = None
    if number is None or isinstance(value, bool) or number < least or (most and number > most):
        limits = f"from {least}" + (f" to {most}" if most else "")
        raise ValueError(f"{name} must be a whole number {limits}, not {value!r}.")
    return number
