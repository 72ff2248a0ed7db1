"""Ratings from files: delimited text or JSON lines, which may be compressed, Excel and Parquet."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from reliabayes.choices import (
    Decimal,
    Duplicates,
    Format,
    Missing,
    Replicates,
    Scale,
    Shape,
    Twins,
)
from reliabayes.errors import RatingsError
from reliabayes.ratings.advice import advice
from reliabayes.ratings.facets import Facets
from reliabayes.ratings.ratings import Ratings
from reliabayes.ratings.raw_reading import read, read_square
from reliabayes.ratings.read_options import ReadOptions
from reliabayes.ratings.readers.guessing import read_export
from reliabayes.ratings.text_files import (
    DELIMITERS,
    N_SAMPLED,
)

__all__ = ["DELIMITERS", "N_SAMPLED", "read_ratings"]


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
    tidy: bool = False,
    guess: bool = False,
    sheet: str | None = None,
    header: int | Sequence[int] | None = None,
    drop_rows: Sequence[int] | None = None,
    drop_columns: Sequence[str] | None = None,
    duplicates: Duplicates = "error",
    na: Sequence[Any] | None = None,
    percent: bool = False,
    separator: str | None = None,
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
        Name of the column that says who rated it. Of a wide table: the column that says whose
        ratings a row holds, if each other column is an item; or a pattern of the names of columns,
        such as ``"{rater}_{occasion}"``, if a rater has several, which makes a facet.
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
    shape : {"long", "wide", "table"}, optional
        Whether a row holds one rating, or those of an item by all raters, each in a column of its
        own, or the file a square table of counts, as for `Ratings.from_table`, with the categories
        of the first rater in its first column. By default wide if that is obvious: no column has
        the name of a rater or a rating, one is of items by its name or its distinct texts, and all
        others hold numbers of one range, or the same few texts. `Ratings.notes` says so.
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
    tidy : bool, default False
        Whether faults are repaired if that loses no rating and cannot change an answer: rows above
        the header, headers of two rows, merged ids, empty rows and columns, rows of totals, columns
        of averages, numbers with one unit or with separators, spellings such as NA among numbers,
        rows without a rating, encodings. `Ratings.notes` lists each repair with its lines. An error
        names the argument for each of the others.
    guess : bool, default False
        Whether columns with other names are guessed, if one guess is clearly the best.
        `Ratings.notes` says so.
    sheet : str, optional
        The sheet of a workbook. By default the first that is not hidden; with ``tidy`` the one that
        holds ratings.
    header : int or sequence of int, optional
        Number of the line, or row of a sheet, that names the columns; or numbers of two.
    drop_rows : sequence of int, optional
        Numbers of lines of a text file, of rows of a sheet, or of 0-based rows, to leave out.
    drop_columns : sequence of str, optional
        Columns to leave out.
    duplicates : {"error", "drop_exact"}, default "error"
        Whether rows that repeat another in all cells are left out.
    na : sequence, optional
        Values that mean no rating, such as ``["n/a", 99]``. They are read as empty, and rows
        without a rating are left out; `Ratings.n_missing` says how many.
    percent : bool, default False
        Whether ratings such as 45% are the numbers 45.
    separator : str, optional
        What is between the labels in a text, if each rating is a set of labels; as for
        `Ratings.from_frame`. Lists in JSON lines need none.

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
    options = ReadOptions(**{name: value for name, value in locals().items() if name != "path"})
    options.check()
    file = Path(path)
    if (export := read_export(file, options)) is not None:
        return export
    if shape == "table":
        return read_square(file, options)
    try:
        return read(file, options).ratings
    except RatingsError as error:
        raise RatingsError(error.faults, advice(file, options)) from error
