"""Tables of items in files: one for all ratings in memory, or one for each part of a dataset."""

from __future__ import annotations

import io
import os
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import TypeAlias, TypeVar

import numpy as np
import pandas as pd

from reliabayes.files import whole_folder, write_whole
from reliabayes.partitions import RatingsDataset
from reliabayes.partitions.dataset import Part
from reliabayes.ratings import Ratings
from reliabayes.results.summaries import ratings_of

Result = TypeVar("Result")

# Makes the table of items of a part, given a source of randomness. Can be pickled.
TableOfPart: TypeAlias = Callable[[Ratings, np.random.Generator], pd.DataFrame]


def write_table(items: pd.DataFrame, folder: str | os.PathLike[str]) -> None:
    """Write the table of all items to a new folder, as if it were that of one part.

    Parameters
    ----------
    items : DataFrame
        The table, with the user's ids as index.
    folder : str or path
        Is made if it does not exist.
    """
    with whole_folder(folder) as draft:
        _write(items, draft, 0)


def write_tables(
    dataset: RatingsDataset, table: TableOfPart, folder: str | os.PathLike[str], seed: int
) -> None:
    """Write the table of items of each part to a file of a new folder.

    Parameters
    ----------
    dataset : RatingsDataset
        The ratings. Their executor is what reads parts and writes tables, one part at a time each.
    table : callable
        What makes the table of a part.
    folder : str or path
        Is made if it does not exist.
    seed : int
        Seed of the randomness, of which each part has its own.
    """
    with whole_folder(folder) as draft:
        of_part = partial(_write_part, table, seed, draft)
        for _ in dataset.executor(of_part, [*enumerate(dataset.parts)]):
            pass


def of_table(
    table: TableOfPart,
    seed: int,
    function: Callable[[pd.DataFrame, Ratings], Result],
    part: Ratings,
) -> Result:
    """A function of the table of items of a part, and its ratings.

    Parameters
    ----------
    table : callable
        What makes the table.
    seed : int
        Seed of the randomness, of which each part has its own.
    function : callable
        Takes the table and the ratings.
    part : Ratings
        The ratings, with the positions of the items in the dataset as their ids.
    """
    return function(table(part, np.random.default_rng([seed, part.items[0]])), part)


def _write_part(table: TableOfPart, seed: int, folder: Path, numbered: tuple[int, Part]) -> None:
    number, part = numbered
    ratings = replace(part.read(), items=part.item_ids())
    items = table(ratings, np.random.default_rng([seed, number]))
    items.insert(0, "ratings", ratings_of(items.index, ratings))
    _write(items, folder, number)


def _write(items: pd.DataFrame, folder: Path, number: int) -> None:
    content = io.BytesIO()
    items.reset_index().to_parquet(content, index=False)
    write_whole(folder / f"part-{number:05}.parquet", content.getbuffer())
