"""What is known of parts besides their ratings: ids, categories, and where they are from."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.arrays import Codes
from reliabayes.choices import Replicates, Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.files import write_whole
from reliabayes.partitions.manifest_checks import check_manifest
from reliabayes.seals import DAMAGED, Seal

NAME = "manifest.json"
WORK = ".unfinished"  # folder of what is there until all parts are
FORMAT = 2
WITHOUT_CHECKSUMS = 1  # the last format that had none
SEAL = Seal(b',\n "sha256": "', b'"\n}')  # ends the object, so that the file is JSON all the same


@dataclass(frozen=True, kw_only=True)
class Manifest:
    """The header of parts, which all of them share.

    Attributes
    ----------
    arguments : dict
        What `partition` was called with.
    source : dict
        What identifies the source: names, sizes, times and checksums of files, or a query.
    raters, pools : list
        The user's ids, sorted.
    rater_pool : list of int or None
        Position in `pools` of each rater's pool.
    scale : {"nominal", "ordered", "numeric"}
        How ratings relate.
    scale_is_guess : bool
        Whether the scale was inferred.
    categories : list or None
        Values that a rating can have; None for numbers of a continuous scale.
    values : list of float or None
        The numbers of which ratings are stored as positions; None if they are stored themselves.
    categories_are_given : bool
        Whether numbers that a rating can have were declared.
    limits : list of float or None
        The smallest and the largest of all numbers.
    has_gold : bool
        Whether known true values are kept.
    facets : dict from str to list
        The user's ids of the levels of each facet.
    n_missing : int
        Number of rows without a rating that were left out.
    parts : list of dict
        Numbers of ratings and items of each part, and checksums of its files.
    """

    arguments: dict[str, Any]
    source: dict[str, Any]
    raters: list[Any]
    pools: list[Any]
    rater_pool: list[int] | None
    scale: Scale
    scale_is_guess: bool
    categories: list[Any] | None
    values: list[float] | None
    categories_are_given: bool
    limits: list[float] | None
    has_gold: bool
    facets: dict[str, list[Any]]
    n_missing: int
    parts: list[dict[str, Any]]

    @property
    def replicates(self) -> Replicates:
        """Whether a rater may rate an item more than once."""
        kept: Replicates = self.arguments["replicates"]
        return kept

    def index(self, name: str) -> pd.Index[Any]:
        """Return the ids of raters, pools or categories, or the levels of a facet."""
        values = self.facets[name] if name in self.facets else getattr(self, name)
        return as_index(values)

    def pool_codes(self) -> Codes | None:
        """Return the position of each rater's pool, or None without pools."""
        return None if self.rater_pool is None else np.array(self.rater_pool, np.int32)

    def write(self, folder: Path) -> None:
        """Write the manifest, by which a folder is complete."""
        content = {"format": FORMAT, **asdict(self)}
        text = json.dumps(content, ensure_ascii=False, allow_nan=False, indent=1)
        write_whole(folder / NAME, SEAL.sealed(text.removesuffix("\n}").encode()))


def as_index(values: list[Any]) -> pd.Index[Any]:
    """Return ids that JSON has kept as an Index of the type that `Ratings` gives them."""
    index: pd.Index[Any] = pd.Index(values, dtype=None if values else object)
    return index


def read_manifest(folder: Path) -> Manifest:
    """Return the manifest of a folder.

    Parameters
    ----------
    folder : Path
        What `partition` has written.

    Returns
    -------
    Manifest

    Raises
    ------
    RatingsError
        If it is damaged, or a later version has written it.
    FileNotFoundError
        If there is none.
    """
    path = folder / NAME
    state = path.stat()
    return _read(path, state.st_mtime_ns, state.st_size)


@lru_cache(maxsize=8)  # each of many parts needs it
def _read(path: Path, changed: int, size: int) -> Manifest:
    data = path.read_bytes()
    try:
        is_sealed, content = SEAL.is_on(data), json.loads(data)
        found = content.pop("format")
        if found == FORMAT and not is_sealed:
            raise ValueError(f"{DAMAGED} (no checksum)")
        content.pop("sha256", None)
        if found in (FORMAT, WITHOUT_CHECKSUMS):
            check_manifest(content)
            return Manifest(**content)
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        rule, remedy = "it must describe parts of ratings", "Partition the ratings again."
        raise RatingsError([Fault(str(path), rule, str(error), remedy)]) from error
    rule, remedy = f"its format must be {FORMAT}", "Update reliabayes, or partition them again."
    raise RatingsError([Fault(str(path), rule, str(found), remedy)])
