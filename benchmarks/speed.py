"""Effective sample sizes per second of samplers that take turns, and their agreement."""

# arviz 0.23 has no types; arviz 1 has.
# mypy: disable-error-code="no-untyped-call"

from __future__ import annotations

import os
import time
import warnings
from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np
import xarray as xr

from reliabayes import Ratings
from reliabayes.arrays import Array

with warnings.catch_warnings():
    warnings.simplefilter("ignore")  # arviz 0.23 announces 1.0 at import
    import arviz as az

COMPARED = (  # quantities, where a model has them
    "icc",
    "labeler_icc",
    "normalized_xcc",
    "unnormalized_xcc",
    "sd_item",
    "sd_rater",
    "sd_residual",
    "mean",
)

Sampler = Callable[[Ratings, int], xr.Dataset]


class Run(NamedTuple):
    """Draws of all quantities, with wall-clock and CPU seconds from ratings to draws."""

    draws: xr.Dataset
    seconds: float
    cpu_seconds: float

    @classmethod
    def of(cls, sample: Sampler, ratings: Ratings, seed: int) -> Run:
        """Run a sampler and time it."""
        wall, cpu = time.perf_counter(), sum(os.times()[:4])
        draws = sample(ratings, seed)
        return cls(draws, time.perf_counter() - wall, sum(os.times()[:4]) - cpu)

    @property
    def ess(self) -> float:
        """Smallest bulk ESS of all quantities, by the same estimator for every sampler."""
        return float(_flat(az.ess(self.draws, method="bulk")).min())

    @property
    def r_hat(self) -> float:
        """Largest rank-normalised split R-hat of all quantities."""
        return float(_flat(az.rhat(self.draws)).max())

    @property
    def speed(self) -> Array:
        """Smallest bulk ESS per wall-clock second and per CPU second."""
        return self.ess / np.array([self.seconds, self.cpu_seconds])


def alternate(samplers: Mapping[str, Sampler], ratings: Ratings, rounds: int) -> None:
    """Run the samplers in turn for several rounds, and print how they compare with the first."""
    results = [
        {name: Run.of(sample, ratings, seed) for name, sample in samplers.items()}
        for seed in range(1, rounds + 1)
    ]
    first = [next(iter(runs.values())) for runs in results]
    words = ("seconds", "CPU s", "min ESS", "R-hat", "rms z", "max |z|", "ratio", "CPU")
    print(f"{'':32}" + "".join(f"{word:>9}" for word in words))
    for name in samplers:
        runs = [runs[name] for runs in results]
        seconds = np.median([(run.seconds, run.cpu_seconds) for run in runs], axis=0)
        ratio = np.median(
            [one.speed / run.speed for one, run in zip(first, runs, strict=True)], axis=0
        )
        z = differences(first[0], runs[-1])
        print(
            f"{name:32}{seconds[0]:9.2f}{seconds[1]:9.2f}{np.median([r.ess for r in runs]):9.0f}"
            f"{max(run.r_hat for run in runs):9.3f}{np.sqrt(np.mean(z**2)):9.2f}"
            f"{np.abs(z).max():9.1f}{ratio[0]:9.1f}{ratio[1]:9.1f}",
            flush=True,
        )


def differences(one: Run, other: Run) -> Array:
    """Differences of posterior means, in Monte Carlo standard errors."""
    means = [_flat(run.draws.mean(("chain", "draw"))) for run in (one, other)]
    errors = [_flat(az.mcse(run.draws, method="mean")) for run in (one, other)]
    return np.asarray((means[0] - means[1]) / np.hypot(*errors))


def comparable(found: xr.Dataset) -> xr.Dataset:
    """The quantities by which samplers are compared, in a fixed order."""
    return found[[name for name in COMPARED if name in found]]


def _flat(found: xr.Dataset) -> Array:
    return np.concatenate([values.to_numpy().ravel() for values in found.values()])
