"""Ratings from files: delimited text or JSON lines, which may be compressed, Excel and Parquet."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from reliabayes.choices import Missing, Replicates, Scale
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import NEEDED, check_arguments, check_text_options
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.file_formats import (
    EXCEL_SUFFIX,
    TEXT_SUFFIXES,
    format_suffix,
    open_text,
    read_errors_as_faults,
    read_records,
)
from reliabayes.ratings.frames import named_columns, role_faults
from reliabayes.ratings.ratings import Ratings
from reliabayes.wording import listed

ROLES = ("item", "rater", "rating", "pool", "gold")
DELIMITERS = ",;\t|"
# Rows that are read to suggest columns if the named ones are absent.
N_SAMPLED = 100
# Texts with a leading zero are ids or labels, not numbers: 007 is not 7.
LONG_NUMBER = 16  # digits, from which on floats may merge numbers
WHOLE_NUMBER = r"0|-?[1-9][0-9]{0,17}"


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
    missing: Missing = "error",
    delimiter: str | None = None,
    encoding: str = "utf-8",
) -> Ratings:
    r"""Read ratings from a file that holds a long table, with one rating per line.

    Only empty fields count as missing. Ids become int if all of them are whole numbers without
    leading zeros; otherwise they stay text.

    Parameters
    ----------
    path : str or path
        A ``.csv``, ``.tsv``, ``.txt``, ``.jsonl`` (an object a line), ``.xlsx`` (its first sheet;
        needs the package openpyxl) or ``.parquet`` file. Text files may be compressed, with
        ``.gz``, ``.bz2``, ``.xz``, ``.zip`` or ``.zst`` (which needs the package zstandard) at the
        end of their names.
    item : str, default "item"
        Name of the column that says what was rated.
    rater : str, default "rater"
        Name of the column that says who rated it.
    rating : str, default "rating"
        Name of the column of the ratings.
    pool : str, optional
        Name of the column of the rater's pool.
    gold : str, optional
        Name of the column of the item's known true value.
    scale : {"nominal", "ordered", "numeric"}, optional
        As for `Ratings.from_frame`.
    categories : iterable, optional
        As for `Ratings.from_frame`.
    replicates : {"error", "keep"}, default "error"
        Whether a rater may rate an item more than once.
    missing : {"error", "drop"}, default "error"
        Whether rows without a rating are left out; as for `Ratings.from_frame`.
    delimiter : str, optional
        The character between fields. By default a tab in ``.tsv`` files; in others the comma,
        semicolon, tab or bar, whichever is most frequent in the header.
    encoding : str, default "utf-8"
        The encoding of a text file.

    Returns
    -------
    Ratings
        N ratings, one per line after the header that has one.

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    RatingsError
        If the file cannot be read as a table, or the table breaks a rule. The message lists all
        faults, with line numbers for a text file, the rows of a spreadsheet as it numbers them,
        and 0-based rows for other files.

    Examples
    --------
    >>> from pathlib import Path
    >>> from tempfile import TemporaryDirectory
    >>> from reliabayes.ratings import read_ratings
    >>> with TemporaryDirectory() as folder:
    ...     path = Path(folder, "ads.csv")
    ...     _ = path.write_text("ad,who,score\n1,x,4\n1,y,5\n2,x,1\n2,y,1\n")
    ...     read_ratings(path, item="ad", rater="who", rating="score")
    Ratings(4 ratings of 2 items by 2 raters, numeric 1..5)
    """
    file = Path(path)
    check_text_options(delimiter, encoding)
    options: Mapping[str, Any] = {
        "item": item,
        "rater": rater,
        "rating": rating,
        "pool": pool,
        "gold": gold,
        "scale": scale,
        "categories": categories,
        "replicates": replicates,
        "missing": missing,
    }
    check_arguments(
        {role: options[role] for role in ROLES},
        scale=scale,
        categories=categories,
        replicates=replicates,
        missing=missing,
        needed=NEEDED,
    )
    suffix = format_suffix(file)
    if suffix not in TEXT_SUFFIXES:
        frame = read_records(file, suffix)
        try:
            return Ratings.from_frame(frame, **options)
        except RatingsError as error:
            if suffix != EXCEL_SUFFIX:
                raise
            # Spreadsheets count rows from 1, and the first is the header.
            raise error.relocated(lambda row: row + 2, "row") from None
    named = {role: options[role] for role in ROLES if options[role] is not None}
    with read_errors_as_faults(file, encoding):
        layout = _find_layout(file, delimiter, encoding, named)
        frame = _read_text(layout, named)
    try:
        return Ratings.from_frame(frame, **options)
    except RatingsError as error:
        n_lines = 2 + max((row for fault in error.faults for row in fault.rows), default=0)
        try:
            lines = list(islice(_record_lines(layout), n_lines))
        except csv.Error:  # a field is longer than this reader takes
            raise error from None
        raise error.relocated(lambda row: lines[row + 1], "line") from None


@dataclass(frozen=True)
class _Layout:
    """How to split a text file into fields."""

    file: Path
    delimiter: str
    encoding: str


def _find_layout(
    file: Path, delimiter: str | None, encoding: str, named: Mapping[str, str]
) -> _Layout:
    """Find the delimiter and check the header."""
    with open_text(file, encoding) as handle:
        lines = list(islice((line for line in handle if line.strip()), 2))
    if not lines:
        rule, remedy = "it must hold a header and ratings", "Check how the file was exported."
        raise RatingsError([Fault(file.name, rule, "an empty file", remedy)])
    guess = "\t" if format_suffix(file) == ".tsv" else max(DELIMITERS, key=lines[0].count)
    layout = _Layout(file, guess if delimiter is None else delimiter, encoding)
    records = csv.reader(lines, delimiter=layout.delimiter)
    header = next(records)
    if header[0].lstrip().startswith("#") and not set(named.values()) & set(header):
        rule, found = "the first line must name the columns", f"the comment {lines[0].strip()!r}"
        raise RatingsError([Fault("header", rule, found, "Remove the lines above the header.")])
    faults = [*_delimiter_faults(header, layout), *role_faults(header, named)]
    if not set(named.values()) & set(header):
        with suppress(csv.Error):  # its fields are too long for this reader, and no numbers
            faults += _no_header_faults(header, next(records, []))
    if faults:
        raise RatingsError(faults)
    if not set(named.values()) <= set(header):
        named_columns(_parsed(layout, nrows=N_SAMPLED), named)
        # pandas gives columns without a name of their own one that the file does not have.
        rule, found = "the file must have the columns that were named", listed(header, 20)
        raise RatingsError([Fault("header", rule, found, "Give each column a name of its own.")])
    return layout


def _delimiter_faults(header: Sequence[str], layout: _Layout) -> list[Fault]:
    other = max(DELIMITERS, key=header[0].count)
    if len(header) > 1 or other not in header[0]:
        return []
    rule = f"the delimiter {layout.delimiter!r} must split the header into columns"
    return [Fault("header", rule, f"only {header[0]!r}", f"Pass delimiter={other!r}.")]


def _no_header_faults(header: Sequence[str], first: Sequence[str]) -> list[Fault]:
    """Return a fault if the first line has numbers in the same places as the second."""
    kinds = [[bool(re.fullmatch(NUMBER, field)) for field in line] for line in (header, first)]
    if not any(kinds[0]) or kinds[0] != kinds[1]:
        return []
    rule = "the first line must name the columns"
    remedy = "Add a line such as item,rater,rating at the top of the file."
    return [Fault("header", rule, f"the values {listed(header, 10)}", remedy)]


def _read_text(layout: _Layout, named: Mapping[str, str]) -> pd.DataFrame:
    texts = _parsed(layout, dtype=str, keep_default_na=False, na_values=[""])
    read = {"item": _ids, "rater": _ids, "pool": _ids, "rating": _values, "gold": _values}
    return pd.DataFrame({name: read[role](texts[name]) for role, name in named.items()})


def _parsed(layout: _Layout, **options: Any) -> pd.DataFrame:
    """Parse the file; a line with more fields than the header is an error, not truncated."""
    with open_text(layout.file, layout.encoding) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame: pd.DataFrame = pd.read_csv(handle, sep=layout.delimiter, index_col=False, **options)
        return frame


def _ids(texts: pd.Series[str]) -> pd.Categorical:
    codes, ids = pd.factorize(texts)
    are_whole = bool(ids.str.fullmatch(WHOLE_NUMBER).all())
    return pd.Categorical.from_codes(codes, ids.astype(np.int64) if are_whole else ids)


def _values(texts: pd.Series[str]) -> Any:
    codes, values = pd.factorize(texts)
    if not values.str.fullmatch(NUMBER).all():
        return texts
    if values.str.fullmatch(WHOLE_NUMBER).all() and values.str.len().max() >= LONG_NUMBER:
        return pd.array(values.astype(np.int64).to_numpy(), dtype="Int64").take(
            codes, allow_fill=True
        )
    return np.append(values.astype(np.float64), np.nan)[codes]


def _record_lines(layout: _Layout) -> Iterator[int]:
    """Yield the line on which each record starts, beginning with the header.

    Lines of spaces and tabs are none, as for pandas; those of quotes or of other characters are.
    """
    with open_text(layout.file, layout.encoding) as handle:
        texts: list[str] = []  # lines of one record
        blank = " \t\r\n".replace(layout.delimiter, "")
        reader = csv.reader(_kept(handle, texts), delimiter=layout.delimiter)
        line = 1
        for _ in reader:
            if "".join(texts).strip(blank):
                yield line
            texts.clear()
            line = reader.line_num + 1


def _kept(lines: Iterable[str], seen: list[str]) -> Iterator[str]:
    for line in lines:
        seen.append(line)
        yield line
