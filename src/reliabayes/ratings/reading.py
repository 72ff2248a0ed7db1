"""Ratings from files: delimited text or JSON lines, which may be compressed, Excel and Parquet."""

from __future__ import annotations

import csv
import re
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any

import pandas as pd

from reliabayes.choices import Decimal, Format, Missing, Replicates, Scale, Shape, Twins
from reliabayes.errors import Fault, RatingsError
from reliabayes.ratings.argument_checks import NEEDED, check_arguments, check_file_options
from reliabayes.ratings.columns import NUMBER
from reliabayes.ratings.facets import Facets, facet_columns
from reliabayes.ratings.file_formats import (
    EXCEL_SUFFIX,
    TEXT_SUFFIXES,
    format_suffix,
    open_text,
    read_errors_as_faults,
    read_records,
    read_workbook,
)
from reliabayes.ratings.frames import (
    named_columns,
    refuse_comment,
    repeated_name_faults,
    role_faults,
)
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.readers.guessing import read_export
from reliabayes.ratings.table_cells import Texts, read_cells
from reliabayes.ratings.table_shape import (
    guessed_shape,
    item_column,
    note_on_shape,
    rater_columns,
    refuse_long_options,
)
from reliabayes.ratings.text_values import text_values
from reliabayes.wording import listed

DELIMITERS = ",;\t|"
N_SAMPLED = 100  # rows that are read to suggest columns if the named ones are absent


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
    twins: Twins = "error",
    shape: Shape | None = None,
    delimiter: str | None = None,
    decimal: Decimal | None = None,
    encoding: str = "utf-8",
    facets: Facets | None = None,
    group: str | None = None,
    block: str | None = None,
    format: Format | None = None,
    question: str | None = None,
) -> Ratings:
    r"""Read ratings from a file, with one rating per line or a column per rater.

    Only empty fields count as missing; in a wide table, they are ratings that were not made. Ids
    become int if all of them are whole numbers without leading zeros; otherwise they stay text. An
    apostrophe before ``=``, ``+``, ``-`` or ``@`` keeps spreadsheets from computing a text; it is
    removed, with a note, if the columns that are read hold no such text without one. In a workbook
    this holds for columns with texts. There, numbers stay numbers, dates are ids such as
    2024-01-31, and cells without one meaning are refused by their address: errors, merged cells,
    formulas whose result was not saved, and dates as ratings.

    Parameters
    ----------
    path : str or path
        An export of one of the tools in `readers`, or a table: a ``.csv``, ``.tsv``, ``.txt``,
        ``.jsonl`` (an object a line), ``.xlsx`` (its first sheet
        that is not hidden, of at most 50 million cells; needs the package openpyxl) or ``.parquet``
        file. Text files may be compressed, with
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
    twins : {"error", "join"}, default "error"
        Whether values such as "yes" and "YES " are joined; as for `Ratings.from_frame`.
    shape : {"long", "wide"}, optional
        Whether a row holds one rating, or those of an item by all raters, each in a column of its
        own. By default wide if that is obvious: no column has the name of a rater or a rating, one
        is of items by its name or its distinct texts, and all others hold numbers of one range, or
        the same few texts. `Ratings.notes` says so.
    delimiter : str, optional
        The character between fields. By default a tab in ``.tsv`` files; in others the comma,
        semicolon, tab or bar, whichever is most frequent in the header.
    decimal : {".", ","}, optional
        What comes before the decimals of ratings and gold in a text file, or in texts of a
        workbook. By default the comma if
        all ratings are numbers with it, and not all of these may be thousands, as in 1,000.
    encoding : str, default "utf-8"
        The encoding of a text file.
    facets : sequence of str, or mapping from str to str, optional
        Further columns that describe a rating; as for `Ratings.from_frame`.
    group : str, optional
        Name of the column of what the item belongs to, as for `Ratings.from_frame`; of a tool's
        file, a field of the item.
    block : str, optional
        Name of the column of what items of several groups share, as for `Ratings.from_frame`; of a
        tool's file, a field of the item.
    format : str, optional
        The tool that the file is of, one of the names in `readers`, or ``"table"``. By default it
        is found out from the content, and `Ratings.notes` says so. A table that has the columns
        that were named is read as a table.
    question : str, optional
        The question whose answers are read from a tool's file, if it has several.

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
    check_file_options(delimiter, encoding, decimal, shape)
    roles = {"item": item, "rater": rater, "rating": rating, "pool": pool, "gold": gold}
    roles |= {"group": group, "block": block}
    options: Mapping[str, Any] = {"scale": scale, "categories": categories, "twins": twins}
    for_long: dict[str, Any] = {"replicates": replicates, "missing": missing}
    check_arguments(roles, **options, **for_long, facets=facets, needed=NEEDED)
    asked = {**roles, "facets": facets or None, "shape": shape, "delimiter": delimiter}
    asked |= {"decimal": decimal, "question": question}
    if (export := read_export(file, format, encoding, asked, options)) is not None:
        return export
    columns = {**roles, **facet_columns(facets)}
    for_long |= {"facets": facet_columns(facets)}
    suffix = format_suffix(file)
    if suffix == EXCEL_SUFFIX:
        sheet = read_workbook(file)
        names = list(sheet.columns)
        found = shape or guessed_shape(names, columns, lambda: sheet.frame().head(N_SAMPLED))
        if found == "long":
            named = {role: name for role, name in columns.items() if name is not None}
            if not set(named.values()) <= set(names):
                named_columns(sheet.frame().head(N_SAMPLED), named)
            names = [name for name in names if name in named.values()]
        frame, notes = read_cells(sheet.frame(names), sheet, found, columns, decimal)
        try:
            ratings = _ratings(frame, found, shape is None, roles, options, for_long)
            return replace(ratings, notes=notes + ratings.notes)
        except RatingsError as error:
            raise error.relocated(lambda row: sheet.rows[row], "row") from None
    if suffix not in TEXT_SUFFIXES:
        frame = read_records(file, suffix)
        found = shape or guessed_shape(list(frame.columns), columns, lambda: frame.head(N_SAMPLED))
        return _ratings(frame, found, shape is None, roles, options, for_long)
    named = {role: name for role, name in columns.items() if name is not None}
    with read_errors_as_faults(file, encoding):
        layout = _find_layout(file, delimiter, encoding)
        found = shape or _guessed_shape(layout, columns)
        absent = (_check_header if found == "long" else _check_wide_header)(layout, named)
        texts = _texts(layout)
        frame, notes = read_cells(texts, Texts(texts), found, columns, decimal)
    try:
        ratings = _ratings(frame, found, shape is None, roles, options, for_long)
        return replace(ratings, notes=notes + ratings.notes)
    except RatingsError as error:
        n_lines = 2 + max((row for fault in error.faults for row in fault.rows), default=0)
        try:
            lines = list(islice(_record_lines(layout), n_lines))
        except csv.Error:  # a field is longer than this reader takes
            raise error from None
        found_too = error.relocated(lambda row: lines[row + 1], "line").faults
        others = [fault for fault in found_too if not absent or fault.place != "columns"]
        raise RatingsError([*absent, *others]) from None


def _ratings(
    frame: pd.DataFrame,
    shape: Shape,
    is_guess: bool,
    roles: dict[str, Any],
    options: Mapping[str, Any],
    for_long: Mapping[str, Any],
) -> Ratings:
    """Ratings of a frame of one of the shapes, with a note if the shape was guessed."""
    if shape == "long":
        return Ratings.from_frame(frame, **roles, **options, **for_long)
    columns, gold = list(frame.columns), roles["gold"]
    refuse_long_options(roles | for_long["facets"], columns)
    item = item_column(frame, roles["item"])
    ratings = Ratings.from_wide(frame, item=item, gold=gold, **options)
    notes = (note_on_shape(rater_columns(columns, item, gold)),) if is_guess else ()
    return replace(ratings, notes=notes + ratings.notes)


@dataclass(frozen=True)
class _Layout:
    """How to split a text file into fields."""

    file: Path
    delimiter: str
    encoding: str
    lines: tuple[str, ...]  # the first two that are not empty


def _find_layout(file: Path, delimiter: str | None, encoding: str) -> _Layout:
    """Find the delimiter in the header."""
    with open_text(file, encoding) as handle:
        lines = list(islice((line for line in handle if line.strip()), 2))
    if not lines:
        rule, remedy = "it must hold a header and ratings", "Check how the file was exported."
        raise RatingsError([Fault(file.name, rule, "an empty file", remedy)])
    guess = "\t" if format_suffix(file) == ".tsv" else max(DELIMITERS, key=lines[0].count)
    return _Layout(file, guess if delimiter is None else delimiter, encoding, tuple(lines))


def _guessed_shape(layout: _Layout, roles: Mapping[str, Any]) -> Shape:
    """Whether the table is obviously wide; tables with other faults count as long."""

    def sample() -> pd.DataFrame:
        texts = _texts(layout, nrows=N_SAMPLED)
        return pd.DataFrame({name: text_values(texts[name])[0] for name in texts})

    try:
        header = next(csv.reader(layout.lines, delimiter=layout.delimiter))
        return guessed_shape(header, roles, sample)
    except (csv.Error, pd.errors.ParserError, pd.errors.ParserWarning):
        return "long"


def _check_header(layout: _Layout, named: Mapping[str, str]) -> Sequence[Fault]:
    """Refuse a header that is none; return the fault of columns that a long table should have."""
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
        try:
            named_columns(_parsed(layout, nrows=N_SAMPLED), named)
        except RatingsError as error:
            return error.faults
        # pandas gives columns without a name of their own one that the file does not have.
        rule, found = "the file must have the columns that were named", listed(header, 20)
        raise RatingsError([Fault("header", rule, found, "Give each column a name of its own.")])
    return ()


def _check_wide_header(layout: _Layout, _: Mapping[str, str]) -> Sequence[Fault]:
    """Refuse a header that names a column twice, which pandas would rename."""
    header = next(csv.reader(layout.lines, delimiter=layout.delimiter))
    if faults := repeated_name_faults([name for name in header if name]):
        raise RatingsError(faults)
    return ()


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


def _texts(layout: _Layout, **options: Any) -> pd.DataFrame:
    return _parsed(layout, dtype=str, keep_default_na=False, na_values=[""], **options)


def _parsed(layout: _Layout, **options: Any) -> pd.DataFrame:
    """Parse the file; a line with more fields than the header is an error, not truncated."""
    with open_text(layout.file, layout.encoding) as handle, warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        frame: pd.DataFrame = pd.read_csv(handle, sep=layout.delimiter, index_col=False, **options)
        return frame


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
