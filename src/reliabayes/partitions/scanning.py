"""Partitioning tables that need not fit in memory, and opening the folders of their parts."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from numbers import Integral
from pathlib import Path
from typing import Any

import pandas as pd

from reliabayes.choices import Missing, Replicates, Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.jobs import check_n_jobs
from reliabayes.partitions.dataset import RatingsDataset
from reliabayes.partitions.executors import cluster, processes
from reliabayes.partitions.extra import needed_package
from reliabayes.partitions.manifest import NAME as MANIFEST
from reliabayes.partitions.manifest import WORK
from reliabayes.partitions.paths import require_folder, require_possible
from reliabayes.ratings.argument_checks import NEEDED, check_arguments
from reliabayes.ratings.facets import Facets, argument, facet_columns
from reliabayes.wording import listed, shown

MOST_PARTS = 2**16


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
    progress: bool | None = None,
) -> RatingsDataset:
    r"""Write a table of ratings in parts, each with all ratings of some of the items.

    The table is read once, in chunks, and need not fit in memory. Parts are in the order of a hash
    of the items' ids, and so are items. This order is the same for any number of parts.

    Called again with the same arguments, it goes on where it was stopped, or opens the parts that
    are there.

    Parameters
    ----------
    source : str, path or data frame
        The table, with one rating per row: a Parquet file, a pattern such as ``"ads-*.parquet"``, a
        folder of such files, or a CSV or TSV file, which may end in ``.gz`` or ``.zst``; a frame of
        pandas, polars or pyarrow; or one that is not in memory, such as a LazyFrame of polars, a
        relation of DuckDB or a frame of Dask. What is no Parquet file is written to one first.
    path : str or path
        The folder to write to, which must be new or empty. It takes some 2 to 6 bytes per rating,
        and several times as much until it is complete.
    item, rater, rating, pool, gold : str, optional
        Names of columns; as for `Ratings.from_frame`. Ids of items must be texts or whole numbers.
    facets : sequence of str, or mapping from str to str, optional
        Further columns that describe a rating; as for `Ratings.from_frame`.
    scale, categories, replicates, missing
        As for `Ratings.from_frame`.
    partitions : int, optional
        Number of parts. By default one for each 2 million rows.
    delimiter : str, optional
        The character between fields of a text file; as for `read_ratings`.
    n_jobs : int, default 1
        Number of processes; -1 for all processors. Each takes about 0.7 GB.
    progress : bool, optional
        Whether bars show how much is done. By default in terminals and notebooks.

    Returns
    -------
    RatingsDataset
        The ratings in the folder, as of `scan_ratings`.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the table breaks a rule; lists all faults of all rows, counted from 0 without the header.
        Nothing is left of the folder then. Also if the folder has something else in it, such as
        parts of another source, or made with other arguments.
    ImportError
        If the packages of the extra ``large`` are not installed.

    Notes
    -----
    Up to 32,767 distinct numbers are stored exactly, as one or two bytes. More are stored as
    float32, with 7 digits. Columns of raters take 4 bytes before compression.

    A source is taken for the same if its files have the same paths, sizes, times of change, and
    checksums of the first and the last mebibyte; and a frame that is not in memory if it is the
    same query.

    Examples
    --------
    >>> from tempfile import TemporaryDirectory
    >>> import pandas as pd
    >>> import reliabayes as rb
    >>> rows = [(ad, who, (ad * who) % 3) for ad in range(100) for who in (1, 2, 3)]
    >>> frame = pd.DataFrame(rows, columns=["ad", "who", "score"])
    >>> with TemporaryDirectory() as folder:
    ...     rb.partition(frame, folder, item="ad", rater="who", rating="score", partitions=4)
    RatingsDataset(300 ratings of 100 items by 3 raters, numeric 0..2, in 4 parts)
    """
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
    named = {role: name for role, name in roles.items() if name is not None}
    columns = named | facet_columns(facets)
    if faults := [*_argument_faults(columns, partitions)]:
        raise RatingsError(faults)
    check_n_jobs(n_jobs)
    folder = Path(path).absolute()
    require_possible(folder, "path")
    require_folder(folder)
    from reliabayes.partitions.partitioning import Request, write_parts
    from reliabayes.partitions.sources import open_source

    opened = open_source(source, delimiter, columns.values())
    if categories is None and rating in opened.declared:
        declared, categories = opened.declared[rating]
        scale = scale or declared
    values = None if categories is None else pd.Index(categories).tolist()
    if others := [each for each in values or () if not isinstance(each, (str, int, float))]:
        rule, remedy = "parts can hold texts, numbers and bools", "Convert the column, say to text."
        raise RatingsError([Fault("categories", rule, listed(others), remedy)])
    arguments = {
        "columns": columns,
        "scale": scale,
        "categories": values,
        "replicates": replicates,
        "missing": missing,
        "partitions": None if partitions is None else int(partitions),
    }
    write_parts(Request(opened, columns, arguments, folder, n_jobs, progress))
    return scan_ratings(folder, progress=progress)


def scan_ratings(
    path: str | os.PathLike[str],
    *,
    n_jobs: int = 1,
    client: Any = None,
    progress: bool | None = None,
) -> RatingsDataset:
    """Open a folder of ratings in parts, which `partition` has written.

    Parameters
    ----------
    path : str or path
        The folder.
    n_jobs : int, default 1
        Number of processes that read parts and compute with them; -1 for all processors.
    client : distributed.Client, optional
        The workers of this Dask cluster do so instead. They must find the folder under this path.
    progress : bool, optional
        Whether a bar shows how many parts are done. By default in terminals and notebooks.

    Returns
    -------
    RatingsDataset

    Raises
    ------
    FileNotFoundError
        If there is no such folder.
    RatingsError
        If it is none that `partition` has completed. Other tables must be partitioned first, and
        ``partition`` says to which folder.
    ImportError
        If the packages of the extra ``large`` are not installed.
    """
    needed_package("pyarrow")
    from reliabayes.partitions.storage import stored_dataset

    executor = processes(n_jobs) if client is None else cluster(client)
    folder = Path(path).absolute()
    require_possible(folder, "path")
    if not (folder / MANIFEST).exists():
        raise _no_parts(folder)
    return replace(stored_dataset(folder), executor=executor, progress=progress)


def _argument_faults(columns: Mapping[str, Any], partitions: Any) -> Iterator[Fault]:
    for role, name in columns.items():
        if not isinstance(name, str):
            rule, remedy = "it must be the name of a column, a text", "Rename the column."
            yield Fault(argument(role), rule, shown(name), remedy)
    is_number = isinstance(partitions, Integral) and not isinstance(partitions, bool)
    if partitions is not None and not (is_number and 1 <= partitions < MOST_PARTS):
        rule = f"it must be a number of parts, from 1 to {MOST_PARTS - 1:,}"
        yield Fault("partitions", rule, shown(partitions), "Pass partitions=64, for example.")


def _no_parts(path: Path) -> Exception:
    """Why this is no folder of parts."""
    if (path / WORK).exists():
        found = "one that is not complete"
        remedy = "Call reliabayes.partition again with the same arguments, to go on with it."
    elif path.exists() or any(path.parent.glob(path.name)):
        found = "another folder" if path.is_dir() else "a file or a pattern of files"
        call = (
            f"reliabayes.partition({str(path.name)!r}, 'FOLDER', item=..., rater=..., rating=...)"
        )
        remedy = f"Call {call} once, and open the new folder."
    else:
        return FileNotFoundError(f"{path}: there is no such folder")
    rule = "it must be a folder of parts, which partition has written"
    return RatingsError([Fault(str(path), rule, found, remedy)])
