"""Gibbs sampling of ratings in parts: time, effective sample sizes, memory of all processes.

``python -m benchmarks.categories_in_parts FOLDER --ratings 1e7`` writes a table of so many ratings
in four categories into the folder, partitions it there, fits DawidSkene, and removes all.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import arviz as az
import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import reliabayes as rb
from benchmarks.memory import peak_gb_of_tree
from reliabayes.families.categories import parts
from reliabayes.results.summaries import scalars

RATERS, PER_ITEM, CATEGORIES = 1000, 10, 4
ITEMS = 100_000  # of a chunk that is written
PREVALENCE = (0.4, 0.3, 0.2, 0.1)


def simulate(path: Path, n_ratings: int) -> None:
    """Ratings by raters who are right with a probability from 0.4 to 0.95, or else guess."""
    rng = np.random.default_rng(1)
    accuracy = rng.uniform(0.4, 0.95, RATERS)
    schema = pa.schema([("item", pa.int64()), ("rater", pa.int32()), ("rating", pa.int8())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, n_ratings // PER_ITEM, ITEMS):
            number = min(ITEMS, n_ratings // PER_ITEM - first)
            item = np.repeat(np.arange(first, first + number), PER_ITEM)
            # Ten raters in steps of the same random length are distinct.
            start, step = rng.integers(0, RATERS, (number, 1)), rng.integers(1, 100, (number, 1))
            rater = ((start + step * np.arange(PER_ITEM)) % RATERS).ravel()
            truth = np.repeat(rng.choice(CATEGORIES, number, p=PREVALENCE), PER_ITEM)
            guess = rng.integers(0, CATEGORIES, len(truth))
            rating = np.where(rng.random(len(truth)) < accuracy[rater], truth, guess)
            columns = item, rater, rating
            arrays = [pa.array(x).cast(kind) for x, kind in zip(columns, schema.types, strict=True)]
            writer.write_table(pa.table(arrays, schema=schema))


def measured(dataset: rb.RatingsDataset, draws: int | None) -> None:
    """Fit, and print time, effective sample sizes and peak memory."""
    began = time.monotonic()
    with peak_gb_of_tree() as peak:
        model = rb.DawidSkene()
        start = model.starts(model.problem_of_parts(dataset))
        em = time.monotonic() - began
        fit = model.fit(dataset, seed=1, draws=draws, progress=False)
    wall = time.monotonic() - began - em
    settings = fit.settings
    sweeps = settings.warmup + settings.draws
    sizes = [
        float(az.ess(values))  # type: ignore[no-untyped-call]
        for name in ("prevalence", "accuracy")
        for _, values in scalars(name, fit.quantities[name])
    ]
    print(
        f"{len(dataset):>13,} ratings  {len(dataset.parts):>4} parts  start {em:6.1f} s "
        f"({len(start[0].path)} steps)  fit {wall:7.1f} s  {sweeps} sweeps of "
        f"{settings.chains} chains  {(wall - em) / sweeps:.2f} s a sweep  "
        f"{1e9 * (wall - em) / sweeps / settings.chains / len(dataset):.1f} ns a rating and chain  "
        f"smallest ESS {min(sizes):,.0f}  {peak():.2f} GB",
        flush=True,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ratings", type=float, nargs="+", default=[1e7])
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--draws", type=int)
    given = parser.parse_args()
    parts.MOST_COUNTS = 0  # fewer than 10 million counts, too, are sampled in parts
    for number in map(int, given.ratings):
        own = given.folder / f"categories-{number}"
        own.mkdir(parents=True)
        try:
            simulate(own / "ratings.parquet", number)
            dataset = rb.partition(
                own / "ratings.parquet", own / "parts", scale="nominal", n_jobs=given.jobs
            )
            measured(dataset, given.draws)
        finally:
            shutil.rmtree(own)


if __name__ == "__main__":
    main()
