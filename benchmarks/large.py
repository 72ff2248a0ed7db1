"""What ratings in parts cost: time, CPU time and peak memory of all processes, by their number.

``python -m benchmarks.large FOLDER --ratings 1e6 1e7 1e8 --jobs 2`` writes tables of so many
ratings into the folder, ten of each item by a thousand raters in four categories, partitions them
and computes estimates, posteriors and coefficients, a line each. ``--raters 1e6`` has many raters
who rate ten items each, for which GaussianICC draws all effects. ``--cluster tcp://host:port``
computes on a cluster of Dask, whose workers must find the folder under the same path. All files are
removed at the end. A folder that `reliabayes.partition` has written is measured as it is, and kept.
"""

from __future__ import annotations

import argparse
import shutil
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import psutil

import reliabayes as rb
from benchmarks.memory import peak_gb_of_tree
from benchmarks.partitions import cpu_seconds, simulate
from reliabayes.partitions import RatingsDataset

REPLICATES = 1000
SOME = 20_000  # ratings of the first table, whose lines count imports


class Step(NamedTuple):
    """What is computed of ratings in parts, and what its line is called."""

    name: str
    compute: Callable[[RatingsDataset], str]


def gaussian(dataset: RatingsDataset, **sampling: Any) -> str:
    """Posterior of the ICC, and the effective number of its draws."""
    fit = rb.GaussianICC().fit(dataset, seed=1, progress=False, **sampling)
    icc = fit.summary().loc["icc"]
    return (
        f"ICC {icc['mean']:.4f} ± {icc['sd']:.4f}, ESS {icc['ess_bulk']:,.0f}, "
        f"R-hat {fit.diagnostics().r_hat:.3f}, {fit.settings.sampler}"
    )


def dawid_skene(dataset: RatingsDataset) -> str:
    """Point estimate of the proportion of right ratings."""
    return repr(rb.DawidSkene().em(dataset))


def coefficients(dataset: RatingsDataset) -> str:
    """Alpha and kappa with intervals by resampling items."""
    options: dict[str, Any] = {"method": "percentile", "replicates": REPLICATES, "seed": 1}
    found = []
    for coefficient in (rb.agreement.krippendorff_alpha, rb.agreement.fleiss_kappa):
        value = coefficient(dataset)
        found.append(f"{float(value):.4f} {value.interval(**options)}")
    return ", ".join(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--ratings", type=float, nargs="+", default=[1e6, 1e7])
    parser.add_argument("--raters", type=float, default=1e3)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--cluster", metavar="URL", help="scheduler of Dask")
    parser.add_argument("--draws", type=int)
    parser.add_argument("--steps", nargs="+", default=["gaussian", "dawid_skene", "coefficients"])
    given = parser.parse_args()
    where: dict[str, Any] = {"n_jobs": given.jobs}
    if given.cluster:
        from distributed import Client

        where = {"client": Client(given.cluster)}  # type: ignore[no-untyped-call]
    computed: dict[str, Callable[[RatingsDataset], str]] = {
        "gaussian": partial(gaussian, draws=given.draws),
        "dawid_skene": dawid_skene,
        "coefficients": coefficients,
    }
    steps = {name: Step(name, compute) for name, compute in computed.items()}
    if (given.folder / "manifest.json").exists():
        measure(rb.scan_ratings(given.folder, **where), [steps[name] for name in given.steps])
        return
    for number in [SOME, *map(int, given.ratings)]:
        own = given.folder / f"large-{number}"
        own.mkdir(parents=True)
        try:
            raters = min(int(given.raters), number // 10)
            source, parts = own / "ratings.parquet", own / "parts"
            simulate(source, number, "grades", raters=raters, categories=4)
            gb = source.stat().st_size / 1e9
            print(f"\n{number:,} ratings by {raters:,} raters, {gb:.2f} GB of Parquet")
            measured("partition", number, partial(rb.partition, source, parts, n_jobs=given.jobs))
            measure(rb.scan_ratings(parts, **where), [steps[name] for name in given.steps])
        finally:
            shutil.rmtree(own)


def measure(dataset: RatingsDataset, steps: Sequence[Step]) -> None:
    """Print a line for each step."""
    for step in steps:
        measured(step.name, len(dataset), lambda: step.compute(dataset))  # noqa: B023


def measured(name: str, number: int, step: Callable[[], object]) -> None:
    """Print what a step takes, and its result."""
    process = psutil.Process()
    began, cpu = time.monotonic(), tree_seconds(process)
    with peak_gb_of_tree() as peak:
        result = step()
    wall, used = time.monotonic() - began, tree_seconds(process) - cpu
    print(
        f"{name:<14} {wall:7.1f} s  {used:7.1f} CPU s  {1e9 * used / number:6.0f} CPU ns a rating  "
        f"{peak():5.2f} GB  {str(result)[:90]}",
        flush=True,
    )


def tree_seconds(process: psutil.Process) -> float:
    """CPU seconds of a process, of its children that have ended, and of those that run."""
    running = (child.cpu_times() for child in process.children(recursive=True))
    return cpu_seconds(process) + sum(times.user + times.system for times in running)


if __name__ == "__main__":
    main()
