"""Coverage of GStudy under candidates for the prior of facets with few levels, such as occasions.

The likelihood of complete designs depends on one sum of squares for each source, which are drawn
from their exact distributions. Metropolis steps for all data sets and candidates at once give
their posteriors. Prints the table of docs/priors.md:

    python -m benchmarks.facet_priors [replications]
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Collection, Mapping
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Array
from reliabayes.facets import Decision, MeasurementDesign

DESIGN = MeasurementDesign.parse("item x rater x occasion")
SOURCES = tuple(DESIGN.sources())
LEVELS = (  # items, raters, occasions
    (20, 2, 2), (30, 3, 2), (100, 3, 2), (30, 10, 2), (100, 3, 3), (30, 3, 5),
)  # fmt: skip
# Proportions of the variance. Raters by occasions have a tenth of what both have; item x rater and
# item x occasion have a quarter of the rest each.
ITEM, RATER, OCCASION = (0.3, 0.5), (0.02, 0.1), (0.0, 0.01, 0.03, 0.1, 0.2)
# Degrees of freedom and scale, in units of the sd of all ratings.
OF_ITEMS, OF_RATERS = (3.0, 1.0), (1.0, 0.25)
DEFAULT = "half-t3(0.25)"
CANDIDATES: Mapping[str, tuple[float, float]] = {  # of occasions, and of raters by occasions
    "half-Cauchy(0.25)": (1.0, 0.25),
    "half-Cauchy(0.1)": (1.0, 0.1),
    "half-t3(0.5)": (3.0, 0.5),
    DEFAULT: (3.0, 0.25),
    "half-t3(0.15)": (3.0, 0.15),
    "half-normal(0.25)": (np.inf, 0.25),
}
WARMUP, STEPS, KEPT = 500, 4000, 4  # of the chains, and which steps are kept
NEAR, FAR = 0.3, 1.5  # sds of steps of log sds; far ones where few levels leave an sd open
FEW = 10  # degrees of freedom below which steps are far in turn
CELL = ["levels", "item", "rater", "occasion"]


def variances(item: float, rater: float, occasion: float) -> list[float]:
    """Variance by source, 1 in sum."""
    both = 0.1 * (rater + occasion)
    rest = 1 - item - rater - occasion - both
    main = {"item": item, "rater": rater, "occasion": occasion, "rater x occasion": both}
    by_name = main | {"item x rater": rest / 4, "item x occasion": rest / 4}
    return [by_name.get(source.name, rest / 2) for source in SOURCES]


def expected_squares(levels: Mapping[str, int]) -> tuple[Array, Array]:
    """Degrees of freedom (K,), and how often variances are in expected mean squares (K, K)."""
    df = [np.prod([levels[name] - 1 for name in source.facets]) for source in SOURCES]
    weight = [
        [
            np.prod([n for name, n in levels.items() if name not in of.facets])
            if square.facets <= of.facets
            else 0
            for of in SOURCES
        ]
        for square in SOURCES
    ]
    return np.array(df, float), np.array(weight, float)


def sampled(sums: Array, levels: Mapping[str, int], priors: Array, seed: int) -> Array:
    """Draws (S, M, K) of sds, given sums of squares (M, K) and priors (M, K, 2)."""
    rng = np.random.default_rng(seed)
    degrees, weight = expected_squares(levels)
    df, scale = np.moveaxis(priors, -1, 0)
    is_normal = np.isinf(df)
    df = np.where(is_normal, 1.0, df)

    def log_posterior(log_sd: Array) -> Array:
        variance = np.exp(2 * log_sd)
        expected = variance @ weight.T
        likelihood = -0.5 * (degrees * np.log(expected) + sums / expected)
        ratio = variance / scale**2
        tails = np.where(is_normal, ratio, (df + 1) * np.log1p(ratio / df))
        return np.asarray((likelihood - 0.5 * tails + log_sd).sum(axis=-1))

    found = np.empty((STEPS // KEPT, *sums.shape), np.float32)
    at = np.log(0.5 * scale)
    now = log_posterior(at)
    for step in range(-WARMUP, STEPS):
        for k, few in enumerate(degrees < FEW):
            width = (FAR if few else NEAR / 2) if (step + k) % 2 else NEAR
            proposal = at.copy()
            proposal[:, k] += width * rng.standard_normal(len(at))
            then = log_posterior(proposal)
            accepted = np.log(rng.random(len(at))) < then - now
            at[accepted], now[accepted] = proposal[accepted], then[accepted]
        if step >= 0 and step % KEPT == 0:
            found[step // KEPT] = np.exp(at)
    return found


def priors_of(candidate: tuple[float, float], sd: Array) -> Array:
    """Degrees of freedom and scale (M, K, 2) of ratings with these sds (M,)."""
    rows = [
        OF_ITEMS if "item" in of.facets else OF_RATERS if of.name == "rater" else candidate
        for of in SOURCES
    ]
    found = np.broadcast_to(np.array(rows), (len(sd), len(rows), 2)).copy()
    found[..., 1] *= sd[:, None]
    return found


def study(
    replications: int, candidates: Collection[str] = tuple(CANDIDATES), seed: int = 1
) -> pd.DataFrame:
    """A row for each design, truth, data set, candidate and quantity."""
    found = []
    truths = list(itertools.product(ITEM, RATER, OCCASION))
    truth = pd.DataFrame(truths, columns=CELL[1:])
    truth = truth.loc[truth.index.repeat(replications)].reset_index(drop=True)
    variance = np.repeat([variances(*each) for each in truths], replications, axis=0)
    for number, sizes in enumerate(LEVELS):
        levels = dict(zip(DESIGN.facets, sizes, strict=True))
        degrees, weight = expected_squares(levels)
        rng = np.random.default_rng([seed, number])
        sums = variance @ weight.T * rng.chisquare(degrees, variance.shape)
        sd = np.sqrt(sums.sum(axis=1) / np.prod(sizes))
        for name in candidates:
            draws = sampled(sums, levels, priors_of(CANDIDATES[name], sd), seed)
            labels = {"levels": " x ".join(map(str, sizes)), "prior": name}
            found += [each.assign(**labels) for each in _rows(draws, variance, truth)]
    return pd.concat(found, ignore_index=True)


def _rows(draws: Array, variance: Array, truth: pd.DataFrame) -> list[pd.DataFrame]:
    posterior, true = (Decision(DESIGN, SOURCES, each, {}) for each in (draws**2, variance))
    found = []
    for name in ("phi", "sem_absolute"):
        lower, median, upper = np.quantile(getattr(posterior, name), [0.05, 0.5, 0.95], axis=0)
        value: Any = getattr(true, name)
        columns = {
            "quantity": name,
            "covered": (lower <= value) & (value <= upper),
            "bias": median - value,
            "width": upper - lower,
            "upper": upper / value,
        }
        found.append(truth.assign(**columns))
    return found


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """Coverage by design and by what occasions account for, bias, worst bias, and width."""
    table = table.assign(covered=100 * table["covered"])
    by = ["quantity", "prior"]
    coverage = [
        table.pivot_table("covered", by, margin, sort=False).round(0).astype(int)
        for margin in ("levels", "occasion")
    ]
    means = table.groupby(by, sort=False)[["covered", "bias", "width"]].mean()
    cells = table.groupby([*by, *CELL], sort=False)["bias"].mean().abs()
    two = table[table["levels"].str.endswith(" 2")].groupby(by, sort=False)["upper"].median()
    worst = cells.groupby(by, sort=False).max().rename("worst bias")
    return pd.concat([*coverage, means, worst, two.rename("upper end with 2 occasions")], axis=1)


if __name__ == "__main__":
    replications = int(sys.argv[1]) if len(sys.argv) > 1 else 30
    print(summary(study(replications)).round(3).to_csv(sep="|"))
