"""Time and memory of fits from 10^3 to 10^7 ratings, each fit in its own process."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import pandas as pd

import reliabayes as rb
from benchmarks.memory import peak_gb
from benchmarks.pooled import read
from benchmarks.simulated import simulate
from benchmarks.speed import comparable

RATERS, PER_ITEM = 50, 5
SIZES = tuple(10**power for power in range(3, 8))
TARGETS = {10**6: "8 s, 1.5 GB, ESS of icc > 1000", 10**7: "25 s, 6 GB"}
PARALLEL_CHAINS = 2  # one for each core of the machine in README.md


def growth() -> None:
    """Print seconds, peak memory and ESS of GaussianICC by number of ratings."""
    print(f"\n{RATERS} raters, {PER_ITEM} ratings per item")
    print("  ratings  table s   fit s  table GB   total GB  ESS icc  min ESS  target")
    for size in SIZES:
        found = measured("GaussianICC", simulate(size // PER_ITEM, RATERS, PER_ITEM))
        print(
            "{ratings:9}{table_s:9.2f}{fit_s:8.2f}{table_gb:10.2f}{peak_gb:11.2f}{ess_icc:9.0f}"
            "{ess_min:9.0f}".format(**found),
            TARGETS.get(size, ""),
            sep="  ",
            flush=True,
        )


def measured(model: str, frame: pd.DataFrame) -> dict[str, float]:
    """Seconds and peak memory of reading a table and of a fit, in a new process."""
    with tempfile.TemporaryDirectory() as folder:
        table = Path(folder, "ratings.pkl")
        frame.to_pickle(table)
        process = subprocess.run(
            [sys.executable, "-m", "benchmarks.growth", model, table],
            check=True,
            capture_output=True,
            text=True,
        )
    found: dict[str, float] = json.loads(process.stdout)
    return found


def _measure(model: str, table: Path) -> dict[str, float]:
    frame = pd.read_pickle(table)
    times = [time.perf_counter()]
    ratings = read(frame)
    times.append(time.perf_counter())
    table_gb = peak_gb()
    fit = getattr(rb, model)().fit(ratings, seed=1, progress=False)
    times.append(time.perf_counter())
    ess = fit.summary(names=list(comparable(fit.quantities)))["ess_bulk"]
    steps = float(fit.sample_stats["n_steps"].mean())
    iterations = fit.settings.chains * (fit.settings.warmup + fit.settings.draws)
    sampling_s = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
    return {
        "ratings": len(frame),
        "table_s": times[1] - times[0],
        "fit_s": times[2] - times[1],
        "table_gb": table_gb,
        "peak_gb": peak_gb() + PARALLEL_CHAINS * _largest_child_gb(),
        "ess_icc": ess[ess.index.str.match(r"icc\b")].min(),
        "ess_min": ess.min(),
        "steps": steps,
        "step_ms": 1e3 * sampling_s / (steps * iterations),
    }


def _largest_child_gb() -> float:
    return resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    print(json.dumps(_measure(sys.argv[1], Path(sys.argv[2]))))
