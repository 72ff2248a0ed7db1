"""Published ratings to learn and test with: two tables in the package, larger ones in a cache."""

from __future__ import annotations

import logging
import os
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from reliabayes.ratings.columns import Scale

__all__ = ["Dataset", "about", "catalogue", "load", "names"]

BUNDLED = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """What is known of a table before it is read.

    Attributes
    ----------
    name : str
        Name of the file, without ``.csv``.
    description : str
        What was rated, by whom, and what the ratings mean.
    source : str
        Who published it.
    doi : str
        The publication's DOI; empty if it has none.
    rows : int
        Number of rows.
    scale : {"nominal", "ordered", "numeric"}
        How the categories of the ratings relate: not at all, by order, or by distance.
    columns : mapping from str to str
        The table's columns in their order, and their types. ``item``, ``rater``, ``rating``,
        ``pool`` and ``gold`` are what the arguments of `Ratings.from_frame` of that name take.
    sha256 : str
        Hash of the file.
    """

    name: str
    description: str
    source: str
    doi: str
    rows: int
    scale: Scale
    columns: Mapping[str, str]
    sha256: str

    @property
    def licence(self) -> str:
        """On what terms it can be had."""
        return "published table, bundled" if self.is_bundled else "not redistributed; see source"

    @property
    def is_bundled(self) -> bool:
        """Whether it comes with the package."""
        return self._bundled.exists()

    @property
    def _bundled(self) -> Path:
        return BUNDLED / self._file

    @property
    def _file(self) -> str:
        return f"{self.name}.csv"

    def path(self) -> Path:
        """Return where its file stands, fetched if there is a mirror; see `load`."""
        if self.is_bundled:
            return self._bundled
        path = folder() / self._file
        if path.exists():
            self._check(path)
        elif mirror := os.environ.get("RELIABAYES_DATA_URL"):
            self._fetch(f"{mirror.rstrip('/')}/{self._file}")
        else:
            raise FileNotFoundError(
                f"{self.name}: the file must stand in the folder of data sets; found no "
                f"{self._file} in {folder()}. Put the one with sha256 {self.sha256} there, name "
                "the folder that holds it in RELIABAYES_DATA, or a mirror of it in "
                "RELIABAYES_DATA_URL."
            )
        return path

    def _check(self, path: Path) -> None:
        if (found := _pooch().file_hash(str(path))) != self.sha256:
            raise ValueError(
                f"{self.name}: the file must have sha256 {self.sha256}; found {found} in {path}. "
                "Remove it, or put the right one in its place."
            )

    def _fetch(self, url: str) -> None:
        try:
            with _quiet(_pooch().get_logger()):
                _pooch().retrieve(url, f"sha256:{self.sha256}", self._file, folder())
        except (OSError, ValueError) as error:
            raise OSError(
                f"{self.name}: the mirror must give the file with sha256 {self.sha256}; found "
                f"{error}. Check RELIABAYES_DATA_URL, or put {self._file} into {folder()}."
            ) from error


def load(name: str) -> pd.DataFrame:
    """Return a table of published ratings, one rating per row.

    What is not bundled is read from a folder, the user's cache or the one that the environment
    variable ``RELIABAYES_DATA`` names, if it stands there with the right hash. Otherwise it is
    fetched from the address in ``RELIABAYES_DATA_URL``, if there is one. No other network is used.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    DataFrame
        Columns and types as `catalogue` tells. Ids are numbers only where all are whole.

    Raises
    ------
    ValueError
        If there is no such data set, or its file has a wrong hash; the file is left as it is.
    FileNotFoundError
        If the file is not in the folder and no mirror is named; it tells what belongs where.
    OSError
        If the mirror does not answer, or gives another file.

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    Ratings(24 ratings of 6 items by 4 raters, numeric 1..10)
    """
    dataset = about(name)
    # No word stands for a missing value: "null" and "NA" may be items.
    return pd.read_csv(dataset.path(), dtype=dict(dataset.columns), keep_default_na=False)


def names() -> list[str]:
    """Return the names of all data sets, the bundled ones first.

    Examples
    --------
    >>> from reliabayes import datasets
    >>> datasets.names()[:2]
    ['shrout_fleiss_1979', 'dawid_skene_1979']
    """
    return list(DATASETS)


def about(name: str) -> Dataset:
    """Return what is known of a data set.

    Parameters
    ----------
    name : str
        One of `names`.

    Raises
    ------
    ValueError
        If there is no such data set.

    Examples
    --------
    >>> from reliabayes import datasets
    >>> datasets.about("dawid_skene_1979").doi
    '10.2307/2346806'
    """
    if name in DATASETS:
        return DATASETS[name]
    close = get_close_matches(name, DATASETS, cutoff=0.4)
    guess = f"Did you mean {' or '.join(map(repr, close))}? " if close else ""
    raise ValueError(
        f"name: it must be the name of a data set; found {name!r}. {guess}"
        f"There are {', '.join(DATASETS)}."
    )


def catalogue() -> pd.DataFrame:
    """Return a table of all data sets.

    Returns
    -------
    DataFrame
        A row per data set, by name: description, source, doi, licence, rows, scale, and columns.

    Examples
    --------
    >>> from reliabayes import datasets
    >>> datasets.catalogue().loc["shrout_fleiss_1979", "columns"]
    'item, rater, rating'
    """
    table = pd.DataFrame(
        {
            "name": each.name,
            "description": each.description,
            "source": each.source,
            "doi": each.doi,
            "licence": each.licence,
            "rows": each.rows,
            "scale": each.scale,
            "columns": ", ".join(each.columns),
        }
        for each in DATASETS.values()
    )
    return table.set_index("name")


def folder() -> Path:
    """Return the folder of what is not bundled: ``RELIABAYES_DATA``, else the user's cache."""
    chosen = os.environ.get("RELIABAYES_DATA")
    return Path(chosen).expanduser() if chosen else Path(_pooch().os_cache("reliabayes"))


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Keep a library from printing."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _catalogue() -> dict[str, Dataset]:
    with (BUNDLED / "catalogue.toml").open("rb") as file:
        return {name: Dataset(name=name, **known) for name, known in tomllib.load(file).items()}


DATASETS: Mapping[str, Dataset] = MappingProxyType(_catalogue())


def _pooch() -> Any:
    """pooch, imported when data are first asked for."""
    import pooch  # type: ignore[import-untyped]

    return pooch
