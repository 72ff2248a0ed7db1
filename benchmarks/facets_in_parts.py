"""G studies of ratings in parts: seconds to sum and to fit, and peak memory of the process.

``python -m benchmarks.facets_in_parts FOLDER --ratings 1e7 --kept 0.95`` writes ratings of items by
three raters, or ``--raters``, on two occasions into the folder, of which such a share is kept,
partitions them there, fits them in a process of its own, and removes all.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import reliabayes as rb
from benchmarks.memory import peak_gb

OCCASIONS = 2
ITEMS = 100_000  # of a chunk that is written
DESIGN = "item x rater x occasion"


def simulate(path: Path, n_items: int, raters: int, kept: float) -> None:
    """Write scores, in chunks of items that are new."""
    rng = np.random.default_rng(1)
    cells = raters * OCCASIONS
    rater, occasion = np.divmod(np.arange(cells), OCCASIONS)
    of_rater, of_occasion = rng.normal(0, 0.5, raters), rng.normal(0, 0.3, OCCASIONS)
    types = [("item", pa.int64()), ("rater", pa.int32()), ("occasion", pa.int32())]
    schema = pa.schema([*types, ("rating", pa.float64())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, n_items, ITEMS):
            number = min(ITEMS, n_items - first)
            score = rng.normal(size=(number, 1)) + of_rater[rater] + of_occasion[occasion]
            score = score + rng.normal(0, 0.4, (number, raters))[:, rater]
            score = score + rng.normal(0, 0.3, (number, OCCASIONS))[:, occasion]
            score = score + rng.normal(size=(number, cells))
            is_kept = rng.random((number, cells)) < kept
            item = np.broadcast_to(np.arange(first, first + number)[:, None], is_kept.shape)
            columns = [
                item,
                np.broadcast_to(rater, is_kept.shape),
                np.broadcast_to(occasion, is_kept.shape),
                np.round(score, 2),
            ]
            arrays = [
                pa.array(column[is_kept]).cast(kind)
                for column, kind in zip(columns, schema.types, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def fitted(folder: Path, n_jobs: int) -> None:
    """Print seconds and peak memory of a fit with default settings."""
    dataset = rb.scan_ratings(folder, n_jobs=n_jobs)
    model = rb.GStudy(design=DESIGN)
    began = time.monotonic(), time.process_time()
    model.problem_of_parts(dataset)
    summed = time.monotonic()
    fit = model.fit(dataset, seed=1, progress=False)
    ended = time.monotonic(), time.process_time()
    checks = fit.diagnostics()
    print(
        f"{len(dataset):>12,} ratings {len(dataset.parts):>3} parts: "
        f"sums {summed - began[0]:6.1f} s, "
        f"sums and draws {ended[0] - summed:6.1f} s, together {ended[1] - began[1]:6.1f} CPU s, "
        f"{peak_gb():5.2f} GB, {fit.settings.sampler}, R-hat {checks.r_hat:.3f}, "
        f"smallest ESS {checks.ess_bulk:,.0f}",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ratings", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--kept", type=float, nargs="+", default=[1.0, 0.95])
    parser.add_argument("--raters", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--fit", action="store_true", help="fit the parts that the folder has")
    given = parser.parse_args()
    if given.fit:
        fitted(given.folder, given.jobs)
        return
    for number in given.ratings:
        for kept in given.kept:
            own = given.folder / f"facets-{int(number)}-{kept}"
            own.mkdir(parents=True)
            try:
                source = own / "ratings.parquet"
                n_items = round(number / kept / given.raters / OCCASIONS)
                simulate(source, n_items, given.raters, kept)
                rb.partition(source, own / "parts", facets=["occasion"], scale="numeric")
                source.unlink()
                command = [sys.executable, "-m", "benchmarks.facets_in_parts", str(own / "parts")]
                subprocess.run([*command, "--fit", "--jobs", str(given.jobs)], check=True)
            finally:
                shutil.rmtree(own)


if __name__ == "__main__":
    main()
