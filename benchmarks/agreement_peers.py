"""Coefficients and their intervals against the packages of others, none of which has a bootstrap.

Theirs are computed anew on items drawn with replacement.
"""

# irrCAC need not be installed where types are checked.
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
from benchmarks.agreement_timing import spent
from benchmarks.annotated import annotate
from benchmarks.simulated import simulate
from reliabayes.agreement import Coefficient
from reliabayes.agreement.alpha import Metric
from reliabayes.agreement.intraclass import NAMES
from reliabayes.arrays import Array

Indices = NDArray[np.intp]
Ours = Callable[[rb.Ratings], Coefficient]
Peer = Callable[[Indices], Any]  # value, or values, for the items (I,) that were drawn

RATINGS, REPLICATES, ROUNDS = 100_000, 1000, 3
LEAST, ENOUGH = 3, 0.5  # replicates timed, and their seconds; the rest is extrapolated
WHOLE = 5  # evaluations of one value


def compare() -> None:
    """Print seconds of coefficients with 1,000 replicates at 100,000 ratings, and of peers."""
    print(f"\n{RATINGS:,} ratings, {ROUNDS} rounds, seconds of processors; promised: 10 times each")
    print(f"{'':44}{'1,000 replicates':^28}{'one value':^28}")
    words = "".join(
        f"{word:>{width}}" for word, width in 2 * (("ours", 9), ("theirs", 10), ("ratio", 9))
    )
    print(f"{'':44}{words}  difference", flush=True)
    for contest in contests():
        contest.seconds(0)  # loads what loads once
        rounds = np.array([contest.seconds(seed) for seed in range(1, ROUNDS + 1)])
        median, ratio = np.median(rounds, axis=0), np.median(rounds / rounds[..., :1], axis=0)
        far = contest.differences()
        for nth, peer in enumerate(contest.peers, start=1):
            cells = zip(median[:, 0], median[:, nth], ratio[:, nth], strict=True)
            numbers = "".join("{:9.4f}{:10.4f}{:9.1f}".format(*cell) for cell in cells)
            print(f"{contest.name:30}{peer:14}{numbers}{far[peer]:12.1e}", flush=True)


@dataclass(frozen=True)
class Contest:
    """Coefficients of ours, and packages that compute the same ones."""

    name: str
    ratings: rb.Ratings
    ours: tuple[Ours, ...]
    peers: Mapping[str, Peer]

    def seconds(self, seed: int) -> Array:
        """(2, 1 + peers) seconds of processors of all replicates, and of one value; ours first."""
        rng, items = np.random.default_rng(seed), self.ratings.n_items
        times = [(_each(partial(self._intervals, seed), 1), _each(self._values, WHOLE))]
        for peer in self.peers.values():
            one = _each(partial(peer, np.arange(items)), WHOLE)
            number = int(np.clip(ENOUGH / one, LEAST, REPLICATES))
            replicate = _each(partial(_replicate, peer, items, rng), number)
            times.append((REPLICATES * replicate, one))
        return np.array(times).T

    def differences(self) -> dict[str, float]:
        """Largest difference between our values and those of a peer."""
        items, values = np.arange(self.ratings.n_items), self._values()
        return {name: np.abs(values - peer(items)).max() for name, peer in self.peers.items()}

    def _values(self) -> Array:
        return np.array([of(self.ratings).value for of in self.ours])

    def _intervals(self, seed: int) -> None:
        for of in self.ours:
            of(self.ratings).interval(replicates=REPLICATES, seed=seed)


def contests() -> Iterator[Contest]:
    """All that are compared: of 5 raters and of 2, of categories and of numbers that all differ."""
    for categories in (5, 21):
        yield from _of_many(Table.of(annotate(RATINGS // 5, 5, 5, categories)))
    for categories in (5, 21):
        yield from _of_two(Table.of(annotate(RATINGS // 2, 2, 2, categories)))
    for table in (
        Table.of(annotate(RATINGS // 5, 5, 5, 5)),
        Table.of(simulate(RATINGS // 5, 5, 5)),
    ):
        of = tuple(partial(rb.agreement.icc, name=name) for name in NAMES)
        yield Contest(f"six ICCs, {table}", table.ratings, of, {"pingouin": table.pingouin})


def _of_many(table: Table) -> Iterator[Contest]:
    identity = "identity"
    weights: Mapping[Metric, str | None]
    weights = {"nominal": identity, "ordinal": None, "interval": "quadratic"}  # of irrCAC
    for metric, weight in weights.items():
        peers: dict[str, Peer] = {"krippendorff": partial(table.krippendorff, metric)}
        if weight:
            peers["irrCAC"] = partial(table.irrcac, CAC.krippendorff, weight)
        alpha = partial(rb.agreement.krippendorff_alpha, metric=metric)
        yield Contest(f"alpha, {metric}, {table}", table.ratings, (alpha,), peers)
    fleiss: Mapping[str, Peer] = {
        "statsmodels": table.fleiss,
        "irrCAC": partial(table.irrcac, CAC.fleiss, identity),
    }
    yield Contest(f"Fleiss' kappa, {table}", table.ratings, (rb.agreement.fleiss_kappa,), fleiss)
    gwet = {"irrCAC": partial(table.irrcac, CAC.gwet, identity)}
    yield Contest(f"Gwet's AC1, {table}", table.ratings, (rb.agreement.gwet_ac1,), gwet)


def _of_two(table: Table) -> Iterator[Contest]:
    for weights in (None, "linear", "quadratic"):
        name = f"Cohen, {weights or 'plain'}, {table}"
        kappa = partial(rb.agreement.cohen_kappa, weights=weights)
        peers = {
            "statsmodels": partial(table.statsmodels_cohen, weights),
            "scikit-learn": partial(table.sklearn_cohen, weights),
        }
        yield Contest(name, table.ratings, (kappa,), peers)


def _replicate(peer: Peer, items: int, rng: np.random.Generator) -> Any:
    return peer(rng.integers(items, size=items))


def _each(call: Callable[[], object], times: int) -> float:
    """Seconds of processors of each of some calls."""
    return spent(lambda: [call() for _ in range(times)])[1] / times
