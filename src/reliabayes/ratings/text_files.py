"""Text files: how they are split into fields, their header, and the lines of their records."""

from __future__ import annotations

import csv
import re
import warnings
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import Any

import pandas as pd

from reliabayes.choices import Shape
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.encodings import found_encoding
from reliabayes.ratings.file_formats import format_suffix, open_bytes, open_text
from reliabayes.ratings.frames import (
    named_columns,
    refuse_comment,
    repeated_name_faults,
    role_faults,
)
from reliabayes.ratings.table_shape import guessed_shape
from reliabayes.ratings.text_values import text_values
from reliabayes.wording import listed

DELIMITERS = ",;\t|"
N_SAMPLED = 100  # rows that are read to suggest columns if the named ones are absent
EMPTY = ("it must hold a header and ratings", "an empty file", "Check how the file was exported.")


@dataclass(frozen=True)
class Layout:
    """How to split a text file into fields.

    Attributes
    ----------
    file : Path
        The file.
    delimiter : str
        The character between fields.
    encoding : str
        Its encoding.
    lines : tuple of str
        Its first lines that are not empty.
    """

    file: Path
    delimiter: str
    encoding: str
    lines: tuple[str, ...]


def find_layout(file: Path, delimiter: str | None, encoding: str) -> Layout:
    """Find the delimiter in the header.

    Parameters
    ----------
    file : Path
        The file.
    delimiter : str, optional
        The delimiter, if it is known.
    encoding : str
        Its encoding.

    Returns
    -------
    Layout

    Raises
    ------
    RatingsError
        If it is empty.
    """
    lines = _first_lines(file, encoding, 2)
    guess = "\t" if format_suffix(file) == ".tsv" else max(DELIMITERS, key=lines[0].count)
    return Layout(file, guess if delimiter is None else delimiter, encoding, tuple(lines))


def find_any_layout(file: Path, delimiter: str | None, encoding: str) -> Layout:
    """Find encoding and delimiter, whatever stands above the header.

    Parameters
    ----------
    file : Path
        The file.
    delimiter : str, optional
        The delimiter, if it is known. By default the one that splits most lines alike.
    encoding : str
        Its encoding; if it is UTF-8, what the bytes say.

    Returns
    -------
    Layout

    Raises
    ------
    RatingsError
        If it is empty.
    """
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8"):
        with open_bytes(file) as opened:
            encoding = found_encoding(opened.read())
    lines = _first_lines(file, encoding, N_SAMPLED)
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda sign: _lines_alike(lines, sign))
    return Layout(file, delimiter, encoding, tuple(lines))


def _first_lines(file: Path, encoding: str, number: int) -> list[str]:
    with open_text(file, encoding) as handle:
        lines = list(islice((line for line in handle if line.strip()), number))
    if not lines:
        rule, found, remedy = EMPTY
        raise RatingsError([Fault(file.name, rule, found, remedy)])
    return lines


def _lines_alike(lines: Sequence[str], delimiter: str) -> tuple[int, int]:
    """How many delimiters the lines have that are split into the same number of fields."""
    try:
        widths = Counter(len(row) for row in csv.reader(lines, delimiter=delimiter))
    except csv.Error:
        return 0, 0
    width, number = max(
        ((w, n) for w, n in widths.items() if w > 1), key=lambda x: x[::-1], default=(0, 0)
    )
    return number * (width - 1), width


def guessed_shape_of(layout: Layout, roles: Mapping[str, Any]) -> Shape:
    """Whether the table is obviously wide; tables with other faults count as long.

    Parameters
    ----------
    layout : Layout
        The file.
    roles : mapping from str to str or None
        Names of columns by role or name of facet.

    Returns
    -------
    {"long", "wide"}
    """
    try:
        header = next(csv.reader(layout.lines, delimiter=layout.delimiter))
        return guessed_shape(
            header, roles, lambda: typed_sample(read_texts(layout, nrows=N_SAMPLED))
        )
    except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning):
        return "long"


def typed_sample(texts: pd.DataFrame) -> pd.DataFrame:
    """Return columns of texts, as numbers where all are."""
    return pd.DataFrame({name: text_values(texts[name])[0] for name in texts})


def check_header(layout: Layout, named: Mapping[str, str]) -> None:
    """Refuse a header that is none.

    Parameters
    ----------
    layout : Layout
        The file.
    named : mapping from str to str
        The columns that must be there, by role.

    Raises
    ------
    RatingsError
        If the first line is no header.
    """
    records = csv.reader(layout.lines, delimiter=layout.delimiter)
    header = next(records)
    refuse_comment(layout.lines[0], header, named.values())
    faults = [*_delimiter_faults(header, layout), *role_faults(header, named)]
    if not set(named.values()) & set(header):
        with suppress(csv.Error):  # its fields are too long for this reader, and no numbers
            faults += _no_header_faults(header, next(records, []))
    if faults:
        raise RatingsError(faults)
    if not set(named.values()) <= set(header):
        with suppress(RatingsError):  # which reading reports with all others
            named_columns(_parsed(layout, nrows=N_SAMPLED), named)
            # pandas gives columns without a name of their own one that the file does not have.
            rule, found = "the file must have the columns that were named", listed(header, 20)
            faults = [Fault("header", rule, found, "Give each column a name of its own.")]
    if faults:
        raise RatingsError(faults)


def check_wide_header(layout: Layout) -> None:
    """Refuse a header that names a column twice, which pandas would rename.

    Parameters
    ----------
    layout : Layout
        The file.

    Raises
    ------
    RatingsError
        It is so.
    """
    header = next(csv.reader(layout.lines, delimiter=layout.delimiter))
    if faults := repeated_name_faults([name for name in header if name]):
        raise RatingsError(faults)


def _delimiter_faults(header: Sequence[str], layout: Layout) -> list[Fault]:
    other = max(DELIMITERS, key=header[0].count)
    if len(header) > 1 or other not in header[0]:
        return []
    rule = f"the delimiter {layout.delimiter!r} must split the header into columns"
    remedy, arguments = f"Pass delimiter={other!r}.", {"delimiter": other}
    return [Fault("header", rule, f"only {header[0]!r}", remedy, arguments=arguments)]


def _no_header_faults(header: Sequence[str], first: Sequence[str]) -> list[Fault]:
    """Return a fault if the first line has numbers in the same places as the second."""
    kinds = [[bool(re.fullmatch(NUMBER, field)) for field in line] for line in (header, first)]
    if not any(kinds[0]) or kinds[0] != kinds[1]:
        return []
    rule = "the first line must name the columns"
    remedy = "Add a line such as item,rater,rating at the top of the file."
    return [Fault("header", rule, f"the values {listed(header, 10)}", remedy)]


def read_texts(layout: Layout, **options: Any) -> pd.DataFrame:
    """Read all fields as texts, and empty ones as missing.

    Parameters
    ----------
    layout : Layout
        The file.
    **options : Any
        Options of `pandas.read_csv`.

    Returns
    -------
    DataFrame
    """
    return _parsed(layout, dtype=str, keep_default_na=False, na_values=[""], **options)


def read_all_texts(layout: Layout) -> pd.DataFrame:
    """Read all records as texts, the header too; short ones end with empty fields.

    Parameters
    ----------
    layout : Layout
        The file.

    Returns
    -------
    DataFrame
        Columns are numbered from 0.
    """
    rows = [*csv.reader(layout.lines, delimiter=layout.delimiter, strict=False)]
    width = max(map(len, rows))
    try:
        return read_texts(layout, header=None, names=range(width))
    except (pd.errors.ParserError, pd.errors.ParserWarning) as error:
        with open_text(layout.file, layout.encoding) as handle:
            widest = max(map(len, csv.reader(handle, delimiter=layout.delimiter)))
        if widest == width:
            raise error from None
        return read_texts(layout, header=None, names=range(widest))


def _parsed(layout: Layout, **options: Any) -> pd.DataFrame:
    """Parse the file; a line with more fields than the header is an error, not truncated."""
    with open_text(layout.file, layout.encoding) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame: pd.DataFrame = pd.read_csv(handle, sep=layout.delimiter, index_col=False, **options)
        return frame


def lines_of(layout: Layout, first: int) -> Callable[[Collection[int]], list[int]]:
    """Return what gives the lines of records.

    Parameters
    ----------
    layout : Layout
        The file.
    first : int
        Number of the record that is counted as 0: 1 if there is a header.

    Returns
    -------
    callable
        Takes numbers of records.
    """

    def lines(records: Collection[int]) -> list[int]:
        if not records:
            return []
        known = list(islice(record_lines(layout), 1 + first + max(records)))
        return [known[first + record] for record in records]

    return lines


def record_lines(layout: Layout) -> Iterator[int]:
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
