"""States of items in parts, drawn in a pass that reads each part once for all chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial, reduce
from threading import Lock
from typing import Any, Protocol
from uuid import uuid4

import numpy as np
from numpy.typing import NDArray

from reliabayes.inference.conjugate import Conjugate
from reliabayes.inference.gibbs_in_parts import Chains, States, states_of
from reliabayes.inference.time_limit import add_in_time
from reliabayes.likelihoods.item_mixture import ItemMixture
from reliabayes.partitions import RatingsDataset, in_turn
from reliabayes.partitions.dataset import Part
from reliabayes.ratings import Ratings

MOST_KEPT = 500_000_000  # bytes of parts that a process keeps from one sweep for the next

Items = dict[str, NDArray[Any]]  # of a part, by field of `Conjugate`


class Reader(Protocol):
    """Makes items of the ratings of a part, as the sampler takes them; can be pickled."""

    def __call__(self, part: Ratings) -> ItemMixture:
        """Return all items of a part, in their order."""


@dataclass(frozen=True, eq=False)
class StatesInParts:
    """States of items in parts.

    Attributes
    ----------
    dataset : RatingsDataset
        Where the items are.
    reader : Reader
        Makes items of the ratings of a part.
    run : str
        Tells what is kept for these from what is kept for others.
    """

    dataset: RatingsDataset
    reader: Reader
    run: str = field(default_factory=lambda: uuid4().hex)

    def __call__(self, rest: Conjugate, chains: Chains, at_once: int) -> States:
        """Draw the states of all items, in so many threads at most, and add them up."""
        # Other executors compute parts side by side.
        threads = at_once if self.dataset.executor is in_turn else 1
        of_part = partial(_draw, self.run, self.reader, rest, chains, threads)
        parts: Iterator[States] = self.dataset.executor(of_part, [*enumerate(self.dataset.parts)])
        found: States = reduce(add_in_time, parts)
        return found

    def close(self) -> None:
        """Forget the parts that this process keeps; others forget them for those of a later run."""
        _kept.forget(self.run)


class _Kept:
    """Items of the first parts that fit in memory, of one run."""

    def __init__(self) -> None:
        self.run, self.lock = "", Lock()
        self.parts: dict[int, Items] = {}

    def forget(self, run: str) -> None:
        """Forget what is kept for a run."""
        with self.lock:
            if self.run == run:
                self.parts = {}

    def find(self, run: str, number: int) -> Items | None:
        """The items of a part, if they are kept."""
        with self.lock:
            return self.parts.get(number) if self.run == run else None

    def keep(self, run: str, number: int, items: Items) -> None:
        """Keep the items of a part if there is room for them."""
        with self.lock:
            if self.run != run:
                self.run, self.parts = run, {}
            if sum(map(_size, self.parts.values())) + _size(items) <= MOST_KEPT:
                self.parts[number] = items


_kept = _Kept()


def _size(items: Items) -> int:
    return sum(values.nbytes for values in items.values())


def _draw(
    run: str,
    reader: Reader,
    rest: Conjugate,
    chains: Chains,
    threads: int,
    numbered: tuple[int, Part],
) -> States:
    number, part = numbered
    try:
        items = _kept.find(run, number)
        if items is None:
            items = _items(reader, part.read())
            _kept.keep(run, number, items)
        offset = int(items["offset"])
        own: Any = {name: values for name, values in items.items() if name != "offset"}
        return states_of(replace(rest, **own, offset=offset), chains, threads)
    except Exception as error:
        error.add_note(f"This happened in {part}.")
        raise


def _items(reader: Reader, part: Ratings) -> Items:
    """Items of a part, in the types of the library, which then need not be converted."""
    mixture = reader(part)
    return {
        "first": mixture.counts.indptr.astype(np.int64),
        "cell": mixture.counts.indices.astype(np.int32),
        "count": mixture.counts.data.astype(np.int32),
        "kind": mixture.kind.astype(np.int32),
        "multiplicity": mixture.multiplicity.astype(np.int64),
        "offset": np.asarray(part.items[0]),
    }
