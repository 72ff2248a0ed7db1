"""kappa_x against a direct sum over all pairs of ratings, and its time at a million ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import reliabayes as rb
from benchmarks.agreement_timing import evaluated, time_call
from benchmarks.annotated import annotate
from benchmarks.simulated import simulate
from reliabayes.agreement.scales import DistanceName

Distance = Callable[[Any, Any], Any]

PER_POOL = 5  # raters per pool, each of whom rates all items
SMALL, LARGE = 20_000, 1_000_000  # ratings
REPLICATES, ROUNDS = 1000, 3
BLOCK = 100  # ratings of one pool whose pairs are in memory together

DISTANCES: Mapping[DistanceName, Distance] = {
    "nominal": lambda x, y: x != y,
    "absolute": lambda x, y: np.abs(x - y),
    "squared": lambda x, y: (x - y) ** 2,
}


def xrr() -> None:
    """Print seconds of kappa_x, of the sum over all pairs, and of kappa_x with an interval."""
    print(f"\nkappa_x, {ROUNDS} rounds; target: {LARGE:,} ratings in 2 s")
    print(f"{'':26}{f'{SMALL:,} ratings, ms of CPU':^40}{f'{LARGE:,} ratings, s':>36}")
    words = ("ours", "all pairs", "ratio", "max diff", "value", "CPU", "interval", "CPU")
    print(f"{'':26}" + "".join(f"{word:>10}" for word in words), flush=True)
    for distance in DISTANCES:
        _print(f"5 categories, {distance}", _five_categories, distance)
    for distance in ("absolute", "squared"):
        _print(f"real numbers, {distance}", simulate, distance)


def kappa_x_of_pairs(one: NDArray[Any], other: NDArray[Any], distance: Distance) -> float:
    """kappa_x of two pools, (I, R) and (I, S), from the distances of all pairs of ratings."""
    observed = distance(one[:, :, None], other[:, None, :]).mean()
    blocks = np.array_split(one.ravel(), one.size // BLOCK)
    expected = sum(distance(block[:, None], other.ravel()).sum() for block in blocks)
    return float(1 - observed / (expected / (one.size * other.size)))


def _print(name: str, simulated: Callable[..., pd.DataFrame], distance: DistanceName) -> None:
    small, large = (
        simulated(size // (2 * PER_POOL), 2 * PER_POOL, 2 * PER_POOL) for size in (SMALL, LARGE)
    )
    print(f"{name:26}{_against_pairs(small, distance)}{_seconds(large, distance)}", flush=True)


def _five_categories(items: int, raters: int, per_item: int) -> pd.DataFrame:
    return annotate(items, raters, per_item, 5)


def _against_pairs(frame: pd.DataFrame, distance: DistanceName) -> str:
    """CPU milliseconds of both computations, their ratio, and the difference of their values."""
    wide = frame.pivot(index="item", columns="rater", values="rating").to_numpy()
    (one, other), ratings = np.hsplit(wide, 2), _read(frame)

    def cpu_seconds() -> tuple[float, float]:
        ours = time_call(lambda: rb.agreement.kappa_x(ratings, distance).value)
        pairs = time_call(lambda: kappa_x_of_pairs(one, other, DISTANCES[distance]))
        return ours[1], pairs[1]

    rounds = np.array([cpu_seconds() for _ in range(1 + ROUNDS)])[1:]  # the first warms up caches
    ours, pairs = 1e3 * np.median(rounds, axis=0)
    ratio = np.median(rounds[:, 1] / rounds[:, 0])
    values = (
        rb.agreement.kappa_x(ratings, distance).value,
        kappa_x_of_pairs(one, other, DISTANCES[distance]),
    )
    return f"{ours:10.2f}{pairs:10.0f}{ratio:10.0f}{np.abs(np.subtract(*values)):10.1e}"


def _seconds(frame: pd.DataFrame, distance: DistanceName) -> str:
    """Wall-clock and CPU seconds of the value, and of its interval in addition."""
    ratings = _read(frame)
    rounds = [
        time_call(lambda: evaluated(rb.agreement.kappa_x(ratings, distance))) for _ in range(ROUNDS)
    ]
    coefficient = rounds[-1][2]
    *interval, _ = time_call(lambda: coefficient.interval(replicates=REPLICATES))
    value = np.median([seconds for *seconds, _ in rounds], axis=0)
    return "".join(f"{seconds:10.2f}" for seconds in (*value, *interval))


def _read(frame: pd.DataFrame) -> rb.Ratings:
    return rb.Ratings.from_frame(frame.assign(pool=frame["rater"] // PER_POOL), pool="pool")
