"""Whole fits of G studies: complete designs of several sizes, with empty cells, and InstEval.

python -m benchmarks.facets
python -m benchmarks.facets insteval  # also by lme4, which needs R (on Debian: r-cran-lme4)
python -m benchmarks.facets lme4  # InstEval by lme4 only
python -m benchmarks.facets categories
python -m benchmarks.facets million  # more than a million ratings, with empty cells
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable, Mapping
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotation_crowds import fitted, measured

# Items, raters, occasions, and the share of the cells that is kept.
DESIGNS = (
    (60, 4, 2, 1.0),
    (200, 20, 5, 1.0),
    (60, 4, 2, 0.9),
    (200, 20, 5, 0.1),
    (10_000, 50, 2, 0.9),
)
# The same of ratings in categories, by family; ordinal ones are of five.
CATEGORIES = (
    (200, 5, 2, 1.0, "logit"),
    (200, 5, 2, 1.0, "ordinal"),
    (100, 4, 9, 1.0, "logit"),
    (100, 4, 9, 1.0, "ordinal"),
    (200, 20, 5, 0.1, "logit"),
    (200, 20, 5, 0.2, "ordinal"),
)
CUTS: dict[str, list[float]] = {"logit": [0.3], "ordinal": [-2.0, -0.6, 0.6, 2.0]}
SDS_OF_CATEGORIES = {  # in log odds
    "item": 1.5,
    "rater": 0.75,
    "occasion": 0.45,
    "item x rater": 0.9,
    "item x occasion": 0.6,
    "rater x occasion": 0.3,
}
MILLION = (10_000, 56, 2, 0.9)
# Formula of lme4, and design with the sources to leave out, of evaluations of lecturers.
EVALUATIONS = (
    ("rating ~ (1 | item) + (1 | rater)", "item x rater", ()),
    (
        "rating ~ (1 | item) + (1 | rater) + (1 | group)",
        "item x rater x group",
        ("item x rater", "item x group", "rater x group", "item x rater x group"),
    ),
)
LMER = """
suppressMessages(library(lme4))
arguments <- commandArgs(TRUE)
data <- read.csv(arguments[1], colClasses = c("factor", "factor", "numeric", "factor"))
seconds <- system.time(fit <- lmer(as.formula(arguments[2]), data))["elapsed"]
sds <- as.data.frame(VarCorr(fit))
cat(seconds, fixef(fit), "\\n")
cat(paste(sds$grp, sds$sdcor), sep = "\\n")
"""
DESIGN = "item x rater x occasion"
SDS = {"item": 1.0, "rater": 0.5, "occasion": 0.3, "item x rater": 0.4}


def fits(designs: Iterable[tuple[int, int, int, float]]) -> None:
    """Print seconds, R-hat and ESS of fits with default settings."""
    print(f"{'':32}{'s':>8}{'CPU s':>8}{'R-hat':>7}{'bulk ESS':>10}{'in doubt':>10}")
    for sizes in designs:
        timed_fit(rb.GStudy(design=DESIGN), simulated(*sizes), sizes)


def fits_of_categories() -> None:
    """Print the same of three data sets of each size and family."""
    print(f"{'':32}{'s':>8}{'CPU s':>8}{'R-hat':>7}{'bulk ESS':>10}{'in doubt':>10}")
    for items, raters, occasions, share, family in CATEGORIES:
        model: Any = rb.GStudy(design=DESIGN, family=family)  # type: ignore[arg-type]
        for seed in range(3):
            sizes = (items, raters, occasions, share)
            rated = categorised(model, *sizes, seed=seed)
            timed_fit(model, rated, sizes)


def timed_fit(model: Any, rated: rb.Ratings, sizes: tuple[int, int, int, float]) -> None:
    """Print a row of figures of a fit with default settings."""
    items, raters, occasions, _ = sizes
    fit, figures = measured(fitted, model, rated)
    label = f"{len(rated):,} of {items} x {raters} x {occasions}"
    print(f"{label:32}{figures}{len(fit.diagnostics().problems):10}", flush=True)


def evaluations(*, only_lme4: bool) -> None:
    """Print seconds and standard deviations of InstEval by lme4 and GStudy, and their ratio."""
    raw = rb.datasets.load("insteval").rename(columns={"lecturer": "item", "student": "rater"})
    table = raw[["item", "rater", "rating"]].assign(
        group=raw["dept"].astype(str) + "/" + raw["service"].astype(str)
    )
    for formula, design, drop in EVALUATIONS:
        print(f"\n{formula}, {len(table):,} ratings", flush=True)
        seconds, mean, sds = by_lme4(table, formula)
        print(f"{'lme4, REML':24}{seconds:8.1f} s, mean {mean:.4f}, sd {in_words(sds)}", flush=True)
        if only_lme4:
            continue
        facets = ["group"] if "group" in design else []
        rated = rb.Ratings.from_frame(table, facets=facets, scale="numeric")
        began = time.perf_counter()
        fit = fitted(rb.GStudy(design=design, drop=drop), rated)
        own = time.perf_counter() - began
        medians = fit.quantities["sd"].median(("chain", "draw")).to_series().to_dict()
        mean = float(fit.quantities["mean"].median())
        checks = fit.diagnostics()
        print(
            f"{'GStudy, 4 chains':24}{own:8.1f} s, mean {mean:.4f}, sd {in_words(medians)}; R-hat "
            f"{checks.r_hat:.3f}, bulk ESS {checks.ess_bulk:.0f}; {own / seconds:.1f} times lme4's "
            "seconds",
            flush=True,
        )


def by_lme4(table: pd.DataFrame, formula: str) -> tuple[float, float, dict[str, float]]:
    """Seconds, mean and standard deviations by source of a fit by lme4's `lmer`."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        table[["item", "rater", "rating", "group"]].to_csv(path, index=False)
        command = ["Rscript", "-e", LMER, str(path), formula]
        first, *rows = subprocess.run(
            command, check=True, capture_output=True, text=True
        ).stdout.splitlines()
    seconds, mean = map(float, first.split())
    return seconds, mean, {name: float(sd) for name, sd in (row.split() for row in rows)}


def in_words(sds: Mapping[Any, float]) -> str:
    """Standard deviations by source, in a row."""
    return ", ".join(f"{sd:.4f} {name}" for name, sd in sds.items())


def simulated(items: int, raters: int, occasions: int, share: float) -> rb.Ratings:
    """Ratings of a part of the cells, chosen at random."""
    rng = np.random.default_rng(1)
    sizes = (items, raters, occasions)
    cells = np.indices(sizes).reshape(3, -1)
    table = pd.DataFrame(dict(zip(("item", "rater", "occasion"), cells, strict=True)))
    effects = {
        "item": rng.standard_normal(items)[cells[0]],
        "rater": rng.standard_normal(raters)[cells[1]],
        "occasion": rng.standard_normal(occasions)[cells[2]],
        "item x rater": rng.standard_normal(items * raters)[cells[0] * raters + cells[1]],
    }
    noise = rng.standard_normal(prod(sizes))
    table["rating"] = noise + sum(sd * effects[name] for name, sd in SDS.items())
    kept = table if share == 1 else table.sample(frac=share, random_state=1)
    return rb.Ratings.from_frame(kept, facets=["occasion"])


def categorised(
    model: Any, items: int, raters: int, occasions: int, share: float, *, seed: int
) -> rb.Ratings:
    """Ratings in categories of a part of the cells, chosen at random."""
    cells = np.indices((items, raters, occasions)).reshape(3, -1)
    table = pd.DataFrame(dict(zip(("item", "rater", "occasion"), cells, strict=True)))
    kept = table if share == 1 else table.sample(frac=share, random_state=seed)
    rng = np.random.default_rng(seed)
    truth = {"cut": CUTS[model.family], "sd": list(SDS_OF_CATEGORIES.values())}
    categories = range(len(CUTS[model.family]) + 1)
    ratings: rb.Ratings = model.simulate(kept, rng, parameters=truth, categories=categories)
    return ratings


if __name__ == "__main__":
    asked = sys.argv[1:]
    if asked == ["categories"]:
        fits_of_categories()
    elif asked == ["million"]:
        fits([MILLION])
    elif asked:
        evaluations(only_lme4=asked == ["lme4"])
    else:
        fits(DESIGNS)
