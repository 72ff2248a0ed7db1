"""Parts in files: one folder each, with a Parquet file of ratings and one of items."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions.dataset import RatingsDataset
from reliabayes.partitions.manifest import Manifest, read_manifest
from reliabayes.ratings import Ratings
from reliabayes.ratings.column_reading import as_ids
from reliabayes.ratings.facets import ByFacet
from reliabayes.seals import DAMAGED, checksum

RATINGS, ITEMS = "ratings.parquet", "items.parquet"


@dataclass(frozen=True)
class StoredPart:
    """A part in a folder. What it shares with other parts is in the manifest beside it.

    Attributes
    ----------
    folder : Path
        The folder of all parts.
    number : int
        Which of them it is, from 0.
    first_item : int
        Position of its first item among the items of all parts.
    n_items, n_ratings : int
        Its sizes.
    """

    folder: Path
    number: int
    first_item: int
    n_items: int
    n_ratings: int

    def __str__(self) -> str:
        return str(self.path)

    @property
    def path(self) -> Path:
        """Its own folder."""
        return self.folder / part_name(self.number)

    def read(self) -> Ratings:
        """Return the ratings, with the raters and the categories of all parts."""
        manifest = read_manifest(self.folder)
        table = self._table(RATINGS, self.n_ratings)
        categories = None if manifest.categories is None else manifest.index("categories")
        return Ratings(
            item=_codes(table, "item"),
            rater=_codes(table, "rater"),
            rating=_ratings(table, manifest),
            items=pd.RangeIndex(self.first_item, self.first_item + self.n_items),
            raters=manifest.index("raters"),
            scale=manifest.scale,
            pools=manifest.index("pools"),
            rater_pool=manifest.pool_codes(),
            gold=self._gold(manifest) if manifest.has_gold else None,
            given_categories=categories,
            anonymous_raters=False,
            scale_is_guess=manifest.scale_is_guess,
            facets=ByFacet({name: manifest.index(name) for name in manifest.facets}),
            facet=ByFacet({name: _codes(table, name) for name in manifest.facets}),
        )

    def item_ids(self) -> pd.Index[Any]:
        """Return the user's ids of the items of the part."""
        return as_ids(self._table(ITEMS, self.n_items, ["id"])["id"].to_pandas())

    def _gold(self, manifest: Manifest) -> Any:
        gold = self._table(ITEMS, self.n_items, ["gold"])["gold"].to_numpy()
        return gold.astype(np.float64 if manifest.scale == "numeric" else np.int32)

    def _table(self, name: str, n_rows: int, columns: list[str] | None = None) -> Any:
        path = self.path / name
        sums = read_manifest(self.folder).parts[self.number].get("sha256")
        try:
            data = path.read_bytes()
            if sums is not None and checksum(data) != sums.get(name):
                raise _damaged(path, f"{DAMAGED} (its checksum differs)")
            table = pq.read_table(pa.BufferReader(data), columns=columns, use_threads=False)
        except FileNotFoundError as error:
            rule, found = "all parts must be there", "that it is missing"
            remedy = "Put it back, or remove the folder and partition the ratings again."
            raise RatingsError([Fault(str(path), rule, found, remedy)]) from error
        except (pa.ArrowInvalid, pa.ArrowKeyError) as error:
            raise _damaged(path, str(error)) from error
        except OSError as error:
            if error.errno is not None:
                raise
            raise _damaged(path, str(error)) from error
        if table.num_rows != n_rows:
            raise _damaged(path, f"{table.num_rows:,} rows in place of {n_rows:,}")
        return table


def part_name(number: int) -> str:
    """Name of the folder of a part."""
    return f"part-{number:05}"


def stored_dataset(folder: Path) -> RatingsDataset:
    """Return the ratings of a complete folder.

    Parameters
    ----------
    folder : Path
        What `partition` has written.

    Returns
    -------
    RatingsDataset
    """
    manifest = read_manifest(folder)
    first = accumulate((part["n_items"] for part in manifest.parts), initial=0)
    return RatingsDataset(
        parts=[
            StoredPart(folder, number, first_item, part["n_items"], part["n_ratings"])
            for number, (first_item, part) in enumerate(zip(first, manifest.parts, strict=False))
            if part["n_ratings"]  # a folder is only made for a part that has some
        ],
        raters=manifest.index("raters"),
        categories=None if manifest.categories is None else manifest.index("categories"),
        scale=manifest.scale,
        pools=manifest.index("pools"),
        rater_pool=manifest.pool_codes(),
        facets=ByFacet({name: manifest.index(name) for name in manifest.facets}),
        limits=None if manifest.limits is None else (manifest.limits[0], manifest.limits[1]),
        n_missing=manifest.n_missing,
        scale_is_guess=manifest.scale_is_guess,
        categories_are_given=manifest.categories_are_given,
    )


def _codes(table: Any, name: str) -> Any:
    return table[name].to_numpy().astype(np.int32, copy=False)


def _ratings(table: Any, manifest: Manifest) -> Any:
    stored = table["rating"].to_numpy()
    if manifest.scale != "numeric":
        return stored.astype(np.int32)
    if manifest.values is None:
        return stored.astype(np.float64)
    return np.array(manifest.values, np.float64)[stored]


def _damaged(path: Path, found: str) -> RatingsError:
    rule, remedy = "it must be whole", "Remove the folder and partition the ratings again."
    return RatingsError([Fault(str(path), rule, found, remedy)])
