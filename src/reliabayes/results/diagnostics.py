"""Convergence diagnostics: whether draws represent the posterior."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
import xarray as xr

from reliabayes.results.modes import are_weighed
from reliabayes.results.settings import Settings

MAX_R_HAT = 1.01
ESS_PER_CHAIN = 100
MIN_BFMI = 0.3
MAX_INTEGRATION_ERROR = 1e-3  # nats


@dataclass(frozen=True)
class Diagnostics:
    """Convergence diagnostics of a fit: the worst value over all quantities and chains.

    Attributes
    ----------
    r_hat : float
        Largest rank-normalised split R-hat; at most 1.01 is good.
    ess_bulk, ess_tail : float
        Smallest effective sample sizes; at least 100 a chain is good.
    divergences : int
        Divergent transitions after warmup; 0 is good.
    tree_depth_hits : int
        Transitions that reached the largest tree depth: slow, but not wrong.
    bfmi : float
        Smallest energy Bayesian fraction of missing information; at least 0.3 is good.
    chains : int
        Number of chains.
    draws : int
        Number of draws of all chains.
    relabelled : tuple of int
        Chains, from 0, whose true categories had switched and were relabelled.
    integration_error : float
        Quadrature error of the log-likelihood, in nats; at most 1e-3 is good.
    nodes : int
        Number of nodes of the quadrature; 0 if the model has none.
    unweighed_modes : int
        Number of modes of the posterior whose shares are not known; 0 is good.

    References
    ----------
    Vehtari et al. (2021), https://doi.org/10.1214/20-BA1221
    """

    r_hat: float
    ess_bulk: float
    ess_tail: float
    divergences: int
    tree_depth_hits: int
    bfmi: float
    chains: int
    draws: int
    relabelled: tuple[int, ...] = ()
    integration_error: float = 0.0
    nodes: int = 0
    unweighed_modes: int = 0

    @classmethod
    def of(
        cls,
        convergence: pd.DataFrame,
        stats: xr.Dataset,
        settings: Settings,
        integration_error: float,
        nodes: int,
    ) -> Diagnostics:
        """Worst values of convergence measures and of the sampler's statistics."""
        energy = stats["energy"].transpose("chain", "draw").values
        bfmi = (np.diff(energy) ** 2).mean(axis=1) / energy.var(axis=1)
        return cls(
            r_hat=float(convergence["r_hat"].max(skipna=False)),
            ess_bulk=float(convergence["ess_bulk"].min(skipna=False)),
            ess_tail=float(convergence["ess_tail"].min(skipna=False)),
            divergences=int(stats["diverging"].values.sum()),
            tree_depth_hits=int((stats["tree_depth"].values >= settings.max_tree_depth).sum()),
            bfmi=float(bfmi.min()),
            chains=settings.chains,
            draws=settings.chains * settings.draws,
            relabelled=settings.relabelled,
            integration_error=integration_error,
            nodes=nodes,
            unweighed_modes=0 if are_weighed(settings.modes) else len(settings.modes),
        )

    @property
    def problems(self) -> list[str]:
        """What is wrong with the draws, with the numbers; empty if all is well."""
        enough = ESS_PER_CHAIN * self.chains
        checks = [
            (
                self.unweighed_modes > 0,
                f"the posterior may have {self.unweighed_modes} modes, whose shares could not be "
                "estimated: the draws may miss one, or have too much of it",
            ),
            (self.chains == 1, "one chain cannot show whether it has converged: use chains=4"),
            (
                self.chains > 1 and not self.r_hat <= MAX_R_HAT,  # nan is no good either
                f"the chains disagree: R-hat is up to {self.r_hat:.3f} (at most {MAX_R_HAT})",
            ),
            (
                not self.ess_bulk >= enough,
                f"the bulk ESS is as low as {self.ess_bulk:.0f} (at least {enough})",
            ),
            (
                not self.ess_tail >= enough,
                f"the tail ESS is as low as {self.ess_tail:.0f} (at least {enough})",
            ),
            (
                self.divergences > 0,
                f"{_counted(self.divergences, 'divergent transition')} in {self.draws:,} draws; "
                "estimates that depend on the tails may be unreliable",
            ),
            (
                bool(self.relabelled),
                f"relabelled {_counted(len(self.relabelled), 'chain')} whose true categories had "
                f"switched (counted from 0: {', '.join(map(str, self.relabelled))}); neither the "
                "ratings nor the priors determine which category is which",
            ),
            (
                not self.integration_error <= MAX_INTEGRATION_ERROR,
                f"the quadrature error of the log-likelihood is {self.integration_error:.2g} (at "
                f"most {MAX_INTEGRATION_ERROR:g}): set nodes={2 * self.nodes}",
            ),
            (
                not self.bfmi >= MIN_BFMI,
                f"E-BFMI is as low as {self.bfmi:.2f} (at least {MIN_BFMI})",
            ),
        ]
        return [problem for found, problem in checks if found]


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
