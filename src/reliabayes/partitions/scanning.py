"""Partitioning tables that need not fit in memory, and opening the folders of their parts."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from reliabayes.choices import Missing, Replicates, Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.partitions.dataset import RatingsDataset
from reliabayes.partitions.extra import needed_package
from reliabayes.ratings.argument_checks import NEEDED, check_arguments
from reliabayes.ratings.facets import Facets, facet_columns
from reliabayes.wording import shown


def partition(
    source: Any,
    path: str | os.PathLike[str],
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    pool: str | None = None,
    gold: str | None = None,
    facets: Facets | None = None,
    scale: Scale | None = None,
    categories: Iterable[Any] | None = None,
    replicates: Replicates = "error",
    missing: Missing = "error",
    partitions: int | None = None,
    delimiter: str | None = None,
    n_jobs: int = 1,
) -> RatingsDataset:
    """Write a table of ratings in parts."""
    needed_package("pyarrow")
    roles = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
    check_arguments(
        roles,
        scale=scale,
        categories=categories,
        replicates=replicates,
        missing=missing,
        facets=facets,
        needed=NEEDED,
    )
    if partitions is not None and not (isinstance(partitions, int) and 1 <= partitions < 2**20):
        rule, remedy = "it must be a number of parts, 1 or more", "Pass partitions=64, for example."
        raise RatingsError([Fault("partitions", rule, shown(partitions), remedy)])
    from reliabayes.partitions.partitioning import Request, write_parts
    from reliabayes.partitions.sources import open_source

    opened = open_source(source, delimiter)
    if categories is None and rating in opened.declared:
        declared, categories = opened.declared[rating]
        scale = scale or declared
    named = {role: name for role, name in roles.items() if name is not None}
    columns = named | facet_columns(facets)
    arguments = {
        "columns": columns,
        "scale": scale,
        "categories": None if categories is None else list(categories),
        "replicates": replicates,
        "missing": missing,
        "partitions": partitions,
    }
    folder = Path(path)
    write_parts(Request(opened, columns, arguments, folder, n_jobs))
    return scan_ratings(folder)


def scan_ratings(path: str | os.PathLike[str]) -> RatingsDataset:
    """Open a folder of ratings in parts, which `partition` has written."""
    needed_package("pyarrow")
    from reliabayes.partitions.storage import stored_dataset

    return stored_dataset(Path(path))
