"""Ratings from files: comma- or tab-separated text and Parquet, compressed or not."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.columns import Scale
from reliabayes.ratings.file_formats import PARQUET_KINDS, kind_of, open_text, telling_faults
from reliabayes.ratings.frames import named_columns, role_faults
from reliabayes.ratings.ratings import Ratings, Replicates
from reliabayes.wording import listed

ROLES = ("item", "rater", "rating", "pool", "gold")
DELIMITERS = ",;\t|"
# Rows read to guess what a table without the named columns is.
N_SAMPLED = 100
# Texts with a leading zero are ids or labels, not numbers: 007 is not 7.
WHOLE = r"0|-?[1-9][0-9]{0,17}"
NUMBER = r"[-+]?(?:(?:0|[1-9][0-9]*)(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][-+]?[0-9]+)?|[-+]?inf"


def read_ratings(
    path: str | PathLike[str],
    *,
    item: str = "item",
    rater: str = "rater",
    rating: str = "rating",
    pool: str | None = None,
    gold: str | None = None,
    scale: Scale | None = None,
    categories: Iterable[Any] | None = None,
    replicates: Replicates = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Ratings:
    r"""Read ratings from a file that holds a long table, one rating per line.

    Only an empty field counts as missing. Ids that are all whole numbers become int, unless one has
    a leading zero; all others stay the texts they are.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv``, ``.txt`` or ``.parquet`` file; the texts may end in ``.gz``, ``.bz2``,
        ``.xz``, ``.zip`` or ``.zst`` (which needs the package zstandard).
    item, rater, rating, pool, gold, scale, categories, replicates
        As for `Ratings.from_frame`.
    delimiter : str, optional
        What stands between fields. By default a tab in ``.tsv``, else the one of comma, semicolon,
        tab and bar that the header has most of.
    encoding : str
        How a text file's letters are encoded.

    Returns
    -------
    Ratings
        N ratings, one per line after the header.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the file cannot be read as a table, or the table breaks a rule; it tells all faults, with
        the line numbers of a text file and the 0-based rows of a Parquet file.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from reliabayes.ratings.reading import read_ratings
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ads.csv")
    ...     _ = path.write_text("ad,who,score\n1,x,4\n1,y,5\n2,x,1\n2,y,1\n")
    ...     read_ratings(path, item="ad", rater="who", rating="score")
    Ratings(4 ratings of 2 items by 2 raters, numeric 1..5)
    """
    file = Path(path)
    options: Mapping[str, Any] = {
        "item": item,
        "rater": rater,
        "rating": rating,
        "pool": pool,
        "gold": gold,
        "scale": scale,
        "categories": categories,
        "replicates": replicates,
    }
    if kind_of(file) in PARQUET_KINDS:
        return Ratings.from_frame(_read_parquet(file), **options)
    named = {role: options[role] for role in ROLES if options[role] is not None}
    with telling_faults(file, encoding):
        layout = _layout(file, delimiter, encoding, named)
        frame = _read_text(layout, named)
    try:
        return Ratings.from_frame(frame, **options)
    except RatingsError as error:
        n_lines = 2 + max((row for fault in error.faults for row in fault.rows), default=0)
        lines = list(islice(_first_lines(layout), n_lines))
        raise error.relocated(lambda row: lines[row + 1], "line") from None


@dataclass(frozen=True)
class Layout:
    """How a text file is to be cut into fields."""

    file: Path
    delimiter: str
    encoding: str


def _read_parquet(file: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(file)
    except (ValueError, OSError) as error:
        rule, remedy = "it must be a Parquet file", "Write it again, or rename it to what it is."
        raise RatingsError([Fault(file.name, rule, str(error), remedy)]) from error


def _layout(file: Path, delimiter: str | None, encoding: str, named: Mapping[str, str]) -> Layout:
    """Find the delimiter and check the header."""
    with open_text(file, encoding) as handle:
        lines = list(islice((line for line in handle if line.strip()), 2))
    if not lines:
        rule, remedy = "it must hold a header and ratings", "Check how the file was written."
        raise RatingsError([Fault(file.name, rule, "an empty file", remedy)])
    guess = "\t" if kind_of(file) == ".tsv" else max(DELIMITERS, key=lines[0].count)
    layout = Layout(file, guess if delimiter is None else delimiter, encoding)
    header, *first = csv.reader(lines, delimiter=layout.delimiter)
    faults = [*_uncut_faults(header, layout), *role_faults(header, named)]
    if first and not set(named.values()) & set(header):
        faults += _no_header_faults(header, first[0])
    if faults:
        raise RatingsError(faults)
    if not set(named.values()) <= set(header):
        named_columns(_parsed(layout, nrows=N_SAMPLED), named)
    return layout


def _uncut_faults(header: Sequence[str], layout: Layout) -> list[Fault]:
    other = max(DELIMITERS, key=header[0].count)
    if len(header) > 1 or other not in header[0]:
        return []
    rule = f"the delimiter {layout.delimiter!r} must cut the header into columns"
    return [Fault("header", rule, f"only {header[0]!r}", f"Pass delimiter={other!r}.")]


def _no_header_faults(header: Sequence[str], first: Sequence[str]) -> list[Fault]:
    """Return a fault if the first line reads like the second, with numbers in the same places."""
    kinds = [[bool(re.fullmatch(NUMBER, field)) for field in line] for line in (header, first)]
    if not any(kinds[0]) or kinds[0] != kinds[1]:
        return []
    rule = "the first line must name the columns"
    remedy = "Put a line such as item,rater,rating on top of the file."
    return [Fault("header", rule, f"the values {listed(header, 10)}", remedy)]


def _read_text(layout: Layout, named: Mapping[str, str]) -> pd.DataFrame:
    texts = _parsed(layout, dtype=str, keep_default_na=False, na_values=[""])
    read = {"item": _ids, "rater": _ids, "pool": _ids, "rating": _values, "gold": _values}
    return pd.DataFrame({name: read[role](texts[name]) for role, name in named.items()})


def _parsed(layout: Layout, **options: Any) -> pd.DataFrame:
    """Parse the file; a line of more fields than the header is an error, never cut off."""
    with open_text(layout.file, layout.encoding) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame: pd.DataFrame = pd.read_csv(handle, sep=layout.delimiter, index_col=False, **options)
        return frame


def _ids(texts: pd.Series[str]) -> pd.Categorical:
    codes, ids = pd.factorize(texts)
    are_whole = bool(ids.str.fullmatch(WHOLE).all())
    return pd.Categorical.from_codes(codes, ids.astype(np.int64) if are_whole else ids)


def _values(texts: pd.Series[str]) -> Any:
    codes, values = pd.factorize(texts)
    if not values.str.fullmatch(NUMBER).all():
        return texts
    return np.append(values.astype(np.float64), np.nan)[codes]


def _first_lines(layout: Layout) -> Iterator[int]:
    """Yield the line on which each record starts, the header's first; blank lines are none."""
    with open_text(layout.file, layout.encoding) as handle:
        reader = csv.reader(handle, delimiter=layout.delimiter)
        line = 1
        for record in reader:
            if len(record) > 1 or "".join(record).strip():
                yield line
            line = reader.line_num + 1
