"""Published ratings for examples and tests: two tables in the package, larger ones in a cache."""

from __future__ import annotations

import logging
import os
import tomllib
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from io import BytesIO
from pathlib import Path
from types import MappingProxyType
from typing import Any

import pandas as pd

from reliabayes.choices import Scale
from reliabayes.seals import checksum

__all__ = ["Dataset", "about", "catalogue", "load", "names"]

BUNDLED = Path(__file__).parent / "data"


@dataclass(frozen=True, kw_only=True)
class Dataset:
    """The description of a data set, which is known before its table is read.

    Attributes
    ----------
    name : str
        Name of the file, without ``.csv``.
    description : str
        What was rated, by whom, and what the ratings mean.
    source : str
        The publication.
    doi : str
        DOI of the publication; empty if it has none.
    rows : int
        Number of rows.
    scale : {"nominal", "ordered", "numeric"}
        How the categories of the ratings relate: not at all, by order, or by distance.
    columns : mapping from str to str
        Names of the columns, in order, and their types. The columns ``item``, ``rater``,
        ``rating``, ``pool`` and ``gold`` fit the arguments of `Ratings.from_frame` with these
        names.
    sha256 : str
        SHA-256 hash of the file.
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
        """The terms under which the table is available."""
        return "published table, bundled" if self.is_bundled else "not redistributed; see source"

    @property
    def is_bundled(self) -> bool:
        """Whether the table comes with the package."""
        return self._bundled.exists()

    @property
    def _bundled(self) -> Path:
        return BUNDLED / self._file

    @property
    def _file(self) -> str:
        return f"{self.name}.csv"

    def path(self) -> Path:
        """Return the path of the file, which is downloaded first if there is a mirror; see `load`.

        Returns
        -------
        Path
            The file, with the right hash.

        Raises
        ------
        ValueError
            If the file in the folder has a wrong hash.
        FileNotFoundError
            If there is no such file and no mirror.
        OSError
            If the mirror fails or gives another file.
        """
        if self.is_bundled:
            return self._bundled
        path = folder() / self._file
        if path.exists():
            self._check(path, path.read_bytes())
        elif mirror := os.environ.get("RELIABAYES_DATA_URL"):
            self._fetch(f"{mirror.rstrip('/')}/{self._file}")
        else:
            raise FileNotFoundError(
                f"{self.name}: the file must be in the data folder; found no {self._file} in "
                f"{folder()}. Put the file with sha256 {self.sha256} there, set RELIABAYES_DATA to "
                "the folder that holds it, or set RELIABAYES_DATA_URL to the URL of a mirror."
            )
        return path

    def read(self) -> bytes:
        """Return the content of the file, which has the right hash whoever can write to the file.

        Returns
        -------
        bytes
            The table as CSV.

        Raises
        ------
        ValueError, FileNotFoundError, OSError
            As of `path`.
        """
        path = self.path()
        content = path.read_bytes()
        self._check(path, content)
        return content

    def _check(self, path: Path, content: bytes) -> None:
        if (found := checksum(content)) != self.sha256:
            raise ValueError(
                f"{self.name}: the file must have sha256 {self.sha256}; found {found} in {path}. "
                "Remove it, or replace it by the right one."
            )

    def _fetch(self, url: str) -> None:
        try:
            with _quiet(_pooch().get_logger()):
                _pooch().retrieve(url, f"sha256:{self.sha256}", self._file, folder())
        except (OSError, ValueError) as error:
            raise OSError(
                f"{self.name}: the mirror must provide the file with sha256 {self.sha256}; found "
                f"{error}. Check RELIABAYES_DATA_URL, or put {self._file} into {folder()}."
            ) from error


def load(name: str) -> pd.DataFrame:
    """Return a table of published ratings, with one rating per row.

    Tables that do not come with the package are read from a folder: the one in the environment
    variable ``RELIABAYES_DATA``, or else the user's cache. If the file is not there, it is
    downloaded from the mirror in ``RELIABAYES_DATA_URL``, if that is set. No other network access
    takes place.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    DataFrame
        The columns that `catalogue` lists. Ids are numbers only if all of them are whole numbers.

    Raises
    ------
    ValueError
        If there is no such data set, or its file has a wrong hash. The file is left unchanged.
    FileNotFoundError
        If the file is not in the folder, and there is no mirror.
    OSError
        If the mirror fails, or provides another file.

    Examples
    --------
    >>> from reliabayes import Ratings, datasets
    >>> Ratings.from_frame(datasets.load("shrout_fleiss_1979"))
    Ratings(24 ratings of 6 items by 4 raters, numeric 1..10)
    """
    dataset = about(name)
    # No word means a missing value, because "null" and "NA" may be items.
    return pd.read_csv(BytesIO(dataset.read()), dtype=dict(dataset.columns), keep_default_na=False)


def names() -> list[str]:
    """Return the names of all data sets, with the bundled ones first.

    Returns
    -------
    list of str
        Names for `load` and `about`.

    Examples
    --------
    >>> from reliabayes import datasets
    >>> datasets.names()[:2]
    ['shrout_fleiss_1979', 'dawid_skene_1979']
    """
    return list(DATASETS)


def about(name: str) -> Dataset:
    """Return the description of a data set.

    Parameters
    ----------
    name : str
        One of `names`.

    Returns
    -------
    Dataset
        Its description, source, size, scale and columns.

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
        f"The data sets are {', '.join(DATASETS)}."
    )


def catalogue() -> pd.DataFrame:
    """Return a table of all data sets.

    Returns
    -------
    DataFrame
        Index name; columns description, source, doi, licence, rows, scale and columns.

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
    """Return the folder of the data sets that do not come with the package.

    Returns
    -------
    Path
        The folder in the environment variable ``RELIABAYES_DATA``, or else the user's cache.
    """
    chosen = os.environ.get("RELIABAYES_DATA")
    return Path(chosen).expanduser() if chosen else Path(_pooch().os_cache("reliabayes"))


@contextmanager
def _quiet(logger: logging.Logger) -> Iterator[None]:
    """Silence a logger, except for warnings."""
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(level)


def _catalogue() -> dict[str, Dataset]:
    with (BUNDLED / "catalogue.toml").open("rb") as file:
        return {name: Dataset(name=name, **entry) for name, entry in tomllib.load(file).items()}


DATASETS: Mapping[str, Dataset] = MappingProxyType(_catalogue())


def _pooch() -> Any:
    """Import pooch when data are first requested."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "IProgress")  # tqdm's, in notebooks without ipywidgets
        import pooch  # type: ignore[import-untyped]

    return pooch
