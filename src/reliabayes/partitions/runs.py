"""Runs: chunks of the source, coded and grouped by part, each in a file that has them by part."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliabayes.choices import Missing
from reliabayes.files import write_whole
from reliabayes.partitions.column_types import VALUES, plain
from reliabayes.partitions.hashing import item_hashes, part_of
from reliabayes.ratings.text_values import WHOLE_NUMBER

CHUNK = 2**21  # ratings of a run; it takes some 0.4 GB to make one
MOST_VALUES = 2**15 - 1  # distinct numbers, from which on they are a continuous scale
FIRST = 5  # examples
NOWHERE = np.iinfo(np.int64).max  # first row of a value all of whose rows are left out

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Chunk:
    """Consecutive row groups of a Parquet file, from ``start`` of all rows on."""

    file: str
    first_group: int
    last_group: int
    start: int


@dataclass(frozen=True)
class Plan:
    """How all chunks are read.

    Attributes
    ----------
    columns : mapping from str to str
        Columns of the source by role or name of facet.
    n_parts : int
        Number of parts.
    missing : {"error", "drop"}
        Whether rows without a rating are left out.
    folder : Path
        Where runs are.
    """

    columns: Mapping[str, str]
    n_parts: int
    missing: Missing
    folder: Path

    def path(self, number: int) -> Path:
        """File of a run."""
        return self.folder / f"run-{number:05}.arrow"


@dataclass(frozen=True)
class Distinct:
    """The distinct values of a column of a run.

    Attributes
    ----------
    values : list
        The values, in no particular order.
    first : list of int
        The first row of the source where each of them is, of rows that are not left out.
    counts : list of int
        In how many rows that are not left out.
    are_all : bool
        Whether these are all values; if not, the smallest and the largest are among them, and the
        run holds the numbers themselves.
    """

    values: list[Any]
    first: list[int]
    counts: list[int]
    are_all: bool = True


@dataclass(frozen=True)
class RunSummary:
    """What is known of a run without its rows.

    Attributes
    ----------
    n_rows : int
        Rows of the source.
    n_left_out : int
        Rows without a rating that were left out.
    missing : dict from str to list
        By role, the number of rows without a value, and the first of them.
    distinct : dict from str to Distinct
        By role, except items.
    pairs : list of lists of int
        Position of rater and pool of all pairs of these, the first row of each, and how many it
        has.
    items_are_whole : bool
        Whether ids of items are whole numbers, or texts of such.
    """

    n_rows: int
    n_left_out: int
    missing: dict[str, list[int]]
    distinct: dict[str, Distinct]
    pairs: list[list[int]]
    items_are_whole: bool


def chunks(files: Sequence[str]) -> Iterator[Chunk]:
    """Yield the chunks of Parquet files, which are the same whenever they are read."""
    start = 0
    for file in files:
        metadata = pq.read_metadata(file)
        sizes = [metadata.row_group(n).num_rows for n in range(metadata.num_row_groups)]
        first = number = 0
        for group, size in enumerate(sizes):
            number += size
            if number >= CHUNK or group == len(sizes) - 1:
                if number:
                    yield Chunk(file, first, group, start)
                start += number
                first, number = group + 1, 0


def write_run(plan: Plan, number: int, chunk: Chunk) -> None:
    """Write the run of a chunk, unless it is there."""
    path = plan.path(number)
    if path.exists():
        return
    table = pq.ParquetFile(chunk.file).read_row_groups(
        range(chunk.first_group, chunk.last_group + 1),
        columns=list(dict.fromkeys(plan.columns.values())),
        use_threads=False,
    )
    read = {role: plain(name, table[name].combine_chunks()) for role, name in plan.columns.items()}
    n_rows = table.num_rows
    del table
    is_in = _is_known(read["rating"]) if plan.missing == "drop" else np.ones(n_rows, bool)
    rows = np.flatnonzero(is_in)
    missing = {role: ~_is_known(column)[rows] for role, column in read.items() if role != "gold"}
    coded = {role: _coded(role, read[role], rows, chunk.start) for role in read if role != "item"}
    summary = RunSummary(
        n_rows=n_rows,
        n_left_out=n_rows - len(rows),
        missing={
            role: [int(mask.sum()), *(rows[mask][:FIRST] + chunk.start).tolist()]
            for role, mask in missing.items()
        },
        distinct={role: distinct for role, (_, distinct) in coded.items()},
        pairs=_pairs(coded, rows + chunk.start) if "pool" in coded else [],
        items_are_whole=_are_whole(read["item"]),
    )
    kept = np.flatnonzero(~np.any(list(missing.values()), axis=0))
    columns = {role: codes[kept] for role, (codes, _) in coded.items() if role != "pool"}
    columns["row"] = rows[kept] + chunk.start
    items = read["item"].take(pa.array(rows[kept]))
    write_whole(path, _by_part(items, columns, plan.n_parts, summary))


def read_summary(path: Path) -> RunSummary:
    """Return what is known of a run without its rows."""
    with pa.memory_map(str(path)) as mapped:
        text = pa.ipc.open_file(mapped).schema.metadata[b"summary"]
    content = json.loads(text)
    distinct = {role: Distinct(**kept) for role, kept in content.pop("distinct").items()}
    return RunSummary(distinct=distinct, **content)


def read_part(path: Path, part: int) -> Any:
    """Return the rows of a part in a run, as a record batch."""
    with pa.memory_map(str(path)) as mapped:
        return pa.ipc.open_file(mapped).get_batch(part)


def _is_known(column: Any) -> npt.NDArray[np.bool_]:
    """Which rows have a value; NaN is none."""
    known: npt.NDArray[np.bool_] = column.is_null(nan_is_null=True).to_numpy(zero_copy_only=False)
    return ~known


def _coded(role: str, column: Any, kept: Rows, start: int) -> tuple[npt.NDArray[Any], Distinct]:
    """Positions of the values in the distinct ones; numbers themselves if these are too many.

    The positions are those of the rows that are kept, the distinct values those of all rows: they
    say what type a column has.
    """
    encoded = column.dictionary_encode()
    values = encoded.dictionary
    codes = encoded.indices.fill_null(-1).to_numpy().astype(np.int32, copy=False)[kept]
    first = np.full(len(values) + 1, NOWHERE)
    first[codes[::-1]] = kept[::-1] + start
    counts = np.bincount(codes + 1, minlength=len(values) + 1)[1:]
    is_known = _is_known(values)
    are_all = role not in VALUES or len(values) <= MOST_VALUES or not _are_numbers(values)
    if not are_all:
        codes = column.cast(pa.float64()).to_numpy(zero_copy_only=False)[kept]
        numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
        is_known[MOST_VALUES:] = False
        is_known[[np.nanargmin(numbers), np.nanargmax(numbers)]] = True
    elif not is_known.all():  # NaN is among them
        codes = np.append(np.where(is_known, np.cumsum(is_known) - 1, -1), -1)[codes]
    at = np.flatnonzero(is_known)
    listed = values.take(pa.array(at)).to_pylist(), first[at].tolist(), counts[at].tolist()
    return codes, Distinct(*listed, are_all)


def _are_numbers(values: Any) -> bool:
    try:
        values.cast(pa.float64())
    except pa.ArrowInvalid:
        return False
    return True


def _pairs(coded: Mapping[str, Any], rows: Rows) -> list[list[int]]:
    (rater, _), (pool, pools) = coded["rater"], coded["pool"]
    known = np.flatnonzero((rater >= 0) & (pool >= 0))
    number = max(1, len(pools.values))
    pair, at, counts = np.unique(
        rater[known].astype(np.int64) * number + pool[known], return_index=True, return_counts=True
    )
    codes = (pair // number).tolist(), (pair % number).tolist()
    return [*codes, rows[known][at].tolist(), counts.tolist()]


def _are_whole(items: Any) -> bool:
    if pa.types.is_integer(items.type):
        return True
    is_whole = pc.match_substring_regex(items, f"^(?:{WHOLE_NUMBER})$")
    return bool(pc.all(is_whole, min_count=0).as_py())


def _by_part(
    items: Any, columns: Mapping[str, npt.NDArray[Any]], n_parts: int, summary: RunSummary
) -> memoryview:
    """The content of a file with one record batch for each part."""
    hashes = item_hashes(items)
    part = part_of(hashes, n_parts)
    order = np.argsort(part.astype(np.uint16), kind="stable")  # two bytes are sorted by radix
    ends = np.concatenate([[0], np.cumsum(np.bincount(part, minlength=n_parts))]).tolist()
    data = {"item": items.take(pa.array(order)), "hash": pa.array(hashes[order])}
    data |= {role: pa.array(values[order]) for role, values in columns.items()}
    schema = pa.schema({role: values.type for role, values in data.items()})
    schema = schema.with_metadata({"summary": json.dumps(asdict(summary))})
    batch = pa.RecordBatch.from_arrays(list(data.values()), schema=schema)
    sink = pa.BufferOutputStream()
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.ipc.new_file(sink, schema, options=options) as writer:
        for start, end in pairwise(ends):
            writer.write_batch(batch.slice(start, end - start))
    return memoryview(sink.getvalue())
