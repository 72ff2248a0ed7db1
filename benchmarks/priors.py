"""Coverage and bias of the ICC of GaussianICC under candidates for its priors, over many designs.

The posterior of complete designs needs no sampler: the likelihood of the three standard deviations
depends on three sums of squares, and a grid over them is exact enough. Prints the table of
docs/priors.md:

    python -m benchmarks.priors [replications]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from reliabayes.arrays import Array
from reliabayes.inference.densities import log_half_t

Prior = Callable[[Array, Array, Array], Array]

ITEMS, RATERS = (10, 30, 100, 1000), (2, 3, 5, 10, 50)
ICC, SEVERITY = (0.1, 0.3, 0.5, 0.7, 0.9), (0.1, 0.33, 0.67)  # severity: of what is not ICC
POINTS = 15, 41, 41  # of residual variance, sd of items, sd of raters
BINS = 4000
CELL = ["items", "raters", "icc", "severity"]
DROP = 16.0  # nats below its maximum at which a margin of the grid ends


class Sums(NamedTuple):
    """Sums of squares of a complete design of ``items`` times ``raters`` ratings."""

    items: int
    raters: int
    between_items: float
    between_raters: float
    residual: float

    @property
    def sd(self) -> float:
        """Standard deviation of all ratings, the scale of the priors."""
        total = self.between_items + self.between_raters + self.residual
        return float(np.sqrt(total / (self.items * self.raters)))


def simulated(
    items: int, raters: int, icc: float, severity: float, rng: np.random.Generator
) -> Sums:
    """Sums of squares of ratings with variance 1, drawn from their exact distributions."""
    residual = (1 - icc) * (1 - severity)
    return Sums(
        items,
        raters,
        (residual + raters * icc) * rng.chisquare(items - 1),
        (residual + items * (1 - icc) * severity) * rng.chisquare(raters - 1),
        residual * rng.chisquare((items - 1) * (raters - 1)),
    )


def half_t(item: Any, rater: Any, residual: Any) -> Prior:
    """Independent half-t priors, each given as degrees of freedom and scale."""

    def log_density(sd_item: Array, sd_rater: Array, sd_residual: Array) -> Array:
        return np.asarray(
            log_half_t(sd_item, item)
            + log_half_t(sd_rater, rater)
            + log_half_t(sd_residual, residual)
        )

    return log_density


def exponential(rater: float) -> Prior:
    """Half-normal priors of scale 1, but an exponential one, which has this mean, for raters."""

    def log_density(sd_item: Array, sd_rater: Array, sd_residual: Array) -> Array:
        return np.asarray(-0.5 * (sd_item**2 + sd_residual**2) - sd_rater / rater)

    return log_density


def shares(concentration: float) -> Prior:
    """Dirichlet prior of the shares of variance, and a flat one of the log of its total."""

    def log_density(sd_item: Array, sd_rater: Array, sd_residual: Array) -> Array:
        total = sd_item**2 + sd_rater**2 + sd_residual**2
        logs = np.log(sd_item) + np.log(sd_rater) + np.log(sd_residual)
        return np.asarray((2 * concentration - 1) * logs - 3 * concentration * np.log(total))

    return log_density


INFINITE = np.inf
DEFAULT = "half-Cauchy(0.25) of raters"
CANDIDATES: dict[str, Prior] = {
    "half-normal(1)": half_t((INFINITE, 1), (INFINITE, 1), (INFINITE, 1)),
    "half-normal(1), raters 0.5": half_t((INFINITE, 1), (INFINITE, 0.5), (INFINITE, 1)),
    "half-normal(1), raters 0.25": half_t((INFINITE, 1), (INFINITE, 0.25), (INFINITE, 1)),
    "half-t3(1)": half_t((3, 1), (3, 1), (3, 1)),
    "half-t3(1), raters 0.5": half_t((3, 1), (3, 0.5), (3, 1)),
    "half-t3(1), raters 0.25": half_t((3, 1), (3, 0.25), (3, 1)),
    "half-Cauchy(0.5) of raters": half_t((3, 1), (1, 0.5), (3, 1)),
    "half-Cauchy(0.25) of raters": half_t((3, 1), (1, 0.25), (3, 1)),
    "exponential(0.5) of raters": exponential(0.5),
    "exponential(0.33) of raters": exponential(0.33),
    "uniform shares": shares(1.0),
    "Dirichlet(0.5) shares": shares(0.5),
}


def posteriors(sums: Sums, candidates: dict[str, Prior]) -> dict[str, tuple[float, ...]]:
    """Mean, median, and 5% and 95% quantiles of the ICC, by candidate."""
    n_items, n_raters, scale = sums.items, sums.raters, sums.sd
    df = (n_items - 1) * (n_raters - 1)
    nodes = (np.arange(POINTS[0]) + 0.5) / POINTS[0]
    # Weights of the nodes make up for what the margins of items and raters say of the residual.
    residual = sums.residual / chi2.ppf(nodes, df)
    item = _axis(n_raters, n_items - 1, sums.between_items, residual, scale, POINTS[1])
    rater = _axis(n_items, n_raters - 1, sums.between_raters, residual, scale, POINTS[2])
    of_item = _margin(item, n_raters, n_items - 1, sums.between_items, residual)
    of_rater = _margin(rater, n_items, n_raters - 1, sums.between_raters, residual)
    log_likelihood = of_item[:, :, None] + of_rater[:, None, :]
    sd_item, sd_rater = item[None, :, None], rater[None, None, :]
    sd_residual = np.sqrt(residual)[:, None, None]
    # Nodes at equal steps of the distribution under a flat prior of the log variance, and equal
    # steps of the logs of the other two: the Jacobian of all three logs.
    jacobian = np.log(sd_item) + np.log(sd_rater) + np.log(sd_residual)
    icc = sd_item**2 / (sd_item**2 + sd_rater**2 + sd_residual**2)
    at = np.minimum((icc * BINS).astype(np.intp), BINS - 1).ravel()
    found = {}
    for name, prior in candidates.items():
        log_prior = prior(sd_item / scale, sd_rater / scale, sd_residual / scale)
        log_weight = log_likelihood + jacobian + log_prior
        weight = np.exp(log_weight - log_weight.max()).ravel()
        density = np.bincount(at, weight, BINS)
        below = np.cumsum(density) / density.sum()
        ends = (np.searchsorted(below, [0.5, 0.05, 0.95]) + 0.5) / BINS
        mean = float(weight @ icc.ravel() / weight.sum())
        found[name] = (mean, *map(float, ends))
    return found


def _axis(size: int, df: int, square: float, residual: Array, scale: float, points: int) -> Array:
    """Standard deviations, at equal steps of their logs, where the likelihood is not negligible."""
    wide = scale * np.exp(np.linspace(np.log(0.01), np.log(30), 400))
    log_density = _margin(wide, size, df, square, residual).max(axis=0) + np.log(wide)
    log_density -= 1.5 * np.log1p((wide / scale) ** 2)  # the least that a prior's tail takes away
    inside = np.flatnonzero(log_density > log_density.max() - DROP)
    first, last = max(inside[0] - 1, 0), min(inside[-1] + 1, len(wide) - 1)
    return np.geomspace(wide[first], wide[last], points)


def _margin(sd: Array, size: int, df: int, square: float, residual: Array) -> Array:
    """(residual, sd) log-likelihood of the sum of squares between the units of a margin."""
    variance = residual[:, None] + size * sd**2
    return np.asarray(-0.5 * (df * np.log(variance) + square / variance))


def study(
    replications: int, candidates: dict[str, Prior], seed: int = 1
) -> Iterator[dict[str, Any]]:
    """A row for each design, true ICC, severity, candidate and replication."""
    cells = itertools.product(ITEMS, RATERS, ICC, SEVERITY)
    for number, cell in enumerate(cells):
        items, raters, icc, severity = cell
        rng = np.random.default_rng([seed, number])
        for _ in range(replications):
            sums = simulated(items, raters, icc, severity, rng)
            for name, (mean, median, lower, upper) in posteriors(sums, candidates).items():
                yield {
                    **dict(zip(CELL, cell, strict=True)),
                    "prior": name,
                    "covered": lower <= icc <= upper,
                    "mean": mean - icc,
                    "median": median - icc,
                    "width": upper - lower,
                }


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage by number of raters, bias of mean and median with few raters, and the worst cell."""
    table = table.assign(covered=100 * table["covered"])
    coverage = table.pivot_table("covered", "prior", "raters", sort=False)
    few = table[table["raters"] <= 5].groupby("prior", sort=False)[["mean", "median", "width"]]
    by_cell = table.groupby(["prior", *CELL], sort=False)[["covered", "median"]].mean()
    worst = by_cell.abs().groupby("prior", sort=False).agg({"covered": "min", "median": "max"})
    worst.columns = ["worst coverage", "worst bias"]
    return coverage.round(0).astype(int).join(few.mean().round(3)).join(worst.round(2))


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 60
    print(summary(pd.DataFrame(study(replications, CANDIDATES))).to_csv(sep="|"))
