"""Distinct values of all runs, and faults of them as faults of the rows that hold them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import N_SHOWN, Fault
from reliabayes.partitions.runs import NOWHERE, Distinct
from reliabayes.ratings.columns import Labels, Numbers

Kind = TypeVar("Kind", Labels, Numbers, Labels | Numbers)

DUMMY = "\0"  # name of a column that checks are not about; no source has it


@dataclass(frozen=True)
class Union:
    """The distinct values of a column of all runs, in the order of the first row that has them.

    Attributes
    ----------
    values : list
        The values as they were read; last come those all of whose rows are left out, which only
        tell what type the column has.
    first : array of int64, shape (n,)
        The first row of each of the n values before those.
    counts : array of int64, shape (n,)
        In how many rows it is.
    places : list of array of int
        For each run, the position of its distinct values here; -1 for those left out.
    are_all : bool
        Whether no run has others.
    """

    values: list[Any]
    first: npt.NDArray[np.int64]
    counts: npt.NDArray[np.int64]
    places: list[npt.NDArray[np.intp]]
    are_all: bool

    @classmethod
    def of(cls, distinct: Sequence[Distinct]) -> Union:
        """Return the union of the distinct values of runs."""
        every = pd.Series([*chain.from_iterable(one.values for one in distinct)], dtype=object)
        place, values = pd.factorize(every)
        first = np.full(len(values), NOWHERE)
        np.minimum.at(first, place, [*chain.from_iterable(one.first for one in distinct)])
        counts = np.zeros(len(values), np.int64)
        np.add.at(counts, place, [*chain.from_iterable(one.counts for one in distinct)])
        order = np.argsort(first, kind="stable")
        number = np.count_nonzero(counts)
        rank = np.argsort(order)
        rank[rank >= number] = -1
        ends = np.cumsum([len(one.values) for one in distinct])[:-1]
        return cls(
            values=[values[n] for n in order],
            first=first[order[:number]],
            counts=counts[order[:number]],
            places=[rank[part] for part in np.split(place, ends)],
            are_all=all(one.are_all for one in distinct),
        )

    def kept(self, column: Kind) -> Kind:
        """The column of all values, without those all of whose rows are left out."""
        return column.take(np.arange(len(self.counts)))

    def by_run(self, values: npt.NDArray[Any]) -> list[npt.NDArray[Any]]:
        """For each run, what becomes of its distinct values, of what becomes of the n values."""
        with_left_out = np.append(values, np.zeros(1, values.dtype))
        return [with_left_out[places] for places in self.places]

    def in_source(self, fault: Fault) -> Fault:
        """Return a fault of distinct values as one of the rows of the source."""
        return of_rows(fault, self.first, self.counts)


def of_rows(fault: Fault, rows: npt.NDArray[Any], counts: npt.NDArray[Any]) -> Fault:
    """Return a fault of rows of a small table as one of rows of the source.

    Parameters
    ----------
    fault : Fault
        Of rows of the small table.
    rows : array of int, shape (n,)
        The row of the source that each of these stands for, ascending.
    counts : array of int, shape (n,)
        How many rows of the source it stands for.

    Returns
    -------
    Fault
    """
    if fault.mask is None:
        return fault
    number = int(counts[fault.mask].sum())
    return replace(
        fault,
        found=fault.found.replace(str(fault.n_rows), str(number), 1),
        rows=tuple(rows[list(fault.rows)].tolist()),
        n_rows=number,
        mask=None,
    )


def row_numbers(number: int) -> Labels:
    """Return a column of row numbers, in place of one that a check is not about."""
    return Labels(DUMMY, np.arange(number, dtype=np.int32), pd.RangeIndex(number))


def merged(faults: Iterable[Fault]) -> list[Fault]:
    """Return faults of parts, those of one kind as one.

    Parameters
    ----------
    faults : iterable of Fault
        With rows of the source.

    Returns
    -------
    list of Fault
        One for each place and rule, with the number of all rows and the first of them.
    """
    kinds: dict[tuple[str, str], list[Fault]] = {}
    for fault in faults:
        kinds.setdefault((fault.place, fault.rule), []).append(fault)
    return [same[0] if len(same) == 1 else _as_one(same) for same in kinds.values()]


def _as_one(faults: Sequence[Fault]) -> Fault:
    earliest = min(faults, key=lambda fault: fault.rows)
    number = sum(fault.n_rows for fault in faults)
    places = sorted(
        (row, value)
        for fault in faults
        for row, value in zip(fault.rows, fault.values or [""] * len(fault.rows), strict=True)
    )[:N_SHOWN]
    return replace(
        earliest,
        found=earliest.found.replace(str(earliest.n_rows), str(number), 1),
        rows=tuple(row for row, _ in places),
        values=tuple(value for _, value in places) if earliest.values else (),
        n_rows=number,
    )
