"""Parts from runs: all rows of some items, sorted, checked, and written to files."""

from __future__ import annotations

import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliabayes.choices import Replicates
from reliabayes.errors import Fault
from reliabayes.files import sync_folder, write_whole
from reliabayes.partitions.dictionaries import Coding
from reliabayes.partitions.runs import read_part
from reliabayes.partitions.storage import ITEMS, RATINGS, part_name
from reliabayes.partitions.unions import DUMMY, of_rows
from reliabayes.ratings.column_reading import as_ids
from reliabayes.ratings.columns import Labels, Numbers
from reliabayes.ratings.design_checks import conflicting_gold, replicate_ratings
from reliabayes.ratings.table import Table
from reliabayes.seals import checksum

N_PAIRS = "pairs"


@dataclass(frozen=True)
class PartPlan:
    """How parts are made of runs.

    Attributes
    ----------
    runs : sequence of Path
        The files of all runs.
    columns : mapping from str to str
        Columns of the source by role or name of facet.
    coding : Coding
        What the values of runs become.
    replicates : {"error", "keep"}
        Whether a rater may rate an item more than once.
    folder : Path
        Where parts are.
    work : Path
        Where they are until they are whole.
    """

    runs: Sequence[Path]
    columns: Mapping[str, str]
    coding: Coding
    replicates: Replicates
    folder: Path
    work: Path


@dataclass(frozen=True)
class MadePart:
    """Sizes of a part and checksums of its files by name, or what is wrong with it."""

    n_ratings: int
    n_items: int
    n_pairs: int
    sums: Mapping[str, str] = field(default_factory=dict)
    faults: tuple[Fault, ...] = ()

    @property
    def in_manifest(self) -> dict[str, Any]:
        """What the manifest has of the part."""
        return {"n_ratings": self.n_ratings, "n_items": self.n_items, "sha256": dict(self.sums)}


def make_part(plan: PartPlan, number: int) -> MadePart:
    """Write a part, unless it is there, or anything is wrong with it or with the values of runs.

    Parameters
    ----------
    plan : PartPlan
        How parts are made.
    number : int
        Which part, from 0.

    Returns
    -------
    MadePart
    """
    folder = plan.folder / part_name(number)
    if folder.exists():
        return _made(folder)
    rows = _gathered(plan, number)
    if rows is None:
        return MadePart(0, 0, 0)
    columns, items = rows
    item, first = _item_codes(columns["hash"], items)
    ids = items.take(pa.array(first))
    table = _table(plan, columns, item, as_ids(ids.to_pandas()))
    ones = np.ones(len(item), np.int64)
    faults = tuple(
        of_rows(fault, columns["row"], ones)
        for check in (conflicting_gold, replicate_ratings)
        for fault in check(table)
    )
    is_kept = plan.replicates == "keep"
    order = np.lexsort((columns["rating"], table.cell)) if is_kept else table.order
    n_pairs = 1 + int(np.count_nonzero(np.diff(table.pair[order])))
    made = MadePart(len(item), len(first), n_pairs, faults=faults)
    if faults or plan.coding.faults:
        return made
    stored = {role: columns[role][order] for role in plan.coding.dtypes if role != "gold"}
    draft = plan.work / part_name(number)
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir()
    of_items = {"id": ids, **_gold_of(plan, columns, item, len(first))}
    ratings = {"item": pa.array(item[order])} | {
        role: pa.array(values.astype(plan.coding.dtypes[role], copy=False))
        for role, values in stored.items()
    }
    sums = {
        ITEMS: _write_parquet(draft / ITEMS, of_items),
        RATINGS: _write_parquet(draft / RATINGS, ratings, {N_PAIRS: str(n_pairs)}),
    }
    sync_folder(draft)
    draft.rename(folder)
    sync_folder(plan.folder)
    return replace(made, sums=sums)


def _made(folder: Path) -> MadePart:
    """Sizes and checksums of a part that is there."""
    ratings = pq.read_metadata(folder / RATINGS)
    n_items = pq.read_metadata(folder / ITEMS).num_rows
    sums = {name: checksum((folder / name).read_bytes()) for name in (ITEMS, RATINGS)}
    return MadePart(ratings.num_rows, n_items, int(ratings.metadata[N_PAIRS.encode()]), sums)


def _gathered(plan: PartPlan, number: int) -> tuple[dict[str, npt.NDArray[Any]], Any] | None:
    """The columns of a part, in the order of the source, and its items; None if it has no rows."""
    columns: dict[str, list[npt.NDArray[Any]]] = {}
    items = []
    for run, path in enumerate(plan.runs):
        batch = read_part(path, number)
        if not batch.num_rows:
            continue
        items.append(batch["item"])
        for role in batch.schema.names[1:]:
            values = batch[role].to_numpy()
            if role in plan.coding.stored and values.dtype.kind == "i":
                known = plan.coding.stored[role][run]
                unknown = np.nan if known.dtype.kind == "f" else -1
                values = np.append(known, np.array(unknown, known.dtype))[values]
            columns.setdefault(role, []).append(values)
    if not items:
        return None
    ids = pa.concat_arrays([_common(column, items) for column in items])
    if plan.coding.items_are_whole:
        ids = ids.cast(pa.int64())
    return {role: np.concatenate(values) for role, values in columns.items()}, ids


def _common(column: Any, others: Sequence[Any]) -> Any:
    """Ids as text if some files of the source have them as text."""
    is_mixed = len({other.type for other in others}) > 1
    return column.cast(pa.large_string()) if is_mixed else column


def _item_codes(hashes: npt.NDArray[np.uint64], ids: Any) -> tuple[npt.NDArray[np.int32], Any]:
    """Position of each row's item among the items, which are in the order of hash and id.

    Also a row of each item.
    """
    order = np.argsort(hashes)
    is_new = np.diff(hashes[order], prepend=~hashes[order[:1]]) != 0
    item, first = _grouped(order, is_new)
    if pc.all(pc.equal(ids, ids.take(pa.array(first)).take(pa.array(item)))).as_py():
        return item, first
    # Several ids have one hash.
    texts = ids.cast(pa.large_string()).dictionary_encode()
    rank = np.argsort(np.argsort(texts.dictionary.to_numpy(zero_copy_only=False)))
    id_rank = rank[texts.indices.to_numpy()]
    order = np.lexsort((id_rank, hashes))
    is_new = np.diff(hashes[order], prepend=~hashes[order[:1]]) != 0
    is_new |= np.diff(id_rank[order], prepend=-1) != 0
    return _grouped(order, is_new)


def _grouped(order: Any, is_new: npt.NDArray[np.bool_]) -> tuple[npt.NDArray[np.int32], Any]:
    codes = np.empty(len(order), np.int32)
    codes[order] = np.cumsum(is_new, dtype=np.int32) - 1
    return codes, order[is_new]


def _table(
    plan: PartPlan, columns: Mapping[str, npt.NDArray[Any]], item: Any, ids: pd.Index[Any]
) -> Table:
    coding, names = plan.coding, plan.columns
    labels = {role: Labels(names[role], columns[role], known) for role, known in coding.ids.items()}
    gold: Any = None
    if "gold" in columns and columns["gold"].dtype.kind == "f":
        gold = Numbers(names["gold"], columns["gold"])
    elif "gold" in columns:
        gold = Labels(names["gold"], columns["gold"], _categories(coding))
    return Table(
        item=Labels(names["item"], item, ids),
        rater=labels.pop("rater"),
        rating=Labels(DUMMY, item, ids),
        pool=None,
        gold=gold,
        scale=coding.fields["scale"],
        asked=None,
        categories=None,
        replicates=plan.replicates,
        facets=labels,
    )


def _categories(coding: Coding) -> pd.Index[Any]:
    known = coding.fields.get("categories")
    return pd.RangeIndex(2**31 - 1) if known is None else pd.Index(known)


def _gold_of(
    plan: PartPlan, columns: Mapping[str, npt.NDArray[Any]], item: Any, n_items: int
) -> dict[str, Any]:
    """The one known true value of each item."""
    if "gold" not in columns:
        return {}
    gold = columns["gold"]
    is_number = gold.dtype.kind == "f"
    known = ~np.isnan(gold) if is_number else gold >= 0
    of_items = np.full(n_items, np.nan if is_number else -1, gold.dtype)
    of_items[item[known]] = gold[known]
    return {"gold": pa.array(of_items)}


def _write_parquet(path: Path, columns: Mapping[str, Any], metadata: Any = None) -> str:
    """Write columns; the first of them, which ascends, as differences. Return the checksum."""
    table = pa.table(dict(columns))
    first, *others = table.column_names
    kind = (
        "DELTA_BINARY_PACKED" if pa.types.is_integer(table.schema[0].type) else "DELTA_BYTE_ARRAY"
    )
    options = {"use_dictionary": others, "column_encoding": {first: kind}, "compression": "zstd"}
    sink = pa.BufferOutputStream()
    with pq.ParquetWriter(sink, table.schema, store_schema=False, **options) as writer:
        writer.write_table(table)
        writer.add_key_value_metadata(metadata or {})
    content = memoryview(sink.getvalue())
    write_whole(path, content)
    return checksum(content)
