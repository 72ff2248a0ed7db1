"""GaussianICC against its peers, from 10^3 to 10^7 ratings, and with and without a warm start.

    python -m benchmarks.gaussian_icc [peers] [growth] [start]

What is compared alternates in one session, so that the machine's other load falls on all alike;
README.md holds the figures.
"""

# arviz 0.23 has no types, arviz 1 has.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
import xarray as xr
from numpy.typing import NDArray

from benchmarks.growth import growth
from benchmarks.simulated import simulate
from reliabayes import GaussianICC, Ratings

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # arviz 0.23 announces 1.0 at import
    import arviz as az

ROUNDS = 3
PROMISED = 80

Sampler = Callable[[Ratings, int], xr.Dataset]


class Run(NamedTuple):
    """Draws of all quantities, and seconds from ratings to draws: by the clock, of processors."""

    draws: xr.Dataset
    seconds: float
    processor_seconds: float

    @classmethod
    def of(cls, sample: Sampler, ratings: Ratings, seed: int) -> Run:
        """Let a sampler draw."""
        clock, processors = time.perf_counter(), sum(os.times()[:4])
        draws = sample(ratings, seed)
        return cls(draws, time.perf_counter() - clock, sum(os.times()[:4]) - processors)

    @property
    def ess(self) -> float:
        """Smallest bulk ESS of all quantities, by the same estimate for every sampler."""
        return min(float(value) for value in az.ess(self.draws, method="bulk").values())

    @property
    def moments(self) -> pd.DataFrame:
        """Mean and its Monte Carlo standard error, by quantity."""
        measures = {"mean": self.draws.mean(), "mcse": az.mcse(self.draws, method="mean")}
        return pd.DataFrame(
            {measure: found.to_pandas().astype(float) for measure, found in measures.items()}
        )


def main() -> None:
    """Run the parts that are named, or all."""
    parts = {"peers": peers, "growth": growth, "start": start}
    for name in sys.argv[1:] or parts:
        parts[name]()


def peers() -> None:
    """Print smallest bulk ESS per second at 2,500 ratings: 500 items, 40 raters, 5 an item."""
    from benchmarks.peers import build_textbook, numpyro_sampler, textbook_sampler

    print(
        f"\n2,500 ratings, {ROUNDS} rounds; promised: at least {PROMISED} times the ESS/s of each"
    )
    with tempfile.TemporaryDirectory() as folder:
        samplers: dict[str, Sampler] = {
            "reliabayes": ours,
            "numpyro": _reported(numpyro_sampler(500, 40)),
            "numpyro, its compilation alone": _reported(numpyro_sampler(500, 40, draws=4)),
            "textbook Stan": _reported(textbook_sampler(build_textbook(Path(folder)))),
            "textbook Stan, --O1": _reported(
                textbook_sampler(build_textbook(Path(folder), "--O1"))
            ),
        }
        alternate(samplers, Ratings.from_frame(simulate(500, 40, 5)))


def start() -> None:
    """Print what the warm start saves at 2,500 and at 100,000 ratings."""
    samplers: dict[str, Sampler] = {
        "warm start, 150 + 1000": ours,
        "no warm start, 1000 + 1000": lambda ratings, seed: _fit(ratings, seed, warm_start=False),
        "no warm start, 150 + 1000": lambda ratings, seed: _fit(
            ratings, seed, warm_start=False, warmup=150
        ),
    }
    for items, raters in ((500, 40), (20_000, 50)):
        print(f"\n{5 * items:,} ratings, {ROUNDS} rounds")
        alternate(samplers, Ratings.from_frame(simulate(items, raters, 5)))


def alternate(samplers: Mapping[str, Sampler], ratings: Ratings) -> None:
    """Run all samplers in turn, round after round, and print how they compare with the first."""
    ours(ratings, 0)  # loads what loads once
    rounds = [
        {name: Run.of(sample, ratings, seed) for name, sample in samplers.items()}
        for seed in range(1, ROUNDS + 1)
    ]
    firsts = [next(iter(runs.values())) for runs in rounds]
    print(
        f"{'':32}{'seconds':>9}{'of CPU':>9}{'min ESS':>9}{'max |z|':>9}{'ratio':>9}{'of CPU':>9}"
    )
    for name in samplers:
        runs = [runs[name] for runs in rounds]
        seconds = np.median([(run.seconds, run.processor_seconds) for run in runs], axis=0)
        ess = np.median([run.ess for run in runs])
        pairs = list(zip(firsts, runs, strict=True))
        ratio = np.median([ess_per_second(one) / ess_per_second(run) for one, run in pairs], axis=0)
        z = disagreement(firsts[0], runs[-1])
        cells = (f"{value:9.2f}" for value in seconds)
        print(f"{name:32}{''.join(cells)}{ess:9.0f}{z:9.1f}{ratio[0]:9.1f}{ratio[1]:9.1f}")


def ess_per_second(run: Run) -> NDArray[np.float64]:
    """Smallest bulk ESS per second by the clock, and per second of processors."""
    return run.ess / np.array([run.seconds, run.processor_seconds])


def disagreement(one: Run, other: Run) -> float:
    """Largest difference of posterior means, in Monte Carlo standard errors."""
    a, b = one.moments, other.moments
    return float(((a["mean"] - b["mean"]).abs() / np.hypot(a["mcse"], b["mcse"])).max())


def ours(ratings: Ratings, seed: int) -> xr.Dataset:
    """Our fit as a user gets it: 4 chains of 150 + 1000 from a warm start."""
    return _fit(ratings, seed)


def _fit(
    ratings: Ratings, seed: int, *, warm_start: bool = True, warmup: int | None = None
) -> xr.Dataset:
    model = GaussianICC()
    fit = model.fit(ratings, seed=seed, warm_start=warm_start, warmup=warmup, progress=False)
    return fit.quantities


def _reported(
    sample: Callable[[Ratings, int], Mapping[str, NDArray[np.float64]]],
) -> Sampler:
    """The same quantities from a peer's draws of the parameters."""

    def quantities(ratings: Ratings, seed: int) -> xr.Dataset:
        dims = ("chain", "draw")
        drawn = xr.Dataset({k: (dims, v) for k, v in sample(ratings, seed).items()})
        return GaussianICC().quantities(drawn, ratings)

    return quantities


if __name__ == "__main__":
    main()
