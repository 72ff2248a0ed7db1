"""Time and memory of EM and a gradient of Dawid-Skene, by ratings and categories."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotated import annotate, ratings
from benchmarks.gradient import seconds_per_gradient
from benchmarks.memory import peak_gb
from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data

RATERS, PER_ITEM = 100, 5
COLUMNS = ("item", "rater", "rating")
SIZES = tuple(10**power for power in range(3, 8))
MAX_GRADIENT_SIZE = 10**6  # ratings
CATEGORIES = (2, 5, 10, 20, 50)
TARGETS = {10**7: "EM in 120 s, 6 GB"}


def growth() -> None:
    """Print seconds, iterations and peak memory of EM, and milliseconds of a gradient."""
    print(f"\nDawid-Skene, {RATERS} raters, {PER_ITEM} ratings per item")
    print("  ratings  K  table s    EM s  iterations  converged  peak GB  gradient ms  target")
    for size in SIZES:
        _print(size, 4, TARGETS.get(size, ""))
    for categories in CATEGORIES:
        _print(200_000, categories)


def _print(size: int, categories: int, target: str = "") -> None:
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "ratings.npz")
        frame = annotate(size // PER_ITEM, RATERS, PER_ITEM, categories)
        np.savez(table, *(frame[name] for name in COLUMNS))
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.annotation_growth", table, str(categories)],
            check=True,
            capture_output=True,
            text=True,
        )
    milliseconds = (
        f"{1e3 * _gradient(frame, categories):13.3f}" if size <= MAX_GRADIENT_SIZE else ""
    )
    print(
        "{ratings:9}{categories:3}{table_s:9.2f}{em_s:8.2f}{iterations:12}{converged!s:>11}"
        "{peak_gb:9.2f}".format(**json.loads(process.stdout)),
        f"{milliseconds:13}",
        target,
        flush=True,
    )


def measure(table: Path, categories: int) -> dict[str, float]:
    """Seconds and peak memory of reading a table and of EM."""
    with np.load(table) as columns:
        frame = pd.DataFrame(dict(zip(COLUMNS, columns.values(), strict=True)))
    times = [time.perf_counter()]
    rated = ratings(frame, categories)
    times.append(time.perf_counter())
    found = rb.DawidSkene().em(rated)
    times.append(time.perf_counter())
    return {
        "ratings": len(frame),
        "categories": categories,
        "table_s": times[1] - times[0],
        "em_s": times[2] - times[1],
        "iterations": len(found.path) - 1,
        "converged": found.converged,
        "peak_gb": peak_gb(),
    }


def _gradient(frame: pd.DataFrame, categories: int) -> float:
    model = rb.DawidSkene()
    problem = model.problem(ratings(frame, categories))
    start = model.start(problem)
    data, (init,) = stan_data(problem, start.centring), start.create_inits(seed=1, chains=1)
    return seconds_per_gradient(stan.folder() / model.program(problem), data, init)


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]), int(sys.argv[2]))))
