"""Time and memory of coefficients and intervals, from 10^3 to 10^7 ratings."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.agreement_timing import evaluated, time_call
from benchmarks.annotated import annotate
from benchmarks.memory import peak_gb
from reliabayes.agreement import Coefficient

RATERS, PER_ITEM, CATEGORIES = 50, 5, 5
COLUMNS = ("item", "rater", "rating")
SIZES = tuple(10**power for power in range(3, 8))
REPLICATES = 1000

COEFFICIENTS: Mapping[str, Callable[[rb.Ratings], Coefficient]] = {
    "alpha, nominal": partial(rb.agreement.krippendorff_alpha, metric="nominal"),
    "alpha, ordinal": partial(rb.agreement.krippendorff_alpha, metric="ordinal"),
    "alpha, interval": partial(rb.agreement.krippendorff_alpha, metric="interval"),
    "Fleiss' kappa": rb.agreement.fleiss_kappa,
    "Gwet's AC1": rb.agreement.gwet_ac1,
    "ICC(1,1)": partial(rb.agreement.icc, name="ICC(1,1)"),
    "ICC(2,1)": partial(rb.agreement.icc, name="ICC(2,1)"),
    "kappa_x, absolute": partial(rb.agreement.kappa_x, distance="absolute"),
}


def growth() -> None:
    """Print seconds and peak memory of a table, a coefficient and its interval."""
    print(f"\n{RATERS} raters, {PER_ITEM} ratings per item, {CATEGORIES} categories, two pools")
    print("target: 10,000,000 ratings in 4 GB")
    print("                      ratings  table s  value s  interval s  table GB   total GB")
    for size in SIZES:
        with tempfile.TemporaryDirectory() as folder:
            table = Path(folder, "ratings.npz")
            frame = annotate(size // PER_ITEM, RATERS, PER_ITEM, CATEGORIES)
            np.savez(table, *(frame[name] for name in COLUMNS))
            del frame
            for name in COEFFICIENTS:
                print(f"{name:20}{size:9}{_measured_apart(name, table)}", flush=True)


def _measured_apart(name: str, table: Path) -> str:
    """Measurements of a new process, so that its peak memory is its own; or its last error."""
    process = subprocess.run(
        [sys.executable, "-m", "benchmarks.agreement_growth", name, table],
        capture_output=True,
        text=True,
    )
    if process.returncode:
        return f"  {process.stderr.strip().splitlines()[-1]}"
    return "{table_s:9.2f}{value_s:9.3f}{interval_s:12.2f}{table_gb:10.2f}{peak_gb:11.2f}".format(
        **json.loads(process.stdout)
    )


def measure(name: str, table: Path) -> dict[str, float]:
    """Seconds and peak memory of reading a table, of a coefficient, and of its interval."""
    with np.load(table) as columns:
        frame = pd.DataFrame(dict(zip(COLUMNS, columns.values(), strict=True)))
    frame["pool"] = frame["rater"] % 2
    table_s, _, ratings = time_call(lambda: rb.Ratings.from_frame(frame, pool="pool"))
    table_gb = peak_gb()
    value_s, _, coefficient = time_call(lambda: evaluated(COEFFICIENTS[name](ratings)))
    interval_s, _, _ = time_call(lambda: coefficient.interval(replicates=REPLICATES))
    return {
        "table_s": table_s,
        "value_s": value_s,
        "interval_s": interval_s,
        "table_gb": table_gb,
        "peak_gb": peak_gb(),
    }


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1], Path(sys.argv[2]))))
