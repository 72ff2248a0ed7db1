"""kappa_x against all pairs of ratings, at a size that these can bear, and at a million ratings."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import reliabayes as rb
from benchmarks.agreement_timing import evaluated, spent
from benchmarks.annotated import annotate
from benchmarks.simulated import simulate
from reliabayes.agreement.scales import DistanceName

Far = Callable[[Any, Any], Any]

PER_POOL = 5  # raters, each of whom rates all items
FEW, MANY = 20_000, 1_000_000  # ratings
REPLICATES, ROUNDS = 1000, 3
BLOCK = 100  # ratings of one pool that meet all of the other together

FAR: Mapping[DistanceName, Far] = {
    "nominal": lambda x, y: x != y,
    "absolute": lambda x, y: np.abs(x - y),
    "squared": lambda x, y: (x - y) ** 2,
}


def xrr() -> None:
    """Print seconds of kappa_x and of all pairs, and of kappa_x with an interval."""
    print(f"\nkappa_x, {ROUNDS} rounds; promised: {MANY:,} ratings in 2 s")
    print(f"{'':26}{f'{FEW:,} ratings, ms of CPU':^40}{f'{MANY:,} ratings, s':>36}")
    words = ("ours", "all pairs", "ratio", "differ by", "value", "of CPU", "interval", "of CPU")
    print(f"{'':26}" + "".join(f"{word:>10}" for word in words), flush=True)
    for distance in FAR:
        _print(f"5 categories, {distance}", _of_categories, distance)
    for distance in ("absolute", "squared"):
        _print(f"real numbers, {distance}", simulate, distance)


def kappa_x_of_pairs(one: NDArray[Any], other: NDArray[Any], far: Far) -> float:
    """kappa_x of tables (I, R) and (I, S) of two pools, from the distance of every two ratings."""
    observed = far(one[:, :, None], other[:, None, :]).mean()
    blocks = np.array_split(one.ravel(), one.size // BLOCK)
    expected = sum(far(block[:, None], other.ravel()).sum() for block in blocks)
    return float(1 - observed / (expected / (one.size * other.size)))


def _print(name: str, simulated: Callable[..., pd.DataFrame], distance: DistanceName) -> None:
    few, many = (
        simulated(size // (2 * PER_POOL), 2 * PER_POOL, 2 * PER_POOL) for size in (FEW, MANY)
    )
    small, large = _compared(few, distance), _spent(many, distance)
    print(f"{name:26}{small}{large}", flush=True)


def _of_categories(items: int, raters: int, per_item: int) -> pd.DataFrame:
    return annotate(items, raters, per_item, 5)


def _compared(frame: pd.DataFrame, distance: DistanceName) -> str:
    """Milliseconds of processors, ours and of all pairs, their ratio, and how far values differ."""
    wide = frame.pivot(index="item", columns="rater", values="rating").to_numpy()
    (one, other), ratings = np.hsplit(wide, 2), _read(frame)

    def timed() -> tuple[float, float]:
        ours = spent(lambda: rb.agreement.kappa_x(ratings, distance).value)
        pairs = spent(lambda: kappa_x_of_pairs(one, other, FAR[distance]))
        return ours[1], pairs[1]

    rounds = np.array([timed() for _ in range(1 + ROUNDS)])[1:]  # the first loads what loads once
    ours, pairs = 1e3 * np.median(rounds, axis=0)
    ratio = np.median(rounds[:, 1] / rounds[:, 0])
    values = (
        rb.agreement.kappa_x(ratings, distance).value,
        kappa_x_of_pairs(one, other, FAR[distance]),
    )
    return f"{ours:10.2f}{pairs:10.0f}{ratio:10.0f}{np.abs(np.subtract(*values)):10.1e}"


def _spent(frame: pd.DataFrame, distance: DistanceName) -> str:
    """Seconds by the clock and of processors: of the value, and once of its interval beyond."""
    ratings = _read(frame)
    rounds = [
        spent(lambda: evaluated(rb.agreement.kappa_x(ratings, distance))) for _ in range(ROUNDS)
    ]
    coefficient = rounds[-1][2]
    *interval, _ = spent(lambda: coefficient.interval(replicates=REPLICATES))
    value = np.median([seconds for *seconds, _ in rounds], axis=0)
    return "".join(f"{seconds:10.2f}" for seconds in (*value, *interval))


def _read(frame: pd.DataFrame) -> rb.Ratings:
    return rb.Ratings.from_frame(frame.assign(pool=frame["rater"] // PER_POOL), pool="pool")
