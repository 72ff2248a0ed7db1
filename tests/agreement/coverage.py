"""Simulated studies in which items and raters are new, and how often intervals cover.

Raters either know an item's category or guess it. Each has an accuracy and a way of guessing of
their own, so that the agreement of any two raters of the population is known in closed form.
Numeric ratings are sums of normal effects.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from reliabayes import Ratings
from reliabayes.agreement import (
    Coefficient,
    conger_kappa,
    fleiss_kappa,
    gwet_ac1,
    icc,
    krippendorff_alpha,
    percent_agreement,
)
from reliabayes.agreement.icc_analysis import Analysis
from reliabayes.arrays import Array, Codes

Function = Callable[[Ratings], Coefficient]

PREVALENCE = np.array([0.5, 0.3, 0.2])
ACCURACY = (14.0, 6.0)  # Beta: mean 0.7, standard deviation 0.1
GUESSING = 6.0  # total weight of a Dirichlet around the prevalence
ITEM, RATER, RESIDUAL = 0.5, 0.2, 0.3  # variances
KAPPAS: dict[str, Function] = {
    "percent agreement": percent_agreement,
    "Fleiss' kappa": fleiss_kappa,
    "Conger's kappa": conger_kappa,
    "Gwet's AC1": gwet_ac1,
    "alpha (nominal)": partial(krippendorff_alpha, metric="nominal"),
}
ICCS: dict[str, Function] = {
    "ICC(1,1)": partial(icc, name="ICC(1,1)"),
    "ICC(2,1)": partial(icc, name="ICC(2,1)"),
    "ICC(3,1)": partial(icc, name="ICC(3,1)"),
    "alpha (interval)": partial(krippendorff_alpha, metric="interval"),
}
METHODS: dict[str, dict[str, Any]] = {
    "default": {},
    "items, percentile": {"over": "items", "method": "percentile"},
    "both, percentile": {"over": "both", "method": "percentile"},
    "raters, log": {"over": "raters", "method": "log"},
    "raters, percentile": {"over": "raters", "method": "percentile"},
}


@dataclass(frozen=True)
class Study:
    """A design: items, raters, and how many of the raters rate each item (None: all)."""

    items: int
    raters: int
    per_item: int | None = None

    def __str__(self) -> str:
        some = "" if self.per_item is None else f", {self.per_item} per item"
        return f"{self.items} x {self.raters}{some}"

    def ratings(self, table: Array, rng: np.random.Generator, **options: Any) -> Ratings:
        if self.per_item is not None:
            rank = rng.random(table.shape).argsort(axis=1).argsort(axis=1)
            table = np.where(rank < self.per_item, table, np.nan)
        return Ratings.from_wide(table, **options)


def of_categories(study: Study, rng: np.random.Generator) -> tuple[Ratings, Codes]:
    """Ratings, and the true category of each item."""
    shape = study.items, study.raters
    true = rng.choice(len(PREVALENCE), p=PREVALENCE, size=(study.items, 1))
    accuracy = rng.beta(*ACCURACY, size=study.raters)
    limits = rng.dirichlet(GUESSING * PREVALENCE, size=study.raters).cumsum(axis=1)
    guess = (rng.random((*shape, 1)) > limits).sum(axis=-1)
    table = np.where(rng.random(shape) < accuracy, true, guess)
    return study.ratings(table.astype(float), rng, scale="nominal", categories=[0, 1, 2]), true


def of_numbers(study: Study, rng: np.random.Generator, *, one_way: bool) -> Ratings:
    """Numeric ratings; in a one-way study every rating is by another rater."""
    shape = study.items, study.raters
    rater = rng.standard_normal(shape if one_way else shape[1:])
    table = (
        np.sqrt(ITEM) * rng.standard_normal((study.items, 1))
        + np.sqrt(RATER) * rater
        + np.sqrt(RESIDUAL) * rng.standard_normal(shape)
    )
    return study.ratings(table, rng)


def true_kappas(prevalence: Array = PREVALENCE) -> dict[str, float]:
    """Coefficients of the population of raters, given the proportions of true categories."""
    mean = ACCURACY[0] / sum(ACCURACY)
    rating = mean * np.eye(3) + (1 - mean) * PREVALENCE  # by true category
    observed = prevalence @ (rating**2).sum(axis=1)
    margin = prevalence @ rating
    pe, ac1 = (margin**2).sum(), (margin * (1 - margin)).sum() / 2
    kappa, gwet = ((observed - chance) / (1 - chance) for chance in (pe, ac1))
    values = (observed, kappa, kappa, gwet, kappa)
    return dict(zip(KAPPAS, map(float, values), strict=True))


def true_iccs() -> dict[str, float]:
    agreement, consistency = ITEM / (ITEM + RATER + RESIDUAL), ITEM / (ITEM + RESIDUAL)
    return dict(zip(ICCS, (agreement, agreement, consistency, agreement), strict=True))


def covered(
    kind: str, study: Study, name: str, method: str, data_sets: int, replicates: int
) -> float:
    """Proportion of data sets whose 95% interval contains the true value."""
    options = METHODS[method]
    hits = []
    for seed in range(data_sets):
        coefficient, truth = _drawn(kind, study, name, method, np.random.default_rng([7, seed]))
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="with .* raters the interval")
            found = coefficient.interval(replicates=replicates, seed=seed, **options)
        hits.append(found.lower <= truth <= found.upper)
    return float(np.mean(hits))


def covered_by_table(study: Study, data_sets: int) -> float:
    """Proportion of data sets whose published interval of ICC(2,1) contains the true value."""
    hits = []
    for seed in range(data_sets):
        ratings = of_numbers(study, np.random.default_rng([7, seed]), one_way=False)
        lower, upper = Analysis.of(ratings, "ICC(2,1)", "ratings").interval(0.95)
        hits.append(lower <= true_iccs()["ICC(2,1)"] <= upper)
    return float(np.mean(hits))


def _drawn(
    kind: str, study: Study, name: str, method: str, rng: np.random.Generator
) -> tuple[Coefficient, float]:
    if kind == "numbers":
        ratings = of_numbers(study, rng, one_way=name == "ICC(1,1)")
        return ICCS[name](ratings), true_iccs()[name]
    ratings, true = of_categories(study, rng)
    these_items = np.bincount(true[:, 0], minlength=3) / study.items
    known = these_items if method.startswith("raters") else PREVALENCE
    return KAPPAS[name](ratings), true_kappas(known)[name]


def rows(data_sets: int, bootstrapped: int) -> Iterator[tuple[str, str, str, float, int]]:
    """Design, coefficient, method, coverage and number of data sets."""
    for kind, study, names, methods in PLAN:
        for name in names:
            for method in methods:
                n = bootstrapped if "percentile" in method else data_sets
                yield str(study), name, method, covered(kind, study, name, method, n, 300), n
    for study in (SMALL, THREE, LONG, TEN):
        yield str(study), "ICC(2,1)", "icc_table", covered_by_table(study, data_sets), data_sets


SMALL, THREE, FIVE = Study(10, 3), Study(30, 3), Study(30, 5)
LONG, TEN, CROWD = Study(100, 3), Study(100, 10), Study(200, 60, 3)
BOTH = ("default", "both, percentile", "items, percentile")
RATERS = ("raters, log", "raters, percentile")
PLAN = (
    *(("categories", each, tuple(KAPPAS), ("default",)) for each in (SMALL, FIVE, LONG, TEN)),
    ("categories", CROWD, tuple(KAPPAS)[:2] + tuple(KAPPAS)[3:], ("default",)),
    ("categories", THREE, tuple(KAPPAS), ("default",)),
    *(
        ("categories", each, ("percent agreement", "Fleiss' kappa"), BOTH[1:])
        for each in (THREE, LONG, TEN)
    ),
    *(("categories", each, ("Fleiss' kappa",), RATERS) for each in (THREE, FIVE, TEN)),
    *(("numbers", each, tuple(ICCS), ("default",)) for each in (SMALL, THREE, LONG, TEN)),
    *(("numbers", each, ("ICC(2,1)",), BOTH[1:]) for each in (THREE, TEN)),
    ("numbers", Study(30, 4, 3), tuple(ICCS), ("default",)),
    ("numbers", Study(30, 10, 3), tuple(ICCS), ("default",)),
)

if __name__ == "__main__":  # data sets without and with a bootstrap, such as 1000 300
    for design, name, method, value, n in rows(*map(int, sys.argv[1:])):
        print(f"| {design} | {name} | {method} | {value:.3f} | {n} |", flush=True)
