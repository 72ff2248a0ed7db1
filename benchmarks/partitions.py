"""Partitioning ratings that do not fit in memory: time, and peak memory of all processes.

``python -m benchmarks.partitions FOLDER --ratings 1e7`` writes a table of so many ratings into the
folder, partitions it there, measures both, and removes all.
"""

from __future__ import annotations

import argparse
import shutil
import time
from pathlib import Path

import numpy as np
import polars as pl
import psutil
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

import reliabayes as rb
from benchmarks.memory import peak_gb_of_tree

RATERS = 1000
PER_ITEM = 10
ITEMS = 100_000  # of a chunk that is written


def simulate(
    path: Path, n_ratings: int, kind: str, *, raters: int = RATERS, categories: int = 5
) -> None:
    """Write grades from 1, or scores with 16 bits, of items by ten of the raters each.

    The ratings are in random order within chunks of a million, in which items are new.
    """
    rng = np.random.default_rng(1)
    leniency = rng.normal(0, 0.3, raters)
    types = [("item", pa.int64()), ("rater", pa.int32()), ("rating", pa.float64())]
    schema = pa.schema(types)
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        for first in range(0, n_ratings // PER_ITEM, ITEMS):
            number = min(ITEMS, n_ratings // PER_ITEM - first)
            item = np.repeat(np.arange(first, first + number), PER_ITEM)
            # Ten raters in steps of the same random length are distinct.
            start, step = rng.integers(0, raters, (number, 1)), rng.integers(1, 100, (number, 1))
            rater = (start + step * np.arange(PER_ITEM)) % raters
            score = rng.normal(size=number)[:, None] + leniency[rater]
            score = score + rng.normal(size=rater.shape)
            grades = np.clip(np.rint(score + (categories + 1) / 2), 1, categories)
            rating = grades if kind == "grades" else score
            order = rng.permutation(number * PER_ITEM)
            columns = item[order], rater.ravel()[order], rating.ravel()[order]
            arrays = [
                pa.array(np.round(values, 4)).cast(kind)
                for values, kind in zip(columns, schema.types, strict=True)
            ]
            writer.write_table(pa.table(arrays, schema=schema))


def measured(source: Path, folder: Path, n_jobs: int) -> rb.RatingsDataset:
    """Partition, and print time, CPU time and peak memory."""
    process = psutil.Process()
    began, cpu = time.monotonic(), cpu_seconds(process)
    with peak_gb_of_tree() as peak:
        dataset = rb.partition(source, folder, n_jobs=n_jobs)
    wall, used = time.monotonic() - began, cpu_seconds(process) - cpu
    size = sum(file.stat().st_size for file in folder.rglob("*.parquet"))
    print(
        f"{len(dataset):>13,} ratings  {len(dataset.parts):>4} parts  {wall:7.1f} s  "
        f"{used:7.1f} CPU s  {1e9 * used / len(dataset):5.0f} CPU ns a rating  "
        f"{peak():5.2f} GB  {size / len(dataset):4.1f} bytes a rating  "
        f"source {source.stat().st_size / 1e9:.2f} GB",
        flush=True,
    )
    return dataset


def cpu_seconds(process: psutil.Process) -> float:
    """Of a process and of its children that have ended."""
    times = process.cpu_times()
    return float(times.user + times.system + times.children_user + times.children_system)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ratings", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--kind", choices=["grades", "scores"], default="grades")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--csv", action="store_true", help="partition a CSV file")
    given = parser.parse_args()
    for number in [1e4, *given.ratings]:  # the first imports what is needed
        own = given.folder / f"partitions-{int(number)}"
        own.mkdir(parents=True)
        try:
            source = own / "ratings.parquet"
            simulate(source, int(number), given.kind)
            if given.csv:
                pl.scan_parquet(source).sink_csv(own / "ratings.csv")
                source = own / "ratings.csv"
            measured(source, own / "parts", given.jobs)
        finally:
            shutil.rmtree(own)


if __name__ == "__main__":
    main()
