"""Coefficients and bootstrap intervals against other packages.

None of these has a bootstrap, so that their coefficients are recomputed on resampled items.
"""

# irrCAC is optional and may be missing where types are checked.
# mypy: disable-error-code="import-not-found,import-untyped"

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from irrCAC.raw import CAC
from numpy.typing import NDArray

import reliabayes as rb
from benchmarks.agreement_packages import Table
from benchmarks.agreement_timing import time_call
from benchmarks.annotated import annotate
from benchmarks.simulated import simulate
from reliabayes.agreement import Coefficient
from reliabayes.agreement.alpha import Metric
from reliabayes.agreement.icc_names import NAMES
from reliabayes.arrays import Array

Indices = NDArray[np.intp]
Ours = Callable[[rb.Ratings], Coefficient]
Peer = Callable[[Indices], Any]  # one or several values for the resampled items (I,)

RATINGS, REPLICATES, ROUNDS = 100_000, 1000, 3
MIN_REPLICATES, SECONDS = 3, 0.5  # timed for each peer, and extrapolated to all replicates
REPEATS = 5  # of the value on all items


def compare() -> None:
    """Print seconds of 1,000 replicates and of one value at 100,000 ratings, by package."""
    print(f"\n{RATINGS:,} ratings, {ROUNDS} rounds, CPU seconds; target: a tenth of theirs")
    print(f"{'':44}{'1,000 replicates':^28}{'one value':^28}")
    words = "".join(
        f"{word:>{width}}" for word, width in 2 * (("ours", 9), ("theirs", 10), ("ratio", 9))
    )
    print(f"{'':44}{words}  difference", flush=True)
    for comparison in comparisons():
        comparison.seconds(0)  # warm-up: imports and caches
        rounds = np.array([comparison.seconds(seed) for seed in range(1, ROUNDS + 1)])
        median, ratio = np.median(rounds, axis=0), np.median(rounds / rounds[..., :1], axis=0)
        difference = comparison.differences()
        for nth, peer in enumerate(comparison.peers, start=1):
            cells = zip(median[:, 0], median[:, nth], ratio[:, nth], strict=True)
            numbers = "".join("{:9.4f}{:10.4f}{:9.1f}".format(*cell) for cell in cells)
            print(f"{comparison.name:30}{peer:14}{numbers}{difference[peer]:12.1e}", flush=True)


@dataclass(frozen=True)
class Comparison:
    """Coefficients of this package, and other packages that compute the same ones."""

    name: str
    ratings: rb.Ratings
    ours: tuple[Ours, ...]
    peers: Mapping[str, Peer]

    def seconds(self, seed: int) -> Array:
        """CPU seconds (2, 1 + peers) of all replicates, and of one value; this package first."""
        rng, items = np.random.default_rng(seed), self.ratings.n_items
        times = [(_per_call(partial(self._intervals, seed), 1), _per_call(self._values, REPEATS))]
        for peer in self.peers.values():
            one = _per_call(partial(peer, np.arange(items)), REPEATS)
            number = int(np.clip(SECONDS / one, MIN_REPLICATES, REPLICATES))
            replicate = _per_call(partial(_replicate, peer, items, rng), number)
            times.append((REPLICATES * replicate, one))
        return np.array(times).T

    def differences(self) -> dict[str, float]:
        """Largest difference from the values of each peer."""
        items, values = np.arange(self.ratings.n_items), self._values()
        return {name: np.abs(values - peer(items)).max() for name, peer in self.peers.items()}

    def _values(self) -> Array:
        return np.array([coefficient(self.ratings).value for coefficient in self.ours])

    def _intervals(self, seed: int) -> None:
        for coefficient in self.ours:
            coefficient(self.ratings).interval(
                method="percentile", replicates=REPLICATES, seed=seed
            )


def comparisons() -> Iterator[Comparison]:
    """All comparisons: of 5 raters and of 2, of categories and of distinct numbers."""
    for categories in (5, 21):
        yield from _any_number_of_raters(Table.of(annotate(RATINGS // 5, 5, 5, categories)))
    for categories in (5, 21):
        yield from _two_raters(Table.of(annotate(RATINGS // 2, 2, 2, categories)))
    for table in (
        Table.of(annotate(RATINGS // 5, 5, 5, 5)),
        Table.of(simulate(RATINGS // 5, 5, 5)),
    ):
        iccs = tuple(partial(rb.agreement.icc, name=name) for name in NAMES)
        yield Comparison(f"six ICCs, {table}", table.ratings, iccs, {"pingouin": table.pingouin})


def _any_number_of_raters(table: Table) -> Iterator[Comparison]:
    identity = "identity"
    weights: Mapping[Metric, str | None]
    weights = {"nominal": identity, "ordinal": None, "interval": "quadratic"}  # names in irrCAC
    for metric, weight in weights.items():
        peers: dict[str, Peer] = {"krippendorff": partial(table.krippendorff, metric)}
        if weight:
            peers["irrCAC"] = partial(table.irrcac, CAC.krippendorff, weight)
        alpha = partial(rb.agreement.krippendorff_alpha, metric=metric)
        yield Comparison(f"alpha, {metric}, {table}", table.ratings, (alpha,), peers)
    fleiss: Mapping[str, Peer] = {
        "statsmodels": table.fleiss,
        "irrCAC": partial(table.irrcac, CAC.fleiss, identity),
    }
    yield Comparison(f"Fleiss' kappa, {table}", table.ratings, (rb.agreement.fleiss_kappa,), fleiss)
    gwet = {"irrCAC": partial(table.irrcac, CAC.gwet, identity)}
    yield Comparison(f"Gwet's AC1, {table}", table.ratings, (rb.agreement.gwet_ac1,), gwet)


def _two_raters(table: Table) -> Iterator[Comparison]:
    for weights in (None, "linear", "quadratic"):
        name = f"Cohen, {weights or 'unweighted'}, {table}"
        kappa = partial(rb.agreement.cohen_kappa, weights=weights)
        peers = {
            "statsmodels": partial(table.statsmodels_cohen, weights),
            "scikit-learn": partial(table.sklearn_cohen, weights),
        }
        yield Comparison(name, table.ratings, (kappa,), peers)


def _replicate(peer: Peer, items: int, rng: np.random.Generator) -> Any:
    return peer(rng.integers(items, size=items))


def _per_call(call: Callable[[], object], times: int) -> float:
    """CPU seconds per call."""
    return time_call(lambda: [call() for _ in range(times)])[1] / times
