"""Convergence diagnostics: whether draws represent the posterior, and what is in doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray
from scipy.special import chdtri

from reliabayes.results.modes import are_weighed
from reliabayes.results.settings import Settings

MAX_R_HAT = 1.01
FALSE_ALARMS = 0.001  # chance of an R-hat above its limit in a fit whose chains agree
ESS_PER_CHAIN = 100  # that is good
DOUBTFUL_ESS_PER_CHAIN = 40  # below which neither R-hat nor the ESS itself is known
MAX_DIVERGENT = 0.005  # of the draws: fewer leave the reported quantities as they are
MIN_BFMI, DOUBTFUL_BFMI = 0.3, 0.2
MAX_INTEGRATION_ERROR, DOUBTFUL_INTEGRATION_ERROR = 1e-3, 0.05  # nats

DEEP = 10  # trees of NUTS, if nothing is known of the posterior
LONGER = "fit with more draws"
ELSEWHERE = "fit with more draws, and with warm_start=False: other starts may find another mode"
LONGER_WARMUP = "fit with more warmup and draws, or with warm_start=True, which weighs modes"
PRIORS = "set tighter priors; model.priors(ratings) shows those in force"
WARM = "fit with warm_start=True"


@dataclass(frozen=True)
class Finding:
    """What a diagnostic shows.

    Attributes
    ----------
    seen : str
        What was seen, with the number and its limit.
    touches : str
        Which results it can touch.
    remedy : str
        What to do.
    serious : bool
        Whether the results are in doubt; otherwise it is a note.
    """

    seen: str
    touches: str
    remedy: str
    serious: bool

    def __str__(self) -> str:
        return f"{self.seen}; {self.touches}: {self.remedy}"


SOME_SEARCHED = Finding(
    "other modes of the posterior were looked for among some of the items only",
    "the draws may omit a mode that the others would have shown",
    "fit the ratings of one part, of which all items are searched",
    serious=False,
)


@dataclass(frozen=True, repr=False)
class Diagnostics:
    """Convergence diagnostics of a fit: the worst value over all quantities and chains.

    Attributes
    ----------
    r_hat : float
        Largest rank-normalised split R-hat; at most 1.01 is good, and `max_r_hat` is in doubt.
    ess_bulk, ess_tail : float
        Smallest effective sample sizes; at least 100 a chain is good, below 40 is in doubt.
    divergences : int
        Divergent transitions after warmup; 0 is good, and more than 0.5% of the draws is in doubt.
    tree_depth_hits : int
        Transitions that reached the largest tree depth: slow, but not wrong.
    bfmi : float
        Smallest energy Bayesian fraction of missing information; at least 0.3 is good, below 0.2
        is in doubt. Gibbs sampling has none of these three, which are then 0, 0 and infinite.
    chains : int
        Number of chains.
    draws : int
        Number of draws of all chains.
    relabelled : tuple of int
        Chains, from 0, whose true categories had switched and were relabelled.
    integration_error : float
        Quadrature error of the log-likelihood, in nats; at most 1e-3 is good, above 0.05 is in
        doubt.
    nodes : int
        Number of nodes of the quadrature; 0 if the model has none.
    unweighed_modes : int
        Number of modes of the posterior whose shares are not known; 0 is good.
    searches_all : bool
        Whether other modes were looked for among all items.
    warm_start : bool
        Whether chains started where they were told to, and not dispersed.
    monitored : int
        Number of values that R-hat and ESS were computed of.
    worst : tuple of three str
        Those with the largest R-hat and with the smallest bulk and tail ESS.

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
    searches_all: bool = True
    warm_start: bool = True
    monitored: int = 1
    worst: tuple[str, str, str] = ("", "", "")

    def __repr__(self) -> str:
        return (
            f"Diagnostics(R-hat up to {self.r_hat:.3f}, ESS from {self.ess_bulk:,.0f} (bulk) and "
            f"{self.ess_tail:,.0f} (tail), {self.divergences:,} divergent transitions, problems: "
            f"{len(self.problems)}, notes: {len(self.notes)})"
        )

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
        sizes = convergence[["r_hat", "ess_bulk", "ess_tail"]].to_numpy(float)
        # The first that is no number, if any, is the worst.
        at = np.argmax(np.where(np.isnan(sizes), np.inf, sizes * [1, -1, -1]), axis=0)
        r_hat, ess_bulk, ess_tail = map(float, sizes[at, range(3)])
        labels = [str(convergence.index[row]) for row in at]
        return cls(
            r_hat=r_hat,
            ess_bulk=ess_bulk,
            ess_tail=ess_tail,
            **_of_trajectories(stats, settings),
            chains=settings.chains,
            draws=settings.chains * settings.draws,
            relabelled=settings.relabelled,
            integration_error=integration_error,
            nodes=nodes,
            unweighed_modes=0 if are_weighed(settings.modes) else len(settings.modes),
            searches_all=settings.searches_all,
            warm_start=settings.warm_start,
            monitored=len(convergence),
            worst=(labels[0], labels[1], labels[2]),
        )

    @property
    def max_r_hat(self) -> float:
        """R-hat above which the chains disagree, not by chance.

        With M halves of chains that agree and an effective number E of draws, R-hat^2 - 1 is M / E
        times a chi-squared number over its M - 1 degrees of freedom. The limit is a quantile of
        the largest of all values, of the draws and of their distances from the median, at the
        effective number that is good, or at a tenth of the draws if that is more.
        """
        return largest_r_hat(self.chains, self.draws, self.monitored)

    @property
    def findings(self) -> list[Finding]:
        """What was seen, which results it can touch and what to do; empty if all is well."""
        found = [*self._of_modes(), *self._of_chains(), *self._of_sizes()]
        found += [*self._of_trajectories(), *self._of_quadrature()]
        return sorted(found, key=lambda each: not each.serious)

    @property
    def problems(self) -> list[str]:
        """What puts the results in doubt, with the numbers; empty if nothing does."""
        return [str(each) for each in self.findings if each.serious]

    @property
    def notes(self) -> list[str]:
        """What else was seen, which leaves the results as they are."""
        return [str(each) for each in self.findings if not each.serious]

    @property
    def draws_are_in_doubt(self) -> bool:
        """Whether problems are such that more draws, or others, could solve them.

        They solve neither the quadrature's nor labels that switch, nor show modes of which chains
        started at one only.
        """
        found = [*self._of_sizes(), *self._of_trajectories()]
        if self.warm_start and self.searches_all:
            found += self._of_modes()
        disagree = self.chains > 1 and self.chains_disagree
        return disagree or any(each.serious for each in found)

    @property
    def doubtful_ess(self) -> int:
        """ESS below which draws are in doubt."""
        return DOUBTFUL_ESS_PER_CHAIN * self.chains

    @property
    def chains_disagree(self) -> bool:
        """Whether R-hat is larger than chance explains."""
        return not self.r_hat <= self.max_r_hat

    @property
    def needs_smaller_steps(self) -> bool:
        """Whether trajectories diverge or explore tails slowly, which more of them do not cure."""
        return any(each.serious for each in self._of_trajectories())

    def _of_modes(self) -> list[Finding]:
        if not self.unweighed_modes:
            return [] if self.searches_all else [SOME_SEARCHED]
        seen = (
            f"the posterior may have {self.unweighed_modes} modes, whose shares could not be "
            "estimated"
        )
        touches = "the draws may omit or over-represent a mode"
        remedy = f"{LONGER}; fit.modes says how they differ"
        if not self.warm_start:
            remedy = f"{WARM}, which starts chains at each and weighs them"
        return [Finding(seen, touches, remedy, True)]

    def _of_chains(self) -> list[Finding]:
        if self.chains == 1:
            seen = "one chain cannot show whether it has converged"
            return [Finding(seen, "all results depend on it", "use chains=4", True)]
        found = []
        if not self.r_hat <= MAX_R_HAT:  # nan is no good either
            serious, of = not self.r_hat <= self.max_r_hat, self.worst[0] or "some quantity"
            limit = self.max_r_hat if serious else MAX_R_HAT
            r_hat, limit_text = _distinct(self.r_hat, limit)
            seen = f"R-hat is up to {r_hat}, for {of}"
            if serious:
                seen = f"the chains disagree: {seen} (at most {limit_text})"
                remedy = ELSEWHERE if self.warm_start else LONGER_WARMUP
                found.append(Finding(seen, _depends(of), remedy, True))
            else:
                seen += f" (above {limit_text}, though chance explains up to {self.max_r_hat:.3f})"
                touches = f"digits of {of} beyond its Monte Carlo error may change"
                found.append(Finding(seen, touches, LONGER, False))
        if self.relabelled:
            number, which = len(self.relabelled), ", ".join(map(str, self.relabelled))
            seen = (
                f"relabelled {_counted(number, 'chain')} whose true categories had switched "
                f"(counted from 0: {which})"
            )
            touches = "draws may be from a mirror image in which categories have each other's names"
            remedy = PRIORS if self.warm_start else f"{WARM}, or {PRIORS}"
            found.append(Finding(seen, touches, remedy, True))
        return found

    def _of_sizes(self) -> list[Finding]:
        found = []
        good, doubtful = ESS_PER_CHAIN * self.chains, self.doubtful_ess
        sizes = (self.ess_bulk, "bulk", self.worst[1]), (self.ess_tail, "tail", self.worst[2])
        for size, part, of in sizes:
            if not size >= good:
                serious = not size >= doubtful
                seen = (
                    f"the {part} ESS is as low as {size:.0f}, for {of or 'some quantity'} "
                    f"(at least {doubtful if serious else good})"
                )
                what = "its mean and median" if part == "bulk" else "its interval"
                touches = f"{what} {'are' if part == 'bulk' else 'is'} not precise"
                found.append(Finding(seen, touches, LONGER, serious))
        return found

    def _of_trajectories(self) -> list[Finding]:
        found = []
        if self.divergences:
            serious = self.divergences > MAX_DIVERGENT * self.draws
            seen = (
                f"{_counted(self.divergences, 'divergent transition')} in {self.draws:,} draws "
                f"({100 * self.divergences / self.draws:.2g}%; at most {100 * MAX_DIVERGENT:g}%)"
            )
            touches = "the ends of intervals of standard deviations and ICCs may be wrong"
            if not serious:
                touches = "too few to change what is reported"
            found.append(Finding(seen, touches, PRIORS if serious else "nothing to do", serious))
        if not self.bfmi >= MIN_BFMI:
            serious = not self.bfmi >= DOUBTFUL_BFMI
            limit = DOUBTFUL_BFMI if serious else MIN_BFMI
            bfmi, limit_text = _distinct(self.bfmi, limit, 2)
            seen = f"E-BFMI is as low as {bfmi} (at least {limit_text})"
            found.append(Finding(seen, "the tails are explored slowly", PRIORS, serious))
        return found

    def _of_quadrature(self) -> list[Finding]:
        found = []
        if not self.integration_error <= MAX_INTEGRATION_ERROR:
            serious = not self.integration_error <= DOUBTFUL_INTEGRATION_ERROR
            limit = DOUBTFUL_INTEGRATION_ERROR if serious else MAX_INTEGRATION_ERROR
            seen = (
                f"the quadrature error of the log-likelihood is {self.integration_error:.2g} (at "
                f"most {limit:g})"
            )
            touches = "all results" if serious else "too small to change what is reported"
            found.append(Finding(seen, touches, f"set nodes={2 * self.nodes}", serious))
        return found


def largest_r_hat(chains: int, draws: int, monitored: int) -> float:
    """`Diagnostics.max_r_hat`, of so many chains, draws of all chains, and values."""
    halves, effective = 2 * chains, max(ESS_PER_CHAIN * chains, draws / 10)
    tail = FALSE_ALARMS / (2 * monitored)
    by_chance = chdtri(halves - 1, tail) / (halves - 1) * halves / effective
    return max(MAX_R_HAT, float(np.sqrt(1 + by_chance)))


def _of_trajectories(stats: xr.Dataset, settings: Settings) -> dict[str, Any]:
    """Diagnostics that only Hamiltonian Monte Carlo has, with trees of NUTS or without."""
    if not settings.has_trajectories:
        return {"divergences": 0, "tree_depth_hits": 0, "bfmi": math.inf}
    hits = 0
    if settings.sampler == "nuts":
        hits = _depth_hits(stats["tree_depth"].values, settings.max_tree_depth)
    energy = stats["energy"].transpose("chain", "draw").values
    return {
        "divergences": int(stats["diverging"].values.sum()),
        "tree_depth_hits": hits,
        "bfmi": float(((np.diff(energy) ** 2).mean(axis=1) / energy.var(axis=1)).min()),
    }


def _depth_hits(depth: NDArray[Any], most: int) -> int:
    """Trees that were cut short, unless on purpose, where few steps suffice."""
    return int((depth >= most).sum()) if most >= DEEP else 0


def _depends(quantity: str) -> str:
    return f"{quantity}, and what depends on it, is not known"


def _distinct(value: float, limit: float, decimals: int = 3) -> tuple[str, str]:
    """A number and its limit, with as many decimals as it takes to tell them apart."""
    for digits in range(decimals, 9):
        if f"{value:.{digits}f}" != f"{limit:.{digits}f}":
            break
    return f"{value:.{digits}f}", f"{limit:.{digits}f}"


def _counted(number: int, noun: str) -> str:
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
