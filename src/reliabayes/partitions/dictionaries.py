"""One coding of raters, pools, facets and ratings for all runs, and the faults of their values."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any

import narwhals as nw
import numpy as np
import numpy.typing as npt
import pandas as pd

from reliabayes.errors import Fault
from reliabayes.partitions.rating_values import coded_values
from reliabayes.partitions.runs import RunSummary
from reliabayes.partitions.unions import DUMMY, Union, of_rows, row_numbers
from reliabayes.ratings import design_checks as design
from reliabayes.ratings.checks import value_faults
from reliabayes.ratings.column_reading import read_labels
from reliabayes.ratings.columns import Labels
from reliabayes.ratings.table import Table
from reliabayes.ratings.text_values import text_ids
from reliabayes.ratings.value_checks import missing_values


@dataclass(frozen=True)
class Coding:
    """What the values of all runs become.

    Attributes
    ----------
    fields : dict
        Fields of the manifest.
    ids : dict from str to Index
        The user's ids of raters and of levels of facets, by role.
    stored : dict from str to list of arrays
        By role and run, what becomes of each of its distinct values.
    dtypes : dict from str to str
        Types of stored columns, by role.
    items_are_whole : bool
        Whether texts that are ids of items are read as int.
    faults : tuple of Fault
        What is wrong with the values.
    """

    fields: dict[str, Any]
    ids: dict[str, pd.Index[Any]]
    stored: dict[str, list[npt.NDArray[Any]]]
    dtypes: dict[str, str]
    items_are_whole: bool
    faults: tuple[Fault, ...]


def coding_of(
    summaries: Sequence[RunSummary],
    columns: Mapping[str, str],
    options: Mapping[str, Any],
    is_text: bool,
) -> Coding:
    """Return the coding of all runs.

    Parameters
    ----------
    summaries : sequence of RunSummary
        What is known of each run.
    columns : mapping from str to str
        Columns of the source by role or name of facet.
    options : mapping from str to Any
        Scale and categories, as of `Ratings.from_frame`.
    is_text : bool
        Whether all values were texts of a file, some of which may be numbers.

    Returns
    -------
    Coding
    """
    roles = [role for role in columns if role != "item"]
    unions = {role: Union.of([run.distinct[role] for run in summaries]) for role in roles}
    labels = {
        role: _labels(columns[role], union, is_text)
        for role, union in unions.items()
        if role not in ("rating", "gold")
    }
    values = coded_values(unions, columns, options, is_text)
    pools = _pool_codes(summaries, unions, labels)
    facets = {role: labels[role].ids for role in labels if role not in ("rater", "pool")}
    faults = [
        *_missing(summaries, columns),
        *values.faults,
        *chain.from_iterable(_label_faults(role, labels[role], unions[role]) for role in labels),
        *pools.faults,
    ]
    return Coding(
        fields={
            "raters": labels["rater"].ids.tolist(),
            "pools": labels["pool"].ids.tolist() if "pool" in labels else [],
            "rater_pool": pools.of_raters,
            "facets": {name: ids.tolist() for name, ids in facets.items()},
            "n_missing": sum(run.n_left_out for run in summaries),
            **values.fields,
        },
        ids={"rater": labels["rater"].ids, **facets},
        stored=values.stored | {role: unions[role].by_run(labels[role].codes) for role in labels},
        dtypes={"rater": "int32"}
        | values.dtypes
        | {name: _smallest(len(ids)) for name, ids in facets.items()},
        items_are_whole=is_text and all(run.items_are_whole for run in summaries),
        faults=tuple(faults),
    )


def _labels(name: str, union: Union, is_text: bool) -> Labels:
    texts: Any = pd.Series(union.values, dtype="str" if is_text else None)
    values = pd.Series(text_ids(texts)) if is_text else texts
    return union.kept(read_labels(nw.from_native(values, series_only=True), name)).used


def _missing(summaries: Sequence[RunSummary], columns: Mapping[str, str]) -> Iterator[Fault]:
    """Faults of rows without a value."""
    for role, name in columns.items():
        if role == "gold":
            continue
        rows = np.array([row for run in summaries for row in run.missing[role][1:]], np.int64)
        if not len(rows):
            continue
        counts = np.ones(len(rows), np.int64)
        counts[0] += sum(run.missing[role][0] for run in summaries) - len(rows)
        absent = Labels(name, np.full(len(rows), -1, np.int32), pd.Index([], dtype=object))
        table = _table(len(rows), **{role if role == "rating" else "rater": absent})
        yield from (
            of_rows(fault, rows, counts) for fault in missing_values(table) if fault.place != DUMMY
        )


def _label_faults(role: str, column: Labels, union: Union) -> Iterator[Fault]:
    table = _table(len(column.codes), rater=column)
    found = [*value_faults(table), *(design.single_id(table) if role == "rater" else ())]
    yield from (union.in_source(fault) for fault in found if fault.place != DUMMY)


@dataclass(frozen=True)
class _Pools:
    of_raters: list[int] | None = None
    faults: tuple[Fault, ...] = ()


def _pool_codes(
    summaries: Sequence[RunSummary], unions: Mapping[str, Union], labels: Mapping[str, Labels]
) -> _Pools:
    """The pool of each rater, and the faults of raters in several."""
    if "pool" not in labels:
        return _Pools()
    codes = [
        np.concatenate(
            [
                of_run[summary.pairs[at]]
                for of_run, summary in zip(
                    unions[role].by_run(labels[role].codes), summaries, strict=True
                )
            ]
        )
        for at, role in enumerate(("rater", "pool"))
    ]
    rows, counts = (
        np.concatenate([np.array(run.pairs[at], np.int64) for run in summaries]) for at in (2, 3)
    )
    order = np.argsort(rows)
    rater, pool = (
        Labels(labels[role].name, of_role[order], labels[role].ids)
        for role, of_role in zip(("rater", "pool"), codes, strict=True)
    )
    table = _table(len(order), rater=rater, pool=pool)
    of_raters = np.full(len(rater.ids), -1)
    of_raters[rater.codes[::-1]] = pool.codes[::-1]
    faults = [
        of_rows(fault, rows[order], counts[order]) for fault in design.raters_in_two_pools(table)
    ]
    return _Pools(of_raters.tolist(), tuple(faults))


def _table(number: int, **columns: Any) -> Table:
    """A table of some columns, with row numbers in place of the others that it must have."""
    return Table.of(**dict.fromkeys(("item", "rater", "rating"), row_numbers(number)) | columns)


def _smallest(number: int) -> str:
    """Smallest type of so many codes."""
    return "int8" if number <= 2**7 else "int16" if number <= 2**15 else "int32"
