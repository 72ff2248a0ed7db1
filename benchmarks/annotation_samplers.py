"""Gibbs sampling and NUTS of the models of categories, and the growth of Gibbs sampling."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import xarray as xr

import reliabayes as rb
from benchmarks.annotated import annotate, ratings
from benchmarks.memory import peak_gb
from benchmarks.speed import Sampler, alternate
from reliabayes.models.category_model import CategoryModel

COLUMNS = ("item", "rater", "rating")
PER_ITEM = 5
# Ratings, categories, raters, draws of each of four chains.
SIZES = (
    (10_000, 2, 100, 1000),
    (10_000, 4, 100, 1000),
    (10_000, 10, 100, 1000),
    (100_000, 4, 100, 1000),
    (200_000, 50, 20, 400),
    (1_000_000, 4, 100, 400),
    (10_000_000, 4, 100, 400),
)
RATED = ("prevalence", "accuracy")  # whose effective draws are counted


def samplers() -> None:
    """Print ESS per second of whole fits by Gibbs sampling and by NUTS, which take turns."""
    print("\nWhole fits, Gibbs sampling over NUTS; targets: 30 for crowd_ms, 5 for 200,000 ratings")
    table = pd.read_csv(rb.datasets.folder() / "crowd_ms.csv")[list(COLUMNS)]
    crowd = rb.Ratings.from_frame(table, scale="nominal", categories=range(10))
    small = ratings(annotate(2_000, 50, PER_ITEM, 4), 4)
    binary = ratings(annotate(800, 160, 10, 2), 2)
    large = ratings(annotate(40_000, 100, PER_ITEM, 4), 4)
    cases: tuple[tuple[CategoryModel, rb.Ratings], ...] = (
        (rb.DawidSkene(), crowd),
        (rb.DawidSkene(), large),
        *((model, binary) for model in (rb.TAP(), rb.RaterTAP(), rb.MACE(), rb.DawidSkene())),
        *((model, binary) for model in (rb.Groupthink(), rb.RaterGroupthink())),
        *((model, small) for model in (rb.MACE(), rb.DawidSkene())),
    )
    for model, rated in cases:
        print(f"\n{type(model).__name__}: {rated!r}", flush=True)
        alternate({name: _by(model, name) for name in ("gibbs", "nuts")}, rated, rounds=1)


def _by(model: CategoryModel, sampler: Any) -> Sampler:
    def sample(rated: rb.Ratings, seed: int) -> xr.Dataset:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", rb.ConvergenceWarning)
            fit = model.fit(rated, sampler=sampler, seed=seed, progress=False)
        return fit.posterior[[parameter.name for parameter in model.parameters()]]

    return sample


def sizes() -> None:
    """Print seconds, effective draws and peak memory of Dawid-Skene by Gibbs sampling."""
    print("\nDawid-Skene by Gibbs sampling, whole fits, 4 chains, 5 ratings per item")
    print("   ratings  K raters  draws  table s    fit s    CPU s  min ESS  R-hat  peak GB")
    for size, categories, raters, draws in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "ratings.npz")
            frame = annotate(size // PER_ITEM, raters, PER_ITEM, categories)
            np.savez(table, *(frame[name] for name in COLUMNS))
            del frame
            words = [table, categories, draws]
            process = subprocess.run(
                [sys.executable, "-m", "benchmarks.annotation_samplers", *map(str, words)],
                check=True,
                capture_output=True,
                text=True,
            )
        print(
            "{ratings:10}{categories:3}{raters:7}{draws:7}{table_s:9.2f}{fit_s:9.1f}{cpu_s:9.1f}"
            "{ess:9.0f}{r_hat:7.3f}{peak_gb:9.2f}".format(**json.loads(process.stdout)),
            flush=True,
        )


def measure(table: Path, categories: int, draws: int) -> dict[str, float]:
    """Seconds and peak memory of reading a table and of a fit."""
    with np.load(table) as columns:
        frame = pd.DataFrame(dict(zip(COLUMNS, columns.values(), strict=True)))
    times = [time.perf_counter()]
    rated = ratings(frame, categories)
    times.append(time.perf_counter())
    cpu = time.process_time()
    fit = rb.DawidSkene().fit(rated, draws=draws, seed=1, progress=False)
    cpu = time.process_time() - cpu
    times.append(time.perf_counter())
    found = fit.summary().filter(regex="^(" + "|".join(RATED) + ")", axis=0)
    raters = fit._convergence.table(["accuracy"])
    return {
        "ratings": len(frame),
        "categories": categories,
        "raters": rated.n_raters,
        "draws": draws,
        "table_s": times[1] - times[0],
        "fit_s": times[2] - times[1],
        "cpu_s": cpu,
        "ess": min(float(found["ess_bulk"].min()), float(raters["ess_bulk"].min())),
        "r_hat": max(float(found["r_hat"].max()), float(raters["r_hat"].max())),
        "peak_gb": peak_gb(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3]))))
