"""DawidSkene and MACE against other packages, and their growth with ratings and categories.

    python -m benchmarks.annotation [em] [gradient] [peers] [growth] [samplers] [sizes]
        [estimates] [crowds]

The candidates take turns within one session, so that other load on the machine affects all of them
equally. README.md has the results.
"""

# crowd-kit is optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

import reliabayes as rb
from benchmarks.annotated import annotate, ratings
from benchmarks.annotation_crowds import crowds, estimates
from benchmarks.annotation_growth import growth
from benchmarks.annotation_samplers import samplers, sizes
from benchmarks.gradient import seconds_per_gradient
from benchmarks.speed import alternate
from benchmarks.textbook import build_textbook, textbook_data
from reliabayes.inference import stan
from reliabayes.inference.problem import stan_data
from reliabayes.models.category_model import CategoryModel

ROUNDS = 3
ITEMS, PER_ITEM, RATERS = 40_000, 5, 100
ITERATIONS = 21
MOST_OF_NUMPYRO = 100_000  # ratings

Estimated = tuple[int, "pd.Series[int]"]  # iterations done, and the category of each item
RunEM = Callable[[pd.DataFrame, int, int], Estimated]  # of a table, categories, iterations


def main() -> None:
    """Run the parts named on the command line, or all of them."""
    parts = {"em": em, "gradient": gradient, "peers": peers, "growth": growth}
    parts |= {"samplers": samplers, "sizes": sizes, "estimates": estimates, "crowds": crowds}
    for name in sys.argv[1:] or parts:
        parts[name]()


def em() -> None:
    """Print milliseconds of one EM iteration at 200,000 ratings, here and in crowd-kit."""
    from crowdkit.aggregation import MACE, DawidSkene

    runs: dict[str, tuple[RunEM, RunEM]] = {
        "DawidSkene": (
            partial(_ours, rb.DawidSkene()),
            partial(_theirs, lambda n: DawidSkene(n_iter=n, tol=-np.inf)),
        ),
        "MACE": (
            partial(_ours, rb.MACE()),
            partial(_theirs, lambda n: MACE(n_restarts=1, n_iter=n, method="em")),
        ),
    }
    print(
        f"\nEM, {ITEMS * PER_ITEM:,} ratings, {ROUNDS} rounds; target: a tenth of crowd-kit's time"
    )
    print("              K  ms, ours  crowd-kit  ratio  s per call   crowd-kit  ratio  same items")
    for categories in (4, 2):
        frame = annotate(ITEMS, RATERS, PER_ITEM, categories)
        for name, pair in runs.items():
            timed = [[_timed(run, frame, categories) for run in pair] for _ in range(ROUNDS)]
            seconds = [[each[:2] for each in both] for both in timed]
            iteration, call = np.median(seconds, axis=0).T
            ours, theirs = (each[2] for each in timed[0])
            print(
                f"{name:14}{categories:2}{1e3 * iteration[0]:10.2f}{1e3 * iteration[1]:11.2f}"
                f"{iteration[1] / iteration[0]:7.1f}"
                f"{call[0]:13.3f}{call[1]:11.3f}{call[1] / call[0]:7.1f}"
                f"{(ours == theirs.reindex(ours.index)).mean():12.4f}",
                flush=True,
            )


def _timed(run: RunEM, frame: pd.DataFrame, categories: int) -> tuple[float, float, pd.Series[int]]:
    """Seconds of an iteration and of a whole call, and the category of each item.

    The seconds of an iteration are those that many iterations add to one, divided by their number.
    """
    times = [time.perf_counter()]
    n_short, _ = run(frame, categories, 1)
    times.append(time.perf_counter())
    n_long, found = run(frame, categories, ITERATIONS)
    times.append(time.perf_counter())
    short, long = np.diff(times)
    return (long - short) / (n_long - n_short), long, found


def _ours(model: CategoryModel, frame: pd.DataFrame, categories: int, n: int) -> Estimated:
    found = model.em(ratings(frame, categories), max_iterations=n, tolerance=0.0)
    return len(found.path) - 1, found.items()["category"]


def _theirs(aggregator: Callable[[int], object], frame: pd.DataFrame, _: int, n: int) -> Estimated:
    table = frame.rename(columns={"item": "task", "rater": "worker", "rating": "label"})
    return n, aggregator(n).fit_predict(table)  # type: ignore[attr-defined]


def gradient() -> None:
    """Print milliseconds of one gradient at 200,000 ratings in 4 categories."""
    print(f"\nGradient, {ITEMS * PER_ITEM:,} ratings, 4 categories, {ROUNDS} rounds; target: 4 ms,")
    print("a quarter of the time of the textbook program")
    rated = ratings(annotate(ITEMS, RATERS, PER_ITEM, 4), 4)
    cases: tuple[tuple[CategoryModel, tuple[tuple[str, ...], ...]], ...] = (
        (rb.DawidSkene(), ((), ("--O1",))),  # each with the options of stanc to compare
        (rb.MACE(), ((),)),
    )
    with tempfile.TemporaryDirectory() as folder:
        for model, options in cases:
            problem = model.problem(rated)
            start = model.start(problem)
            (init,) = start.create_inits(seed=1, chains=1)
            name, data = model.program(problem), stan_data(problem, start.centring)
            timed: dict[str, Callable[[], float]] = {
                name: partial(seconds_per_gradient, stan.folder() / name, data, init)
            }
            plain = textbook_data(problem, rated)
            for option in options:
                program = build_textbook(type(model), Path(folder), *option)
                timed[program.name] = partial(seconds_per_gradient, program, plain, init)
            _print_ratios(timed)


def _print_ratios(timed: Mapping[str, Callable[[], float]]) -> None:
    rounds = np.array([[measure() for measure in timed.values()] for _ in range(ROUNDS)])
    for name, each in zip(timed, rounds.T, strict=True):
        ratio = np.median(each / rounds[:, 0])
        print(f"{name:28}{1e3 * np.median(each):9.3f} ms{ratio:9.2f}", flush=True)


def peers() -> None:
    """Print the smallest bulk ESS per second of whole fits, all started near the mode."""
    from benchmarks.annotation_peers import CHAINS, numpyro_sampler, ours, textbook_sampler

    print("\nWhole fits; target: at least 10 times the ESS/s of the textbook program")
    cases: tuple[tuple[CategoryModel, int, int, int, int, int], ...] = (
        (rb.DawidSkene(), 800, 160, 10, 2, CHAINS),
        (rb.DawidSkene(), 2_000, 50, 5, 4, CHAINS),
        (rb.DawidSkene(), 2_000, 50, 5, 10, 2),  # others: many minutes
        (rb.MACE(), 800, 160, 10, 2, CHAINS),
        (rb.DawidSkene(), ITEMS, RATERS, PER_ITEM, 4, 2),  # textbook: minutes per chain
    )
    for model, items, raters, per_item, categories, chains in cases:
        frame = annotate(items, raters, per_item, categories)
        rated = ratings(frame, categories)
        problem = model.problem(rated)
        start = model.start(problem)
        inits = start.create_inits(seed=0, chains=chains)
        print(f"\n{type(model).__name__}: {rated!r}, {chains} chains")
        with tempfile.TemporaryDirectory() as folder:
            program = build_textbook(type(model), Path(folder))
            samplers = {
                "reliabayes": ours(model, chains),
                "reliabayes, NUTS": ours(model, chains, "nuts"),
                "textbook Stan": textbook_sampler(model, problem, program, inits),
            }
            if len(rated) < MOST_OF_NUMPYRO:
                samplers |= {
                    "numpyro": numpyro_sampler(model, problem, start.point, chains),
                    "numpyro, compilation only": numpyro_sampler(
                        model, problem, start.point, chains, draws=4
                    ),
                }
            ours(model, chains)(rated, 0)  # warm-up: imports and caches
            alternate(samplers, rated, rounds=1)
        _print_point(model, frame, categories)


def _print_point(model: CategoryModel, frame: pd.DataFrame, categories: int) -> None:
    """Seconds of crowd-kit, which estimates a point and no posterior."""
    import crowdkit.aggregation

    theirs = getattr(crowdkit.aggregation, type(model).__name__)
    began = time.perf_counter(), time.process_time()
    _theirs(lambda n: theirs(n_iter=n), frame, categories, ITERATIONS)
    seconds = time.perf_counter() - began[0], time.process_time() - began[1]
    print(f"{'crowd-kit, a point by EM':32}{seconds[0]:9.2f}{seconds[1]:9.2f}", flush=True)


if __name__ == "__main__":
    main()
