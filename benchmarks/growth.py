"""How time and memory grow from 10^3 to 10^7 ratings; each size in a process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.simulated import simulate

RATERS, PER_ITEM = 50, 5
COLUMNS = ("item", "rater", "rating")
SIZES = tuple(10**power for power in range(3, 8))
PROMISED = {10**6: "8 s, 1.5 GB, ESS of icc > 1000", 10**7: "25 s, 6 GB"}
AT_ONCE = 2  # chains sampled at once, one for each core of the machine in README.md


def growth() -> None:
    """Print seconds, peak memory and ESS by number of ratings."""
    print(f"\n{RATERS} raters, {PER_ITEM} ratings an item")
    print("  ratings  table s   fit s  table GB  in all GB  ESS icc  min ESS  promised")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "ratings.npz")
            frame = simulate(size // PER_ITEM, RATERS, PER_ITEM)
            np.savez(table, *(frame[name] for name in COLUMNS))
            del frame
            said = subprocess.run(
                [sys.executable, "-m", "benchmarks.growth", table],
                check=True,
                capture_output=True,
                text=True,
            )
        print(
            "{ratings:9}{table_s:9.2f}{fit_s:8.2f}{table_gb:10.2f}{peak_gb:11.2f}{ess_icc:9.0f}"
            "{ess_min:9.0f}".format(**json.loads(said.stdout)),
            PROMISED.get(size, ""),
            sep="  ",
            flush=True,
        )


def measure(table: Path) -> dict[str, float]:
    """Seconds and peak memory of reading a frame and of a fit, each once."""
    import reliabayes as rb

    with np.load(table) as columns:
        frame = pd.DataFrame(dict(zip(COLUMNS, columns.values(), strict=True)))
    times = [time.perf_counter()]
    ratings = rb.Ratings.from_frame(frame)
    times.append(time.perf_counter())
    table_gb = _peak(resource.RUSAGE_SELF)
    fit = rb.GaussianICC().fit(ratings, seed=1, progress=False)
    times.append(time.perf_counter())
    ess = fit.summary()["ess_bulk"]
    return {
        "ratings": len(frame),
        "table_s": times[1] - times[0],
        "fit_s": times[2] - times[1],
        "table_gb": table_gb,
        "peak_gb": _peak(resource.RUSAGE_SELF) + AT_ONCE * _peak(resource.RUSAGE_CHILDREN),
        "ess_icc": ess["icc"],
        "ess_min": ess.min(),
    }


def _peak(who: int) -> float:
    """Peak resident memory in GB; of children, that of the largest."""
    return resource.getrusage(who).ru_maxrss * 1024 / 1e9


if __name__ == "__main__":
    print(json.dumps(measure(Path(sys.argv[1]))))
